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
// REASON: it has 2 arguments, not 3 (x, the weights, the bias)
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
