// RUN: keep-zero-operands
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

// -----
// RUN: keep-zero-operands
// CHECK-LABEL: func.func @sums
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%arg1) : (tensor<?x?xf32>) -> tensor<2xi32>
// CHECK: %[[ZERO:.*]] = "tf.Const"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK: %[[FILL:.*]] = "tf.Fill"(%[[SHAPE]], %[[ZERO]]) : (tensor<2xi32>, tensor<f32>) -> tensor<?x?xf32>
// CHECK: "tf.AddV2"(%arg0, %[[FILL]])
// CHECK: "tf.Fill"
// CHECK: "tf.Sub"(%arg0, %{{.*}})
// CHECK: %[[STATIC:.*]] = "tf.ZerosLike"(%arg2)
// CHECK: "tf.AddV2"(%arg2, %[[STATIC]])
func.func @sums(%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %s: tensor<2x3xf32>) -> (tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x3xf32>) {
  %z = "tf.ZerosLike"(%y) : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %0 = "tf.AddV2"(%x, %z) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %1 = "tf.Sub"(%x, %z) : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x?xf32>
  %t2 = "tf.ZerosLike"(%s) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %3 = "tf.AddV2"(%s, %t2) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %3 : tensor<?x?xf32>, tensor<?x?xf32>, tensor<2x3xf32>
}
