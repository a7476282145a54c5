// RUN: emit-equal-ops{avoided=SELECT+REDUCE_ANY}
// CHECK-LABEL: func.func @select
// CHECK: "tfl.select_v2"(%arg0, %arg2, %arg2)
// CHECK: %[[C:.*]] = "tfl.reshape"(%arg1, %{{.*}}) : (tensor<2xi1>, tensor<2xi32>) -> tensor<2x1xi1>
// CHECK: "tfl.select_v2"(%[[C]], %arg2, %arg2)
// CHECK-NOT: "tfl.select"
func.func @select(%same: tensor<2x3xi1>, %first: tensor<2xi1>, %x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "tfl.select"(%same, %x, %x) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.select"(%first, %x, %x) : (tensor<2xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @ids
// CHECK: %[[T:.*]] = "tfl.cast"(%arg0) : (tensor<3xi1>) -> tensor<3xi32>
// CHECK: %[[O:.*]] = tfl.add(%arg2, %{{.*}}) <{fused_activation_function = "NONE"}> : (tensor<1x3xi32>, tensor<2x3xi32>)
// CHECK: %[[D:.*]] = tfl.sub(%arg1, %[[O]])
// CHECK: %[[M:.*]] = tfl.mul(%[[D]], %[[T]])
// CHECK: tfl.add %[[O]], %[[M]]
func.func @ids(%c: tensor<3xi1>, %x: tensor<2x1xi32>, %y: tensor<1x3xi32>) -> tensor<2x3xi32> {
  %0 = "tfl.select_v2"(%c, %x, %y) : (tensor<3xi1>, tensor<2x1xi32>, tensor<1x3xi32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
// CHECK-LABEL: func.func @any
// CHECK: %[[N:.*]] = "tfl.logical_not"(%arg0)
// CHECK: %[[A:.*]] = "tfl.reduce_all"(%[[N]], %{{.*}}) <{keep_dims = true}>
// CHECK: "tfl.logical_not"(%[[A]])
func.func @any(%x: tensor<2x3xi1>) -> tensor<2x1xi1> {
  %axes = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reduce_any"(%x, %axes) {keep_dims = true} : (tensor<2x3xi1>, tensor<1xi32>) -> tensor<2x1xi1>
  return %0 : tensor<2x1xi1>
}
// What is not avoided stays.
// CHECK-LABEL: func.func @all
// CHECK: "tfl.reduce_all"(%arg0
func.func @all(%x: tensor<2x3xi1>) -> tensor<2xi1> {
  %axes = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reduce_all"(%x, %axes) {keep_dims = false} : (tensor<2x3xi1>, tensor<1xi32>) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}
