// RUN: name-layers{wanted=odml.rms_norm}
// An RMS normalization becomes a composite of LiteRT's contract, with the weight that its scale is made of as a vector.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: %[[X:[^:]*]]: tensor<?x3x4xf32>
// CHECK: %[[W:.*]] = "tf.Const"() <{value = dense<{{.*}}> : tensor<1x1x4xf32>}>
// CHECK: %[[VECTOR:.*]] = "tf.Reshape"(%[[W]], %{{.*}}) : (tensor<1x1x4xf32>, tensor<1xi32>) -> tensor<4xf32>
// CHECK: %[[Y:.*]] = "tf.StatefulPartitionedCall"(%[[X]], %[[VECTOR]])
// CHECK-SAME: f = @tf.Mul.odml.rms_norm
// CHECK: return %[[Y]]
// CHECK: func.func private @tf.Mul.odml.rms_norm(%{{.*}}: tensor<?x3x4xf32>, %{{.*}}: tensor<4xf32>)
// CHECK-SAME: tf._implements = {attributes = {epsilon = {{.*}} : f32}, name = "odml.rms_norm"}
// CHECK: "tf.Rsqrt"
func.func public @main(%x: tensor<?x3x4xf32>) -> tensor<?x3x4xf32> {
  %w = "tf.Const"() {value = dense<[[[1.0, 2.0, 3.0, 4.0]]]> : tensor<1x1x4xf32>} : () -> tensor<1x1x4xf32>
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %0 = "tf.Square"(%x) : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
  %1 = "tf.Mean"(%0, %axis) {keep_dims = true} : (tensor<?x3x4xf32>, tensor<i32>) -> tensor<?x3x1xf32>
  %2 = "tf.AddV2"(%1, %epsilon) : (tensor<?x3x1xf32>, tensor<f32>) -> tensor<?x3x1xf32>
  %3 = "tf.Rsqrt"(%2) : (tensor<?x3x1xf32>) -> tensor<?x3x1xf32>
  %4 = "tf.Mul"(%x, %3) : (tensor<?x3x4xf32>, tensor<?x3x1xf32>) -> tensor<?x3x4xf32>
  %5 = "tf.Mul"(%4, %w) : (tensor<?x3x4xf32>, tensor<1x1x4xf32>) -> tensor<?x3x4xf32>
  return %5 : tensor<?x3x4xf32>
}
// -----
// RUN: name-layers{wanted=odml.rms_norm}
// A layer normalization is not wanted, and stays as it is.
// CHECK-LABEL: func.func public @main
// CHECK-NOT: tf.StatefulPartitionedCall
func.func public @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %epsilon = "tf.Const"() {value = dense<1.0e-6> : tensor<f32>} : () -> tensor<f32>
  %m = "tf.Mean"(%x, %axis) {keep_dims = true} : (tensor<?x4xf32>, tensor<i32>) -> tensor<?x1xf32>
  %0 = "tf.SquaredDifference"(%x, %m) : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  %1 = "tf.Mean"(%0, %axis) {keep_dims = true} : (tensor<?x4xf32>, tensor<i32>) -> tensor<?x1xf32>
  %2 = "tf.AddV2"(%1, %epsilon) : (tensor<?x1xf32>, tensor<f32>) -> tensor<?x1xf32>
  %3 = "tf.Sqrt"(%2) : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %4 = "tf.Sub"(%x, %m) : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  %5 = "tf.RealDiv"(%4, %3) : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x4xf32>
  return %5 : tensor<?x4xf32>
}
