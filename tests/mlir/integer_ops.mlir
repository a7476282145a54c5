// RUN: integer-ops
// Weights of 4 bits in the steps of their transposed channels, a bias in steps of the input's times the weights' step.
// CHECK-LABEL: func.func @product
// CHECK-DAG: %[[W:.*]] = "tfl.pseudo_qconst"() {{.*}}[1, 2], [3, -4]{{.*}} : tensor<2x2xi4>{{.*}} -> tensor<2x2x!quant.uniform<i4:f32:0, {5.000000e-01,2.500000e-01}>>
// CHECK-DAG: %[[B:.*]] = "tfl.pseudo_qconst"() {{.*}}[2, -12]{{.*}} : tensor<2xi32>{{.*}} -> tensor<2x!quant.uniform<i32:f32:0, {5.000000e-01,2.500000e-01}>>
// CHECK: %[[Y:.*]] = "tfl.fully_connected"(%arg0, %[[W]], %[[B]]) {{.*}} -> tensor<?x2x!quant.uniform<i8:f32, 2.000000e+00:3>>
// CHECK: return %[[Y]]
func.func @product(%x: tensor<?x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<?x2x!quant.uniform<i8:f32, 2.0:3>> {
  %w = "tfl.pseudo_const"() {value = dense<[[0.5, 0.75], [1.0, -1.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %b = "tfl.pseudo_const"() {value = dense<[1.0, -3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %order = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.quantize"(%w) {qtype = tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>} : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>
  %1 = "tfl.dequantize"(%0) : (tensor<2x2x!quant.uniform<i8:f32:1, {0.5,0.25}>>) -> tensor<2x2xf32>
  %2 = "tfl.transpose"(%1, %order) : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %3 = "tfl.dequantize"(%x) : (tensor<?x2x!quant.uniform<i8:f32, 1.0>>) -> tensor<?x2xf32>
  %4 = "tfl.fully_connected"(%3, %2, %b) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<?x2xf32>, tensor<2x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %5 = "tfl.quantize"(%4) {qtype = tensor<?x2x!quant.uniform<i8:f32, 2.0:3>>} : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<i8:f32, 2.0:3>>
  return %5 : tensor<?x2x!quant.uniform<i8:f32, 2.0:3>>
}

// -----

// RUN: integer-ops
// QUANTIZE moves above ops that keep steps, and replaces the ReLU that clips what saturation clips.
// CHECK-LABEL: func.func @moved
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg0)
// CHECK: %[[Y:.*]] = "tfl.reshape"(%[[Q]], {{.*}} -> tensor<4x!quant.uniform<i8:f32, 1.000000e-01:-128>>
// CHECK: return %[[Y]]
func.func @moved(%x: tensor<2x2xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-128>> {
  %four = "tfl.pseudo_const"() {value = dense<[4]> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.relu"(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = "tfl.reshape"(%0, %four) : (tensor<2x2xf32>, tensor<1xi32>) -> tensor<4xf32>
  %2 = "tfl.quantize"(%1) {qtype = tensor<4x!quant.uniform<i8:f32, 0.1:-128>>} : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.1:-128>>
  return %2 : tensor<4x!quant.uniform<i8:f32, 0.1:-128>>
}

// -----

// RUN: integer-ops
// SOFTMAX has a step of its own, from which its result is rounded to that of the node.
// CHECK-LABEL: func.func @fixed
// CHECK: %[[S:.*]] = "tfl.softmax"(%arg0) {{.*}} -> tensor<2x!quant.uniform<i8:f32, 3.906250e-03:-128>>
// CHECK: %[[Y:.*]] = "tfl.quantize"(%[[S]])
// CHECK: return %[[Y]]
func.func @fixed(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.01>> {
  %0 = "tfl.dequantize"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2xf32>
  %1 = "tfl.softmax"(%0) {beta = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %2 = "tfl.quantize"(%1) {qtype = tensor<2x!quant.uniform<i8:f32, 0.01>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.01>>
  return %2 : tensor<2x!quant.uniform<i8:f32, 0.01>>
}

// -----

// RUN: integer-ops
// What has no node on both sides stays in floats, as does a result that floats use as well.
// CHECK-LABEL: func.func @floats
// CHECK: tfl.add {{.*}} : tensor<2xf32>
// CHECK: tfl.add {{.*}} : tensor<2xf32>
// CHECK: "tfl.sin"
func.func @floats(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>, %y: tensor<2xf32>) -> (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2xf32>) {
  %0 = "tfl.dequantize"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2xf32>
  %1 = "tfl.add"(%0, %y) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tfl.quantize"(%1) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %3 = "tfl.add"(%0, %0) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = "tfl.quantize"(%3) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %5 = "tfl.sin"(%3) : (tensor<2xf32>) -> tensor<2xf32>
  return %2, %4, %5 : tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2xf32>
}

// -----

// RUN: integer-ops
// A factor changes the steps of weights and their sign, and an addend becomes the bias.
// CHECK-LABEL: func.func @scaled
// CHECK-DAG: %[[W:.*]] = "tfl.pseudo_qconst"() {{.*}}[100], [40]{{.*}} -> tensor<2x1x!quant.uniform<i8:f32:0, {2.000000e+00,1.500000e+00}>>
// CHECK-DAG: %[[B:.*]] = "tfl.pseudo_qconst"() {{.*}}[1, 2]{{.*}} : tensor<2xi32>
// CHECK: %[[Y:.*]] = "tfl.fully_connected"(%arg0, %[[W]], %[[B]]) {{.*}}fused_activation_function = "RELU"
// CHECK: return %[[Y]]
func.func @scaled(%x: tensor<?x1x!quant.uniform<i8:f32, 1.0>>) -> tensor<?x2x!quant.uniform<i8:f32, 4.0:3>> {
  %w = "tfl.pseudo_const"() {value = dense<[[50.0], [-20.0]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %c = "tfl.pseudo_const"() {value = dense<[4.0, -3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %b = "tfl.pseudo_const"() {value = dense<[2.0, 3.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %none = "tfl.no_value"() {value} : () -> none
  %0 = "tfl.quantize"(%w) {qtype = tensor<2x1x!quant.uniform<i8:f32, 0.5>>} : (tensor<2x1xf32>) -> tensor<2x1x!quant.uniform<i8:f32, 0.5>>
  %1 = "tfl.dequantize"(%0) : (tensor<2x1x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x1xf32>
  %3 = "tfl.dequantize"(%x) : (tensor<?x1x!quant.uniform<i8:f32, 1.0>>) -> tensor<?x1xf32>
  %4 = "tfl.fully_connected"(%3, %1, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<?x1xf32>, tensor<2x1xf32>, none) -> tensor<?x2xf32>
  %5 = "tfl.mul"(%4, %c) {fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %6 = "tfl.add"(%5, %b) {fused_activation_function = "RELU"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %7 = "tfl.quantize"(%6) {qtype = tensor<?x2x!quant.uniform<i8:f32, 4.0:3>>} : (tensor<?x2xf32>) -> tensor<?x2x!quant.uniform<i8:f32, 4.0:3>>
  return %7 : tensor<?x2x!quant.uniform<i8:f32, 4.0:3>>
}

// -----

// RUN: integer-ops
// A value that is joined with itself, and joined again, is quantized once.
// CHECK-LABEL: func.func @joined
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg0)
// CHECK-NOT: "tfl.quantize"
// CHECK: %[[A:.*]] = "tfl.concatenation"(%[[Q]], %[[Q]])
// CHECK: %[[B:.*]] = "tfl.concatenation"(%[[A]], %[[A]])
// CHECK: return %[[B]], %[[B]]
func.func @joined(%x: tensor<2xf32>) -> (tensor<8x!quant.uniform<i8:f32, 0.1>>, tensor<8x!quant.uniform<i8:f32, 0.1>>) {
  %0 = "tfl.concatenation"(%x, %x) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %1 = "tfl.concatenation"(%0, %0) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %2 = "tfl.quantize"(%1) {qtype = tensor<8x!quant.uniform<i8:f32, 0.1>>} : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.1>>
  %3 = "tfl.quantize"(%1) {qtype = tensor<8x!quant.uniform<i8:f32, 0.1>>} : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 0.1>>
  return %2, %3 : tensor<8x!quant.uniform<i8:f32, 0.1>>, tensor<8x!quant.uniform<i8:f32, 0.1>>
}
// CHECK-LABEL: func.func @given
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg0)
// CHECK-NOT: "tfl.quantize"
// CHECK: return %[[Q]], %[[Q]]
func.func @given(%x: tensor<2xf32>) -> (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  %0 = "tfl.quantize"(%x) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %1 = "tfl.quantize"(%x) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return %0, %1 : tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>
}

// -----

// RUN: integer-ops
// Constants beside integers that have no pair: one number is exact in any steps, several get 255 steps of their range if
// these are no wider than the result's, and one that is not wide enough for the range of the others stays in floats.
// CHECK-LABEL: func.func @beside
// CHECK: %[[ONE:.*]] = "tfl.pseudo_qconst"() {{.*}}dense<127> : tensor<i8>{{.*}}!quant.uniform<i8:f32, 0.019685{{[0-9]*}}>>
// CHECK-NEXT: tfl.mul(%arg0, %[[ONE]])
// CHECK: %[[TWO:.*]] = "tfl.pseudo_qconst"() {{.*}}dense<[-128, 127]> : tensor<2xi8>{{.*}}!quant.uniform<i8:f32, 0.011764{{[0-9]*}}:-43>>
// CHECK-NEXT: tfl.sub(%arg0, %[[TWO]])
// CHECK: tfl.mul{{.*}} : tensor<2xf32>
func.func @beside(%x: tensor<2x!quant.uniform<i8:f32, 0.1>>) -> (tensor<2x!quant.uniform<i8:f32, 0.2>>, tensor<2x!quant.uniform<i8:f32, 0.2>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) {
  %one = "tfl.pseudo_const"() {value = dense<2.5> : tensor<f32>} : () -> tensor<f32>
  %two = "tfl.pseudo_const"() {value = dense<[-1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tfl.dequantize"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2xf32>
  %1 = "tfl.mul"(%0, %one) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = "tfl.quantize"(%1) {qtype = tensor<2x!quant.uniform<i8:f32, 0.2>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.2>>
  %3 = "tfl.sub"(%0, %two) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %4 = "tfl.quantize"(%3) {qtype = tensor<2x!quant.uniform<i8:f32, 0.2>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.2>>
  %5 = "tfl.mul"(%0, %two) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %6 = "tfl.quantize"(%5) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return %2, %4, %6 : tensor<2x!quant.uniform<i8:f32, 0.2>>, tensor<2x!quant.uniform<i8:f32, 0.2>>, tensor<2x!quant.uniform<i8:f32, 0.1>>
}

// -----

// RUN: integer-ops
// A constant that is joined with integers is rounded in their steps; one out of their range leaves all in floats.
// CHECK-LABEL: func.func @joined_with
// CHECK: %[[C:.*]] = "tfl.pseudo_qconst"() {{.*}}dense<[-128, 127]> : tensor<2xi8>{{.*}}
// CHECK: %[[Y:.*]] = "tfl.concatenation"(%arg0, %[[C]]) {{.*}} -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
// CHECK: %[[F:.*]] = "tfl.dequantize"(%[[Y]])
// CHECK: %[[G:.*]] = "tfl.concatenation"({{.*}} -> tensor<4xf32>
// CHECK: %[[H:.*]] = "tfl.concatenation"({{.*}} -> tensor<4xf32>
// CHECK: return %[[F]], %[[G]], %[[H]]
func.func @joined_with(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %in = "tfl.pseudo_const"() {value = dense<[-64.0, 63.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %above = "tfl.pseudo_const"() {value = dense<[0.0, 64.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %below = "tfl.pseudo_const"() {value = dense<[0.0, -64.5]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tfl.dequantize"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tfl.concatenation"(%0, %in) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %2 = "tfl.concatenation"(%0, %above) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %3 = "tfl.concatenation"(%0, %below) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %1, %2, %3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// -----

// RUN: integer-ops
// A constant with a pair has the numbers of its pair, 0.75 here, which are rounded again in the steps of the others, and
// not its own ones. It is stored in integers where the steps are the same, too.
// CHECK-LABEL: func.func @paired
// CHECK-NOT: "tfl.quantize"
// CHECK: %[[C:.*]] = "tfl.pseudo_qconst"() {{.*}}dense<2> : tensor<2xi8>{{.*}}
// CHECK: %[[Y:.*]] = "tfl.concatenation"(%arg0, %[[C]]) {{.*}} -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
// CHECK: %[[D:.*]] = "tfl.pseudo_qconst"() {{.*}}dense<1> : tensor<2xi8>{{.*}}
// CHECK: "tfl.concatenation"(%[[Y]], %[[D]]) {{.*}} -> tensor<6x!quant.uniform<i8:f32, 5.000000e-01>>
func.func @paired(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<6xf32> {
  %c = "tfl.pseudo_const"() {value = dense<0.60> : tensor<2xf32>} : () -> tensor<2xf32>
  %p = "tfl.quantize"(%c) {qtype = tensor<2x!quant.uniform<i8:f32, 0.375>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.375>>
  %d = "tfl.dequantize"(%p) : (tensor<2x!quant.uniform<i8:f32, 0.375>>) -> tensor<2xf32>
  %q = "tfl.quantize"(%c) {qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %e = "tfl.dequantize"(%q) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %0 = "tfl.dequantize"(%x) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  %1 = "tfl.concatenation"(%0, %d) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %2 = "tfl.concatenation"(%1, %e) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}
