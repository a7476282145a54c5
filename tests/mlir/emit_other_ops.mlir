// RUN: emit-equal-ops{avoided=ADD_N+ARG_MIN+CEIL+ELU+FLOOR+LOG_SOFTMAX+REDUCE_MIN+RELU6+SPLIT_V}
// CHECK-LABEL: func.func @activations
// CHECK: %[[R:.*]] = "tfl.minimum"(%arg0
// CHECK: "tfl.maximum"(%[[R]]
// CHECK: %[[E:.*]] = "tfl.exp"
// CHECK: %[[B:.*]] = tfl.sub(%[[E]]
// CHECK: %[[A:.*]] = "tfl.relu"(%arg0)
// CHECK: tfl.add %[[A]], %[[B]]
// CHECK: %[[M:.*]] = "tfl.reduce_max"(%arg0, %{{.*}}) <{keep_dims = true}> : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x1xf32>
// CHECK: %[[D:.*]] = tfl.sub(%arg0, %[[M]])
// CHECK: %[[L:.*]] = "tfl.log"
// CHECK: tfl.sub(%[[D]], %[[L]])
func.func @activations(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "tfl.relu6"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.elu"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tfl.log_softmax"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @least
// CHECK: tfl.floor_div
// CHECK: %[[C:.*]] = tfl.floor_div
// CHECK: tfl.mul(%[[C]]
// CHECK: %[[N:.*]] = tfl.mul(%arg0
// CHECK: %[[G:.*]] = "tfl.reduce_max"(%[[N]]
// CHECK: tfl.mul(%[[G]]
// CHECK: "tfl.arg_max"
func.func @least(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xi32>) {
  %axes = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.floor"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.ceil"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = "tfl.reduce_min"(%x, %axes) {keep_dims = false} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2xf32>
  %3 = "tfl.arg_min"(%x, %axis) : (tensor<2x3xf32>, tensor<i32>) -> tensor<2xi32>
  return %0, %1, %2, %3 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>, tensor<2xi32>
}
// CHECK-LABEL: func.func @parts
// CHECK: "tfl.slice"(%arg0, %{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: "tfl.slice"(%arg0, %{{.*}}, %{{.*}}) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[S:.*]] = tfl.add %arg0, %arg0
// CHECK: tfl.add %[[S]], %arg0
func.func @parts(%x: tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>) {
  %sizes = "tfl.pseudo_const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tfl.pseudo_const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tfl.split_v"(%x, %sizes, %axis) {num_splits = 2 : i32} : (tensor<2x3xf32>, tensor<2xi32>, tensor<i32>) -> (tensor<2x1xf32>, tensor<2x2xf32>)
  %2 = "tfl.add_n"(%x, %x, %x) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0#0, %0#1, %2 : tensor<2x1xf32>, tensor<2x2xf32>, tensor<2x3xf32>
}
// Integers stay.
// CHECK-LABEL: func.func @others
// CHECK: "tfl.reduce_min"
func.func @others(%x: tensor<2x3xi32>) -> tensor<2xi32> {
  %axes = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reduce_min"(%x, %axes) {keep_dims = false} : (tensor<2x3xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
