// RUN: fuse-composites
// The LSTM of Keras 2, time first.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<8x?x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[RBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSI:.*]] = "tfl.slice"(%[[R]], %[[RBI]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RI:.*]] = "tfl.transpose"(%[[RSI]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSF:.*]] = "tfl.slice"(%[[R]], %[[RBF]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RF:.*]] = "tfl.transpose"(%[[RSF]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSG:.*]] = "tfl.slice"(%[[R]], %[[RBG]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RG:.*]] = "tfl.transpose"(%[[RSG]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSO:.*]] = "tfl.slice"(%[[R]], %[[RBO]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RO:.*]] = "tfl.transpose"(%[[RSO]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[X]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = false, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = true}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<8x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = true, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// An IndyLSTM, time first.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<8x?x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[TBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[TSI:.*]] = "tfl.slice"(%[[R]], %[[TBI]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TI:.*]] = "tfl.transpose"(%[[TSI]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 1]> : tensor<2xi32>}>
// CHECK: %[[TSF:.*]] = "tfl.slice"(%[[R]], %[[TBF]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TF:.*]] = "tfl.transpose"(%[[TSF]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[TSG:.*]] = "tfl.slice"(%[[R]], %[[TBG]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TG:.*]] = "tfl.transpose"(%[[TSG]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 3]> : tensor<2xi32>}>
// CHECK: %[[TSO:.*]] = "tfl.slice"(%[[R]], %[[TBO]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TO:.*]] = "tfl.transpose"(%[[TSO]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[RI:.*]] = "tfl.reshape"(%[[TI]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RF:.*]] = "tfl.reshape"(%[[TF]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RG:.*]] = "tfl.reshape"(%[[TG]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RO:.*]] = "tfl.reshape"(%[[TO]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[X]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = true, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = true}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<8x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x4xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "indy_lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = true, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// The LSTM of Keras 2, time first, backwards.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<8x?x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[RBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSI:.*]] = "tfl.slice"(%[[R]], %[[RBI]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RI:.*]] = "tfl.transpose"(%[[RSI]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSF:.*]] = "tfl.slice"(%[[R]], %[[RBF]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RF:.*]] = "tfl.transpose"(%[[RSF]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSG:.*]] = "tfl.slice"(%[[R]], %[[RBG]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RG:.*]] = "tfl.transpose"(%[[RSG]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSO:.*]] = "tfl.slice"(%[[R]], %[[RBO]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RO:.*]] = "tfl.transpose"(%[[RSO]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[AXIS:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[REVERSED:.*]] = "tfl.reverse_v2"(%[[X]], %[[AXIS]])
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[REVERSED]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = false, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = true}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<8x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = true, tf.go_backwards = true} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// An IndyLSTM, time first, backwards.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<8x?x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[TBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[TSI:.*]] = "tfl.slice"(%[[R]], %[[TBI]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TI:.*]] = "tfl.transpose"(%[[TSI]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 1]> : tensor<2xi32>}>
// CHECK: %[[TSF:.*]] = "tfl.slice"(%[[R]], %[[TBF]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TF:.*]] = "tfl.transpose"(%[[TSF]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[TSG:.*]] = "tfl.slice"(%[[R]], %[[TBG]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TG:.*]] = "tfl.transpose"(%[[TSG]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 3]> : tensor<2xi32>}>
// CHECK: %[[TSO:.*]] = "tfl.slice"(%[[R]], %[[TBO]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TO:.*]] = "tfl.transpose"(%[[TSO]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[RI:.*]] = "tfl.reshape"(%[[TI]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RF:.*]] = "tfl.reshape"(%[[TF]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RG:.*]] = "tfl.reshape"(%[[TG]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RO:.*]] = "tfl.reshape"(%[[TO]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[AXIS:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[REVERSED:.*]] = "tfl.reverse_v2"(%[[X]], %[[AXIS]])
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[REVERSED]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = true, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = true}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 6 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 1 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<8x?x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x4xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "indy_lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = true, tf.go_backwards = true} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<8x?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// The LSTM of Keras 2, batch first.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[RBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSI:.*]] = "tfl.slice"(%[[R]], %[[RBI]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RI:.*]] = "tfl.transpose"(%[[RSI]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSF:.*]] = "tfl.slice"(%[[R]], %[[RBF]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RF:.*]] = "tfl.transpose"(%[[RSF]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSG:.*]] = "tfl.slice"(%[[R]], %[[RBG]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RG:.*]] = "tfl.transpose"(%[[RSG]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSO:.*]] = "tfl.slice"(%[[R]], %[[RBO]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RO:.*]] = "tfl.transpose"(%[[RSO]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[X]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = false, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = false}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 5 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 2 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// An IndyLSTM, batch first.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[TBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[TSI:.*]] = "tfl.slice"(%[[R]], %[[TBI]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TI:.*]] = "tfl.transpose"(%[[TSI]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 1]> : tensor<2xi32>}>
// CHECK: %[[TSF:.*]] = "tfl.slice"(%[[R]], %[[TBF]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TF:.*]] = "tfl.transpose"(%[[TSF]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[TSG:.*]] = "tfl.slice"(%[[R]], %[[TBG]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TG:.*]] = "tfl.transpose"(%[[TSG]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 3]> : tensor<2xi32>}>
// CHECK: %[[TSO:.*]] = "tfl.slice"(%[[R]], %[[TBO]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TO:.*]] = "tfl.transpose"(%[[TSO]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[RI:.*]] = "tfl.reshape"(%[[TI]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RF:.*]] = "tfl.reshape"(%[[TF]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RG:.*]] = "tfl.reshape"(%[[TG]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RO:.*]] = "tfl.reshape"(%[[TO]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[X]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = true, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = false}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 5 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 2 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x4xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "indy_lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// The LSTM of Keras 2, batch first, backwards.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[RBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSI:.*]] = "tfl.slice"(%[[R]], %[[RBI]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RI:.*]] = "tfl.transpose"(%[[RSI]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSF:.*]] = "tfl.slice"(%[[R]], %[[RBF]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RF:.*]] = "tfl.transpose"(%[[RSF]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSG:.*]] = "tfl.slice"(%[[R]], %[[RBG]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RG:.*]] = "tfl.transpose"(%[[RSG]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSO:.*]] = "tfl.slice"(%[[R]], %[[RBO]], %{{.*}}) {auxiliary} : (tensor<2x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[RO:.*]] = "tfl.transpose"(%[[RSO]], %{{.*}}) {auxiliary} : (tensor<2x2xf32>, tensor<2xi32>) -> tensor<2x2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[AXIS:.*]] = "tfl.pseudo_const"() <{value = dense<1> : tensor<1xi32>}>
// CHECK: %[[REVERSED:.*]] = "tfl.reverse_v2"(%[[X]], %[[AXIS]])
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[REVERSED]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = false, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = false}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 5 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 2 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = true} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// An IndyLSTM, batch first, backwards.
// CHECK-LABEL: func.func private @inner
// CHECK-SAME: (%[[X:.*]]: tensor<?x8x3xf32>, %[[H:.*]]: tensor<?x2xf32>, %[[C:.*]]: tensor<?x2xf32>, %[[K:.*]]: tensor<3x8xf32>, %[[R:.*]]: tensor<2x4xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[TBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[TSI:.*]] = "tfl.slice"(%[[R]], %[[TBI]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TI:.*]] = "tfl.transpose"(%[[TSI]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 1]> : tensor<2xi32>}>
// CHECK: %[[TSF:.*]] = "tfl.slice"(%[[R]], %[[TBF]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TF:.*]] = "tfl.transpose"(%[[TSF]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[TSG:.*]] = "tfl.slice"(%[[R]], %[[TBG]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TG:.*]] = "tfl.transpose"(%[[TSG]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[TBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 3]> : tensor<2xi32>}>
// CHECK: %[[TSO:.*]] = "tfl.slice"(%[[R]], %[[TBO]], %{{.*}}) {auxiliary} : (tensor<2x4xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x1xf32>
// CHECK: %[[TO:.*]] = "tfl.transpose"(%[[TSO]], %{{.*}}) {auxiliary} : (tensor<2x1xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[RI:.*]] = "tfl.reshape"(%[[TI]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RF:.*]] = "tfl.reshape"(%[[TF]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RG:.*]] = "tfl.reshape"(%[[TG]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[RO:.*]] = "tfl.reshape"(%[[TO]], %{{.*}}) {auxiliary} : (tensor<1x2xf32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[KBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSI:.*]] = "tfl.slice"(%[[K]], %[[KBI]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KI:.*]] = "tfl.transpose"(%[[KSI]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBF:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSF:.*]] = "tfl.slice"(%[[K]], %[[KBF]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KF:.*]] = "tfl.transpose"(%[[KSF]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBG:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSG:.*]] = "tfl.slice"(%[[K]], %[[KBG]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KG:.*]] = "tfl.transpose"(%[[KSG]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[KBO:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSO:.*]] = "tfl.slice"(%[[K]], %[[KBO]], %{{.*}}) {auxiliary} : (tensor<3x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x2xf32>
// CHECK: %[[KO:.*]] = "tfl.transpose"(%[[KSO]], %{{.*}}) {auxiliary} : (tensor<3x2xf32>, tensor<2xi32>) -> tensor<2x3xf32>
// CHECK: %[[OBI:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[BI:.*]] = "tfl.slice"(%[[B]], %[[OBI]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBF:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[BF:.*]] = "tfl.slice"(%[[B]], %[[OBF]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBG:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[BG:.*]] = "tfl.slice"(%[[B]], %[[OBG]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[OBO:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[BO:.*]] = "tfl.slice"(%[[B]], %[[OBO]], %{{.*}}) {auxiliary} : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>) -> tensor<2xf32>
// CHECK: %[[AXIS:.*]] = "tfl.pseudo_const"() <{value = dense<1> : tensor<1xi32>}>
// CHECK: %[[REVERSED:.*]] = "tfl.reverse_v2"(%[[X]], %[[AXIS]])
// CHECK: %[[CELL:.*]] = "tfl.custom"(%[[C]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[STATE:.*]] = "tfl.custom"(%[[H]]) <{custom_code = "litefuse.initial_state"
// CHECK: %[[NONE:.*]] = "tfl.no_value"()
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"(%[[REVERSED]], %[[KI]], %[[KF]], %[[KG]], %[[KO]], %[[RI]], %[[RF]], %[[RG]], %[[RO]], %[[NONE]], %[[NONE]], %[[NONE]], %[[BI]], %[[BF]], %[[BG]], %[[BO]], %[[NONE]], %[[NONE]], %[[STATE]], %[[CELL]], %[[NONE]], %[[NONE]], %[[NONE]], %[[NONE]])
// CHECK-SAME: cell_clip = 0.000000e+00 : f32, diagonal_recurrent_tensors = true, fused_activation_function = "TANH", proj_clip = 0.000000e+00 : f32, time_major = false}>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]],
// CHECK-SAME: begin_mask = 5 : i32, ellipsis_mask = 0 : i32, end_mask = 7 : i32, new_axis_mask = 0 : i32, offset = false, shrink_axis_mask = 2 : i32
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[CELL]])
// CHECK: %[[NEW:.*]] = "tfl.slice"(%[[BOTH]],
// CHECK: %[[RUNTIME:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00> : tensor<f32>}>
// CHECK: return %[[LAST]], %[[Y]], %[[LAST]], %[[NEW]], %[[RUNTIME]]
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x4xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "indy_lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = true} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// A layer that returns the last output only has it as its one step; go_backwards may be missing, time and features open.
// CHECK-LABEL: func.func private @inner
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"
// CHECK-SAME: -> tensor<1x?x2xf32>
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]]
// CHECK-SAME: shrink_axis_mask = 2 : i32
// CHECK: %[[STEP:.*]] = "tfl.strided_slice"(%[[Y]]
// CHECK-SAME: shrink_axis_mask = 0 : i32}> {auxiliary} : (tensor<1x?x2xf32>, tensor<3xi32>, tensor<3xi32>, tensor<3xi32>) -> tensor<1x1x2xf32>
// CHECK: return %[[LAST]], %[[STEP]], %[[LAST]]
func.func private @inner(%x: tensor<1x?x?xf32>, %h: tensor<1x2xf32>, %c: tensor<1x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<1x2xf32>, tensor<1x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<1x2xf32>, tensor<1x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<1x2xf32>, tensor<1x1x2xf32>, tensor<1x2xf32>, tensor<1x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites, inline{default-pipeline=}, symbol-dce, canonicalize
// The caller uses the sequence, of the two states that are the same value each has its own.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.custom"(%arg1) <{custom_code = "litefuse.initial_state"
// CHECK: "tfl.custom"(%arg1) <{custom_code = "litefuse.initial_state"
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"
// CHECK-NOT: tfl.concatenation
// CHECK: return
func.func @main(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<*xf32> {
  %0:5 = "tf.PartitionedCall"(%x, %h, %h, %k, %r, %b) {config = "", config_proto = "", executor_type = "", f = @inner} : (tensor<?x8x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#1 : tensor<*xf32>
}
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites, inline{default-pipeline=}, symbol-dce, canonicalize
// The caller uses the last output.
// CHECK-LABEL: func.func @main
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]]
// CHECK-NOT: tfl.concatenation
// CHECK: return
func.func @main(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<*xf32> {
  %0:5 = "tf.PartitionedCall"(%x, %h, %h, %k, %r, %b) {config = "", config_proto = "", executor_type = "", f = @inner} : (tensor<?x8x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#0 : tensor<*xf32>
}
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites, inline{default-pipeline=}, symbol-dce, canonicalize
// The caller uses the last cell state: read from the state's memory after the op, whose output it needs.
// CHECK-LABEL: func.func @main
// CHECK: %[[C:.*]] = "tfl.custom"(%arg1)
// CHECK: %[[Y:.*]] = "tfl.unidirectional_sequence_lstm"
// CHECK: %[[LAST:.*]] = "tfl.strided_slice"(%[[Y]]
// CHECK: %[[BOTH:.*]] = "tfl.concatenation"(%[[LAST]], %[[C]])
// CHECK: "tfl.slice"(%[[BOTH]]
func.func @main(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> tensor<*xf32> {
  %0:5 = "tf.PartitionedCall"(%x, %h, %h, %k, %r, %b) {config = "", config_proto = "", executor_type = "", f = @inner} : (tensor<?x8x3xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<3x8xf32>, tensor<2x8xf32>, tensor<8xf32>) -> (tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>, tensor<*xf32>)
  return %0#3 : tensor<*xf32>
}
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// A seventh argument, the mask: the body stays.
// REASON: it has 7 arguments: a mask or the sequences' lengths (bool[?,8]) after inputs, the initial h, the initial c, the kernel, the recurrent kernel, the bias; UNIDIRECTIONAL_SEQUENCE_LSTM takes all steps
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>, %m: tensor<?x8xi1>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// Fewer than six arguments.
// REASON: it has 5 arguments, not 6 (inputs, the initial h, the initial c, the kernel, the recurrent kernel, the bias)
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// No time_major.
// REASON: it needs the function attribute time_major (a bool); it has {}
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c"} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// time_major is no bool.
// REASON: it needs the function attribute time_major (a bool); it has {'time_major': 1}
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = 1 : i64} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// Unranked inputs.
// REASON: inputs is float32[*]; UNIDIRECTIONAL_SEQUENCE_LSTM takes and gives float32, here of rank 3
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<*xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// A bias that is too short.
// REASON: the bias is float32[6], which does not fit a layer of 2 units: inputs float32[?,8,3], the initial h float32[?,2], the initial c float32[?,2], the kernel float32[3,8], the recurrent kernel float32[2,8], the bias float32[6]
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<6xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// A kernel whose columns are no four gates.
// REASON: the kernel is float32[3,10], which does not fit a layer of 2 units: inputs float32[?,8,3], the initial h float32[?,2], the initial c float32[?,2], the kernel float32[3,10], the recurrent kernel float32[2,8], the bias float32[8]
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x10xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// Weights of unknown size.
// REASON: the kernel is float32[?,8]; the weights' sizes must be known
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<?x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// float64.
// REASON: inputs is float64[?,8,3]; UNIDIRECTIONAL_SEQUENCE_LSTM takes and gives float32, here of rank 3
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf64>, %h: tensor<?x2xf64>, %c: tensor<?x2xf64>, %k: tensor<3x8xf64>, %r: tensor<2x8xf64>, %b: tensor<8xf64>) -> (tensor<?x2xf64>, tensor<?x8x2xf64>, tensor<?x2xf64>, tensor<?x2xf64>, tensor<f64>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf64>, tensor<?x8x2xf64>, tensor<?x2xf64>, tensor<?x2xf64>, tensor<f64>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf64>, tensor<?x8x2xf64>, tensor<?x2xf64>, tensor<?x2xf64>, tensor<f64>
}

// -----
// RUN: fuse-composites
// The recurrent kernel of an LSTM in an IndyLSTM.
// REASON: the recurrent kernel is float32[2,8], which does not fit a layer of 2 units: inputs float32[?,8,3], the initial h float32[?,2], the initial c float32[?,2], the kernel float32[3,8], the recurrent kernel float32[2,8], the bias float32[8]
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "indy_lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// One result.
// REASON: it has 1 results, not 5 (the last output, outputs, the last h, the last c, runtime)
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>)
    attributes {tf.api_implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0 = "tf.Undefined"() : () -> (tensor<?x2xf32>)
  return %0 : tensor<?x2xf32>
}

// -----
// RUN: fuse-composites
// Another interface.
// REASON: no fusion is registered for 'gru_b4e9f0e7-ac55-42bc-8ef2-8496419a608c'
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf.api_implements = "gru_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// The annotation of Keras as a plain name.
// REASON: no fusion is registered for 'lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c'
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @inner(%x: tensor<?x8x3xf32>, %h: tensor<?x2xf32>, %c: tensor<?x2xf32>, %k: tensor<3x8xf32>, %r: tensor<2x8xf32>, %b: tensor<8xf32>) -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
    attributes {tf._implements = "lstm_b4e9f0e7-ac55-42bc-8ef2-8496419a608c", tf.time_major = false, tf.go_backwards = false} {
  %0:5 = "tf.Undefined"() : () -> (tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>)
  return %0#0, %0#1, %0#2, %0#3, %0#4 : tensor<?x2xf32>, tensor<?x8x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>, tensor<f32>
}

// -----
// RUN: fuse-composites
// A declaration that is called keeps what it is.
// REASON: the function has no body
// CHECK: func.func private @inner(tensor<?x2xf32>) -> tensor<?x2xf32>
func.func private @inner(tensor<?x2xf32>) -> tensor<?x2xf32> attributes {tf.api_implements = "lstm_1", tf.time_major = true}
func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = func.call @inner(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
