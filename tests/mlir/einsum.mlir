// RUN: fuse-composites
// The body stays with the op, and the equation.
// CHECK: func.func private @product.decomposition(%arg0: tensor<?x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT: tf.MatMul
// CHECK: func.func private @product(%arg0: tensor<?x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<?x4xf32> {
// CHECK-NEXT: stablehlo.composite "tf.einsum" %arg0, %arg1 {composite_attributes = {equation = "ij,jk->ik"}, decomposition = @product.decomposition}
func.func private @product(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>) -> tensor<?x4xf32>
    attributes {tf._implements = {name = "einsum", attributes = {equation = "ij,jk->ik"}}} {
  %0 = "tf.MatMul"(%x, %w) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----
// RUN: fuse-composites
// No equation, and one of other ranks: the body stays, and nothing beside it.
// CHECK-NOT: decomposition
// CHECK: func.func private @no_equation
// CHECK-NEXT: tf.MatMul
func.func private @no_equation(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>) -> tensor<?x4xf32> attributes {tf._implements = "einsum"} {
  %0 = "tf.MatMul"(%x, %w) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-NOT: decomposition
// CHECK: func.func private @other_ranks
// CHECK-NEXT: tf.MatMul
func.func private @other_ranks(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>) -> tensor<?x4xf32>
    attributes {tf._implements = {name = "einsum", attributes = {equation = "bij,jk->bik"}}} {
  %0 = "tf.MatMul"(%x, %w) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
// CHECK-NOT: decomposition
