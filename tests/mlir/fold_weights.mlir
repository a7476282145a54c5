// RUN: map-weights, fold-weights, show-weights
// A transposition is another view of the weight; factors go into filter and bias, summands into the bias, and the
// activation behind them is fused.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tfl.pseudo_const"() <{value = dense<{{.*}}1.000000e+00, 4.000000e+00{{.*}}2.000000e+01, 5.000000e+01{{.*}}3.000000e+02, 6.000000e+02]]]]> : tensor<3x1x1x2xf32>}>
// CHECK: %[[B:.*]] = arith.constant dense<[1.500000e+00, 2.025000e+01, 3.001250e+02]>
// CHECK: %[[Y:.*]] = "tfl.conv_2d"(%arg0, %[[W]], %[[B]]) <{{.*}}fused_activation_function = "RELU6"
// CHECK: return %[[Y]]
func.func @main(%x: tensor<1x4x4x2xf32>) -> tensor<1x4x4x3xf32> {
  %w = "tfl.pseudo_const"() {value = dense<[[[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]]> : tensor<1x1x2x3xf32>, mapped} : () -> tensor<1x1x2x3xf32>
  %order = arith.constant dense<[3, 0, 1, 2]> : tensor<4xi32>
  %t = "tfl.transpose"(%w, %order) : (tensor<1x1x2x3xf32>, tensor<4xi32>) -> tensor<3x1x1x2xf32>
  %b = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = "tfl.conv_2d"(%x, %t, %b) {dilation_h_factor = 1 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "NONE", padding = "SAME", stride_h = 1 : i32, stride_w = 1 : i32} : (tensor<1x4x4x2xf32>, tensor<3x1x1x2xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  %scale = arith.constant dense<[1.0, 10.0, 100.0]> : tensor<3xf32>
  %offset = arith.constant dense<[0.5, 0.25, 0.125]> : tensor<3xf32>
  %1 = tfl.mul(%0, %scale) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  %2 = tfl.add(%1, %offset) <{fused_activation_function = "RELU6"}> : (tensor<1x4x4x3xf32>, tensor<3xf32>) -> tensor<1x4x4x3xf32>
  return %2 : tensor<1x4x4x3xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// What is done with the input: the factor scales the filter's columns, and the bias has what the filter makes of the
// summand: [1 - (3 * 1 + 5 * 2), 2 - (3 * 3 + 5 * 4)].
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[-1.200000e+01, -2.700000e+01]>
// CHECK-DAG: %[[W:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+01], [3.000000e+00, 4.000000e+01]]>
// CHECK: %[[Y:.*]] = "tfl.fully_connected"(%arg0, %[[W]], %[[B]])
// CHECK: return %[[Y]]
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %none = "tfl.no_value"() {value} : () -> none
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %b = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %scale = arith.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %shift = arith.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %0 = tfl.mul(%x, %scale) <{fused_activation_function = "NONE"}> : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %1 = tfl.sub(%0, %shift) <{fused_activation_function = "NONE"}> : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %2 = "tfl.fully_connected"(%1, %w, %b) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  return %2 : tensor<?x2xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// A product with one matrix is FULLY_CONNECTED, with the transposed matrix, and has a bias and an activation then.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK-DAG: %[[W:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 4.000000e+00], [2.000000e+00, 5.000000e+00], [3.000000e+00, 6.000000e+00]]> : tensor<3x2xf32>}>
// CHECK: %[[Y:.*]] = "tfl.fully_connected"(%arg0, %[[W]], %[[B]]) <{fused_activation_function = "RELU", keep_num_dims = true
// CHECK: return %[[Y]]
func.func @main(%x: tensor<?x5x2xf32>) -> tensor<?x5x3xf32> {
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>, mapped} : () -> tensor<2x3xf32>
  %b = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = "tfl.batch_matmul"(%x, %w) {adj_x = false, adj_y = false} : (tensor<?x5x2xf32>, tensor<2x3xf32>) -> tensor<?x5x3xf32>
  %1 = tfl.add(%0, %b) <{fused_activation_function = "RELU"}> : (tensor<?x5x3xf32>, tensor<3xf32>) -> tensor<?x5x3xf32>
  return %1 : tensor<?x5x3xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// Of a matrix that is taken as transposed, too.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[O:.*]] = arith.constant dense<[0, 2, 1]>
// CHECK-DAG: %[[B:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
// CHECK: %[[T:.*]] = "tfl.transpose"(%arg0, %[[O]]) : (tensor<?x2x5xf32>, tensor<3xi32>) -> tensor<?x5x2xf32>
// CHECK: %[[Y:.*]] = "tfl.fully_connected"(%[[T]], {{.*}}, %[[B]])
// CHECK: return %[[Y]]
func.func @main(%x: tensor<?x2x5xf32>) -> tensor<?x5x3xf32> {
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>, mapped} : () -> tensor<2x3xf32>
  %b = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = "tfl.batch_matmul"(%x, %w) {adj_x = true, adj_y = false} : (tensor<?x2x5xf32>, tensor<2x3xf32>) -> tensor<?x5x3xf32>
  %1 = tfl.add(%0, %b) <{fused_activation_function = "NONE"}> : (tensor<?x5x3xf32>, tensor<3xf32>) -> tensor<?x5x3xf32>
  return %1 : tensor<?x5x3xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// What stays: a factor of a result that is used elsewhere too, one that is computed, one behind an activation, and a
// summand of an input that is padded.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tfl.pseudo_const"
// CHECK: %[[B:.*]] = arith.constant dense<0.0
// CHECK: %[[C:.*]] = arith.constant dense<5.0
// CHECK: %[[TWICE:.*]] = "tfl.conv_2d"(%arg0, %[[W]], %[[B]])
// CHECK: tfl.mul(%[[TWICE]], %[[C]])
// CHECK: %[[COMPUTED:.*]] = "tfl.conv_2d"(%arg0, %[[W]], %[[B]])
// CHECK: tfl.mul(%[[COMPUTED]], %arg1)
// CHECK: %[[RELU:.*]] = "tfl.conv_2d"(%arg0, %[[W]], %[[B]])
// CHECK: tfl.mul(%[[RELU]], %[[C]])
// CHECK: %[[SHIFTED:.*]] = tfl.add(%arg0, %[[C]])
// CHECK: "tfl.conv_2d"(%[[SHIFTED]], %[[W]], %[[B]])
func.func @main(%x: tensor<1x4x4x2xf32>, %f: tensor<2xf32>) -> (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) {
  %w = "tfl.pseudo_const"() {value = dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : tensor<2x1x1x2xf32>, mapped} : () -> tensor<2x1x1x2xf32>
  %b = arith.constant dense<0.0> : tensor<2xf32>
  %c = arith.constant dense<5.0> : tensor<f32>
  %0 = "tfl.conv_2d"(%x, %w, %b) {dilation_h_factor = 1 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "NONE", padding = "SAME", stride_h = 1 : i32, stride_w = 1 : i32} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %1 = tfl.mul(%0, %c) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %2 = "tfl.conv_2d"(%x, %w, %b) {dilation_h_factor = 1 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "NONE", padding = "SAME", stride_h = 1 : i32, stride_w = 1 : i32} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %3 = tfl.mul(%2, %f) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %4 = "tfl.conv_2d"(%x, %w, %b) {dilation_h_factor = 1 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "RELU", padding = "SAME", stride_h = 1 : i32, stride_w = 1 : i32} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %5 = tfl.mul(%4, %c) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %6 = tfl.add(%x, %c) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
  %7 = "tfl.conv_2d"(%6, %w, %b) {dilation_h_factor = 1 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "NONE", padding = "SAME", stride_h = 1 : i32, stride_w = 1 : i32} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>) -> tensor<1x4x4x2xf32>
  %8 = tfl.add(%0, %1) <{fused_activation_function = "NONE"}> : (tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  return %8, %3, %5, %7 : tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>, tensor<1x4x4x2xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// The product of a constant and a weight is a weight, and so is what is rearranged of it: not if it is a result, or
// with an activation, or a bias that is computed.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[P:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}5.000000e+00], [1.100000e+01]]> : tensor<2x1xf32>}>
// CHECK-COUNT-5: "tfl.fully_connected"
// CHECK-NOT: "tfl.fully_connected"
// CHECK: return %[[P]]
func.func @main(%bias: tensor<2xf32>) -> (tensor<2x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<4x4xf32>, tensor<1x2xf32>) {
  %none = "tfl.no_value"() {value} : () -> none
  %x = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %shape = arith.constant dense<[2, 1]> : tensor<2xi32>
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %0 = "tfl.fully_connected"(%x, %w, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<2x1xf32>
  %s = "tfl.pseudo_const"() {value = dense<[[5.0, 6.0], [7.0, 8.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %2 = "tfl.fully_connected"(%x, %s, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %y = arith.constant dense<[[3.0, 4.0]]> : tensor<1x2xf32>
  %3 = "tfl.fully_connected"(%y, %s, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %r = "tfl.pseudo_const"() {value = dense<[[5.0, 9.0], [7.0, 8.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %4 = "tfl.fully_connected"(%x, %r, %none) {fused_activation_function = "RELU", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, none) -> tensor<1x2xf32>
  %column = arith.constant dense<[[1.0], [2.0], [3.0], [4.0]]> : tensor<4x1xf32>
  %l = "tfl.pseudo_const"() {value = dense<[[5.0], [9.0], [7.0], [8.0]]> : tensor<4x1xf32>, mapped} : () -> tensor<4x1xf32>
  %5 = "tfl.fully_connected"(%column, %l, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<4x1xf32>, tensor<4x1xf32>, none) -> tensor<4x4xf32>
  %b = "tfl.pseudo_const"() {value = dense<[[5.0, 9.0], [7.0, 9.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %6 = "tfl.fully_connected"(%x, %b, %bias) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1, %2, %3, %4, %5, %6 : tensor<2x1xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<4x4xf32>, tensor<1x2xf32>
}

// -----

// RUN: map-weights, fold-weights, show-weights
// Of a weight that stays for others, and with a bias.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[P:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.500000e+01], [3.100000e+01]]> : tensor<2x1xf32>}>
// CHECK-COUNT-1: "tfl.fully_connected"
// CHECK-NOT: "tfl.fully_connected"
// CHECK: return %[[P]]
func.func @main(%x: tensor<1x2xf32>) -> (tensor<2x1xf32>, tensor<1x2xf32>) {
  %c = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
  %b = arith.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %shape = arith.constant dense<[2, 1]> : tensor<2xi32>
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %0 = "tfl.fully_connected"(%c, %w, %b) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<2x1xf32>
  %2 = "tfl.fully_connected"(%x, %w, %b) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<1x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %1, %2 : tensor<2x1xf32>, tensor<1x2xf32>
}
