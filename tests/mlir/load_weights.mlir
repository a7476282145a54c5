// RUN: load-weights
// What refers to its bytes gets a copy of them; what has them already stays.
// CHECK-LABEL: func.func @main
// CHECK: "tf.Const"() <{value = dense<[1.000000e+00, 5.000000e-01]> : tensor<2xf32>}>
// CHECK: "tf.Const"() <{value = dense<3.000000e+00> : tensor<f32>}>
func.func @main() -> (tensor<2xf32>, tensor<f32>) {
  %w = "tf.Const"() {value = dense_resource<weight> : tensor<2xf32>} : () -> tensor<2xf32>
  %c = "tf.Const"() {value = dense<3.0> : tensor<f32>} : () -> tensor<f32>
  return %w, %c : tensor<2xf32>, tensor<f32>
}
{-#
  dialect_resources: {
    builtin: {
      weight: "0x040000000000803F0000003F"
    }
  }
#-}
