// RUN: center-first
// CHECK-LABEL: func.func @main
// CHECK: %[[MEAN:.*]] = "tfl.mean"(%arg0
// CHECK: %[[CENTERED:.*]] = tfl.sub(%arg0, %[[MEAN]])
// CHECK: %[[SCALED:.*]] = tfl.mul(%[[CENTERED]], %arg1)
// CHECK: %[[WITH_GAMMA:.*]] = tfl.mul(%[[SCALED]],
// CHECK: %[[Y:.*]] = tfl.add(%[[WITH_GAMMA]],
// CHECK-NEXT: return %[[Y]]
func.func @main(%x: tensor<3x4xf32>, %r: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %gamma = "tfl.pseudo_const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %beta = "tfl.pseudo_const"() {value = dense<[4.0, 3.0, 2.0, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %m = "tfl.mean"(%x, %axis) {keep_dims = true} : (tensor<3x4xf32>, tensor<1xi32>) -> tensor<3x1xf32>
  %f = "tfl.mul"(%r, %gamma) {fused_activation_function = "NONE"} : (tensor<3x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>
  %0 = "tfl.mul"(%m, %f) {fused_activation_function = "NONE"} : (tensor<3x1xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %1 = "tfl.sub"(%beta, %0) {fused_activation_function = "NONE"} : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %2 = "tfl.mul"(%x, %f) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %3 = "tfl.add"(%2, %1) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}

// CHECK-LABEL: func.func @mean_of_another
// CHECK-NOT: tfl.sub(%arg0
// CHECK: return
func.func @mean_of_another(%x: tensor<3x4xf32>, %r: tensor<3x1xf32>) -> tensor<3x4xf32> {
  %axis = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %beta = "tfl.pseudo_const"() {value = dense<[4.0, 3.0, 2.0, 1.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %e = "tfl.exp"(%x) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %m = "tfl.mean"(%e, %axis) {keep_dims = true} : (tensor<3x4xf32>, tensor<1xi32>) -> tensor<3x1xf32>
  %0 = "tfl.mul"(%m, %r) {fused_activation_function = "NONE"} : (tensor<3x1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  %1 = "tfl.sub"(%beta, %0) {fused_activation_function = "NONE"} : (tensor<4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %2 = "tfl.mul"(%x, %r) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %3 = "tfl.add"(%2, %1) {fused_activation_function = "NONE"} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %3 : tensor<3x4xf32>
}
