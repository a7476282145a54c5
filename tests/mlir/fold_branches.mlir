// RUN: simplify, fold-branches, inline{default-pipeline=}
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.If
// CHECK-NOT: PartitionedCall
// CHECK: "tf.Neg"(%arg0)
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %b = "tf.Const"() {value = dense<5> : tensor<i32>} : () -> tensor<i32>
  %p = "tf.Greater"(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %0 = "tf.If"(%p, %x) {then_branch = @relu, else_branch = @neg, is_stateless = true} : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @relu(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Relu"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @neg(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
