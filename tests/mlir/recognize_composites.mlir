// RUN: recognize-composites
// A loop that is an LSTM layer over all steps: its lists, its condition and its body come along; the weights become
// arguments, wherever they were.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: %[[X:.*]]: tensor<?x?x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[B:.*]]: tensor<8xf32>
// CHECK-DAG: %[[K:.*]] = "tf.Const"() <{value = dense<1.000000e+00> : tensor<3x8xf32>}>
// CHECK-DAG: %[[R:.*]] = "tf.Const"() <{value = dense<2.000000e+00> : tensor<2x8xf32>}>
// CHECK-NOT: tf.While
// CHECK: %[[CALL:.*]]:3 = "tf.StatefulPartitionedCall"(%[[X]], %[[H]], %[[C]], %[[K]], %[[R]], %[[B]])
// CHECK-SAME: f = @tf.While.lstm_loop}> : (tensor<?x?x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK: %[[LIST:.*]] = "tf.TensorListFromTensor"(%[[CALL]]#0, %{{.*}}) {element_dtype = f32}
// CHECK: %[[STACK:.*]] = "tf.TensorListStack"(%[[LIST]],
// CHECK: return %[[STACK]], %[[CALL]]#1, %[[CALL]]#2
// CHECK: func.func private @body.outlined(
// CHECK-SAME: %[[INNER_K:[^:]*]]: tensor<3x8xf32>, %[[INNER_R:[^:]*]]: tensor<2x8xf32>) ->
// CHECK: "tf.MatMul"(%{{.*}}, %[[INNER_K]])
// CHECK: "tf.MatMul"(%{{.*}}, %[[INNER_R]])
// CHECK: func.func private @tf.While.lstm_loop(%[[IN:.*]]: tensor<?x?x3xf32>, %[[H0:.*]]: tensor<?x2xf32>, %[[C0:.*]]: tensor<?x2xf32>, %[[KERNEL:.*]]: tensor<3x8xf32>, %[[RECURRENT:.*]]: tensor<2x8xf32>, %[[BIAS:.*]]: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
// CHECK-SAME: tf._implements = "lstm_loop"
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%[[IN]])
// CHECK: %[[STEPS:.*]] = "tf.StridedSlice"(%[[SHAPE]],
// CHECK: %[[ZERO:.*]] = "tf.Const"() <{value = dense<0> : tensor<i32>}>
// CHECK: %[[OUT:.*]] = "tf.TensorListReserve"(%{{.*}}, %[[STEPS]])
// CHECK: %[[ITEMS:.*]] = "tf.TensorListFromTensor"(%[[IN]],
// CHECK: %[[LOOP:.*]]:9 = "tf.While"(%[[ZERO]], %[[STEPS]], %[[OUT]], %[[H0]], %[[C0]], %[[ITEMS]], %[[BIAS]], %[[KERNEL]], %[[RECURRENT]]) <{body = @body.outlined, cond = @cond.outlined
// CHECK: %[[OUTPUTS:.*]] = "tf.TensorListStack"(%[[LOOP]]#2,
// CHECK: return %[[OUTPUTS]], %[[LOOP]]#3, %[[LOOP]]#4
func.func public @main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#4 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}

// -----
// RUN: recognize-composites
// In an annotated function, which says itself what it is.
// CHECK-LABEL: func.func private @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: lstm_loop
func.func public @caller(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %b: tensor<8xf32>) -> tensor<?x?x2xf32> {
  %0:3 = "tf.StatefulPartitionedCall"(%x, %h, %h, %b) {config = "", config_proto = "", executor_type = "", f = @main} : (tensor<?x?x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  return %0#0 : tensor<?x?x2xf32>
}
func.func private @main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) attributes {tf._implements = "mine"} {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#4 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}

// -----
// RUN: recognize-composites
// A body that also prints.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: tf._implements
func.func public @main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#4 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %text = "tf.Const"() {value = dense<"a"> : tensor<!tf_type.string>} : () -> tensor<!tf_type.string>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  "tf.PrintV2"(%text) {output_stream = "stderr", end = ""} : (tensor<!tf_type.string>) -> ()
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}

// -----
// RUN: recognize-composites
// Weights that change from step to step.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: tf._implements
func.func public @main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#4 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %new = "tf.Tanh"(%b) : (tensor<8xf32>) -> tensor<8xf32>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %new : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}

// -----
// RUN: recognize-composites
// One kernel for both.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: tf._implements
func.func public @main(%x: tensor<?x?x2xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x2xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x2xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#4 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x2xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %kernel) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}

// -----
// RUN: recognize-composites
// Half precision.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: tf._implements
func.func public @main(%x: tensor<?x?x3xf16>, %h: tensor<?x2xf16>, %c: tensor<?x2xf16>, %b: tensor<8xf16>) -> (tensor<?x?x2xf16>, tensor<?x2xf16>, tensor<?x2xf16>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf16>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f16} : (tensor<?x?x3xf16>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f16} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf16>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf16>>>, tensor<?x2xf16>, tensor<?x2xf16>, tensor<!tf_type.variant>, tensor<8xf16>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf16>, tensor<?x2xf16>, tensor<!tf_type.variant>, tensor<8xf16>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f16} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf16>
  return %y, %r#3, %r#4 : tensor<?x?x2xf16>, tensor<?x2xf16>, tensor<?x2xf16>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf16>, %c: tensor<?x2xf16>, %in: tensor<!tf_type.variant>, %b: tensor<8xf16>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf16>, %c: tensor<?x2xf16>, %in: tensor<!tf_type.variant>, %b: tensor<8xf16>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf16>, tensor<?x2xf16>, tensor<!tf_type.variant>, tensor<8xf16>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf16>} : () -> tensor<3x8xf16>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf16>} : () -> tensor<2x8xf16>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f16} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf16>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf16>, tensor<3x8xf16>) -> tensor<?x8xf16>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf16>, tensor<2x8xf16>) -> tensor<?x8xf16>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf16>, tensor<?x8xf16>) -> tensor<?x8xf16>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf16>, tensor<8xf16>) -> tensor<?x8xf16>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf16>) -> (tensor<?x2xf16>, tensor<?x2xf16>, tensor<?x2xf16>, tensor<?x2xf16>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf16>) -> tensor<?x2xf16>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf16>) -> tensor<?x2xf16>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf16>) -> tensor<?x2xf16>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf16>, tensor<?x2xf16>) -> tensor<?x2xf16>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf16>, tensor<?x2xf16>) -> tensor<?x2xf16>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf16>, tensor<?x2xf16>) -> tensor<?x2xf16>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf16>) -> tensor<?x2xf16>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf16>) -> tensor<?x2xf16>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf16>, tensor<?x2xf16>) -> tensor<?x2xf16>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f16} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf16>) -> tensor<!tf_type.variant>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf16>, tensor<?x2xf16>, tensor<!tf_type.variant>, tensor<8xf16>
}

// -----
// RUN: recognize-composites
// The number of turns is used.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.While
// CHECK-NOT: tf._implements
func.func public @main(%x: tensor<?x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %b: tensor<8xf32>) -> (tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<i32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %item = "tf.Const"() {value = dense<[-1, 2]> : tensor<2xi32>} : () -> tensor<2xi32>
  %shape = "tf.Shape"(%x) : (tensor<?x?x3xf32>) -> tensor<3xi32>
  %n = "tf.StridedSlice"(%shape, %0, %1, %1) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<3xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<i32>
  %in = "tf.TensorListFromTensor"(%x, %item) {element_dtype = f32} : (tensor<?x?x3xf32>, tensor<2xi32>) -> tensor<!tf_type.variant>
  %out = "tf.TensorListReserve"(%item, %n) {element_dtype = f32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %r:7 = "tf.While"(%zero, %n, %out, %h, %c, %in, %b) {body = @body, cond = @cond, is_stateless = false} : (tensor<i32>, tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>)
  %y = "tf.TensorListStack"(%r#2, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x2xf32>
  return %y, %r#3, %r#0 : tensor<?x?x2xf32>, tensor<?x2xf32>, tensor<i32>
}
func.func private @cond(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> tensor<i1> {
  %0 = "tf.Less"(%t, %n) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%t: tensor<i32>, %n: tensor<i32>, %out: tensor<!tf_type.variant>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %in: tensor<!tf_type.variant>, %b: tensor<8xf32>) -> (tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %kernel = "tf.Const"() {value = dense<1.0> : tensor<3x8xf32>} : () -> tensor<3x8xf32>
  %recurrent = "tf.Const"() {value = dense<2.0> : tensor<2x8xf32>} : () -> tensor<2x8xf32>
  %item = "tf.Const"() {value = dense<[-1, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %x = "tf.TensorListGetItem"(%in, %t, %item) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<2xi32>) -> tensor<?x3xf32>
  %0 = "tf.MatMul"(%x, %kernel) : (tensor<?x3xf32>, tensor<3x8xf32>) -> tensor<?x8xf32>
  %1 = "tf.MatMul"(%h, %recurrent) : (tensor<?x2xf32>, tensor<2x8xf32>) -> tensor<?x8xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %4:4 = "tf.Split"(%one, %3) : (tensor<i32>, tensor<?x8xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>)
  %5 = "tf.Sigmoid"(%4#0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %6 = "tf.Sigmoid"(%4#1) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %7 = "tf.Tanh"(%4#2) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %8 = "tf.Mul"(%6, %c) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %9 = "tf.Mul"(%5, %7) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %10 = "tf.AddV2"(%8, %9) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %11 = "tf.Sigmoid"(%4#3) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %12 = "tf.Tanh"(%10) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %13 = "tf.Mul"(%11, %12) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %14 = "tf.TensorListSetItem"(%out, %t, %13) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %15 = "tf.AddV2"(%t, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  return %15, %n, %14, %13, %10, %in, %b : tensor<i32>, tensor<i32>, tensor<!tf_type.variant>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<!tf_type.variant>, tensor<8xf32>
}
