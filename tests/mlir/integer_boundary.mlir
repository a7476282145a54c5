// RUN: integer-boundary{entry=main}
// An input that is used in floats as well stays in floats, as does an output of floats.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x!quant.uniform<i8:f32, 1.000000e-01>>, %arg1: tensor<2xf32>) -> (tensor<2x!quant.uniform<i8:f32, 1.000000e-01>>, tensor<2xf32>)
// CHECK: %[[Q:.*]] = "tfl.quantize"(%arg1)
// CHECK: %[[Y:.*]] = "tfl.maximum"(%arg0, %[[Q]])
// CHECK: return %[[Y]], %{{.*}}
// CHECK-LABEL: func.func @other(%arg0: tensor<2xf32>)
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = "tfl.quantize"(%x) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %1 = "tfl.quantize"(%y) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %2 = "tfl.maximum"(%0, %1) : (tensor<2x!quant.uniform<i8:f32, 0.1>>, tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  %3 = "tfl.dequantize"(%2) : (tensor<2x!quant.uniform<i8:f32, 0.1>>) -> tensor<2xf32>
  %4 = "tfl.sin"(%y) : (tensor<2xf32>) -> tensor<2xf32>
  return %3, %4 : tensor<2xf32>, tensor<2xf32>
}
func.func @other(%x: tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>> {
  %0 = "tfl.quantize"(%x) {qtype = tensor<2x!quant.uniform<i8:f32, 0.1>>} : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.1>>
  return %0 : tensor<2x!quant.uniform<i8:f32, 0.1>>
}
