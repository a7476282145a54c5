// RUN: rewrite-before-lowering
// The engine's own form of IsInf is never true.
// CHECK-LABEL: func.func @infinite
// CHECK-NOT: tf.IsInf
// CHECK: %[[SIZE:.*]] = "tf.Abs"(%arg0)
// CHECK: %[[INFINITY:.*]] = "tf.Const"() <{value = dense<0x7F800000> : tensor<f32>}>
// CHECK: %[[EQUAL:.*]] = "tf.Equal"(%[[SIZE]], %[[INFINITY]])
// CHECK: return %[[EQUAL]]
func.func @infinite(%x: tensor<?x3xf32>) -> tensor<?x3xi1> {
  %0 = "tf.IsInf"(%x) : (tensor<?x3xf32>) -> tensor<?x3xi1>
  return %0 : tensor<?x3xi1>
}
// Operands of one shape need no broadcast.
// CHECK-LABEL: func.func @angle
// CHECK: "tf.Atan2"(%arg0, %arg1)
// CHECK-NOT: tf.SelectV2
// CHECK: return
func.func @angle(%y: tensor<2x3xf32>, %x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "tf.Atan2"(%y, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// CHECK-LABEL: func.func @open_angle
// CHECK-NOT: tf.SelectV2
// CHECK: "tf.Atan2"
func.func @open_angle(%x: tensor<?x3xf32>, %half: tensor<f32>) -> tensor<?x3xf32> {
  %0 = "tf.Sin"(%x) : (tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = "tf.Mul"(%half, %x) : (tensor<f32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %2 = "tf.AddV2"(%1, %0) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  %3 = "tf.Atan2"(%0, %2) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %3 : tensor<?x3xf32>
}
// Open sizes need not be the same: one may be 1.
// CHECK-LABEL: func.func @angle_of_others
// CHECK-COUNT-2: "tf.SelectV2"
// CHECK: "tf.Atan2"
func.func @angle_of_others(%y: tensor<?x3xf32>, %x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %0 = "tf.Atan2"(%y, %x) : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}
// CHECK-LABEL: func.func @broadcast_angle
// CHECK-COUNT-2: "tf.SelectV2"
// CHECK: "tf.Atan2"({{.*}}) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
func.func @broadcast_angle(%y: tensor<2x1xf32>, %x: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "tf.Atan2"(%y, %x) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
// What the engine does right stays: another dtype, the main diagonal.
// CHECK-LABEL: func.func @kept
// CHECK: "tf.Equal"(%arg0, %arg0)
// CHECK: "tf.MatrixSetDiagV3"
func.func @kept(%x: tensor<?x3xi32>, %m: tensor<3x3xf32>, %d: tensor<3xf32>) -> (tensor<?x3xi1>, tensor<3x3xf32>) {
  %0 = "tf.Equal"(%x, %x) {incompatible_shape_error = true} : (tensor<?x3xi32>, tensor<?x3xi32>) -> tensor<?x3xi1>
  %k = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %1 = "tf.MatrixSetDiagV3"(%m, %d, %k) {align = "RIGHT_LEFT"} : (tensor<3x3xf32>, tensor<3xf32>, tensor<i32>) -> tensor<3x3xf32>
  return %0, %1 : tensor<?x3xi1>, tensor<3x3xf32>
}
// What cannot be rewritten is withheld from the engine, and nothing of the attempt is left.
// CHECK-LABEL: func.func @withheld
// CHECK-NEXT: %[[REVERSED:.*]] = "tf.ReverseV2.withheld"(%arg0, %arg1) {_litefuse_not_rewritten = "operand 1 is not a constant"}
// CHECK-NEXT: %[[WAVES:.*]] = "tf.FFT.withheld"(%arg2) {_litefuse_not_rewritten = "dimension 1 of size 5000; it must be at most 4096"}
// CHECK-NEXT: return %[[REVERSED]], %[[WAVES]]
func.func @withheld(%x: tensor<?x3x2xf32>, %axes: tensor<2xi32>, %z: tensor<?x5000xcomplex<f32>>) -> (tensor<?x3x2xf32>, tensor<?x5000xcomplex<f32>>) {
  %0 = "tf.ReverseV2"(%x, %axes) : (tensor<?x3x2xf32>, tensor<2xi32>) -> tensor<?x3x2xf32>
  %1 = "tf.FFT"(%z) : (tensor<?x5000xcomplex<f32>>) -> tensor<?x5000xcomplex<f32>>
  return %0, %1 : tensor<?x3x2xf32>, tensor<?x5000xcomplex<f32>>
}
// An op that nothing reads stays: the engine drops it.
// CHECK-LABEL: func.func @unread
// CHECK: "tf.ReverseV2"(%arg0, %arg1)
func.func @unread(%x: tensor<?x3x2xf32>, %axes: tensor<2xi32>) -> tensor<?x3x2xf32> {
  %0 = "tf.ReverseV2"(%x, %axes) : (tensor<?x3x2xf32>, tensor<2xi32>) -> tensor<?x3x2xf32>
  return %x : tensor<?x3x2xf32>
}
// What the engine leaves alone, or makes something right of, it gets: one axis, a division of float64.
// CHECK-LABEL: func.func @left
// CHECK: "tf.ReverseV2"(%arg0, %arg1)
// CHECK: "tf.RealDiv"
// CHECK: "tf.Cast"
func.func @left(%x: tensor<?x3x2xf32>, %axis: tensor<1xi32>, %y: tensor<?xi32>) -> (tensor<?x3x2xf32>, tensor<?xi32>) {
  %0 = "tf.ReverseV2"(%x, %axis) : (tensor<?x3x2xf32>, tensor<1xi32>) -> tensor<?x3x2xf32>
  %1 = "tf.Cast"(%y) {Truncate = false} : (tensor<?xi32>) -> tensor<?xf64>
  %2 = "tf.RealDiv"(%1, %1) : (tensor<?xf64>, tensor<?xf64>) -> tensor<?xf64>
  %3 = "tf.Cast"(%2) {Truncate = false} : (tensor<?xf64>) -> tensor<?xi32>
  return %0, %3 : tensor<?x3x2xf32>, tensor<?xi32>
}
// What a rewriting is made of is rewritten, too: the logarithm of one and more loses no digits.
// CHECK-LABEL: func.func @within
// CHECK-NOT: tf.Log1p
// CHECK: tf.Log"
func.func @within(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = "tf.Xlog1py"(%x, %y) : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----
// RUN: rewrite-before-lowering
// A convolution between blocks has the size of the blocks as its dilation, times its own; without an attribute that is 1.
// CHECK-LABEL: func.func @of_blocks
// CHECK: %[[WHOLE:.*]] = "tf.Conv2D"(%arg0, %arg1) {{.*}}dilations = [1, 2, 3, 1]{{.*}}padding = "VALID"{{.*}} : (tensor<1x10x12x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x8x9x3xf32>
// CHECK: return %[[WHOLE]]
func.func @of_blocks(%x: tensor<1x10x12x2xf32>, %w: tensor<2x2x2x3xf32>) -> tensor<1x8x9x3xf32> {
  %blocks = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %none = "tf.Const"() {value = dense<0> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %0 = "tf.SpaceToBatchND"(%x, %blocks, %none) : (tensor<1x10x12x2xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<6x5x4x2xf32>
  %1 = "tf.Conv2D"(%0, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC"} : (tensor<6x5x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<6x4x3x3xf32>
  %2 = "tf.BatchToSpaceND"(%1, %blocks, %none) : (tensor<6x4x3x3xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<1x8x9x3xf32>
  return %2 : tensor<1x8x9x3xf32>
}
// CHECK-LABEL: func.func @of_blocks_and_its_own
// CHECK: %[[WHOLE:.*]] = "tf.Conv2D"(%arg0, %arg1) {{.*}}dilations = [1, 4, 9, 1]{{.*}}padding = "VALID"{{.*}} : (tensor<1x10x12x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x6x3x3xf32>
// CHECK: return %[[WHOLE]]
func.func @of_blocks_and_its_own(%x: tensor<1x10x12x2xf32>, %w: tensor<2x2x2x3xf32>) -> tensor<1x6x3x3xf32> {
  %blocks = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %none = "tf.Const"() {value = dense<0> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %0 = "tf.SpaceToBatchND"(%x, %blocks, %none) : (tensor<1x10x12x2xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<6x5x4x2xf32>
  %1 = "tf.Conv2D"(%0, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC", dilations = [1, 2, 3, 1]} : (tensor<6x5x4x2xf32>, tensor<2x2x2x3xf32>) -> tensor<6x3x1x3xf32>
  %2 = "tf.BatchToSpaceND"(%1, %blocks, %none) : (tensor<6x3x1x3xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<1x6x3x3xf32>
  return %2 : tensor<1x6x3x3xf32>
}
// Blocks of some dimensions, which LiteRT's op does not take, stay until the convolution has been looked at.
// CHECK-LABEL: func.func @of_rows
// CHECK: %[[WHOLE:.*]] = "tf.Conv2D"(%arg0, %arg1) {{.*}}dilations = [1, 2, 1, 1]{{.*}}padding = "VALID"{{.*}} : (tensor<1x10x12x2xf32>, tensor<2x2x2x3xf32>) -> tensor<1x8x11x3xf32>
// CHECK: return %[[WHOLE]]
func.func @of_rows(%x: tensor<1x10x12x2xf32>, %w: tensor<2x2x2x3xf32>) -> tensor<1x8x11x3xf32> {
  %blocks = "tf.Const"() {value = dense<2> : tensor<1xi32>} : () -> tensor<1xi32>
  %none = "tf.Const"() {value = dense<0> : tensor<1x2xi32>} : () -> tensor<1x2xi32>
  %0 = "tf.SpaceToBatchND"(%x, %blocks, %none) : (tensor<1x10x12x2xf32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<2x5x12x2xf32>
  %1 = "tf.Conv2D"(%0, %w) {strides = [1, 1, 1, 1], padding = "VALID", data_format = "NHWC"} : (tensor<2x5x12x2xf32>, tensor<2x2x2x3xf32>) -> tensor<2x4x11x3xf32>
  %2 = "tf.BatchToSpaceND"(%1, %blocks, %none) : (tensor<2x4x11x3xf32>, tensor<1xi32>, tensor<1x2xi32>) -> tensor<1x8x11x3xf32>
  return %2 : tensor<1x8x11x3xf32>
}

// -----
// RUN: rewrite-before-lowering
// What a convolution between blocks adds itself counts for as many elements as a block has.
// CHECK-LABEL: func.func @of_padded_blocks
// CHECK: %[[PADS:.*]] = "tf.Const"() <{value = dense<{{\[\[}}0, 0], [5, 2], [3, 6], [0, 0]]> : tensor<4x2xi32>}>
// CHECK: %[[PADDED:.*]] = "tf.Pad"(%arg0, %[[PADS]]) : (tensor<1x8x6x2xf32>, tensor<4x2xi32>) -> tensor<1x15x15x2xf32>
// CHECK: "tf.Conv2D"(%[[PADDED]], %arg1) {{.*}}dilations = [1, 2, 3, 1]{{.*}}padding = "VALID"{{.*}} -> tensor<1x13x12x3xf32>
func.func @of_padded_blocks(%x: tensor<1x8x6x2xf32>, %w: tensor<2x2x2x3xf32>) -> tensor<1x13x12x3xf32> {
  %blocks = "tf.Const"() {value = dense<[2, 3]> : tensor<2xi32>} : () -> tensor<2xi32>
  %pads = "tf.Const"() {value = dense<[[1, 1], [0, 0]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %crops = "tf.Const"() {value = dense<[[0, 1], [0, 0]]> : tensor<2x2xi32>} : () -> tensor<2x2xi32>
  %0 = "tf.SpaceToBatchND"(%x, %blocks, %pads) : (tensor<1x8x6x2xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<6x5x2x2xf32>
  %1 = "tf.Conv2D"(%0, %w) {strides = [1, 1, 1, 1], padding = "EXPLICIT", explicit_paddings = [0, 0, 2, 1, 1, 2, 0, 0], data_format = "NHWC", dilations = [1, 1, 1, 1]} : (tensor<6x5x2x2xf32>, tensor<2x2x2x3xf32>) -> tensor<6x7x4x3xf32>
  %2 = "tf.BatchToSpaceND"(%1, %blocks, %crops) : (tensor<6x7x4x3xf32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<1x13x12x3xf32>
  return %2 : tensor<1x13x12x3xf32>
}

// -----
// RUN: rewrite-before-lowering
// Halves are broadcast after the cast, and a quotient of integers needs no float64.
// CHECK-LABEL: func.func @cast_of_a_broadcast
// CHECK: %[[CAST:.*]] = "tf.Cast"(%arg0) {{.*}} : (tensor<1x3xf32>) -> tensor<1x3xf16>
// CHECK: "tf.BroadcastTo"(%[[CAST]], %arg1) : (tensor<1x3xf16>, tensor<2xi32>) -> tensor<2x3xf16>
func.func @cast_of_a_broadcast(%x: tensor<1x3xf32>, %sizes: tensor<2xi32>) -> tensor<2x3xf16> {
  %0 = "tf.BroadcastTo"(%x, %sizes) : (tensor<1x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  %1 = "tf.Cast"(%0) {Truncate = false} : (tensor<2x3xf32>) -> tensor<2x3xf16>
  return %1 : tensor<2x3xf16>
}
// CHECK-LABEL: func.func @cast_of_a_quotient
// CHECK-DAG: %[[X:.*]] = "tf.Cast"(%arg0) {{.*}} : (tensor<3xi32>) -> tensor<3xf32>
// CHECK-DAG: %[[Y:.*]] = "tf.Cast"(%arg1) {{.*}} : (tensor<3xi32>) -> tensor<3xf32>
// CHECK: %[[Q:.*]] = "tf.RealDiv"(%[[X]], %[[Y]])
// CHECK: return %[[Q]]
func.func @cast_of_a_quotient(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xf32> {
  %0 = "tf.Cast"(%x) {Truncate = false} : (tensor<3xi32>) -> tensor<3xf64>
  %1 = "tf.Cast"(%y) {Truncate = false} : (tensor<3xi32>) -> tensor<3xf64>
  %2 = "tf.RealDiv"(%0, %1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %3 = "tf.Cast"(%2) {Truncate = false} : (tensor<3xf64>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}
// CHECK-LABEL: func.func @cast_of_a_rounded_quotient
// CHECK: %[[F:.*]] = "tf.Floor"
// CHECK: "tf.Cast"(%[[F]]) {{.*}} : (tensor<3xf64>) -> tensor<3xf32>
func.func @cast_of_a_rounded_quotient(%x: tensor<3xi32>, %y: tensor<3xi32>) -> tensor<3xf32> {
  %0 = "tf.Cast"(%x) {Truncate = false} : (tensor<3xi32>) -> tensor<3xf64>
  %1 = "tf.Cast"(%y) {Truncate = false} : (tensor<3xi32>) -> tensor<3xf64>
  %2 = "tf.RealDiv"(%0, %1) : (tensor<3xf64>, tensor<3xf64>) -> tensor<3xf64>
  %3 = "tf.Floor"(%2) : (tensor<3xf64>) -> tensor<3xf64>
  %4 = "tf.Cast"(%3) {Truncate = false} : (tensor<3xf64>) -> tensor<3xf32>
  return %4 : tensor<3xf32>
}

// -----

// RUN: rewrite-before-lowering
// The axis of columns is counted from the end; of what is put below each other it stays.
// CHECK-LABEL: func.func @columns
// CHECK: %[[A:.*]] = "tf.Const"() <{value = dense<-1> : tensor<i32>}>
// CHECK: "tf.ConcatV2"(%{{.*}}, %{{.*}}, %[[A]])
// CHECK-LABEL: func.func @rows
// CHECK-NOT: dense<-1>
// CHECK: "tf.ConcatV2"
func.func @columns(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<4x2xf32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %axis = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.RealDiv"(%two, %x) : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "tf.ConcatV2"(%0, %y, %axis) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<i32>) -> tensor<4x2xf32>
  return %1 : tensor<4x2xf32>
}
func.func @rows(%x: tensor<4x1xf32>, %y: tensor<4x1xf32>) -> tensor<8x1xf32> {
  %two = "tf.Const"() {value = dense<2.0> : tensor<f32>} : () -> tensor<f32>
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.RealDiv"(%two, %x) : (tensor<f32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = "tf.ConcatV2"(%0, %y, %axis) : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<i32>) -> tensor<8x1xf32>
  return %1 : tensor<8x1xf32>
}

// -----

// RUN: rewrite-before-lowering
// The largest of no numbers is minus infinity, for any number of rows.
// CHECK-LABEL: func.func @nothing
// CHECK-NOT: tf.Max
// CHECK: 0xFF800000
// CHECK-LABEL: func.func @something
// CHECK: "tf.Max"
func.func @nothing(%x: tensor<?x0xf32>) -> tensor<?xf32> {
  %axis = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.Max"(%x, %axis) {keep_dims = false} : (tensor<?x0xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @something(%x: tensor<?x2xf32>) -> tensor<?xf32> {
  %axis = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.Max"(%x, %axis) {keep_dims = false} : (tensor<?x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
