// RUN: canonicalize, check-constants
// The engine folds a product with zero whatever the shape is, and here there is no constant of the shape.
// ERROR: function main, loc("product"): the engine made a constant of the dynamic shape tensor<?xf32> of an op
// ERROR: Fix the sizes of the inputs
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.constant dense<0.0> : tensor<f32>
  %1 = tfl.mul(%x, %0) <{fused_activation_function = "NONE"}> : (tensor<?xf32>, tensor<f32>) -> tensor<?xf32> loc("product")
  return %1 : tensor<?xf32>
}

// -----

// RUN: canonicalize, check-constants
// ERROR: tensor<2x?xi32>
func.func @main() -> tensor<f32> {
  %0 = arith.constant dense<1.0> : tensor<f32>
  return %0 : tensor<f32>
}
func.func private @called(%x: tensor<2x?xi32>) -> tensor<2x?xi32> {
  %0 = arith.constant dense<0> : tensor<i32>
  %1 = tfl.mul(%x, %0) <{fused_activation_function = "NONE"}> : (tensor<2x?xi32>, tensor<i32>) -> tensor<2x?xi32>
  return %1 : tensor<2x?xi32>
}

// -----

// RUN: canonicalize, check-constants
// Constants of known shapes, of weights and of complex elements are right.
// CHECK-LABEL: func.func @main
// CHECK: arith.constant dense<(1.000000e+00,2.000000e+00)> : tensor<1xcomplex<f32>>
// CHECK: arith.constant dense_resource<weight>
// CHECK: arith.constant dense<0.000000e+00> : tensor<2xf32>
func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<1xcomplex<f32>>) {
  %0 = arith.constant dense<0.0> : tensor<f32>
  %1 = tfl.mul(%x, %0) <{fused_activation_function = "NONE"}> : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = arith.constant dense_resource<weight> : tensor<2xf32>
  %3 = "tfl.pseudo_const"() {value = dense<(1.0, 2.0)> : tensor<1xcomplex<f32>>} : () -> tensor<1xcomplex<f32>>
  return %1, %2, %3 : tensor<2xf32>, tensor<2xf32>, tensor<1xcomplex<f32>>
}
{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000003F"
    }
  }
#-}
