// RUN: withhold-chosen-ops{chosen=Reshape+Erf}, simplify, rewrite-before-lowering, decompose-ops
// Nothing finds the ops that were chosen; what is known of their results' shapes is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "tf.Const"
// CHECK-NEXT: %[[R:.*]] = "tf.Reshape.withheld"(%arg0, %{{.*}})
// CHECK-SAME: -> tensor<2x6xf32>
// CHECK-NEXT: %[[E:.*]] = "tf.Erf.withheld"(%[[R]])
// CHECK-SAME: -> tensor<2x6xf32>
// CHECK-NEXT: return %[[E]]
func.func @main(%x: tensor<2x6xf32>) -> tensor<*xf32> {
  %s = "tf.Const"() {value = dense<[2, 6]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Reshape"(%x, %s) {T = f32} : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<*xf32>
  %1 = "tf.Erf"(%0) {T = f32} : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----
// RUN: withhold-chosen-ops{chosen=Shape}, simplify, emit-custom-ops
// What it computes is left to its kernel, though it is known.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = "tfl.custom"(%arg0) <{custom_code = "Shape"
// CHECK-SAME: -> tensor<2xi32>
// CHECK-NEXT: return %[[S]]
func.func @main(%x: tensor<2x6xf32>) -> tensor<*xi32> {
  %0 = "tf.Shape"(%x) {T = f32, out_type = i32} : (tensor<2x6xf32>) -> tensor<*xi32>
  return %0 : tensor<*xi32>
}

// -----
// RUN: withhold-chosen-ops{chosen=Const+While+ReadVariableOp}
// Constants stay, and so do ops that run functions or work on variables.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "tf.Const"()
// CHECK-NEXT: "tf.VarHandleOp"()
// CHECK-NEXT: "tf.ReadVariableOp"
// CHECK-NEXT: "tf.While"
func.func @main() -> tensor<f32> {
  %c = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %v = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  %w = "tf.While"(%v) {cond = @cond, body = @body, is_stateless = true} : (tensor<f32>) -> tensor<f32>
  return %w : tensor<f32>
}
func.func private @cond(%x: tensor<f32>) -> tensor<i1> {
  %c = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  return %c : tensor<i1>
}
func.func private @body(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}
