// RUN: keep-generators, call-once{entry=main}
// Each op with a seed has a counter of its own; one without, and one that is LiteRT's, are left alone.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.call_once"() <{session_init_function = "initialize_generators"}>
// CHECK: %[[V:.*]] = "tf.VarHandleOp"() <{container = "generators", shared_name = "0"}>
// CHECK: %[[C:.*]] = "tf.ReadVariableOp"(%[[V]])
// CHECK: %[[STATE:.*]] = "tf.ConcatV2"(%[[C]],
// CHECK: %[[COUNTER:.*]] = "tf.Bitcast"(%[[STATE]])
// CHECK: %[[Y:.*]] = "tf.StatelessRandomUniformIntV2"(%arg0, %{{.*}}, %[[COUNTER]],
// CHECK: %[[NEXT:.*]] = "tf.AddV2"(%[[C]],
// CHECK: "tf.AssignVariableOp"(%[[V]], %[[NEXT]])
// CHECK: "tf.VarHandleOp"() <{container = "generators", shared_name = "1"}>
// CHECK: "tf.StatelessShuffle"
// CHECK: "tf.RandomShuffle"
// CHECK: "tf.RandomUniform"
// CHECK-LABEL: @initialize_generators()
// CHECK-COUNT-2: "tf.AssignVariableOp"
func.func @main(%shape: tensor<2xi32>, %low: tensor<i32>, %high: tensor<i32>) -> (tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xf32>) {
  %0 = "tf.RandomUniformInt"(%shape, %low, %high) {seed = 3 : i64, seed2 = 5 : i64} : (tensor<2xi32>, tensor<i32>, tensor<i32>) -> tensor<?x?xi32>
  %1 = "tf.RandomShuffle"(%0) {seed = 0 : i64, seed2 = 5 : i64} : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %2 = "tf.RandomShuffle"(%0) {seed = 0 : i64, seed2 = 0 : i64} : (tensor<?x?xi32>) -> tensor<?x?xi32>
  %3 = "tf.RandomUniform"(%shape) {seed = 3 : i64, seed2 = 5 : i64} : (tensor<2xi32>) -> tensor<?x?xf32>
  return %0, %1, %2, %3 : tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xi32>, tensor<?x?xf32>
}
