// RUN: fold-constant-pieces
// CHECK-LABEL: func.func @bias
// CHECK-DAG: value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK-DAG: value = dense<{{.}}[3.000000e+00, 4.000000e+00]]> : tensor<1x2xf32>
// CHECK-NOT: tfl.split
// CHECK-NOT: tfl.reshape
func.func @bias() -> (tensor<2xf32>, tensor<1x2xf32>) {
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %shape = "tfl.pseudo_const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %both = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0:2 = "tfl.split"(%axis, %both) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  %1 = "tfl.reshape"(%0#0, %shape) : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
  return %1, %0#1 : tensor<2xf32>, tensor<1x2xf32>
}
// CHECK-LABEL: func.func @columns
// CHECK-DAG: value = dense<[1.000000e+00, 3.000000e+00]> : tensor<2xf32>
// CHECK-DAG: value = dense<[2.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK-NOT: tfl.unpack
func.func @columns() -> (tensor<2xf32>, tensor<2xf32>) {
  %both = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>} : () -> tensor<2x2xf32>
  %0:2 = "tfl.unpack"(%both) {num = 2 : i32, axis = 1 : i32} : (tensor<2x2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}
// Values that are computed are taken apart as before.
// CHECK-LABEL: func.func @computed
// CHECK: tfl.split
func.func @computed(%x: tensor<2x2xf32>) -> tensor<1x2xf32> {
  %axis = "tfl.pseudo_const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tfl.split"(%axis, %x) {num_splits = 2 : i32} : (tensor<i32>, tensor<2x2xf32>) -> (tensor<1x2xf32>, tensor<1x2xf32>)
  return %0#0 : tensor<1x2xf32>
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
// Those that overlap stay, and those of a constant that is used otherwise: the file would hold more.
// CHECK-LABEL: func.func @overlapping
// CHECK-COUNT-2: tf.Slice
// CHECK: return
func.func @overlapping() -> (tensor<2xf32>, tensor<2xf32>) {
  %c0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %c1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %k = "tf.Const"() {value = dense<[1.0, 2.0, 3.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "tf.Slice"(%k, %c0, %two) : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  %1 = "tf.Slice"(%k, %c1, %two) : (tensor<3xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @used
// CHECK: tf.Slice
func.func @used() -> (tensor<2xf32>, tensor<4xf32>) {
  %c0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %k = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = "tf.Slice"(%k, %c0, %two) : (tensor<4xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
  return %0, %k : tensor<2xf32>, tensor<4xf32>
}
