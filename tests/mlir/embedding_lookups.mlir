// RUN: embedding-lookups
// CHECK-LABEL: func.func @rows
// CHECK: %[[TABLE:.*]] = "tfl.pseudo_const"
// CHECK: %[[IDS:.*]] = "tfl.reshape"(%arg0, {{.*}}) : (tensor<?x5xi32>, tensor<1xi32>) -> tensor<?xi32>
// CHECK: %[[ROWS:.*]] = "tfl.embedding_lookup"(%[[IDS]], %[[TABLE]]) : (tensor<?xi32>, tensor<9x2xf32>) -> tensor<?x2xf32>
// CHECK: value = dense<[-1, 5, 2]> : tensor<3xi32>
// CHECK: "tfl.reshape"(%[[ROWS]], {{.*}}) : (tensor<?x2xf32>, tensor<3xi32>) -> tensor<?x5x2xf32>
// CHECK-NOT: tfl.gather
func.func @rows(%ids: tensor<?x5xi32>) -> tensor<?x5x2xf32> {
  %table = "tfl.pseudo_const"() {value = dense<1.5> : tensor<9x2xf32>} : () -> tensor<9x2xf32>
  %0 = "tfl.gather"(%table, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x2xf32>, tensor<?x5xi32>) -> tensor<?x5x2xf32>
  return %0 : tensor<?x5x2xf32>
}
// Where two sizes are open, the shape is put together of that of the ids.
// CHECK-LABEL: func.func @open
// CHECK: %[[NARROW:.*]] = "tfl.cast"(%arg0) : (tensor<?x?xi64>) -> tensor<?x?xi32>
// CHECK: "tfl.embedding_lookup"
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%[[NARROW]])
// CHECK: %[[WHOLE:.*]] = "tfl.concatenation"(%[[SHAPE]]
// CHECK: "tfl.reshape"({{.*}}, %[[WHOLE]])
func.func @open(%ids: tensor<?x?xi64>) -> tensor<?x?x2xf32> {
  %table = "tfl.pseudo_const"() {value = dense<1.5> : tensor<9x2xf32>} : () -> tensor<9x2xf32>
  %0 = "tfl.gather"(%table, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x2xf32>, tensor<?x?xi64>) -> tensor<?x?x2xf32>
  return %0 : tensor<?x?x2xf32>
}
// Columns, values that are computed, and integers are gathered as before.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tfl.gather
// CHECK-NOT: tfl.embedding_lookup
func.func @others(%x: tensor<9x2xf32>, %ids: tensor<3xi32>) -> (tensor<9x3xf32>, tensor<3x2xf32>, tensor<3x2xi32>) {
  %table = "tfl.pseudo_const"() {value = dense<1.5> : tensor<9x2xf32>} : () -> tensor<9x2xf32>
  %numbers = "tfl.pseudo_const"() {value = dense<1> : tensor<9x2xi32>} : () -> tensor<9x2xi32>
  %0 = "tfl.gather"(%table, %ids) {axis = 1 : i32, batch_dims = 0 : i32} : (tensor<9x2xf32>, tensor<3xi32>) -> tensor<9x3xf32>
  %1 = "tfl.gather"(%x, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x2xf32>, tensor<3xi32>) -> tensor<3x2xf32>
  %2 = "tfl.gather"(%numbers, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x2xi32>, tensor<3xi32>) -> tensor<3x2xi32>
  return %0, %1, %2 : tensor<9x3xf32>, tensor<3x2xf32>, tensor<3x2xi32>
}
