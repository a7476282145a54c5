// RUN: fill-buffers
// A large constant that a loop begins with is made when the model runs; a small one, one of several values, one that LiteRT
// does not fill, and what is not constant, stays.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: tensor<64x4xf32>}>
// CHECK: %[[SMALL:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<255xf32>}>
// CHECK: %[[BYTES:.*]] = "tfl.pseudo_const"() <{value = dense<1> : tensor<500xui8>}>
// CHECK: %[[OTHER:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<500xi32>}>
// CHECK: %[[DIMS:.*]] = "tfl.pseudo_const"() <{value = dense<[64, 4]> : tensor<2xi32>}>
// CHECK: %[[ZERO:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK: %[[LARGE:.*]] = "tfl.fill"(%[[DIMS]], %[[ZERO]]) : (tensor<2xi32>, tensor<f32>) -> tensor<64x4xf32>
// CHECK: %[[TWOS:.*]] = "tfl.fill"({{.*}} -> tensor<500xi32>
// CHECK: "tfl.while"(%[[LARGE]], %[[SMALL]], %[[BYTES]], %[[TWOS]], %arg0)
// CHECK: return %{{.*}}, %[[OTHER]]
func.func @main(%x: tensor<500xf32>) -> (tensor<64x4xf32>, tensor<500xi32>) {
  %large = "tfl.pseudo_const"() {value = dense<0.0> : tensor<64x4xf32>} : () -> tensor<64x4xf32>
  %small = "tfl.pseudo_const"() {value = dense<0.0> : tensor<255xf32>} : () -> tensor<255xf32>
  %bytes = "tfl.pseudo_const"() {value = dense<1> : tensor<500xui8>} : () -> tensor<500xui8>
  %other = "tfl.pseudo_const"() {value = dense<2> : tensor<500xi32>} : () -> tensor<500xi32>
  %0:5 = "tfl.while"(%large, %small, %bytes, %other, %x) ({
  ^bb0(%a: tensor<64x4xf32>, %b: tensor<255xf32>, %c: tensor<500xui8>, %d: tensor<500xi32>, %e: tensor<500xf32>):
    %f = "tfl.pseudo_const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    "tfl.yield"(%f) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<64x4xf32>, %b: tensor<255xf32>, %c: tensor<500xui8>, %d: tensor<500xi32>, %e: tensor<500xf32>):
    "tfl.yield"(%a, %b, %c, %d, %e) : (tensor<64x4xf32>, tensor<255xf32>, tensor<500xui8>, tensor<500xi32>, tensor<500xf32>) -> ()
  }) : (tensor<64x4xf32>, tensor<255xf32>, tensor<500xui8>, tensor<500xi32>, tensor<500xf32>) -> (tensor<64x4xf32>, tensor<255xf32>, tensor<500xui8>, tensor<500xi32>, tensor<500xf32>)
  return %0#0, %other : tensor<64x4xf32>, tensor<500xi32>
}
