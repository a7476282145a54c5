// RUN: lower-tensor-lists
// A branch hands what it computed to its gradient; the other one, zeros of that size.
// CHECK-LABEL: func.func @main(
// CHECK: %[[IF:.*]]:2 = "tf.If"(%arg0, %arg1) {{.*}} -> (tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK: "tf.If"(%arg0, %[[IF]]#1) {{.*}} (tensor<i1>, tensor<?x4xf32>) -> tensor<?x4xf32>
// CHECK-LABEL: func.func private @then(
// CHECK: %[[X:.*]] = "tf.Tanh"(%arg0)
// CHECK-NEXT: return %[[X]], %[[X]] : tensor<?x4xf32>, tensor<?x4xf32>
// CHECK-LABEL: func.func private @else(
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%arg0)
// CHECK: %[[SIZE:.*]] = "tf.StridedSlice"(%[[SHAPE]]
// CHECK: %[[SIZES:.*]] = "tf.Pack"(%[[SIZE]], %{{.*}})
// CHECK: %[[ZEROS:.*]] = "tf.Fill"(%[[SIZES]], %{{.*}})
// CHECK-NEXT: return %arg0, %[[ZEROS]] : tensor<?x4xf32>, tensor<?x4xf32>
// CHECK-LABEL: func.func private @then_gradient(%arg0: tensor<?x4xf32>)
// CHECK: "tf.Square"(%arg0)
func.func @main(%p: tensor<i1>, %x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0:2 = "tf.If"(%p, %x) {then_branch = @then, else_branch = @else, is_stateless = true} : (tensor<i1>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<!tf_type.variant>)
  %1 = "tf.If"(%p, %0#1) {then_branch = @then_gradient, else_branch = @else_gradient, is_stateless = true} : (tensor<i1>, tensor<!tf_type.variant>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func private @then(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<!tf_type.variant>) {
  %0 = "tf.Tanh"(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.OptionalFromValue"(%0) {Toutput_types = [f32]} : (tensor<?x4xf32>) -> tensor<!tf_type.variant>
  return %0, %1 : tensor<?x4xf32>, tensor<!tf_type.variant>
}
func.func private @else(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<!tf_type.variant>) {
  %0 = "tf.OptionalNone"() : () -> tensor<!tf_type.variant>
  return %x, %0 : tensor<?x4xf32>, tensor<!tf_type.variant>
}
func.func private @then_gradient(%o: tensor<!tf_type.variant>) -> tensor<?x4xf32> {
  %0 = "tf.OptionalGetValue"(%o) {output_types = [f32], output_shapes = [#tf_type.shape<?x4>]} : (tensor<!tf_type.variant>) -> tensor<?x4xf32>
  %1 = "tf.Square"(%0) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
func.func private @else_gradient(%o: tensor<!tf_type.variant>) -> tensor<?x4xf32> {
  %0 = "tf.Const"() {value = dense<1.0> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %1 = "tf.Identity"(%0) : (tensor<1x4xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}

// -----
// RUN: lower-tensor-lists
// One optional is a matrix in one branch and an integer in the other: it becomes two tensors.
// CHECK-LABEL: func.func @main(
// CHECK: %[[IF:.*]]:2 = "tf.If"(%arg0, %arg1) {{.*}} -> (tensor<3x4xf32>, tensor<i32>)
// CHECK: "tf.If"(%arg0, %[[IF]]#0, %[[IF]]#1) {{.*}} -> tensor<f32>
// CHECK-LABEL: func.func private @then(
// CHECK: %[[ZERO:.*]] = "tf.Const"() <{value = dense<0> : tensor<i32>}>
// CHECK: return %arg0, %[[ZERO]]
// CHECK-LABEL: func.func private @else(
// CHECK-DAG: %[[SIZE:.*]] = "tf.Size"(%arg0)
// CHECK-DAG: %[[ZEROS:.*]] = "tf.Const"() <{value = dense<0.000000e+00> : tensor<3x4xf32>}>
// CHECK: return %[[ZEROS]], %[[SIZE]]
// CHECK-LABEL: func.func private @then_gradient(
// CHECK-SAME: %arg0: tensor<3x4xf32>, %arg1: tensor<i32>
// CHECK: "tf.Max"(%arg0
// CHECK-LABEL: func.func private @else_gradient(
// CHECK: "tf.Cast"(%arg1)
func.func @main(%p: tensor<i1>, %x: tensor<3x4xf32>) -> tensor<f32> {
  %0 = "tf.If"(%p, %x) {then_branch = @then, else_branch = @else, is_stateless = true} : (tensor<i1>, tensor<3x4xf32>) -> tensor<!tf_type.variant>
  %1 = "tf.If"(%p, %0) {then_branch = @then_gradient, else_branch = @else_gradient, is_stateless = true} : (tensor<i1>, tensor<!tf_type.variant>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @then(%x: tensor<3x4xf32>) -> tensor<!tf_type.variant> {
  %0 = "tf.OptionalFromValue"(%x) {Toutput_types = [f32]} : (tensor<3x4xf32>) -> tensor<!tf_type.variant>
  return %0 : tensor<!tf_type.variant>
}
func.func private @else(%x: tensor<3x4xf32>) -> tensor<!tf_type.variant> {
  %0 = "tf.Size"(%x) : (tensor<3x4xf32>) -> tensor<i32>
  %1 = "tf.OptionalFromValue"(%0) {Toutput_types = [i32]} : (tensor<i32>) -> tensor<!tf_type.variant>
  return %1 : tensor<!tf_type.variant>
}
func.func private @then_gradient(%o: tensor<!tf_type.variant>) -> tensor<f32> {
  %axes = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.OptionalGetValue"(%o) {output_types = [f32], output_shapes = [#tf_type.shape<3x4>]} : (tensor<!tf_type.variant>) -> tensor<3x4xf32>
  %1 = "tf.Max"(%0, %axes) : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @else_gradient(%o: tensor<!tf_type.variant>) -> tensor<f32> {
  %0 = "tf.OptionalGetValue"(%o) {output_types = [i32], output_shapes = [#tf_type.shape<>]} : (tensor<!tf_type.variant>) -> tensor<i32>
  %1 = "tf.Cast"(%0) : (tensor<i32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----
// RUN: lower-tensor-lists
// ERROR: node held (OptionalFromValue): the tensor list cannot become a dense tensor: an optional holds several values
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "tf.OptionalFromValue"(%x, %x) {Toutput_types = [f32, f32]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<!tf_type.variant> loc("held")
  %1:2 = "tf.OptionalGetValue"(%0) {output_types = [f32, f32], output_shapes = [#tf_type.shape<4>, #tf_type.shape<4>]} : (tensor<!tf_type.variant>) -> (tensor<4xf32>, tensor<4xf32>)
  return %1#1 : tensor<4xf32>
}

// -----
// RUN: copy-branch-results
// What a branch returns twice is copied; the runtime takes it away with the first result.
// CHECK-LABEL: func.func private @then(
// CHECK: %[[Y:.*]] = "tfl.sin"(%arg0)
// CHECK: %[[COPY:.*]] = "tfl.maximum"(%[[Y]], %[[Y]])
// CHECK: return %[[Y]], %[[COPY]]
// CHECK-LABEL: func.func private @else(
// CHECK-NOT: tfl.maximum
// CHECK: return
// CHECK-LABEL: func.func @other(
// CHECK-NOT: tfl.maximum
// CHECK: return
func.func @main(%p: tensor<i1>, %x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0:2 = "tf.If"(%p, %x) {then_branch = @then, else_branch = @else, is_stateless = true} : (tensor<i1>, tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>)
  return %0#0, %0#1 : tensor<?xf32>, tensor<?xf32>
}
func.func private @then(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "tfl.sin"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %0 : tensor<?xf32>, tensor<?xf32>
}
func.func private @else(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "tfl.cos"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %x : tensor<?xf32>, tensor<?xf32>
}
func.func @other(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "tfl.sin"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %0, %0 : tensor<?xf32>, tensor<?xf32>
}
