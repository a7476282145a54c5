// RUN: infer-loop-types
// Types alone, through the loop and in all functions; where two calls differ in them, each calls a function of its own.
// CHECK-LABEL: func.func @main(%arg0: tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: "tf.OnesLike"(%arg0) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK: "tf.While"{{.*}} -> (tensor<i32>, tensor<4x3xf32>)
// CHECK: "tf.Neg"{{.*}} -> tensor<4x3xf32>
// CHECK-LABEL: func.func private @cond(%arg0: tensor<i32>, %arg1: tensor<4x3xf32>) -> tensor<i1>
// CHECK-LABEL: func.func private @body(%arg0: tensor<i32>, %arg1: tensor<4x3xf32>) -> (tensor<i32>, tensor<4x3xf32>)
// CHECK: "tf.Tanh"(%arg1) : (tensor<4x3xf32>) -> tensor<4x3xf32>
// CHECK-LABEL: func.func @five(%arg0: tensor<5xf32>) -> tensor<5xf32>
// CHECK: f = @[[FIVE:[a-z_0-9]+]]}> : (tensor<5xf32>) -> tensor<5xf32>
// CHECK-LABEL: func.func @six(%arg0: tensor<6xf32>) -> tensor<6xf32>
// CHECK: f = @[[SIX:[a-z_0-9]+]]}> : (tensor<6xf32>) -> tensor<6xf32>
// CHECK-DAG: func.func private @[[FIVE]](%arg0: tensor<5xf32>) -> tensor<5xf32>
// CHECK-DAG: func.func private @[[SIX]](%arg0: tensor<6xf32>) -> tensor<6xf32>
func.func @main(%x: tensor<4x3xf32>) -> tensor<*xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %ones = "tf.OnesLike"(%x) : (tensor<4x3xf32>) -> tensor<*xf32>
  %0:2 = "tf.While"(%zero, %ones) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<*xf32>) -> (tensor<i32>, tensor<*xf32>)
  %1 = "tf.Neg"(%0#1) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
func.func private @cond(%i: tensor<i32>, %y: tensor<*xf32>) -> tensor<*xi1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %n) : (tensor<i32>, tensor<i32>) -> tensor<*xi1>
  return %0 : tensor<*xi1>
}
func.func private @body(%i: tensor<i32>, %y: tensor<*xf32>) -> (tensor<*xi32>, tensor<*xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<*xi32>
  %1 = "tf.Tanh"(%y) : (tensor<*xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<*xi32>, tensor<*xf32>
}
func.func @five(%x: tensor<5xf32>) -> tensor<*xf32> {
  %0 = "tf.PartitionedCall"(%x) {f = @called, config = "", config_proto = "", executor_type = ""} : (tensor<5xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func @six(%x: tensor<6xf32>) -> tensor<*xf32> {
  %0 = "tf.PartitionedCall"(%x) {f = @called, config = "", config_proto = "", executor_type = ""} : (tensor<6xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func private @called(%y: tensor<*xf32>) -> tensor<*xf32> {
  %1 = "tf.Tanh"(%y) : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}

// -----

// RUN: infer-loop-types
// Without a loop, types stay as they are.
// CHECK-LABEL: func.func @main
// CHECK: "tf.Neg"(%arg0) : (tensor<4x3xf32>) -> tensor<*xf32>
func.func @main(%x: tensor<4x3xf32>) -> tensor<*xf32> {
  %0 = "tf.Neg"(%x) : (tensor<4x3xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// RUN: infer-loop-types
// Where all ranks are known, too.
// CHECK-LABEL: func.func @main
// CHECK: "tf.Neg"(%arg0) : (tensor<4x3xf32>) -> tensor<?x?xf32>
func.func @main(%x: tensor<4x3xf32>) -> tensor<?x?xf32> {
  %0 = "tf.Neg"(%x) : (tensor<4x3xf32>) -> tensor<?x?xf32>
  %1 = "tf.While"(%0) {cond = @cond, body = @body, is_stateless = true} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}
func.func private @cond(%y: tensor<?x?xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  return %n : tensor<i1>
}
func.func private @body(%y: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %y : tensor<?x?xf32>
}

// -----

// RUN: infer-loop-types
// ERROR: function main, node product: the op MatMul cannot be computed: matrices of shapes [4,3] and [2,5] cannot be multiplied
// ERROR: its operands are f32[4,3], f32[2,5], its results are declared as f32 of unknown rank
func.func @main(%x: tensor<4x3xf32>, %y: tensor<2x5xf32>) -> tensor<*xf32> {
  %0 = "tf.MatMul"(%x, %y) {transpose_a = false, transpose_b = false} : (tensor<4x3xf32>, tensor<2x5xf32>) -> tensor<*xf32> loc("product")
  %1 = "tf.While"(%0) {cond = @cond, body = @body, is_stateless = true} : (tensor<*xf32>) -> tensor<*xf32>
  return %1 : tensor<*xf32>
}
func.func private @cond(%y: tensor<*xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  return %n : tensor<i1>
}
func.func private @body(%y: tensor<*xf32>) -> tensor<*xf32> {
  return %y : tensor<*xf32>
}
