// RUN: sink-handles, symbol-dce
// One copy of the callee for each variable that it is called with, and no resource crosses a call.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<f32>)
// CHECK: "tf.StatefulPartitionedCall"(%[[X]]) <{{{.*}}f = @[[FA:f_[0-9]+]]}>
// CHECK: "tf.StatefulPartitionedCall"(%[[X]]) <{{{.*}}f = @[[FB:f_[0-9]+]]}>
// CHECK: "tf.StatefulPartitionedCall"(%[[X]]) <{{{.*}}f = @[[FA]]}>
func.func @main(%x: tensor<f32>) {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %b = "tf.VarHandleOp"() {container = "", shared_name = "b"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  "tf.StatefulPartitionedCall"(%a, %x) {f = @f, config = "", config_proto = "", executor_type = ""} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<f32>) -> ()
  "tf.StatefulPartitionedCall"(%b, %x) {f = @f, config = "", config_proto = "", executor_type = ""} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<f32>) -> ()
  "tf.StatefulPartitionedCall"(%a, %x) {f = @f, config = "", config_proto = "", executor_type = ""} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<f32>) -> ()
  return
}

// CHECK-NOT: func.func private @f(
// CHECK: func.func private @[[FA]](%[[Y:.*]]: tensor<f32>)
// CHECK: %[[H:.*]] = "tf.VarHandleOp"() <{container = "", shared_name = "a"}>
// CHECK: "tf.AssignVariableOp"(%[[H]], %[[Y]])
// CHECK: func.func private @[[FB]](%{{.*}}: tensor<f32>)
// CHECK: shared_name = "b"
func.func private @f(%h: tensor<!tf_type.resource>, %x: tensor<f32>) {
  "tf.AssignVariableOp"(%h, %x) {validate_shape = false} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  return
}

// -----
// RUN: sink-handles, symbol-dce
// A loop carries no handle, and a function returns none.

// CHECK-LABEL: func.func @main
// CHECK: "tf.While"(%{{[^,]*}}) <{body = @[[BODY:.*]], cond = @[[COND:.*]], is_stateless
// CHECK-SAME: (tensor<i32>) -> tensor<i32>
// CHECK: "tf.PartitionedCall"() <{{{.*}}f = @[[SAME:.*]]}> : () -> ()
// CHECK: "tf.ReadVariableOp"
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<i32>>>
  %0:2 = "tf.While"(%a, %n) {body = @body, cond = @cond, is_stateless = false, parallel_iterations = 10 : i64} : (tensor<!tf_type.resource<tensor<i32>>>, tensor<i32>) -> (tensor<!tf_type.resource<tensor<i32>>>, tensor<i32>)
  %1 = "tf.PartitionedCall"(%0#0) {f = @same, config = "", config_proto = "", executor_type = ""} : (tensor<!tf_type.resource<tensor<i32>>>) -> tensor<!tf_type.resource<tensor<i32>>>
  %2 = "tf.ReadVariableOp"(%1) : (tensor<!tf_type.resource<tensor<i32>>>) -> tensor<i32>
  return %0#1, %2 : tensor<i32>, tensor<i32>
}
func.func private @same(%h: tensor<!tf_type.resource>) -> tensor<!tf_type.resource> {
  %0 = "tf.Identity"(%h) : (tensor<!tf_type.resource>) -> tensor<!tf_type.resource>
  return %0 : tensor<!tf_type.resource>
}
func.func private @cond(%h: tensor<!tf_type.resource>, %n: tensor<i32>) -> tensor<i1> {
  %0 = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource>) -> tensor<i32>
  %1 = "tf.Less"(%0, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %1 : tensor<i1>
}
func.func private @body(%h: tensor<!tf_type.resource>, %n: tensor<i32>) -> (tensor<!tf_type.resource>, tensor<i32>) {
  "tf.AssignVariableOp"(%h, %n) {validate_shape = false} : (tensor<!tf_type.resource>, tensor<i32>) -> ()
  return %h, %n : tensor<!tf_type.resource>, tensor<i32>
}

// -----
// RUN: sink-handles
// ERROR: which resource is used depends on a condition
func.func @main(%p: tensor<i1>) -> tensor<f32> {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %b = "tf.VarHandleOp"() {container = "", shared_name = "b"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %0 = "tf.If"(%p, %a, %b) {then_branch = @first, else_branch = @second, is_stateless = false} : (tensor<i1>, tensor<!tf_type.resource<tensor<f32>>>, tensor<!tf_type.resource<tensor<f32>>>) -> tensor<!tf_type.resource<tensor<f32>>>
  %1 = "tf.ReadVariableOp"(%0) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @first(%a: tensor<!tf_type.resource>, %b: tensor<!tf_type.resource>) -> tensor<!tf_type.resource> {
  return %a : tensor<!tf_type.resource>
}
func.func private @second(%a: tensor<!tf_type.resource>, %b: tensor<!tf_type.resource>) -> tensor<!tf_type.resource> {
  return %b : tensor<!tf_type.resource>
}

// -----
// RUN: sink-handles
// ERROR: a loop changes which resource it uses
func.func @main(%n: tensor<i1>) -> tensor<i1> {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %b = "tf.VarHandleOp"() {container = "", shared_name = "b"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %0:3 = "tf.While"(%a, %b, %n) {body = @swap, cond = @cond, is_stateless = false, parallel_iterations = 10 : i64} : (tensor<!tf_type.resource<tensor<f32>>>, tensor<!tf_type.resource<tensor<f32>>>, tensor<i1>) -> (tensor<!tf_type.resource<tensor<f32>>>, tensor<!tf_type.resource<tensor<f32>>>, tensor<i1>)
  return %0#2 : tensor<i1>
}
func.func private @cond(%a: tensor<!tf_type.resource>, %b: tensor<!tf_type.resource>, %n: tensor<i1>) -> tensor<i1> {
  return %n : tensor<i1>
}
func.func private @swap(%a: tensor<!tf_type.resource>, %b: tensor<!tf_type.resource>, %n: tensor<i1>) -> (tensor<!tf_type.resource>, tensor<!tf_type.resource>, tensor<i1>) {
  return %b, %a, %n : tensor<!tf_type.resource>, tensor<!tf_type.resource>, tensor<i1>
}
