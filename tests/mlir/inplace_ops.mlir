// RUN: lower-inplace-ops
// CHECK-LABEL: func.func @update
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%arg0) {{.*}} -> tensor<2xi32>
// CHECK: %[[ROWS:.*]] = "tf.GatherV2"(%[[SHAPE]]
// CHECK: %[[COUNT:.*]] = "tf.Maximum"(%[[ROWS]]
// CHECK: %[[PLACES:.*]] = "tf.FloorMod"(%arg1, %[[COUNT]])
// CHECK: %[[INDICES:.*]] = "tf.ExpandDims"(%[[PLACES]]
// CHECK: "tf.TensorScatterUpdate"(%arg0, %[[INDICES]], %arg2)
func.func @update(%x: tensor<?x2xf32>, %i: tensor<3xi32>, %v: tensor<3x2xf32>) -> tensor<?x2xf32> {
  %0 = "tf.DeepCopy"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tf.InplaceUpdate"(%0, %i, %v) : (tensor<?x2xf32>, tensor<3xi32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// CHECK-LABEL: func.func @add
// CHECK: "tf.TensorScatterAdd"
// CHECK: "tf.TensorScatterSub"
func.func @add(%x: tensor<*xf32>, %i: tensor<?xi32>, %v: tensor<*xf32>) -> tensor<*xf32> {
  %0 = "tf.InplaceAdd"(%x, %i, %v) : (tensor<*xf32>, tensor<?xi32>, tensor<*xf32>) -> tensor<*xf32>
  %1 = "tf.InplaceSub"(%0, %i, %v) : (tensor<*xf32>, tensor<?xi32>, tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// CHECK-LABEL: func.func @empty
// CHECK: %[[NOTHING:.*]] = "tf.Const"() <{value = dense<""> : tensor<!tf_type.string>}>
// CHECK: "tf.Fill"(%arg0, %[[NOTHING]]) : (tensor<2xi32>, tensor<!tf_type.string>) -> tensor<?x?x!tf_type.string>
func.func @empty(%shape: tensor<2xi32>) -> tensor<?x?x!tf_type.string> {
  %0 = "tf.Empty"(%shape) {init = true} : (tensor<2xi32>) -> tensor<?x?x!tf_type.string>
  return %0 : tensor<?x?x!tf_type.string>
}
