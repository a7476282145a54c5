// RUN: prepare-shapes
// Sizes that stand side by side in a shape are a slice of it, constants one constant, and what is computed of sizes is
// reshaped. What only PACK used goes.
// CHECK-LABEL: func.func @main(
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%arg0)
// CHECK: %[[AREA:.*]] = tfl.mul
// CHECK-DAG: %[[FIRST:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK-DAG: %[[END:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[TWO:.*]] = "tfl.strided_slice"(%[[SHAPE]], %[[FIRST]], %[[END]], %{{.*}}) <{begin_mask = 0 : i32, {{.*}}shrink_axis_mask = 0 : i32}> : {{.*}} -> tensor<2xi32>
// CHECK: %[[CONSTANTS:.*]] = "tfl.pseudo_const"() <{value = dense<[4, 2]> : tensor<2xi32>}>
// CHECK: %[[ONE:.*]] = "tfl.reshape"(%[[AREA]], %{{.*}}) : {{.*}} -> tensor<1xi32>
// CHECK: %[[DIMS:.*]] = "tfl.concatenation"(%[[TWO]], %[[CONSTANTS]], %[[ONE]])
// CHECK-NOT: tfl.pack
// CHECK: "tfl.fill"(%[[DIMS]]
func.func @main(%x: tensor<?x?xf32>, %one: tensor<f32>) -> tensor<?x?x4x2x?xf32> {
  %c0 = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %c1 = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %c2 = "tfl.pseudo_const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %four = "tfl.pseudo_const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %two = "tfl.pseudo_const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %shape = "tfl.shape"(%x) : (tensor<?x?xf32>) -> tensor<2xi32>
  %rows = "tfl.strided_slice"(%shape, %c0, %c1, %c1) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %columns = "tfl.strided_slice"(%shape, %c1, %c2, %c1) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %area = tfl.mul %rows, %columns {fused_activation_function = "NONE"} : tensor<i32>
  %dims = "tfl.pack"(%rows, %columns, %four, %two, %area) {axis = 0 : i32, values_count = 5 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5xi32>
  %filled = "tfl.fill"(%dims, %one) : (tensor<5xi32>, tensor<f32>) -> tensor<?x?x4x2x?xf32>
  return %filled : tensor<?x?x4x2x?xf32>
}
// -----
// RUN: prepare-shapes
// Products of sizes and constants side by side are one product, whatever else has the constant.
// CHECK-LABEL: func.func @main(
// CHECK: %[[TWO:.*]] = "tfl.strided_slice"(%{{.*}}) <{{{.*}}shrink_axis_mask = 0 : i32}> : {{.*}} -> tensor<2xi32>
// CHECK: %[[FACTORS:.*]] = "tfl.pseudo_const"() <{value = dense<[1, 2]> : tensor<2xi32>}>
// CHECK: %[[SIZES:.*]] = tfl.mul %[[TWO]], %[[FACTORS]] {fused_activation_function = "NONE"} : tensor<2xi32>
// CHECK: "tfl.concatenation"(%[[SIZES]], %{{.*}})
// CHECK-NOT: tfl.reshape
func.func @main(%x: tensor<?x?xf32>, %one: tensor<f32>) -> tensor<?x?x2xf32> {
  %c0 = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %c1 = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %c2 = "tfl.pseudo_const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %two = "tfl.pseudo_const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %shape = "tfl.shape"(%x) : (tensor<?x?xf32>) -> tensor<2xi32>
  %rows = "tfl.strided_slice"(%shape, %c0, %c1, %c1) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %columns = "tfl.strided_slice"(%shape, %c1, %c2, %c1) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %twice = tfl.mul %two, %columns {fused_activation_function = "NONE"} : tensor<i32>
  %dims = "tfl.pack"(%rows, %twice, %two) {axis = 0 : i32, values_count = 3 : i32} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %filled = "tfl.fill"(%dims, %one) : (tensor<3xi32>, tensor<f32>) -> tensor<?x?x2xf32>
  return %filled : tensor<?x?x2xf32>
}
// -----
// RUN: prepare-shapes
// A slice from the first element on is one that LiteRT knows the shape of; -1 is what is left.
// CHECK-LABEL: func.func @main(
// CHECK: %[[BEGIN:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[SIZES:.*]] = "tfl.concatenation"
// CHECK: "tfl.strided_slice"(%arg0, %[[BEGIN]], %[[SIZES]], %{{.*}}) <{begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 2 : i32,
func.func @main(%table: tensor<16x8xf32>, %x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %begin = "tfl.pseudo_const"() {value = dense<0> : tensor<2xi32>} : () -> tensor<2xi32>
  %c0 = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %c1 = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %rest = "tfl.pseudo_const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %shape = "tfl.shape"(%x) : (tensor<?x8xf32>) -> tensor<2xi32>
  %rows = "tfl.strided_slice"(%shape, %c0, %c1, %c1) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %sizes = "tfl.pack"(%rows, %rest) {axis = 0 : i32, values_count = 2 : i32} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %slice = "tfl.slice"(%table, %begin, %sizes) : (tensor<16x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x8xf32>
  return %slice : tensor<?x8xf32>
}
// -----
// RUN: prepare-shapes
// What only the call knows is packed in the call.
// CHECK-LABEL: func.func @main(
// CHECK: "tfl.pack"(%arg0, %
func.func @main(%rows: tensor<i32>) -> tensor<2xi32> {
  %four = "tfl.pseudo_const"() {value = dense<4> : tensor<i32>} : () -> tensor<i32>
  %dims = "tfl.pack"(%rows, %four) {axis = 0 : i32, values_count = 2 : i32} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  return %dims : tensor<2xi32>
}
