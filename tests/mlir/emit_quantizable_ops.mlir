// RUN: emit-equal-ops{avoided=TILE+LEAKY_RELU+MINIMUM+NEG+PRELU+REDUCE_MAX}
// No CONCATENATION has more than ten operands.
// CHECK-LABEL: func.func @tile
// CHECK: %[[R:.*]] = "tfl.concatenation"(%arg0, %arg0) <{axis = 0 : i32, fused_activation_function = "NONE"}> : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
// CHECK: %[[P:.*]] = "tfl.concatenation"(%[[R]], %[[R]]) {{.*}} -> tensor<2x6xf32>
// CHECK: %[[Q:.*]] = "tfl.concatenation"(%[[R]], %[[R]], %[[R]]) {{.*}} -> tensor<2x9xf32>
// CHECK: "tfl.concatenation"(%[[P]], %[[P]], %[[P]], %[[P]], %[[P]], %[[P]], %[[P]], %[[P]], %[[Q]]) {{.*}} -> tensor<2x57xf32>
// CHECK-NOT: tfl.tile
func.func @tile(%x: tensor<1x3xf32>) -> tensor<2x57xf32> {
  %counts = "tfl.pseudo_const"() {value = dense<[2, 19]> : tensor<2xi32>} : () -> tensor<2xi32>
  %0 = "tfl.tile"(%x, %counts) : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<2x57xf32>
  return %0 : tensor<2x57xf32>
}
// What is known in the call alone stays.
// CHECK-LABEL: func.func @tile_in_call
// CHECK: "tfl.tile"(%arg0, %arg1)
func.func @tile_in_call(%x: tensor<3xf32>, %counts: tensor<1xi32>) -> tensor<?xf32> {
  %0 = "tfl.tile"(%x, %counts) : (tensor<3xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
// CHECK-LABEL: func.func @leaky
// CHECK: %[[M:.*]] = tfl.mul(%arg0, %{{.*}}) <{fused_activation_function = "NONE"}> : (tensor<2x3xf32>, tensor<f32>)
// CHECK: "tfl.maximum"(%arg0, %[[M]])
// CHECK: "tfl.leaky_relu"(%arg0) <{alpha = 1.500000e+00 : f32}>
func.func @leaky(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %0 = "tfl.leaky_relu"(%x) {alpha = 1.0e-01 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.leaky_relu"(%x) {alpha = 1.5 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @prelu
// CHECK: %[[M:.*]] = tfl.mul(%arg0, %{{.*}})
// CHECK: "tfl.maximum"(%arg0, %[[M]])
// CHECK: %[[P:.*]] = "tfl.relu"(%arg0)
// CHECK: %[[N:.*]] = tfl.sub %arg0, %[[P]]
// CHECK: %[[S:.*]] = tfl.mul(%[[N]], %{{.*}})
// CHECK: tfl.add %[[P]], %[[S]]
func.func @prelu(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %small = "tfl.pseudo_const"() {value = dense<[0.1, 0.2, 1.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %other = "tfl.pseudo_const"() {value = dense<[0.1, -0.5, 2.0]> : tensor<3xf32>} : () -> tensor<3xf32>
  %0 = "tfl.prelu"(%x, %small) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.prelu"(%x, %other) : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32>
}
// CHECK-LABEL: func.func @neg
// CHECK: tfl.mul(%arg0, %{{.*}})
// CHECK: "tfl.neg"(%arg1)
func.func @neg(%x: tensor<2xf32>, %n: tensor<2xi32>) -> (tensor<2xf32>, tensor<2xi32>) {
  %0 = "tfl.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tfl.neg"(%n) : (tensor<2xi32>) -> tensor<2xi32>
  return %0, %1 : tensor<2xf32>, tensor<2xi32>
}
// CHECK-LABEL: func.func @minimum
// CHECK: %[[X:.*]] = tfl.mul(%arg0, %{{.*}})
// CHECK: %[[C:.*]] = "tfl.pseudo_const"() <{value = dense<[-1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
// CHECK: %[[M:.*]] = "tfl.maximum"(%[[X]], %[[C]]) : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
// CHECK: tfl.mul(%[[M]], %{{.*}}) <{{.*}}> : (tensor<1x2xf32>, tensor<f32>)
// CHECK-NOT: tfl.minimum
func.func @minimum(%x: tensor<1x1xf32>) -> tensor<1x2xf32> {
  %c = "tfl.pseudo_const"() {value = dense<[1.0, -2.0]> : tensor<2xf32>} : () -> tensor<2xf32>
  %0 = "tfl.minimum"(%x, %c) : (tensor<1x1xf32>, tensor<2xf32>) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}
// CHECK-LABEL: func.func @reduce_max
// CHECK: %[[I:.*]] = "tfl.max_pool_2d"(%arg0) <{filter_height = 4 : i32, filter_width = 5 : i32, fused_activation_function = "NONE", padding = "VALID", stride_h = 1 : i32, stride_w = 1 : i32}> : (tensor<2x4x5x3xf32>) -> tensor<2x1x1x3xf32>
// CHECK: "tfl.reshape"(%[[I]], %{{.*}}) : (tensor<2x1x1x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[S:.*]] = "tfl.reshape"(%arg1, %{{.*}}) : (tensor<2x7x3xf32>, tensor<4xi32>) -> tensor<2x7x1x3xf32>
// CHECK: %[[T:.*]] = "tfl.max_pool_2d"(%[[S]]) {{.*}} -> tensor<2x1x1x3xf32>
// CHECK: "tfl.reshape"(%[[T]], %{{.*}}) : (tensor<2x1x1x3xf32>, tensor<3xi32>) -> tensor<2x1x3xf32>
// CHECK: "tfl.reduce_max"(%arg1
func.func @reduce_max(%image: tensor<2x4x5x3xf32>, %series: tensor<2x7x3xf32>) -> (tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<2x7xf32>) {
  %places = "tfl.pseudo_const"() {value = dense<[2, 1]> : tensor<2xi32>} : () -> tensor<2xi32>
  %steps = "tfl.pseudo_const"() {value = dense<-2> : tensor<1xi32>} : () -> tensor<1xi32>
  %last = "tfl.pseudo_const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tfl.reduce_max"(%image, %places) {keep_dims = false} : (tensor<2x4x5x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = "tfl.reduce_max"(%series, %steps) {keep_dims = true} : (tensor<2x7x3xf32>, tensor<1xi32>) -> tensor<2x1x3xf32>
  %2 = "tfl.reduce_max"(%series, %last) {keep_dims = false} : (tensor<2x7x3xf32>, tensor<1xi32>) -> tensor<2x7xf32>
  return %0, %1, %2 : tensor<2x3xf32>, tensor<2x1x3xf32>, tensor<2x7xf32>
}
