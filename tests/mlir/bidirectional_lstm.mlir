// RUN: fuse-composites
// Two results; zero states; peepholes of zero and projections by the identity, which change nothing.
// CHECK-LABEL: func.func private @two
// CHECK: %[[KI:.*]] = "tfl.transpose"(%{{.*}}, %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[FH:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[FC:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x2xf32>
// CHECK: %[[BH:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x1xf32>
// CHECK: %[[BC:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"{{.*}} -> tensor<5x1xf32>
// CHECK: %[[FP:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<2xf32>}>
// CHECK: %[[EYE:.*]] = "tfl.pseudo_const"() <{value = dense<{{\[\[}}1.000000e+00, 0.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>}>
// CHECK: %[[BP:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<1xf32>}>
// CHECK: %[[Y:.*]], %[[Z:.*]] = "tfl.bidirectional_sequence_lstm"(%arg0, %[[KI]],
// CHECK-SAME: %[[FP]], %[[FP]], %[[FP]],
// CHECK-SAME: %[[EYE]], %[[FP]],
// CHECK-SAME: %[[BP]], %[[BP]], %[[BP]],
// CHECK-SAME: %[[BP]], %[[FH]], %[[FC]], %[[BH]], %[[BC]],
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, fused_activation_function = "TANH", merge_outputs = false, proj_clip = 0.000000e+00 : f32, time_major = false
// CHECK: return %[[Y]], %[[Z]]
func.func private @two(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x4xf32>, %s: tensor<1x4xf32>, %c: tensor<4xf32>) -> (tensor<5x8x2xf32>, tensor<5x8x1xf32>) attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<5x8x2xf32>, tensor<5x8x1xf32>)
  return %0#0, %0#1 : tensor<5x8x2xf32>, tensor<5x8x1xf32>
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
// CHECK-LABEL: func.func private @eight
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
func.func private @eight(%x: tensor<5x8x3xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %l: tensor<3x8xf32>, %s: tensor<2x8xf32>, %c: tensor<8xf32>, %m: tensor<5x8xi1>) -> tensor<5x8x4xf32> attributes {tf._implements = "bidirectional_sequence_lstm"} {
  %0 = "tf.Undefined"() : () -> tensor<5x8x4xf32>
  return %0 : tensor<5x8x4xf32>
}
