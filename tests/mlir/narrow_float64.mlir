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
// What is returned, or was float32, stays; so do quotients that are exact in integers.
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
// Sums and quotients that are not exact in integers are narrowed where they end as floats; a rounded quotient is corrected.
// CHECK-LABEL: func.func @rounded_quotient
// CHECK: tf.RealDiv{{.*}}f32
// CHECK: tf.Round{{.*}}f32
// CHECK: tf.FloorMod{{.*}}i64
// CHECK: tf.SelectV2{{.*}}(tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
// CHECK-NOT: f64
// CHECK: return
func.func @rounded_quotient(%x: tensor<?xi32>, %y: tensor<i32>, %z: tensor<?xf32>, %c: tensor<i1>) -> tensor<?xf32> {
  %0 = "tf.Cast"(%x) : (tensor<?xi32>) -> tensor<?xf64>
  %1 = "tf.Cast"(%y) : (tensor<i32>) -> tensor<f64>
  %2 = "tf.RealDiv"(%0, %1) : (tensor<?xf64>, tensor<f64>) -> tensor<?xf64>
  %3 = "tf.Round"(%2) : (tensor<?xf64>) -> tensor<?xf64>
  %4 = "tf.Cast"(%z) : (tensor<?xf32>) -> tensor<?xf64>
  %5 = "tf.SelectV2"(%c, %4, %3) : (tensor<i1>, tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %6 = "tf.Cast"(%5) : (tensor<?xf64>) -> tensor<?xf32>
  return %6 : tensor<?xf32>
}
// The position of a quantile, and how far it is from there to the exact one.
// CHECK-LABEL: func.func @quantile
// CHECK-NOT: f64
// CHECK: return
func.func @quantile(%n: tensor<i32>, %q: tensor<f32>) -> (tensor<i32>, tensor<f32>) {
  %0 = "tf.Cast"(%n) : (tensor<i32>) -> tensor<f64>
  %1 = "tf.Cast"(%q) : (tensor<f32>) -> tensor<f64>
  %2 = "tf.Mul"(%0, %1) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %3 = "tf.Ceil"(%2) : (tensor<f64>) -> tensor<f64>
  %4 = "tf.Cast"(%3) : (tensor<f64>) -> tensor<i32>
  %5 = "tf.Sub"(%3, %2) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %6 = "tf.Cast"(%5) : (tensor<f64>) -> tensor<f32>
  return %4, %6 : tensor<i32>, tensor<f32>
}
// A size must not be off by one.
// CHECK-LABEL: func.func @size
// CHECK: tf.Mul{{.*}}f64
func.func @size(%n: tensor<i32>) -> tensor<i32> {
  %share = "tf.Const"() {value = dense<0.7> : tensor<f64>} : () -> tensor<f64>
  %0 = "tf.Cast"(%n) : (tensor<i32>) -> tensor<f64>
  %1 = "tf.Mul"(%0, %share) : (tensor<f64>, tensor<f64>) -> tensor<f64>
  %2 = "tf.Cast"(%1) : (tensor<f64>) -> tensor<i32>
  return %2 : tensor<i32>
}
// Tensors of integers may be large, such as times in seconds: their quotients' and differences' digits stay.
// CHECK-LABEL: func.func @large_quotient
// CHECK: tf.RealDiv{{.*}}f64
func.func @large_quotient(%x: tensor<?xi64>) -> tensor<?xi64> {
  %ten = "tf.Const"() {value = dense<10.0> : tensor<f64>} : () -> tensor<f64>
  %0 = "tf.Cast"(%x) : (tensor<?xi64>) -> tensor<?xf64>
  %1 = "tf.RealDiv"(%0, %ten) : (tensor<?xf64>, tensor<f64>) -> tensor<?xf64>
  %2 = "tf.Cast"(%1) : (tensor<?xf64>) -> tensor<?xi64>
  return %2 : tensor<?xi64>
}
// CHECK-LABEL: func.func @difference
// CHECK: tf.Sub{{.*}}f64
func.func @difference(%x: tensor<?xi64>, %y: tensor<?xi64>) -> tensor<?xf32> {
  %0 = "tf.Cast"(%x) : (tensor<?xi64>) -> tensor<?xf64>
  %1 = "tf.Cast"(%y) : (tensor<?xi64>) -> tensor<?xf64>
  %2 = "tf.Sub"(%0, %1) : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %3 = "tf.Cast"(%2) : (tensor<?xf64>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
// CHECK-LABEL: func.func @large_constant
// CHECK: tf.RealDiv{{.*}}f64
func.func @large_constant(%x: tensor<?xi32>) -> tensor<?xf32> {
  %second = "tf.Const"() {value = dense<1700000001.0> : tensor<f64>} : () -> tensor<f64>
  %0 = "tf.Cast"(%x) : (tensor<?xi32>) -> tensor<?xf64>
  %1 = "tf.RealDiv"(%0, %second) : (tensor<?xf64>, tensor<f64>) -> tensor<?xf64>
  %2 = "tf.Cast"(%1) : (tensor<?xf64>) -> tensor<?xf32>
  %3 = "tf.Less"(%1, %second) : (tensor<?xf64>, tensor<f64>) -> tensor<?xi1>
  return %2 : tensor<?xf32>
}
