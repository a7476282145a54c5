// RUN: fuse-composites
// CHECK-LABEL: func.func private @warp
// CHECK-SAME: (%[[I:.*]]: tensor<2x4x5x3xf32>, %[[F:.*]]: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32> {
// CHECK-NEXT: "tfl.custom"(%[[I]], %[[F]]) <{custom_code = "DenseImageWarp", custom_option = #tfl<const_bytes : "0x">}>
// CHECK-NEXT: return
func.func private @warp(%image: tensor<2x4x5x3xf32>, %flow: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.PartitionedCall"(%image, %flow) {f = @inner, config = "", config_proto = "", executor_type = ""} : (tensor<2x4x5x3xf32>, tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}
func.func private @inner(%image: tensor<2x4x5x3xf32>, %flow: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32> {
  return %image : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// REASON: image is float16[2,4,5,3]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @of_half_floats
// CHECK-NEXT: return
func.func private @of_half_floats(%image: tensor<2x4x5x3xf16>, %flow: tensor<2x4x5x2xf16>) -> tensor<2x4x5x3xf16>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  return %image : tensor<2x4x5x3xf16>
}
