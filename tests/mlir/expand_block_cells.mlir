// RUN: expand-block-cells
// An LSTM whose gates are i, ci, f, o, with a bias of the forget gate and a limit of the state.
// CHECK-LABEL: func.func @main
// CHECK: %[[BOTH:.*]] = "tf.ConcatV2"(%arg0, %arg2, {{.*}} -> tensor<2x7xf32>
// CHECK: %[[PRODUCT:.*]] = "tf.MatMul"(%[[BOTH]], %arg3)
// CHECK: %[[Z:.*]] = "tf.BiasAdd"(%[[PRODUCT]], %arg5)
// CHECK: %[[GATES:.*]]:4 = "tf.Split"({{.*}}, %[[Z]])
// CHECK: %[[ONE:.*]] = "tf.Const"() <{value = dense<1.0
// CHECK: %[[BIASED:.*]] = "tf.AddV2"(%[[GATES]]#2, %[[ONE]])
// CHECK: %[[I:.*]] = "tf.Sigmoid"(%[[GATES]]#0)
// CHECK: %[[F:.*]] = "tf.Sigmoid"(%[[BIASED]])
// CHECK: %[[CI:.*]] = "tf.Tanh"(%[[GATES]]#1)
// CHECK: %[[NEW:.*]] = "tf.Mul"(%[[CI]], %[[I]])
// CHECK: %[[KEPT:.*]] = "tf.Mul"(%arg1, %[[F]])
// CHECK: %[[SUM:.*]] = "tf.AddV2"(%[[NEW]], %[[KEPT]])
// CHECK: %[[MOST:.*]] = "tf.Const"() <{value = dense<3.0
// CHECK: %[[BELOW:.*]] = "tf.Minimum"(%[[SUM]], %[[MOST]])
// CHECK: %[[LEAST:.*]] = "tf.Const"() <{value = dense<-3.0
// CHECK: %[[CS:.*]] = "tf.Maximum"(%[[BELOW]], %[[LEAST]])
// CHECK: %[[O:.*]] = "tf.Sigmoid"(%[[GATES]]#3)
// CHECK: %[[CO:.*]] = "tf.Tanh"(%[[CS]])
// CHECK: %[[H:.*]] = "tf.Mul"(%[[CO]], %[[O]])
// CHECK: return %[[CS]], %[[H]]
func.func @main(%x: tensor<2x3xf32>, %c: tensor<2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<7x16xf32>, %p: tensor<4xf32>, %b: tensor<16xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0:7 = "tf.LSTMBlockCell"(%x, %c, %h, %w, %p, %p, %p, %b) {forget_bias = 1.0 : f32, cell_clip = 3.0 : f32, use_peephole = false} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0#1, %0#6 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// RUN: expand-block-cells
// With peepholes: those of the input and forget gate look at the old state, that of the output gate at the new one.
// CHECK-LABEL: func.func @main
// CHECK: %[[GATES:.*]]:4 = "tf.Split"
// CHECK: %[[TO_I:.*]] = "tf.Mul"(%arg1, %arg4)
// CHECK: %[[ZI:.*]] = "tf.AddV2"(%[[GATES]]#0, %[[TO_I]])
// CHECK: %[[TO_F:.*]] = "tf.Mul"(%arg1, %arg5)
// CHECK: %[[ZF:.*]] = "tf.AddV2"(%[[GATES]]#2, %[[TO_F]])
// CHECK: "tf.Sigmoid"(%[[ZI]])
// CHECK: "tf.Sigmoid"(%[[ZF]])
// CHECK-NOT: tf.Minimum
// CHECK: %[[CS:.*]] = "tf.AddV2"
// CHECK: %[[TO_O:.*]] = "tf.Mul"(%[[CS]], %arg6)
// CHECK: %[[ZO:.*]] = "tf.AddV2"(%[[GATES]]#3, %[[TO_O]])
// CHECK: "tf.Sigmoid"(%[[ZO]])
func.func @main(%x: tensor<2x3xf32>, %c: tensor<2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<7x16xf32>, %pi: tensor<4xf32>, %pf: tensor<4xf32>, %po: tensor<4xf32>, %b: tensor<16xf32>) -> tensor<2x4xf32> {
  %0:7 = "tf.LSTMBlockCell"(%x, %c, %h, %w, %pi, %pf, %po, %b) {forget_bias = 0.0 : f32, cell_clip = -1.0 : f32, use_peephole = true} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0#6 : tensor<2x4xf32>
}

// -----

// RUN: expand-block-cells
// CHECK-LABEL: func.func @main
// CHECK: %[[BOTH:.*]] = "tf.ConcatV2"(%arg0, %arg1,
// CHECK: %[[PRODUCT:.*]] = "tf.MatMul"(%[[BOTH]], %arg2)
// CHECK: %[[Z:.*]] = "tf.BiasAdd"(%[[PRODUCT]], %arg4)
// CHECK: %[[GATES:.*]] = "tf.Sigmoid"(%[[Z]])
// CHECK: %[[RU:.*]]:2 = "tf.Split"({{.*}}, %[[GATES]])
// CHECK: %[[RESET:.*]] = "tf.Mul"(%arg1, %[[RU]]#0)
// CHECK: %[[WITH:.*]] = "tf.ConcatV2"(%arg0, %[[RESET]],
// CHECK: %[[SECOND:.*]] = "tf.MatMul"(%[[WITH]], %arg3)
// CHECK: %[[BIASED:.*]] = "tf.BiasAdd"(%[[SECOND]], %arg5)
// CHECK: %[[C:.*]] = "tf.Tanh"(%[[BIASED]])
// CHECK: %[[KEPT:.*]] = "tf.Mul"(%[[RU]]#1, %arg1)
// CHECK: %[[REST:.*]] = "tf.Sub"({{.*}}, %[[RU]]#1)
// CHECK: %[[NEW:.*]] = "tf.Mul"(%[[REST]], %[[C]])
// CHECK: %[[H:.*]] = "tf.AddV2"(%[[KEPT]], %[[NEW]])
// CHECK: return %[[H]]
func.func @main(%x: tensor<2x3xf32>, %h: tensor<2x4xf32>, %w: tensor<7x8xf32>, %wc: tensor<7x4xf32>, %b: tensor<8xf32>, %bc: tensor<4xf32>) -> tensor<2x4xf32> {
  %0:4 = "tf.GRUBlockCell"(%x, %h, %w, %wc, %b, %bc) : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<7x8xf32>, tensor<7x4xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
  return %0#3 : tensor<2x4xf32>
}

// -----

// RUN: expand-block-cells
// A layer is a loop over as many steps as a call says; its outputs are zeros behind these. Its gates are i, f, ci, o.
// CHECK-LABEL: func.func @main
// CHECK: %[[LIST:.*]] = "tf.TensorListReserve"
// CHECK: %[[STEPS:.*]] = "tf.Cast"(%arg0) <{Truncate = false}> : (tensor<i64>) -> tensor<i32>
// CHECK: %[[LOOP:.*]]:8 = "tf.While"({{.*}}, %[[STEPS]], %[[LIST]], %arg3, %arg2, %arg1, %arg4, %arg6)
// CHECK: %[[ALL:.*]] = "tf.TensorListStack"(%[[LOOP]]#2, {{.*}} -> tensor<5x?x4xf32>
// CHECK: return %[[ALL]]
// CHECK-LABEL: func.func private @tf.BlockLSTMV2.cond
// CHECK: "tf.Less"(%arg0, %arg1)
// CHECK-LABEL: func.func private @tf.BlockLSTMV2.body
// CHECK: %[[X:.*]] = "tf.GatherV2"(%arg5, %arg0,
// CHECK: "tf.ConcatV2"(%[[X]], %arg3,
// CHECK: %[[GATES:.*]]:4 = "tf.Split"
// CHECK: "tf.Sigmoid"(%[[GATES]]#0)
// CHECK: %[[F:.*]] = "tf.Sigmoid"(%[[GATES]]#1)
// CHECK: "tf.Tanh"(%[[GATES]]#2)
// CHECK: "tf.Mul"(%arg4, %[[F]])
// CHECK: %[[CS:.*]] = "tf.AddV2"
// CHECK: %[[H:.*]] = "tf.Mul"
// CHECK: %[[WRITTEN:.*]] = "tf.TensorListSetItem"(%arg2, %arg0, %[[H]])
// CHECK: %[[NEXT:.*]] = "tf.AddV2"(%arg0,
// CHECK: return %[[NEXT]], %arg1, %[[WRITTEN]], %[[H]], %[[CS]], %arg5, %arg6, %arg7
func.func @main(%n: tensor<i64>, %x: tensor<5x?x3xf32>, %c: tensor<?x4xf32>, %h: tensor<?x4xf32>, %w: tensor<7x16xf32>, %p: tensor<4xf32>, %b: tensor<16xf32>) -> tensor<5x?x4xf32> {
  %0:7 = "tf.BlockLSTMV2"(%n, %x, %c, %h, %w, %p, %p, %p, %b) {cell_clip = 0.0 : f32, use_peephole = false} : (tensor<i64>, tensor<5x?x3xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<7x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<5x?x4xf32>, tensor<5x?x4xf32>, tensor<5x?x4xf32>, tensor<5x?x4xf32>, tensor<5x?x4xf32>, tensor<5x?x4xf32>, tensor<5x?x4xf32>)
  return %0#6 : tensor<5x?x4xf32>
}

// -----

// RUN: expand-block-cells
// The last state, of a layer that takes all steps, is the loop's: there is no list of all states.
// CHECK-LABEL: func.func @main
// CHECK: tf.TensorListReserve
// CHECK-NOT: tf.TensorListReserve
// CHECK: %[[LOOP:.*]]:8 = "tf.While"
// CHECK: %[[ALL:.*]] = "tf.TensorListStack"(%[[LOOP]]#2
// CHECK-NOT: tf.StridedSlice
// CHECK: return %[[ALL]], %[[LOOP]]#4
func.func @main(%x: tensor<5x2x3xf32>, %c: tensor<2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<7x16xf32>, %p: tensor<4xf32>, %b: tensor<16xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
  %n = "tf.Const"() {value = dense<5> : tensor<i64>} : () -> tensor<i64>
  %0:7 = "tf.BlockLSTM"(%n, %x, %c, %h, %w, %p, %p, %p, %b) {forget_bias = 1.0 : f32, cell_clip = 3.0 : f32, use_peephole = false} : (tensor<i64>, tensor<5x2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>)
  %last = "tf.Const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.StridedSlice"(%0#1, %last, %end, %one) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<5x2x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x4xf32>
  return %0#6, %1 : tensor<5x2x4xf32>, tensor<2x4xf32>
}

// -----

// RUN: expand-block-cells
// Where a call says how many steps there are, the last of all states is not the last one that was computed.
// CHECK-LABEL: func.func @main
// CHECK: tf.TensorListReserve
// CHECK: tf.TensorListReserve
// CHECK: %[[LOOP:.*]]:9 = "tf.While"
// CHECK-DAG: %[[STATES:.*]] = "tf.TensorListStack"(%[[LOOP]]#2
// CHECK-DAG: %[[ALL:.*]] = "tf.TensorListStack"(%[[LOOP]]#3
// CHECK: %[[LAST:.*]] = "tf.StridedSlice"(%[[STATES]]
// CHECK: return %[[ALL]], %[[LAST]]
func.func @main(%n: tensor<i64>, %x: tensor<5x2x3xf32>, %c: tensor<2x4xf32>, %h: tensor<2x4xf32>, %w: tensor<7x16xf32>, %p: tensor<4xf32>, %b: tensor<16xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>) {
  %0:7 = "tf.BlockLSTM"(%n, %x, %c, %h, %w, %p, %p, %p, %b) {forget_bias = 1.0 : f32, cell_clip = 3.0 : f32, use_peephole = false} : (tensor<i64>, tensor<5x2x3xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<7x16xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<16xf32>) -> (tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>, tensor<5x2x4xf32>)
  %last = "tf.Const"() {value = dense<-1> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %1 = "tf.StridedSlice"(%0#1, %last, %end, %one) {begin_mask = 0 : i64, ellipsis_mask = 0 : i64, end_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 1 : i64} : (tensor<5x2x4xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2x4xf32>
  return %0#6, %1 : tensor<5x2x4xf32>, tensor<2x4xf32>
}

// -----

// RUN: expand-block-cells
// Those of float16 stay, and those whose shapes are not known.
// CHECK-LABEL: func.func @half
// CHECK: tf.GRUBlockCell
func.func @half(%x: tensor<2x3xf16>, %h: tensor<2x4xf16>, %w: tensor<7x8xf16>, %wc: tensor<7x4xf16>, %b: tensor<8xf16>, %bc: tensor<4xf16>) -> tensor<2x4xf16> {
  %0:4 = "tf.GRUBlockCell"(%x, %h, %w, %wc, %b, %bc) : (tensor<2x3xf16>, tensor<2x4xf16>, tensor<7x8xf16>, tensor<7x4xf16>, tensor<8xf16>, tensor<4xf16>) -> (tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>, tensor<2x4xf16>)
  return %0#3 : tensor<2x4xf16>
}
// CHECK-LABEL: func.func @unranked
// CHECK: tf.GRUBlockCell
func.func @unranked(%x: tensor<2x3xf32>, %h: tensor<*xf32>, %w: tensor<7x8xf32>, %wc: tensor<7x4xf32>, %b: tensor<8xf32>, %bc: tensor<4xf32>) -> tensor<*xf32> {
  %0:4 = "tf.GRUBlockCell"(%x, %h, %w, %wc, %b, %bc) : (tensor<2x3xf32>, tensor<*xf32>, tensor<7x8xf32>, tensor<7x4xf32>, tensor<8xf32>, tensor<4xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#3 : tensor<*xf32>
}
