// RUN: drop-constants
// A constant that nothing uses goes, in a loop's body too.
// CHECK-LABEL: func.func @main
// CHECK-NOT: dense<9
// CHECK: arith.constant dense<1.0
// CHECK: "tfl.while"
// CHECK-NOT: dense<9
// CHECK: arith.constant dense<5.0
// CHECK: "tfl.yield"
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %unused = arith.constant dense<9.0> : tensor<f32>
  %weight = "tfl.pseudo_const"() <{value = dense<99> : tensor<4xi32>}> : () -> tensor<4xi32>
  %integers = "tfl.pseudo_qconst"() <{qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>, value = dense<9> : tensor<2xi8>}>
      : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = tfl.mul(%x, %one) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = "tfl.while"(%0) ({
  ^bb0(%a: tensor<2xf32>):
    %false = arith.constant dense<false> : tensor<i1>
    "tfl.yield"(%false) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %more = arith.constant dense<9.5> : tensor<f32>
    %five = arith.constant dense<5.0> : tensor<f32>
    %2 = tfl.add(%a, %five) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
    "tfl.yield"(%2) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// RUN: drop-constants
// Of equal constants one is left, but for those of other types, and what a function returns.
// CHECK-LABEL: func.func @main
// CHECK: %[[ONE:.*]] = arith.constant dense<1.0{{.*}}> : tensor<f32>
// CHECK: %[[A:.*]] = tfl.mul(%arg0, %[[ONE]])
// CHECK: %[[ROW:.*]] = arith.constant dense<1.0{{.*}}> : tensor<1xf32>
// CHECK: %[[AGAIN:.*]] = "tfl.pseudo_const"
// CHECK: %[[B:.*]] = tfl.add(%[[A]], %[[ONE]])
// CHECK: tfl.sub(%[[B]], %[[ROW]])
// CHECK: return {{.*}}, %[[AGAIN]]
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<f32>) {
  %one = arith.constant dense<1.0> : tensor<f32>
  %0 = tfl.mul(%x, %one) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %row = arith.constant dense<1.0> : tensor<1xf32>
  %again = "tfl.pseudo_const"() <{value = dense<1.0> : tensor<f32>}> : () -> tensor<f32>
  %1 = tfl.add(%0, %again) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = tfl.sub(%1, %row) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %2, %again : tensor<2xf32>, tensor<f32>
}
