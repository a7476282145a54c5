// RUN: flatten-ids
// Ids of rank 2 and of int64 become a vector of int32; constants do so at once.
// CHECK-LABEL: func.func @ids
// CHECK: %[[FLAT:.*]] = "tfl.reshape"(%arg1, {{.*}}) : (tensor<2x5xi64>, tensor<1xi32>) -> tensor<10xi64>
// CHECK: %[[IDS:.*]] = "tfl.cast"(%[[FLAT]]) : (tensor<10xi64>) -> tensor<10xi32>
// CHECK: %[[ROWS:.*]] = "tfl.gather"(%arg0, %[[IDS]]) <{axis = 1 : i32, batch_dims = 0 : i32}> : (tensor<3x9x4xf32>, tensor<10xi32>) -> tensor<3x10x4xf32>
// CHECK: "tfl.reshape"(%[[ROWS]], {{.*}}) : (tensor<3x10x4xf32>, tensor<4xi32>) -> tensor<3x2x5x4xf32>
// CHECK: "tfl.pseudo_const"() <{value = dense<[1, 2, 3, 4]> : tensor<4xi32>}>
func.func @ids(%x: tensor<3x9x4xf32>, %ids: tensor<2x5xi64>) -> (tensor<3x2x5x4xf32>, tensor<2x2x9x4xf32>, tensor<9x4xf32>) {
  %constant = "tfl.pseudo_const"() {value = dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %one = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.gather"(%x, %ids) {axis = -2 : i32, batch_dims = 0 : i32} : (tensor<3x9x4xf32>, tensor<2x5xi64>) -> tensor<3x2x5x4xf32>
  %1 = "tfl.gather"(%x, %constant) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<3x9x4xf32>, tensor<2x2xi32>) -> tensor<2x2x9x4xf32>
  %2 = "tfl.gather"(%x, %one) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<3x9x4xf32>, tensor<i32>) -> tensor<9x4xf32>
  return %0, %1, %2 : tensor<3x2x5x4xf32>, tensor<2x2x9x4xf32>, tensor<9x4xf32>
}
// Constant ids of a batch are places in all of the table, if the table has them; 3 is none of a table of 3.
// CHECK-LABEL: func.func @batches
// CHECK: %[[TABLE:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<2x3x4xf32>, tensor<2xi32>) -> tensor<6x4xf32>
// CHECK: %[[PLACES:.*]] = "tfl.pseudo_const"() <{value = dense<[2, 0, 3, 4]> : tensor<4xi32>}>
// CHECK: "tfl.gather"(%[[TABLE]], %[[PLACES]]) <{axis = 0 : i32, batch_dims = 0 : i32}> : (tensor<6x4xf32>, tensor<4xi32>) -> tensor<4x4xf32>
// CHECK: "tfl.gather"(%arg0, {{.*}}) <{axis = 1 : i32, batch_dims = 1 : i32}>
func.func @batches(%x: tensor<2x3x4xf32>) -> (tensor<2x2x4xf32>, tensor<2x2x4xf32>) {
  %ids = "tfl.pseudo_const"() {value = dense<[[2, 0], [0, 1]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %wrong = "tfl.pseudo_const"() {value = dense<[[2, 0], [0, 3]]> : tensor<2x2xi64>} : () -> tensor<2x2xi64>
  %0 = "tfl.gather"(%x, %ids) {axis = 1 : i32, batch_dims = 1 : i32} : (tensor<2x3x4xf32>, tensor<2x2xi64>) -> tensor<2x2x4xf32>
  %1 = "tfl.gather"(%x, %wrong) {axis = 1 : i32, batch_dims = 1 : i32} : (tensor<2x3x4xf32>, tensor<2x2xi64>) -> tensor<2x2x4xf32>
  return %0, %1 : tensor<2x2x4xf32>, tensor<2x2x4xf32>
}
// Vectors of int32, batches of other ids, and what is open, stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tfl.reshape
// CHECK-NOT: tfl.cast
func.func @others(%x: tensor<3x9xf32>, %ids: tensor<5xi32>, %each: tensor<3x2xi32>, %open: tensor<?x2xi32>) -> (tensor<5x9xf32>, tensor<3x2xf32>, tensor<?x2x9xf32>) {
  %0 = "tfl.gather"(%x, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<3x9xf32>, tensor<5xi32>) -> tensor<5x9xf32>
  %1 = "tfl.gather"(%x, %each) {axis = 1 : i32, batch_dims = 1 : i32} : (tensor<3x9xf32>, tensor<3x2xi32>) -> tensor<3x2xf32>
  %2 = "tfl.gather"(%x, %open) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<3x9xf32>, tensor<?x2xi32>) -> tensor<?x2x9xf32>
  return %0, %1, %2 : tensor<5x9xf32>, tensor<3x2xf32>, tensor<?x2x9xf32>
}

// -----
// RUN: complex-pairs
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: complex
// CHECK: %[[PAIRS:.*]] = "tfl.pack"(%arg0, %arg1)
// CHECK: %[[LATER:.*]] = "tfl.reshape"(%[[PAIRS]], {{.*}}) : (tensor<1x4x2xf32>, tensor<3xi32>) -> tensor<2x2x2xf32>
// CHECK: return %[[LATER]], %arg0
func.func @pairs(%re: tensor<1x4xf32>, %im: tensor<1x4xf32>) -> (tensor<2x2x2xf32>, tensor<1x4xf32>) {
  %shape = "tfl.pseudo_const"() {value = dense<[-1, 4, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %square = "tfl.pseudo_const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.pack"(%re, %im) {axis = 2 : i32, values_count = 2 : i32} : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4x2xf32>
  %1 = "tfl.reshape"(%0, %shape) : (tensor<1x4x2xf32>, tensor<3xi32>) -> tensor<?x4x2xf32>
  %2 = "tfl.bitcast"(%1) : (tensor<?x4x2xf32>) -> tensor<1x4xcomplex<f32>>
  %3 = "tfl.reshape"(%2, %square) : (tensor<1x4xcomplex<f32>>, tensor<2xi32>) -> tensor<?x2xcomplex<f32>>
  %4 = "tfl.bitcast"(%3) : (tensor<?x2xcomplex<f32>>) -> tensor<2x2x2xf32>
  %5 = "tfl.real"(%2) : (tensor<1x4xcomplex<f32>>) -> tensor<1x4xf32>
  return %4, %5 : tensor<2x2x2xf32>, tensor<1x4xf32>
}
// What is complex when it comes, stays.
// CHECK-LABEL: func.func @given
// CHECK: tfl.imag
func.func @given(%c: tensor<2xcomplex<f32>>) -> tensor<2xf32> {
  %0 = "tfl.imag"(%c) : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: plain-slices
// Neighbors are a SLICE, a dropped axis is a reshape; strides stay, with ends in the place of masks.
// CHECK-LABEL: func.func @slices
// CHECK-DAG: dense<[3, 0, 2]> : tensor<3xi32>
// CHECK-DAG: dense<[1, 6, 3]> : tensor<3xi32>
// CHECK: %[[PART:.*]] = "tfl.slice"(%arg0, {{.*}}) : (tensor<4x6x8xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x6x3xf32>
// CHECK: "tfl.reshape"(%[[PART]], {{.*}}) : (tensor<1x6x3xf32>, tensor<2xi32>) -> tensor<6x3xf32>
// CHECK-DAG: dense<[0, 1, 0]> : tensor<3xi32>
// CHECK-DAG: dense<[4, 6, 8]> : tensor<3xi32>
// CHECK-DAG: dense<[1, 2, 1]> : tensor<3xi32>
// CHECK: "tfl.strided_slice"(%arg0, {{.*}}) <{begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 0 : i32}> : (tensor<4x6x8xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4x3x8xf32>
func.func @slices(%x: tensor<4x6x8xf32>) -> (tensor<6x3xf32>, tensor<4x3x8xf32>) {
  %b = "tfl.pseudo_const"() {value = dense<[-1, 0, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %e = "tfl.pseudo_const"() {value = dense<[0, 0, -3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %ones = "tfl.pseudo_const"() {value = dense<1> : tensor<3xi32>} : () -> tensor<3xi32>
  %b2 = "tfl.pseudo_const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %e2 = "tfl.pseudo_const"() {value = dense<[0, 99]> : tensor<2xi32>} : () -> tensor<2xi32>
  %s2 = "tfl.pseudo_const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.strided_slice"(%x, %b, %e, %ones) {begin_mask = 2 : i32, ellipsis_mask = 0 : i32, end_mask = 2 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 1 : i32, offset = false} : (tensor<4x6x8xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<6x3xf32>
  %1 = "tfl.strided_slice"(%x, %b2, %e2, %s2) {begin_mask = 1 : i32, ellipsis_mask = 0 : i32, end_mask = 1 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 0 : i32, offset = false} : (tensor<4x6x8xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x3x8xf32>
  return %0, %1 : tensor<6x3xf32>, tensor<4x3x8xf32>
}
// x[..., None, 5]: an axis that is added, and one that is dropped, behind an ellipsis; all of a mask.
// CHECK-LABEL: func.func @axes
// CHECK-DAG: dense<[0, 0, 5]> : tensor<3xi32>
// CHECK-DAG: dense<[4, 6, 1]> : tensor<3xi32>
// CHECK: %[[PART:.*]] = "tfl.slice"(%arg0, {{.*}}) : (tensor<4x6x8xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4x6x1xf32>
// CHECK-NOT: tfl.strided_slice
// CHECK: return %[[PART]], %arg1
func.func @axes(%x: tensor<4x6x8xf32>, %mask: tensor<2x2xi1>) -> (tensor<4x6x1xf32>, tensor<2x2xi1>) {
  %b = "tfl.pseudo_const"() {value = dense<[0, 0, 5]> : tensor<3xi32>} : () -> tensor<3xi32>
  %e = "tfl.pseudo_const"() {value = dense<[0, 0, 6]> : tensor<3xi32>} : () -> tensor<3xi32>
  %ones = "tfl.pseudo_const"() {value = dense<1> : tensor<3xi32>} : () -> tensor<3xi32>
  %zeros2 = "tfl.pseudo_const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %ones2 = "tfl.pseudo_const"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.strided_slice"(%x, %b, %e, %ones) {begin_mask = 0 : i32, ellipsis_mask = 1 : i32, end_mask = 0 : i32, new_axis_mask = 2 : i32, shrink_axis_mask = 4 : i32, offset = false} : (tensor<4x6x8xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<4x6x1xf32>
  %1 = "tfl.strided_slice"(%mask, %zeros2, %zeros2, %ones2) {begin_mask = 3 : i32, ellipsis_mask = 0 : i32, end_mask = 3 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 0 : i32, offset = false} : (tensor<2x2xi1>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi1>
  return %0, %1 : tensor<4x6x1xf32>, tensor<2x2xi1>
}
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: "tfl.strided_slice"
// CHECK-NOT: tfl.slice
func.func @others(%x: tensor<4xf32>, %from: tensor<1xi32>) -> (tensor<4xf32>, tensor<1xf32>) {
  %b = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %back = "tfl.pseudo_const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.strided_slice"(%x, %b, %b, %back) {begin_mask = 1 : i32, ellipsis_mask = 0 : i32, end_mask = 1 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 0 : i32, offset = false} : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<4xf32>
  %1 = "tfl.strided_slice"(%x, %from, %one, %one) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 1 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 0 : i32, offset = false} : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xf32>
  return %0, %1 : tensor<4xf32>, tensor<1xf32>
}
// Rows of a constant, from a place that is computed on; those of other tensors stay a SLICE.
// CHECK-LABEL: func.func @rows
// CHECK: %[[IDS:.*]] = tfl.add(%arg1, %{{.*}}) <{fused_activation_function = "NONE"}> : (tensor<i32>, tensor<2xi32>) -> tensor<2xi32>
// CHECK: "tfl.gather"(%{{.*}}, %[[IDS]]) <{axis = 1 : i32, batch_dims = 0 : i32}> : (tensor<1x3x2xf32>, tensor<2xi32>) -> tensor<1x2x2xf32>
// CHECK: "tfl.slice"(%arg0,
func.func @rows(%x: tensor<1x3x2xf32>, %i: tensor<i32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>) {
  %table = "tfl.pseudo_const"() {value = dense<[[[1., 2.], [3., 4.], [5., 6.]]]> : tensor<1x3x2xf32>} : () -> tensor<1x3x2xf32>
  %zero = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %sizes = "tfl.pseudo_const"() {value = dense<[1, 2, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %begins = "tfl.pack"(%zero, %i, %zero) {axis = 0 : i32, values_count = 3 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %0 = "tfl.slice"(%table, %begins, %sizes) : (tensor<1x3x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x2x2xf32>
  %1 = "tfl.slice"(%x, %begins, %sizes) : (tensor<1x3x2xf32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x2x2xf32>
  return %0, %1 : tensor<1x2x2xf32>, tensor<1x2x2xf32>
}

// -----
// RUN: lower-ranks{rank=4}, join-reshapes
// Keys that are repeated for the queries that share them: no tensor of rank 5 is left.
// CHECK-LABEL: func.func @repeated
// CHECK: %[[ROWS:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<1x16x2x8xf32>, tensor<2xi32>) -> tensor<32x8xf32>
// CHECK: %[[TWICE:.*]] = "tfl.tile"(%[[ROWS]], {{.*}}) : (tensor<32x8xf32>, tensor<2xi32>) -> tensor<32x16xf32>
// CHECK: %[[HEADS:.*]] = "tfl.reshape"(%[[TWICE]], {{.*}}) : (tensor<32x16xf32>, tensor<4xi32>) -> tensor<1x16x4x8xf32>
// CHECK: return %[[HEADS]]
func.func @repeated(%keys: tensor<1x16x2x8xf32>) -> tensor<1x16x4x8xf32> {
  %five = "tfl.pseudo_const"() {value = dense<[1, 16, 2, 1, 8]> : tensor<5xi32>} : () -> tensor<5xi32>
  %four = "tfl.pseudo_const"() {value = dense<[1, 16, 4, 8]> : tensor<4xi32>} : () -> tensor<4xi32>
  %counts = "tfl.pseudo_const"() {value = dense<[1, 1, 1, 2, 1]> : tensor<5xi32>} : () -> tensor<5xi32>
  %0 = "tfl.reshape"(%keys, %five) : (tensor<1x16x2x8xf32>, tensor<5xi32>) -> tensor<1x16x2x1x8xf32>
  %1 = "tfl.tile"(%0, %counts) : (tensor<1x16x2x1x8xf32>, tensor<5xi32>) -> tensor<1x16x2x2x8xf32>
  %2 = "tfl.reshape"(%1, %four) : (tensor<1x16x2x2x8xf32>, tensor<4xi32>) -> tensor<1x16x4x8xf32>
  return %2 : tensor<1x16x4x8xf32>
}
// Axes that are broadcast, moved, reduced or packed alike are one.
// CHECK-LABEL: func.func @families
// CHECK: tfl.add({{.*}}) <{{.*}}> : (tensor<6x4x30xf32>, tensor<1x4x1xf32>) -> tensor<6x4x30xf32>
// CHECK: "tfl.transpose"({{.*}}) : (tensor<6x4x30xf32>, tensor<3xi32>) -> tensor<4x6x30xf32>
// CHECK: "tfl.sum"({{.*}}) <{keep_dims = false}> : (tensor<24x5x6xf32>, tensor<1xi32>) -> tensor<24x6xf32>
// CHECK: "tfl.softmax"({{.*}}) <{beta = 1.000000e+00 : f32}> : (tensor<120x6xf32>) -> tensor<120x6xf32>
// CHECK: "tfl.concatenation"({{.*}}) <{axis = 1 : i32, fused_activation_function = "NONE"}> : (tensor<720x1xf32>, tensor<720x1xf32>) -> tensor<720x2xf32>
func.func @families(%x: tensor<2x3x4x5x6xf32>, %b: tensor<4x1x1xf32>) -> (tensor<4x2x3x5x6xf32>, tensor<2x3x4x1x6xf32>, tensor<2x3x4x5x6xf32>, tensor<2x3x4x5x6x2xf32>) {
  %order = "tfl.pseudo_const"() {value = dense<[2, 0, 1, 3, 4]> : tensor<5xi32>} : () -> tensor<5xi32>
  %axis = "tfl.pseudo_const"() {value = dense<-2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.add"(%x, %b) {fused_activation_function = "NONE"} : (tensor<2x3x4x5x6xf32>, tensor<4x1x1xf32>) -> tensor<2x3x4x5x6xf32>
  %1 = "tfl.transpose"(%0, %order) : (tensor<2x3x4x5x6xf32>, tensor<5xi32>) -> tensor<4x2x3x5x6xf32>
  %2 = "tfl.sum"(%x, %axis) {keep_dims = true} : (tensor<2x3x4x5x6xf32>, tensor<i32>) -> tensor<2x3x4x1x6xf32>
  %3 = "tfl.softmax"(%x) {beta = 1.0 : f32} : (tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6xf32>
  %4 = "tfl.pack"(%x, %3) {axis = 5 : i32, values_count = 2 : i32} : (tensor<2x3x4x5x6xf32>, tensor<2x3x4x5x6xf32>) -> tensor<2x3x4x5x6x2xf32>
  return %1, %2, %3, %4 : tensor<4x2x3x5x6xf32>, tensor<2x3x4x1x6xf32>, tensor<2x3x4x5x6xf32>, tensor<2x3x4x5x6x2xf32>
}
// Axes of two elements are reduced as well, and those of one element are none.
// CHECK-LABEL: func.func @pairs_of_rows
// CHECK: "tfl.sum"({{.*}}) <{keep_dims = false}> : (tensor<3x2x20xf32>, tensor<1xi32>) -> tensor<3x20xf32>
func.func @pairs_of_rows(%x: tensor<3x2x1x4x5xf32>) -> tensor<3x4x5xf32> {
  %axes = "tfl.pseudo_const"() {value = dense<[1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.sum"(%x, %axes) {keep_dims = false} : (tensor<3x2x1x4x5xf32>, tensor<2xi32>) -> tensor<3x4x5xf32>
  return %0 : tensor<3x4x5xf32>
}
// SELECT's vector of conditions is for the first axis.
// CHECK-LABEL: func.func @select
// CHECK: "tfl.select"({{.*}}) : (tensor<32xi1>, tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
// CHECK: "tfl.select"(%arg0, {{.*}}) : (tensor<2xi1>, tensor<2x2x2x2x2xf32>, tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2x2xf32>
func.func @select(%c: tensor<2xi1>, %each: tensor<2x2x2x2x2xi1>, %x: tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2x2xf32> {
  %0 = "tfl.select"(%each, %x, %x) : (tensor<2x2x2x2x2xi1>, tensor<2x2x2x2x2xf32>, tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2x2xf32>
  %1 = "tfl.select"(%c, %0, %x) : (tensor<2xi1>, tensor<2x2x2x2x2xf32>, tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2x2xf32>
  return %1 : tensor<2x2x2x2x2xf32>
}
// What moves five axes, each for itself, stays, and so does what is of low rank.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tfl.reshape
func.func @others(%x: tensor<2x3x4x5x6xf32>, %y: tensor<2x3xf32>) -> (tensor<6x5x4x3x2xf32>, tensor<2x3xf32>) {
  %order = "tfl.pseudo_const"() {value = dense<[4, 3, 2, 1, 0]> : tensor<5xi32>} : () -> tensor<5xi32>
  %0 = "tfl.transpose"(%x, %order) : (tensor<2x3x4x5x6xf32>, tensor<5xi32>) -> tensor<6x5x4x3x2xf32>
  %1 = "tfl.abs"(%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<6x5x4x3x2xf32>, tensor<2x3xf32>
}

// -----
// RUN: plain-operands
// CHECK-LABEL: func.func @operands
// CHECK: %[[WHOLE:.*]] = "tfl.tile"(%arg1, {{.*}}) : (tensor<2x8x1xf32>, tensor<3xi32>) -> tensor<2x8x8xf32>
// CHECK: "tfl.select_v2"(%arg0, %[[WHOLE]], %arg2)
// CHECK: %[[PRODUCT:.*]] = "tfl.batch_matmul"(%arg2, %[[MATRIX:.*]]) <{adj_x = true, adj_y = true{{.*}}}> : (tensor<2x8x8xf32>, tensor<3x8xf32>) -> tensor<2x8x3xf32>
// CHECK: "tfl.transpose"(%[[PRODUCT]], {{.*}}) : (tensor<2x8x3xf32>, tensor<3xi32>) -> tensor<2x3x8xf32>
func.func @operands(%c: tensor<8x8xi1>, %x: tensor<2x8x1xf32>, %y: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x3x8xf32>) {
  %matrix = "tfl.pseudo_const"() {value = dense<2.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %0 = "tfl.select_v2"(%c, %x, %y) : (tensor<8x8xi1>, tensor<2x8x1xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %1 = "tfl.batch_matmul"(%matrix, %y) {adj_x = false, adj_y = false} : (tensor<3x8xf32>, tensor<2x8x8xf32>) -> tensor<2x3x8xf32>
  return %0, %1 : tensor<2x8x8xf32>, tensor<2x3x8xf32>
}
// A constant of quantized elements is a constant as well.
// CHECK-LABEL: func.func @integers
// CHECK: %[[PRODUCT:.*]] = "tfl.batch_matmul"(%arg0, %{{.*}}) <{adj_x = true, adj_y = true{{.*}}}> : {{.*}} -> tensor<2x8x3x!quant.uniform<i8:f32, 2.500000e-01>>
// CHECK: "tfl.transpose"(%[[PRODUCT]], {{.*}}) : {{.*}} -> tensor<2x3x8x!quant.uniform<i8:f32, 2.500000e-01>>
func.func @integers(%y: tensor<2x8x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x8x!quant.uniform<i8:f32, 0.25>> {
  %matrix = "tfl.pseudo_qconst"() <{qtype = tensor<3x8x!quant.uniform<i8:f32, 0.5>>, value = dense<2> : tensor<3x8xi8>}>
      : () -> tensor<3x8x!quant.uniform<i8:f32, 0.5>>
  %0 = "tfl.batch_matmul"(%matrix, %y) {adj_x = false, adj_y = false}
      : (tensor<3x8x!quant.uniform<i8:f32, 0.5>>, tensor<2x8x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<2x3x8x!quant.uniform<i8:f32, 0.25>>
  return %0 : tensor<2x3x8x!quant.uniform<i8:f32, 0.25>>
}
// Sums of three integers in two steps.
// CHECK-LABEL: func.func @sums
// CHECK: %[[FIRST:.*]] = "tfl.slice"(%arg0, {{.*}}) : (tensor<2x3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi32>
// CHECK: %[[SHIFTED:.*]] = "tfl.concatenation"({{.*}}, %[[FIRST]])
// CHECK: %[[TWO:.*]] = tfl.add{{.*}}%arg0, %[[SHIFTED]]
// CHECK: "tfl.slice"(%[[TWO]], {{.*}}) : (tensor<2x3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xi32>
// CHECK-NOT: tfl.cumsum
// CHECK: return
func.func @sums(%x: tensor<2x3xi32>) -> tensor<2x3xi32> {
  %axis = "tfl.pseudo_const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.cumsum"(%x, %axis) {exclusive = false, reverse = false} : (tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %0 : tensor<2x3xi32>
}
// Few zeros are a constant, many are computed.
// CHECK-LABEL: func.func @zeros
// CHECK: %[[FEW:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2x3xi32>}>
// CHECK: %[[NEVER:.*]] = tfl.less(%arg1, %arg1) : (tensor<64x65xf32>, tensor<64x65xf32>) -> tensor<64x65xi1>
// CHECK: %[[MANY:.*]] = "tfl.cast"(%[[NEVER]]) : (tensor<64x65xi1>) -> tensor<64x65xf32>
// CHECK: return %[[FEW]], %[[MANY]]
func.func @zeros(%x: tensor<2x3xi32>, %y: tensor<64x65xf32>) -> (tensor<2x3xi32>, tensor<64x65xf32>) {
  %0 = "tfl.zeros_like"(%x) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  %1 = "tfl.zeros_like"(%y) : (tensor<64x65xf32>) -> tensor<64x65xf32>
  return %0, %1 : tensor<2x3xi32>, tensor<64x65xf32>
}
// Scalars, two values, and sums of floats stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tfl.tile
// CHECK-NOT: tfl.transpose
// CHECK: tfl.cumsum
func.func @others(%c: tensor<8xi1>, %y: tensor<2x8x8xf32>) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %one = "tfl.pseudo_const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.select_v2"(%c, %one, %y) : (tensor<8xi1>, tensor<f32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %1 = "tfl.batch_matmul"(%y, %0) {adj_x = false, adj_y = false} : (tensor<2x8x8xf32>, tensor<2x8x8xf32>) -> tensor<2x8x8xf32>
  %2 = "tfl.cumsum"(%y, %axis) {exclusive = false, reverse = false} : (tensor<2x8x8xf32>, tensor<i32>) -> tensor<2x8x8xf32>
  return %0, %1, %2 : tensor<2x8x8xf32>, tensor<2x8x8xf32>, tensor<2x8x8xf32>
}
// Parts that are joined are slices; those that go other ways stay a SPLIT.
// CHECK-LABEL: func.func @parts
// CHECK: %[[FIRST:.*]] = "tfl.slice"(%arg0, {{.*}}) : (tensor<2x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: dense<[0, 3]> : tensor<2xi32>
// CHECK: %[[SECOND:.*]] = "tfl.slice"(%arg0, {{.*}}) : (tensor<2x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: "tfl.concatenation"(%[[SECOND]], %[[FIRST]])
// CHECK: %[[PARTS:.*]]:2 = "tfl.split"(
// CHECK: "tfl.concatenation"(%[[PARTS]]#1, %arg0)
func.func @parts(%x: tensor<2x6xf32>) -> (tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x3xf32>) {
  %axis = "tfl.pseudo_const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %a, %b = "tfl.split"(%axis, %x) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %0 = "tfl.concatenation"(%b, %a) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %c, %d = "tfl.split"(%axis, %x) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
  %1 = "tfl.concatenation"(%d, %x) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<2x3xf32>, tensor<2x6xf32>) -> tensor<2x9xf32>
  return %0, %1, %c : tensor<2x6xf32>, tensor<2x9xf32>, tensor<2x3xf32>
}

// -----
// RUN: align-constants
// A constant of a batch has four axes of which the first is one item; in rank 4, the first two become one.
// CHECK-LABEL: func.func @aligned
// CHECK-DAG: %[[ROW:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[\[\[}}1, 2, 3]]]]> : tensor<1x1x1x3xi32>}>
// CHECK-DAG: %[[ONE:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<i32>, tensor<4xi32>) -> tensor<1x1x1x1xi32>
// CHECK: %[[SUM:.*]] = tfl.add(%[[ONE]], %[[ROW]]) <{fused_activation_function = "NONE"}> : {{.*}} -> tensor<1x1x1x3xi32>
// CHECK: "tfl.reshape"(%[[SUM]], {{.*}}) : (tensor<1x1x1x3xi32>, tensor<1xi32>) -> tensor<3xi32>
// CHECK: tfl.mul(%{{.*}}, %{{.*}}) <{fused_activation_function = "RELU"}> : (tensor<1x6x1x4xf32>, tensor<1x6x5x4xf32>) -> tensor<1x6x5x4xf32>
func.func @aligned(%i: tensor<i32>, %x: tensor<2x3x5x4xf32>) -> (tensor<3xi32>, tensor<2x3x5x4xf32>) {
  %row = "tfl.pseudo_const"() {value = dense<[1, 2, 3]> : tensor<3xi32>} : () -> tensor<3xi32>
  %factors = "tfl.pseudo_const"() {value = dense<2.0> : tensor<2x3x1x4xf32>} : () -> tensor<2x3x1x4xf32>
  %0 = "tfl.add"(%i, %row) {fused_activation_function = "NONE"} : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  %1 = "tfl.mul"(%factors, %x) {fused_activation_function = "RELU"} : (tensor<2x3x1x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  return %0, %1 : tensor<3xi32>, tensor<2x3x5x4xf32>
}
// A bias, a constant as large as a batch of rank 4, and one whose axes do not become one, stay.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tfl.reshape
// CHECK: return
func.func @others(%x: tensor<5x4xf32>, %y: tensor<2x3x5x4xf32>) -> (tensor<5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) {
  %bias = "tfl.pseudo_const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %all = "tfl.pseudo_const"() {value = dense<2.0> : tensor<2x3x5x4xf32>} : () -> tensor<2x3x5x4xf32>
  %batch = "tfl.pseudo_const"() {value = dense<2.0> : tensor<2x1x1x4xf32>} : () -> tensor<2x1x1x4xf32>
  %0 = "tfl.add"(%x, %bias) {fused_activation_function = "NONE"} : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %1 = "tfl.add"(%y, %all) {fused_activation_function = "NONE"} : (tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>) -> tensor<2x3x5x4xf32>
  %2 = "tfl.add"(%y, %batch) {fused_activation_function = "NONE"} : (tensor<2x3x5x4xf32>, tensor<2x1x1x4xf32>) -> tensor<2x3x5x4xf32>
  return %0, %1, %2 : tensor<5x4xf32>, tensor<2x3x5x4xf32>, tensor<2x3x5x4xf32>
}

// -----
// RUN: join-reshapes
// CHECK-LABEL: func.func @chain
// CHECK: %[[FLAT:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<2x6xf32>, tensor<1xi32>) -> tensor<12xf32>
// CHECK-NOT: tfl.reshape
// CHECK: return %[[FLAT]], %arg0
func.func @chain(%x: tensor<2x6xf32>) -> (tensor<12xf32>, tensor<2x6xf32>) {
  %a = "tfl.pseudo_const"() {value = dense<[2, 3, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %b = "tfl.pseudo_const"() {value = dense<12> : tensor<1xi32>} : () -> tensor<1xi32>
  %c = "tfl.pseudo_const"() {value = dense<[2, 6]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.reshape"(%x, %a) : (tensor<2x6xf32>, tensor<3xi32>) -> tensor<2x3x2xf32>
  %1 = "tfl.reshape"(%0, %b) : (tensor<2x3x2xf32>, tensor<1xi32>) -> tensor<12xf32>
  %2 = "tfl.reshape"(%1, %c) : (tensor<12xf32>, tensor<2xi32>) -> tensor<2x6xf32>
  return %1, %2 : tensor<12xf32>, tensor<2x6xf32>
}
// What is in between goes.
// CHECK-LABEL: func.func @between
// CHECK-NOT: -> tensor<12xf32>
// CHECK: "tfl.reshape"(%arg0, {{.*}}) : (tensor<2x6xf32>, tensor<2xi32>) -> tensor<3x4xf32>
func.func @between(%x: tensor<2x6xf32>) -> tensor<3x4xf32> {
  %a = "tfl.pseudo_const"() {value = dense<[2, 3, 2]> : tensor<3xi32>} : () -> tensor<3xi32>
  %b = "tfl.pseudo_const"() {value = dense<12> : tensor<1xi32>} : () -> tensor<1xi32>
  %c = "tfl.pseudo_const"() {value = dense<[3, 4]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.reshape"(%x, %a) : (tensor<2x6xf32>, tensor<3xi32>) -> tensor<2x3x2xf32>
  %1 = "tfl.reshape"(%0, %b) : (tensor<2x3x2xf32>, tensor<1xi32>) -> tensor<12xf32>
  %2 = "tfl.reshape"(%1, %c) : (tensor<12xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %2 : tensor<3x4xf32>
}

// What is open, or reshaped once, stays.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-2: "tfl.reshape"
func.func @others(%x: tensor<2x?xf32>, %s: tensor<1xi32>, %t: tensor<2xi32>) -> tensor<?x2xf32> {
  %0 = "tfl.reshape"(%x, %s) : (tensor<2x?xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = "tfl.reshape"(%0, %t) : (tensor<?xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----
// RUN: plain-operands
// The GPU's accelerator updates at computed places only what has four axes.
// CHECK-LABEL: func.func @updates
// CHECK: %[[WHOLE:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<1x1x5x3xf32>
// CHECK: %[[PART:.*]] = "tfl.reshape"(%arg1, {{.*}}) : (tensor<1x3xf32>, tensor<4xi32>) -> tensor<1x1x1x3xf32>
// CHECK: %[[PLACES:.*]] = "tfl.concatenation"({{.*}}, %arg2) <{axis = 0 : i32, fused_activation_function = "NONE"}> : (tensor<2xi32>, tensor<2xi32>) -> tensor<4xi32>
// CHECK: "tfl.dynamic_update_slice"(%[[WHOLE]], %[[PART]], %[[PLACES]])
// CHECK: "tfl.dynamic_update_slice"(%arg0, %arg1, {{.*}}) : (tensor<5x3xf32>
// CHECK: "tfl.dynamic_update_slice"(%arg3, %arg4, %arg5) : (tensor<1x1x5x3xf32>
func.func @updates(%x: tensor<5x3xf32>, %part: tensor<1x3xf32>, %places: tensor<2xi32>, %y: tensor<1x1x5x3xf32>, %more: tensor<1x1x1x3xf32>, %four: tensor<4xi32>) -> (tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x1x5x3xf32>) {
  %known = "tfl.pseudo_const"() {value = dense<[1, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.dynamic_update_slice"(%x, %part, %places) : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<2xi32>) -> tensor<5x3xf32>
  %1 = "tfl.dynamic_update_slice"(%x, %part, %known) : (tensor<5x3xf32>, tensor<1x3xf32>, tensor<2xi32>) -> tensor<5x3xf32>
  %2 = "tfl.dynamic_update_slice"(%y, %more, %four) : (tensor<1x1x5x3xf32>, tensor<1x1x1x3xf32>, tensor<4xi32>) -> tensor<1x1x5x3xf32>
  return %0, %1, %2 : tensor<5x3xf32>, tensor<5x3xf32>, tensor<1x1x5x3xf32>
}

// -----
// RUN: compute-ids
// Constant ids of computed tables alone.
// CHECK-LABEL: func.func @constants
// CHECK: %[[IDS:.*]] = "tfl.reshape"({{.*}}) : (tensor<1x2xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK: "tfl.gather"(%arg0, %[[IDS]])
// CHECK: "tfl.gather"(%arg0, %arg1)
// CHECK-NOT: tfl.reshape
func.func @constants(%x: tensor<9x8xf32>, %ids: tensor<2xi32>) -> (tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x1xf32>) {
  %known = "tfl.pseudo_const"() {value = dense<[3, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %table = "tfl.pseudo_const"() {value = dense<1.0> : tensor<9x1xf32>} : () -> tensor<9x1xf32>
  %0 = "tfl.gather"(%x, %known) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  %1 = "tfl.gather"(%x, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x8xf32>, tensor<2xi32>) -> tensor<2x8xf32>
  %2 = "tfl.gather"(%table, %known) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x1xf32>, tensor<2xi32>) -> tensor<2x1xf32>
  return %0, %1, %2 : tensor<2x8xf32>, tensor<2x8xf32>, tensor<2x1xf32>
}
