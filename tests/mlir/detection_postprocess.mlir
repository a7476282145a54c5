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

// -----
// RUN: fuse-composites
// Three results.
// REASON: it has 3 results, not 4 (boxes, classes, scores, count)
// CHECK: func.func private @three_results
// CHECK-NEXT: tf.Undefined
func.func private @three_results(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0:3 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>)
  return %0#0, %0#1, %0#2 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>
}

// -----
// RUN: fuse-composites
// Two arguments.
// REASON: it has 2 arguments, not 3 (box encodings, class scores, anchors)
// CHECK: func.func private @two_arguments
// CHECK-NEXT: tf.Undefined
func.func private @two_arguments(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// An attribute is missing.
// REASON: it needs the attribute max_classes_per_detection (int); it has ['h_scale', 'max_detections', 'nms_iou_threshold', 'nms_score_threshold', 'num_classes', 'use_regular_nms', 'w_scale', 'x_scale', 'y_scale']
// CHECK: func.func private @no_classes
// CHECK-NEXT: tf.Undefined
func.func private @no_classes(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// An attribute of another kind.
// REASON: the attribute y_scale is 10; TFLite_Detection_PostProcess takes a float
// CHECK: func.func private @kind
// CHECK-NEXT: tf.Undefined
func.func private @kind(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10 : i64, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// A flag that is no bool.
// REASON: the attribute use_regular_nms is 1; TFLite_Detection_PostProcess takes a bool
// CHECK: func.func private @flag
// CHECK-NEXT: tf.Undefined
func.func private @flag(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = 1 : i64}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// An attribute that the op has not.
// REASON: TFLite_Detection_PostProcess has no attribute use_fast_nms
// CHECK: func.func private @misspelt
// CHECK-NEXT: tf.Undefined
func.func private @misspelt(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true, use_fast_nms = true}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// A batch of two.
// REASON: the box encodings are float32[2,64,4]; TFLite_Detection_PostProcess takes one image, a batch of 1
// CHECK: func.func private @batch
// CHECK-NEXT: tf.Undefined
func.func private @batch(%a: tensor<2x64x4xf32>, %b: tensor<2x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32, use_regular_nms = true}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}

// -----
// RUN: fuse-composites
// Without use_regular_nms, where the reference fails: the kernel's default.
// CHECK: func.func private @fast
// CHECK-NEXT: "tfl.custom"{{.*}}custom_code = "TFLite_Detection_PostProcess"
func.func private @fast(%a: tensor<1x64x4xf32>, %b: tensor<1x64x3xf32>, %c: tensor<64x4xf32>) -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
    attributes {tf._implements = {name = "TFLite_Detection_PostProcess", attributes = {max_detections = 10 : i64, max_classes_per_detection = 1 : i64, num_classes = 2 : i64, nms_score_threshold = 0.5 : f32, nms_iou_threshold = 0.6 : f32, y_scale = 10.0 : f32, x_scale = 10.0 : f32, h_scale = 5.0 : f32, w_scale = 5.0 : f32}}} {
  %0:4 = "tf.Undefined"() : () -> (tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>)
  return %0#0, %0#1, %0#2, %0#3 : tensor<1x10x4xf32>, tensor<1x10xf32>, tensor<1x10xf32>, tensor<1xf32>
}
