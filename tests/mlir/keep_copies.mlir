// RUN: keep-copies
// What is not XNNPACK's takes the copy of what XNNPACK computed.
// CHECK-LABEL: func.func private @body
// CHECK: %[[JOINED:.*]] = "tfl.concatenation"
// CHECK: %[[KEPT:.*]] = "tfl.maximum"(%[[JOINED]], %[[JOINED]])
// CHECK: "tfl.gather"(%[[KEPT]]
func.func private @body(%x: tensor<?x2xf32>, %i: tensor<4xi32>) -> tensor<?x4xf32> {
  %0 = "tfl.sin"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.neg"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = "tfl.concatenation"(%1, %1) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %3 = "tfl.gather"(%2, %i) {axis = 1 : i32, batch_dims = 0 : i32} : (tensor<?x4xf32>, tensor<4xi32>) -> tensor<?x4xf32>
  return %3 : tensor<?x4xf32>
}
// So does a result.
// CHECK-LABEL: func.func private @result
// CHECK: %[[RESHAPED:.*]] = "tfl.reshape"
// CHECK: %[[KEPT:.*]] = "tfl.maximum"(%[[RESHAPED]], %[[RESHAPED]])
// CHECK: return %[[KEPT]]
func.func private @result(%x: tensor<?x2xf32>) -> tensor<?x1x2xf32> {
  %shape = "tfl.pseudo_const"() {value = dense<[-1, 1, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %0 = "tfl.neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x1x2xf32>
  return %1 : tensor<?x1x2xf32>
}
// Nothing is needed where the copy stays XNNPACK's, where it copies what is not, and where sizes are fixed.
// CHECK-LABEL: func.func private @safe
// CHECK-NOT: tfl.maximum
func.func private @safe(%x: tensor<?x2xf32>, %y: tensor<3x2xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>) {
  %0 = "tfl.neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.concatenation"(%0, %0) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %2 = "tfl.abs"(%1) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = "tfl.concatenation"(%x, %x) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %4 = "tfl.neg"(%y) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %5 = "tfl.concatenation"(%4, %4) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  return %2, %3, %5 : tensor<?x4xf32>, tensor<?x4xf32>, tensor<3x4xf32>
}
// Outside of loops and branches, nothing is needed unless a shape is known only when its op has run.
// CHECK-LABEL: func.func @outside
// CHECK-NOT: tfl.maximum
func.func @outside(%x: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %0 = "tfl.neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.concatenation"(%0, %0) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func @sorted
// CHECK: tfl.concatenation
// CHECK: tfl.maximum
func.func @sorted(%x: tensor<?x2xf32>) -> tensor<?x4xf32> {
  %k = "tfl.pseudo_const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %v, %i = "tfl.topk_v2"(%x, %k) : (tensor<?x2xf32>, tensor<i32>) -> (tensor<?x2xf32>, tensor<?x2xi32>)
  %0 = "tfl.neg"(%v) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.concatenation"(%0, %0) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
// CHECK-LABEL: func.func @of_a_shape
// CHECK: tfl.concatenation
// CHECK: tfl.maximum
func.func @of_a_shape(%x: tensor<?x2xf32>, %shape: tensor<2xi32>) -> tensor<?x4xf32> {
  %0 = "tfl.reshape"(%x, %shape) : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %1 = "tfl.neg"(%0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %2 = "tfl.concatenation"(%1, %1) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
// Where the first op is XNNPACK's, so is the first part, and what waits for another op is in the next one.
// CHECK-LABEL: func.func private @first_part
// CHECK: %[[RESHAPED:.*]] = "tfl.reshape"
// CHECK: %[[KEPT:.*]] = "tfl.maximum"(%[[RESHAPED]], %[[RESHAPED]])
// CHECK: tfl.gather
// CHECK: "tfl.concatenation"(%[[KEPT]]
func.func private @first_part(%x: tensor<?x2xf32>, %i: tensor<?xi32>) -> tensor<?x2xf32> {
  %shape = "tfl.pseudo_const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<?x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %2 = "tfl.gather"(%x, %i) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<?x2xf32>, tensor<?xi32>) -> tensor<?x2xf32>
  %3 = "tfl.concatenation"(%1, %2) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %4 = "tfl.abs"(%3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %4 : tensor<?x2xf32>
}
