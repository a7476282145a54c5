// RUN: type-static-shapes
// The sizes are constant, those of another value, or follow from the operands.
// CHECK-LABEL: func.func @states
// CHECK: %[[H:.*]] = "tfl.fill"({{.*}}) : (tensor<2xi32>, tensor<f32>) -> tensor<3x2xf32>
// CHECK-NOT: "tfl.shape"
// CHECK: %[[SIZES:.*]] = "tfl.pseudo_const"() <{value = dense<[3, 2]> : tensor<2xi32>}>
// CHECK: %[[C:.*]] = "tfl.broadcast_to"({{.*}}, %[[SIZES]]) : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[COPY:.*]] = "tfl.maximum"(%[[C]], %[[C]]) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
// CHECK: "tfl.concatenation"(%[[H]], %[[COPY]]) {{.*}} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
func.func @states(%v: tensor<3x2xf32>) -> tensor<*xf32> {
  %dims = "tfl.pseudo_const"() {value = dense<[3, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  %shape = "tfl.shape"(%v) : (tensor<3x2xf32>) -> tensor<2xi32>
  %c = "tfl.broadcast_to"(%v, %shape) : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %copy = "tfl.maximum"(%c, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %both = "tfl.concatenation"(%h, %copy) {axis = 1 : i32, fused_activation_function = "NONE"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x4xf32>
  %cast = "tensor.cast"(%both) : (tensor<?x4xf32>) -> tensor<*xf32>
  return %cast : tensor<*xf32>
}

// -----
// RUN: type-static-shapes
// What a signature returns gives the function its type; what another function returns stays as its callers know it.
// CHECK-LABEL: func.func @signature() -> tensor<3x2xf32>
// CHECK: func.func private @called() -> tensor<?x2xf32>
func.func @signature() -> tensor<?x2xf32> {
  %dims = "tfl.pseudo_const"() {value = dense<[3, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  return %h : tensor<?x2xf32>
}
func.func private @called() -> tensor<?x2xf32> {
  %dims = "tfl.pseudo_const"() {value = dense<[3, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  return %h : tensor<?x2xf32>
}

// -----
// RUN: type-static-shapes
// Sizes that are only known in the call stay open.
// CHECK-LABEL: func.func @open
// CHECK: "tfl.fill"({{.*}}) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
// CHECK: "tfl.broadcast_to"({{.*}}) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
func.func @open(%dims: tensor<2xi32>, %v: tensor<1x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %h = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  %c = "tfl.broadcast_to"(%v, %dims) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  return %h, %c : tensor<?x2xf32>, tensor<?x2xf32>
}
