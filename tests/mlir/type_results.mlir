// RUN: type-results
// CHECK-LABEL: func.func @main
// CHECK: "tfl.pad"{{.*}} -> tensor<?x6x9xf32>
// CHECK: "tfl.transpose"{{.*}} -> tensor<9x?x6xf32>
func.func @main(%x: tensor<?x4x6xf32>) -> tensor<9x?x6xf32> {
  %paddings = arith.constant dense<[[0, 0], [1, 1], [1, 2]]> : tensor<3x2xi32>
  %0 = "tfl.pad"(%x, %paddings) : (tensor<?x4x6xf32>, tensor<3x2xi32>) -> tensor<*xf32>
  %order = arith.constant dense<[2, 0, 1]> : tensor<3xi32>
  %1 = "tfl.transpose"(%0, %order) : (tensor<*xf32>, tensor<3xi32>) -> tensor<*xf32>
  %2 = "tfl.neg"(%1) : (tensor<*xf32>) -> tensor<9x?x6xf32>
  return %2 : tensor<9x?x6xf32>
}
// A result that is returned keeps the function's type; of one whose paddings are computed the rank is known.
// CHECK-LABEL: func.func @open
// CHECK: "tfl.pad"{{.*}} -> tensor<*xf32>
// CHECK: "tfl.pad"{{.*}} -> tensor<?xf32>
func.func @open(%x: tensor<2xf32>, %p: tensor<1x2xi32>) -> (tensor<*xf32>, tensor<?xf32>) {
  %paddings = arith.constant dense<[[0, 1]]> : tensor<1x2xi32>
  %0 = "tfl.pad"(%x, %paddings) : (tensor<2xf32>, tensor<1x2xi32>) -> tensor<*xf32>
  %1 = "tfl.pad"(%x, %p) : (tensor<2xf32>, tensor<1x2xi32>) -> tensor<*xf32>
  %2 = "tfl.neg"(%1) : (tensor<*xf32>) -> tensor<?xf32>
  return %0, %2 : tensor<*xf32>, tensor<?xf32>
}
