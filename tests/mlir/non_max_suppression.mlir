// RUN: fuse-composites
// The arguments after the fifth say how to compute; the indices of one image keep TensorFlow's batch dimension.
// CHECK-LABEL: func.func private @padded
// CHECK-SAME: (%[[B:.*]]: tensor<?x4xf32>, %[[S:.*]]: tensor<?xf32>, %[[M:.*]]: tensor<i32>, %[[I:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<i1>, %{{.*}}: tensor<i32>) -> (tensor<1x?xi32>, tensor<i32>) {
// CHECK: %[[RAISED:.*]] = "tf.Minimum"
// CHECK: %[[WHOLE:.*]] = "tf.LogicalAnd"
// CHECK: %[[DISTINCT:.*]] = "tf.SelectV2"(%[[WHOLE2:.*]], %[[B]], %[[FAR:.*]])
// CHECK: %[[VALUES:.*]], %[[ORDER:.*]] = "tf.TopKV2"(%[[S]], %{{.*}})
// CHECK: %[[IS:.*]] = "tf.Greater"(%[[VALUES]], %[[T]])
// CHECK: %[[RANKS:.*]] = "tf.Mul"(%[[C:.*]], %[[POSITIONS:.*]])
// CHECK: %[[SORTED:.*]] = "tf.GatherV2"(%[[DISTINCT]], %[[ORDER]], %{{.*}})
// CHECK: %[[PLACES:.*]], %[[COUNT:.*]] = "tfl.non_max_suppression_v4"(%[[SORTED]], %[[RANKS]], %[[M]], %[[RAISED]], %{{.*}}) : (tensor<?x4xf32>, tensor<?xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<?xi32>, tensor<i32>)
// CHECK: %[[INDICES:.*]] = "tf.GatherV2"
// CHECK: %[[AXIS:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<i32>}>
// CHECK-NEXT: %[[BATCHED:.*]] = "tfl.expand_dims"(%[[INDICES]], %[[AXIS]]) : (tensor<?xi32>, tensor<i32>) -> tensor<1x?xi32>
// CHECK-NEXT: return %[[BATCHED]], %[[COUNT]]
func.func private @padded(%boxes: tensor<?x4xf32>, %scores: tensor<?xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>, %sorted: tensor<i1>, %canonical: tensor<i1>, %tile: tensor<i32>) -> (tensor<?x?xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.NonMaxSuppressionV4"(%boxes, %scores, %size, %iou, %score) {pad_to_max_output_size = true} : (tensor<?x4xf32>, tensor<?xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<?x?xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<?x?xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Five arguments and indices without a batch dimension, of a size that the result's type tells.
// CHECK-LABEL: func.func private @flat
// CHECK: "tfl.non_max_suppression_v4"({{.*}}) : (tensor<100x4xf32>, tensor<100xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
// CHECK: return
func.func private @flat(%boxes: tensor<100x4xf32>, %scores: tensor<100xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.NonMaxSuppressionV4"(%boxes, %scores, %size, %iou, %score) {pad_to_max_output_size = true} : (tensor<100x4xf32>, tensor<100xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// No results, four arguments, boxes of a batch: the bodies stay.
// REASON: it has 0 results, not 2 (indices, count)
// REASON: it has 4 arguments, not boxes, scores, max_output_size, iou_threshold, score_threshold and any that follow these
// REASON: boxes is float32[2,100,4]; NON_MAX_SUPPRESSION_V4 takes float32 of rank 2, one image: call the composite for each image of a batch
// CHECK: func.func private @no_results
// CHECK-NEXT: tf.NoOp
func.func private @no_results(%boxes: tensor<100x4xf32>, %scores: tensor<100xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  "tf.NoOp"() : () -> ()
  return
}
// CHECK: func.func private @four_arguments
// CHECK-NOT: tfl.
func.func private @four_arguments(%boxes: tensor<100x4xf32>, %scores: tensor<100xf32>, %size: tensor<i32>, %iou: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0 = "tf.Const"() {value = dense<0> : tensor<10xi32>} : () -> tensor<10xi32>
  return %0, %size : tensor<10xi32>, tensor<i32>
}
// CHECK: func.func private @batch
// CHECK-NOT: tfl.
func.func private @batch(%boxes: tensor<2x100x4xf32>, %scores: tensor<2x100xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>) -> (tensor<2x10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0 = "tf.Const"() {value = dense<0> : tensor<2x10xi32>} : () -> tensor<2x10xi32>
  return %0, %size : tensor<2x10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Boxes of five coordinates.
// REASON: boxes is float32[100,5]; a box has 4 coordinates
// CHECK: func.func private @five
// CHECK-NEXT: tf.Undefined
func.func private @five(%a: tensor<100x5xf32>, %b: tensor<100xf32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Scores of float64.
// REASON: scores is float64[100]; NON_MAX_SUPPRESSION_V4 takes float32 of rank 1
// CHECK: func.func private @double
// CHECK-NEXT: tf.Undefined
func.func private @double(%a: tensor<100x4xf32>, %b: tensor<100xf64>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// A threshold that is no scalar.
// REASON: iou_threshold is float32[1]; NON_MAX_SUPPRESSION_V4 takes float32 of rank 0
// CHECK: func.func private @threshold
// CHECK-NEXT: tf.Undefined
func.func private @threshold(%a: tensor<100x4xf32>, %b: tensor<100xf32>, %c: tensor<i32>, %d: tensor<1xf32>, %e: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Indices of rank 3.
// REASON: result 0 is int32[1,1,10]; the indices are int32 of rank 1, or 2 with a batch of one
// CHECK: func.func private @indices
// CHECK-NEXT: tf.Undefined
func.func private @indices(%a: tensor<100x4xf32>, %b: tensor<100xf32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>) -> (tensor<1x1x10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<1x1x10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<1x1x10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Three results.
// REASON: it has 3 results, not 2 (indices, count)
// CHECK: func.func private @three
// CHECK-NEXT: tf.Undefined
func.func private @three(%a: tensor<100x4xf32>, %b: tensor<100xf32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>) -> (tensor<10xi32>, tensor<i32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:3 = "tf.Undefined"() : () -> (tensor<10xi32>, tensor<i32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<10xi32>, tensor<i32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// A name with attributes, which the reference does not look at.
// CHECK: func.func private @attributes
// CHECK: "tfl.non_max_suppression_v4"
func.func private @attributes(%a: tensor<100x4xf32>, %b: tensor<100xf32>, %c: tensor<i32>, %d: tensor<f32>, %e: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = {name = "non_max_suppression_padded_v2", attributes = {tile_size = 8 : i64}}} {
  %0:2 = "tf.Undefined"() : () -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}

// -----
// RUN: fuse-composites
// Boxes of four numbers each: the op requires it, and only its definition says so of a size that is unknown.
// CHECK-LABEL: func.func private @unknown_size_of_a_box
// CHECK-SAME: %[[B:.*]]: tensor<100x?xf32>
// CHECK: %[[FOUR:.*]] = "tf.Reshape"(%[[B]], %{{.*}}) : (tensor<100x?xf32>, tensor<2xi32>) -> tensor<100x4xf32>
// CHECK-NOT: %[[B]]
// CHECK: "tfl.non_max_suppression_v4"({{.*}}) : (tensor<100x4xf32>,
// CHECK-LABEL: func.func private @known_size_of_a_box
// CHECK-NOT: tf.Reshape
// CHECK: "tfl.non_max_suppression_v4"({{.*}}) : (tensor<100x4xf32>,
func.func private @unknown_size_of_a_box(%boxes: tensor<100x?xf32>, %scores: tensor<100xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.NonMaxSuppressionV4"(%boxes, %scores, %size, %iou, %score) {pad_to_max_output_size = true} : (tensor<100x?xf32>, tensor<100xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}
func.func private @known_size_of_a_box(%boxes: tensor<100x4xf32>, %scores: tensor<100xf32>, %size: tensor<i32>, %iou: tensor<f32>, %score: tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
    attributes {tf._implements = "non_max_suppression_padded_v2"} {
  %0:2 = "tf.NonMaxSuppressionV4"(%boxes, %scores, %size, %iou, %score) {pad_to_max_output_size = true} : (tensor<100x4xf32>, tensor<100xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<10xi32>, tensor<i32>)
  return %0#0, %0#1 : tensor<10xi32>, tensor<i32>
}
