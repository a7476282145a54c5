// RUN: check-handles
// What fits is left as it is; a handle may be compared, handed on and come from elsewhere.
// CHECK-LABEL: func.func @main
// CHECK: tf.ReadVariableOp
// CHECK: tf.LookupTableFindV2
// CHECK: tf.LookupTableSizeV2
func.func @main(%keys: tensor<?x!tf_type.string>, %other: tensor<!tf_type.resource>) -> (tensor<f32>, tensor<?xi64>, tensor<i64>, tensor<i1>, tensor<*xf32>) {
  %v = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %0 = "tf.ReadVariableOp"(%v) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<f32>
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %1 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?x!tf_type.string>, tensor<i64>) -> tensor<?xi64>
  %2 = "tf.LookupTableSizeV2"(%t) : (tensor<!tf_type.resource>) -> tensor<i64>
  %3 = "tf.VarIsInitializedOp"(%t) : (tensor<!tf_type.resource>) -> tensor<i1>
  %4 = "tf.ReadVariableOp"(%other) : (tensor<!tf_type.resource>) -> tensor<*xf32>
  %same = "tf.Identity"(%v) : (tensor<!tf_type.resource<tensor<f32>>>) -> tensor<!tf_type.resource<tensor<f32>>>
  "tf.PartitionedCall"(%t) {f = @called, config = "", config_proto = "", executor_type = ""} : (tensor<!tf_type.resource>) -> ()
  return %0, %1, %2, %3, %4 : tensor<f32>, tensor<?xi64>, tensor<i64>, tensor<i1>, tensor<*xf32>
}
func.func private @called(%t: tensor<!tf_type.resource>) {
  return
}

// -----

// RUN: check-handles
// ERROR: node lookup (LookupTableFindV2): its operand 0 takes a table, but it is the variable 'v'
// ERROR: The model is inconsistent: save it again.
func.func @main(%keys: tensor<?x!tf_type.string>) -> tensor<?xi64> {
  %v = "tf.VarHandleOp"() {container = "", shared_name = "v"} : () -> tensor<!tf_type.resource<tensor<f32>>>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %1 = "tf.LookupTableFindV2"(%v, %keys, %none) : (tensor<!tf_type.resource<tensor<f32>>>, tensor<?x!tf_type.string>, tensor<i64>) -> tensor<?xi64> loc("lookup")
  return %1 : tensor<?xi64>
}

// -----

// RUN: check-handles
// Whatever takes a handle and is no op of tables takes a variable.
// ERROR: (AssignAddVariableOp): its operand 0 takes a variable, but it is the table 't'
func.func @main(%x: tensor<f32>) {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  "tf.AssignAddVariableOp"(%t, %x) : (tensor<!tf_type.resource>, tensor<f32>) -> ()
  return
}

// -----

// RUN: check-handles
// ERROR: its operand 1 is int32, but the table 't' has the key_dtype string
func.func @main(%keys: tensor<?xi32>) -> tensor<?xi64> {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  %none = "tf.Const"() {value = dense<-1> : tensor<i64>} : () -> tensor<i64>
  %1 = "tf.LookupTableFindV2"(%t, %keys, %none) : (tensor<!tf_type.resource>, tensor<?xi32>, tensor<i64>) -> tensor<?xi64>
  return %1 : tensor<?xi64>
}

// -----

// RUN: check-handles
// ERROR: its operand 2 is float32, but the table 't' has the value_dtype int64
func.func @main(%keys: tensor<2x!tf_type.string>, %values: tensor<2xf32>) {
  %t = "tf.HashTableV2"() {container = "", shared_name = "t", key_dtype = !tf_type.string, value_dtype = i64, use_node_name_sharing = false} : () -> tensor<!tf_type.resource>
  "tf.LookupTableImportV2"(%t, %keys, %values) : (tensor<!tf_type.resource>, tensor<2x!tf_type.string>, tensor<2xf32>) -> ()
  return
}
