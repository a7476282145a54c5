// RUN: keep-zero-factors
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = "tf.Const"() <{value = dense<[0.000000e+00, 0.000000e+00, -0.000000e+00]> : tensor<3xf32>}>
// CHECK: "tf.Mul"(%arg0, %[[C]])
// CHECK: %[[SCALAR:.*]] = "tf.Const"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK: "tf.Mul"(%[[SCALAR]], %arg0)
// CHECK: %[[INTEGERS:.*]] = "tf.Const"() <{value = dense<0> : tensor<3xi32>}>
// CHECK: "tf.Mul"(%arg1, %[[INTEGERS]])
// CHECK: %[[Z:.*]] = "tf.Const"() <{value = dense<[0.000000e+00, 0.000000e+00, -0.000000e+00]> : tensor<3xf32>}>
// CHECK: "tf.Mul"(%arg2, %[[Z]])
func.func @main(%x: tensor<?x3xf32>, %n: tensor<?x3xi32>, %s: tensor<2x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<2x3xf32>) {
  %v = "tf.Const"() {value = dense<0.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "tf.Mul"(%x, %v) : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  %c = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %1 = "tf.Mul"(%c, %x) : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %i = "tf.Const"() {value = dense<0> : tensor<3xi32>} : () -> tensor<3xi32>
  %2 = "tf.Mul"(%n, %i) : (tensor<?x3xi32>, tensor<3xi32>) -> tensor<?x3xi32>
  %z = "tf.Const"() {value = dense<0.0> : tensor<3xf32>} : () -> tensor<3xf32>
  %3 = "tf.Mul"(%s, %z) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3 : tensor<?x3xf32>, tensor<?x3xf32>, tensor<?x3xi32>, tensor<2x3xf32>
}
