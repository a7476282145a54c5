// RUN: drop-negations, negate-factors
// CHECK-LABEL: func.func @difference
// CHECK: %[[PRODUCT:.*]] = tfl.mul %arg0, %arg1
// CHECK: tfl.sub %arg2, %[[PRODUCT]] {fused_activation_function = "RELU"}
func.func @difference(%x: tensor<4xf32>, %s: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tfl.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "tfl.mul"(%0, %s) {fused_activation_function = "NONE"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = "tfl.add"(%1, %b) {fused_activation_function = "RELU"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func.func @rotated
// CHECK: %[[SIGNS:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}-1.000000e+00, -1.000000e+00, 1.000000e+00, 1.000000e+00]]> : tensor<1x4xf32>}>
// CHECK: %[[ANGLES:.*]] = tfl.mul %arg2, %[[SIGNS]]
// CHECK-NOT: tfl.neg
// CHECK: %[[X:.*]] = "tfl.concatenation"(%arg0, %arg1)
// CHECK: tfl.mul(%[[X]], %[[ANGLES]])
// CHECK: %[[Y:.*]] = "tfl.concatenation"(%arg1, %arg0)
// CHECK: tfl.mul(%[[Y]], %[[ANGLES]])
func.func @rotated(%x: tensor<3x2xf32>, %y: tensor<3x2xf32>, %s: tensor<1x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %0 = "tfl.neg"(%x) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %1 = "tfl.concatenation"(%0, %y) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %2 = "tfl.mul"(%1, %s) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  %3 = "tfl.neg"(%y) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %4 = "tfl.concatenation"(%3, %x) {axis = -1 : i32, fused_activation_function = "NONE"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %5 = "tfl.mul"(%4, %s) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %2, %5 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----

// RUN: map-weights, scale-weights
// CHECK-LABEL: func.func @main
// CHECK: %[[PRODUCT:.*]] = "tfl.batch_matmul"
// CHECK: %[[SCALED:.*]] = tfl.mul(%[[PRODUCT]]
// CHECK: %[[ROWS:.*]] = "tfl.reshape"(%[[SCALED]]
// CHECK: return %[[ROWS]]
func.func @main(%x: tensor<3x2xf32>) -> tensor<2x3xf32> {
  %w = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %shape = "tfl.pseudo_const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %factor = "tfl.pseudo_const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tfl.batch_matmul"(%x, %w) {adj_x = false, adj_y = false} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %2 = "tfl.mul"(%1, %factor) {fused_activation_function = "NONE"} : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
