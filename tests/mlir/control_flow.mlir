// RUN: lower-case
// CHECK-LABEL: func.func @main
// CHECK: %[[ZERO:.*]] = "tf.Const"() <{value = dense<0> : tensor<i32>}>
// CHECK: %[[IS0:.*]] = "tf.Equal"(%arg0, %[[ZERO]])
// CHECK: "tf.If"(%[[IS0]], %arg0, %arg1) <{else_branch = @b0.rest.1, is_stateless = true, then_branch = @b0.branch.0}>
func.func @main(%index: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Case"(%index, %x) {branches = [@b0, @b1, @b2], is_stateless = true} : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @b0(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func private @b1(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
func.func private @b2(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// CHECK-DAG: func.func private @b0.branch.0(%{{.*}}: tensor<i32>, %{{.*}}: tensor<2xf32>)
// CHECK-DAG: f = @b0}
// CHECK-DAG: func.func private @b0.rest.1
// CHECK-DAG: dense<1> : tensor<i32>
// CHECK-DAG: f = @b1}
// CHECK-DAG: func.func private @b0.rest.2
// CHECK-DAG: f = @b2}

// -----
// RUN: lower-case
// A single branch is a call, whatever the index.
// CHECK-LABEL: func.func @main
// CHECK-NOT: tf.If
// CHECK: "tf.StatefulPartitionedCall"(%arg1) <{{{.*}}f = @b0}>
func.func @main(%index: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Case"(%index, %x) {branches = [@b0], is_stateless = true} : (tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @b0(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----
// RUN: lower-conditions
// CHECK-LABEL: func.func @main
// CHECK: %[[B:.*]] = "tf.ToBool"(%arg0) : (tensor<i32>) -> tensor<i1>
// CHECK: "tf.If"(%[[B]], %arg1)
func.func @main(%n: tensor<i32>, %x: tensor<f32>) -> tensor<f32> {
  %0 = "tf.If"(%n, %x) {then_branch = @f, else_branch = @f, is_stateless = true} : (tensor<i32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @f(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----
// RUN: refine-call-types
// What both branches agree on, and through the call around them.
// CHECK-LABEL: func.func @main
// CHECK-SAME: -> tensor<?x4xf32>
// CHECK: "tf.PartitionedCall"
// CHECK-SAME: -> tensor<?x4xf32>
func.func @main(%p: tensor<i1>, %x: tensor<2x4xf32>) -> tensor<*xf32> {
  %0 = "tf.PartitionedCall"(%p, %x) {f = @f, config = "", config_proto = "", executor_type = ""} : (tensor<i1>, tensor<2x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
// CHECK-LABEL: func.func private @f
// CHECK: "tf.If"
// CHECK-SAME: -> tensor<?x4xf32>
func.func private @f(%p: tensor<i1>, %x: tensor<2x4xf32>) -> tensor<*xf32> {
  %0 = "tf.If"(%p, %x) {then_branch = @two, else_branch = @three, is_stateless = true} : (tensor<i1>, tensor<2x4xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}
func.func private @two(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  return %x : tensor<2x4xf32>
}
func.func private @three(%x: tensor<2x4xf32>) -> tensor<3x4xf32> {
  %0 = "tf.Const"() {value = dense<1.0> : tensor<3x4xf32>} : () -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----
// RUN: lower-for
// CHECK-LABEL: func.func @main
// CHECK: "tf.While"(%arg0, %arg1, %{{.*}}, %arg2) <{body = @step.for.body, cond = @step.for.cond, {{.*}}}> : {{.*}} -> (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2xf32>)
// CHECK: return %{{.*}}#3
func.func @main(%start: tensor<i32>, %limit: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %delta = "tf.Const"() {value = dense<-2> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.For"(%start, %limit, %delta, %x) {body = @step} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @step(%i: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
// CHECK: func.func private @step.for.cond
// CHECK: "tf.Greater"(%arg0, %arg1)
// CHECK: func.func private @step.for.body
// CHECK: %[[Y:.*]] = "tf.StatefulPartitionedCall"(%arg0, %arg3) <{{{.*}}f = @step}>
// CHECK: %[[I:.*]] = "tf.AddV2"(%arg0, %arg2)
// CHECK: return %[[I]], %arg1, %arg2, %[[Y]]

// -----
// RUN: lower-for
// The sign of a step that is not known is found out by the loop.
// CHECK: func.func private @step.for.cond
// CHECK: %[[LEFT:.*]] = "tf.Sub"(%arg1, %arg0)
// CHECK: %[[SIGN:.*]] = "tf.Sign"(%arg2)
// CHECK: "tf.Mul"(%[[LEFT]], %[[SIGN]])
func.func @main(%start: tensor<i32>, %delta: tensor<i32>) {
  "tf.For"(%start, %start, %delta) {body = @step} : (tensor<i32>, tensor<i32>, tensor<i32>) -> ()
  return
}
func.func private @step(%i: tensor<i32>) {
  return
}

// -----
// RUN: lower-for
// ERROR: the loop passes 1 values; its body 'step' takes 1 and gives 1
func.func @main(%start: tensor<i32>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.For"(%start, %start, %start, %x) {body = @step} : (tensor<i32>, tensor<i32>, tensor<i32>, tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @step(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
