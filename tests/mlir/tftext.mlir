// RUN: fuse-composites
// CHECK-LABEL: func.func private @whitespace_tokenizer_rank1
// CHECK-SAME: (%[[T:.*]]: tensor<1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>) {
// CHECK-NEXT: %[[R:.*]]:2 = "tfl.custom"(%[[T]]) <{custom_code = "tftext:WhitespaceTokenizer", custom_option = #tfl<const_bytes : "0x">}>
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1
func.func private @whitespace_tokenizer_rank1(%text: tensor<1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>)
    attributes {tf._implements = {name = "tftext:WhitespaceTokenizer", attributes = {}}} {
  %0:2 = "tf.PartitionedCall"(%text) {f = @inner, config = "", config_proto = "", executor_type = ""} : (tensor<1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>)
  return %0#0, %0#1 : tensor<?x!tf_type.string>, tensor<?xi64>
}
func.func private @inner(%text: tensor<1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>) {
  %0:2 = "tf.Body"(%text) : (tensor<1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>)
  return %0#0, %0#1 : tensor<?x!tf_type.string>, tensor<?xi64>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @whitespace_tokenizer_rank2
// CHECK-NEXT: %[[R:.*]]:3 = "tfl.custom"(%{{.*}}) <{custom_code = "tftext:WhitespaceTokenizer", custom_option = #tfl<const_bytes : "0x">}>
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func private @whitespace_tokenizer_rank2(%text: tensor<?x1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>)
    attributes {tf._implements = {name = "tftext:WhitespaceTokenizer", attributes = {}}} {
  %0:3 = "tf.Body"(%text) : (tensor<?x1x!tf_type.string>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>)
  return %0#0, %0#1, %0#2 : tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @whitespace_tokenizer_rank0
// CHECK-NEXT: %[[R:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "tftext:WhitespaceTokenizer", custom_option = #tfl<const_bytes : "0x">}>
// CHECK-NEXT: return %[[R]]
func.func private @whitespace_tokenizer_rank0(%text: tensor<!tf_type.string>) -> tensor<?x!tf_type.string>
    attributes {tf._implements = "tftext:WhitespaceTokenizer"} {
  %0 = "tf.Body"(%text) : (tensor<!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}

// -----
// RUN: fuse-composites
// REASON: the text is string[?,?,?]; WhitespaceTokenizer takes string of rank 0, 1 or 2
// CHECK-LABEL: func.func private @of_rank_3
// CHECK-NEXT: "tf.Body"
func.func private @of_rank_3(%text: tensor<?x?x?x!tf_type.string>) -> tensor<?x!tf_type.string>
    attributes {tf._implements = "tftext:WhitespaceTokenizer"} {
  %0 = "tf.Body"(%text) : (tensor<?x?x?x!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @ngrams
// CHECK-NEXT: %[[R:.*]] = "tfl.custom"(%{{.*}}) <{custom_code = "tftext:Ngrams", custom_option = #tfl<const_bytes : "0x6178697300726564756374696F6E5F74797065000B535452494E475F4A4F494E00737472696E675F736570617261746F7200012000776964746800043C381D0A040104FF2F120204141404082401">}> : (tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
// CHECK-NEXT: return %[[R]]
func.func private @ngrams(%values: tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
    attributes {tf._implements = {name = "tftext:Ngrams", attributes = {axis = -1, reduction_type = "STRING_JOIN", string_separator = " ", width = 2}}} {
  %0 = "tf.Body"(%values) : (tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @ngrams_ragged_rank_2
// CHECK-SAME: (%[[V:.*]]: tensor<?x!tf_type.string>, %[[A:.*]]: tensor<?xi64>, %[[B:.*]]: tensor<?xi64>)
// CHECK-NEXT: %[[R:.*]]:3 = "tfl.custom"(%[[V]], %[[A]], %[[B]]) <{custom_code = "tftext:Ngrams"
// CHECK-NEXT: return %[[R]]#0, %[[R]]#1, %[[R]]#2
func.func private @ngrams_ragged_rank_2(%values: tensor<?x!tf_type.string>, %outer: tensor<?xi64>, %inner: tensor<?xi64>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>)
    attributes {tf._implements = {name = "tftext:Ngrams", attributes = {axis = -1, reduction_type = "STRING_JOIN", string_separator = "", width = 2}}} {
  %0:3 = "tf.Body"(%values, %outer, %inner) : (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>)
  return %0#0, %0#1, %0#2 : tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>
}

// -----
// RUN: fuse-composites
// REASON: it needs the attribute width
// CHECK-LABEL: func.func private @without_width
// CHECK-NEXT: "tf.Body"
func.func private @without_width(%values: tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
    attributes {tf._implements = {name = "tftext:Ngrams", attributes = {axis = -1, reduction_type = "STRING_JOIN", string_separator = " "}}} {
  %0 = "tf.Body"(%values) : (tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @sgnn_projection
// CHECK-SAME: (%[[V:.*]]: tensor<?x!tf_type.string>, %[[S:.*]]: tensor<?xi64>) -> tensor<?x3xf64>
// CHECK-NEXT: %[[F:.*]] = "tfl.custom"(%[[V]], %[[S]]) <{custom_code = "tftext:custom:SgnnProjection", custom_option = #tfl<const_bytes : "0x6275636B65747300686173685F73656564000305070B021710000000050000000100000002000000FFFFFF7F19000000062C0A2601">}>
// CHECK-SAME: -> tensor<?x3xf32>
// CHECK-NEXT: %[[R:.*]] = "tfl.cast"(%[[F]]) : (tensor<?x3xf32>) -> tensor<?x3xf64>
// CHECK-NEXT: return %[[R]]
func.func private @sgnn_projection(%values: tensor<?x!tf_type.string>, %splits: tensor<?xi64>) -> tensor<?x3xf64>
    attributes {tf._implements = {name = "tftext:custom:SgnnProjection", attributes = {hash_seed = [5, 7, 11], buckets = 2147483647}}} {
  %0 = "tf.Body"(%values, %splits) : (tensor<?x!tf_type.string>, tensor<?xi64>) -> tensor<?x3xf64>
  return %0 : tensor<?x3xf64>
}

// -----
// RUN: fuse-composites
// CHECK-LABEL: func.func private @sgnn_projection_of_floats
// CHECK-NEXT: %[[F:.*]] = "tfl.custom"
// CHECK-NEXT: return %[[F]] : tensor<?x1xf32>
func.func private @sgnn_projection_of_floats(%values: tensor<?x!tf_type.string>, %splits: tensor<?xi32>) -> tensor<?x1xf32>
    attributes {tf._implements = {name = "tftext:custom:SgnnProjection", attributes = {hash_seed = [5], buckets = 10}}} {
  %0 = "tf.Body"(%values, %splits) : (tensor<?x!tf_type.string>, tensor<?xi32>) -> tensor<?x1xf32>
  return %0 : tensor<?x1xf32>
}

// -----
// RUN: fuse-composites
// REASON: the result is float32[?,4], that of SgnnProjection float32[?,3]
// CHECK-LABEL: func.func private @of_other_seeds
// CHECK-NEXT: "tf.Body"
func.func private @of_other_seeds(%values: tensor<?x!tf_type.string>, %splits: tensor<?xi64>) -> tensor<?x4xf32>
    attributes {tf._implements = {name = "tftext:custom:SgnnProjection", attributes = {hash_seed = [5, 7, 11], buckets = 10}}} {
  %0 = "tf.Body"(%values, %splits) : (tensor<?x!tf_type.string>, tensor<?xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}

// -----
// RUN: fuse-composites
// REASON: no fusion is registered for 'tftext:UnicodeScriptTokenizer'
// CHECK-LABEL: func.func private @unknown_to_us
// CHECK-NEXT: "tf.Body"
func.func private @unknown_to_us(%text: tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
    attributes {tf._implements = {name = "tftext:UnicodeScriptTokenizer", attributes = {}}} {
  %0 = "tf.Body"(%text) : (tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}
