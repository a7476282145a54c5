// RUN: simplify
// The sizes that are known, of a shape that is not: what a Dense layer on a rank-3 input computes.
// CHECK-LABEL: func.func @flatten
// CHECK: %[[SHAPE:.*]] = "tf.Const"() <{value = dense<[-1, 20]> : tensor<2xi32>}>
// CHECK: "tf.Reshape"(%arg0, %[[SHAPE]])
func.func @flatten(%x: tensor<?x4x5xf32>) -> tensor<?x20xf32> {
  %shape = "tf.Shape"(%x) : (tensor<?x4x5xf32>) -> tensor<3xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %three = "tf.Const"() {value = dense<3> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %open = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %sizes = "tf.StridedSlice"(%shape, %one, %three, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %count = "tf.Prod"(%sizes, %axis) {keep_dims = false} : (tensor<2xi32>, tensor<1xi32>) -> tensor<i32>
  %to = "tf.Pack"(%open, %count) {axis = 0 : i64} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %y = "tf.Reshape"(%x, %to) : (tensor<?x4x5xf32>, tensor<2xi32>) -> tensor<?x20xf32>
  return %y : tensor<?x20xf32>
}

// CHECK-LABEL: func.func @unknown_size
// CHECK: "tf.StridedSlice"
func.func @unknown_size(%x: tensor<?x4xf32>) -> tensor<i32> {
  %shape = "tf.Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%shape, %zero, %one, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// CHECK-LABEL: func.func @reversed_slice
// CHECK: dense<[4, 2]> : tensor<2xi32>
func.func @reversed_slice() -> tensor<2xi32> {
  %x = "tf.Const"() {value = dense<[0, 1, 2, 3, 4]> : tensor<5xi32>} : () -> tensor<5xi32>
  %begin = "tf.Const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<-2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<5xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}

// Rounded as TensorFlow rounds; a division by zero is the runtime's affair; a wide result is not written out.
// CHECK-LABEL: func.func @arithmetic
// CHECK: %[[Q:.*]] = "tf.Const"() <{value = dense<-4> : tensor<i32>}>
// CHECK: %[[M:.*]] = "tf.Const"() <{value = dense<1> : tensor<i32>}>
// CHECK: %[[D:.*]] = "tf.FloorDiv"
// CHECK: %[[F:.*]] = "tf.Fill"
// CHECK: return %[[Q]], %[[M]], %[[D]], %[[F]]
func.func @arithmetic() -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32>) {
  %a = "tf.Const"() {value = dense<-7> : tensor<i32>} : () -> tensor<i32>
  %b = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %wide = "tf.Const"() {value = dense<1000000000> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.FloorDiv"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %1 = "tf.FloorMod"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %2 = "tf.FloorDiv"(%a, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %3 = "tf.Fill"(%wide, %a) : (tensor<1xi32>, tensor<i32>) -> tensor<?xi32>
  return %0, %1, %2, %3 : tensor<i32>, tensor<i32>, tensor<i32>, tensor<?xi32>
}

// -----
// RUN: simplify
// What is returned gives the function its type.
// CHECK-LABEL: func.func @main() -> tensor<2xi64>
// CHECK: dense<[0, 4]> : tensor<2xi64>
func.func @main() -> tensor<?xi64> {
  %a = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %b = "tf.Const"() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.Pack"(%a, %b) {axis = 0 : i64} : (tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}

// -----
// RUN: simplify
// A Dense layer on a tensor of rank 3 keeps the rank; the bias is added where it can be fused.
// CHECK-LABEL: func.func @dense
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} : (tensor<?x9x4xf32>, tensor<4x6xf32>) -> tensor<?x9x6xf32>
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[P]], %{{.*}}) : (tensor<?x9x6xf32>, tensor<6xf32>) -> tensor<?x9x6xf32>
// CHECK: %[[R:.*]] = "tf.Reshape"(%[[S]], %{{.*}}) : (tensor<?x9x6xf32>, tensor<4xi32>) -> tensor<?x9x2x3xf32>
// CHECK: return %[[R]] : tensor<?x9x2x3xf32>
func.func @dense(%x: tensor<?x9x4xf32>) -> tensor<*xf32> {
  %w = "tf.Const"() {value = dense<1.0> : tensor<4x6xf32>} : () -> tensor<4x6xf32>
  %b = "tf.Const"() {value = dense<1.0> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %flat = "tf.Const"() {value = dense<[-1, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %free = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %tail = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x9x4xf32>) -> tensor<3xi32>
  %kept = "tf.GatherV2"(%shape, %free, %zero) {batch_dims = 0 : i64} : (tensor<3xi32>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %to = "tf.ConcatV2"(%kept, %tail, %zero) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %six = "tf.Const"() {value = dense<6> : tensor<1xi32>} : () -> tensor<1xi32>
  %whole = "tf.ConcatV2"(%kept, %six, %zero) : (tensor<2xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  %0 = "tf.Reshape"(%x, %flat) : (tensor<?x9x4xf32>, tensor<2xi32>) -> tensor<*xf32>
  %1 = "tf.MatMul"(%0, %w) {transpose_a = false, transpose_b = false} : (tensor<*xf32>, tensor<4x6xf32>) -> tensor<*xf32>
  %2 = "tf.Reshape"(%1, %whole) : (tensor<*xf32>, tensor<3xi32>) -> tensor<*xf32>
  %3 = "tf.Reshape"(%2, %to) : (tensor<*xf32>, tensor<4xi32>) -> tensor<*xf32>
  %4 = "tf.AddV2"(%3, %b) : (tensor<*xf32>, tensor<2x3xf32>) -> tensor<*xf32>
  return %4 : tensor<*xf32>
}

// -----
// RUN: simplify
// What is expanded to meet another tensor need not be, nor what is computed of it before.
// CHECK-LABEL: func.func @expanded
// CHECK-NOT: tf.BroadcastTo
// CHECK: %[[G:.*]] = "tf.Greater"(%arg1, %{{.*}}) : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xi1>
// CHECK: "tf.SelectV2"(%[[G]], %arg0, %{{.*}}) : (tensor<1x4xi1>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
func.func @expanded(%x: tensor<?x4xf32>, %c: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %zero = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %shape = "tf.Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi32>
  %e = "tf.BroadcastTo"(%c, %shape) : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %m = "tf.Greater"(%e, %zero) : (tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xi1>
  %y = "tf.SelectV2"(%m, %x, %zero) : (tensor<?x4xi1>, tensor<?x4xf32>, tensor<f32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// What is expanded and returned stays expanded.
// CHECK-LABEL: func.func @returned
// CHECK: tf.BroadcastTo
func.func @returned(%x: tensor<?x4xf32>, %c: tensor<1x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %shape = "tf.Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi32>
  %e = "tf.BroadcastTo"(%c, %shape) : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %y = "tf.AddV2"(%x, %e) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y, %e : tensor<?x4xf32>, tensor<?x4xf32>
}

// Of different batches, one may be 1: it has to be expanded.
// CHECK-LABEL: func.func @other_batch
// CHECK: tf.BroadcastTo
func.func @other_batch(%x: tensor<?x4xf32>, %c: tensor<1x4xf32>, %z: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %shape = "tf.Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi32>
  %e = "tf.BroadcastTo"(%c, %shape) : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %y = "tf.AddV2"(%z, %e) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----
// RUN: simplify
// A token before every sequence, and the positions that are added: one constant.
// CHECK-LABEL: func.func @token
// CHECK: %[[P:.*]] = "tf.Pad"(%arg0, %{{.*}}) : (tensor<?x3x2xf32>, tensor<3x2xi32>) -> tensor<?x4x2xf32>
// CHECK: %[[S:.*]] = "tf.AddV2"(%{{.*}}, %{{.*}}) : (tensor<1x4x2xf32>, tensor<4x2xf32>) -> tensor<1x4x2xf32>
// CHECK: "tf.AddV2"(%[[P]], %[[S]])
func.func @token(%x: tensor<?x3x2xf32>) -> tensor<?x4x2xf32> {
  %c = "tf.Const"() {value = dense<7.0> : tensor<1x1x2xf32>} : () -> tensor<1x1x2xf32>
  %p = "tf.Const"() {value = dense<3.0> : tensor<4x2xf32>} : () -> tensor<4x2xf32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Shape"(%x) : (tensor<?x3x2xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %zero, %one, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %times = "tf.Pack"(%n, %axis, %axis) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %e = "tf.Tile"(%c, %times) : (tensor<1x1x2xf32>, tensor<3xi32>) -> tensor<?x1x2xf32>
  %y = "tf.ConcatV2"(%e, %x, %axis) : (tensor<?x1x2xf32>, tensor<?x3x2xf32>, tensor<i32>) -> tensor<?x4x2xf32>
  %z = "tf.AddV2"(%y, %p) : (tensor<?x4x2xf32>, tensor<4x2xf32>) -> tensor<?x4x2xf32>
  return %z : tensor<?x4x2xf32>
}

// -----
// RUN: simplify
// The constant is repeated along the axis as well: before it is added, since its part is wider than it.
// CHECK-LABEL: func.func @tokens
// CHECK: %[[B:.*]] = "tf.BroadcastTo"(%{{.*}}, %{{.*}}) : (tensor<1x1x2xf32>, tensor<3xi32>) -> tensor<1x5x2xf32>
// CHECK: %[[C:.*]] = "tf.ConcatV2"(%{{.*}}, %[[B]], %{{.*}}) : (tensor<1x3x2xf32>, tensor<1x5x2xf32>, tensor<i32>) -> tensor<1x8x2xf32>
// CHECK: %[[P:.*]] = "tf.Pad"(%arg0, %{{.*}}) : (tensor<?x3x2xf32>, tensor<3x2xi32>) -> tensor<?x8x2xf32>
// CHECK: "tf.AddV2"(%[[P]], %[[C]])
func.func @tokens(%x: tensor<?x3x2xf32>) -> tensor<?x8x2xf32> {
  %c = "tf.Const"() {value = dense<7.0> : tensor<1x1x2xf32>} : () -> tensor<1x1x2xf32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %five = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Shape"(%x) : (tensor<?x3x2xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %zero, %one, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %times = "tf.Pack"(%n, %five, %axis) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %e = "tf.Tile"(%c, %times) : (tensor<1x1x2xf32>, tensor<3xi32>) -> tensor<?x5x2xf32>
  %y = "tf.ConcatV2"(%x, %e, %axis) : (tensor<?x3x2xf32>, tensor<?x5x2xf32>, tensor<i32>) -> tensor<?x8x2xf32>
  return %y : tensor<?x8x2xf32>
}

// -----
// RUN: simplify
// The same shape arithmetic twice is done once; attention's products are products of matrices.
// CHECK-LABEL: func.func @once
// CHECK-COUNT-1: tf.StridedSlice
// CHECK-NOT: tf.StridedSlice
// CHECK: tf.Reshape
// CHECK: tf.Reshape
func.func @once(%x: tensor<?x?x8xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x?x4x2xf32>) {
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %2 = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %a = "tf.Const"() {value = dense<[2, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %b = "tf.Const"() {value = dense<[4, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %y = "tf.Relu"(%x) : (tensor<?x?x8xf32>) -> tensor<?x?x8xf32>
  %s = "tf.Shape"(%x) : (tensor<?x?x8xf32>) -> tensor<3xi32>
  %t = "tf.Shape"(%y) : (tensor<?x?x8xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%s, %0, %2, %1) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %m = "tf.StridedSlice"(%t, %0, %2, %1) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %p = "tf.ConcatV2"(%n, %a, %axis) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %q = "tf.ConcatV2"(%m, %b, %axis) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %u = "tf.Reshape"(%x, %p) : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %v = "tf.Reshape"(%y, %q) : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x4x2xf32>
  return %u, %v : tensor<?x?x2x4xf32>, tensor<?x?x4x2xf32>
}

// CHECK-LABEL: func.func @attention
// CHECK: %[[A:.*]] = "tf.Transpose"(%arg0, %{{.*}}) : (tensor<?x5x2x4xf32>, tensor<4xi32>) -> tensor<?x2x5x4xf32>
// CHECK: %[[B:.*]] = "tf.Transpose"(%arg1, %{{.*}}) : (tensor<?x7x2x4xf32>, tensor<4xi32>) -> tensor<?x2x7x4xf32>
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%[[A]], %[[B]]) <{adj_x = false, adj_y = true
// CHECK: return %[[P]] : tensor<?x2x5x7xf32>
func.func @attention(%q: tensor<?x5x2x4xf32>, %k: tensor<?x7x2x4xf32>) -> tensor<?x2x5x7xf32> {
  %0 = "tf.Einsum"(%q, %k) {equation = "bqhd,bkhd->bhqk"} : (tensor<?x5x2x4xf32>, tensor<?x7x2x4xf32>) -> tensor<?x2x5x7xf32>
  return %0 : tensor<?x2x5x7xf32>
}

// The other way round, with the operands in the other order.
// CHECK-LABEL: func.func @keys_first
// CHECK: %[[Q:.*]] = "tf.Transpose"(%arg0, %{{.*}}) : (tensor<?x5x2x4xf32>, tensor<4xi32>) -> tensor<?x2x5x4xf32>
// CHECK: %[[K:.*]] = "tf.Transpose"(%arg1, %{{.*}}) : (tensor<?x7x2x4xf32>, tensor<4xi32>) -> tensor<?x2x7x4xf32>
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%[[Q]], %[[K]]) <{adj_x = false, adj_y = true
// CHECK: return %[[P]]
func.func @keys_first(%q: tensor<?x5x2x4xf32>, %k: tensor<?x7x2x4xf32>) -> tensor<?x2x5x7xf32> {
  %0 = "tf.Einsum"(%k, %q) {equation = "bkhd,bqhd->bhqk"} : (tensor<?x7x2x4xf32>, tensor<?x5x2x4xf32>) -> tensor<?x2x5x7xf32>
  return %0 : tensor<?x2x5x7xf32>
}

// The same product, transposed before and after it.
// CHECK-LABEL: func.func @transposed_product
// CHECK-COUNT-1: tf.Transpose
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%{{.*}}, %arg1) <{adj_x = false, adj_y = true
// CHECK: return %[[P]]
func.func @transposed_product(%q: tensor<?x5x2x4xf32>, %k: tensor<?x2x7x4xf32>) -> tensor<?x2x5x7xf32> {
  %columns = "tf.Const"() {value = dense<[0, 2, 3, 1]> : tensor<4xi32>} : () -> tensor<4xi32>
  %swap = "tf.Const"() {value = dense<[0, 1, 3, 2]> : tensor<4xi32>} : () -> tensor<4xi32>
  %t = "tf.Transpose"(%q, %columns) : (tensor<?x5x2x4xf32>, tensor<4xi32>) -> tensor<?x2x4x5xf32>
  %p = "tf.BatchMatMulV2"(%k, %t) {adj_x = false, adj_y = false} : (tensor<?x2x7x4xf32>, tensor<?x2x4x5xf32>) -> tensor<?x2x7x5xf32>
  %y = "tf.Transpose"(%p, %swap) : (tensor<?x2x7x5xf32>, tensor<4xi32>) -> tensor<?x2x5x7xf32>
  return %y : tensor<?x2x5x7xf32>
}

// -----
// RUN: simplify simplify
// Heads of attention, batch and length open: no shape is computed. The first run moves what is done with the heads to
// before the split, the second one splits the product.
// CHECK-LABEL: func.func @heads
// CHECK-NOT: tf.Shape
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} : (tensor<?x?x8xf32>, tensor<2x1x8x4xf32>) -> tensor<2x?x?x4xf32>
// CHECK: %[[B:.*]] = "tf.AddV2"(%[[P]], %{{.*}}) : (tensor<2x?x?x4xf32>, tensor<2x1x1x4xf32>)
// CHECK: %[[S:.*]] = "tf.Mul"(%[[B]], %{{.*}}) : (tensor<2x?x?x4xf32>, tensor<f32>)
// CHECK: %[[ORDER:.*]] = "tf.Const"() <{value = dense<[1, 0, 2, 3]>
// CHECK: %[[Q:.*]] = "tf.Transpose"(%[[S]], %[[ORDER]])
// CHECK: "tf.BatchMatMulV2"(%[[Q]], %arg1) <{adj_x = false, adj_y = true{{.*}} -> tensor<?x2x?x?xf32>
func.func @heads(%x: tensor<?x?x8xf32>, %k: tensor<?x2x?x4xf32>) -> tensor<?x2x?x?xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<8x2x4xf32>} : () -> tensor<8x2x4xf32>
  %b = "tf.Const"() {value = dense<3.0> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %scale = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Einsum"(%x, %w) {equation = "abc,cde->abde"} : (tensor<?x?x8xf32>, tensor<8x2x4xf32>) -> tensor<?x?x2x4xf32>
  %1 = "tf.AddV2"(%0, %b) : (tensor<?x?x2x4xf32>, tensor<2x4xf32>) -> tensor<?x?x2x4xf32>
  %2 = "tf.Mul"(%1, %scale) : (tensor<?x?x2x4xf32>, tensor<f32>) -> tensor<?x?x2x4xf32>
  %3 = "tf.Einsum"(%2, %k) {equation = "aqhd,ahkd->ahqk"} : (tensor<?x?x2x4xf32>, tensor<?x2x?x4xf32>) -> tensor<?x2x?x?xf32>
  return %3 : tensor<?x2x?x?xf32>
}

// The same with the constant's dimensions in another order, without a bias.
// CHECK-LABEL: func.func @heads_first
// CHECK-NOT: tf.Shape
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} -> tensor<2x?x?x4xf32>
// CHECK: return %[[P]]
func.func @heads_first(%x: tensor<?x?x8xf32>) -> tensor<2x?x?x4xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<2x8x4xf32>} : () -> tensor<2x8x4xf32>
  %order = "tf.Const"() {value = dense<[2, 0, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tf.Einsum"(%x, %w) {equation = "btd,ndh->btnh"} : (tensor<?x?x8xf32>, tensor<2x8x4xf32>) -> tensor<?x?x2x4xf32>
  %1 = "tf.Transpose"(%0, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<2x?x?x4xf32>
  return %1 : tensor<2x?x?x4xf32>
}

// Used in both orders, the product is computed once.
// CHECK-LABEL: func.func @used_twice
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} -> tensor<?x?x8xf32>
// CHECK-NOT: tf.BatchMatMulV2
// CHECK: %[[R:.*]] = "tf.Reshape"(%[[P]]
// CHECK: "tf.Transpose"(%[[R]]
func.func @used_twice(%x: tensor<?x?x8xf32>) -> (tensor<?x?x2x4xf32>, tensor<?x2x?x4xf32>) {
  %w = "tf.Const"() {value = dense<2.0> : tensor<8x2x4xf32>} : () -> tensor<8x2x4xf32>
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tf.Einsum"(%x, %w) {equation = "abc,cde->abde"} : (tensor<?x?x8xf32>, tensor<8x2x4xf32>) -> tensor<?x?x2x4xf32>
  %1 = "tf.Transpose"(%0, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  return %0, %1 : tensor<?x?x2x4xf32>, tensor<?x2x?x4xf32>
}

// With one open size a constant shape does.
// CHECK-LABEL: func.func @heads_of_known_length
// CHECK: "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} -> tensor<?x5x8xf32>
// CHECK: "tf.Const"() <{value = dense<[-1, 5, 2, 4]>
// CHECK: "tf.Reshape"
// CHECK: "tf.Transpose"
func.func @heads_of_known_length(%x: tensor<?x5x8xf32>) -> tensor<?x2x5x4xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<8x2x4xf32>} : () -> tensor<8x2x4xf32>
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tf.Einsum"(%x, %w) {equation = "abc,cde->abde"} : (tensor<?x5x8xf32>, tensor<8x2x4xf32>) -> tensor<?x5x2x4xf32>
  %1 = "tf.Transpose"(%0, %order) : (tensor<?x5x2x4xf32>, tensor<4xi32>) -> tensor<?x2x5x4xf32>
  return %1 : tensor<?x2x5x4xf32>
}

// -----
// RUN: simplify
// The heads' sum is a convolution, and takes the bias.
// CHECK-LABEL: func.func @merge
// CHECK: %[[W:.*]] = "tf.Reshape"(%{{.*}}, %{{.*}}) : (tensor<2x4x8xf32>, tensor<4xi32>) -> tensor<1x2x4x8xf32>
// CHECK: %[[C:.*]] = "tf.Conv2D"(%arg0, %[[W]]) {{.*}}padding = "VALID"{{.*}} -> tensor<?x?x1x8xf32>
// CHECK: %[[B:.*]] = "tf.AddV2"(%[[C]], %{{.*}}) : (tensor<?x?x1x8xf32>, tensor<8xf32>)
// CHECK: %[[Y:.*]] = "tf.Sum"(%[[B]], %{{.*}}) {{.*}} -> tensor<?x?x8xf32>
// CHECK: return %[[Y]]
func.func @merge(%x: tensor<?x?x2x4xf32>) -> tensor<?x?x8xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<2x4x8xf32>} : () -> tensor<2x4x8xf32>
  %b = "tf.Const"() {value = dense<3.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %0 = "tf.Einsum"(%x, %w) {equation = "abcd,cde->abe"} : (tensor<?x?x2x4xf32>, tensor<2x4x8xf32>) -> tensor<?x?x8xf32>
  %1 = "tf.BiasAdd"(%0, %b) {data_format = "NHWC"} : (tensor<?x?x8xf32>, tensor<8xf32>) -> tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// Written as a reshape and a product, of heads that were transposed: they need not be.
// CHECK-LABEL: func.func @merge_transposed
// CHECK-NOT: tf.Shape
// CHECK-NOT: (%arg0, %{{.*}}) : (tensor<?x2x?x4xf32>, tensor<4xi32>)
// CHECK: %[[C:.*]] = "tf.Conv2D"(%arg0, %{{.*}}) {{.*}} : (tensor<?x2x?x4xf32>, tensor<2x1x4x8xf32>) -> tensor<?x1x?x8xf32>
// CHECK: "tf.Sum"(%[[C]]
func.func @merge_transposed(%x: tensor<?x2x?x4xf32>) -> tensor<?x?x8xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<8x8xf32>} : () -> tensor<8x8xf32>
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %2 = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %eight = "tf.Const"() {value = dense<8> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %t = "tf.Transpose"(%x, %order) : (tensor<?x2x?x4xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %s = "tf.Shape"(%t) : (tensor<?x?x2x4xf32>) -> tensor<4xi32>
  %n = "tf.StridedSlice"(%s, %0, %2, %1) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %to = "tf.ConcatV2"(%n, %eight, %axis) : (tensor<2xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  %r = "tf.Reshape"(%t, %to) : (tensor<?x?x2x4xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
  %y = "tf.BatchMatMulV2"(%r, %w) {adj_x = false, adj_y = false} : (tensor<?x?x8xf32>, tensor<8x8xf32>) -> tensor<?x?x8xf32>
  return %y : tensor<?x?x8xf32>
}

// With one open size a constant shape does.
// CHECK-LABEL: func.func @merge_of_known_length
// CHECK-NOT: tf.Conv2D
// CHECK: "tf.BatchMatMulV2"
func.func @merge_of_known_length(%x: tensor<?x5x2x4xf32>) -> tensor<?x5x8xf32> {
  %w = "tf.Const"() {value = dense<2.0> : tensor<2x4x8xf32>} : () -> tensor<2x4x8xf32>
  %0 = "tf.Einsum"(%x, %w) {equation = "abcd,cde->abe"} : (tensor<?x5x2x4xf32>, tensor<2x4x8xf32>) -> tensor<?x5x8xf32>
  return %0 : tensor<?x5x8xf32>
}

// -----
// RUN: simplify
// Dimensions of size 1 come and go without a computed shape; what is packed to be merged is concatenated.
// CHECK-LABEL: func.func @ones
// CHECK-NOT: tf.Shape
// CHECK: %[[A:.*]] = "tf.ExpandDims"(%arg0, %{{.*}}) : (tensor<?x?x4xf32>, tensor<i32>) -> tensor<?x1x?x4xf32>
// CHECK: "tf.ExpandDims"(%[[A]], %{{.*}}) : (tensor<?x1x?x4xf32>, tensor<i32>) -> tensor<?x1x1x?x4xf32>
// CHECK: "tf.Sum"(%arg1, %{{.*}}) {{.*}} : (tensor<?x1x?x4xf32>, tensor<1xi32>) -> tensor<?x?x4xf32>
// CHECK: "tf.ConcatV2"(%arg0, %arg0, %{{.*}}) : (tensor<?x?x4xf32>, tensor<?x?x4xf32>, tensor<i32>) -> tensor<?x?x8xf32>
func.func @ones(%x: tensor<?x?x4xf32>, %y: tensor<?x1x?x4xf32>) -> (tensor<?x1x1x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>) {
  %0 = "tf.Const"() {value = dense<0> : tensor<4xi32>} : () -> tensor<4xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<4xi32>} : () -> tensor<4xi32>
  %2 = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %a = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %b = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %eight = "tf.Const"() {value = dense<8> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %u = "tf.StridedSlice"(%x, %0, %0, %1) {begin_mask = 9 : i64, end_mask = 9 : i64, ellipsis_mask = 8 : i64, new_axis_mask = 6 : i64, shrink_axis_mask = 0 : i64} : (tensor<?x?x4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>) -> tensor<?x1x1x?x4xf32>
  %v = "tf.Squeeze"(%y) {squeeze_dims = [1]} : (tensor<?x1x?x4xf32>) -> tensor<?x?x4xf32>
  %p = "tf.Pack"(%x, %x) {axis = 2 : i64} : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x2x4xf32>
  %s = "tf.Shape"(%x) : (tensor<?x?x4xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%s, %a, %2, %b) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %to = "tf.ConcatV2"(%n, %eight, %axis) : (tensor<2xi32>, tensor<1xi32>, tensor<i32>) -> tensor<3xi32>
  %w = "tf.Reshape"(%p, %to) : (tensor<?x?x2x4xf32>, tensor<3xi32>) -> tensor<?x?x8xf32>
  return %u, %v, %w : tensor<?x1x1x?x4xf32>, tensor<?x?x4xf32>, tensor<?x?x8xf32>
}

// Packed last, parts alternate: that is no concatenation.
// CHECK-LABEL: func.func @alternating
// CHECK: "tf.Pack"
// CHECK: "tf.Reshape"
func.func @alternating(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %to = "tf.Const"() {value = dense<[-1, 8]> : tensor<2xi32>} : () -> tensor<2xi32>
  %p = "tf.Pack"(%x, %y) {axis = 2 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4x2xf32>
  %w = "tf.Reshape"(%p, %to) : (tensor<?x4x2xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %w : tensor<?x8xf32>
}

// -----
// RUN: simplify
// A loop: what the body keeps stays known, what it changes does not; constants that go along are constants inside.
// CHECK-LABEL: func.func @main
// CHECK: "tf.While"{{.*}} -> (tensor<i32>, tensor<3x4xf32>, tensor<?x2xf32>, tensor<2xi32>)
// CHECK-LABEL: func.func private @body(
// CHECK-SAME: tensor<3x4xf32>, %{{.*}}: tensor<?x2xf32>
// CHECK: %[[C:.*]] = "tf.Const"() <{value = dense<[4, 3]>
// CHECK: "tf.Reshape"(%{{.*}}, %[[C]]) : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<4x3xf32>
// CHECK: "tf.ConcatV2"{{.*}} -> tensor<?x2xf32>
func.func @main(%x: tensor<3x4xf32>, %y: tensor<1x2xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %to = "tf.Const"() {value = dense<[4, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0:4 = "tf.While"(%zero, %x, %y, %to) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<3x4xf32>, tensor<1x2xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<*xf32>, tensor<*xf32>, tensor<2xi32>)
  return %0#1, %0#2 : tensor<*xf32>, tensor<*xf32>
}
func.func private @cond(%i: tensor<i32>, %x: tensor<*xf32>, %y: tensor<*xf32>, %to: tensor<2xi32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %x: tensor<*xf32>, %y: tensor<*xf32>, %to: tensor<2xi32>) -> (tensor<i32>, tensor<*xf32>, tensor<*xf32>, tensor<2xi32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %order = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %j = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %0 = "tf.Reshape"(%x, %to) : (tensor<*xf32>, tensor<2xi32>) -> tensor<*xf32>
  %1 = "tf.Transpose"(%0, %order) : (tensor<*xf32>, tensor<2xi32>) -> tensor<*xf32>
  %2 = "tf.ConcatV2"(%y, %y, %axis) : (tensor<*xf32>, tensor<*xf32>, tensor<i32>) -> tensor<*xf32>
  return %j, %1, %2, %to : tensor<i32>, tensor<*xf32>, tensor<*xf32>, tensor<2xi32>
}

// -----
// RUN: simplify
// Branches: what both agree on. A branch that is known not to be taken has no say.
// CHECK-LABEL: func.func @main
// CHECK: "tf.If"(%arg0{{.*}} -> tensor<?x4xf32>
// CHECK: "tf.If"(%{{.*}} -> tensor<3x4xf32>
// CHECK: return %{{.*}}, %{{.*}} : tensor<?x4xf32>, tensor<3x4xf32>
func.func @main(%c: tensor<i1>, %x: tensor<3x4xf32>) -> (tensor<*xf32>, tensor<*xf32>) {
  %rank = "tf.Rank"(%x) : (tensor<3x4xf32>) -> tensor<i32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %is = "tf.Equal"(%rank, %two) {incompatible_shape_error = true} : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = "tf.If"(%c, %x) {then_branch = @same, else_branch = @twice, is_stateless = true} : (tensor<i1>, tensor<3x4xf32>) -> tensor<*xf32>
  %1 = "tf.If"(%is, %x) {then_branch = @same, else_branch = @twice, is_stateless = true} : (tensor<i1>, tensor<3x4xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xf32>, tensor<*xf32>
}
func.func private @same(%x: tensor<*xf32>) -> tensor<*xf32> {
  %0 = "tf.Relu"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func private @twice(%x: tensor<*xf32>) -> tensor<*xf32> {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.ConcatV2"(%x, %x, %axis) : (tensor<*xf32>, tensor<*xf32>, tensor<i32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----
// RUN: simplify
// ERROR: function main, node product: the op MatMul cannot be computed
// ERROR: matrices of shapes [2,3] and [4,5] cannot be multiplied
func.func @main(%x: tensor<2x3xf32>, %y: tensor<4x5xf32>) -> tensor<*xf32> {
  %0 = "tf.MatMul"(%x, %y) {transpose_a = false, transpose_b = false} : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<*xf32> loc("product")
  return %0 : tensor<*xf32>
}

// -----
// RUN: simplify
// ERROR: the shapes [2,4] and [2,5] contradict each other
func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x5xf32> {
  %0 = "tf.MatMul"(%x, %y) {transpose_a = false, transpose_b = false} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----
// RUN: simplify
// A reshape that is to fail for another size keeps its shape.
// CHECK-LABEL: func.func @guard
// CHECK: "tf.Reshape"(%arg0, %arg1)
func.func @guard(%x: tensor<?x4xf32>, %shape: tensor<2xi32>) -> tensor<?x4xf32> {
  %0 = "tf.Reshape"(%x, %shape) {asserts_sizes = true} : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----
// RUN: simplify
// A number that every turn of a loop gets is followed where ranges are made of it; the argument stays one.
// CHECK-LABEL: func.func private @body(%arg0: tensor<i32>, %arg1: tensor<3xf32>, %arg2: tensor<f32>)
// CHECK: "tf.Mul"(%arg1, %arg2)
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %i = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %r:3 = "tf.While"(%i, %x, %two) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<3xf32>, tensor<f32>) -> (tensor<i32>, tensor<3xf32>, tensor<f32>)
  return %r#1 : tensor<3xf32>
}
func.func private @cond(%i: tensor<i32>, %x: tensor<3xf32>, %two: tensor<f32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %p = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %p : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %x: tensor<3xf32>, %two: tensor<f32>) -> (tensor<i32>, tensor<3xf32>, tensor<f32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %j = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %y = "tf.Mul"(%x, %two) : (tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
  return %j, %y, %two : tensor<i32>, tensor<3xf32>, tensor<f32>
}

// -----
// RUN: simplify
// Casts of one value to several dtypes are not the same, even if only their results say to which.
// CHECK-LABEL: func.func @casts
// CHECK: -> tensor<2xf16>
// CHECK: -> tensor<2xbf16>
func.func @casts(%x: tensor<2xf32>) -> (tensor<2xf16>, tensor<2xbf16>, tensor<2xf16>) {
  %0 = "tf.Cast"(%x) {Truncate = false} : (tensor<2xf32>) -> tensor<2xf16>
  %1 = "tf.Cast"(%x) {Truncate = false} : (tensor<2xf32>) -> tensor<2xbf16>
  %2 = "tf.Cast"(%x) {Truncate = false} : (tensor<2xf32>) -> tensor<2xf16>
  return %0, %1, %2 : tensor<2xf16>, tensor<2xbf16>, tensor<2xf16>
}
// -----
// RUN: simplify
// The engine refuses a sign whose operand's shape says less than its own.
// CHECK-LABEL: func.func @main(
// CHECK: %[[SHAPED:.*]] = "tf.Reshape"(%arg0, %{{.*}}) : (tensor<3x?xf32>, tensor<2xi32>) -> tensor<3x1xf32>
// CHECK: "tf.Sign"(%[[SHAPED]]) : (tensor<3x1xf32>) -> tensor<3x1xf32>
func.func @main(%x: tensor<3x?xf32>) -> tensor<3x1xf32> {
  %y = "tf.Sign"(%x) : (tensor<3x?xf32>) -> tensor<3x1xf32>
  return %y : tensor<3x1xf32>
}

// What is transposed, reshaped and transposed back is reshaped.
// CHECK-LABEL: func.func @turned_back
// CHECK-NOT: tf.Transpose
// CHECK: "tf.Reshape"(%arg0, {{.*}}) : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x10x4xf32>
// CHECK-NOT: tf.Transpose
// CHECK: return
func.func @turned_back(%x: tensor<?x4xf32>) -> tensor<?x10x4xf32> {
  %swap = "tf.Const"() {value = dense<[-1, -2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Transpose"(%x, %swap) : (tensor<?x4xf32>, tensor<2xi32>) -> tensor<4x?xf32>
  %shape = "tf.Const"() {value = dense<[4, -1, 10]> : tensor<3xi32>} : () -> tensor<3xi32>
  %1 = "tf.Reshape"(%0, %shape) : (tensor<4x?xf32>, tensor<3xi32>) -> tensor<4x?x10xf32>
  %back = "tf.Const"() {value = dense<[1, 2, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %2 = "tf.Transpose"(%1, %back) : (tensor<4x?x10xf32>, tensor<3xi32>) -> tensor<?x10x4xf32>
  return %2 : tensor<?x10x4xf32>
}
// Where the order changes, one transposition is left, after the reshape.
// CHECK-LABEL: func.func @turned_otherwise
// CHECK: %[[RESHAPED:.*]] = "tf.Reshape"(%arg0, {{.*}}) : (tensor<?x6xf32>, tensor<4xi32>) -> tensor<?x10x2x3xf32>
// CHECK: %[[ORDER:.*]] = "tf.Const"() <{value = dense<[0, 1, 3, 2]>
// CHECK: "tf.Transpose"(%[[RESHAPED]], %[[ORDER]])
// CHECK-NOT: tf.Transpose
// CHECK: return
func.func @turned_otherwise(%x: tensor<?x6xf32>) -> tensor<?x10x3x2xf32> {
  %swap = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Transpose"(%x, %swap) : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<6x?xf32>
  %shape = "tf.Const"() {value = dense<[2, 3, -1, 10]> : tensor<4xi32>} : () -> tensor<4xi32>
  %1 = "tf.Reshape"(%0, %shape) : (tensor<6x?xf32>, tensor<4xi32>) -> tensor<2x3x?x10xf32>
  %back = "tf.Const"() {value = dense<[2, 3, 1, 0]> : tensor<4xi32>} : () -> tensor<4xi32>
  %2 = "tf.Transpose"(%1, %back) : (tensor<2x3x?x10xf32>, tensor<4xi32>) -> tensor<?x10x3x2xf32>
  return %2 : tensor<?x10x3x2xf32>
}
// A reshape that takes elements of both dimensions together stays between.
// CHECK-LABEL: func.func @mixed
// CHECK: tf.Transpose
// CHECK: tf.Reshape
// CHECK: tf.Transpose
func.func @mixed(%x: tensor<?x6xf32>) -> tensor<?x4x2xf32> {
  %swap = "tf.Const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Transpose"(%x, %swap) : (tensor<?x6xf32>, tensor<2xi32>) -> tensor<6x?xf32>
  %shape = "tf.Const"() {value = dense<[4, -1, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %1 = "tf.Reshape"(%0, %shape) : (tensor<6x?xf32>, tensor<3xi32>) -> tensor<4x?x2xf32>
  %back = "tf.Const"() {value = dense<[1, 0, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %2 = "tf.Transpose"(%1, %back) : (tensor<4x?x2xf32>, tensor<3xi32>) -> tensor<?x4x2xf32>
  return %2 : tensor<?x4x2xf32>
}
// Dimensions that are dropped are counted from the front.
// CHECK-LABEL: func.func @squeezed
// CHECK: "tf.Squeeze"(%arg0) <{squeeze_dims = [2]}> : (tensor<?x6x1xf32>) -> tensor<?x6xf32>
func.func @squeezed(%x: tensor<?x6x1xf32>) -> tensor<?x6xf32> {
  %0 = "tf.Squeeze"(%x) {squeeze_dims = [-1]} : (tensor<?x6x1xf32>) -> tensor<?x6xf32>
  return %0 : tensor<?x6xf32>
}
// Sizes are followed through the ops that composites became.
// CHECK-LABEL: func.func @fused
// CHECK: "tfl.conv_2d"{{.*}} -> tensor<?x4x2x5xf32>
// CHECK: "tfl.mean"{{.*}} -> tensor<?x5xf32>
func.func @fused(%x: tensor<?x9x9x3xf32>, %filters: tensor<5x2x2x3xf32>, %bias: tensor<5xf32>) -> tensor<?x?xf32> {
  %0 = "tfl.conv_2d"(%x, %filters, %bias) {dilation_h_factor = 1 : i32, dilation_w_factor = 3 : i32, fused_activation_function = "NONE", padding = "VALID", stride_h = 2 : i32, stride_w = 3 : i32} : (tensor<?x9x9x3xf32>, tensor<5x2x2x3xf32>, tensor<5xf32>) -> tensor<?x?x?x?xf32>
  %axes = "tfl.pseudo_const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %1 = "tfl.mean"(%0, %axes) {keep_dims = false} : (tensor<?x?x?x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// -----
// RUN: simplify
// Random numbers of a seed that is given are the same twice; others are not, nor is what is printed.
// CHECK-LABEL: func.func @twice
// CHECK: %[[S:.*]] = "tf.StatelessRandomUniform"
// CHECK-NOT: "tf.StatelessRandomUniform"
// CHECK: %[[A:.*]] = "tf.RandomUniform"
// CHECK: %[[B:.*]] = "tf.RandomUniform"
// CHECK: %[[P:.*]] = "tf.Print"
// CHECK: %[[Q:.*]] = "tf.Print"
// CHECK: %[[L:.*]] = "tfl.logistic"
// CHECK-NOT: "tfl.logistic"
// CHECK: return %[[S]], %[[S]], %[[A]], %[[B]], %[[P]], %[[Q]], %[[L]], %[[L]]
func.func @twice(%seed: tensor<2xi32>, %x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %shape = "tf.Const"() {value = dense<3> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StatelessRandomUniform"(%shape, %seed) : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xf32>
  %1 = "tf.StatelessRandomUniform"(%shape, %seed) : (tensor<1xi32>, tensor<2xi32>) -> tensor<3xf32>
  %2 = "tf.RandomUniform"(%shape) {seed = 0 : i64, seed2 = 0 : i64} : (tensor<1xi32>) -> tensor<3xf32>
  %3 = "tf.RandomUniform"(%shape) {seed = 0 : i64, seed2 = 0 : i64} : (tensor<1xi32>) -> tensor<3xf32>
  %4 = "tf.Print"(%x) {message = "", first_n = -1 : i64, summarize = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %5 = "tf.Print"(%x) {message = "", first_n = -1 : i64, summarize = 3 : i64} : (tensor<3xf32>) -> tensor<3xf32>
  %6 = "tfl.logistic"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  %7 = "tfl.logistic"(%x) : (tensor<3xf32>) -> tensor<3xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----
// RUN: simplify
// A batch that is merged with the heads for products, and split behind them, need not be: with what is between. What an
// assertion looks at is not computed for it.
// CHECK-LABEL: func.func @merged_batches
// CHECK: %[[K:.*]] = "tf.Exp"(%arg0)
// CHECK: %[[V:.*]] = "tf.Neg"(%arg0)
// CHECK-NOT: tf.Reshape
// CHECK: %[[S:.*]] = "tf.BatchMatMulV2"(%arg0, %[[K]]) <{adj_x = false, adj_y = true{{.*}} -> tensor<?x2x?x?xf32>
// CHECK: %[[P:.*]] = "tf.Softmax"(%[[S]]) : (tensor<?x2x?x?xf32>) -> tensor<?x2x?x?xf32>
// CHECK: %[[Y:.*]] = "tf.BatchMatMulV2"(%[[P]], %[[V]]) {{.*}} -> tensor<?x2x?x4xf32>
// CHECK-NOT: tf.Assert
// CHECK: return %[[Y]]
func.func @merged_batches(%q: tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32> {
  %k = "tf.Exp"(%q) : (tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %v = "tf.Neg"(%q) : (tensor<?x2x?x4xf32>) -> tensor<?x2x?x4xf32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %four = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %free = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %true = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %s = "tf.Shape"(%q) : (tensor<?x2x?x4xf32>) -> tensor<4xi32>
  %n = "tf.StridedSlice"(%s, %zero, %one, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<4xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %all = "tf.Mul"(%n, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %merged = "tf.Pack"(%all, %free, %four) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %split = "tf.Pack"(%n, %two, %free, %four) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
  %a = "tf.Reshape"(%q, %merged) : (tensor<?x2x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  %b = "tf.Reshape"(%k, %merged) : (tensor<?x2x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  %c = "tf.Reshape"(%v, %merged) : (tensor<?x2x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  "tf.Assert"(%true, %a) {summarize = 3 : i64} : (tensor<i1>, tensor<?x?x4xf32>) -> ()
  %0 = "tf.BatchMatMulV2"(%a, %b) {adj_x = false, adj_y = true, grad_x = false, grad_y = false} : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x?xf32>
  %1 = "tf.Softmax"(%0) : (tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %2 = "tf.BatchMatMulV2"(%1, %c) {adj_x = false, adj_y = false, grad_x = false, grad_y = false} : (tensor<?x?x?xf32>, tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  %3 = "tf.Reshape"(%2, %split) : (tensor<?x?x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  return %3 : tensor<?x2x?x4xf32>
}

// Tensors of other batches are merged as the model says: these may be anything.
// CHECK-LABEL: func.func @other_batches
// CHECK: tf.Reshape
// CHECK: tf.Reshape
// CHECK: "tf.BatchMatMulV2"{{.*}} -> tensor<?x?x?xf32>
func.func @other_batches(%q: tensor<?x2x?x4xf32>, %k: tensor<?x2x?x4xf32>, %size: tensor<i32>) -> tensor<?x2x?x?xf32> {
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %four = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %free = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %all = "tf.Mul"(%size, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %merged = "tf.Pack"(%all, %free, %four) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %a = "tf.Reshape"(%q, %merged) : (tensor<?x2x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  %b = "tf.Reshape"(%k, %merged) : (tensor<?x2x?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  %0 = "tf.BatchMatMulV2"(%a, %b) {adj_x = false, adj_y = true, grad_x = false, grad_y = false} : (tensor<?x?x4xf32>, tensor<?x?x4xf32>) -> tensor<?x?x?xf32>
  %s = "tf.Shape"(%0) : (tensor<?x?x?xf32>) -> tensor<3xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %three = "tf.Const"() {value = dense<3> : tensor<1xi32>} : () -> tensor<1xi32>
  %rows = "tf.StridedSlice"(%s, %one, %three, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %heads = "tf.Pack"(%size, %two) {axis = 0 : i64} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %split = "tf.ConcatV2"(%heads, %rows, %axis) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %1 = "tf.Reshape"(%0, %split) : (tensor<?x?x?xf32>, tensor<4xi32>) -> tensor<?x2x?x?xf32>
  return %1 : tensor<?x2x?x?xf32>
}

// -----
// RUN: simplify simplify
// One product for queries and keys: each has its own columns.
// CHECK-LABEL: func.func @columns
// CHECK-NOT: tf.Split
// CHECK: "tf.Slice"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<8x16xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x8xf32>
// CHECK: "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} -> tensor<2x?x?x4xf32>
// CHECK: "tf.Slice"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<8x16xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<8x8xf32>
// CHECK: "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} -> tensor<2x?x?x4xf32>
// CHECK-NOT: tf.Split
// CHECK: return
func.func @columns(%x: tensor<?x?x8xf32>) -> (tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>) {
  %w = "tf.Const"() {value = dense<2.0> : tensor<8x16xf32>} : () -> tensor<8x16xf32>
  %bias = "tf.Const"() {value = dense<3.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %last = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %order = "tf.Const"() {value = dense<[0, 2, 1, 3]> : tensor<4xi32>} : () -> tensor<4xi32>
  %tail = "tf.Const"() {value = dense<[2, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %begin = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %s = "tf.Shape"(%x) : (tensor<?x?x8xf32>) -> tensor<3xi32>
  %rows = "tf.StridedSlice"(%s, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %to = "tf.ConcatV2"(%rows, %tail, %axis) : (tensor<2xi32>, tensor<2xi32>, tensor<i32>) -> tensor<4xi32>
  %0 = "tf.BatchMatMulV2"(%x, %w) {adj_x = false, adj_y = false, grad_x = false, grad_y = false} : (tensor<?x?x8xf32>, tensor<8x16xf32>) -> tensor<?x?x16xf32>
  %1 = "tf.BiasAdd"(%0, %bias) {data_format = "NHWC"} : (tensor<?x?x16xf32>, tensor<16xf32>) -> tensor<?x?x16xf32>
  %2:2 = "tf.Split"(%last, %1) : (tensor<i32>, tensor<?x?x16xf32>) -> (tensor<?x?x8xf32>, tensor<?x?x8xf32>)
  %q = "tf.Reshape"(%2#0, %to) : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %k = "tf.Reshape"(%2#1, %to) : (tensor<?x?x8xf32>, tensor<4xi32>) -> tensor<?x?x2x4xf32>
  %3 = "tf.Transpose"(%q, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  %4 = "tf.Transpose"(%k, %order) : (tensor<?x?x2x4xf32>, tensor<4xi32>) -> tensor<?x2x?x4xf32>
  return %3, %4 : tensor<?x2x?x4xf32>, tensor<?x2x?x4xf32>
}

// -----
// RUN: simplify
// In a branch, the condition is known, and so is what both branches make of it.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[NO:.*]] = "tf.Const"() <{value = dense<false> : tensor<i1>}>
// CHECK: return %[[NO]]
func.func @main(%c: tensor<i1>, %x: tensor<?xf32>) -> tensor<i1> {
  %0:2 = "tf.If"(%c, %x, %c) {else_branch = @else, is_stateless = true, then_branch = @then} : (tensor<i1>, tensor<?xf32>, tensor<i1>) -> (tensor<i1>, tensor<?xf32>)
  return %0#0 : tensor<i1>
}
func.func private @then(%x: tensor<?xf32>, %c: tensor<i1>) -> (tensor<i1>, tensor<?xf32>) {
  %0 = "tf.LogicalNot"(%c) : (tensor<i1>) -> tensor<i1>
  return %0, %x : tensor<i1>, tensor<?xf32>
}
func.func private @else(%x: tensor<?xf32>, %c: tensor<i1>) -> (tensor<i1>, tensor<?xf32>) {
  return %c, %x : tensor<i1>, tensor<?xf32>
}

// -----

// RUN: simplify
// A bound of a reciprocal root is one of what the root is taken of, where that is never negative.
// CHECK-LABEL: func.func @main
// CHECK: %[[SUM:.*]] = "tf.Sum"
// CHECK: %[[BOUNDED:.*]] = "tf.Maximum"(%[[SUM]], %{{.*}}) : (tensor<?x1xf32>, tensor<f32>)
// CHECK: %[[ROOT:.*]] = "tf.Rsqrt"(%[[BOUNDED]])
// CHECK-NOT: "tf.Minimum"
// CHECK: %[[OPEN:.*]] = "tf.Rsqrt"(%arg1)
// CHECK: %[[KEPT:.*]] = "tf.Minimum"(%[[OPEN]]
// CHECK: return %[[ROOT]], %[[KEPT]]
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x1xf32>) -> (tensor<?x1xf32>, tensor<?x1xf32>) {
  %last = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %bound = "tf.Const"() {value = dense<1.0e+12> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Square"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "tf.Sum"(%0, %last) {keep_dims = true} : (tensor<?x3xf32>, tensor<i32>) -> tensor<?x1xf32>
  %2 = "tf.Rsqrt"(%1) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %3 = "tf.Minimum"(%2, %bound) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %4 = "tf.Rsqrt"(%y) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %5 = "tf.Minimum"(%4, %bound) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  return %3, %5 : tensor<?x1xf32>, tensor<?x1xf32>
}
// -----
// RUN: simplify
// A sum along a dimension of size 1 is the operand, where the dimension is kept; along a dynamic one it is none.
// CHECK-LABEL: func.func @one_summand
// CHECK-NOT: "tf.Max"
// CHECK: %[[SUM:.*]] = "tf.Sum"(%arg0, %{{.*}}) {{.*}} -> tensor<1x1x3xf32>
// CHECK: return %arg0, %[[SUM]], %arg0 : tensor<?x1x3xf32>, tensor<1x1x3xf32>, tensor<?x1x3xf32>
func.func @one_summand(%x: tensor<?x1x3xf32>) -> (tensor<?x1x3xf32>, tensor<1x1x3xf32>, tensor<?x1x3xf32>) {
  %one = "tf.Const"() {value = dense<-2> : tensor<i32>} : () -> tensor<i32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Sum"(%x, %one) {keep_dims = true} : (tensor<?x1x3xf32>, tensor<i32>) -> tensor<?x1x3xf32>
  %1 = "tf.Sum"(%x, %zero) {keep_dims = true} : (tensor<?x1x3xf32>, tensor<i32>) -> tensor<1x1x3xf32>
  %2 = "tf.Max"(%x, %one) {keep_dims = true} : (tensor<?x1x3xf32>, tensor<i32>) -> tensor<?x1x3xf32>
  return %0, %1, %2 : tensor<?x1x3xf32>, tensor<1x1x3xf32>, tensor<?x1x3xf32>
}
// -----
// RUN: simplify
// A reshape that only moves dimensions of size 1 is part of the transposition before it; one that merges is not.
// CHECK-LABEL: func.func @moved_ones
// CHECK: %[[ORDER:.*]] = "tf.Const"() <{value = dense<[3, 1, 2, 0]> : tensor<4xi32>}>
// CHECK: %[[MOVED:.*]] = "tf.Transpose"(%arg0, %[[ORDER]]) {{.*}} -> tensor<3x?x32x1xf32>
// CHECK: %[[MERGED:.*]] = "tf.Reshape"
// CHECK: return %[[MOVED]], %[[MERGED]]
func.func @moved_ones(%x: tensor<1x?x32x3xf32>, %y: tensor<2x4x1xf32>) -> (tensor<3x?x32x1xf32>, tensor<2x4x1xf32>) {
  %order = "tf.Const"() {value = dense<[0, 3, 1, 2]> : tensor<4xi32>} : () -> tensor<4xi32>
  %sizes = "tf.Const"() {value = dense<[3, -1, 32, 1]> : tensor<4xi32>} : () -> tensor<4xi32>
  %0 = "tf.Transpose"(%x, %order) : (tensor<1x?x32x3xf32>, tensor<4xi32>) -> tensor<1x3x?x32xf32>
  %1 = "tf.Reshape"(%0, %sizes) : (tensor<1x3x?x32xf32>, tensor<4xi32>) -> tensor<3x?x32x1xf32>
  %turned = "tf.Const"() {value = dense<[1, 2, 0]> : tensor<3xi32>} : () -> tensor<3xi32>
  %back = "tf.Const"() {value = dense<[2, 4, 1]> : tensor<3xi32>} : () -> tensor<3xi32>
  %2 = "tf.Transpose"(%y, %turned) : (tensor<2x4x1xf32>, tensor<3xi32>) -> tensor<4x1x2xf32>
  %3 = "tf.Reshape"(%2, %back) : (tensor<4x1x2xf32>, tensor<3xi32>) -> tensor<2x4x1xf32>
  return %1, %3 : tensor<3x?x32x1xf32>, tensor<2x4x1xf32>
}

// -----
// RUN: simplify
// Constants of a slice end where the dimension does, whichever of them there are; those within are left alone, where several share them.
// CHECK-LABEL: func.func @end_behind_the_last
// CHECK-DAG: %[[STEP:.*]] = "tf.Const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK-DAG: %[[END:.*]] = "tf.Const"() <{value = dense<37> : tensor<1xi32>}>
// CHECK: "tf.StridedSlice"(%arg0, %arg1, %[[END]], %[[STEP]])
func.func @end_behind_the_last(%x: tensor<37xf32>, %begin: tensor<1xi32>) -> tensor<?xf32> {
  %end = "tf.Const"() {value = dense<100> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<37xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func.func @begin_before_the_first
// CHECK-DAG: %[[BEGIN:.*]] = "tf.Const"() <{value = dense<-38> : tensor<1xi32>}>
// CHECK-DAG: %[[STEP:.*]] = "tf.Const"() <{value = dense<38> : tensor<1xi32>}>
// CHECK: "tf.StridedSlice"(%arg0, %[[BEGIN]], %arg1, %[[STEP]])
func.func @begin_before_the_first(%x: tensor<37xf32>, %end: tensor<1xi32>) -> tensor<?xf32> {
  %begin = "tf.Const"() {value = dense<-100> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<100> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<37xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func.func @within
// CHECK-COUNT-3: "tf.Const"
// CHECK-NOT: "tf.Const"
// CHECK: "tf.StridedSlice"(%arg0, %[[BEGIN:[a-z0-9_]+]], %[[END:[a-z0-9_]+]], %[[STEP:[a-z0-9_]+]])
// CHECK-NOT: "tf.Const"
// CHECK: "tf.StridedSlice"(%arg1, %[[BEGIN]], %[[END]], %[[STEP]])
func.func @within(%x: tensor<37xf32>, %y: tensor<40xf32>) -> (tensor<15xf32>, tensor<15xf32>) {
  %begin = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<30> : tensor<1xi32>} : () -> tensor<1xi32>
  %step = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<37xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<15xf32>
  %1 = "tf.StridedSlice"(%y, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<40xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<15xf32>
  return %0, %1 : tensor<15xf32>, tensor<15xf32>
}
// Of int64, all become int32, or none does.
// CHECK-LABEL: func.func @within_of_int64
// CHECK: "tf.StridedSlice"({{.*}}) {{.*}} : (tensor<37xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<15xf32>
func.func @within_of_int64(%x: tensor<37xf32>) -> tensor<15xf32> {
  %begin = "tf.Const"() {value = dense<1> : tensor<1xi64>} : () -> tensor<1xi64>
  %end = "tf.Const"() {value = dense<30> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = "tf.Const"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<37xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<15xf32>
  return %0 : tensor<15xf32>
}
// CHECK-LABEL: func.func @computed_of_int64
// CHECK-DAG: %[[STEP:.*]] = "tf.Const"() <{value = dense<2> : tensor<1xi64>}>
// CHECK-DAG: %[[END:.*]] = "tf.Const"() <{value = dense<37> : tensor<1xi64>}>
// CHECK: "tf.StridedSlice"(%arg0, %arg1, %[[END]], %[[STEP]])
func.func @computed_of_int64(%x: tensor<37xf32>, %begin: tensor<1xi64>) -> tensor<?xf32> {
  %end = "tf.Const"() {value = dense<9223372036854775807> : tensor<1xi64>} : () -> tensor<1xi64>
  %step = "tf.Const"() {value = dense<2> : tensor<1xi64>} : () -> tensor<1xi64>
  %0 = "tf.StridedSlice"(%x, %begin, %end, %step) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<37xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----
// RUN: simplify
// A slice of everything is what it is taken of, unless it turns it around.
// CHECK-LABEL: func.func @everything
// CHECK-NOT: Slice"
// CHECK: return %arg0, %arg0
func.func @everything(%x: tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4x5xf32>) {
  %begin = "tf.Const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %size = "tf.Const"() {value = dense<[4, -1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %end = "tf.Const"() {value = dense<[4, 9]> : tensor<2xi32>} : () -> tensor<2xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.Slice"(%x, %begin, %size) : (tensor<4x5xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x5xf32>
  %1 = "tf.StridedSlice"(%x, %begin, %end, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<4x5xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x5xf32>
  return %0, %1 : tensor<4x5xf32>, tensor<4x5xf32>
}
// CHECK-LABEL: func.func @everything_backwards
// CHECK: %[[SLICE:.*]] = "tf.StridedSlice"(%arg0,
// CHECK: return %[[SLICE]]
func.func @everything_backwards(%x: tensor<4xf32>) -> tensor<4xf32> {
  %last = "tf.Const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<-5> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.StridedSlice"(%x, %last, %end, %last) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// RUN: simplify
// A bias in the middle of a flattened product is one of the product, unless it has more rows than the product.
// CHECK-LABEL: func.func @bias_of_rows
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}}) {{.*}} : (tensor<?x9x4xf32>, tensor<4x6xf32>) -> tensor<?x9x6xf32>
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[P]], %{{.*}}) : (tensor<?x9x6xf32>, tensor<6xf32>) -> tensor<?x9x6xf32>
// CHECK: return %[[S]]
func.func @bias_of_rows(%x: tensor<?x9x4xf32>) -> tensor<?x9x6xf32> {
  %w = "tf.Const"() {value = dense<1.0> : tensor<4x6xf32>} : () -> tensor<4x6xf32>
  %b = "tf.Const"() {value = dense<1.0> : tensor<6xf32>} : () -> tensor<6xf32>
  %flat = "tf.Const"() {value = dense<[-1, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %whole = "tf.Const"() {value = dense<[-1, 9, 6]> : tensor<3xi32>} : () -> tensor<3xi32>
  %0 = "tf.Reshape"(%x, %flat) : (tensor<?x9x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %1 = "tf.MatMul"(%0, %w) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x6xf32>) -> tensor<?x6xf32>
  %2 = "tf.AddV2"(%1, %b) : (tensor<?x6xf32>, tensor<6xf32>) -> tensor<?x6xf32>
  %3 = "tf.Reshape"(%2, %whole) : (tensor<?x6xf32>, tensor<3xi32>) -> tensor<?x9x6xf32>
  return %3 : tensor<?x9x6xf32>
}

// -----
// RUN: simplify
// A convolution with the identity matrix takes windows: one with another matrix does not.
// CHECK-LABEL: func.func @identity_filter
// CHECK: "tf.ExtractImagePatches"(%arg0) {{.*}}ksizes = [1, 2, 2, 1]
// CHECK-NOT: tf.Conv2D
func.func @identity_filter(%x: tensor<1x4x4x2xf32>) -> tensor<1x3x3x8xf32> {
  %ones = "tf.Const"() {value = dense<1.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %sizes = "tf.Const"() {value = dense<[2, 2, 2, 8]> : tensor<4xi32>} : () -> tensor<4xi32>
  %m = "tf.MatrixDiag"(%ones) : (tensor<8xf32>) -> tensor<8x8xf32>
  %w = "tf.Reshape"(%m, %sizes) : (tensor<8x8xf32>, tensor<4xi32>) -> tensor<2x2x2x8xf32>
  %0 = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC", dilations = [1, 1, 1, 1]} : (tensor<1x4x4x2xf32>, tensor<2x2x2x8xf32>) -> tensor<1x3x3x8xf32>
  return %0 : tensor<1x3x3x8xf32>
}
// CHECK-LABEL: func.func @filter_of_numbers
// CHECK-NOT: tf.ExtractImagePatches
// CHECK: tf.Conv2D
func.func @filter_of_numbers(%x: tensor<1x4x4x2xf32>, %m: tensor<8x8xf32>) -> tensor<1x3x3x8xf32> {
  %sizes = "tf.Const"() {value = dense<[2, 2, 2, 8]> : tensor<4xi32>} : () -> tensor<4xi32>
  %w = "tf.Reshape"(%m, %sizes) : (tensor<8x8xf32>, tensor<4xi32>) -> tensor<2x2x2x8xf32>
  %0 = "tf.Conv2D"(%x, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC", dilations = [1, 1, 1, 1]} : (tensor<1x4x4x2xf32>, tensor<2x2x2x8xf32>) -> tensor<1x3x3x8xf32>
  return %0 : tensor<1x3x3x8xf32>
}

// -----

// RUN: simplify
// What a branch on a known condition gives has the shape of the branch that is taken.
// CHECK-LABEL: func.func @main
// CHECK: "tf.If"({{.*}}then_branch = @twice{{.*}} -> tensor<8xf32>
// CHECK: "tf.If"({{.*}}then_branch = @twice{{.*}} -> tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %p = "tf.Const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
  %q = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  %0 = "tf.If"(%p, %x) {then_branch = @twice, else_branch = @once, is_stateless = true} : (tensor<i1>, tensor<4xf32>) -> tensor<?xf32>
  %1 = "tf.If"(%q, %x) {then_branch = @twice, else_branch = @once, is_stateless = true} : (tensor<i1>, tensor<4xf32>) -> tensor<?xf32>
  %2 = "tf.Neg"(%0) : (tensor<?xf32>) -> tensor<?xf32>
  %3 = "tf.Neg"(%1) : (tensor<?xf32>) -> tensor<?xf32>
  return %2, %3 : tensor<?xf32>, tensor<?xf32>
}
func.func private @twice(%x: tensor<4xf32>) -> tensor<?xf32> {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.ConcatV2"(%x, %x, %axis) : (tensor<4xf32>, tensor<4xf32>, tensor<i32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func private @once(%x: tensor<4xf32>) -> tensor<?xf32> {
  %0 = "tf.Neg"(%x) : (tensor<4xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// RUN: simplify
// A cache is updated as it is stored.
// CHECK-LABEL: func.func @main
// CHECK: %[[PART:.*]] = "tf.Reshape"(%arg1, {{.*}}) {{.*}} -> tensor<1x1x3x8xf32>
// CHECK: %[[CACHE:.*]] = "tf.XlaDynamicUpdateSlice"(%arg0, %[[PART]], {{.*}}) {{.*}} -> tensor<1x1x9x8xf32>
// CHECK: %[[ROWS:.*]] = "tf.Reshape"(%[[CACHE]]
// CHECK: "tf.Neg"(%[[ROWS]])
// CHECK: return %[[CACHE]]
func.func @main(%x: tensor<1x1x9x8xf32>, %v: tensor<1x3x2x4xf32>, %i: tensor<i32>) -> (tensor<1x1x9x8xf32>, tensor<1x9x2x4xf32>) {
  %heads = "tf.Const"() {value = dense<[1, 9, 2, 4]> : tensor<4xi32>} : () -> tensor<4xi32>
  %stored = "tf.Const"() {value = dense<[1, 1, 9, 8]> : tensor<4xi32>} : () -> tensor<4xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %start = "tf.Pack"(%zero, %i, %zero, %zero) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4xi32>
  %0 = "tf.Reshape"(%x, %heads) : (tensor<1x1x9x8xf32>, tensor<4xi32>) -> tensor<1x9x2x4xf32>
  %1 = "tf.XlaDynamicUpdateSlice"(%0, %v, %start) : (tensor<1x9x2x4xf32>, tensor<1x3x2x4xf32>, tensor<4xi32>) -> tensor<1x9x2x4xf32>
  %2 = "tf.Neg"(%1) : (tensor<1x9x2x4xf32>) -> tensor<1x9x2x4xf32>
  %3 = "tf.Reshape"(%1, %stored) : (tensor<1x9x2x4xf32>, tensor<4xi32>) -> tensor<1x1x9x8xf32>
  return %3, %2 : tensor<1x1x9x8xf32>, tensor<1x9x2x4xf32>
}

// Ids of int32 need not become int64; others stay as they are.
// CHECK-LABEL: func.func @ids
// CHECK: "tf.OneHot"(%arg0, {{.*}}) <{axis = -1 : i64}> : (tensor<3xi32>,
// CHECK: %[[LONG:.*]] = "tf.Cast"(%arg1)
// CHECK: "tf.OneHot"(%[[LONG]], {{.*}}) <{axis = -1 : i64}> : (tensor<3xi64>,
func.func @ids(%x: tensor<3xi32>, %y: tensor<3xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %depth = "tf.Const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %on = "tf.Const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %off = "tf.Const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %a = "tf.Cast"(%x) {Truncate = false} : (tensor<3xi32>) -> tensor<3xi64>
  %0 = "tf.OneHot"(%a, %depth, %on, %off) {axis = -1 : i64} : (tensor<3xi64>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  %b = "tf.Cast"(%y) {Truncate = false} : (tensor<3xf32>) -> tensor<3xi64>
  %1 = "tf.OneHot"(%b, %depth, %on, %off) {axis = -1 : i64} : (tensor<3xi64>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// Scores of groups, masked between two reshapes in the shape of the groups; not if the mask has rows of its own.
// CHECK-LABEL: func.func @scores
// CHECK: %[[MASKED:.*]] = "tf.SelectV2"(%arg1, %arg0, {{.*}}) : (tensor<1x1x1x9xi1>, tensor<1x4x2x9xf32>, tensor<f32>) -> tensor<1x4x2x9xf32>
// CHECK: %[[SHARES:.*]] = "tf.Softmax"(%[[MASKED]])
// CHECK: %[[SPLIT:.*]] = "tf.Reshape"({{.*}}) : (tensor<1x8x1x9xf32>, tensor<4xi32>) -> tensor<1x4x2x9xf32>
// CHECK: return %[[SHARES]], %[[SPLIT]]
func.func @scores(%x: tensor<1x4x2x9xf32>, %mask: tensor<1x1x1x9xi1>, %rows: tensor<1x8x1x9xi1>) -> (tensor<1x4x2x9xf32>, tensor<1x4x2x9xf32>) {
  %merged = "tf.Const"() {value = dense<[1, 8, 1, 9]> : tensor<4xi32>} : () -> tensor<4xi32>
  %split = "tf.Const"() {value = dense<[1, 4, 2, 9]> : tensor<4xi32>} : () -> tensor<4xi32>
  %low = "tf.Const"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Reshape"(%x, %merged) : (tensor<1x4x2x9xf32>, tensor<4xi32>) -> tensor<1x8x1x9xf32>
  %1 = "tf.SelectV2"(%mask, %0, %low) : (tensor<1x1x1x9xi1>, tensor<1x8x1x9xf32>, tensor<f32>) -> tensor<1x8x1x9xf32>
  %2 = "tf.Softmax"(%1) : (tensor<1x8x1x9xf32>) -> tensor<1x8x1x9xf32>
  %3 = "tf.Reshape"(%2, %split) : (tensor<1x8x1x9xf32>, tensor<4xi32>) -> tensor<1x4x2x9xf32>
  %4 = "tf.SelectV2"(%rows, %0, %low) : (tensor<1x8x1x9xi1>, tensor<1x8x1x9xf32>, tensor<f32>) -> tensor<1x8x1x9xf32>
  %5 = "tf.Reshape"(%4, %split) : (tensor<1x8x1x9xf32>, tensor<4xi32>) -> tensor<1x4x2x9xf32>
  return %3, %5 : tensor<1x4x2x9xf32>, tensor<1x4x2x9xf32>
}
// One of two operands that broadcast each other does not have the dimensions of the result.
// CHECK-LABEL: func.func @broadcast
// CHECK: "tf.Mul"({{.*}}) : (tensor<1x1x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x1x4x8xf32>
// CHECK: "tf.Reshape"
func.func @broadcast(%x: tensor<4x1xf32>, %y: tensor<8xf32>) -> tensor<1x1x1x4x8xf32> {
  %a = "tf.Const"() {value = dense<[1, 1, 4, 1]> : tensor<4xi32>} : () -> tensor<4xi32>
  %b = "tf.Const"() {value = dense<[1, 1, 1, 8]> : tensor<4xi32>} : () -> tensor<4xi32>
  %c = "tf.Const"() {value = dense<[1, 1, 1, 4, 8]> : tensor<5xi32>} : () -> tensor<5xi32>
  %0 = "tf.Reshape"(%x, %a) : (tensor<4x1xf32>, tensor<4xi32>) -> tensor<1x1x4x1xf32>
  %1 = "tf.Reshape"(%y, %b) : (tensor<8xf32>, tensor<4xi32>) -> tensor<1x1x1x8xf32>
  %2 = "tf.Mul"(%0, %1) : (tensor<1x1x4x1xf32>, tensor<1x1x1x8xf32>) -> tensor<1x1x4x8xf32>
  %3 = "tf.Reshape"(%2, %c) : (tensor<1x1x4x8xf32>, tensor<5xi32>) -> tensor<1x1x1x4x8xf32>
  return %3 : tensor<1x1x1x4x8xf32>
}

// -----
// RUN: simplify
// Zeros of a shape that is computed for others fill that; nothing is computed for the shape alone.
// CHECK-LABEL: func.func @zeros_of_a_known_shape
// CHECK: %[[SIZES:.*]] = "tf.Pack"
// CHECK: %[[FIRST:.*]] = "tf.Fill"(%[[SIZES]]
// CHECK: %[[LIKE:.*]] = "tf.Fill"(%[[SIZES]], %{{.*}}) : (tensor<2xi32>, tensor<f32>) -> tensor<?x20xf32>
// CHECK: %[[OTHER:.*]] = "tf.ZerosLike"(%arg2)
// CHECK: %[[THREE:.*]] = "tf.Const"() <{value = dense<3> : tensor<1xi32>}>
// CHECK: %[[STATIC:.*]] = "tf.Fill"(%[[THREE]]
// CHECK: return %[[FIRST]], %[[LIKE]], %[[OTHER]], %[[STATIC]]
func.func @zeros_of_a_known_shape(%x: tensor<?x4xf32>, %w: tensor<4x20xf32>, %z: tensor<?x4xf32>, %v: tensor<3xf32>) -> (tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x4xf32>, tensor<3xf32>) {
  %shape = "tf.Shape"(%x) : (tensor<?x4xf32>) -> tensor<2xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %batch = "tf.StridedSlice"(%shape, %zero, %one, %one) {begin_mask = 0 : i64, end_mask = 0 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %units = "tf.Const"() {value = dense<20> : tensor<i32>} : () -> tensor<i32>
  %sizes = "tf.Pack"(%batch, %units) {axis = 0 : i64} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %first = "tf.Fill"(%sizes, %half) : (tensor<2xi32>, tensor<f32>) -> tensor<?x20xf32>
  %product = "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x20xf32>) -> tensor<?x20xf32>
  %like = "tf.ZerosLike"(%product) : (tensor<?x20xf32>) -> tensor<?x20xf32>
  %other = "tf.ZerosLike"(%z) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %static = "tf.ZerosLike"(%v) : (tensor<3xf32>) -> tensor<3xf32>
  return %first, %like, %other, %static : tensor<?x20xf32>, tensor<?x20xf32>, tensor<?x4xf32>, tensor<3xf32>
}
