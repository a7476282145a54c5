// RUN: fuse-composites
// CHECK-LABEL: func.func private @detect
// CHECK-SAME: (%[[B:.*]]: tensor<1x64x4xf32>, %[[S:.*]]: tensor<1x64x3xf32>, %[[A:.*]]: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<?x?xf32>, tensor<*xf32>) {
// CHECK-NEXT: "tfl.custom"(%[[B]], %[[S]], %[[A]]) <{custom_code = "TFLite_Detection_PostProcess", custom_option = #tfl<const_bytes : "0x
// CHECK-SAME: (tensor<1x64x4xf32>, tensor<1x64x3xf32>, tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<?x?xf32>, tensor<*xf32>)
// CHECK-NEXT: return
func.func private @detect(%boxes: tensor<1x64x4xf32>, %scores: tensor<1x64x3xf32>, %anchors: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<?x?xf32>, tensor<*xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<1x10x4xf32>} : () -> tensor<1x10x4xf32>
  %1 = "tf.Const"() {value = dense<0.0> : tensor<1x10xf32>} : () -> tensor<1x10xf32>
  %2 = "tf.Cast"(%1) : (tensor<1x10xf32>) -> tensor<?x?xf32>
  %3 = "tf.Cast"(%1) : (tensor<1x10xf32>) -> tensor<*xf32>
  return %0, %1, %2, %3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<?x?xf32>, tensor<*xf32>
}

// -----
// RUN: fuse-composites
// A plain string has none of the attributes that the op needs.
// REASON: it needs the attribute max_detections (int); it has []
// CHECK: func.func private @no_attributes
// CHECK-NEXT: tf.Const
func.func private @no_attributes(%boxes: tensor<1x64x4xf32>, %scores: tensor<1x64x3xf32>, %anchors: tensor<64x4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>)
    attributes {tf._implements = "TFLite_Detection_PostProcess"} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  return %0, %0, %0, %0 : tensor<f32>, tensor<f32>, tensor<f32>, tensor<f32>
}
