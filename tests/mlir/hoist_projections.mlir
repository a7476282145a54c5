// RUN: hoist-projections
// The weight is a constant of the body; another is handed in and split there.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<2.000000e+00> : tensor<4x5xf32>}>
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %[[W]]) <{adj_x = false, adj_y = false, {{.*}}}> : (tensor<?x?x4xf32>, tensor<4x5xf32>) -> tensor<?x?x5xf32>
// CHECK: %[[S:.*]]:2 = "tf.Split"(%{{.*}}, %arg1)
// CHECK: %[[Q:.*]] = "tf.BatchMatMulV2"(%arg0, %[[S]]#1) <{adj_x = false, adj_y = true, {{.*}}}> : (tensor<?x?x4xf32>, tensor<5x4xf32>) -> tensor<?x?x5xf32>
// CHECK: %[[R:.*]]:6 = "tf.While"(%{{.*}}, %arg0, %arg1, %arg2, %[[P]], %[[Q]])
// CHECK: return %[[R]]#3
func.func @main(%xs: tensor<?x?x4xf32>, %w: tensor<10x4xf32>, %h: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:4 = "tf.While"(%zero, %xs, %w, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<?x?x4xf32>, tensor<10x4xf32>, tensor<?x5xf32>) -> (tensor<i32>, tensor<?x?x4xf32>, tensor<10x4xf32>, tensor<?x5xf32>)
  return %0#3 : tensor<?x5xf32>
}
// CHECK-LABEL: func.func private @cond
// CHECK-SAME: %arg4: tensor<?x?x5xf32>, %arg5: tensor<?x?x5xf32>)
func.func private @cond(%t: tensor<i32>, %xs: tensor<?x?x4xf32>, %w: tensor<10x4xf32>, %h: tensor<?x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK-SAME: %[[T:.*]]: tensor<i32>, %arg1: tensor<?x?x4xf32>, %arg2: tensor<10x4xf32>, %[[H:.*]]: tensor<?x5xf32>, %[[PS:.*]]: tensor<?x?x5xf32>, %[[QS:.*]]: tensor<?x?x5xf32>)
// CHECK: "tf.GatherV2"(%[[PS]], %[[T]], %{{.*}}) <{batch_dims = 0 : i64}> : (tensor<?x?x5xf32>, tensor<i32>, tensor<i32>) -> tensor<?x5xf32>
// CHECK: "tf.GatherV2"(%[[QS]], %[[T]], %{{.*}})
// The state is not known before the loop.
// CHECK: "tf.MatMul"(%[[H]]
// CHECK-NOT: tf.MatMul
// CHECK: return %{{.*}}, %{{.*}}, %arg2, %{{.*}}, %[[PS]], %[[QS]]
func.func private @body(%t: tensor<i32>, %xs: tensor<?x?x4xf32>, %w: tensor<10x4xf32>, %h: tensor<?x5xf32>) -> (tensor<i32>, tensor<?x?x4xf32>, tensor<10x4xf32>, tensor<?x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %u = "tf.Const"() {value = dense<3.0> : tensor<5x5xf32>} : () -> tensor<5x5xf32>
  %row = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<?x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  %x = "tf.Identity"(%row) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %parts:2 = "tf.Split"(%axis, %w) : (tensor<i32>, tensor<10x4xf32>) -> (tensor<5x4xf32>, tensor<5x4xf32>)
  %q = "tf.MatMul"(%x, %parts#1) {transpose_a = false, transpose_b = true} : (tensor<?x4xf32>, tensor<5x4xf32>) -> tensor<?x5xf32>
  %r = "tf.MatMul"(%h, %u) {transpose_a = false, transpose_b = false} : (tensor<?x5xf32>, tensor<5x5xf32>) -> tensor<?x5xf32>
  %0 = "tf.AddV2"(%p, %q) : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %1 = "tf.AddV2"(%0, %r) : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %same = "tf.Identity"(%xs) : (tensor<?x?x4xf32>) -> tensor<?x?x4xf32>
  return %next, %same, %w, %1 : tensor<i32>, tensor<?x?x4xf32>, tensor<10x4xf32>, tensor<?x5xf32>
}

// -----
// RUN: hoist-projections
// Nothing is computed before the loop for steps that the loop may never come to, or come to twice: the step is doubled.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.BatchMatMulV2
func.func @main(%xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%one, %xs, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>)
  return %0#2 : tensor<?x5xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK: tf.MatMul
func.func private @body(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %x = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  %p = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x5xf32>) -> tensor<?x5xf32>
  %0 = "tf.AddV2"(%p, %h) : (tensor<?x5xf32>, tensor<?x5xf32>) -> tensor<?x5xf32>
  %next = "tf.AddV2"(%t, %t) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %xs, %0 : tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>
}

// -----
// RUN: hoist-projections
// The inputs change in the loop, and the weight of the second product is made there.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.BatchMatMulV2
func.func @main(%xs: tensor<9x?x4xf32>, %ys: tensor<9x?x4xf32>, %h: tensor<5x5xf32>) -> tensor<5x5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:4 = "tf.While"(%zero, %xs, %ys, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<9x?x4xf32>, tensor<9x?x4xf32>, tensor<5x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<9x?x4xf32>, tensor<5x5xf32>)
  return %0#3 : tensor<5x5xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %ys: tensor<9x?x4xf32>, %h: tensor<5x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK-COUNT-2: tf.MatMul
func.func private @body(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %ys: tensor<9x?x4xf32>, %h: tensor<5x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<9x?x4xf32>, tensor<5x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<4x5xf32>} : () -> tensor<4x5xf32>
  %x = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<5x4xf32>
  %y = "tf.GatherV2"(%ys, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<4x5xf32>
  %p = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = false} : (tensor<5x4xf32>, tensor<4x5xf32>) -> tensor<5x5xf32>
  %q = "tf.MatMul"(%y, %h) {transpose_a = false, transpose_b = false} : (tensor<4x5xf32>, tensor<5x5xf32>) -> tensor<4x5xf32>
  %0 = "tf.AddV2"(%p, %h) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %ys, %xs, %0 : tensor<i32>, tensor<9x?x4xf32>, tensor<9x?x4xf32>, tensor<5x5xf32>
}

// -----
// RUN: hoist-projections
// Input and state side by side: the input's part of the weight is multiplied before the loop.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tf.Slice"(%{{.*}}, %{{.*}}, %{{.*}}) : (tensor<9x5xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<4x5xf32>
// CHECK: "tf.BatchMatMulV2"(%arg0, %[[W]]) <{adj_x = false, adj_y = false, {{.*}}}> : (tensor<9x?x4xf32>, tensor<4x5xf32>) -> tensor<9x?x5xf32>
func.func @main(%xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> tensor<?x5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%zero, %xs, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>)
  return %0#2 : tensor<?x5xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK: %[[FIRST:.*]] = "tf.Const"() <{value = dense<[4, 0]> : tensor<2xi32>}>
// CHECK: %[[U:.*]] = "tf.Slice"(%{{.*}}, %[[FIRST]], %{{.*}}) : (tensor<9x5xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<5x5xf32>
// CHECK: %[[R:.*]] = "tf.MatMul"(%arg2, %[[U]])
// CHECK-NOT: tf.MatMul
// CHECK: "tf.AddV2"(%{{.*}}, %[[R]])
func.func private @body(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x5xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<9x5xf32>} : () -> tensor<9x5xf32>
  %x = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  %xh = "tf.ConcatV2"(%x, %h, %one) : (tensor<?x4xf32>, tensor<?x5xf32>, tensor<i32>) -> tensor<?x9xf32>
  %p = "tf.MatMul"(%xh, %k) {transpose_a = false, transpose_b = false} : (tensor<?x9xf32>, tensor<9x5xf32>) -> tensor<?x5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %xs, %p : tensor<i32>, tensor<9x?x4xf32>, tensor<?x5xf32>
}

// -----
// RUN: hoist-projections
// One row and few inputs: the product of both takes less time than an addition.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.BatchMatMulV2
func.func @main(%xs: tensor<9x1x4xf32>, %h: tensor<1x5xf32>) -> tensor<1x5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%zero, %xs, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<9x1x4xf32>, tensor<1x5xf32>) -> (tensor<i32>, tensor<9x1x4xf32>, tensor<1x5xf32>)
  return %0#2 : tensor<1x5xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<9x1x4xf32>, %h: tensor<1x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK: tf.ConcatV2
// CHECK: tf.MatMul
func.func private @body(%t: tensor<i32>, %xs: tensor<9x1x4xf32>, %h: tensor<1x5xf32>) -> (tensor<i32>, tensor<9x1x4xf32>, tensor<1x5xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<9x5xf32>} : () -> tensor<9x5xf32>
  %x = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x1x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
  %xh = "tf.ConcatV2"(%x, %h, %one) : (tensor<1x4xf32>, tensor<1x5xf32>, tensor<i32>) -> tensor<1x9xf32>
  %p = "tf.MatMul"(%xh, %k) {transpose_a = false, transpose_b = false} : (tensor<1x9xf32>, tensor<9x5xf32>) -> tensor<1x5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %xs, %p : tensor<i32>, tensor<9x1x4xf32>, tensor<1x5xf32>
}

// -----
// RUN: hoist-projections
// A bias goes with the product; what is added to the state's product stays, and so does what the loop changes.
// CHECK-LABEL: func.func @main
// CHECK: %[[P:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}})
// CHECK: %[[B:.*]]:2 = "tf.Split"(%{{.*}}, %{{.*}})
// CHECK: %[[S:.*]] = "tf.AddV2"(%[[P]], %[[B]]#0) : (tensor<9x?x4xf32>, tensor<1x4xf32>) -> tensor<9x?x4xf32>
// CHECK: %[[Q:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}})
// CHECK: %[[V:.*]] = "tf.BatchMatMulV2"(%arg0, %{{.*}})
// CHECK: %[[T:.*]] = "tf.AddV2"(%[[V]], %{{.*}}) : (tensor<9x?x4xf32>, tensor<4xf32>) -> tensor<9x?x4xf32>
// CHECK: "tf.While"(%{{.*}}, %arg0, %arg1, %[[S]], %[[Q]], %[[T]])
func.func @main(%xs: tensor<9x?x4xf32>, %h: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%zero, %xs, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<9x?x4xf32>, tensor<?x4xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x4xf32>)
  return %0#2 : tensor<?x4xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x4xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<9> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
// CHECK-LABEL: func.func private @body
// CHECK-SAME: %arg3: tensor<9x?x4xf32>, %arg4: tensor<9x?x4xf32>, %arg5: tensor<9x?x4xf32>)
// CHECK: %[[X:.*]] = "tf.GatherV2"(%arg3
// CHECK: %[[Y:.*]] = "tf.GatherV2"(%arg4
// CHECK: %[[Z:.*]] = "tf.AddV2"(%[[Y]], %arg2)
// CHECK: %[[R:.*]] = "tf.GatherV2"(%arg5
// CHECK-NOT: tf.BiasAdd
// CHECK: %[[XZ:.*]] = "tf.AddV2"(%[[X]], %[[Z]])
// CHECK: "tf.AddV2"(%[[XZ]], %[[R]])
func.func private @body(%t: tensor<i32>, %xs: tensor<9x?x4xf32>, %h: tensor<?x4xf32>) -> (tensor<i32>, tensor<9x?x4xf32>, tensor<?x4xf32>) {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %k = "tf.Const"() {value = dense<2.0> : tensor<4x4xf32>} : () -> tensor<4x4xf32>
  %biases = "tf.Const"() {value = dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0]]> : tensor<2x4xf32>} : () -> tensor<2x4xf32>
  %b:2 = "tf.Split"(%axis, %biases) : (tensor<i32>, tensor<2x4xf32>) -> (tensor<1x4xf32>, tensor<1x4xf32>)
  %x = "tf.GatherV2"(%xs, %t, %axis) {batch_dims = 0 : i64} : (tensor<9x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
  %p = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %0 = "tf.AddV2"(%b#0, %p) : (tensor<1x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %q = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = true} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.AddV2"(%q, %h) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %vector = "tf.Const"() {value = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
  %r = "tf.MatMul"(%x, %k) {transpose_a = false, transpose_b = false} : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %s = "tf.BiasAdd"(%r, %vector) {data_format = "NHWC"} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = "tf.AddV2"(%2, %s) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %xs, %3 : tensor<i32>, tensor<9x?x4xf32>, tensor<?x4xf32>
}
