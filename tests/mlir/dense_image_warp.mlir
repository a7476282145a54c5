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

// -----
// RUN: fuse-composites
// Three arguments.
// REASON: it has 3 arguments, not 2 (image, flow)
// CHECK: func.func private @three_arguments
// CHECK-NEXT: tf.Undefined
func.func private @three_arguments(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xf32>, %c: tensor<f32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// Two results.
// REASON: it has 2 results, not 1
// CHECK: func.func private @two_results
// CHECK-NEXT: tf.Undefined
func.func private @two_results(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xf32>) -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>)
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>)
  return %0#0, %0#1 : tensor<2x4x5x3xf32>, tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// An image of rank 3.
// REASON: image is float32[4,5,3]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @image_rank
// CHECK-NEXT: tf.Undefined
func.func private @image_rank(%a: tensor<4x5x3xf32>, %b: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// Flow of rank 3.
// REASON: flow is float32[4,5,2]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @flow_rank
// CHECK-NEXT: tf.Undefined
func.func private @flow_rank(%a: tensor<2x4x5x3xf32>, %b: tensor<4x5x2xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// A result of rank 3.
// REASON: the result is float32[4,5,3]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @result_rank
// CHECK-NEXT: tf.Undefined
func.func private @result_rank(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xf32>) -> tensor<4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<4x5x3xf32>
  return %0 : tensor<4x5x3xf32>
}

// -----
// RUN: fuse-composites
// Flow of rank 1 and unknown size.
// REASON: flow is float32[?]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @flow_vector
// CHECK-NEXT: tf.Undefined
func.func private @flow_vector(%a: tensor<2x4x5x3xf32>, %b: tensor<?xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// An image of integers.
// REASON: image is int32[2,4,5,3]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @image_dtype
// CHECK-NEXT: tf.Undefined
func.func private @image_dtype(%a: tensor<2x4x5x3xi32>, %b: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// Flow of integers.
// REASON: flow is int32[2,4,5,2]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @flow_dtype
// CHECK-NEXT: tf.Undefined
func.func private @flow_dtype(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xi32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// A result of integers.
// REASON: the result is int32[2,4,5,3]; DenseImageWarp takes and gives float32 of rank 4
// CHECK: func.func private @result_dtype
// CHECK-NEXT: tf.Undefined
func.func private @result_dtype(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xi32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xi32>
  return %0 : tensor<2x4x5x3xi32>
}

// -----
// RUN: fuse-composites
// Flow of three components.
// REASON: flow is float32[2,4,5,3]; a flow vector has 2 components (y, x)
// CHECK: func.func private @components
// CHECK-NEXT: tf.Undefined
func.func private @components(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x3xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}

// -----
// RUN: fuse-composites
// An image of one row, which the kernel cannot interpolate.
// REASON: image is float32[2,1,5,3]; DenseImageWarp takes images of 2 rows and columns or more
// CHECK: func.func private @one_row
// CHECK-NEXT: tf.Undefined
func.func private @one_row(%a: tensor<2x1x5x3xf32>, %b: tensor<2x1x5x2xf32>) -> tensor<2x1x5x3xf32>
    attributes {tf._implements = "addons:DenseImageWarp"} {
  %0 = "tf.Undefined"() : () -> tensor<2x1x5x3xf32>
  return %0 : tensor<2x1x5x3xf32>
}

// -----
// RUN: fuse-composites
// Attributes.
// REASON: DenseImageWarp has no attribute mode
// CHECK: func.func private @attributes
// CHECK-NEXT: tf.Undefined
func.func private @attributes(%a: tensor<2x4x5x3xf32>, %b: tensor<2x4x5x2xf32>) -> tensor<2x4x5x3xf32>
    attributes {tf._implements = {name = "addons:DenseImageWarp", attributes = {mode = "nearest"}}} {
  %0 = "tf.Undefined"() : () -> tensor<2x4x5x3xf32>
  return %0 : tensor<2x4x5x3xf32>
}
