// RUN: initialize-tables, call-once{entry=main}
// TABLE: t = ["a", "b"] : string -> [1, 2] : int64
// A table that the runtime has: it is filled before anything else; its size and an export of it are constants.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: "tfl.call_once"() <{session_init_function = "initialize_tables"}>
// CHECK: %[[NONE:.*]] = "tf.Const"() <{value = dense<-1> : tensor<i64>}>
// CHECK: %[[TABLE:.*]] = "tf.HashTableV2"() <{container = "", key_dtype = !tf_type.string, shared_name = "t", {{.*}}value_dtype = i64}>
// CHECK: %[[FOUND:.*]] = "tf.LookupTableFindV2"(%[[TABLE]], %arg0, %[[NONE]])
// CHECK: %[[SIZE:.*]] = "tf.Const"() <{value = dense<2> : tensor<i64>}>
// CHECK-NOT: tf.LookupTable
// CHECK: %[[KEYS:.*]] = "tf.Const"() <{value = dense<["a", "b"]>
// CHECK: %[[VALUES:.*]] = "tf.Const"() <{value = dense<[1, 2]>
// CHECK: %[[SOME_KEYS:.*]] = "tf.Identity"(%[[KEYS]]) : (tensor<2x!tf_type.string>) -> tensor<?x!tf_type.string>
// CHECK: %[[SOME_VALUES:.*]] = "tf.Identity"(%[[VALUES]]) : (tensor<2xi64>) -> tensor<?xi64>
// CHECK: return %[[FOUND]], %[[SIZE]], %[[SOME_KEYS]], %[[SOME_VALUES]]
// CHECK-LABEL: func.func public @initialize_tables()
// CHECK: %[[TABLE:.*]] = "tf.HashTableV2"() <{{.*}}shared_name = "t"
// CHECK: %[[KEYS:.*]] = "tf.Const"() <{value = dense<["a", "b"]>
// CHECK: %[[VALUES:.*]] = "tf.Const"() <{value = dense<[1, 2]>
// CHECK: "tf.LookupTableImportV2"(%[[TABLE]], %[[KEYS]], %[[VALUES]])
func.func @main(%keys: tensor<?x!tf_type.string>) -> (tensor<?xi64>, tensor<i64>, tensor<?x!tf_type.string>, tensor<?xi64>) {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?x!tf_type.string>, tensor<i64>) -> tensor<?xi64>
  %1 = "tf.LookupTableSizeV2"(%t) : (tensor<!tf_type.resource>) -> tensor<i64>
  %2:2 = "tf.LookupTableExportV2"(%t) : (tensor<!tf_type.resource>) -> (tensor<?x!tf_type.string>, tensor<?xi64>)
  return %0, %1, %2#0, %2#1 : tensor<?xi64>, tensor<i64>, tensor<?x!tf_type.string>, tensor<?xi64>
}

// -----

// RUN: initialize-tables
// TABLE: t = [10, 20] : int32 -> [0.5, 1.5] : float32
// Numbers for numbers: the key's decimal form, its position, and the element there; the default is behind the last one.
// CHECK-LABEL: func.func @main
// CHECK: %[[NONE:.*]] = "tf.Const"() <{value = dense<-1.0
// CHECK: %[[EMPTY:.*]] = "tf.Const"() <{value = dense<""> : tensor<!tf_type.string>}>
// CHECK: %[[WIDE:.*]] = "tf.Cast"(%arg0) {{.*}} -> tensor<?xi64>
// CHECK: %[[TEXTS:.*]] = "tf.HashTableV2"() <{{.*}}key_dtype = i64, shared_name = "t.texts", {{.*}}value_dtype = !tf_type.string
// CHECK: %[[TEXT:.*]] = "tf.LookupTableFindV2"(%[[TEXTS]], %[[WIDE]], %[[EMPTY]])
// CHECK: %[[COUNT:.*]] = "tf.Const"() <{value = dense<2> : tensor<i64>}>
// CHECK: %[[POSITIONS:.*]] = "tf.HashTableV2"() <{{.*}}key_dtype = !tf_type.string, shared_name = "t.positions", {{.*}}value_dtype = i64
// CHECK: %[[POSITION:.*]] = "tf.LookupTableFindV2"(%[[POSITIONS]], %[[TEXT]], %[[COUNT]])
// CHECK: %[[LAST:.*]] = "tf.Reshape"(%[[NONE]]
// CHECK: %[[KNOWN:.*]] = "tf.Const"() <{value = dense<[5.000000e-01, 1.500000e+00]>
// CHECK: %[[ROWS:.*]] = "tf.ConcatV2"(%[[KNOWN]], %[[LAST]]
// CHECK: "tf.GatherV2"(%[[ROWS]], %[[POSITION]], {{.*}} -> tensor<?xf32>
// CHECK-LABEL: func.func public @initialize_tables()
// CHECK: shared_name = "t.texts"
// CHECK: dense<[10, 20]> : tensor<2xi64>
// CHECK: dense<["10", "20"]>
// CHECK: "tf.LookupTableImportV2"
// CHECK: shared_name = "t.positions"
// CHECK: dense<["10", "20"]>
// CHECK: dense<[0, 1]> : tensor<2xi64>
// CHECK: "tf.LookupTableImportV2"
func.func @main(%keys: tensor<?xi32>) -> tensor<?xf32> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = i32, value_dtype = f32, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1.0> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?xi32>, tensor<f32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

// RUN: initialize-tables
// TABLE: t = ["a", "b"] : string -> ["x", "y"] : string
// A string for a string: by its position, since strings cannot be joined to a tensor with the default.
// CHECK-LABEL: func.func @main
// CHECK: %[[COUNT:.*]] = "tf.Const"() <{value = dense<2> : tensor<i64>}>
// CHECK: %[[POSITIONS:.*]] = "tf.HashTableV2"() <{{.*}}key_dtype = !tf_type.string, shared_name = "t.positions", {{.*}}value_dtype = i64
// CHECK: %[[POSITION:.*]] = "tf.LookupTableFindV2"(%[[POSITIONS]], %arg0, %[[COUNT]])
// CHECK: %[[VALUES:.*]] = "tf.HashTableV2"() <{{.*}}key_dtype = i64, shared_name = "t.values", {{.*}}value_dtype = !tf_type.string
// CHECK: %[[FOUND:.*]] = "tf.LookupTableFindV2"(%[[VALUES]], %[[POSITION]], %arg1)
// CHECK: return %[[FOUND]]
// CHECK-LABEL: func.func public @initialize_tables()
// CHECK: shared_name = "t.positions"
// CHECK: "tf.LookupTableImportV2"
// CHECK: shared_name = "t.values"
// CHECK: dense<[0, 1]>
// CHECK: dense<["x", "y"]>
// CHECK: "tf.LookupTableImportV2"
func.func @main(%keys: tensor<?x!tf_type.string>, %none: tensor<!tf_type.string>) -> tensor<?x!tf_type.string> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = !tf_type.string, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?x!tf_type.string>, tensor<!tf_type.string>) -> tensor<?x!tf_type.string>
  return %0 : tensor<?x!tf_type.string>
}

// -----

// RUN: initialize-tables
// TABLE: t = [3] : int32 -> ["x"] : string
// Keys of int32 are widened to those of the runtime's table. The symbol of the function is one that is free.
// CHECK-LABEL: func.func @main
// CHECK: %[[WIDE:.*]] = "tf.Cast"(%arg0) {{.*}} -> tensor<2xi64>
// CHECK: %[[TABLE:.*]] = "tf.HashTableV2"() <{{.*}}key_dtype = i64, shared_name = "t"
// CHECK: "tf.LookupTableFindV2"(%[[TABLE]], %[[WIDE]], %arg1)
// CHECK: func.func @initialize_tables()
// CHECK: func.func public @initialize_tables_()
// CHECK: dense<3> : tensor<1xi64>
func.func @main(%keys: tensor<2xi32>, %none: tensor<!tf_type.string>) -> tensor<2x!tf_type.string> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = i32, value_dtype = !tf_type.string, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<2xi32>, tensor<!tf_type.string>) -> tensor<2x!tf_type.string>
  return %0 : tensor<2x!tf_type.string>
}
func.func @initialize_tables() {
  return
}

// -----

// RUN: initialize-tables
// TABLE: t = [] : string -> [] : int64
// In an empty table nothing is found, and a handle that nobody uses goes: nothing is filled.
// CHECK-LABEL: func.func @main
// CHECK: %[[NONE:.*]] = "tf.Const"() <{value = dense<-1> : tensor<i64>}>
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%arg0)
// CHECK: "tf.Fill"(%[[SHAPE]], %[[NONE]]) : (tensor<2xi32>, tensor<i64>) -> tensor<?x3xi64>
// CHECK-NOT: tf.HashTableV2
func.func @main(%keys: tensor<?x3x!tf_type.string>) -> tensor<?x3xi64> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %unused = "tf.HashTableV2"() {container = "", shared_name = "no such table", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?x3x!tf_type.string>, tensor<i64>) -> tensor<?x3xi64>
  return %0 : tensor<?x3xi64>
}

// -----

// RUN: initialize-tables
// TABLE: t = ["a", "b"] : string -> [1, 2] : int64
// ERROR: node insert: table 't' is written by LookupTableInsertV2; LiteRT's tables keep their entries
func.func @main(%keys: tensor<1x!tf_type.string>, %value: tensor<1xi64>) {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  "tf.LookupTableInsertV2"(%t, %keys, %value) : (tensor<!tf_type.resource>, tensor<1x!tf_type.string>, tensor<1xi64>) -> () loc("insert")
  return
}

// -----

// RUN: initialize-tables
// TABLE: t = [0.5] : float32 -> [1] : int64
// ERROR: table 't' has keys of dtype float32
// ERROR: Use strings or integers as keys.
func.func @main(%keys: tensor<1xf32>) -> tensor<1xi64> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = f32, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %0 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<1xf32>, tensor<i64>) -> tensor<1xi64>
  return %0 : tensor<1xi64>
}

// -----

// RUN: initialize-tables
// TABLE: t = ["a", "a"] : string -> [1, 2] : int64
// ERROR: table 't': it has two values for the key b'a'
func.func @main() -> tensor<i64> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %1 = "tf.LookupTableSizeV2"(%t) : (tensor<!tf_type.resource>) -> tensor<i64>
  return %1 : tensor<i64>
}

// -----

// RUN: initialize-tables
// TABLE: t = ["a", "b", "c"] : string -> [0, -1, 2] : int64
// The tokenizer takes the keys, but for those whose value is that of no key; there is no table to fill.
// CHECK-LABEL: func.func @main
// CHECK: %[[KEYS:.*]] = "tf.Const"() <{value = dense<["a", "c"]>
// CHECK: %[[PIECES:.*]]:4 = "tf.WordpieceTokenizeWithOffsets"(%arg0, %[[KEYS]])
// CHECK-SAME: suffix_indicator = "##"
// CHECK: return %[[PIECES]]#0
// CHECK-NOT: tf.HashTableV2
func.func @main(%words: tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %0:4 = "tf.WordpieceTokenizeWithOffsets"(%words, %t) {suffix_indicator = "##"} : (tensor<?x!tf_type.string>, tensor<!tf_type.resource>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  return %0#0 : tensor<?x!tf_type.string>
}

// -----

// RUN: initialize-tables
// TABLE: t = ["a", "b"] : string -> ["c", "d"] : string
// ERROR: table 't' has values of dtype string, the tokenizer takes int64
func.func @main(%words: tensor<?x!tf_type.string>) -> tensor<?x!tf_type.string> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = !tf_type.string, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %0:4 = "tf.WordpieceTokenizeWithOffsets"(%words, %t) {suffix_indicator = "##"} : (tensor<?x!tf_type.string>, tensor<!tf_type.resource>) -> (tensor<?x!tf_type.string>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>)
  return %0#0 : tensor<?x!tf_type.string>
}
