// RUN: fuse-composites
// CHECK-LABEL: func.func private @cell
// CHECK-SAME: -> tensor<?x2xf32> {
// CHECK: %[[K:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x8xf32>
// CHECK: %[[KBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSc:.*]] = "tfl.slice"(%[[K]], %[[KBc]],
// CHECK: %[[Kc:.*]] = "tfl.transpose"(%[[KSc]]
// CHECK: %[[KBi:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSi:.*]] = "tfl.slice"(%[[K]], %[[KBi]],
// CHECK: %[[Ki:.*]] = "tfl.transpose"(%[[KSi]]
// CHECK: %[[KBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSf:.*]] = "tfl.slice"(%[[K]], %[[KBf]],
// CHECK: %[[Kf:.*]] = "tfl.transpose"(%[[KSf]]
// CHECK: %[[KBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSo:.*]] = "tfl.slice"(%[[K]], %[[KBo]],
// CHECK: %[[Ko:.*]] = "tfl.transpose"(%[[KSo]]
// CHECK: %[[R:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xf32>
// CHECK: %[[RBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSc:.*]] = "tfl.slice"(%[[R]], %[[RBc]],
// CHECK: %[[Rc:.*]] = "tfl.transpose"(%[[RSc]]
// CHECK: %[[RBi:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSi:.*]] = "tfl.slice"(%[[R]], %[[RBi]],
// CHECK: %[[Ri:.*]] = "tfl.transpose"(%[[RSi]]
// CHECK: %[[RBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSf:.*]] = "tfl.slice"(%[[R]], %[[RBf]],
// CHECK: %[[Rf:.*]] = "tfl.transpose"(%[[RSf]]
// CHECK: %[[RBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSo:.*]] = "tfl.slice"(%[[R]], %[[RBo]],
// CHECK: %[[Ro:.*]] = "tfl.transpose"(%[[RSo]]
// CHECK: %[[VBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Vc:.*]] = "tfl.slice"(%arg2, %[[VBc]],
// CHECK: %[[VBi:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Vi:.*]] = "tfl.slice"(%arg2, %[[VBi]],
// CHECK: %[[VBf:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[Vf:.*]] = "tfl.slice"(%arg2, %[[VBf]],
// CHECK: %[[VBo:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[Vo:.*]] = "tfl.slice"(%arg2, %[[VBo]],
// CHECK: %[[P:.*]] = "tfl.transpose"(%arg3
// CHECK: %[[H:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: %[[C:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: "tfl.lstm"(%arg0, %[[Ki]], %[[Kf]], %[[Kc]], %[[Ko]], %[[Ri]], %[[Rf]], %[[Rc]], %[[Ro]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[Vi]], %[[Vf]], %[[Vc]], %[[Vo]], %[[P]], %{{[0-9]+}}, %[[H]], %[[C]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}) <{cell_clip = 1.000000e+01 : f32, fused_activation_function = "TANH", kernel_type = #tfl<lstm_kernel_type_attr FULL>, proj_clip = 0.000000e+00 : f32}>
// CHECK: (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @cell
// CHECK-SAME: -> tensor<?x2xf32> {
// CHECK: %[[K:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x6xf32>
// CHECK: %[[KBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSc:.*]] = "tfl.slice"(%[[K]], %[[KBc]],
// CHECK: %[[Kc:.*]] = "tfl.transpose"(%[[KSc]]
// CHECK: %[[KBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSf:.*]] = "tfl.slice"(%[[K]], %[[KBf]],
// CHECK: %[[Kf:.*]] = "tfl.transpose"(%[[KSf]]
// CHECK: %[[KBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSo:.*]] = "tfl.slice"(%[[K]], %[[KBo]],
// CHECK: %[[Ko:.*]] = "tfl.transpose"(%[[KSo]]
// CHECK: %[[R:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x6xf32>
// CHECK: %[[RBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSc:.*]] = "tfl.slice"(%[[R]], %[[RBc]],
// CHECK: %[[Rc:.*]] = "tfl.transpose"(%[[RSc]]
// CHECK: %[[RBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSf:.*]] = "tfl.slice"(%[[R]], %[[RBf]],
// CHECK: %[[Rf:.*]] = "tfl.transpose"(%[[RSf]]
// CHECK: %[[RBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSo:.*]] = "tfl.slice"(%[[R]], %[[RBo]],
// CHECK: %[[Ro:.*]] = "tfl.transpose"(%[[RSo]]
// CHECK: %[[VBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Vc:.*]] = "tfl.slice"(%arg2, %[[VBc]],
// CHECK: %[[VBf:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Vf:.*]] = "tfl.slice"(%arg2, %[[VBf]],
// CHECK: %[[VBo:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[Vo:.*]] = "tfl.slice"(%arg2, %[[VBo]],
// CHECK: %[[P:.*]] = "tfl.transpose"(%arg3
// CHECK: %[[H:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: %[[C:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: "tfl.lstm"(%arg0, %{{[0-9]+}}, %[[Kf]], %[[Kc]], %[[Ko]], %{{[0-9]+}}, %[[Rf]], %[[Rc]], %[[Ro]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[Vf]], %[[Vc]], %[[Vo]], %[[P]], %{{[0-9]+}}, %[[H]], %[[C]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}) <{cell_clip = 1.000000e+01 : f32, fused_activation_function = "TANH", kernel_type = #tfl<lstm_kernel_type_attr FULL>, proj_clip = 0.000000e+00 : f32}>
// CHECK: (tensor<?x3xf32>, none, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple,CoupleInputForgetGates"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @cell
// CHECK-SAME: -> tensor<?x2xf32> {
// CHECK: %[[K:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x8xf32>
// CHECK: %[[KBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSc:.*]] = "tfl.slice"(%[[K]], %[[KBc]],
// CHECK: %[[Kc:.*]] = "tfl.transpose"(%[[KSc]]
// CHECK: %[[KBi:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSi:.*]] = "tfl.slice"(%[[K]], %[[KBi]],
// CHECK: %[[Ki:.*]] = "tfl.transpose"(%[[KSi]]
// CHECK: %[[KBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSf:.*]] = "tfl.slice"(%[[K]], %[[KBf]],
// CHECK: %[[Kf:.*]] = "tfl.transpose"(%[[KSf]]
// CHECK: %[[KBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[KSo:.*]] = "tfl.slice"(%[[K]], %[[KBo]],
// CHECK: %[[Ko:.*]] = "tfl.transpose"(%[[KSo]]
// CHECK: %[[R:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x8xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x8xf32>
// CHECK: %[[RBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSc:.*]] = "tfl.slice"(%[[R]], %[[RBc]],
// CHECK: %[[Rc:.*]] = "tfl.transpose"(%[[RSc]]
// CHECK: %[[RBi:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSi:.*]] = "tfl.slice"(%[[R]], %[[RBi]],
// CHECK: %[[Ri:.*]] = "tfl.transpose"(%[[RSi]]
// CHECK: %[[RBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSf:.*]] = "tfl.slice"(%[[R]], %[[RBf]],
// CHECK: %[[Rf:.*]] = "tfl.transpose"(%[[RSf]]
// CHECK: %[[RBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 6]> : tensor<2xi32>}>
// CHECK: %[[RSo:.*]] = "tfl.slice"(%[[R]], %[[RBo]],
// CHECK: %[[Ro:.*]] = "tfl.transpose"(%[[RSo]]
// CHECK: %[[VBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Vc:.*]] = "tfl.slice"(%arg2, %[[VBc]],
// CHECK: %[[VBi:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Vi:.*]] = "tfl.slice"(%arg2, %[[VBi]],
// CHECK: %[[VBf:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[Vf:.*]] = "tfl.slice"(%arg2, %[[VBf]],
// CHECK: %[[VBo:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[Vo:.*]] = "tfl.slice"(%arg2, %[[VBo]],
// CHECK: %[[NBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Nc:.*]] = "tfl.slice"(%arg4, %[[NBc]],
// CHECK: %[[NBi:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Ni:.*]] = "tfl.slice"(%arg4, %[[NBi]],
// CHECK: %[[NBf:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[Nf:.*]] = "tfl.slice"(%arg4, %[[NBf]],
// CHECK: %[[NBo:.*]] = "tfl.pseudo_const"() <{value = dense<6> : tensor<1xi32>}>
// CHECK: %[[No:.*]] = "tfl.slice"(%arg4, %[[NBo]],
// CHECK: %[[P:.*]] = "tfl.transpose"(%arg3
// CHECK: %[[H:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: %[[C:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: "tfl.lstm"(%arg0, %[[Ki]], %[[Kf]], %[[Kc]], %[[Ko]], %[[Ri]], %[[Rf]], %[[Rc]], %[[Ro]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[Vi]], %[[Vf]], %[[Vc]], %[[Vo]], %[[P]], %{{[0-9]+}}, %[[H]], %[[C]], %[[Ni]], %[[Nf]], %[[Nc]], %[[No]]) <{cell_clip = 1.000000e+01 : f32, fused_activation_function = "TANH", kernel_type = #tfl<lstm_kernel_type_attr FULL>, proj_clip = 0.000000e+00 : f32}>
// CHECK: (tensor<?x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>, %s: tensor<8xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LayerNormalizedLstmCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @cell
// CHECK-SAME: -> tensor<?x2xf32> {
// CHECK: %[[K:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<3x6xf32>
// CHECK: %[[KBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[KSc:.*]] = "tfl.slice"(%[[K]], %[[KBc]],
// CHECK: %[[Kc:.*]] = "tfl.transpose"(%[[KSc]]
// CHECK: %[[KBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[KSf:.*]] = "tfl.slice"(%[[K]], %[[KBf]],
// CHECK: %[[Kf:.*]] = "tfl.transpose"(%[[KSf]]
// CHECK: %[[KBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[KSo:.*]] = "tfl.slice"(%[[K]], %[[KBo]],
// CHECK: %[[Ko:.*]] = "tfl.transpose"(%[[KSo]]
// CHECK: %[[R:.*]] = "tfl.slice"(%arg1, %{{.*}}, %{{.*}}) {auxiliary} : (tensor<5x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x6xf32>
// CHECK: %[[RBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<2xi32>}>
// CHECK: %[[RSc:.*]] = "tfl.slice"(%[[R]], %[[RBc]],
// CHECK: %[[Rc:.*]] = "tfl.transpose"(%[[RSc]]
// CHECK: %[[RBf:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 2]> : tensor<2xi32>}>
// CHECK: %[[RSf:.*]] = "tfl.slice"(%[[R]], %[[RBf]],
// CHECK: %[[Rf:.*]] = "tfl.transpose"(%[[RSf]]
// CHECK: %[[RBo:.*]] = "tfl.pseudo_const"() <{value = dense<[0, 4]> : tensor<2xi32>}>
// CHECK: %[[RSo:.*]] = "tfl.slice"(%[[R]], %[[RBo]],
// CHECK: %[[Ro:.*]] = "tfl.transpose"(%[[RSo]]
// CHECK: %[[VBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Vc:.*]] = "tfl.slice"(%arg2, %[[VBc]],
// CHECK: %[[VBf:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Vf:.*]] = "tfl.slice"(%arg2, %[[VBf]],
// CHECK: %[[VBo:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[Vo:.*]] = "tfl.slice"(%arg2, %[[VBo]],
// CHECK: %[[NBc:.*]] = "tfl.pseudo_const"() <{value = dense<0> : tensor<1xi32>}>
// CHECK: %[[Nc:.*]] = "tfl.slice"(%arg4, %[[NBc]],
// CHECK: %[[NBf:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<1xi32>}>
// CHECK: %[[Nf:.*]] = "tfl.slice"(%arg4, %[[NBf]],
// CHECK: %[[NBo:.*]] = "tfl.pseudo_const"() <{value = dense<4> : tensor<1xi32>}>
// CHECK: %[[No:.*]] = "tfl.slice"(%arg4, %[[NBo]],
// CHECK: %[[P:.*]] = "tfl.transpose"(%arg3
// CHECK: %[[H:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: %[[C:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "litefuse.initial_state"
// CHECK: "tfl.lstm"(%arg0, %{{[0-9]+}}, %[[Kf]], %[[Kc]], %[[Ko]], %{{[0-9]+}}, %[[Rf]], %[[Rc]], %[[Ro]], %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %{{[0-9]+}}, %[[Vf]], %[[Vc]], %[[Vo]], %[[P]], %{{[0-9]+}}, %[[H]], %[[C]], %{{[0-9]+}}, %[[Nf]], %[[Nc]], %[[No]]) <{cell_clip = 1.000000e+01 : f32, fused_activation_function = "TANH", kernel_type = #tfl<lstm_kernel_type_attr FULL>, proj_clip = 0.000000e+00 : f32}>
// CHECK: (tensor<?x3xf32>, none, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>, %p: tensor<2x2xf32>, %s: tensor<6xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LayerNormalizedLstmCellSimple,CoupleInputForgetGates"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// A fifth argument that is not used, a batch of one.
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.shape
// CHECK: "tfl.lstm"
func.func private @cell(%x: tensor<1x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>, %s: tensor<2xf32>) -> tensor<1x2xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----
// RUN: fuse-composites
// Unranked: the body stays.
// REASON: the input is float32[*]; LSTM takes float32, here of rank 2
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<*xf32>, %w: tensor<*xf32>, %b: tensor<*xf32>, %p: tensor<*xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// Unranked: the body stays.
// REASON: the input is float32[*]; LSTM takes float32, here of rank 2
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<*xf32>, %w: tensor<*xf32>, %b: tensor<*xf32>, %p: tensor<*xf32>, %s: tensor<*xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LayerNormalizedLstmCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// A bias for two gates only, where the reference takes zeros: the body stays.
// REASON: the bias is float32[4]; the weight has 8 columns
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<4xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// No rows for the input: the body stays.
// REASON: the weight is float32[2,8]: it has rows for the 2 outputs of the projection, but none for the input
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<2x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// Columns that are no four gates: the body stays.
// REASON: the weight is float32[5,6]: its columns are not of 4 gates
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// A projection of rank 1: the body stays.
// REASON: the projection is float32[2]; LSTM takes float32, here of rank 2
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// A projection of other cells: the body stays.
// REASON: the projection is float32[3,2], the weight float32[5,8]: a projection of 2 cells has as many rows
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<3x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// A scale of another size: the body stays.
// REASON: the layer norm scale is float32[2]; the weight has 8 columns
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>, %s: tensor<2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LayerNormalizedLstmCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// No scale: the body stays.
// REASON: it has 4 arguments, not 5 (the input, the weight, the bias, the projection, the layer norm scale)
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LayerNormalizedLstmCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// Three arguments: the body stays.
// REASON: it has 3 arguments, not 4 (the input, the weight, the bias, the projection)
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// -----
// RUN: fuse-composites
// Four gates in a coupled cell: the body stays.
// REASON: the weight is float32[5,8]: its columns are not of 3 gates
// CHECK-LABEL: func.func private @cell
// CHECK-NOT: tfl.
// CHECK: tf.Undefined
// CHECK-NOT: tfl.
// CHECK: return
func.func private @cell(%x: tensor<?x3xf32>, %w: tensor<5x8xf32>, %b: tensor<8xf32>, %p: tensor<2x2xf32>) -> tensor<?x?xf32>
    attributes {tf._implements = "LSTMCellSimple,CoupleInputForgetGates"} {
  %0 = "tf.Undefined"() : () -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
