// RUN: fold-constants
// What is computed becomes a constant, comparisons too; what is made for others only goes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tfl.exp
// CHECK: %[[SUM:.*]] = "tfl.pseudo_const"() <{value = dense<[3.000000e+00, 5.000000e+00]> : tensor<2xf32>}>
// CHECK: %[[LESS:.*]] = "tfl.pseudo_const"() <{value = dense<[true, false]> : tensor<2xi1>}>
// CHECK: tfl.mul %arg0, %[[SUM]]
// CHECK: "tfl.select_v2"(%[[LESS]]
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %one = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %zero = arith.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %four = arith.constant dense<4.0> : tensor<f32>
  %0 = "tfl.exp"(%zero) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = tfl.add(%one, %one) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %2 = tfl.add(%1, %0) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "tfl.less"(%2, %four) : (tensor<2xf32>, tensor<f32>) -> tensor<2xi1>
  %4 = tfl.mul(%x, %2) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %5 = "tfl.select_v2"(%3, %4, %x) : (tensor<2xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %5 : tensor<2xf32>
}
// Elements that are only moved or repeated are less in the file as they are, and weights are elsewhere.
// CHECK-LABEL: func.func @moved
// CHECK: "tfl.fill"
// CHECK: "tfl.exp"
func.func @moved() -> (tensor<1000xf32>, tensor<2xf32>) {
  %dims = arith.constant dense<1000> : tensor<1xi32>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = "tfl.fill"(%dims, %one) : (tensor<1xi32>, tensor<f32>) -> tensor<1000xf32>
  %weight = arith.constant dense_resource<weight> : tensor<2xf32>
  %1 = "tfl.exp"(%weight) : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<1000xf32>, tensor<2xf32>
}
{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000003F"
    }
  }
#-}
