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
