// RUN: wrap-program, lower-xla-call-module
// What is repeated broadcasts; a maximum with 0 is a ReLU; the open size costs nothing.
// CHECK-LABEL: func.func @main
// CHECK: %[[PRODUCT:.*]] = "tf.MatMul"(%arg0, %arg1)
// CHECK-NEXT: %[[SUM:.*]] = "tf.AddV2"(%[[PRODUCT]], %arg2)
// CHECK-NEXT: %[[RELU:.*]] = "tf.Relu"(%[[SUM]])
// CHECK-NEXT: return %[[RELU]]
func.func public @main(%x: tensor<?x3xf32>, %w: tensor<3x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %four = stablehlo.constant dense<4> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>
  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %shape = stablehlo.concatenate %n1, %four, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.dynamic_broadcast_in_dim %1, %shape, dims = [0, 1] : (tensor<1x4xf32>, tensor<2xi32>) -> tensor<?x4xf32>
  %3 = stablehlo.add %0, %2 : tensor<?x4xf32>
  %4 = stablehlo.dynamic_broadcast_in_dim %zero, %shape, dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x4xf32>
  %5 = stablehlo.maximum %3, %4 : tensor<?x4xf32>
  return %5 : tensor<?x4xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A sum of exponentials under them is a softmax, a sum over the number of its terms a mean.
// CHECK-LABEL: func.func @main
// CHECK-DAG: "tf.Softmax"(%arg0)
// CHECK-DAG: "tf.Mean"(%arg0
// CHECK-NOT: tf.RealDiv
func.func public @main(%x: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %five = stablehlo.constant dense<5.0> : tensor<2xf32>
  %max = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
  %m = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
  %d = stablehlo.subtract %x, %m : tensor<2x5xf32>
  %e = stablehlo.exponential %d : tensor<2x5xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x5xf32>
  %0 = stablehlo.divide %e, %t : tensor<2x5xf32>
  %total = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x5xf32>, tensor<f32>) -> tensor<2xf32>
  %1 = stablehlo.divide %total, %five : tensor<2xf32>
  return %0, %1 : tensor<2x5xf32>, tensor<2xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// What is reduced along another dimension than the last is no softmax of TensorFlow's.
// CHECK-LABEL: func.func @main
// CHECK: tf.RealDiv
func.func public @main(%x: tensor<2x5xf32>) -> tensor<2x5xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x5xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x5xf32>, tensor<f32>) -> tensor<5xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<5xf32>) -> tensor<2x5xf32>
  %0 = stablehlo.divide %e, %t : tensor<2x5xf32>
  return %0 : tensor<2x5xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A loop that takes one item of a tensor in each turn, and writes one, backwards, is a loop over lists.
// CHECK-LABEL: func.func @main
// CHECK: %[[LIST:.*]] = "tf.TensorListFromTensor"(%arg0
// CHECK: %[[LOOP:.*]]:4 = "tf.While"(%[[LIST]]
// CHECK: "tf.TensorListStack"(%[[LOOP]]#3
// CHECK: "tf.ReverseV2"
// CHECK: func.func private @program.while.body
// CHECK: "tf.TensorListGetItem"(%arg0, %arg1
// CHECK: "tf.TensorListSetItem"(%arg3, %arg1
func.func public @main(%x: tensor<6x2xf32>, %h: tensor<2xf32>) -> (tensor<2xf32>, tensor<6x2xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %nothing = stablehlo.constant dense<0.0> : tensor<6x2xf32>
  %0:4 = stablehlo.while(%xs = %x, %i = %zero, %s = %h, %ys = %nothing) : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>, tensor<6x2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 2] : (tensor<6x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %b = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
    %c = stablehlo.add %b, %s : tensor<2xf32>
    %d = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %k = stablehlo.subtract %five, %i : tensor<i32>
    %e = stablehlo.dynamic_update_slice %ys, %d, %k, %zero : (tensor<6x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<6x2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %xs, %j, %c, %e : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>, tensor<6x2xf32>
  }
  return %0#2, %0#3 : tensor<2xf32>, tensor<6x2xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A loop that reads an item that is not of its turn keeps its tensor.
// CHECK-LABEL: func.func @main
// CHECK-NOT: TensorList
func.func public @main(%x: tensor<6x2xf32>, %h: tensor<2xf32>, %k: tensor<i32>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %0:3 = stablehlo.while(%xs = %x, %i = %zero, %s = %h) : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %a = stablehlo.dynamic_slice %xs, %k, %zero, sizes = [1, 2] : (tensor<6x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %b = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
    %c = stablehlo.add %b, %s : tensor<2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %xs, %j, %c : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>
  }
  return %0#2 : tensor<2xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A composite of JAX is one here.
// CHECK-LABEL: func.func @main
// CHECK: "tf.StatefulPartitionedCall"(%arg0) {{.*}}f = @program.my.op
// CHECK: func.func private @program.my.op
// CHECK-SAME: tf._implements = {attributes = {scale = 2.000000e+00 : f32}, name = "my.op"}
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {scale = 2.0 : f32}, decomposition = @impl} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @impl(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// ERROR: the StableHLO op rng_bit_generator is not supported
// ERROR: node program (XlaCallModule), rng_bit_generator
// ERROR: Use the default generator
func.func public @main(%x: tensor<2xui64>) -> tensor<4xui32> {
  %0, %1 = stablehlo.rng_bit_generator %x, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
  return %1 : tensor<4xui32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// ERROR: the program calls 'my_callback', which is code of JAX's own runtime
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @my_callback(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A tensor whose items a branch takes is not made a list.
// CHECK-LABEL: func.func @main
// CHECK-NOT: TensorList
func.func public @main(%x: tensor<6x2xf32>, %h: tensor<2xf32>, %q: tensor<i1>) -> tensor<2xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %six = stablehlo.constant dense<6> : tensor<i32>
  %0:3 = stablehlo.while(%xs = %x, %i = %zero, %s = %h) : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c = "stablehlo.if"(%q) ({
      %a = stablehlo.dynamic_slice %xs, %i, %zero, sizes = [1, 2] : (tensor<6x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
      %b = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
      stablehlo.return %b : tensor<2xf32>
    }, {
      stablehlo.return %s : tensor<2xf32>
    }) : (tensor<i1>) -> tensor<2xf32>
    %j = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %xs, %j, %c : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>
  }
  return %0#2 : tensor<2xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// Constant rows from the first to the last lie within; nothing is put around the tensor.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = "tf.TensorScatterAdd"(%arg0, %{{.*}}, %arg1)
// CHECK-NEXT: return %[[Y]]
func.func public @main(%x: tensor<4x6xf32>, %u: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %rows = stablehlo.constant dense<[[0], [3]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %rows, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false
  } : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----
// RUN: wrap-program, lower-xla-call-module
// A row outside is written beside the tensor, and cut off.
// CHECK-LABEL: func.func @main
// CHECK: %[[PADDED:.*]] = "tf.Pad{{.*}}"(%arg0
// CHECK: "tf.TensorScatterAdd"(%[[PADDED]]
func.func public @main(%x: tensor<4x6xf32>, %u: tensor<2x6xf32>) -> tensor<4x6xf32> {
  %rows = stablehlo.constant dense<[[0], [4]]> : tensor<2x1xi32>
  %0 = "stablehlo.scatter"(%x, %rows, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) {
    scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>,
    indices_are_sorted = false, unique_indices = false
  } : (tensor<4x6xf32>, tensor<2x1xi32>, tensor<2x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
