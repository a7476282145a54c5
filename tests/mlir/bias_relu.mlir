// RUN: fuse-composites
// CHECK-LABEL: func.func private @conv
// CHECK: %[[ORDER:.*]] = "tfl.pseudo_const"() <{value = dense<[3, 0, 1, 2]> : tensor<4xi32>}>
// CHECK: %[[FILTER:.*]] = "tfl.transpose"(%arg1, %[[ORDER]]) {auxiliary} : (tensor<3x2x3x4xf32>, tensor<4xi32>) -> tensor<4x3x2x3xf32>
// CHECK: "tfl.conv_2d"(%arg0, %[[FILTER]], %arg2) <{dilation_h_factor = 2 : i32, dilation_w_factor = 1 : i32, fused_activation_function = "RELU6", padding = "VALID", stride_h = 1 : i32, stride_w = 3 : i32}> : (tensor<?x8x9x3xf32>, tensor<4x3x2x3xf32>, tensor<4xf32>) -> tensor<?x4x3x4xf32>
func.func private @conv(%x: tensor<?x8x9x3xf32>, %k: tensor<3x2x3x4xf32>, %b: tensor<4xf32>) -> tensor<?x?x?x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu6", attributes = {padding = "VALID", strides = [1, 3], dilations = [2, 1]}}} {
  %0 = "tf.Undefined"() : () -> tensor<?x?x?x4xf32>
  return %0 : tensor<?x?x?x4xf32>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @conv
// CHECK: "tfl.conv_2d"{{.*}}fused_activation_function = "RELU", padding = "SAME", stride_h = 2 : i32, stride_w = 2 : i32}>{{.*}} -> tensor<1x4x?x4xf32>
func.func private @conv(%x: tensor<1x7x?x3xf32>, %k: tensor<3x2x3x4xf32>, %b: tensor<4xf32>) -> tensor<1x4x?x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME", strides = [2, 2]}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x?x4xf32>
  return %0 : tensor<1x4x?x4xf32>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @matrix
// CHECK: %[[W:.*]] = "tfl.transpose"(%arg1, %{{.*}}) {auxiliary} : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<4x3xf32>
// CHECK: "tfl.fully_connected"(%arg0, %[[W]], %arg2) <{fused_activation_function = "RELU", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<?x3xf32>, tensor<4x3xf32>, tensor<4xf32>) -> tensor<?x4xf32>
func.func private @matrix(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "fully_connected_bias_relu"} {
  %0 = "tf.Undefined"() : () -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func private @batch
// CHECK: "tfl.fully_connected"{{.*}}fused_activation_function = "RELU6", keep_num_dims = true
func.func private @batch(%x: tensor<?x8x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<?x8x4xf32> attributes {tf._implements = "fully_connected_bias_relu6"} {
  %0 = "tf.Undefined"() : () -> tensor<?x8x4xf32>
  return %0 : tensor<?x8x4xf32>
}

// -----
// RUN: fuse-composites
// No padding; no bias: the bodies stay.
// REASON: it needs the attribute padding, SAME or VALID; it has {}
// REASON: it has 2 arguments, not 3 (x, the weight, the bias)
// CHECK-LABEL: func.func private @conv
// CHECK-NEXT: tf.Undefined
func.func private @conv(%x: tensor<1x7x7x3xf32>, %k: tensor<3x2x3x4xf32>, %b: tensor<4xf32>) -> tensor<1x7x7x4xf32> attributes {tf._implements = "conv_2d_bias_relu"} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}
// CHECK-LABEL: func.func private @matrix
// CHECK-NEXT: tf.Undefined
func.func private @matrix(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "fully_connected_bias_relu"} {
  %0 = "tf.Undefined"() : () -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----
// RUN: fuse-composites
// Another padding.
// REASON: it needs the attribute padding, SAME or VALID; it has {'padding': 'EXPLICIT'}
// CHECK: func.func private @explicit
// CHECK-NEXT: tf.Undefined
func.func private @explicit(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "EXPLICIT"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// Strides of four dimensions.
// REASON: the attribute strides is [1, 2, 2, 1]; it is a list of two positive ints (rows, columns)
// CHECK: func.func private @strides
// CHECK-NEXT: tf.Undefined
func.func private @strides(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME", strides = [1 : i64, 2 : i64, 2 : i64, 1 : i64]}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// Dilations of zero.
// REASON: the attribute dilations is [0, 1]; it is a list of two positive ints (rows, columns)
// CHECK: func.func private @dilations
// CHECK-NEXT: tf.Undefined
func.func private @dilations(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME", dilations = [0 : i64, 1 : i64]}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// An unknown attribute.
// REASON: it has the attribute data_format; known are padding, strides and dilations
// CHECK: func.func private @unknown
// CHECK-NEXT: tf.Undefined
func.func private @unknown(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME", data_format = "NCHW"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// A filter of other channels.
// REASON: x is float32[1,7,7,3] and the filter float32[3,2,5,4]: they have not as many channels
// CHECK: func.func private @channels
// CHECK-NEXT: tf.Undefined
func.func private @channels(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x5x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// A bias of another size.
// REASON: the bias is float32[3]; for a weight float32[3,2,3,4] it has 4 elements
// CHECK: func.func private @bias
// CHECK-NEXT: tf.Undefined
func.func private @bias(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<3xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// Half floats.
// REASON: x is float16[1,7,7,3]; it must be float32 of rank 4
// CHECK: func.func private @half
// CHECK-NEXT: tf.Undefined
func.func private @half(%a: tensor<1x7x7x3xf16>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// A filter of unknown size.
// REASON: the filter is float32[?,2,3,4]; its sizes must be known, and none is 0
// CHECK: func.func private @filter
// CHECK-NEXT: tf.Undefined
func.func private @filter(%a: tensor<1x7x7x3xf32>, %b: tensor<?x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x7x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x7x7x4xf32>
  return %0 : tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// A result of another size.
// REASON: result 0 of the replacement is float32[1,7,7,4], the composite's float32[1,5,7,4]
// CHECK: func.func private @size
// CHECK-NEXT: tf.Undefined
func.func private @size(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> tensor<1x5x7x4xf32>
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x5x7x4xf32>
  return %0 : tensor<1x5x7x4xf32>
}

// -----
// RUN: fuse-composites
// Two results.
// REASON: it has 2 results, not 1
// CHECK: func.func private @two_results
// CHECK-NEXT: tf.Undefined
func.func private @two_results(%a: tensor<1x7x7x3xf32>, %b: tensor<3x2x3x4xf32>, %c: tensor<4xf32>) -> (tensor<1x7x7x4xf32>, tensor<1x7x7x4xf32>)
    attributes {tf._implements = {name = "conv_2d_bias_relu", attributes = {padding = "SAME"}}} {
  %0:2 = "tf.Undefined"() : () -> (tensor<1x7x7x4xf32>, tensor<1x7x7x4xf32>)
  return %0#0, %0#1 : tensor<1x7x7x4xf32>, tensor<1x7x7x4xf32>
}

// -----
// RUN: fuse-composites
// A matrix product with attributes.
// REASON: it has the attribute transpose_b, and takes none
// CHECK: func.func private @matrix_attributes
// CHECK-NEXT: tf.Undefined
func.func private @matrix_attributes(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32>
    attributes {tf._implements = {name = "fully_connected_bias_relu", attributes = {transpose_b = true}}} {
  %0 = "tf.Undefined"() : () -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----
// RUN: fuse-composites
// A matrix product of rows and columns that do not agree.
// REASON: x is float32[2,5] and the weight float32[3,4]: rows and columns do not agree
// CHECK: func.func private @matrix_sizes
// CHECK-NEXT: tf.Undefined
func.func private @matrix_sizes(%a: tensor<2x5xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) -> tensor<2x4xf32>
    attributes {tf._implements = "fully_connected_bias_relu"} {
  %0 = "tf.Undefined"() : () -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// -----
// RUN: fuse-composites
// A vector times a matrix.
// REASON: x is float32[3]; it must be float32 of rank 2 to 5
// CHECK: func.func private @vector
// CHECK-NEXT: tf.Undefined
func.func private @vector(%a: tensor<3xf32>, %b: tensor<3x4xf32>, %c: tensor<4xf32>) -> tensor<4xf32>
    attributes {tf._implements = "fully_connected_bias_relu6"} {
  %0 = "tf.Undefined"() : () -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// RUN: fuse-composites
// A matrix product of batches of weights.
// REASON: the weight is float32[2,3,4]; it must be float32 of rank 2
// CHECK: func.func private @batches
// CHECK-NEXT: tf.Undefined
func.func private @batches(%a: tensor<2x2x3xf32>, %b: tensor<2x3x4xf32>, %c: tensor<4xf32>) -> tensor<2x2x4xf32>
    attributes {tf._implements = "fully_connected_bias_relu6"} {
  %0 = "tf.Undefined"() : () -> tensor<2x2x4xf32>
  return %0 : tensor<2x2x4xf32>
}
