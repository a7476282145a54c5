// RUN: read-reversed
// The items of a backward layer, of the product and its bias, are read from the end.
// CHECK-LABEL: func.func @read
// CHECK-NOT: tf.ReverseV2
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %arg1)
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[P]], %arg2)
// CHECK: %[[B:.*]] = "tf.Const"() <{value = dense<[2, 0, 0]> : tensor<3xi32>}>
// CHECK: %[[E:.*]] = "tf.Const"() <{value = dense<[3, 0, 0]> : tensor<3xi32>}>
// CHECK: %[[X0:.*]] = "tf.StridedSlice"(%[[S]], %[[B]], %[[E]],
// CHECK: value = dense<0> : tensor<3xi32>
// CHECK: %[[X2:.*]] = "tf.StridedSlice"(%[[S]],
// CHECK: return %[[X0]], %[[X2]]
func.func @read(%x: tensor<3x1x4xf32>, %w: tensor<4x5xf32>, %b: tensor<5xf32>) -> (tensor<1x5xf32>, tensor<1x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %first = "tf.Const"() {value = dense<0> : tensor<3xi32>} : () -> tensor<3xi32>
  %second = "tf.Const"() {value = dense<[1, 0, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %last = "tf.Const"() {value = dense<[-1, 0, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %ones = "tf.Const"() {value = dense<1> : tensor<3xi32>} : () -> tensor<3xi32>
  %r = "tf.ReverseV2"(%x, %axis) : (tensor<3x1x4xf32>, tensor<1xi32>) -> tensor<3x1x4xf32>
  %p = "tf.BatchMatMulV2"(%r, %w) {adj_x = false, adj_y = false} : (tensor<3x1x4xf32>, tensor<4x5xf32>) -> tensor<3x1x5xf32>
  %s = "tf.AddV2"(%p, %b) : (tensor<3x1x5xf32>, tensor<5xf32>) -> tensor<3x1x5xf32>
  %0 = "tf.StridedSlice"(%s, %first, %second, %ones) {begin_mask = 6 : i64, end_mask = 6 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3x1x5xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x5xf32>
  %1 = "tf.StridedSlice"(%s, %last, %first, %ones) {begin_mask = 6 : i64, end_mask = 6 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3x1x5xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x5xf32>
  return %0, %1 : tensor<1x5xf32>, tensor<1x5xf32>
}
// Outputs are packed in the other order, before they are transposed; where they are also used in theirs, both stay.
// CHECK-LABEL: func.func @written
// CHECK-NOT: tf.ReverseV2
// CHECK: %[[R:.*]] = "tf.Pack"(%arg1, %arg0) <{axis = 0 : i64}>
// CHECK: %[[P:.*]] = "tf.Pack"(%arg0, %arg1) <{axis = 0 : i64}>
// CHECK: %[[T:.*]] = "tf.Transpose"(%[[R]],
// CHECK: return %[[T]], %[[P]]
func.func @written(%a: tensor<1x4xf32>, %b: tensor<1x4xf32>) -> (tensor<1x2x4xf32>, tensor<2x1x4xf32>) {
  %order = "tf.Const"() {value = dense<[1, 0, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %axis = "tf.Const"() {value = dense<-2> : tensor<1xi32>} : () -> tensor<1xi32>
  %p = "tf.Pack"(%a, %b) {axis = 0 : i64} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<2x1x4xf32>
  %t = "tf.Transpose"(%p, %order) : (tensor<2x1x4xf32>, tensor<3xi32>) -> tensor<1x2x4xf32>
  %i = "tf.Identity"(%t) : (tensor<1x2x4xf32>) -> tensor<1x2x4xf32>
  %r = "tf.ReverseV2"(%i, %axis) : (tensor<1x2x4xf32>, tensor<1xi32>) -> tensor<1x2x4xf32>
  return %r, %p : tensor<1x2x4xf32>, tensor<2x1x4xf32>
}
// What is taken apart is taken in the other order.
// CHECK-LABEL: func.func @unpacked
// CHECK-NOT: tf.ReverseV2
// CHECK: %[[U:.*]]:3 = "tf.Unpack"(%arg0)
// CHECK: return %[[U]]#2, %[[U]]#1, %[[U]]#0, %[[U]]#2
func.func @unpacked(%x: tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %axis = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %r = "tf.ReverseV2"(%x, %axis) : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<2x3xf32>
  %u:3 = "tf.Unpack"(%r) {axis = 1 : i64} : (tensor<2x3xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %u#0, %u#1, %u#2, %u#0 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
// Another dimension is taken apart; a sum with what differs from item to item, itself too; several dimensions; an unknown
// size; a product that mixes the items, or whose result is used as a whole: reversals stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-7: tf.ReverseV2
// CHECK-NOT: tf.ReverseV2
func.func @others(%x: tensor<3x3xf32>, %y: tensor<?x3xf32>, %z: tensor<2x3x3xf32>, %w: tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %rows = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %both = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %r = "tf.ReverseV2"(%x, %axis) : (tensor<3x3xf32>, tensor<1xi32>) -> tensor<3x3xf32>
  %0:3 = "tf.Unpack"(%r) {axis = 1 : i64} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r1 = "tf.ReverseV2"(%x, %axis) : (tensor<3x3xf32>, tensor<1xi32>) -> tensor<3x3xf32>
  %s1 = "tf.AddV2"(%r1, %w) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %1:3 = "tf.Unpack"(%s1) {axis = 0 : i64} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r2 = "tf.ReverseV2"(%w, %axis) : (tensor<3x3xf32>, tensor<1xi32>) -> tensor<3x3xf32>
  %s2 = "tf.AddV2"(%r2, %r2) : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %2:3 = "tf.Unpack"(%s2) {axis = 0 : i64} : (tensor<3x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r3 = "tf.ReverseV2"(%z, %both) : (tensor<2x3x3xf32>, tensor<2xi32>) -> tensor<2x3x3xf32>
  %3:3 = "tf.Unpack"(%r3) {axis = 1 : i64} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  %r4 = "tf.ReverseV2"(%y, %axis) : (tensor<?x3xf32>, tensor<1xi32>) -> tensor<?x3xf32>
  %4:3 = "tf.Unpack"(%r4) {axis = 0 : i64} : (tensor<?x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %r5 = "tf.ReverseV2"(%z, %rows) : (tensor<2x3x3xf32>, tensor<1xi32>) -> tensor<2x3x3xf32>
  %5 = "tf.BatchMatMulV2"(%r5, %w) {adj_x = false, adj_y = false} : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  %r6 = "tf.ReverseV2"(%z, %rows) : (tensor<2x3x3xf32>, tensor<1xi32>) -> tensor<2x3x3xf32>
  %p6 = "tf.BatchMatMulV2"(%r6, %w) {adj_x = true, adj_y = false} : (tensor<2x3x3xf32>, tensor<3x3xf32>) -> tensor<2x3x3xf32>
  %6:3 = "tf.Unpack"(%p6) {axis = 1 : i64} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return %0#0, %1#0, %2#0, %3#0, %4#0, %5, %6#0 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>, tensor<3xf32>, tensor<2x3x3xf32>, tensor<2x3xf32>
}
// What is also used as a whole stays reversed.
// CHECK-LABEL: func.func @whole
// CHECK: %[[R:.*]] = "tf.ReverseV2"(%arg0,
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[R]], %arg1)
// CHECK: return %{{.*}}, %[[S]]
func.func @whole(%x: tensor<3x1x5xf32>, %b: tensor<5xf32>) -> (tensor<1x5xf32>, tensor<3x1x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %first = "tf.Const"() {value = dense<0> : tensor<3xi32>} : () -> tensor<3xi32>
  %second = "tf.Const"() {value = dense<[1, 0, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %ones = "tf.Const"() {value = dense<1> : tensor<3xi32>} : () -> tensor<3xi32>
  %r = "tf.ReverseV2"(%x, %axis) : (tensor<3x1x5xf32>, tensor<1xi32>) -> tensor<3x1x5xf32>
  %s = "tf.AddV2"(%r, %b) : (tensor<3x1x5xf32>, tensor<5xf32>) -> tensor<3x1x5xf32>
  %0 = "tf.StridedSlice"(%s, %first, %second, %ones) {begin_mask = 6 : i64, end_mask = 6 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3x1x5xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x5xf32>
  return %0, %s : tensor<1x5xf32>, tensor<3x1x5xf32>
}
