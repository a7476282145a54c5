// RUN: mark-branches
// The number of rows is 4 only where the branch is taken. The other branch fits any, and so does what has known sizes.
// CHECK-LABEL: func.func @main
// CHECK: func.func private @then{{.*}} attributes {litefuse.deferred}
// CHECK: func.func private @else
// CHECK-NOT: litefuse.deferred
func.func @main(%c: tensor<i1>, %x: tensor<?x3xf32>, %y: tensor<2xf32>) -> tensor<?x3xf32> {
  %0 = "tf.If"(%c, %x) {else_branch = @else, is_stateless = true, then_branch = @then} : (tensor<i1>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "tf.If"(%c, %y) {else_branch = @same, is_stateless = true, then_branch = @known} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<?x3xf32>
}
func.func private @then(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = "tf.Const"() {value = dense<[4, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %1 = "tf.Reshape"(%x, %0) : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
func.func private @else(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = "tf.Relu"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "tf.AddV2"(%x, %0) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %1 : tensor<?x3xf32>
}
func.func private @known(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %1 = "tf.Reshape"(%x, %0) : (tensor<2xf32>, tensor<2xi32>) -> tensor<1x2xf32>
  %2 = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %3 = "tf.Reshape"(%1, %2) : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %3 : tensor<2xf32>
}
func.func private @same(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----
// RUN: mark-branches
// Two arguments of the same unknown size fit; two of any sizes do not. What a loop computes in a branch is looked into,
// and what a nested branch computes is the nested branch's.
// CHECK-LABEL: func.func @main
// CHECK: func.func private @outer(
// CHECK-NOT: litefuse.deferred
// CHECK: func.func private @looped{{.*}} attributes {litefuse.deferred}
// CHECK: func.func private @inner{{.*}} attributes {litefuse.deferred}
// CHECK: func.func private @body
// CHECK-NOT: litefuse.deferred
func.func @main(%c: tensor<i1>, %x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "tf.If"(%c, %x, %x, %y) {else_branch = @looped, is_stateless = true, then_branch = @outer} : (tensor<i1>, tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @outer(%x: tensor<?xf32>, %z: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "tf.AddV2"(%x, %z) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %1 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %2 = "tf.IsNan"(%x) : (tensor<?xf32>) -> tensor<?xi1>
  %3 = "tf.Any"(%2, %1) {keep_dims = false} : (tensor<?xi1>, tensor<1xi32>) -> tensor<i1>
  %4 = "tf.If"(%3, %0, %y) {else_branch = @first, is_stateless = true, then_branch = @inner} : (tensor<i1>, tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %4 : tensor<?xf32>
}
func.func private @looped(%x: tensor<?xf32>, %z: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0:2 = "tf.While"(%x, %y) {body = @body, cond = @cond, is_stateless = true} : (tensor<?xf32>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0 : tensor<?xf32>
}
func.func private @inner(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "tf.AddV2"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @first(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func private @cond(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<i1> {
  %0 = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "tf.AddV2"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0, %y : tensor<?xf32>, tensor<?xf32>
}

// -----
// RUN: defer-branches
// The first argument that is used and has dimensions takes a shape that is packed in the call.
// CHECK-LABEL: func.func private @then
// CHECK-NOT: litefuse.deferred
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%arg2)
// CHECK: %[[ROWS:.*]] = "tfl.strided_slice"(%[[SHAPE]],
// CHECK: %[[COLUMNS:.*]] = "tfl.strided_slice"(%[[SHAPE]],
// CHECK: %[[PACKED:.*]] = "tfl.pack"(%[[ROWS]], %[[COLUMNS]])
// CHECK: %[[X:.*]] = "tfl.reshape"(%arg2, %[[PACKED]]) : (tensor<?x3xf32>, tensor<2xi32>) -> tensor<?x3xf32>
// CHECK: %[[Y:.*]] = "tfl.abs"(%[[X]])
// CHECK: return %[[X]], %[[Y]]
func.func private @then(%n: tensor<f32>, %unused: tensor<?xf32>, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) attributes {litefuse.deferred} {
  %0 = "tfl.abs"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %x, %0 : tensor<?x3xf32>, tensor<?x3xf32>
}
func.func @main(%c: tensor<i1>, %n: tensor<f32>, %y: tensor<?xf32>, %x: tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %0:2 = "tf.If"(%c, %n, %y, %x) {then_branch = @then, else_branch = @then, is_stateless = true} : (tensor<i1>, tensor<f32>, tensor<?xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  return %0#0, %0#1 : tensor<?x3xf32>, tensor<?x3xf32>
}
