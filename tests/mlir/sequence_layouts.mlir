// RUN: cancel-layout-changes
// A batch of 1 comes first: the layer's results are the same, and the reshapes are gone.
// CHECK-LABEL: func.func @layer
// CHECK-NOT: tfl.reshape
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_rnn"(%arg0, {{.*}}time_major = false{{.*}} -> tensor<1x9x5xf32>
// CHECK: return %[[Y]]
func.func @layer(%x: tensor<1x9x4xf32>, %w: tensor<5x4xf32>, %u: tensor<5x5xf32>, %b: tensor<5xf32>, %h: tensor<1x5xf32>) -> tensor<1x9x5xf32> {
  %first = arith.constant dense<[9, 1, 4]> : tensor<3xi32>
  %last = arith.constant dense<[1, 9, 5]> : tensor<3xi32>
  %0 = "tfl.reshape"(%x, %first) : (tensor<1x9x4xf32>, tensor<3xi32>) -> tensor<9x1x4xf32>
  %1 = "tfl.unidirectional_sequence_rnn"(%0, %w, %u, %b, %h) <{fused_activation_function = "TANH", time_major = true}> : (tensor<9x1x4xf32>, tensor<5x4xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<1x5xf32>) -> tensor<9x1x5xf32>
  %2 = "tfl.reshape"(%1, %last) : (tensor<9x1x5xf32>, tensor<3xi32>) -> tensor<1x9x5xf32>
  return %2 : tensor<1x9x5xf32>
}

// -----
// RUN: cancel-layout-changes
// Its last output is a slice of the steps, which are the second dimension now.
// CHECK-LABEL: func.func @last
// CHECK-NOT: tfl.reshape
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_rnn"(%arg0,
// CHECK-DAG: %[[BEGIN:.*]] = "tfl.pseudo_const"() <{value = dense<[0, -1, 0]>
// CHECK: %[[L:.*]] = "tfl.strided_slice"(%[[Y]], %[[BEGIN]], {{.*}}begin_mask = 5 : i32, {{.*}}end_mask = 7 : i32, {{.*}}shrink_axis_mask = 2 : i32
// CHECK: return %[[L]]
func.func @last(%x: tensor<1x9x4xf32>, %w: tensor<5x4xf32>, %u: tensor<5x5xf32>, %b: tensor<5xf32>, %h: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %first = arith.constant dense<[9, 1, 4]> : tensor<3xi32>
  %begin = arith.constant dense<[-1, 0, 0]> : tensor<3xi32>
  %end = arith.constant dense<0> : tensor<3xi32>
  %one = arith.constant dense<1> : tensor<3xi32>
  %0 = "tfl.reshape"(%x, %first) : (tensor<1x9x4xf32>, tensor<3xi32>) -> tensor<9x1x4xf32>
  %1 = "tfl.unidirectional_sequence_rnn"(%0, %w, %u, %b, %h) <{fused_activation_function = "TANH", time_major = true}> : (tensor<9x1x4xf32>, tensor<5x4xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<1x5xf32>) -> tensor<9x1x5xf32>
  %2 = "tfl.strided_slice"(%1, %begin, %end, %one) <{begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32}> : (tensor<9x1x5xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x5xf32>
  return %2 : tensor<1x5xf32>
}

// -----
// RUN: cancel-layout-changes
// A larger batch stays behind the steps, which is faster.
// CHECK-LABEL: func.func @batch
// CHECK: tfl.transpose
// CHECK: time_major = true
// CHECK: tfl.transpose
func.func @batch(%x: tensor<?x9x4xf32>, %w: tensor<5x4xf32>, %u: tensor<5x5xf32>, %b: tensor<5xf32>, %h: tensor<?x5xf32>) -> tensor<?x9x5xf32> {
  %order = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<?x9x4xf32>, tensor<3xi32>) -> tensor<9x?x4xf32>
  %1 = "tfl.unidirectional_sequence_rnn"(%0, %w, %u, %b, %h) <{fused_activation_function = "TANH", time_major = true}> : (tensor<9x?x4xf32>, tensor<5x4xf32>, tensor<5x5xf32>, tensor<5xf32>, tensor<?x5xf32>) -> tensor<9x?x5xf32>
  %2 = "tfl.transpose"(%1, %order) : (tensor<9x?x5xf32>, tensor<3xi32>) -> tensor<?x9x5xf32>
  return %2 : tensor<?x9x5xf32>
}

// -----
// RUN: cancel-layout-changes
// What is reversed and joined between two transpositions is reversed and joined without them.
// CHECK-LABEL: func.func @joined
// CHECK-NOT: tfl.transpose
// CHECK: %[[TIME:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[R:.*]] = "tfl.reverse_v2"(%arg1, %[[TIME]]) : (tensor<9x?x4xf32>, tensor<1xi32>) -> tensor<9x?x4xf32>
// CHECK: %[[J:.*]] = "tfl.concatenation"(%arg0, %[[R]]) <{axis = 2 : i32, fused_activation_function = "NONE"}> : (tensor<9x?x4xf32>, tensor<9x?x4xf32>) -> tensor<9x?x8xf32>
// CHECK: return %[[J]]
func.func @joined(%x: tensor<9x?x4xf32>, %y: tensor<9x?x4xf32>) -> tensor<9x?x8xf32> {
  %order = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %time = arith.constant dense<1> : tensor<1xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<9x?x4xf32>, tensor<3xi32>) -> tensor<?x9x4xf32>
  %1 = "tfl.transpose"(%y, %order) : (tensor<9x?x4xf32>, tensor<3xi32>) -> tensor<?x9x4xf32>
  %2 = "tfl.reverse_v2"(%1, %time) : (tensor<?x9x4xf32>, tensor<1xi32>) -> tensor<?x9x4xf32>
  %3 = "tfl.concatenation"(%0, %2) <{axis = 2 : i32, fused_activation_function = "NONE"}> : (tensor<?x9x4xf32>, tensor<?x9x4xf32>) -> tensor<?x9x8xf32>
  %4 = "tfl.transpose"(%3, %order) : (tensor<?x9x8xf32>, tensor<3xi32>) -> tensor<9x?x8xf32>
  return %4 : tensor<9x?x8xf32>
}

// -----
// RUN: cancel-layout-changes
// Joined along one of the two dimensions, which is the other one then. What is used elsewhere, too, stays.
// CHECK-LABEL: func.func @kept
// CHECK: %[[T:.*]] = "tfl.transpose"(%arg0
// CHECK: %[[J:.*]] = "tfl.concatenation"(%arg0, %arg0) <{axis = 1 : i32
// CHECK: %[[R:.*]] = "tfl.reverse_v2"(%[[T]]
// CHECK: %[[U:.*]] = "tfl.transpose"(%[[R]]
// CHECK: return %[[J]], %[[R]], %[[U]]
func.func @kept(%x: tensor<9x2x4xf32>) -> (tensor<9x4x4xf32>, tensor<2x9x4xf32>, tensor<9x2x4xf32>) {
  %order = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %time = arith.constant dense<1> : tensor<1xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %1 = "tfl.transpose"(%x, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %2 = "tfl.concatenation"(%0, %1) <{axis = 0 : i32, fused_activation_function = "NONE"}> : (tensor<2x9x4xf32>, tensor<2x9x4xf32>) -> tensor<4x9x4xf32>
  %3 = "tfl.transpose"(%2, %order) : (tensor<4x9x4xf32>, tensor<3xi32>) -> tensor<9x4x4xf32>
  %4 = "tfl.reverse_v2"(%0, %time) : (tensor<2x9x4xf32>, tensor<1xi32>) -> tensor<2x9x4xf32>
  %5 = "tfl.transpose"(%4, %order) : (tensor<2x9x4xf32>, tensor<3xi32>) -> tensor<9x2x4xf32>
  return %3, %4, %5 : tensor<9x4x4xf32>, tensor<2x9x4xf32>, tensor<9x2x4xf32>
}

// -----
// RUN: cancel-layout-changes
// A step that the model computes is taken behind the transposition, and so is a slice of fewer dimensions.
// CHECK-LABEL: func.func @computed
// CHECK: %[[T:.*]] = "tfl.transpose"(%arg0
// CHECK: "tfl.strided_slice"(%[[T]], %arg1
// CHECK: %[[U:.*]] = "tfl.transpose"(%arg0
// CHECK: "tfl.strided_slice"(%[[U]]
func.func @computed(%x: tensor<2x9x4xf32>, %begin: tensor<3xi32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %order = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %end = arith.constant dense<0> : tensor<3xi32>
  %strides = arith.constant dense<1> : tensor<3xi32>
  %first = arith.constant dense<3> : tensor<1xi32>
  %behind = arith.constant dense<4> : tensor<1xi32>
  %stride = arith.constant dense<1> : tensor<1xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<2x9x4xf32>, tensor<3xi32>) -> tensor<9x2x4xf32>
  %1 = "tfl.strided_slice"(%0, %begin, %end, %strides) <{begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32}> : (tensor<9x2x4xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<2x4xf32>
  %2 = "tfl.transpose"(%x, %order) : (tensor<2x9x4xf32>, tensor<3xi32>) -> tensor<9x2x4xf32>
  %3 = "tfl.strided_slice"(%2, %first, %behind, %stride) <{begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32}> : (tensor<9x2x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x4xf32>
  return %1, %3 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----
// RUN: cancel-layout-changes
// Gates of experts are multiplied before one transposition, not behind two; what is used elsewhere, too, stays.
// CHECK-LABEL: func.func @gates
// CHECK-NOT: tfl.transpose
// CHECK: %[[S:.*]] = "tfl.logistic"(%arg0)
// CHECK: %[[G:.*]] = tfl.mul %arg0, %[[S]]
// CHECK: %[[U:.*]] = tfl.mul %[[G]], %arg1
// CHECK: %[[T:.*]] = "tfl.transpose"(%[[U]]
// CHECK: %[[A:.*]] = "tfl.transpose"(%arg0
// CHECK: %[[B:.*]] = "tfl.transpose"(%arg1
// CHECK: %[[P:.*]] = tfl.mul %[[A]], %[[B]]
// CHECK: return %[[T]], %[[P]], %[[A]]
func.func @gates(%x: tensor<9x2x4xf32>, %y: tensor<9x2x4xf32>) -> (tensor<2x9x4xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>) {
  %order = arith.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %1 = "tfl.transpose"(%y, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %2 = "tfl.logistic"(%0) : (tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  %3 = tfl.mul(%0, %2) <{fused_activation_function = "NONE"}> : (tensor<2x9x4xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  %4 = tfl.mul(%3, %1) <{fused_activation_function = "NONE"}> : (tensor<2x9x4xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  %5 = "tfl.transpose"(%x, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %6 = "tfl.transpose"(%y, %order) : (tensor<9x2x4xf32>, tensor<3xi32>) -> tensor<2x9x4xf32>
  %7 = tfl.mul(%5, %6) <{fused_activation_function = "NONE"}> : (tensor<2x9x4xf32>, tensor<2x9x4xf32>) -> tensor<2x9x4xf32>
  return %4, %7, %5 : tensor<2x9x4xf32>, tensor<2x9x4xf32>, tensor<2x9x4xf32>
}
