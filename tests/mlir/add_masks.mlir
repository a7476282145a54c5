// RUN: add-masks
// CHECK-LABEL: func.func @main
// CHECK: %[[ADDED:.*]] = "tfl.select_v2"(%arg1, {{.*}}) : (tensor<2x1xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1xf32>
// CHECK: %[[FACTOR:.*]] = "tfl.select_v2"(%arg1, {{.*}}) : (tensor<2x1xi1>, tensor<f32>, tensor<f32>) -> tensor<2x1xf32>
// CHECK: %[[SCORES:.*]] = tfl.add(%arg0, %[[ADDED]])
// CHECK: %[[WEIGHTS:.*]] = "tfl.softmax"(%[[SCORES]])
// CHECK: tfl.mul(%[[WEIGHTS]], %[[FACTOR]])
// CHECK-NOT: tfl.select_v2
// CHECK: return
func.func @main(%x: tensor<2x4xf32>, %m: tensor<2x1xi1>) -> tensor<2x4xf32> {
  %low = "tfl.pseudo_const"() {value = dense<-1.0e9> : tensor<f32>} : () -> tensor<f32>
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tfl.select_v2"(%m, %x, %low) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = "tfl.softmax"(%0) {beta = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = "tfl.select_v2"(%m, %1, %zero) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %3 = "tfl.select_v2"(%m, %2, %low) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = "tfl.softmax"(%3) {beta = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %5 = "tfl.select_v2"(%m, %4, %zero) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %6 = "tfl.select_v2"(%m, %5, %low) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %7 = "tfl.softmax"(%6) {beta = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %8 = "tfl.select_v2"(%m, %7, %zero) : (tensor<2x1xi1>, tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %8 : tensor<2x4xf32>
}
