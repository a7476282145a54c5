// RUN: multiply-matrices
// CHECK-LABEL: func.func @static
// CHECK-NOT: tfl.transpose
// CHECK: %[[Y:.*]] = "tfl.batch_matmul"(%arg0, %arg1) <{adj_x = false, adj_y = false}>
// CHECK: return %[[Y]]
func.func @static(%a: tensor<5x8xf32>, %b: tensor<8x9xf32>) -> tensor<5x9xf32> {
  %order = arith.constant dense<[1, 0]> : tensor<2xi32>
  %none = "tfl.no_value"() {value} : () -> none
  %t = "tfl.transpose"(%b, %order) : (tensor<8x9xf32>, tensor<2xi32>) -> tensor<9x8xf32>
  %0 = "tfl.fully_connected"(%a, %t, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  return %0 : tensor<5x9xf32>
}
// A number of rows that may be zero, a bias, an activation: the product stays.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: tfl.fully_connected
func.func @others(%a: tensor<5x8xf32>, %b: tensor<8x9xf32>, %d: tensor<?x8xf32>, %bias: tensor<9xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>, tensor<?x9xf32>) {
  %order = arith.constant dense<[1, 0]> : tensor<2xi32>
  %none = "tfl.no_value"() {value} : () -> none
  %t = "tfl.transpose"(%b, %order) : (tensor<8x9xf32>, tensor<2xi32>) -> tensor<9x8xf32>
  %0 = "tfl.fully_connected"(%a, %t, %bias) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, tensor<9xf32>) -> tensor<5x9xf32>
  %1 = "tfl.fully_connected"(%a, %t, %none) <{fused_activation_function = "RELU", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  %2 = "tfl.fully_connected"(%d, %t, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<?x8xf32>, tensor<9x8xf32>, none) -> tensor<?x9xf32>
  return %0, %1, %2 : tensor<5x9xf32>, tensor<5x9xf32>, tensor<?x9xf32>
}
// What is multiplied from the left may be transposed too, and what is multiplied from the right may not be.
// CHECK-LABEL: func.func @left
// CHECK-NOT: tfl.transpose
// CHECK: "tfl.batch_matmul"(%arg0, %arg1) <{adj_x = true, adj_y = false}>
// CHECK: "tfl.batch_matmul"(%arg0, %arg2) <{adj_x = true, adj_y = true}>
func.func @left(%a: tensor<8x5xf32>, %b: tensor<8x9xf32>, %c: tensor<9x8xf32>) -> (tensor<5x9xf32>, tensor<5x9xf32>) {
  %order = arith.constant dense<[1, 0]> : tensor<2xi32>
  %none = "tfl.no_value"() {value} : () -> none
  %s = "tfl.transpose"(%a, %order) : (tensor<8x5xf32>, tensor<2xi32>) -> tensor<5x8xf32>
  %t = "tfl.transpose"(%b, %order) : (tensor<8x9xf32>, tensor<2xi32>) -> tensor<9x8xf32>
  %0 = "tfl.fully_connected"(%s, %t, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  %1 = "tfl.fully_connected"(%s, %c, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  return %0, %1 : tensor<5x9xf32>, tensor<5x9xf32>
}
// A matrix whose transposition has other uses keeps it; a weight is transposed once, elsewhere.
// CHECK-LABEL: func.func @shared
// CHECK: tfl.transpose
// CHECK: tfl.batch_matmul
// CHECK: tfl.fully_connected
func.func @shared(%a: tensor<5x8xf32>, %b: tensor<8x9xf32>) -> (tensor<5x9xf32>, tensor<9x8xf32>, tensor<5x9xf32>) {
  %order = arith.constant dense<[1, 0]> : tensor<2xi32>
  %none = "tfl.no_value"() {value} : () -> none
  %w = "tfl.pseudo_const"() <{value = dense<0.5> : tensor<8x9xf32>}> : () -> tensor<8x9xf32>
  %t = "tfl.transpose"(%b, %order) : (tensor<8x9xf32>, tensor<2xi32>) -> tensor<9x8xf32>
  %v = "tfl.transpose"(%w, %order) : (tensor<8x9xf32>, tensor<2xi32>) -> tensor<9x8xf32>
  %0 = "tfl.fully_connected"(%a, %t, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  %1 = "tfl.fully_connected"(%a, %v, %none) <{fused_activation_function = "NONE", keep_num_dims = false, weights_format = "DEFAULT"}> : (tensor<5x8xf32>, tensor<9x8xf32>, none) -> tensor<5x9xf32>
  return %0, %t, %1 : tensor<5x9xf32>, tensor<9x8xf32>, tensor<5x9xf32>
}
