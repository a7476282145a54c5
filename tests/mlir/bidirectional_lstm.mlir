// RUN: fuse-composites
// Two results; zero states; peepholes of zero and projections by the identity, which change nothing.
// CHECK-LABEL: func.func private @two
// CHECK: %[[KI:.*]] = "tfl.transpose"(%{{.*}}, %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[FH:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[FC:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[BH:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[BC:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[FP:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<2xf32>}>
// CHECK: %[[FE:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: %[[BP:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<2xf32>}>
// CHECK: %[[BE:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: %[[Y:.*]], %[[Z:.*]] = "tfl.bidirectional_sequence_lstm"(%arg0, %[[KI]],
// CHECK-SAME: %[[FP]], %[[FP]], %[[FP]],
// CHECK-SAME: %[[FE]], %[[FP]],
// CHECK-SAME: %[[BP]], %[[BP]], %[[BP]],
// CHECK-SAME: %[[BE]], %[[BP]], %[[FH]], %[[FC]], %[[BH]], %[[BC]],
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, fused_activation_function = "TANH", merge_outputs = false, proj_clip = 0.000000e+00 : f32, time_major = false
// CHECK: return %[[Y]], %[[Z]]
func.func private @two(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> (tensor<5x8x2xf32>, tensor<5x8x2xf32>) attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<5x8x2xf32>, tensor<5x8x2xf32>)
  return %0#0, %0#1 : tensor<5x8x2xf32>, tensor<5x8x2xf32>
}

// -----
// RUN: fuse-composites
// One result, time first, initial states.
// CHECK-LABEL: func.func private @one
// CHECK: %[[FH:.*]] = "tfl.custom"(%arg7)
// CHECK: %[[FC:.*]] = "tfl.custom"(%arg8)
// CHECK: %[[BH:.*]] = "tfl.custom"(%arg9)
// CHECK: %[[BC:.*]] = "tfl.custom"(%arg10)
// CHECK: %[[Y:.*]], %[[Z:.*]] = "tfl.bidirectional_sequence_lstm"
// CHECK-SAME: %[[FH]], %[[FC]], %[[BH]], %[[BC]]
// CHECK-SAME: time_major = true
// CHECK: "tfl.concatenation"(%[[Y]], %[[Z]]) <{axis = 2 : i32
func.func private @one(%x: tensor<8x?x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>, %h0: tensor<?x2xf32>, %c0: tensor<?x2xf32>, %h1: tensor<?x2xf32>, %c1: tensor<?x2xf32>) -> tensor<8x?x4xf32> attributes {tf._implements = {name = "bidirectional_sequence_lstm", attributes = {time_major = true}}} {
  %0 = "tf.Undefined"() : () -> tensor<8x?x4xf32>
  return %0 : tensor<8x?x4xf32>
}

// -----
// RUN: fuse-composites
// Eight arguments: the body stays.
// REASON: it has 8 arguments, not 7 (inputs and the kernel, recurrent kernel, bias of each direction) or 11
// CHECK-LABEL: func.func private @eight
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
func.func private @eight(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>, %m: tensor<5x8xi1>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// Other units backwards, which the kernel does not take: the body stays.
// REASON: the forward LSTM has 2 units and the backward LSTM 1; BIDIRECTIONAL_SEQUENCE_LSTM takes as many in both
// CHECK-LABEL: func.func private @units
// CHECK-NEXT: tf.Undefined
func.func private @units(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x4xf32>, %s: tensor<1x4xf32>, %c: tensor<4xf32>) -> tensor<5x8x3xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x3xf32>
  return %0 : tensor<5x8x3xf32>
}

// -----
// RUN: fuse-composites
// Three results: the body stays.
// REASON: it has 3 results, not 1 (both directions' outputs concatenated) or 2
// CHECK-LABEL: func.func private @results
// CHECK-NEXT: tf.Undefined
func.func private @results(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> (tensor<5x8x2xf32>, tensor<5x8x2xf32>, tensor<5x8x2xf32>) attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0:3 = "tf.Undefined"() : () -> (tensor<5x8x2xf32>, tensor<5x8x2xf32>, tensor<5x8x2xf32>)
  return %0#0, %0#1, %0#2 : tensor<5x8x2xf32>, tensor<5x8x2xf32>, tensor<5x8x2xf32>
}

// -----
// RUN: fuse-composites
// A result of other units: the body stays.
// REASON: result 0 is float32[5,8,3]; its last dimension is of 4 units
// CHECK-LABEL: func.func private @width
// CHECK-NEXT: tf.Undefined
func.func private @width(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x3xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x3xf32>
  return %0 : tensor<5x8x3xf32>
}

// -----
// RUN: fuse-composites
// Half floats: the body stays.
// REASON: inputs is float16[5,8,3]; BIDIRECTIONAL_SEQUENCE_LSTM takes float32, here of rank 3
// CHECK-LABEL: func.func private @half
// CHECK-NEXT: tf.Undefined
func.func private @half(%x: tensor<5x8x3xf16>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// A bias for three gates: the body stays.
// REASON: the forward bias is float32[6], which does not fit the others
// CHECK-LABEL: func.func private @bias
// CHECK-NEXT: tf.Undefined
func.func private @bias(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<6xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// Weights of unknown size: the body stays.
// REASON: the backward kernel is float32[?,8]; the weights' sizes must be known
// CHECK-LABEL: func.func private @unknown
// CHECK-NEXT: tf.Undefined
func.func private @unknown(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<?x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// An unknown attribute: the body stays.
// REASON: it has the attribute merge; known is time_major
// CHECK-LABEL: func.func private @attribute
// CHECK-NEXT: tf.Undefined
func.func private @attribute(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = {name = "bidirectional_sequence_lstm", attributes = {merge = true}}} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// An attribute that is no bool: the body stays.
// REASON: the attribute time_major is 1, not a bool
// CHECK-LABEL: func.func private @major
// CHECK-NEXT: tf.Undefined
func.func private @major(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = {name = "bidirectional_sequence_lstm", attributes = {time_major = 1 : i64}}} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}

// -----
// RUN: fuse-composites
// States of another batch: the body stays.
// REASON: the batch is of several sizes
// CHECK-LABEL: func.func private @batch
// CHECK-NEXT: tf.Undefined
func.func private @batch(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>, %u: tensor<5x2xf32>, %v: tensor<4x2xf32>, %w: tensor<5x2xf32>, %z: tensor<5x2xf32>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}
