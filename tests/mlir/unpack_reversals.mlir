// RUN: unpack-reversals
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]]:3 = "tfl.unpack"(%arg0) <{axis = 1 : i32, num = 3 : i32}> : (tensor<2x3x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
// CHECK: %[[P:.*]] = "tfl.pack"(%[[A]]#2, %[[A]]#1, %[[A]]#0) <{axis = 1 : i32, values_count = 3 : i32}>
// CHECK: %[[B:.*]]:2 = "tfl.unpack"(%[[P]]) <{axis = 0 : i32, num = 2 : i32}>
// CHECK: %[[Q:.*]] = "tfl.pack"(%[[B]]#1, %[[B]]#0)
// CHECK: return %[[Q]]
// CHECK-NOT: tfl.reverse_v2
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %axes = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.reverse_v2"(%x, %axes) : (tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// One item, and none, are the same in any order.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: tfl.reverse_v2
// CHECK: return %arg0, %arg1
func.func @nothing(%x: tensor<1x4xf32>, %none: tensor<0x4xf32>) -> (tensor<1x4xf32>, tensor<0x4xf32>) {
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reverse_v2"(%x, %axis) : (tensor<1x4xf32>, tensor<1xi32>) -> tensor<1x4xf32>
  %1 = "tfl.reverse_v2"(%none, %axis) : (tensor<0x4xf32>, tensor<1xi32>) -> tensor<0x4xf32>
  return %0, %1 : tensor<1x4xf32>, tensor<0x4xf32>
}
// Too many items, an unknown number, unknown dimensions, and integers, of which the NPU has none such.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: tfl.reverse_v2
// CHECK-NOT: tfl.unpack
func.func @others(%x: tensor<1025x4xf32>, %y: tensor<?x4xf32>, %z: tensor<2x4xf32>, %i: tensor<4xi64>, %axes: tensor<1xi32>) -> (tensor<1025x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>, tensor<4xi64>) {
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reverse_v2"(%x, %axis) : (tensor<1025x4xf32>, tensor<1xi32>) -> tensor<1025x4xf32>
  %1 = "tfl.reverse_v2"(%y, %axis) : (tensor<?x4xf32>, tensor<1xi32>) -> tensor<?x4xf32>
  %2 = "tfl.reverse_v2"(%z, %axes) : (tensor<2x4xf32>, tensor<1xi32>) -> tensor<2x4xf32>
  %3 = "tfl.reverse_v2"(%i, %axis) : (tensor<4xi64>, tensor<1xi32>) -> tensor<4xi64>
  return %0, %1, %2, %3 : tensor<1025x4xf32>, tensor<?x4xf32>, tensor<2x4xf32>, tensor<4xi64>
}
