// RUN: decompose-resource-ops
// CHECK-LABEL: func.func @gather
// CHECK: %[[T:.*]] = "tf.ReadVariableOp"
// CHECK: "tf.GatherV2"(%[[T]], {{.*}}) <{batch_dims = 1 : i64}>
func.func @gather(%h: tensor<!tf_type.resource<tensor<2x5x3xf32>>>, %ids: tensor<2x4xi32>) -> tensor<2x4x3xf32> {
  %0 = "tf.ResourceGather"(%h, %ids) {batch_dims = 1 : i64, validate_indices = true} : (tensor<!tf_type.resource<tensor<2x5x3xf32>>>, tensor<2x4xi32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// CHECK-LABEL: func.func @update
// CHECK: %[[V:.*]] = "tf.ReadVariableOp"(%arg0) {{.*}} -> tensor<f32>
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[V]], %arg1)
// CHECK: "tf.AssignVariableOp"(%arg0, %[[S]])
// CHECK: %[[W:.*]] = "tf.ReadVariableOp"(%arg0)
// CHECK: %[[D:.*]] = "tf.Sub"(%[[W]], %arg1)
// CHECK: "tf.AssignVariableOp"(%arg0, %[[D]])
func.func @update(%h: tensor<!tf_type.resource>, %x: tensor<f32>) {
  "tf.AssignAddVariableOp"(%h, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  "tf.AssignSubVariableOp"(%h, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  return
}

// CHECK-LABEL: func.func @scatter
// CHECK: "tf.ExpandDims"
// CHECK-SAME: -> tensor<2x1xi32>
// CHECK: "tf.TensorScatterUpdate"
// CHECK: "tf.AssignVariableOp"
func.func @scatter(%h: tensor<!tf_type.resource<tensor<5x3xf32>>>, %ids: tensor<2xi32>, %x: tensor<2x3xf32>) {
  "tf.ResourceScatterUpdate"(%h, %ids, %x) : (tensor<!tf_type.resource<tensor<5x3xf32>>>, tensor<2xi32>, tensor<2x3xf32>) -> ()
  return
}

// CHECK-LABEL: func.func @shape
// CHECK: "tf.Shape"({{.*}}) : (tensor<5x3xf32>) -> tensor<2xi32>
// CHECK: "tf.Const"() <{value = dense<true> : tensor<i1>}>
func.func @shape(%h: tensor<!tf_type.resource<tensor<5x3xf32>>>) -> (tensor<2xi32>, tensor<i1>) {
  %0 = "tf.VariableShape"(%h) : (tensor<!tf_type.resource<tensor<5x3xf32>>>) -> tensor<2xi32>
  %1 = "tf.VarIsInitializedOp"(%h) : (tensor<!tf_type.resource<tensor<5x3xf32>>>) -> tensor<i1>
  return %0, %1 : tensor<2xi32>, tensor<i1>
}

// -----
// RUN: decompose-resource-ops
// A generator's state is a counter of two halves and a key: the counter advances by 256 for each number.
// CHECK-LABEL: func.func @skip
// CHECK: %[[STATE:.*]] = "tf.ReadVariableOp"(%arg0) {{.*}} -> tensor<3xi64>
// CHECK-COUNT-3: "tf.Slice"(%[[STATE]], {{.*}}) : (tensor<3xi64>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xi64>
// CHECK: %[[NUMBERS:.*]] = "tf.Const"() <{value = dense<256> : tensor<1xi64>}>
// CHECK: "tf.Mul"(%{{.*}}, %[[NUMBERS]]) : (tensor<i64>, tensor<1xi64>) -> tensor<1xi64>
// CHECK: %[[NEW:.*]] = "tf.ConcatV2"({{.*}}) : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<i32>) -> tensor<3xi64>
// CHECK: "tf.AssignVariableOp"(%arg0, %[[NEW]])
// CHECK: return %[[STATE]]
func.func @skip(%h: tensor<!tf_type.resource<tensor<3xi64>>>, %n: tensor<i32>) -> tensor<3xi64> {
  %algorithm = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %delta = "tf.Cast"(%n) {Truncate = false} : (tensor<i32>) -> tensor<ui64>
  %0 = "tf.RngReadAndSkip"(%h, %algorithm, %delta) : (tensor<!tf_type.resource<tensor<3xi64>>>, tensor<i32>, tensor<ui64>) -> tensor<3xi64>
  return %0 : tensor<3xi64>
}
