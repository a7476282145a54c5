// RUN: fold-float64
// CHECK-LABEL: func.func @logarithm
// CHECK: %[[Y:.*]] = "tf.Const"() <{value = dense<[1, 2, -2147483648]> : tensor<3xi32>}>
// CHECK-NOT: f64
// CHECK: return %[[Y]]
func.func @logarithm() -> tensor<3xi32> {
  %numbers = "tf.Const"() {value = dense<[3, 8, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %wide = "tf.Cast"(%numbers) : (tensor<3xi32>) -> tensor<3xf64>
  %log = "tf.Log"(%wide) : (tensor<3xf64>) -> tensor<3xf64>
  %0 = "tf.Cast"(%log) : (tensor<3xf64>) -> tensor<3xi32>
  return %0 : tensor<3xi32>
}
// What is compared in float64, and what else is computed of the same constants.
// CHECK-LABEL: func.func @comparison
// CHECK-DAG: value = dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: "tf.Neg"
// CHECK-NOT: f64
// CHECK: return
func.func @comparison() -> (tensor<2xi1>, tensor<2xi32>) {
  %numbers = "tf.Const"() {value = dense<[1, 5]> : tensor<2xi32>} : () -> tensor<2xi32>
  %two = "tf.Const"() {value = dense<2.5> : tensor<f64>} : () -> tensor<f64>
  %wide = "tf.Cast"(%numbers) : (tensor<2xi32>) -> tensor<2xf64>
  %0 = "tf.Less"(%wide, %two) : (tensor<2xf64>, tensor<f64>) -> tensor<2xi1>
  %1 = "tf.Neg"(%numbers) : (tensor<2xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xi1>, tensor<2xi32>
}
// Integers alone, and what depends on an argument, stay.
// CHECK-LABEL: func.func @argument
// CHECK: tf.Log
// CHECK: tf.Cast
func.func @argument(%x: tensor<2xf64>) -> tensor<2xf32> {
  %log = "tf.Log"(%x) : (tensor<2xf64>) -> tensor<2xf64>
  %0 = "tf.Cast"(%log) : (tensor<2xf64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// The halves of a count in uint64, as JAX makes them for random numbers.
// CHECK-LABEL: func.func @halves
// CHECK-DAG: value = dense<[0, 1]> : tensor<2xui32>
// CHECK-DAG: value = dense<[3, 2]> : tensor<2xui32>
// CHECK-NOT: ui64
// CHECK: return
func.func @halves() -> (tensor<2xui32>, tensor<2xui32>) {
  %count = "tf.Const"() {value = dense<[3, 4294967298]> : tensor<2xui64>} : () -> tensor<2xui64>
  %places = "tf.Const"() {value = dense<32> : tensor<ui64>} : () -> tensor<ui64>
  %upper = "tf.RightShift"(%count, %places) : (tensor<2xui64>, tensor<ui64>) -> tensor<2xui64>
  %0 = "tf.Cast"(%upper) {Truncate = false} : (tensor<2xui64>) -> tensor<2xui32>
  %1 = "tf.Cast"(%count) {Truncate = false} : (tensor<2xui64>) -> tensor<2xui32>
  return %0, %1 : tensor<2xui32>, tensor<2xui32>
}
// Floats are divided by zero as TensorFlow does it; integers are not, and the op stays.
// CHECK-LABEL: func.func @zeros
// CHECK-DAG: value = dense<[0x7F800000, 0xFF800000, 3.000000e+00]> : tensor<3xf32>
// CHECK-DAG: "tf.FloorDiv"{{.*}} -> tensor<3xui64>
// CHECK-DAG: "tf.Div"{{.*}} -> tensor<3xui64>
// CHECK-NOT: f64
// CHECK: return
func.func @zeros() -> (tensor<3xf32>, tensor<3xui32>, tensor<3xui32>) {
  %numbers = "tf.Const"() {value = dense<[1.0, -1.0, 7.0]> : tensor<3xf64>} : () -> tensor<3xf64>
  %divisors = "tf.Const"() {value = dense<[0.0, 0.0, 2.0]> : tensor<3xf64>} : () -> tensor<3xf64>
  %quotients = "tf.FloorDiv"(%numbers, %divisors) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %0 = "tf.Cast"(%quotients) {Truncate = false} : (tensor<3xf64>) -> tensor<3xf32>
  %counts = "tf.Const"() {value = dense<[1, 2, 3]> : tensor<3xui64>} : () -> tensor<3xui64>
  %parts = "tf.Const"() {value = dense<[2, 0, 1]> : tensor<3xui64>} : () -> tensor<3xui64>
  %whole = "tf.FloorDiv"(%counts, %parts) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
  %1 = "tf.Cast"(%whole) {Truncate = false} : (tensor<3xui64>) -> tensor<3xui32>
  %cut = "tf.Div"(%counts, %parts) : (tensor<3xui64>, tensor<3xui64>) -> tensor<3xui64>
  %2 = "tf.Cast"(%cut) {Truncate = false} : (tensor<3xui64>) -> tensor<3xui32>
  return %0, %1, %2 : tensor<3xf32>, tensor<3xui32>, tensor<3xui32>
}
