// RUN: expand-powers
// CHECK-LABEL: func.func @cube
// CHECK: %[[SQUARE:.*]] = tfl.mul %arg0, %arg0
// CHECK: %[[CUBE:.*]] = tfl.mul %[[SQUARE]], %arg0
// CHECK: return %[[CUBE]]
func.func @cube(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %three = "tfl.pseudo_const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tfl.pow"(%x, %three) : (tensor<?x3xf32>, tensor<f32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
// CHECK-LABEL: func.func @fourth
// CHECK: %[[SQUARE:.*]] = tfl.mul %arg0, %arg0
// CHECK: %[[FOURTH:.*]] = tfl.mul %[[SQUARE]], %[[SQUARE]]
// CHECK: return %[[FOURTH]]
func.func @fourth(%x: tensor<2xi32>) -> tensor<2xi32> {
  %four = arith.constant dense<4> : tensor<2xi32>
  %0 = "tfl.pow"(%x, %four) : (tensor<2xi32>, tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
// Other exponents, and those that make the result larger, are left.
// CHECK-LABEL: func.func @others
// CHECK: tfl.pow
// CHECK: tfl.pow
func.func @others(%x: tensor<1xf32>) -> (tensor<1xf32>, tensor<2xf32>) {
  %half = "tfl.pseudo_const"() {value = dense<2.5> : tensor<f32>} : () -> tensor<f32>
  %threes = "tfl.pseudo_const"() {value = dense<3.0> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tfl.pow"(%x, %half) : (tensor<1xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = "tfl.pow"(%x, %threes) : (tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<1xf32>, tensor<2xf32>
}
