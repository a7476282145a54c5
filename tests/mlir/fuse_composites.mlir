// RUN: fuse-composites
// The reference's golden bytes for {example_option: 10, example_str: "value 1.01"}; the interface stays.
// CHECK-LABEL: func.func private @composite
// CHECK-SAME: (%[[A:.*]]: tensor<2xf32>, %[[B:.*]]: tensor<2xf32>) -> (tensor<2xf32>, tensor<*xf32>) {
// CHECK-NEXT: "tfl.custom"(%[[A]], %[[B]]) <{custom_code = "my_op", custom_option = #tfl<const_bytes : "0x6578616D706C655F6F7074696F6E006578616D706C655F737472000A76616C756520312E30310002281A0201020A120414042401">}>
// CHECK-NEXT: return
func.func private @composite(%a: tensor<2xf32>, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<*xf32>)
    attributes {tf._implements = {name = "my_op", attributes = {tfl_fusable_op = true, example_option = 10 : i64, example_str = "value 1.01"}}} {
  %0 = "tf.AddV2"(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %1 = "tf.Relu"(%0) : (tensor<2xf32>) -> tensor<*xf32>
  return %0, %1 : tensor<2xf32>, tensor<*xf32>
}

// -----
// RUN: fuse-composites
// ERROR: the attribute 'kind'
// ERROR: composite 'my_op'
func.func private @composite(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "my_op", attributes = {tfl_fusable_op = true, kind = f32}}} {
  return %a : tensor<2xf32>
}

// -----
// RUN: fuse-composites
// No name known, or the flag not true: the body stays, the annotation goes.
// REASON: no fusion is registered for 'nobody_knows'
// REASON: its attribute tfl_fusable_op is False, not true
// CHECK: func.func private @unknown(%arg0: tensor<2xf32>) -> tensor<2xf32> {
// CHECK-NEXT: tf.Relu
func.func private @unknown(%a: tensor<2xf32>) -> tensor<2xf32> attributes {tf._implements = "nobody_knows"} {
  %0 = "tf.Relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
// CHECK: func.func private @not_true
// CHECK-NEXT: tf.Relu
func.func private @not_true(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "my_op", attributes = {tfl_fusable_op = false}}} {
  %0 = "tf.Relu"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: fuse-composites
// REASON: the ids are int32[2,3]; EMBEDDING_LOOKUP takes int32 ids of rank 1
// REASON: the ids are int64[3]; EMBEDDING_LOOKUP takes int32 ids of rank 1
// REASON: it has 3 arguments, not 2 (table, ids)
// CHECK: func.func private @lookup
// CHECK-NEXT: "tfl.embedding_lookup"(%arg1, %arg0) : (tensor<?xi32>, tensor<10x4x2xf32>) -> tensor<?x4x2xf32>
func.func private @lookup(%table: tensor<10x4x2xf32>, %ids: tensor<?xi32>) -> tensor<?x4x2xf32> attributes {tf._implements = "embedding_matmul"} {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.GatherV2"(%table, %ids, %axis) {batch_dims = 0 : i64} : (tensor<10x4x2xf32>, tensor<?xi32>, tensor<i32>) -> tensor<?x4x2xf32>
  return %0 : tensor<?x4x2xf32>
}
// Ids of rank 2, ids of int64 and a third argument keep the body.
// CHECK: func.func private @matrix_ids
// CHECK: tf.GatherV2
func.func private @matrix_ids(%table: tensor<10x4xf32>, %ids: tensor<2x3xi32>) -> tensor<2x3x4xf32> attributes {tf._implements = "embedding_lookup"} {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.GatherV2"(%table, %ids, %axis) {batch_dims = 0 : i64} : (tensor<10x4xf32>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}
// CHECK: func.func private @long_ids
// CHECK: tf.GatherV2
func.func private @long_ids(%table: tensor<10x4xf32>, %ids: tensor<3xi64>) -> tensor<3x4xf32> attributes {tf._implements = "embedding_lookup"} {
  %axis = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.GatherV2"(%table, %ids, %axis) {batch_dims = 0 : i64} : (tensor<10x4xf32>, tensor<3xi64>, tensor<i32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}
// CHECK: func.func private @three_arguments
// CHECK: tf.GatherV2
func.func private @three_arguments(%table: tensor<10x4xf32>, %ids: tensor<3xi32>, %axis: tensor<i32>) -> tensor<3x4xf32> attributes {tf._implements = "embedding_lookup"} {
  %0 = "tf.GatherV2"(%table, %ids, %axis) {batch_dims = 0 : i64} : (tensor<10x4xf32>, tensor<3xi32>, tensor<i32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----
// RUN: fuse-composites
// A table of rank 1.
// REASON: the table is float32[10]; EMBEDDING_LOOKUP takes a table of rank 2 or more
// CHECK: func.func private @vector_table
// CHECK-NEXT: tf.Undefined
func.func private @vector_table(%a: tensor<10xf32>, %b: tensor<3xi32>) -> tensor<3xf32>
    attributes {tf._implements = "embedding_matmul"} {
  %0 = "tf.Undefined"() : () -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----
// RUN: fuse-composites
// A table of half floats.
// REASON: the table is float16[10,4]; EMBEDDING_LOOKUP takes a float32, int8 or uint8 table
// CHECK: func.func private @half_table
// CHECK-NEXT: tf.Undefined
func.func private @half_table(%a: tensor<10x4xf16>, %b: tensor<3xi32>) -> tensor<3x4xf16>
    attributes {tf._implements = "embedding_matmul"} {
  %0 = "tf.Undefined"() : () -> tensor<3x4xf16>
  return %0 : tensor<3x4xf16>
}

// -----
// RUN: fuse-composites
// Unranked, where the reference fuses what the op may not be able to take.
// REASON: the ids are int32[*]; EMBEDDING_LOOKUP takes int32 ids of rank 1
// CHECK: func.func private @unranked
// CHECK-NEXT: tf.Undefined
func.func private @unranked(%a: tensor<*xf32>, %b: tensor<*xi32>) -> tensor<*xf32>
    attributes {tf._implements = "embedding_matmul"} {
  %0 = "tf.Undefined"() : () -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----
// RUN: fuse-composites
// Two results.
// REASON: it has 2 results, not 1
// CHECK: func.func private @two_results
// CHECK-NEXT: tf.Undefined
func.func private @two_results(%a: tensor<10x4xf32>, %b: tensor<3xi32>) -> (tensor<3x4xf32>, tensor<3x4xf32>)
    attributes {tf._implements = "embedding_matmul"} {
  %0:2 = "tf.Undefined"() : () -> (tensor<3x4xf32>, tensor<3x4xf32>)
  return %0#0, %0#1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// -----
// RUN: fuse-composites
// The flag is no bool, of which the reference dies.
// REASON: its attribute tfl_fusable_op is 1, not true
// CHECK: func.func private @flag
// CHECK-NEXT: tf.Undefined
func.func private @flag(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "my_op", attributes = {tfl_fusable_op = 1 : i64}}} {
  %0 = "tf.Undefined"() : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: fuse-composites
// Attributes without the flag.
// REASON: no fusion is registered for 'my_op'
// CHECK: func.func private @no_flag
// CHECK-NEXT: tf.Undefined
func.func private @no_flag(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "my_op", attributes = {size = 1 : i64}}} {
  %0 = "tf.Undefined"() : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: fuse-composites
// A bool is a Bool among the options, where the reference writes the integer -1; no options are an empty map.
// CHECK: func.func private @flag
// CHECK-NEXT: "tfl.custom"{{.*}}custom_code = "flag_op", custom_option = #tfl<const_bytes : "0x6100620002050402010201006868042401">}>
// CHECK: func.func private @none
// CHECK-NEXT: "tfl.custom"{{.*}}custom_code = "none_op", custom_option = #tfl<const_bytes : "0x00000100002401">
func.func private @flag(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "flag_op", attributes = {tfl_fusable_op = true, a = true, b = false}}} {
  return %a : tensor<2xf32>
}
func.func private @none(%a: tensor<2xf32>) -> tensor<2xf32>
    attributes {tf._implements = {name = "none_op", attributes = {tfl_fusable_op = true}}} {
  return %a : tensor<2xf32>
}
