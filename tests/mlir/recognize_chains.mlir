// RUN: recognize-composites{rnn=fused}
// A SimpleRNN over two steps, without a loop: its inputs are slices of one tensor, its outputs are stacked again.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: %[[X:.*]]: tensor<2x?x3xf32>, %[[H:.*]]: tensor<?x4xf32>, %[[K:.*]]: tensor<3x4xf32>, %[[R:.*]]: tensor<4x4xf32>, %[[B:.*]]: tensor<4xf32>
// CHECK-NOT: tf.MatMul
// CHECK: %[[CALL:.*]]:2 = "tf.StatefulPartitionedCall"(%[[X]], %[[H]], %[[K]], %[[R]], %[[B]])
// CHECK-SAME: -> (tensor<2x?x4xf32>, tensor<?x4xf32>)
// CHECK-NOT: tf.Pack
// CHECK: return %[[CALL]]#0, %[[CALL]]#1
// CHECK: func.func private @{{.*}}rnn_loop(%[[IN:.*]]: tensor<2x?x3xf32>, %[[H0:.*]]: tensor<?x4xf32>, %{{.*}}: tensor<3x4xf32>, %{{.*}}: tensor<4x4xf32>, %{{.*}}: tensor<4xf32>) -> (tensor<2x?x4xf32>, tensor<?x4xf32>)
// CHECK-SAME: tf._implements = {attributes = {activation = "relu"}, name = "rnn_loop"}
// CHECK: %[[STEPS:.*]]:2 = "tf.Unpack"(%[[IN]])
// CHECK: %[[FIRST:.*]] = "tf.Relu"
// CHECK: %[[SECOND:.*]] = "tf.Relu"
// CHECK: %[[OUT:.*]] = "tf.Pack"(%[[FIRST]], %[[SECOND]])
// CHECK: return %[[OUT]], %[[SECOND]]
func.func public @main(%x: tensor<2x?x3xf32>, %h: tensor<?x4xf32>, %k: tensor<3x4xf32>, %r: tensor<4x4xf32>, %b: tensor<4xf32>) -> (tensor<2x?x4xf32>, tensor<?x4xf32>) {
  %s:2 = "tf.Unpack"(%x) {axis = 0 : i64} : (tensor<2x?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %0 = "tf.MatMul"(%s#0, %k) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.MatMul"(%h, %r) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = "tf.BiasAdd"(%2, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %4 = "tf.Relu"(%3) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %5 = "tf.MatMul"(%s#1, %k) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %6 = "tf.BiasAdd"(%5, %b) : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %7 = "tf.MatMul"(%4, %r) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %8 = "tf.AddV2"(%7, %6) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %9 = "tf.Relu"(%8) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %10 = "tf.Pack"(%4, %9) {axis = 0 : i64} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<2x?x4xf32>
  return %10, %9 : tensor<2x?x4xf32>, tensor<?x4xf32>
}

// -----
// RUN: recognize-composites{rnn=fused}
// The second step has another activation.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: PartitionedCall
// CHECK: tf.Relu
// CHECK: tf.Tanh
func.func public @main(%x: tensor<2x?x3xf32>, %h: tensor<?x4xf32>, %k: tensor<3x4xf32>, %r: tensor<4x4xf32>) -> tensor<?x4xf32> {
  %s:2 = "tf.Unpack"(%x) {axis = 0 : i64} : (tensor<2x?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xf32>)
  %0 = "tf.MatMul"(%s#0, %k) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %1 = "tf.MatMul"(%h, %r) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %2 = "tf.AddV2"(%0, %1) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %3 = "tf.Relu"(%2) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %4 = "tf.MatMul"(%s#1, %k) : (tensor<?x3xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
  %5 = "tf.MatMul"(%3, %r) : (tensor<?x4xf32>, tensor<4x4xf32>) -> tensor<?x4xf32>
  %6 = "tf.AddV2"(%4, %5) : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %7 = "tf.Tanh"(%6) : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %7 : tensor<?x4xf32>
}
