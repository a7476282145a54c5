// RUN: fuse-composites
// CHECK-LABEL: func.func private @unpool
// CHECK-SAME: (%[[U:.*]]: tensor<?x2x2x1xf32>, %[[M:.*]]: tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32> {
// CHECK-NEXT: "tfl.custom"(%[[U]], %[[M]]) <{custom_code = "MaxUnpooling2D", custom_option = #tfl<const_bytes : "0x
// CHECK-SAME: (tensor<?x2x2x1xf32>, tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32>
// CHECK-NEXT: return
func.func private @unpool(%updates: tensor<?x2x2x1xf32>, %mask: tensor<?x2x2x1xi32>) -> tensor<?x4x6x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 3 : i64], strides = [2 : i64, 3 : i64], padding = "SAME"}}} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<1x4x6x1xf32>} : () -> tensor<1x4x6x1xf32>
  %1 = "tf.Cast"(%0) : (tensor<1x4x6x1xf32>) -> tensor<?x4x6x1xf32>
  return %1 : tensor<?x4x6x1xf32>
}

// -----
// RUN: fuse-composites
// A plain string has none of the attributes that the op needs.
// REASON: it needs the attribute padding, pool_size, strides; it has []
// CHECK: func.func private @no_attributes
// CHECK-NEXT: tf.Const
func.func private @no_attributes(%updates: tensor<1x2x2x1xf32>, %mask: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = "addons:MaxUnpooling2D"} {
  %0 = "tf.Const"() {value = dense<0.0> : tensor<1x4x4x1xf32>} : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// Two results.
// REASON: it has 2 results, not 1
// CHECK: func.func private @two_results
// CHECK-NEXT: tf.Undefined
func.func private @two_results(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>)
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0:2 = "tf.Undefined"() : () -> (tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>)
  return %0#0, %0#1 : tensor<1x4x4x1xf32>, tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// One argument.
// REASON: it has 1 arguments, not 2 (updates, mask)
// CHECK: func.func private @one_argument
// CHECK-NEXT: tf.Undefined
func.func private @one_argument(%a: tensor<1x2x2x1xf32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// Another padding.
// REASON: the attribute padding is 'NO'; MaxUnpooling2D takes SAME or VALID
// CHECK: func.func private @padding
// CHECK-NEXT: tf.Undefined
func.func private @padding(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64], padding = "NO"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// One size of the window.
// REASON: the attribute pool_size is [2]; MaxUnpooling2D takes two positive ints, rows and columns
// CHECK: func.func private @short_size
// CHECK-NEXT: tf.Undefined
func.func private @short_size(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// Three strides.
// REASON: the attribute strides is [2, 2, 2]; MaxUnpooling2D takes two positive ints, rows and columns
// CHECK: func.func private @long_strides
// CHECK-NEXT: tf.Undefined
func.func private @long_strides(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// No padding.
// REASON: it needs the attribute padding; it has ['pool_size', 'strides']
// CHECK: func.func private @no_padding
// CHECK-NEXT: tf.Undefined
func.func private @no_padding(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64]}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// No size of the window.
// REASON: it needs the attribute pool_size; it has ['padding', 'strides']
// CHECK: func.func private @no_size
// CHECK-NEXT: tf.Undefined
func.func private @no_size(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// No strides.
// REASON: it needs the attribute strides; it has ['padding', 'pool_size']
// CHECK: func.func private @no_strides
// CHECK-NEXT: tf.Undefined
func.func private @no_strides(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// A size that is no int.
// REASON: the attribute pool_size is [2.0, 2.0]; MaxUnpooling2D takes two positive ints, rows and columns
// CHECK: func.func private @float_size
// CHECK-NEXT: tf.Undefined
func.func private @float_size(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2.0 : f32, 2.0 : f32], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// A stride that is no int.
// REASON: the attribute strides is ['2', '2']; MaxUnpooling2D takes two positive ints, rows and columns
// CHECK: func.func private @float_strides
// CHECK-NEXT: tf.Undefined
func.func private @float_strides(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = ["2", "2"], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// Positions of another shape.
// REASON: updates is float32[1,2,2,1] and mask int32[1,2,3,1]: each value has one position
// CHECK: func.func private @shapes
// CHECK-NEXT: tf.Undefined
func.func private @shapes(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x3x1xi32>) -> tensor<1x4x4x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x4x4x1xf32>
  return %0 : tensor<1x4x4x1xf32>
}

// -----
// RUN: fuse-composites
// A result of another size.
// REASON: the result is float32[1,5,5,1], that of MaxUnpooling2D float32[1,4,4,1]
// CHECK: func.func private @size
// CHECK-NEXT: tf.Undefined
func.func private @size(%a: tensor<1x2x2x1xf32>, %b: tensor<1x2x2x1xi32>) -> tensor<1x5x5x1xf32>
    attributes {tf._implements = {name = "addons:MaxUnpooling2D", attributes = {pool_size = [2 : i64, 2 : i64], strides = [2 : i64, 2 : i64], padding = "SAME"}}} {
  %0 = "tf.Undefined"() : () -> tensor<1x5x5x1xf32>
  return %0 : tensor<1x5x5x1xf32>
}
