// RUN: fold-constants
// What is computed becomes a constant, comparisons too; what is made for others only goes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tfl.exp
// CHECK: %[[SUM:.*]] = "tfl.pseudo_const"() <{value = dense<[3.000000e+00, 5.000000e+00]> : tensor<2xf32>}>
// CHECK: %[[LESS:.*]] = "tfl.pseudo_const"() <{value = dense<[true, false]> : tensor<2xi1>}>
// CHECK: tfl.mul %arg0, %[[SUM]]
// CHECK: "tfl.select_v2"(%[[LESS]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %zero = arith.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %0 = "tfl.exp"(%zero) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tfl.add(%one, %one) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tfl.add(%1, %0) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tfl.less"(%2, %four) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  %4 = tfl.mul(%x, %2) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = "tfl.select_v2"(%3, %4, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}
// One element that is repeated, and many that are only moved, are less in the file as they are; weights are elsewhere.
// CHECK-LABEL: func.func @moved
// CHECK: "tfl.fill"
// CHECK: "tfl.exp"
// CHECK: "tfl.tile"
func.func @moved() -> (tensor<1000xf32>, tensor<2xf32>, tensor<4096x2xf32>) {
  %dims = arith.constant dense<1000> : tensor<1xi32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = "tfl.fill"(%dims, %one) : (tensor<1xi32>, tensor<f32>) -> tensor<1000xf32>
  %weight = arith.constant dense_resource<weight> : tensor<2xf32>
  %1 = "tfl.exp"(%weight) : (tensor<2xf32>) -> tensor<2xf32>
  %row = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %times = arith.constant dense<[4096, 1]> : tensor<2xi32>
  %2 = "tfl.tile"(%row, %times) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<4096x2xf32>
  return %0, %1, %2 : tensor<1000xf32>, tensor<2xf32>, tensor<4096x2xf32>
}
// A constant of one small number is no larger than the op that makes it.
// CHECK-LABEL: func.func @repeated
// CHECK-NOT: "tfl.broadcast_to"
// CHECK: dense<2.000000e+00> : tensor<1x1x2x2x2xf32>
func.func @repeated() -> tensor<1x1x2x2x2xf32> {
  %two = arith.constant dense<2.0> : tensor<f32>
  %shape = arith.constant dense<[1, 1, 2, 2, 2]> : tensor<5xi32>
  %0 = "tfl.broadcast_to"(%two, %shape) : (tensor<f32>, tensor<5xi32>) -> tensor<1x1x2x2x2xf32>
  return %0 : tensor<1x1x2x2x2xf32>
}
// So is what small integers become; packed weights stay packed where they would grow.
// CHECK-LABEL: func.func @unpacked
// CHECK-NOT: tensor<ui8>
// CHECK: dense<3.000000e+00> : tensor<f32>
// CHECK: tfl.mul
// CHECK: "tfl.bitwise_xor"
func.func @unpacked(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<64x128xf32>) {
  %three = arith.constant dense<3> : tensor<i32>
  %0 = "tfl.cast"(%three) : (tensor<i32>) -> tensor<ui8>
  %1 = "tfl.cast"(%0) : (tensor<ui8>) -> tensor<f32>
  %2 = tfl.mul(%x, %1) <{fused_activation_function = "NONE"}> : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  %packed = arith.constant dense<7> : tensor<64x128xi8>
  %mask = arith.constant dense<3> : tensor<i8>
  %3 = "tfl.bitwise_xor"(%packed, %mask) : (tensor<64x128xi8>, tensor<i8>) -> tensor<64x128xi8>
  %4 = "tfl.cast"(%3) : (tensor<64x128xi8>) -> tensor<64x128xf32>
  return %2, %4 : tensor<4xf32>, tensor<64x128xf32>
}
// Which of several updates of a place counts, as tf.tensor_scatter_nd_update finds it: the last.
// CHECK-LABEL: func.func @last
// CHECK-NOT: "tfl.unsorted_segment_max"
// CHECK: dense<[2, 1]> : tensor<2xi32>
func.func @last() -> tensor<2xi32> {
  %updates = arith.constant dense<[0, 1, 2]> : tensor<3xi32>
  %places = arith.constant dense<[0, 1, 0]> : tensor<3xi32>
  %count = arith.constant dense<2> : tensor<i32>
  %0 = "tfl.unsorted_segment_max"(%updates, %places, %count) : (tensor<3xi32>, tensor<3xi32>, tensor<i32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// A product without a bias.
// CHECK-LABEL: func.func @product
// CHECK-NOT: "tfl.fully_connected"
// CHECK: dense<{{\[\[}}5.000000e+00, 1.100000e+01]]> : tensor<1x2xf32>
func.func @product() -> tensor<1x2xf32> {
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %none = "tfl.no_value"() {value} : () -> none
  %0 = "tfl.fully_connected"(%x, %w, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
// Few are a constant: the token that stands before each image of a batch.
// CHECK-LABEL: func.func @few
// CHECK-NOT: "tfl.tile"
// CHECK: dense<{{\[\[\[}}1.000000e+00, 2.000000e+00]], {{\[\[}}1.000000e+00, 2.000000e+00]]]> : tensor<2x1x2xf32>
func.func @few() -> tensor<2x1x2xf32> {
  %token = arith.constant dense<[[[[1.0, 2.0]]]]> : tensor<1x1x1x2xf32>
  %times = arith.constant dense<[1, 2, 1, 1]> : tensor<4xi32>
  %shape = arith.constant dense<[2, 1, 2]> : tensor<3xi32>
  %0 = "tfl.tile"(%token, %times) : (tensor<1x1x1x2xf32>, tensor<4xi32>) -> tensor<1x2x1x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<1x2x1x2xf32>, tensor<3xi32>) -> tensor<2x1x2xf32>
  return %1 : tensor<2x1x2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000003F"
    }
  }
#-}

// -----

// RUN: fold-constants
// What repeats along a dimension is written once where it is broadcast: -0.0 is no repetition of 0.0, and a result is whole.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[ROWS:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00], [0.000000e+00]]> : tensor<2x1xf32>}>
// CHECK-DAG: %[[WHOLE:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 1.000000e+00, 1.000000e+00], [0.000000e+00, {{.*}}]]> : tensor<2x3xf32>}>
// CHECK-DAG: %[[SIGNS:.*]] = "tfl.pseudo_const"() <{value = dense<{{.*}}-0.000000e+00{{.*}}> : tensor<2x3xf32>}>
// CHECK-DAG: tfl.mul(%arg0, %[[ROWS]])
// CHECK-DAG: tfl.mul(%arg1, %[[WHOLE]])
// CHECK-DAG: tfl.mul %arg0, %[[SIGNS]]
// CHECK: return {{.*}}, %[[WHOLE]]
func.func @main(%x: tensor<2x3xf32>, %y: tensor<1x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %places = arith.constant dense<[[1]]> : tensor<1x1xi32>
  %ones = arith.constant dense<1.0> : tensor<1x3xf32>
  %sizes = arith.constant dense<[2, 3]> : tensor<2xi32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %zeros = arith.constant dense<[[0.0, 1.0, 0.0], [0.0, 1.0, 0.0]]> : tensor<2x3xf32>
  %signs = arith.constant dense<[[1.0, 1.0, 1.0], [-1.0, 1.0, 1.0]]> : tensor<2x3xf32>
  %0 = "tfl.scatter_nd"(%places, %ones, %sizes) : (tensor<1x1xi32>, tensor<1x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = tfl.sub(%one, %0) <{fused_activation_function = "NONE"}> : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = tfl.mul(%x, %1) <{fused_activation_function = "NONE"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = tfl.mul(%y, %1) <{fused_activation_function = "NONE"}> : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %4 = tfl.mul(%zeros, %signs) <{fused_activation_function = "NONE"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %5 = tfl.mul(%x, %4) <{fused_activation_function = "NONE"}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %2, %3, %5, %1 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}

// -----

// RUN: fold-constants
// A large mask of single elements is left to each call.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.scatter_nd"
// CHECK: tfl.sub
func.func @main(%x: tensor<128x64xf32>) -> tensor<128x64xf32> {
  %places = arith.constant dense<[[1, 2]]> : tensor<1x2xi32>
  %ones = arith.constant dense<1.0> : tensor<1xf32>
  %sizes = arith.constant dense<[128, 64]> : tensor<2xi32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = "tfl.scatter_nd"(%places, %ones, %sizes) : (tensor<1x2xi32>, tensor<1xf32>, tensor<2xi32>) -> tensor<128x64xf32>
  %1 = tfl.sub(%one, %0) <{fused_activation_function = "NONE"}> : (tensor<f32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  %2 = tfl.mul(%x, %1) <{fused_activation_function = "NONE"}> : (tensor<128x64xf32>, tensor<128x64xf32>) -> tensor<128x64xf32>
  return %2 : tensor<128x64xf32>
}

// -----

// RUN: fold-constants
// What is only moved is stored if it is small, or no larger than what it is made of.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[PACKED:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 4.000000e+00]]> : tensor<2x2xf32>}>
// CHECK-DAG: %[[TWICE:.*]] = "tfl.pseudo_const"() <{value = dense<"{{[^"]*}}"> : tensor<6000xf32>}>
// CHECK-DAG: %[[TILED:.*]] = "tfl.tile"
// CHECK: return %[[PACKED]], %[[TILED]], %[[TWICE]]
func.func @main() -> (tensor<2x2xf32>, tensor<6000xf32>, tensor<6000xf32>) {
  %a = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = arith.constant dense<[3.0, 4.0]> : tensor<2xf32>
  %0 = "tfl.pack"(%a, %b) <{axis = 0 : i32, values_count = 2 : i32}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %times = arith.constant dense<3000> : tensor<1xi32>
  %1 = "tfl.tile"(%a, %times) : (tensor<2xf32>, tensor<1xi32>) -> tensor<6000xf32>
  %half = arith.constant dense<0.5> : tensor<3000xf32>
  %other = arith.constant dense<[0.5]> : tensor<1xf32>
  %long = arith.constant dense<0.25> : tensor<2999xf32>
  %2 = "tfl.concatenation"(%half, %long, %other) <{axis = 0 : i32, fused_activation_function = "NONE"}> : (tensor<3000xf32>, tensor<2999xf32>, tensor<1xf32>) -> tensor<6000xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<6000xf32>, tensor<6000xf32>
}
// A matrix with few elements that are not zero is stored up to 1 MiB: as weights, it is packed once.
// CHECK-LABEL: func.func @sparse
// CHECK: %[[EYE:.*]] = "tfl.pseudo_const"() <{value = dense<"0x{{.*}}"> : tensor<500x500xf32>}>
// CHECK: %[[LARGE:.*]] = "tfl.matrix_diag"({{.*}} -> tensor<600x600xf32>
// CHECK: return %[[EYE]], %[[LARGE]]
func.func @sparse() -> (tensor<500x500xf32>, tensor<600x600xf32>) {
  %few = arith.constant dense<1.0> : tensor<500xf32>
  %0 = "tfl.matrix_diag"(%few) : (tensor<500xf32>) -> tensor<500x500xf32>
  %many = arith.constant dense<1.0> : tensor<600xf32>
  %1 = "tfl.matrix_diag"(%many) : (tensor<600xf32>) -> tensor<600x600xf32>
  return %0, %1 : tensor<500x500xf32>, tensor<600x600xf32>
}
