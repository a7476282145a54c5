// RUN: forward-values
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = "tf.Const"() <{value = dense<[-1, 8, 3]> : tensor<3xi32>}>
// CHECK: %[[R:.*]] = "tf.Reshape"(%arg0, %[[S]]) : (tensor<?x?x?xf32>, tensor<3xi32>) -> tensor<?x8x3xf32>
// CHECK: return %[[R]], %arg0, %arg1
func.func @main(%x: tensor<?x?x?xf32>, %y: tensor<2xf32>) -> (tensor<?x8x3xf32>, tensor<?x?x3xf32>, tensor<2xf32>) {
  %0 = "tf.EnsureShape"(%x) {shape = #tf_type.shape<?x8x3>} : (tensor<?x?x?xf32>) -> tensor<?x8x3xf32>
  %1 = "tf.EnsureShape"(%x) {shape = #tf_type.shape<?x?x3>} : (tensor<?x?x?xf32>) -> tensor<?x?x3xf32>
  %2 = "tf.EnsureShape"(%y) {shape = #tf_type.shape<?>} : (tensor<2xf32>) -> tensor<2xf32>
  return %0, %1, %2 : tensor<?x8x3xf32>, tensor<?x?x3xf32>, tensor<2xf32>
}


// -----
// RUN: forward-values
// What a composite gives is known where it is called; the op that says so is erased, and the op before it says it.
// CHECK-LABEL: func.func @main(%arg0: tensor<1x9xf32>) -> (tensor<1x5xf32>, tensor<1x5xi32>, tensor<1x5xf32>)
// CHECK: %[[C:.*]]:2 = "tfl.custom"(%arg0) {{.*}} : (tensor<1x9xf32>) -> (tensor<1x5xf32>, tensor<1x5xi32>)
// CHECK-NEXT: %[[R:.*]] = "tf.Relu"(%[[C]]#0) : (tensor<1x5xf32>) -> tensor<1x5xf32>
// CHECK-NEXT: return %[[C]]#0, %[[C]]#1, %[[R]]
func.func @main(%x: tensor<1x9xf32>) -> (tensor<1x5xf32>, tensor<1x5xi32>, tensor<1x5xf32>) {
  %0:2 = "tfl.custom"(%x) {custom_code = "top", custom_option = #tfl<const_bytes : "0x">} : (tensor<1x9xf32>) -> (tensor<1x?xf32>, tensor<*xi32>)
  %1 = "tf.Cast"(%0#0) {Truncate = false} : (tensor<1x?xf32>) -> tensor<?x5xf32>
  %2 = "tf.Identity"(%1) : (tensor<?x5xf32>) -> tensor<1x5xf32>
  %3 = "tf.Snapshot"(%0#1) : (tensor<*xi32>) -> tensor<1x5xi32>
  %4 = "tf.Relu"(%0#0) : (tensor<1x?xf32>) -> tensor<1x5xf32>
  return %2, %3, %4 : tensor<1x5xf32>, tensor<1x5xi32>, tensor<1x5xf32>
}

// -----
// RUN: forward-values
// A cast to another dtype, and one that contradicts its operand, are not erased.
// CHECK-LABEL: func.func @main
// CHECK: "tf.Cast"(%arg0) {{.*}} -> tensor<2xi32>
// CHECK: "tf.EnsureShape"(%arg1) {{.*}} : (tensor<3xf32>) -> tensor<2xf32>
func.func @main(%x: tensor<?xf32>, %y: tensor<3xf32>) -> (tensor<2xi32>, tensor<2xf32>) {
  %0 = "tf.Cast"(%x) {Truncate = false} : (tensor<?xf32>) -> tensor<2xi32>
  %1 = "tf.EnsureShape"(%y) {shape = #tf_type.shape<2>} : (tensor<3xf32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xi32>, tensor<2xf32>
}

// -----
// RUN: forward-values
// A loop's results are typed by its body; of unknown rank, it is reshaped to its own shape, which says the rank.
// CHECK-LABEL: func.func @main
// CHECK: %[[L:.*]]:2 = "tf.While"(%arg0, %arg1) {{.*}} -> (tensor<?x?xf32>, tensor<*xf32>)
// CHECK: %[[A:.*]] = "tf.Reshape"(%[[L]]#0, %{{.*}}) : (tensor<?x?xf32>, tensor<2xi32>) -> tensor<?x5xf32>
// CHECK: %[[S:.*]] = "tf.Shape"(%[[L]]#1) : (tensor<*xf32>) -> tensor<2xi32>
// CHECK: %[[B:.*]] = "tf.Reshape"(%[[L]]#1, %[[S]]) : (tensor<*xf32>, tensor<2xi32>) -> tensor<?x?xf32>
// CHECK: return %[[A]], %[[B]]
func.func @main(%x: tensor<?x?xf32>, %y: tensor<*xf32>) -> (tensor<?x5xf32>, tensor<?x?xf32>) {
  %0:2 = "tf.While"(%x, %y) {cond = @condition, body = @body, is_stateless = true} : (tensor<?x?xf32>, tensor<*xf32>) -> (tensor<?x?xf32>, tensor<*xf32>)
  %1 = "tf.Identity"(%0#0) : (tensor<?x?xf32>) -> tensor<?x5xf32>
  %2 = "tf.StopGradient"(%0#1) : (tensor<*xf32>) -> tensor<?x?xf32>
  return %1, %2 : tensor<?x5xf32>, tensor<?x?xf32>
}
func.func private @condition(%x: tensor<?x?xf32>, %y: tensor<*xf32>) -> tensor<i1> {
  %0 = "tf.Const"() {value = dense<false> : tensor<i1>} : () -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%x: tensor<?x?xf32>, %y: tensor<*xf32>) -> (tensor<?x?xf32>, tensor<*xf32>) {
  return %x, %y : tensor<?x?xf32>, tensor<*xf32>
}

// -----
// RUN: forward-values{lowered=true}
// CHECK-LABEL: func.func @main(%arg0: tensor<?x?xf32>) -> tensor<?x?xf32>
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<?x?xf32>) -> tensor<?x5xf32> {
  %0 = "tf.Identity"(%x) : (tensor<?x?xf32>) -> tensor<?x5xf32>
  return %0 : tensor<?x5xf32>
}
