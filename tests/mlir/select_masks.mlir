// RUN: select-masks
// CHECK-LABEL: func.func @mask
// CHECK: %[[M:.*]] = "tfl.select_v2"(%arg0, %{{.*}}, %{{.*}}) : (tensor<2x8xi1>, tensor<f32>, tensor<f32>) -> tensor<2x8xf32>
// CHECK-NOT: "tfl.cast"
// CHECK: tfl.add %[[M]], %arg1
func.func @mask(%keep: tensor<2x8xi1>, %x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %one = "tfl.pseudo_const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %low = "tfl.pseudo_const"() {value = dense<-1.0e9> : tensor<f32>} : () -> tensor<f32>
  %0 = "tfl.cast"(%keep) : (tensor<2x8xi1>) -> tensor<2x8xf32>
  %1 = tfl.sub(%one, %0) {fused_activation_function = "NONE"} : (tensor<f32>, tensor<2x8xf32>) -> tensor<2x8xf32>
  %2 = tfl.mul(%1, %low) {fused_activation_function = "NONE"} : (tensor<2x8xf32>, tensor<f32>) -> tensor<2x8xf32>
  %3 = tfl.add %2, %x {fused_activation_function = "NONE"} : tensor<2x8xf32>
  return %3 : tensor<2x8xf32>
}
// What is read elsewhere stays, and what is no truth value, or not subtracted from 1, is computed.
// CHECK-LABEL: func.func @others
// CHECK: "tfl.select_v2"(%arg0
// CHECK: tfl.mul
// CHECK: tfl.mul
// CHECK-NOT: "tfl.select_v2"
func.func @others(%keep: tensor<8xi1>, %number: tensor<8xi32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %one = "tfl.pseudo_const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %two = "tfl.pseudo_const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tfl.cast"(%keep) : (tensor<8xi1>) -> tensor<8xf32>
  %1 = "tfl.cast"(%number) : (tensor<8xi32>) -> tensor<8xf32>
  %2 = tfl.sub(%one, %0) {fused_activation_function = "NONE"} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = tfl.mul(%two, %2) {fused_activation_function = "NONE"} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = tfl.sub(%one, %1) {fused_activation_function = "NONE"} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = tfl.mul(%4, %two) {fused_activation_function = "NONE"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  %6 = tfl.sub(%two, %0) {fused_activation_function = "NONE"} : (tensor<f32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = tfl.mul(%6, %two) {fused_activation_function = "NONE"} : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %2, %3, %5, %7 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
