// RUN: cut-constants
// CHECK-LABEL: func.func @rows
// CHECK-DAG: value = dense<{{.}}[1.000000e+00, 2.000000e+00]]> : tensor<1x2xf32>
// CHECK-DAG: value = dense<{{.}}[3.000000e+00, 4.000000e+00]]> : tensor<1x2xf32>
// CHECK-NOT: tf.Split
func.func @rows() -> (tensor<1x2xf32>, tensor<1x2xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %both = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0:2 = "tf.Split"(%axis, %both) : (tensor<i32>, tensor<2x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  return %0#0, %0#1 : tensor<1x2xf32>, tensor<1x2xf32>
}
// CHECK-LABEL: func.func @columns
// CHECK-DAG: value = dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-DAG: value = dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NOT: tf.Unpack
func.func @columns() -> (tensor<2xf32>, tensor<2xf32>) {
  %both = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0:2 = "tf.Unpack"(%both) {axis = 1 : i64} : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
// What is left over goes to the size of -1, and a part is taken apart again.
// CHECK-LABEL: func.func @parts_of_parts
// CHECK-DAG: value = dense<[1, 2]> : tensor<2xi32>
// CHECK-DAG: value = dense<4> : tensor<i32>
// CHECK-NOT: tf.S
func.func @parts_of_parts() -> (tensor<2xi32>, tensor<i32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %sizes = "tf.Const"() {value = dense<[2, -1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %all = "tf.Const"() {value = dense<[1, 2, 3, 4, 5]> : tensor<5xi32>} : () -> tensor<5xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0:2 = "tf.SplitV"(%all, %sizes, %axis) : (tensor<5xi32>, tensor<2xi32>, tensor<i32>) -> (tensor<2xi32>, tensor<3xi32>)
  %1 = "tf.StridedSlice"(%0#1, %one, %two, %one) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  return %0#0, %1 : tensor<2xi32>, tensor<i32>
}
// CHECK-LABEL: func.func @every_other
// CHECK: value = dense<{{.}}[6.000000e+00, 4.000000e+00], [3.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
// CHECK-NOT: tf.StridedSlice
func.func @every_other() -> tensor<2x2xf32> {
  %all = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %begin = "tf.Const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %back = "tf.Const"() {value = dense<[-1, -2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tf.StridedSlice"(%all, %begin, %begin, %back) {begin_mask = 3 : i64, ellipsis_mask = 0 : i64, end_mask = 3 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// What TensorFlow's ops take apart, through copies of it.
// CHECK-LABEL: func.func @kernel
// CHECK-DAG: value = dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-DAG: value = dense<{{.}}[2.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK-NOT: tf.Split
// CHECK-NOT: tf.Squeeze
// CHECK: return
func.func @kernel() -> (tensor<2xf32>, tensor<2x1xf32>) {
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %both = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %same = "tf.Identity"(%both) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0:2 = "tf.Split"(%axis, %same) : (tensor<i32>, tensor<2x2xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>)
  %1 = "tf.Squeeze"(%0#0) {squeeze_dims = [1]} : (tensor<2x1xf32>) -> tensor<2xf32>
  return %1, %0#1 : tensor<2xf32>, tensor<2x1xf32>
}
// Slices that do not overlap; one of them is taken twice.
// CHECK-LABEL: func.func @slices
// CHECK-DAG: value = dense<[2.000000e+00, 5.000000e+00]> : tensor<2xf32>
// CHECK-DAG: value = dense<{{.}}[1.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK-DAG: value = dense<{{.}}[3.000000e+00], [6.000000e+00]]> : tensor<2x1xf32>
// CHECK-NOT: tf.StridedSlice
// CHECK-NOT: tf.Slice
// CHECK: return
func.func @slices() -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>) {
  %c00 = "tf.Const"() {value = dense<[0, 0]> : tensor<2xi32>} : () -> tensor<2xi32>
  %c01 = "tf.Const"() {value = dense<[0, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %c02 = "tf.Const"() {value = dense<[0, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %c11 = "tf.Const"() {value = dense<[1, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %rest = "tf.Const"() {value = dense<[-1, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %k = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>} : () -> tensor<2x3xf32>
  %0 = "tf.StridedSlice"(%k, %c00, %c01, %c11) {begin_mask = 3 : i64, ellipsis_mask = 0 : i64, end_mask = 1 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
  %1 = "tf.StridedSlice"(%k, %c00, %c01, %c11) {begin_mask = 3 : i64, ellipsis_mask = 0 : i64, end_mask = 1 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
  %2 = "tf.StridedSlice"(%k, %c01, %c00, %c11) {begin_mask = 1 : i64, ellipsis_mask = 0 : i64, end_mask = 1 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 2 : i64} : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2xf32>
  %3 = "tf.Slice"(%k, %c02, %rest) : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
  return %0, %1, %2, %3 : tensor<2x1xf32>, tensor<2x1xf32>, tensor<2xf32>, tensor<2x1xf32>
}
// Where a call decides, and of what a call computes, nothing is taken.
// CHECK-LABEL: func.func @computed
// CHECK: tf.Slice
// CHECK: tf.Split
func.func @computed(%x: tensor<2x2xf32>, %begin: tensor<1xi32>) -> (tensor<2xf32>, tensor<1x2xf32>) {
  %all = "tf.Const"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %size = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Slice"(%all, %begin, %size) : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  %1:2 = "tf.Split"(%axis, %x) : (tensor<i32>, tensor<2x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  return %0, %1#0 : tensor<2xf32>, tensor<1x2xf32>
}
// Of LiteRT's ops, the axis is an attribute; with batches, nothing is taken, nor where a place is none.
// CHECK-LABEL: func.func @lowered
// CHECK-DAG: value = dense<{{\[\[\[}}3.000000e+00, 4.000000e+00]], {{\[\[}}3.000000e+00, 4.000000e+00]]]> : tensor<2x1x2xf32>
// CHECK-DAG: value = dense<{{\[\[}}2.000000e+00], [4.000000e+00]]> : tensor<2x1xf32>
// CHECK-COUNT-2: tfl.gather
// CHECK-NOT: tfl.gather
// CHECK: return
func.func @lowered() -> (tensor<2x1x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<1x2xf32>) {
  %table = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %twice = "tfl.pseudo_const"() {value = dense<[[1], [1]]> : tensor<2x1xi64>} : () -> tensor<2x1xi64>
  %one = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %each = "tfl.pseudo_const"() {value = dense<[[1], [0]]> : tensor<2x1xi32>} : () -> tensor<2x1xi32>
  %none = "tfl.pseudo_const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.gather"(%table, %twice) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<2x2xf32>, tensor<2x1xi64>) -> tensor<2x1x2xf32>
  %1 = "tfl.gather"(%table, %one) {axis = 1 : i32, batch_dims = 0 : i32} : (tensor<2x2xf32>, tensor<1xi32>) -> tensor<2x1xf32>
  %2 = "tfl.gather"(%table, %each) {axis = 1 : i32, batch_dims = 1 : i32} : (tensor<2x2xf32>, tensor<2x1xi32>) -> tensor<2x1xf32>
  %3 = "tfl.gather"(%table, %none) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<2x2xf32>, tensor<1xi32>) -> tensor<1x2xf32>
  return %0, %1, %2, %3 : tensor<2x1x2xf32>, tensor<2x1xf32>, tensor<2x1xf32>, tensor<1x2xf32>
}

// -----

// RUN: map-weights, cut-constants, show-weights
// A part of a weight that stays mapped is a weight, or a constant where the engine needs the value.
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[FIRST:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [5.000000e+00, 6.000000e+00]]> : tensor<2x2xf32>}>
// CHECK-DAG: %[[SECOND:.*]] = "tf.Const"() <{value = dense<{{\[\[}}3.000000e+00, 4.000000e+00], [7.000000e+00, 8.000000e+00]]> : tensor<2x2xf32>}>
// CHECK-NOT: tf.Split
// CHECK: "tf.MatMul"(%arg0, %[[FIRST]])
// CHECK: "tf.Tanh"(%[[SECOND]])
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>, mapped} : () -> tensor<2x4xf32>
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.Split"(%axis, %w) : (tensor<i32>, tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>)
  %1 = "tf.MatMul"(%x, %0#0) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = "tf.Tanh"(%0#1) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>
}
