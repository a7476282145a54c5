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
// XNNPACK takes what others computed, and inputs, by an op that does nothing else, where shapes are known so late.
// CHECK-LABEL: func.func @taken
// CHECK: %[[INPUT:.*]] = "tfl.maximum"(%arg0, %arg0)
// CHECK: "tfl.fully_connected"(%[[INPUT]], %{{.*}}, %{{.*}})
// CHECK: %[[GATHERED:.*]] = "tfl.gather"
// CHECK: %[[TAKEN:.*]] = "tfl.maximum"(%[[GATHERED]], %[[GATHERED]])
// CHECK: tfl.add %{{.*}}, %[[TAKEN]]
// CHECK: tfl.mul %[[TAKEN]], %{{.*}}
// CHECK-NOT: tfl.maximum
func.func @taken(%x: tensor<?x2xf32>, %i: tensor<?xi32>, %count: tensor<i32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %weights = "tfl.pseudo_const"() {value = dense<2.0> : tensor<2x2xf32>} : () -> tensor<*xf32>
  %none = "tfl.no_value"() {value} : () -> none
  %0 = "tfl.fully_connected"(%x, %weights, %none) {fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"} : (tensor<?x2xf32>, tensor<*xf32>, none) -> tensor<?x2xf32>
  %1 = "tfl.gather"(%x, %i) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<?x2xf32>, tensor<?xi32>) -> tensor<?x2xf32>
  %2 = tfl.add %0, %1 {fused_activation_function = "NONE"} : tensor<?x2xf32>
  %3 = tfl.mul %1, %2 {fused_activation_function = "NONE"} : tensor<?x2xf32>
  %4 = "tfl.unsorted_segment_sum"(%3, %i, %count) : (tensor<?x2xf32>, tensor<?xi32>, tensor<i32>) -> tensor<?x2xf32>
  return %3, %4 : tensor<?x2xf32>, tensor<?x2xf32>
}
// Neither where the count is a constant.
// CHECK-LABEL: func.func @known
// CHECK-NOT: tfl.maximum
func.func @known(%x: tensor<?x2xf32>, %i: tensor<?xi32>) -> tensor<?x2xf32> {
  %count = "tfl.pseudo_const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.neg"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tfl.unsorted_segment_sum"(%0, %i, %count) : (tensor<?x2xf32>, tensor<?xi32>, tensor<i32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}
