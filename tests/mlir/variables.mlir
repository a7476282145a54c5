// RUN: freeze-variables
// VALUE: w = dense<[1.0, 2.0]> : tensor<2xf32>
// A variable that is only read becomes a constant, one in each function.

// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
// CHECK-NOT: VarHandleOp
// CHECK: "tf.Mul"(%[[W]], %[[W]])
func.func @main() -> tensor<2xf32> {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "w"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %0 = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  %1 = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<*xf32>
  %2 = "tf.Mul"(%0, %1) : (tensor<2xf32>, tensor<*xf32>) -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// -----
// RUN: freeze-variables, initialize-variables
// VALUE: c = dense<5> : tensor<i32>
// A write anywhere keeps the variable everywhere; its reads get the type that it declares.

// CHECK-LABEL: func.func @get
// CHECK: "tf.ReadVariableOp"({{.*}}) : (tensor<!tf_type.resource<tensor<i32>>>) -> tensor<i32>
func.func @get() -> tensor<*xi32> {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "c"} : () -> tensor<!tf_type.resource<tensor<i32>>>
  %0 = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<i32>>>) -> tensor<*xi32>
  %1 = "tf.Identity"(%0) : (tensor<*xi32>) -> tensor<*xi32>
  return %1 : tensor<*xi32>
}
// CHECK-LABEL: func.func @set
// CHECK: AssignVariableOp
func.func @set(%x: tensor<i32>) {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "c"} : () -> tensor<!tf_type.resource<tensor<i32>>>
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource<tensor<i32>>>, tensor<i32>) -> ()
  return
}
// CHECK-LABEL: func.func public @initialize_variables
// CHECK: %[[V:.*]] = "tf.Const"() <{value = dense<5> : tensor<i32>}>
// CHECK: %[[H:.*]] = "tf.VarHandleOp"() <{container = "", shared_name = "c"}>
// CHECK: "tf.AssignVariableOp"(%[[H]], %[[V]])

// -----
// RUN: initialize-variables
// VALUE: c = dense<> : tensor<0xf32>
// ERROR: starts empty
func.func @main(%x: tensor<0xf32>) {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "c"} : () -> tensor<!tf_type.resource<tensor<0xf32>>>
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource<tensor<0xf32>>>, tensor<0xf32>) -> ()
  return
}

// -----
// RUN: initialize-variables
// VALUE: c = dense<1.0> : tensor<1xf32>
// ERROR: its shape may change
func.func @main(%x: tensor<?xf32>) {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "c"} : () -> tensor<!tf_type.resource<tensor<?xf32>>>
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource<tensor<?xf32>>>, tensor<?xf32>) -> ()
  return
}

// -----
// RUN: call-once{entry=one+two initializers=initialize_variables}
// CHECK: func.func @one
// CHECK-NEXT: "tfl.call_once"() <{session_init_function = "initialize_variables"}>
func.func @one() {
  return
}
// CHECK: func.func @two
// CHECK-NEXT: "tfl.call_once"()
func.func @two() {
  return
}
// CHECK: func.func @initialize_variables
// CHECK-NEXT: return
func.func @initialize_variables() {
  return
}

// -----
// RUN: name-tensors{entry=main inputs=x:0+y:0 outputs=Call:0}
// CHECK: tf.entry_function = {inputs = "x:0,y:0", outputs = "Call:0"}
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----
// RUN: freeze-variables
// VALUE: v = dense<1.0> : tensor<f32>
// What is only assigned what was read from it does not change.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.AssignVariableOp
// CHECK: %[[V:.*]] = "tf.Const"
// CHECK: "tf.AddV2"(%arg0, %[[V]])
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %v = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  %y = "tf.AddV2"(%x, %v) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  %same = "tf.Identity"(%v) : (tensor<f32>) -> tensor<f32>
  "tf.AssignVariableOp"(%h, %same) {validate_shape = false} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<f32>) -> ()
  return %y : tensor<f32>
}

// -----
// RUN: freeze-variables
// What is assigned to another one changes that.
// CHECK-LABEL: func.func @main
// CHECK: tf.AssignVariableOp
// VALUE: w = dense<1.0> : tensor<f32>
func.func @main() -> tensor<f32> {
  %h = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %g = "tf.VarHandleOp"() {container = "", shared_name = "w"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %w = "tf.ReadVariableOp"(%g) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  "tf.AssignVariableOp"(%h, %w) {validate_shape = false} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<f32>) -> ()
  return %w : tensor<f32>
}
