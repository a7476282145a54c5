// RUN: infer-shapes
// The sizes that are known, of a shape that is not: what a Dense layer on a rank-3 input computes.
// CHECK-LABEL: func.func @flatten
// CHECK: %[[TWENTY:.*]] = "tf.Const"() <{value = dense<20> : tensor<i32>}>
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
// RUN: lower-ensure-shape
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = "tf.Const"() <{value = dense<[-1, 8, 3]> : tensor<3xi32>}>
// CHECK: %[[R:.*]] = "tf.Reshape"(%arg0, %[[S]]) : (tensor<?x?x?xf32>, tensor<3xi32>) -> tensor<?x8x3xf32>
// CHECK: return %[[R]], %arg0, %arg1
func.func @main(%x: tensor<?x?x?xf32>, %y: tensor<2xf32>) -> (tensor<?x8x3xf32>, tensor<?x?x3xf32>, tensor<2xf32>) {
  %0 = "tf.EnsureShape"(%x) {shape = #tf_type.shape<?x8x3>} : (tensor<?x?x?xf32>) -> tensor<?x8x3xf32>
  %1 = "tf.EnsureShape"(%x) {shape = #tf_type.shape<?x?x3>} : (tensor<?x?x?xf32>) -> tensor<?x?x3xf32>
  %2 = "tf.EnsureShape"(%y) {shape = #tf_type.shape<?>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<?x8x3xf32>, tensor<?x?x3xf32>, tensor<2xf32>
}

// -----
// RUN: infer-shapes
// What is returned gives the function its type.
// CHECK-LABEL: func.func @main() -> tensor<2xi64>
// CHECK: tf.Pack
func.func @main() -> tensor<?xi64> {
  %a = "tf.Const"() {value = dense<0> : tensor<i64>} : () -> tensor<i64>
  %b = "tf.Const"() {value = dense<4> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.Pack"(%a, %b) {axis = 0 : i64} : (tensor<i64>, tensor<i64>) -> tensor<?xi64>
  return %0 : tensor<?xi64>
}
