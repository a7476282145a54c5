// RUN: fill-buffers
// A large constant that a loop begins with is made when the model runs; a small one, and one of several values, stays.
// CHECK-LABEL: func.func @main(
// CHECK-DAG: %[[SMALL:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<4xf32>}>
// CHECK: %[[DIMS:.*]] = "tfl.pseudo_const"() <{value = dense<[100, 5]> : tensor<2xi32>}>
// CHECK: %[[ZERO:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK: %[[LARGE:.*]] = "tfl.fill"(%[[DIMS]], %[[ZERO]]) : (tensor<2xi32>, tensor<f32>) -> tensor<100x5xf32>
// CHECK: "tfl.while"(%[[LARGE]], %[[SMALL]])
func.func @main() -> tensor<100x5xf32> {
  %large = "tfl.pseudo_const"() {value = dense<0.0> : tensor<100x5xf32>} : () -> tensor<100x5xf32>
  %small = "tfl.pseudo_const"() {value = dense<0.0> : tensor<4xf32>} : () -> tensor<4xf32>
  %0:2 = "tfl.while"(%large, %small) ({
  ^bb0(%a: tensor<100x5xf32>, %b: tensor<4xf32>):
    %c = "tfl.pseudo_const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
    "tfl.yield"(%c) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<100x5xf32>, %b: tensor<4xf32>):
    "tfl.yield"(%a, %b) : (tensor<100x5xf32>, tensor<4xf32>) -> ()
  }) : (tensor<100x5xf32>, tensor<4xf32>) -> (tensor<100x5xf32>, tensor<4xf32>)
  return %0#0 : tensor<100x5xf32>
}
