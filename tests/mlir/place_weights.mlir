// RUN: map-weights, place-weights
// A filter is a placeholder, the same for the same values; a weight that is no filter is a value.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tfl.external_const"() <{external_buffer = #tfl.external_buffer<group_name = "litefuse", offset = 0, length = 16
// CHECK: "tf.MatMul"(%arg0, %[[W]])
// CHECK: %[[V:.*]] = "tf.Const"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 5.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: "tf.MatMul"(%[[V]], %arg0)
// CHECK: %[[AGAIN:.*]] = "tfl.external_const"() <{{.*}}offset = 0,
// CHECK: "tf.MatMul"(%arg0, %[[AGAIN]])
func.func @main(%x: tensor<2x2xf32>, %s: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %0 = "tf.MatMul"(%x, %w) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %v = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 5.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %1 = "tf.MatMul"(%v, %x) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %again = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %2 = "tf.MatMul"(%x, %again) {transpose_a = false, transpose_b = true} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %2 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
// -----

// RUN: map-weights, place-weights
// Through a cast that only forgets the shape, and a reshape. One use that needs the value gives it to all of them.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tfl.external_const"() <{{.*}}offset = 0,
// CHECK: "tf.MatMul"(%arg0, %[[W]]) {{.*}} (tensor<2x2xf32>, tensor<2x2xf32>)
// CHECK: %[[V:.*]] = "tfl.external_const"() <{{.*}}offset = 1,
// CHECK: %[[SQUARE:.*]] = "tf.Reshape"(%[[V]],
// CHECK: "tf.MatMul"(%arg0, %[[SQUARE]])
// CHECK: %[[U:.*]] = "tf.Const"() <{value = dense<{{\[\[}}1.000000e+00, 2.000000e+00], [3.000000e+00, 6.000000e+00]]>
// CHECK: "tf.MatMul"(%arg0, %[[U]])
// CHECK: "tf.Tanh"(%[[U]])
func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %w = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %cast = "tf.Cast"(%w) {Truncate = false} : (tensor<2x2xf32>) -> tensor<?x?xf32>
  %0 = "tf.MatMul"(%x, %cast) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<?x?xf32>) -> tensor<2x2xf32>
  %shape = "tf.Const"() {value = dense<[2, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %v = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 5.0]> : tensor<4xf32>, mapped} : () -> tensor<4xf32>
  %square = "tf.Reshape"(%v, %shape) : (tensor<4xf32>, tensor<2xi32>) -> tensor<2x2xf32>
  %1 = "tf.MatMul"(%x, %square) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = "tf.Const"() {value = dense<[[1.0, 2.0], [3.0, 6.0]]> : tensor<2x2xf32>, mapped} : () -> tensor<2x2xf32>
  %2 = "tf.MatMul"(%x, %u) {transpose_a = false, transpose_b = false} : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = "tf.Tanh"(%u) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %4 = "tf.AddV2"(%2, %3) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0, %1, %4 : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
