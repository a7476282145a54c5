// RUN: check-pairs
// The first constant consists of multiples of its step, the second was multiplied, the third is beyond the last step.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = "tfl.pseudo_const"() {{.*}}[5.000000e-01, -1.000000e+00]
// CHECK: %[[B:.*]] = "tfl.pseudo_const"() {{.*}}[1.500000e-01, -3.000000e-01]
// CHECK: %[[C:.*]] = "tfl.pseudo_const"() {{.*}}[6.400000e+01, 0.000000e+00]
// CHECK: %[[QA:.*]] = "tfl.quantize"(%[[A]])
// CHECK: %[[DA:.*]] = "tfl.dequantize"(%[[QA]])
// CHECK: return %[[DA]], %[[B]], %[[C]]
func.func @main() -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = "tfl.pseudo_const"() {value = dense<[0.5, -1.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tfl.pseudo_const"() {value = dense<[0.15, -0.3]> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "tfl.pseudo_const"() {value = dense<[64.0, 0.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tfl.quantize"(%a) {qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %1 = "tfl.dequantize"(%0) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %2 = "tfl.quantize"(%b) {qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %3 = "tfl.dequantize"(%2) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %4 = "tfl.quantize"(%c) {qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %5 = "tfl.dequantize"(%4) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %1, %3, %5 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}

// -----
// RUN: check-pairs
// A product whose operand lost its pair gets floats again; what is of integers throughout stays.

// CHECK-LABEL: func.func @lost_pair(
func.func @lost_pair(%x: tensor<2x3x4xf32>, %w: tensor<5x4xf32>) -> tensor<2x3x5xf32> {
  // CHECK: %[[Q:.*]] = "tfl.quantize"
  // CHECK: %[[R:.*]] = "tfl.reshape"(%[[Q]]
  // CHECK: %[[D:.*]] = "tfl.dequantize"(%[[R]])
  // CHECK: "tfl.fully_connected"(%[[D]], %arg1
  %q = "tfl.quantize"(%x) {qtype = tensor<2x3x4x!quant.uniform<i8:f32, 0.03:-1>>} : (tensor<2x3x4xf32>) -> tensor<2x3x4x!quant.uniform<i8:f32, 0.03:-1>>
  %shape = arith.constant dense<[2, 3, 4]> : tensor<3xi32>
  %r = "tfl.reshape"(%q, %shape) : (tensor<2x3x4x!quant.uniform<i8:f32, 0.03:-1>>, tensor<3xi32>) -> tensor<2x3x4x!quant.uniform<i8:f32, 0.03:-1>>
  %none = "tfl.no_value"() {value} : () -> none
  %y = "tfl.fully_connected"(%r, %w, %none) {fused_activation_function = "NONE", keep_num_dims = true, weights_format = "DEFAULT"} : (tensor<2x3x4x!quant.uniform<i8:f32, 0.03:-1>>, tensor<5x4xf32>, none) -> tensor<2x3x5xf32>
  return %y : tensor<2x3x5xf32>
}
