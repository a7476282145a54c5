// RUN: initialize-states
// One constant, two states, each with memory of its own.
// CHECK-LABEL: func.func @zeros
// CHECK: %[[ZEROS:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<3x2xf32>}>
// CHECK: %[[DIMS:.*]] = "tfl.pseudo_const"() <{value = dense<[3, 2]> : tensor<2xi32>}>
// CHECK: %[[ZERO:.*]] = "tfl.pseudo_const"() <{value = dense<0.000000e+00> : tensor<f32>}>
// CHECK: %[[H:.*]] = "tfl.fill"(%[[DIMS]], %[[ZERO]]) : (tensor<2xi32>, tensor<f32>) -> tensor<3x2xf32>
// CHECK: %[[C:.*]] = "tfl.fill"(
// CHECK: return %[[H]], %[[C]]
func.func @zeros() -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %z = "tfl.pseudo_const"() {value = dense<0.0> : tensor<3x2xf32>} : () -> tensor<3x2xf32>
  %h = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %c = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %h, %c : tensor<3x2xf32>, tensor<3x2xf32>
}

// -----
// RUN: initialize-states
// What is filled already is filled for each; the original is not needed any more.
// CHECK-LABEL: func.func @filled
// CHECK: %[[ONE:.*]] = "tfl.pseudo_const"() <{value = dense<1.000000e+00>
// CHECK-NEXT: %[[DIMS:.*]] = "tfl.pack"(
// CHECK-NEXT: %[[H:.*]] = "tfl.fill"(%[[DIMS]], %[[ONE]])
// CHECK-NEXT: %[[C:.*]] = "tfl.fill"(%[[DIMS]], %[[ONE]])
// CHECK-NEXT: return %[[H]], %[[C]]
func.func @filled(%batch: tensor<i32>) -> (tensor<?x2xf32>, tensor<?x2xf32>) {
  %two = "tfl.pseudo_const"() {value = dense<2> : tensor<i32>} : () -> tensor<i32>
  %one = "tfl.pseudo_const"() {value = dense<1.0> : tensor<f32>} : () -> tensor<f32>
  %dims = "tfl.pack"(%batch, %two) {axis = 0 : i32, values_count = 2 : i32} : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %z = "tfl.fill"(%dims, %one) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  %h = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %c = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %h, %c : tensor<?x2xf32>, tensor<?x2xf32>
}

// -----
// RUN: initialize-states
// The runtime knows a shape before the call, and would allocate the state's memory once, for the first call's size.
// CHECK-LABEL: func.func @shaped
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%arg0)
// CHECK: %[[BATCH:.*]] = "tfl.strided_slice"(%[[SHAPE]],
// CHECK: %[[UNITS:.*]] = "tfl.strided_slice"(%[[SHAPE]],
// CHECK: %[[DIMS:.*]] = "tfl.pack"(%[[BATCH]], %[[UNITS]])
// CHECK: %[[H:.*]] = "tfl.fill"(%[[DIMS]],
// CHECK: return %[[H]]
func.func @shaped(%x: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %dims = "tfl.shape"(%x) : (tensor<?x2xf32>) -> tensor<2xi32>
  %z = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x2xf32>
  %h = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %h : tensor<?x2xf32>
}

// -----
// RUN: initialize-states
// Sizes that are joined are packed once for all states, and are not joined then.
// CHECK-LABEL: func.func @joined
// CHECK-NOT: tfl.concatenation
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%arg0)
// CHECK: %[[BATCH:.*]] = "tfl.strided_slice"(%[[SHAPE]], {{.*}}shrink_axis_mask = 1 : i32}> : {{.*}} -> tensor<i32>
// CHECK: %[[UNITS:.*]] = "tfl.pseudo_const"() <{value = dense<3> : tensor<i32>}>
// CHECK: %[[DIMS:.*]] = "tfl.pack"(%[[BATCH]], %[[UNITS]])
// CHECK-NOT: tfl.pack
// CHECK: %[[H:.*]] = "tfl.fill"(%[[DIMS]],
// CHECK: %[[C:.*]] = "tfl.fill"(%[[DIMS]],
// CHECK: return %[[H]], %[[C]]
func.func @joined(%x: tensor<?x2xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>) {
  %zero = "tfl.pseudo_const"() {value = dense<0.0> : tensor<f32>} : () -> tensor<f32>
  %begin = "tfl.pseudo_const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %end = "tfl.pseudo_const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %units = "tfl.pseudo_const"() {value = dense<3> : tensor<1xi32>} : () -> tensor<1xi32>
  %shape = "tfl.shape"(%x) : (tensor<?x2xf32>) -> tensor<2xi32>
  %batch = "tfl.strided_slice"(%shape, %begin, %end, %end) {begin_mask = 0 : i32, ellipsis_mask = 0 : i32, end_mask = 0 : i32, new_axis_mask = 0 : i32, shrink_axis_mask = 0 : i32, offset = false} : (tensor<2xi32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %dims = "tfl.concatenation"(%batch, %units) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %z = "tfl.fill"(%dims, %zero) : (tensor<2xi32>, tensor<f32>) -> tensor<?x3xf32>
  %h = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %c = "tfl.custom"(%z) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return %h, %c : tensor<?x3xf32>, tensor<?x3xf32>
}

// -----
// RUN: initialize-states
// Other constants and values are copied: broadcast to their own shape, which is computed in every call if it is open.
// CHECK-LABEL: func.func @copied
// CHECK: %[[V:.*]] = "tfl.pseudo_const"() <{value = dense<{{.*}}1.000000e+00, 2.000000e+00{{.*}}> : tensor<1x2xf32>}>
// CHECK: %[[DIMS:.*]] = "tfl.pseudo_const"() <{value = dense<[1, 2]> : tensor<2xi32>}>
// CHECK: %[[H:.*]] = "tfl.broadcast_to"(%[[V]], %[[DIMS]]) : (tensor<1x2xf32>, tensor<2xi32>) -> tensor<1x2xf32>
// CHECK: %[[SHAPE:.*]] = "tfl.shape"(%arg0) : (tensor<?x2xf32>) -> tensor<2xi32>
// CHECK: %[[BATCH:.*]] = "tfl.strided_slice"(%[[SHAPE]],
// CHECK: %[[UNITS:.*]] = "tfl.pseudo_const"() <{value = dense<2> : tensor<i32>}>
// CHECK: %[[SIZES:.*]] = "tfl.pack"(%[[BATCH]], %[[UNITS]])
// CHECK: %[[C:.*]] = "tfl.broadcast_to"(%arg0, %[[SIZES]])
// CHECK: return %[[H]], %[[C]]
func.func @copied(%x: tensor<?x2xf32>) -> (tensor<1x2xf32>, tensor<?x2xf32>) {
  %v = "tfl.pseudo_const"() {value = dense<[[1.0, 2.0]]> : tensor<1x2xf32>} : () -> tensor<1x2xf32>
  %h = "tfl.custom"(%v) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %c = "tfl.custom"(%x) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  return %h, %c : tensor<1x2xf32>, tensor<?x2xf32>
}

// -----
// RUN: initialize-states
// In a loop too, and other custom ops are left alone.
// CHECK-LABEL: func.func @loop
// CHECK: tfl.while
// CHECK: %[[S:.*]] = "tfl.broadcast_to"(
// CHECK: "tfl.custom"(%[[S]]) <{custom_code = "other"
func.func @loop(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tfl.while"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    %true = "tfl.pseudo_const"() {value = dense<true> : tensor<i1>} : () -> tensor<i1>
    "tfl.yield"(%true) : (tensor<i1>) -> ()
  }, {
  ^bb0(%a: tensor<2xf32>):
    %s = "tfl.custom"(%a) {custom_code = "litefuse.initial_state", custom_option = #tfl<const_bytes : "0x">} : (tensor<2xf32>) -> tensor<2xf32>
    %o = "tfl.custom"(%s) {custom_code = "other", custom_option = #tfl<const_bytes : "0x">} : (tensor<2xf32>) -> tensor<2xf32>
    "tfl.yield"(%o) : (tensor<2xf32>) -> ()
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
