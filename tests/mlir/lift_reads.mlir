// RUN: lift-reads
// A resource that is only read becomes a value, through several calls, without copies of the callee.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>)
// CHECK: %[[A:.*]] = "tf.VarHandleOp"() <{container = "", shared_name = "a"}>
// CHECK: %[[B:.*]] = "tf.VarHandleOp"() <{container = "", shared_name = "b"}>
// CHECK: %[[VA:.*]] = "tf.ReadVariableOp"(%[[A]]) {{.*}} -> tensor<2xf32>
// CHECK: "tf.PartitionedCall"(%[[X]], %[[VA]]) <{{{.*}}f = @outer}>
// CHECK: %[[VB:.*]] = "tf.ReadVariableOp"(%[[B]])
// CHECK: "tf.PartitionedCall"({{.*}}, %[[VB]]) <{{{.*}}f = @outer}>
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %b = "tf.VarHandleOp"() {container = "", shared_name = "b"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %0 = "tf.PartitionedCall"(%x, %a) {f = @outer, config = "", config_proto = "", executor_type = ""} : (tensor<2xf32>, tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  %1 = "tf.PartitionedCall"(%0, %b) {f = @outer, config = "", config_proto = "", executor_type = ""} : (tensor<2xf32>, tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func private @outer
// CHECK-SAME: (%[[X:.*]]: tensor<2xf32>, %[[V:.*]]: tensor<{{.*}}xf32>)
// CHECK-NOT: ReadVariableOp
// CHECK: "tf.StatefulPartitionedCall"(%[[X]], %[[V]])
func.func private @outer(%x: tensor<2xf32>, %h: tensor<!tf_type.resource>) -> tensor<2xf32> {
  %0 = "tf.StatefulPartitionedCall"(%x, %h) {f = @inner, config = "", config_proto = "", executor_type = ""} : (tensor<2xf32>, tensor<!tf_type.resource>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: func.func private @inner
// CHECK-NOT: ReadVariableOp
// CHECK: "tf.AddV2"(%arg0, %arg1)
func.func private @inner(%x: tensor<2xf32>, %h: tensor<!tf_type.resource>) -> tensor<2xf32> {
  %v = "tf.ReadVariableOp"(%h) : (tensor<!tf_type.resource>) -> tensor<2xf32>
  %0 = "tf.AddV2"(%x, %v) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: lift-reads
// What a function writes, it may write before it reads: nothing moves.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ReadVariableOp
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %0 = "tf.StatefulPartitionedCall"(%x, %a, %a) {f = @f, config = "", config_proto = "", executor_type = ""} : (tensor<f32>, tensor<!tf_type.resource<tensor<f32>>>, tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func private @f
// CHECK: AssignVariableOp
// CHECK: ReadVariableOp
func.func private @f(%x: tensor<f32>, %w: tensor<!tf_type.resource>, %r: tensor<!tf_type.resource>) -> tensor<f32> {
  "tf.AssignVariableOp"(%w, %x) {validate_shape = false} : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  %v = "tf.ReadVariableOp"(%r) : (tensor<!tf_type.resource>) -> tensor<f32>
  return %v : tensor<f32>
}

// -----
// RUN: lift-reads
// What a branch reads stays in the branch.

// CHECK-LABEL: func.func @main
// CHECK-NOT: ReadVariableOp
// CHECK: tf.If
func.func @main(%p: tensor<i1>) -> tensor<f32> {
  %a = "tf.VarHandleOp"() {container = "", shared_name = "a"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %0 = "tf.If"(%p, %a) {then_branch = @f, else_branch = @f, is_stateless = false} : (tensor<i1>, tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%r: tensor<!tf_type.resource>) -> tensor<f32> {
  %v = "tf.ReadVariableOp"(%r) : (tensor<!tf_type.resource>) -> tensor<f32>
  return %v : tensor<f32>
}
