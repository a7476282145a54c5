// RUN: limit-ops
// LIMIT: max_ops = 10
// Each function counts once for each use of it, which makes exactly ten here; one that nobody calls does not count.
// CHECK-LABEL: func.func @main
// CHECK: tf.PartitionedCall
// CHECK: tf.PartitionedCall
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @twice, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %1 = "tf.PartitionedCall"(%0) {f = @once, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @once, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %1 = "tf.Neg"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @once(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @uncalled(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// RUN: limit-ops
// LIMIT: max_ops = 9
// One more than the limit. The function that contributes most is named as the model names it.
// ERROR: function the_model's_name: with its calls inlined, the model would have 10 ops, more than the limit max_ops (9)
// ERROR: this function, of 3 ops, is run from 2 places
// ERROR: --max-ops
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @body_7, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %1 = "tf.PartitionedCall"(%0) {f = @body_7, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %2 = "tf.Neg"(%1) : (tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}
func.func private @body_7(%x: tensor<f32>) -> tensor<f32> attributes {tf._original_func_name = "the_model's_name"} {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  %1 = "tf.Abs"(%0) : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}

// -----

// RUN: limit-ops
// LIMIT: max_ops = 20
// What doubles with each function: @c is run from eight places, though no function has more than three ops.
// ERROR: function c: with its calls inlined, the model would have 38 ops
// ERROR: this function, of 2 ops, is run from 8 places
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @a, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func @other(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @a, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @a(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @b, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %1 = "tf.PartitionedCall"(%0) {f = @b, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @b(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @c, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  %1 = "tf.PartitionedCall"(%0) {f = @c, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func private @c(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// RUN: limit-ops
// LIMIT: max_ops = 14
// Branches count, the condition and the body of a loop, and a composite's decomposition: 9 ops and 6.
// ERROR: the model would have 15 ops
func.func @main(%p: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.If"(%p, %x) {then_branch = @then, else_branch = @then, is_stateless = true} : (tensor<i1>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.composite "my.op" %0 {decomposition = @two} : (tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
func.func @loop(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.While"(%x) {cond = @cond, body = @two, is_stateless = true} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @then(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @two(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.Neg"(%x) : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @cond(%x: tensor<f32>) -> tensor<i1> {
  %0 = "tf.IsNan"(%x) : (tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}

// -----

// RUN: limit-ops
// ERROR: functions call each other in a cycle: a -> b -> a
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @a, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @a(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @b, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @b(%x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.PartitionedCall"(%x) {f = @a, config = "", config_proto = "", executor_type = ""} : (tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
