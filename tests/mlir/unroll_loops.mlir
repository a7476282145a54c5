// RUN: unroll-loops
// Items are read and written at constant places; what the steps share, the constants too, is computed once. No counter
// is left, and neither is the loop's body.
// CHECK-LABEL: func.func @main
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<3.000000e+00> : tensor<5x5xf32>}>
// CHECK: %[[V:.*]] = "tf.Neg"(%[[W]])
// CHECK: %[[B:.*]] = "tf.Const"() <{value = dense<0> : tensor<3xi32>}>
// CHECK: %[[E:.*]] = "tf.Const"() <{value = dense<[1, 0, 0]> : tensor<3xi32>}>
// CHECK: %[[X0:.*]] = "tf.StridedSlice"(%arg0, %[[B]], %[[E]], %{{.*}}) <{begin_mask = 6 : i64, ellipsis_mask = 0 : i64, end_mask = 6 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64}> : {{.*}} -> tensor<1x5xf32>
// CHECK: %[[R0:.*]] = "tf.MatMul"(%arg1, %[[V]])
// CHECK: %[[H0:.*]] = "tf.AddV2"(%[[X0]], %[[R0]])
// CHECK: %[[X1:.*]] = "tf.StridedSlice"(%arg0,
// CHECK: %[[R1:.*]] = "tf.MatMul"(%[[H0]], %[[V]])
// CHECK: %[[H1:.*]] = "tf.AddV2"(%[[X1]], %[[R1]])
// CHECK: %[[YS:.*]] = "tf.Pack"(%[[H0]], %[[H1]]) <{axis = 0 : i64}>
// CHECK: return %[[YS]], %[[H1]]
// CHECK-NOT: tf.While
// CHECK-NOT: @body
func.func @main(%xs: tensor<2x1x5xf32>, %h: tensor<1x5xf32>) -> (tensor<2x1x5xf32>, tensor<1x5xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %none = "tf.Const"() {value = dense<0.0> : tensor<2x1x5xf32>} : () -> tensor<2x1x5xf32>
  %0:4 = "tf.While"(%zero, %xs, %none, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<2x1x5xf32>, tensor<2x1x5xf32>, tensor<1x5xf32>) -> (tensor<i32>, tensor<2x1x5xf32>, tensor<2x1x5xf32>, tensor<1x5xf32>)
  return %0#2, %0#3 : tensor<2x1x5xf32>, tensor<1x5xf32>
}
func.func private @cond(%t: tensor<i32>, %xs: tensor<2x1x5xf32>, %ys: tensor<2x1x5xf32>, %h: tensor<1x5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %xs: tensor<2x1x5xf32>, %ys: tensor<2x1x5xf32>, %h: tensor<1x5xf32>) -> (tensor<i32>, tensor<2x1x5xf32>, tensor<2x1x5xf32>, tensor<1x5xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %u = "tf.Const"() {value = dense<3.0> : tensor<5x5xf32>} : () -> tensor<5x5xf32>
  %v = "tf.Neg"(%u) : (tensor<5x5xf32>) -> tensor<5x5xf32>
  %x = "tf.GatherV2"(%xs, %t, %zero) {batch_dims = 0 : i64} : (tensor<2x1x5xf32>, tensor<i32>, tensor<i32>) -> tensor<1x5xf32>
  %r = "tf.MatMul"(%h, %v) {transpose_a = false, transpose_b = false} : (tensor<1x5xf32>, tensor<5x5xf32>) -> tensor<1x5xf32>
  %1 = "tf.AddV2"(%x, %r) : (tensor<1x5xf32>, tensor<1x5xf32>) -> tensor<1x5xf32>
  %item = "tf.ExpandDims"(%1, %zero) : (tensor<1x5xf32>, tensor<i32>) -> tensor<1x1x5xf32>
  %place = "tf.Pack"(%t, %zero, %zero) {axis = 0 : i64} : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<3xi32>
  %2 = "tf.XlaDynamicUpdateSlice"(%ys, %item, %place) : (tensor<2x1x5xf32>, tensor<1x1x5xf32>, tensor<3xi32>) -> tensor<2x1x5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %xs, %2, %1 : tensor<i32>, tensor<2x1x5xf32>, tensor<2x1x5xf32>, tensor<1x5xf32>
}

// -----
// RUN: unroll-loops
// The number of steps is an input: the loop stays.
// CHECK-LABEL: func.func @main
// CHECK: "tf.While"
// CHECK: func.func private @body
func.func @main(%n: tensor<i32>, %h: tensor<5xf32>) -> tensor<5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%zero, %n, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<i32>, tensor<5xf32>)
  return %0#2 : tensor<5xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %h: tensor<5xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %1 = "tf.Tanh"(%h) : (tensor<5xf32>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %n, %1 : tensor<i32>, tensor<i32>, tensor<5xf32>
}

// -----
// RUN: unroll-loops
// A loop within a loop, down from 3 in steps of 2, whose places depend on both: 3 and 1, each with 0 and 1. A number that
// changes with the steps is a constant in each. What is not written is what was there before.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.While
// CHECK: "tf.Const"() <{value = dense<3> : tensor<i32>}>
// CHECK: %[[C3:.*]] = "tf.Const"() <{value = dense<3> : tensor<i32>}>
// CHECK: %[[F3:.*]] = "tf.Cast"(%[[C3]])
// CHECK: %[[A:.*]] = "tf.Reshape"(%[[F3]]
// CHECK: %[[C1:.*]] = "tf.Const"() <{value = dense<1> : tensor<i32>}>
// CHECK: %[[F1:.*]] = "tf.Cast"(%[[C1]])
// CHECK: %[[B:.*]] = "tf.Reshape"(%[[F1]]
// CHECK: %[[REST:.*]] = "tf.StridedSlice"(%arg0,
// CHECK: "tf.Reshape"(%[[B]]
// CHECK: "tf.Reshape"(%[[B]]
// CHECK: "tf.Reshape"(%[[A]]
// CHECK: "tf.Reshape"(%[[A]]
// CHECK: "tf.Pack"(%[[REST]],
func.func @main(%ys: tensor<5x1xf32>) -> tensor<5x1xf32> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.While"(%three, %ys) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5x1xf32>) -> (tensor<i32>, tensor<5x1xf32>)
  return %0#1 : tensor<5x1xf32>
}
func.func private @cond(%t: tensor<i32>, %ys: tensor<5x1xf32>) -> tensor<i1> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Greater"(%t, %zero) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %ys: tensor<5x1xf32>) -> (tensor<i32>, tensor<5x1xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0:3 = "tf.While"(%zero, %t, %ys) {body = @inner, cond = @inner_cond, is_stateless = true} : (tensor<i32>, tensor<i32>, tensor<5x1xf32>) -> (tensor<i32>, tensor<i32>, tensor<5x1xf32>)
  %next = "tf.Sub"(%t, %two) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %0#2 : tensor<i32>, tensor<5x1xf32>
}
func.func private @inner_cond(%s: tensor<i32>, %t: tensor<i32>, %ys: tensor<5x1xf32>) -> tensor<i1> {
  %two = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%s, %two) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @inner(%s: tensor<i32>, %t: tensor<i32>, %ys: tensor<5x1xf32>) -> (tensor<i32>, tensor<i32>, tensor<5x1xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<1> : tensor<2xi32>} : () -> tensor<2xi32>
  %number = "tf.Cast"(%t) : (tensor<i32>) -> tensor<f32>
  %item = "tf.Reshape"(%number, %shape) : (tensor<f32>, tensor<2xi32>) -> tensor<1x1xf32>
  %at = "tf.AddV2"(%s, %t) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %place = "tf.Pack"(%at, %zero) {axis = 0 : i64} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %2 = "tf.XlaDynamicUpdateSlice"(%ys, %item, %place) : (tensor<5x1xf32>, tensor<1x1xf32>, tensor<2xi32>) -> tensor<5x1xf32>
  %next = "tf.AddV2"(%s, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %t, %2 : tensor<i32>, tensor<i32>, tensor<5x1xf32>
}

// -----
// RUN: unroll-loops
// More than 128 steps; and numbers that are drawn in each step, and would be the same in all.
// CHECK-LABEL: func.func @main
// CHECK: "tf.While"
// CHECK: "tf.While"
func.func @main(%h: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %last = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %few = "tf.Const"() {value = dense<126> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.While"(%last, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  %1:2 = "tf.While"(%few, %h) {body = @drawing, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  return %0#1, %1#1 : tensor<5xf32>, tensor<5xf32>
}
func.func private @cond(%t: tensor<i32>, %h: tensor<5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %1 = "tf.Tanh"(%h) : (tensor<5xf32>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %1 : tensor<i32>, tensor<5xf32>
}
func.func private @drawing(%t: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %five = "tf.Const"() {value = dense<5> : tensor<1xi32>} : () -> tensor<1xi32>
  %noise = "tf.RandomUniform"(%five) {seed = 1 : i64, seed2 = 2 : i64} : (tensor<1xi32>) -> tensor<5xf32>
  %1 = "tf.AddV2"(%h, %noise) : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %1 : tensor<i32>, tensor<5xf32>
}

// -----
// RUN: unroll-loops
// No step at all, and 128: the limit.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-128: tf.Tanh
// CHECK-NOT: tf.Tanh
// CHECK: return %arg0, %
func.func @main(%h: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %end = "tf.Const"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.While"(%end, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  %1:2 = "tf.While"(%zero, %h) {body = @body, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  return %0#1, %1#1 : tensor<5xf32>, tensor<5xf32>
}
func.func private @cond(%t: tensor<i32>, %h: tensor<5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<128> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %1 = "tf.Tanh"(%h) : (tensor<5xf32>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %1 : tensor<i32>, tensor<5xf32>
}

// -----
// RUN: unroll-loops
// Two steps with a call in them, and two with a branch, stay loops: what is called is not copied.
// CHECK-LABEL: func.func @main
// CHECK: "tf.While"
// CHECK: "tf.While"
func.func @main(%h: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0:2 = "tf.While"(%zero, %h) {body = @calling, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  %1:2 = "tf.While"(%zero, %h) {body = @branching, cond = @cond, is_stateless = true} : (tensor<i32>, tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>)
  return %0#1, %1#1 : tensor<5xf32>, tensor<5xf32>
}
func.func private @cond(%t: tensor<i32>, %h: tensor<5xf32>) -> tensor<i1> {
  %n = "tf.Const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @calling(%t: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %1 = "tf.PartitionedCall"(%h) {f = @called, config = "", config_proto = "", executor_type = ""} : (tensor<5xf32>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %1 : tensor<i32>, tensor<5xf32>
}
func.func private @branching(%t: tensor<i32>, %h: tensor<5xf32>) -> (tensor<i32>, tensor<5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %is = "tf.Less"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  %1 = "tf.IfRegion"(%is) ({
      %2 = "tf.Tanh"(%h) : (tensor<5xf32>) -> tensor<5xf32>
      "tf.Yield"(%2) : (tensor<5xf32>) -> ()
    }, {
      "tf.Yield"(%h) : (tensor<5xf32>) -> ()
    }) {is_stateless = true} : (tensor<i1>) -> tensor<5xf32>
  %next = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %next, %1 : tensor<i32>, tensor<5xf32>
}
func.func private @called(%h: tensor<5xf32>) -> tensor<5xf32> {
  %0 = "tf.Tanh"(%h) : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}
