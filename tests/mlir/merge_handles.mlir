// RUN: merge-handles
// The first handle of a variable serves for all; other variables and other functions keep theirs.
// CHECK-LABEL: func.func @main
// CHECK: %[[V:.*]] = "tfl.var_handle"() <{container = "", shared_name = "v"}>
// CHECK: "tfl.assign_variable"(%[[V]], %arg0)
// CHECK-NOT: shared_name = "v"
// CHECK: %[[W:.*]] = "tfl.var_handle"() <{container = "", shared_name = "w"}>
// CHECK: %[[READ:.*]] = "tfl.read_variable"(%[[V]])
// CHECK: "tfl.assign_variable"(%[[W]], %[[READ]])
// CHECK: "tfl.assign_variable"(%[[V]], %[[READ]])
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tfl.var_handle"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  "tfl.assign_variable"(%a, %x) : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  %b = "tfl.var_handle"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %c = "tfl.var_handle"() {container = "", shared_name = "w"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %0 = "tfl.read_variable"(%b) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  "tfl.assign_variable"(%c, %0) : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  "tfl.assign_variable"(%a, %0) : (tensor<!tf_type.resource<tensor<2xf32>>>, tensor<2xf32>) -> ()
  return %0 : tensor<2xf32>
}
// CHECK-LABEL: func.func private @body
// CHECK: "tfl.var_handle"() <{container = "", shared_name = "v"}>
func.func private @body() -> tensor<2xf32> {
  %a = "tfl.var_handle"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<2xf32>>>
  %0 = "tfl.read_variable"(%a) : (tensor<!tf_type.resource<tensor<2xf32>>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
