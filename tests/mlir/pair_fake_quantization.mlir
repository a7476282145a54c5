// RUN: pair-fake-quantization
// The zero point is where TensorFlow's float32 puts it; the range of few bits ends where int8 saturates.
// CHECK-LABEL: func.func @activations
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg0) {{.*}} -> tensor<?x4x!quant.uniform<i8:f32, 0.0{{.*}}:-128>>
// CHECK: "tfl.dequantize"(%[[Q]])
// CHECK: %[[RELU:.*]] = "tf.Relu"(%arg0)
// CHECK: "tfl.quantize"(%[[RELU]]) {{.*}}!quant.uniform<i8:f32, 0.2{{.*}}:112>
// CHECK: %[[MOST:.*]] = "tf.Const"() {{.*}}dense<7.000000e+00>
// CHECK: %[[CLIPPED:.*]] = "tf.Minimum"(%arg0, %[[MOST]])
// CHECK: "tfl.quantize"(%[[CLIPPED]]) {{.*}}!quant.uniform<i8:f32, 1.000000e+00:-120>
// CHECK-NOT: FakeQuant
func.func @activations(%x: tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %three = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.FakeQuantWithMinMaxVars"(%x, %zero, %three) {num_bits = 8 : i64, narrow_range = false} : (tensor<?x4xf32>, tensor<f32>, tensor<f32>) -> tensor<?x4xf32>
  %1 = "tf.FakeQuantWithMinMaxVars"(%x, %zero, %three) {num_bits = 4 : i64, narrow_range = false} : (tensor<?x4xf32>, tensor<f32>, tensor<f32>) -> tensor<?x4xf32>
  %2 = "tf.FakeQuantWithMinMaxArgs"(%x) {min = -8.0 : f32, max = 7.0 : f32, num_bits = 4 : i64, narrow_range = false} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %0, %1, %2 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// RUN: pair-fake-quantization
// Weights are rounded, and have a scale for each channel of a convolution; where the input is multiplied with a number,
// they are stored.
// CHECK-LABEL: func.func @weights
// CHECK: %[[W:.*]] = "tf.Const"() {{.*}}[1.000000e+00, -2.000000e+00]{{.*}} : tensor<1x1x1x2xf32>
// CHECK: %[[Q:.*]] = "tfl.quantize"(%[[W]]) {{.*}} -> tensor<1x1x1x2x!quant.uniform<i8:f32:3, {1.000000e+00,1.000000e+00}>>
// CHECK: "tfl.dequantize"(%[[Q]])
// CHECK: "tfl.pseudo_qconst"() {{.*}}[1, -2]
func.func @weights(%x: tensor<?x3x3x1xf32>) -> (tensor<?x3x3x2xf32>, tensor<?x3x3x2xf32>) {
  %w = "tf.Const"() {value = dense<[[[[1.4, -2.2]]]]> : tensor<1x1x1x2xf32>} : () -> tensor<1x1x1x2xf32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.FakeQuantWithMinMaxArgs"(%w) {min = -127.0 : f32, max = 127.0 : f32, num_bits = 8 : i64, narrow_range = true} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %1 = "tf.Conv2D"(%x, %0) {padding = "SAME", strides = [1, 1, 1, 1], data_format = "NHWC"} : (tensor<?x3x3x1xf32>, tensor<1x1x1x2xf32>) -> tensor<?x3x3x2xf32>
  %2 = "tf.Mul"(%x, %half) : (tensor<?x3x3x1xf32>, tensor<f32>) -> tensor<?x3x3x1xf32>
  %3 = "tf.FakeQuantWithMinMaxArgs"(%w) {min = -127.0 : f32, max = 127.0 : f32, num_bits = 8 : i64, narrow_range = true} : (tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  %4 = "tf.Conv2D"(%2, %3) {padding = "SAME", strides = [1, 1, 1, 1], data_format = "NHWC"} : (tensor<?x3x3x1xf32>, tensor<1x1x1x2xf32>) -> tensor<?x3x3x2xf32>
  return %1, %4 : tensor<?x3x3x2xf32>, tensor<?x3x3x2xf32>
}

// -----

// RUN: pair-fake-quantization
// A formula and its straight-through estimator are one pair.
// CHECK-LABEL: func.func @formula
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg0) {{.*}}!quant.uniform<i8:f32, 2.500000e-01>
// CHECK: %[[Y:.*]] = "tfl.dequantize"(%[[Q]])
// CHECK: return %[[Y]]
func.func @formula(%x: tensor<?xf32>) -> tensor<?xf32> {
  %step = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %low = "tf.Const"() {value = dense<-128.0> : tensor<f32>} : () -> tensor<f32>
  %high = "tf.Const"() {value = dense<127.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.RealDiv"(%x, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = "tf.ClipByValue"(%0, %low, %high) : (tensor<?xf32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  %2 = "tf.Round"(%1) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = "tf.Mul"(%2, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %4 = "tf.Sub"(%3, %x) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  %5 = "tf.StopGradient"(%4) : (tensor<?xf32>) -> tensor<?xf32>
  %6 = "tf.AddV2"(%x, %5) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %6 : tensor<?xf32>
}

// -----

// RUN: pair-fake-quantization
// A bound is a whole number of steps but for what float32 rounds: this one is 255.00001 steps.
// CHECK-LABEL: func.func @bounds
// CHECK: "tfl.quantize"({{.*}}) {{.*}}!quant.uniform<i8:f32, 0.0316{{[0-9]*}}:-128>
func.func @bounds(%x: tensor<?xf32>) -> tensor<?xf32> {
  %step = "tf.Const"() {value = dense<0.03161> : tensor<f32>} : () -> tensor<f32>
  %low = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %high = "tf.Const"() {value = dense<8.06055069> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.RealDiv"(%x, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %1 = "tf.Round"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %2 = "tf.Mul"(%1, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %3 = "tf.ClipByValue"(%2, %low, %high) : (tensor<?xf32>, tensor<f32>, tensor<f32>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}

// -----

// RUN: pair-fake-quantization
// Left alone: a rounding without bounds, one that is not undone, ranges that are computed, more than 8 bits, channels of
// what is not constant, an empty range.
// CHECK-LABEL: func.func @left
// CHECK-NOT: tfl.quantize
func.func @left(%x: tensor<?x2xf32>, %low: tensor<f32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %step = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %one = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %lows = "tf.Const"() {value = dense<[-1.0, -2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %highs = "tf.Const"() {value = dense<[1.0, 2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tf.RealDiv"(%x, %step) : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  %1 = "tf.Round"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = "tf.Mul"(%1, %step) : (tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
  %3 = "tf.Relu6"(%1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %4 = "tf.FakeQuantWithMinMaxVars"(%x, %low, %one) {num_bits = 8 : i64, narrow_range = false} : (tensor<?x2xf32>, tensor<f32>, tensor<f32>) -> tensor<?x2xf32>
  %5 = "tf.FakeQuantWithMinMaxArgs"(%x) {num_bits = 9 : i64} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.FakeQuantWithMinMaxVarsPerChannel"(%x, %lows, %highs) {num_bits = 8 : i64, narrow_range = false} : (tensor<?x2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %7 = "tf.FakeQuantWithMinMaxVars"(%x, %one, %one) {num_bits = 8 : i64, narrow_range = false} : (tensor<?x2xf32>, tensor<f32>, tensor<f32>) -> tensor<?x2xf32>
  return %2, %3, %4, %5, %6, %7 : tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}

// -----

// RUN: pair-fake-quantization
// The range of weights is computed of these; a bias is rounded, and is no weight.
// CHECK-LABEL: func.func @computed
// CHECK: "tfl.quantize"(%{{.*}}) {{.*}} -> tensor<2x1x!quant.uniform<i8:f32, 0.0{{1999|2000}}{{.*}}>>
// CHECK: %[[B:.*]] = "tf.Const"() {{.*}}dense<2.000000e+00> : tensor<1xf32>
// CHECK: "tf.AddV2"(%{{.*}}, %[[B]])
func.func @computed(%x: tensor<?x2xf32>) -> tensor<?x1xf32> {
  %w = "tf.Const"() {value = dense<[[1.0], [-2.54]]> : tensor<2x1xf32>} : () -> tensor<2x1xf32>
  %b = "tf.Const"() {value = dense<[2.2]> : tensor<1xf32>} : () -> tensor<1xf32>
  %axes = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Abs"(%w) : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %high = "tf.Max"(%0, %axes) {keep_dims = false} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<f32>
  %low = "tf.Neg"(%high) : (tensor<f32>) -> tensor<f32>
  %1 = "tf.FakeQuantWithMinMaxVars"(%w, %low, %high) {num_bits = 8 : i64, narrow_range = true} : (tensor<2x1xf32>, tensor<f32>, tensor<f32>) -> tensor<2x1xf32>
  %2 = "tf.MatMul"(%x, %1) : (tensor<?x2xf32>, tensor<2x1xf32>) -> tensor<?x1xf32>
  %3 = "tf.FakeQuantWithMinMaxArgs"(%b) {min = -127.0 : f32, max = 127.0 : f32, num_bits = 8 : i64, narrow_range = true} : (tensor<1xf32>) -> tensor<1xf32>
  %4 = "tf.AddV2"(%2, %3) : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
  return %4 : tensor<?x1xf32>
}

// -----

// RUN: pair-fake-quantization
// RELU and RELU6 are bounds, before the rounding and behind it, in the steps of where they stand: 96, 15 and 12 levels
// above zero, the last of which saturates.
// CHECK-LABEL: func.func @relus
// CHECK: %[[A:.*]] = "tf.Relu"(%arg0)
// CHECK-NEXT: "tfl.quantize"(%[[A]]) {{.*}}!quant.uniform<i8:f32, 6.250000e-02:31>
// CHECK: "tf.Round"
// CHECK-NEXT: %[[C:.*]] = "tf.Relu"(%arg0)
// CHECK-NEXT: "tfl.quantize"(%[[C]]) {{.*}}!quant.uniform<i8:f32, 2.500000e-01:112>
// CHECK: %[[D:.*]] = "tf.Relu"(%arg0)
// CHECK-NEXT: "tfl.quantize"(%[[D]]) {{.*}}!quant.uniform<i8:f32, 5.000000e-01:115>
func.func @relus(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?xf32>) {
  %step = "tf.Const"() {value = dense<0.0625> : tensor<f32>} : () -> tensor<f32>
  %four = "tf.Const"() {value = dense<4.0> : tensor<f32>} : () -> tensor<f32>
  %quarter = "tf.Const"() {value = dense<0.25> : tensor<f32>} : () -> tensor<f32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %most = "tf.Const"() {value = dense<15.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Relu6"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %1 = "tf.RealDiv"(%0, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %2 = "tf.Round"(%1) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = "tf.Mul"(%2, %step) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %4 = "tf.Relu"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  %5 = "tf.Mul"(%4, %four) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %6 = "tf.Minimum"(%5, %most) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %7 = "tf.Round"(%6) : (tensor<?xf32>) -> tensor<?xf32>
  %8 = "tf.Mul"(%7, %quarter) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %9 = "tf.Mul"(%x, %two) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %10 = "tf.Round"(%9) : (tensor<?xf32>) -> tensor<?xf32>
  %11 = "tf.Mul"(%10, %half) : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32>
  %12 = "tf.Relu6"(%11) : (tensor<?xf32>) -> tensor<?xf32>
  return %3, %8, %12 : tensor<?xf32>, tensor<?xf32>, tensor<?xf32>
}
