// RUN: decompose-ops
// The rewriting takes the op's place, and the result keeps the type that its users know.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.Cross
// CHECK-COUNT-6: "tfl.strided_slice"
// CHECK: tfl.concatenation
// CHECK-SAME: -> tensor<?x3xf32>
// CHECK-NEXT: return
func.func @main(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = "tf.Cross"(%a, %b) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----
// RUN: decompose-ops
// A composite has the op's name and attributes, and every call site a decomposition for its shapes.
// CHECK: "vhlo.composite_v1"(%arg0)
// CHECK-SAME: #vhlo.string_v1<"ksizes"> = #vhlo.array_v1<[#vhlo.integer_v1<1 : i64>, #vhlo.integer_v1<2 : i64>, #vhlo.integer_v1<3 : i64>
// CHECK-SAME: decomposition = #vhlo.string_v1<"ExtractImagePatches.decomposition.0">, name = #vhlo.string_v1<"ExtractImagePatches">
// CHECK: decomposition = #vhlo.string_v1<"ExtractImagePatches.decomposition.1">
// CHECK: func.func private @ExtractImagePatches.decomposition.0(%arg0: tensor<?x8x8x3xf32>) -> tensor<?x7x6x18xf32>
// CHECK: func.func private @ExtractImagePatches.decomposition.1(%arg0: tensor<2x4x4x1xi32>) -> tensor<2x3x2x6xi32>
func.func @main(%a: tensor<?x8x8x3xf32>, %b: tensor<2x4x4x1xi32>) -> (tensor<?x7x6x18xf32>, tensor<2x3x2x6xi32>) {
  %0 = "tf.ExtractImagePatches"(%a) {T = f32, ksizes = [1, 2, 3, 1], padding = "VALID", rates = [1, 1, 1, 1], strides = [1, 1, 1, 1]} : (tensor<?x8x8x3xf32>) -> tensor<?x7x6x18xf32>
  %1 = "tf.ExtractImagePatches"(%b) {T = i32, ksizes = [1, 2, 3, 1], padding = "VALID", rates = [1, 1, 1, 1], strides = [1, 1, 1, 1]} : (tensor<2x4x4x1xi32>) -> tensor<2x3x2x6xi32>
  return %0, %1 : tensor<?x7x6x18xf32>, tensor<2x3x2x6xi32>
}

// -----
// RUN: decompose-ops, emit-custom-ops
// What cannot be rewritten says why.
// ERROR: LiteRT has no op for Cross, RFFT
// ERROR: not rewritten: LiteRT's ops for it take float32, int32, int64, not float64
// ERROR: not rewritten: fft_length is [5000]; it must be from 1 to 4096
func.func @main(%a: tensor<?x3xf64>, %b: tensor<?xf32>) -> (tensor<?x3xf64>, tensor<2501xcomplex<f32>>) {
  %length = arith.constant dense<5000> : tensor<1xi32>
  %0 = "tf.Cross"(%a, %a) : (tensor<?x3xf64>, tensor<?x3xf64>) -> tensor<?x3xf64>
  %1 = "tf.RFFT"(%b, %length) : (tensor<?xf32>, tensor<1xi32>) -> tensor<2501xcomplex<f32>>
  return %0, %1 : tensor<?x3xf64>, tensor<2501xcomplex<f32>>
}

// -----
// RUN: decompose-ops
// With what a rewriting does not need, ops go that nothing uses and that only compute; an op that nobody knows stays.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.Mfcc
// CHECK: tf.NobodyKnows
// CHECK-NOT: tf.Mfcc
// CHECK: return
func.func @main(%a: tensor<2x3xf32>, %s: tensor<1x2x3xf32>, %rate: tensor<i32>) -> tensor<2x3xf32> {
  %0 = "tf.Cross"(%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = "tfl.custom_tf"(%s, %rate) ({
  ^bb0(%x: tensor<1x2x3xf32>, %y: tensor<i32>):
    %3 = "tf.Mfcc"(%x, %y) : (tensor<1x2x3xf32>, tensor<i32>) -> tensor<1x2x13xf32>
    "tfl.yield"(%3) : (tensor<1x2x13xf32>) -> ()
  }) : (tensor<1x2x3xf32>, tensor<i32>) -> tensor<1x2x13xf32>
  %2 = "tfl.custom_tf"(%a) ({
  ^bb0(%x: tensor<2x3xf32>):
    %3 = "tf.NobodyKnows"(%x) : (tensor<2x3xf32>) -> tensor<2x3xf32>
    "tfl.yield"(%3) : (tensor<2x3xf32>) -> ()
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----
// RUN: decompose-ops
// Segments of a tensor of unknown rank: all but the first dimension are merged, and set apart again.
// CHECK-LABEL: func.func @segments_of_unknown_rank
// CHECK: %[[ROWS:.*]] = "tfl.reshape"(%arg0, %{{.*}}) : (tensor<*xf32>, tensor<2xi32>) -> tensor<5x?xf32>
// CHECK: %[[SUMS:.*]] = "tfl.unsorted_segment_sum"(%[[ROWS]], %arg1, %{{.*}})
// CHECK: "tfl.reshape"(%[[SUMS]], %{{.*}}) : (tensor<?x?xf32>, tensor<?xi32>) -> tensor<*xf32>
func.func @segments_of_unknown_rank(%x: tensor<*xf32>, %ids: tensor<5xi32>) -> tensor<*xf32> {
  %0 = "tf.SegmentSum"(%x, %ids) : (tensor<*xf32>, tensor<5xi32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----
// RUN: decompose-ops
// Whether a tensor holds one diagonal for each matrix or several, only the running model knows: rows are counted by it.
// CHECK-LABEL: func.func @diagonals_of_the_running_model
// CHECK-DAG: %[[ROWS:.*]] = arith.constant dense<6> : tensor<i32>
// CHECK-DAG: %[[LONGEST:.*]] = arith.constant dense<3> : tensor<i32>
// CHECK: %[[MATRICES:.*]] = tfl.floor_div %[[ROWS]], %[[NUMBER:.*]] : tensor<i32>
// CHECK: %[[COUNT:.*]] = tfl.mul %[[NUMBER]], %[[LONGEST]]
// CHECK: %[[SHAPE:.*]] = "tfl.pack"(%[[MATRICES]], %[[COUNT]])
// CHECK: "tfl.reshape"(%arg0, %[[SHAPE]]) : (tensor<6x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
func.func @diagonals_of_the_running_model(%x: tensor<6x3xf32>, %k: tensor<?xi32>, %rows: tensor<i32>, %columns: tensor<i32>, %pad: tensor<f32>) -> tensor<*xf32> {
  %0 = "tf.MatrixDiagV3"(%x, %k, %rows, %columns, %pad) {align = "LEFT_LEFT"} : (tensor<6x3xf32>, tensor<?xi32>, tensor<i32>, tensor<i32>, tensor<f32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
