// RUN: separate-reads
// Each operand has a read of its own, made where the first one is; other ops and other values share theirs.
// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]] = "tfl.var_handle"
// CHECK: %[[A:.*]] = "tfl.read_variable"(%[[V]])
// CHECK: %[[B:.*]] = "tfl.read_variable"(%[[V]])
// CHECK: "tfl.assign_variable"(%[[V]], %arg0)
// CHECK: %[[SQUARE:.*]] = tfl.mul %[[A]], %[[B]]
// CHECK: tfl.add %[[A]], %[[SQUARE]]
// CHECK-NOT: "tfl.read_variable"
// CHECK: tfl.mul %arg0, %arg0
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %v = "tfl.var_handle"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %a = "tfl.read_variable"(%v) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  "tfl.assign_variable"(%v, %x) : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  %0 = "tfl.mul"(%a, %a) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "tfl.add"(%a, %0) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = "tfl.mul"(%x, %x) {fused_activation_function = "NONE"} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1, %2 : tensor<2xf32>, tensor<2xf32>
}
