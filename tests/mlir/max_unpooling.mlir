// RUN: fuse-composites
// CHECK-LABEL: func.func private @unpool
// CHECK-SAME: (%[[U:.*]]: tensor<?x2x2x1xf32>, %[[M:.*]]: tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32> {
// CHECK-NEXT: "tfl.custom"(%[[U]], %[[M]]) <{custom_code = "MaxUnpooling2D", custom_option = #tfl<const_bytes : "0x
// CHECK-SAME: (tensor<?x2x2x1xf32>, tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32>
// CHECK-NEXT: return
func.func private @unpool(%updates: tensor<?x2x2x1xf32>, %mask: tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 3 : i64], strides = [2 : i64, 3 : i64], padding = "SAME"}}} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<1x4x6x1xf32>} : () -> tensor<1x4x6x1xf32>
  %1 = "tf.Cast"(%0) : (tensor<1x4x6x1xf32>) -> tensor<?x4x6x1xf32>
  return %1 : tensor<?x4x6x1xf32>
}

// -----
// RUN: fuse-composites
// A plain string has none of the attributes that the op needs.
// REASON: it needs the attribute padding, pool_size, strides; it has []
// CHECK: func.func private @no_attributes
// CHECK-NEXT: tf.Const
func.func private @no_attributes(%updates: tensor<1x2x2x1xf32>, %mask: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = "addons:MaxUnpooling2D"} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<1x4x4x1xf32>} : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}
