// RUN: plain-signatures{entry=main inputs=ids+flag+x outputs=doubled+best+rows+truth}
// The ids are gathered by as they are, and cast once for all else.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<4xi32>, %arg1: tensor<ui8>, %arg2: tensor<9x3xf32>) -> (tensor<4xi32>, tensor<9xi32>, tensor<4x3xf32>, tensor<ui8>)
// CHECK-DAG: %[[FLAG:.*]] = "tfl.cast"(%arg1) : (tensor<ui8>) -> tensor<i1>
// CHECK-DAG: %[[WIDE:.*]] = "tfl.cast"(%arg0) : (tensor<4xi32>) -> tensor<4xi64>
// CHECK: %[[SUM:.*]] = tfl.add %[[WIDE]], %[[WIDE]]
// CHECK: %[[BEST:.*]] = "tfl.arg_max"(%arg2, {{.*}}) : (tensor<9x3xf32>, tensor<i32>) -> tensor<9xi32>
// CHECK: %[[ROWS:.*]] = "tfl.gather"(%arg2, %arg0)
// CHECK: %[[ADDED:.*]] = tfl.add %arg0, %arg0
// CHECK: %[[NARROW:.*]] = "tfl.cast"(%[[SUM]]) : (tensor<4xi64>) -> tensor<4xi32>
// CHECK: %[[BYTE:.*]] = "tfl.cast"(%{{.*}}) : (tensor<i1>) -> tensor<ui8>
// CHECK: return %[[NARROW]], %[[BEST]], %[[ROWS]], %[[BYTE]]
func.func @main(%ids: tensor<4xi64>, %flag: tensor<i1>, %x: tensor<9x3xf32>) -> (tensor<4xi64>, tensor<9xi64>, tensor<4x3xf32>, tensor<i1>) {
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.add"(%ids, %ids) {fused_activation_function = "NONE"} : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = "tfl.arg_max"(%x, %axis) : (tensor<9x3xf32>, tensor<i32>) -> tensor<9xi64>
  %2 = "tfl.gather"(%x, %ids) {axis = 0 : i32, batch_dims = 0 : i32} : (tensor<9x3xf32>, tensor<4xi64>) -> tensor<4x3xf32>
  %3 = "tfl.cast"(%ids) : (tensor<4xi64>) -> tensor<4xi32>
  %4 = "tfl.add"(%3, %3) {fused_activation_function = "NONE"} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  %5 = "tfl.logical_not"(%flag) : (tensor<i1>) -> tensor<i1>
  return %0, %1, %2, %5 : tensor<4xi64>, tensor<9xi64>, tensor<4x3xf32>, tensor<i1>
}

// -----
// RUN: plain-signatures{entry=main inputs=x+y outputs=same+most+again+numbers}
// An input that is an output, one of two uses, and numbers that int32 holds.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.arg_max"{{.*}} -> tensor<9xi64>
// CHECK: return %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi32>, tensor<9xi32>, tensor<9xi32>, tensor<2xi32>
func.func @main(%x: tensor<4xi64>, %y: tensor<9x3xf32>) -> (tensor<4xi64>, tensor<9xi64>, tensor<9xi64>, tensor<2xi64>) {
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tfl.arg_max"(%y, %axis) : (tensor<9x3xf32>, tensor<i32>) -> tensor<9xi64>
  %1 = "tfl.pseudo_const"() {value = dense<[-2147483648, 2147483647]> : tensor<2xi64>} : () -> tensor<2xi64>
  return %x, %0, %0, %1 : tensor<4xi64>, tensor<9xi64>, tensor<9xi64>, tensor<2xi64>
}

// -----
// RUN: plain-signatures{entry=main outputs=limit}
// ERROR: output 'limit' of main is int64 with the constant 2147483648
func.func @main() -> tensor<2xi64> {
  %0 = "tfl.pseudo_const"() {value = dense<[0, 2147483648]> : tensor<2xi64>} : () -> tensor<2xi64>
  return %0 : tensor<2xi64>
}
