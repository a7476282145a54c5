// RUN: separate-activations
// CHECK-LABEL: func.func @relu
// CHECK: %[[Y:.*]] = "tfl.transpose_conv"(%{{.*}}) <{fused_activation_function = "NONE"
// CHECK: %[[R:.*]] = "tfl.relu"(%[[Y]])
// CHECK: return %[[R]], %[[R]]
func.func @relu(%s: tensor<4xi32>, %w: tensor<5x3x3x2xf32>, %x: tensor<1x4x4x2xf32>, %b: tensor<5xf32>) -> (tensor<1x8x8x5xf32>, tensor<1x8x8x5xf32>) {
  %0 = "tfl.transpose_conv"(%s, %w, %x, %b) {fused_activation_function = "RELU", padding = "SAME", stride_h = 2 : i32, stride_w = 2 : i32} : (tensor<4xi32>, tensor<5x3x3x2xf32>, tensor<1x4x4x2xf32>, tensor<5xf32>) -> tensor<1x8x8x5xf32>
  return %0, %0 : tensor<1x8x8x5xf32>, tensor<1x8x8x5xf32>
}
// Other ops keep theirs.
// CHECK-LABEL: func.func @add
// CHECK: tfl.add %arg0, %arg0 {fused_activation_function = "RELU6"}
// CHECK-NOT: tfl.relu6
func.func @add(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tfl.add"(%x, %x) {fused_activation_function = "RELU6"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// The range of the integers holds what the activation lets through.
// CHECK-LABEL: func.func @integers
// CHECK: "tfl.transpose_conv"(%{{.*}}) <{fused_activation_function = "RELU"
// CHECK-NOT: tfl.relu
func.func @integers(%s: tensor<4xi32>, %w: tensor<5x3x3x2xf32>, %x: tensor<1x4x4x2xf32>, %b: tensor<5xf32>) -> tensor<1x8x8x5x!quant.uniform<i8:f32, 1.0>> {
  %0 = "tfl.transpose_conv"(%s, %w, %x, %b) {fused_activation_function = "RELU", padding = "SAME", stride_h = 2 : i32, stride_w = 2 : i32} : (tensor<4xi32>, tensor<5x3x3x2xf32>, tensor<1x4x4x2xf32>, tensor<5xf32>) -> tensor<1x8x8x5xf32>
  %1 = "tfl.quantize"(%0) {qtype = tensor<1x8x8x5x!quant.uniform<i8:f32, 1.0>>} : (tensor<1x8x8x5xf32>) -> tensor<1x8x8x5x!quant.uniform<i8:f32, 1.0>>
  return %1 : tensor<1x8x8x5x!quant.uniform<i8:f32, 1.0>>
}
