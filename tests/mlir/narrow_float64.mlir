// RUN: narrow-float64
// CHECK-LABEL: func.func @logarithm
// CHECK: %[[W:.*]] = "tf.Cast"(%arg0) : (tensor<?xi32>) -> tensor<?xf32>
// CHECK: %[[L:.*]] = "tf.Log"(%[[W]]) : (tensor<?xf32>) -> tensor<?xf32>
// CHECK: value = dense<2.500000e+00> : tensor<f32>
// CHECK: "tf.Less"(%[[L]]
// CHECK: return %[[L]]
func.func @logarithm(%x: tensor<?xi32>) -> (tensor<?xf32>, tensor<?xi1>) {
  %wide = "tf.Cast"(%x) : (tensor<?xi32>) -> tensor<?xf64>
  %log = "tf.Log"(%wide) : (tensor<?xf64>) -> tensor<?xf64>
  %least = "tf.Const"() {value = dense<2.5> : tensor<f64>} : () -> tensor<f64>
  %0 = "tf.Cast"(%log) : (tensor<?xf64>) -> tensor<?xf32>
  %1 = "tf.Less"(%log, %least) : (tensor<?xf64>, tensor<f64>) -> tensor<?xi1>
  return %0, %1 : tensor<?xf32>, tensor<?xi1>
}
// What is returned, or was float32, stays; so do sums and quotients, which may be exact in integers.
// CHECK-LABEL: func.func @result
// CHECK: tf.Log{{.*}}f64
func.func @result(%x: tensor<?xi32>) -> tensor<?xf64> {
  %wide = "tf.Cast"(%x) : (tensor<?xi32>) -> tensor<?xf64>
  %log = "tf.Log"(%wide) : (tensor<?xf64>) -> tensor<?xf64>
  return %log : tensor<?xf64>
}
// CHECK-LABEL: func.func @floats
// CHECK: tf.Log{{.*}}f64
func.func @floats(%x: tensor<?xf32>) -> tensor<?xi32> {
  %wide = "tf.Cast"(%x) : (tensor<?xf32>) -> tensor<?xf64>
  %log = "tf.Log"(%wide) : (tensor<?xf64>) -> tensor<?xf64>
  %0 = "tf.Cast"(%log) : (tensor<?xf64>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
// CHECK-LABEL: func.func @quotient
// CHECK: tf.RealDiv{{.*}}f64
func.func @quotient(%x: tensor<?xi32>) -> tensor<?xi32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f64>} : () -> tensor<f64>
  %wide = "tf.Cast"(%x) : (tensor<?xi32>) -> tensor<?xf64>
  %half = "tf.RealDiv"(%wide, %two) : (tensor<?xf64>, tensor<f64>) -> tensor<?xf64>
  %0 = "tf.Cast"(%half) : (tensor<?xf64>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
