// RUN: emit-equal-ops{avoided=DYNAMIC_UPDATE_SLICE}
// CHECK-LABEL: func.func @fixed
// CHECK: %[[E:.*]] = "tfl.equal"(%{{.*}}, %{{.*}}) : (tensor<3x1xi32>, tensor<i32>) -> tensor<3x1xi1>
// CHECK: "tfl.select_v2"(%[[E]], %arg1, %arg0)
func.func @fixed(%x: tensor<3x4xf32>, %item: tensor<1x4xf32>, %begin: tensor<2xi32>) -> tensor<3x4xf32> {
  %0 = "tfl.dynamic_update_slice"(%x, %item, %begin) : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// CHECK-LABEL: func.func @open
// CHECK: "tfl.range"
// CHECK: %[[I:.*]] = "tfl.scatter_nd"(%{{.*}}, %arg1, %{{.*}}) : (tensor<1x1xi32>, tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
// CHECK: "tfl.select_v2"(%{{.*}}, %[[I]], %arg0)
func.func @open(%x: tensor<?x?xf32>, %item: tensor<1x?xf32>, %begin: tensor<2xi32>) -> tensor<?x?xf32> {
  %0 = "tfl.dynamic_update_slice"(%x, %item, %begin) : (tensor<?x?xf32>, tensor<1x?xf32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
// What replaces several items, or parts of one, stays.
// CHECK-LABEL: func.func @others
// CHECK: tfl.dynamic_update_slice
// CHECK: tfl.dynamic_update_slice
func.func @others(%x: tensor<3x4xf32>, %two: tensor<2x4xf32>, %half: tensor<1x2xf32>, %begin: tensor<2xi32>) -> tensor<3x4xf32> {
  %0 = "tfl.dynamic_update_slice"(%x, %two, %begin) : (tensor<3x4xf32>, tensor<2x4xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  %1 = "tfl.dynamic_update_slice"(%0, %half, %begin) : (tensor<3x4xf32>, tensor<1x2xf32>, tensor<2xi32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
