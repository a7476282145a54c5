// RUN: lower-tensor-lists, simplify
// A list that a loop fills: made before it, with the batch of what is written into it, handed through it, stacked after.
// CHECK-LABEL: func.func @main(
// CHECK: %[[SHAPE:.*]] = "tf.Shape"(%arg0)
// CHECK: %[[BATCH:.*]] = "tf.StridedSlice"(%[[SHAPE]], {{.*}}shrink_axis_mask = 1
// CHECK: %[[DIMS:.*]] = "tf.Pack"(%arg1, %[[BATCH]], %{{.*}}) {{.*}} -> tensor<3xi32>
// CHECK: %[[LIST:.*]] = "tf.Fill"(%[[DIMS]], %{{.*}}) : {{.*}} -> tensor<?x?x5xf32>
// CHECK: %[[LOOP:.*]]:3 = "tf.While"(%{{.*}}, %[[LIST]], %arg0)
// CHECK-SAME: (tensor<i32>, tensor<?x?x5xf32>, tensor<?x5xf32>) -> (tensor<i32>, tensor<?x?x5xf32>, tensor<?x5xf32>)
// CHECK: return %[[LOOP]]#1 : tensor<?x?x5xf32>
// CHECK-LABEL: func.func private @body(
// CHECK-SAME: %arg1: tensor<?x?x5xf32>
// CHECK: %[[STATE:.*]] = "tf.Tanh"(%arg2)
// CHECK: %[[UPDATE:.*]] = "tf.ExpandDims"(%[[STATE]], %{{.*}}) : {{.*}} -> tensor<1x?x5xf32>
// CHECK: %[[START:.*]] = "tf.Pack"(%arg0, %{{.*}}, %{{.*}})
// CHECK: "tf.XlaDynamicUpdateSlice"(%arg1, %[[UPDATE]], %[[START]]) : {{.*}} -> tensor<?x?x5xf32>
func.func @main(%x: tensor<?x5xf32>, %n: tensor<i32>) -> tensor<?x?x5xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<[-1, 5]> : tensor<2xi32>} : () -> tensor<2xi32>
  %list = "tf.TensorListReserve"(%shape, %n) {element_dtype = f32, shape_type = i32} : (tensor<2xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %0:3 = "tf.While"(%zero, %list, %x) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?x5xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?x5xf32>)
  %y = "tf.TensorListStack"(%0#1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant>, tensor<2xi32>) -> tensor<?x?x5xf32>
  return %y : tensor<?x?x5xf32>
}
func.func private @cond(%i: tensor<i32>, %list: tensor<*x!tf_type.variant>, %h: tensor<?x5xf32>) -> tensor<i1> {
  %ten = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %ten) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %list: tensor<!tf_type.variant>, %h: tensor<?x5xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?x5xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %state = "tf.Tanh"(%h) : (tensor<?x5xf32>) -> tensor<?x5xf32>
  %0 = "tf.TensorListSetItem"(%list, %i, %state) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x5xf32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %1 = "tf.Identity"(%0) : (tensor<!tf_type.variant<tensor<*xf32>>>) -> tensor<!tf_type.variant>
  return %next, %1, %state : tensor<i32>, tensor<!tf_type.variant>, tensor<?x5xf32>
}

// -----
// RUN: lower-tensor-lists
// Reading; an index on a list of a tensor. A list that is only written is gone.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: TensorList
// CHECK-NOT: XlaDynamicUpdateSlice
// CHECK: %[[Y:.*]] = "tf.GatherV2"(%arg0, %arg1, %{{.*}}) <{batch_dims = 0 : i64}> : (tensor<6x?x4xf32>, tensor<i32>, tensor<i32>) -> tensor<?x4xf32>
// CHECK: "tf.Identity"(%[[Y]])
func.func @main(%x: tensor<6x?x4xf32>, %i: tensor<i32>) -> tensor<?x4xf32> {
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %n = "tf.Const"() {value = dense<6> : tensor<i32>} : () -> tensor<i32>
  %list = "tf.TensorListFromTensor"(%x, %shape) {element_dtype = f32, shape_type = i32} : (tensor<6x?x4xf32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %y = "tf.TensorListGetItem"(%list, %i, %shape) {element_dtype = f32} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<i32>, tensor<i32>) -> tensor<*xf32>
  %dead = "tf.TensorListReserve"(%shape, %n) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %written = "tf.TensorListSetItem"(%dead, %i, %y) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<i32>, tensor<*xf32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %z = "tf.Identity"(%y) : (tensor<*xf32>) -> tensor<?x4xf32>
  return %z : tensor<?x4xf32>
}

// -----
// RUN: lower-tensor-lists
// Growing and shrinking. A function with lists that is called twice serves lists of different items.
// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]] = "tf.If"(%arg0, %{{.*}}, %arg1) <{else_branch = @push_{{[0-9]*}}, {{.*}}then_branch = @push}> : {{.*}} -> tensor<?x3xf32>
// CHECK: %[[B:.*]] = "tf.If"(%arg0, %{{.*}}, %arg2) <{else_branch = @push_{{[0-9]*}}, {{.*}}then_branch = @push_{{[0-9]*}}}> : {{.*}} -> tensor<?x4xf32>
// CHECK: "tf.GatherV2"(%[[A]]
// CHECK: "tf.GatherV2"(%[[B]]
// CHECK: func.func private @push(%arg0: tensor<?x3xf32>, %arg1: tensor<3xf32>) -> tensor<?x3xf32>
// CHECK: "tf.ConcatV2"(%arg0,
func.func @main(%c: tensor<i1>, %a: tensor<3xf32>, %b: tensor<4xf32>) -> (tensor<3xf32>, tensor<4xf32>) {
  %none = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.EmptyTensorList"(%none, %none) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %1 = "tf.If"(%c, %0, %a) {then_branch = @push, else_branch = @push, is_stateless = true} : (tensor<i1>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<3xf32>) -> tensor<!tf_type.variant>
  %2 = "tf.EmptyTensorList"(%none, %none) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %3 = "tf.If"(%c, %2, %b) {then_branch = @push, else_branch = @push, is_stateless = true} : (tensor<i1>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<4xf32>) -> tensor<!tf_type.variant>
  %4:2 = "tf.TensorListPopBack"(%1, %none) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>) -> (tensor<!tf_type.variant>, tensor<3xf32>)
  %5:2 = "tf.TensorListPopBack"(%3, %none) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<i32>) -> (tensor<!tf_type.variant>, tensor<4xf32>)
  return %4#1, %5#1 : tensor<3xf32>, tensor<4xf32>
}
func.func private @push(%list: tensor<!tf_type.variant>, %x: tensor<*xf32>) -> tensor<!tf_type.variant> {
  %0 = "tf.TensorListPushBack"(%list, %x) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<*xf32>) -> tensor<!tf_type.variant>
  return %0 : tensor<!tf_type.variant>
}

// -----
// RUN: lower-tensor-lists
// ERROR: (TensorListSetItem): the tensor list cannot become a dense tensor: the items have different shapes: [3] and [4]
func.func @main(%i: tensor<i32>, %a: tensor<4xf32>) -> tensor<?x3xf32> {
  %shape = "tf.Const"() {value = dense<[3]> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.TensorListReserve"(%shape, %i) {element_dtype = f32, shape_type = i32} : (tensor<1xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %1 = "tf.TensorListSetItem"(%0, %i, %a) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<i32>, tensor<4xf32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %2 = "tf.TensorListStack"(%1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<1xi32>) -> tensor<?x3xf32>
  return %2 : tensor<?x3xf32>
}

// -----
// RUN: lower-tensor-lists
// ERROR: its items are tensor lists, which nothing is ever written into
func.func @main(%i: tensor<i32>) -> tensor<i32> {
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.TensorListReserve"(%shape, %i) {element_dtype = !tf_type.variant, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>
  %1 = "tf.TensorListLength"(%0) : (tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>) -> tensor<i32>
  return %1 : tensor<i32>
}

// -----
// RUN: lower-tensor-lists
// ERROR: (TensorListReserve): the tensor list cannot become a dense tensor: the number of dimensions of its items is not known
func.func @main(%i: tensor<i32>, %x: tensor<*xf32>) -> tensor<*xf32> {
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.TensorListReserve"(%shape, %i) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %1 = "tf.TensorListSetItem"(%0, %i, %x) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<i32>, tensor<*xf32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %2 = "tf.TensorListStack"(%1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant<tensor<*xf32>>>, tensor<i32>) -> tensor<*xf32>
  return %2 : tensor<*xf32>
}

// -----
// RUN: lower-tensor-lists
// ERROR: (TensorListConcatLists): the tensor list cannot become a dense tensor: no more is known of this op than that it takes or makes variants
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %shape = "tf.Const"() {value = dense<[3]> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.TensorListFromTensor"(%x, %shape) {element_dtype = f32, shape_type = i32} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<!tf_type.variant>
  %1 = "tf.TensorListConcatLists"(%0, %0) {element_dtype = f32} : (tensor<!tf_type.variant>, tensor<!tf_type.variant>) -> tensor<!tf_type.variant>
  %2 = "tf.TensorListStack"(%1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant>, tensor<1xi32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----
// RUN: lower-tensor-lists
// What gradients make of lists: sums of them, and zeros of their form.
// CHECK-LABEL: func.func @main
// CHECK: %[[ZEROS:.*]] = "tf.Const"() <{value = dense<0.000000e+00> : tensor<2x3xf32>}>
// CHECK: %[[SUM:.*]] = "tf.AddN"(%arg0, %[[ZEROS]]) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
// CHECK: return %[[SUM]]
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %shape = "tf.Const"() {value = dense<[3]> : tensor<1xi32>} : () -> tensor<1xi32>
  %0 = "tf.TensorListFromTensor"(%x, %shape) {element_dtype = f32, shape_type = i32} : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<!tf_type.variant>
  %zeros = "tf.ZerosLike"(%0) : (tensor<!tf_type.variant>) -> tensor<!tf_type.variant>
  %1 = "tf.AddN"(%0, %zeros) : (tensor<!tf_type.variant>, tensor<!tf_type.variant>) -> tensor<!tf_type.variant>
  %2 = "tf.TensorListStack"(%1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant>, tensor<1xi32>) -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// -----
// RUN: lower-tensor-lists
// An item that grows from turn to turn.
// ERROR: dimension 0 of its items is not known before the loop: it changes from one iteration of the loop to the next
func.func @main(%x: tensor<?xf32>, %n: tensor<i32>) -> tensor<?x?xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<[-1]> : tensor<1xi32>} : () -> tensor<1xi32>
  %list = "tf.TensorListReserve"(%shape, %n) {element_dtype = f32, shape_type = i32} : (tensor<1xi32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %0:3 = "tf.While"(%zero, %list, %x) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>)
  %y = "tf.TensorListStack"(%0#1, %shape) {element_dtype = f32, num_elements = -1 : i64} : (tensor<!tf_type.variant>, tensor<1xi32>) -> tensor<?x?xf32>
  return %y : tensor<?x?xf32>
}
func.func private @cond(%i: tensor<i32>, %list: tensor<*x!tf_type.variant>, %h: tensor<?xf32>) -> tensor<i1> {
  %ten = "tf.Const"() {value = dense<10> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %ten) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %list: tensor<!tf_type.variant>, %h: tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %state = "tf.ConcatV2"(%h, %h, %zero) : (tensor<?xf32>, tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  %0 = "tf.TensorListSetItem"(%list, %i, %state) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?xf32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %1 = "tf.Identity"(%0) : (tensor<!tf_type.variant<tensor<*xf32>>>) -> tensor<!tf_type.variant>
  return %next, %1, %state : tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>
}

// -----
// RUN: lower-tensor-lists
// No rule tells how many places Where finds: the first turn's are counted before the loop, and each write is checked.
// CHECK-LABEL: func.func @main(
// CHECK: %[[COPY:.*]] = "tf.Where"(%arg0)
// CHECK: "tf.Shape"(%[[COPY]])
// CHECK: "tf.Fill"
// CHECK: "tf.While"
// CHECK-LABEL: func.func private @body(
// CHECK: %[[ITEM:.*]] = "tf.Where"(%arg2)
// CHECK: %[[SIZES:.*]] = "tf.Shape"(%arg1)
// CHECK: "tf.StridedSlice"(%[[SIZES]]
// CHECK: %[[DIMS:.*]] = "tf.Pack"
// CHECK: %[[UPDATE:.*]] = "tf.Reshape"(%[[ITEM]], %[[DIMS]]) {asserts_sizes = true} : {{.*}} -> tensor<1x?x1xi64>
// CHECK: "tf.XlaDynamicUpdateSlice"(%arg1, %[[UPDATE]]
func.func @main(%x: tensor<?xf32>) -> tensor<3x?x1xi64> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %list = "tf.TensorListReserve"(%shape, %three) {element_dtype = i64, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xi64>>>
  %0:3 = "tf.While"(%zero, %list, %x) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*xi64>>>, tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>)
  %y = "tf.TensorListStack"(%0#1, %shape) {element_dtype = i64, num_elements = 3 : i64} : (tensor<!tf_type.variant>, tensor<i32>) -> tensor<3x?x1xi64>
  return %y : tensor<3x?x1xi64>
}
func.func private @cond(%i: tensor<i32>, %list: tensor<*x!tf_type.variant>, %h: tensor<?xf32>) -> tensor<i1> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %list: tensor<!tf_type.variant>, %h: tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>) {
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %found = "tf.Where"(%h) : (tensor<?xf32>) -> tensor<?x1xi64>
  %0 = "tf.TensorListSetItem"(%list, %i, %found) {element_dtype = i64, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?x1xi64>) -> tensor<!tf_type.variant>
  return %next, %0, %h : tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>
}

// -----
// RUN: lower-tensor-lists
// What the rules for shapes say is computed before the loop of sizes, and no item is; writes need no check.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: "tf.CumulativeLogsumexp"
// CHECK: "tf.Shape"(%arg0)
// CHECK: %[[LESS:.*]] = "tf.Minimum"
// CHECK: %[[REST:.*]] = "tf.Sub"(%{{.*}}, %[[LESS]])
// CHECK: %[[SIZE:.*]] = "tf.Maximum"(%{{.*}}, %[[REST]])
// CHECK: %[[DIMS:.*]] = "tf.Pack"(%{{.*}}, %[[SIZE]])
// CHECK: "tf.Fill"(%[[DIMS]]
// CHECK-NOT: "tf.CumulativeLogsumexp"
// CHECK: "tf.While"
// CHECK-LABEL: func.func private @body(
// CHECK: %[[ITEM:.*]] = "tf.CumulativeLogsumexp"
// CHECK: %[[UPDATE:.*]] = "tf.ExpandDims"(%[[ITEM]]
// CHECK: "tf.XlaDynamicUpdateSlice"(%arg1, %[[UPDATE]]
func.func @main(%x: tensor<?xf32>) -> tensor<3x?xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %list = "tf.TensorListReserve"(%shape, %three) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %0:3 = "tf.While"(%zero, %list, %x) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>)
  %y = "tf.TensorListStack"(%0#1, %shape) {element_dtype = f32, num_elements = 3 : i64} : (tensor<!tf_type.variant>, tensor<i32>) -> tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}
func.func private @cond(%i: tensor<i32>, %list: tensor<*x!tf_type.variant>, %h: tensor<?xf32>) -> tensor<i1> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %list: tensor<!tf_type.variant>, %h: tensor<?xf32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>) {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %ones = "tf.Const"() {value = dense<1> : tensor<1xi32>} : () -> tensor<1xi32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %rest = "tf.StridedSlice"(%h, %ones, %ones, %ones) {begin_mask = 0 : i64, end_mask = 1 : i64, ellipsis_mask = 0 : i64, new_axis_mask = 0 : i64, shrink_axis_mask = 0 : i64} : (tensor<?xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<?xf32>
  %item = "tf.CumulativeLogsumexp"(%rest, %zero) {exclusive = false, reverse = false} : (tensor<?xf32>, tensor<i32>) -> tensor<?xf32>
  %0 = "tf.TensorListSetItem"(%list, %i, %item) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?xf32>) -> tensor<!tf_type.variant>
  return %next, %0, %h : tensor<i32>, tensor<!tf_type.variant>, tensor<?xf32>
}

// -----
// RUN: lower-tensor-lists
// A number that the body computes of others is computed before the loop, and each write is checked.
// CHECK-LABEL: func.func @main(
// CHECK: %[[COPY:.*]] = "tf.Max"(%arg0
// CHECK: %[[SIZE:.*]] = "tf.StridedSlice"(%[[COPY]]
// CHECK: %[[DIMS:.*]] = "tf.Pack"(%{{.*}}, %[[SIZE]])
// CHECK: "tf.Fill"(%[[DIMS]]
// CHECK-LABEL: func.func private @body(
// CHECK: "tf.Reshape"{{.*}}asserts_sizes = true
func.func @main(%x: tensor<?xi32>) -> tensor<3x?xf32> {
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %shape = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %list = "tf.TensorListReserve"(%shape, %three) {element_dtype = f32, shape_type = i32} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*xf32>>>
  %0:3 = "tf.While"(%zero, %list, %x) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*xf32>>>, tensor<?xi32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xi32>)
  %y = "tf.TensorListStack"(%0#1, %shape) {element_dtype = f32, num_elements = 3 : i64} : (tensor<!tf_type.variant>, tensor<i32>) -> tensor<3x?xf32>
  return %y : tensor<3x?xf32>
}
func.func private @cond(%i: tensor<i32>, %list: tensor<*x!tf_type.variant>, %h: tensor<?xi32>) -> tensor<i1> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %list: tensor<!tf_type.variant>, %h: tensor<?xi32>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<?xi32>) {
  %axes = "tf.Const"() {value = dense<0> : tensor<1xi32>} : () -> tensor<1xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %half = "tf.Const"() {value = dense<0.5> : tensor<f32>} : () -> tensor<f32>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %size = "tf.Max"(%h, %axes) {keep_dims = true} : (tensor<?xi32>, tensor<1xi32>) -> tensor<1xi32>
  %item = "tf.Fill"(%size, %half) : (tensor<1xi32>, tensor<f32>) -> tensor<?xf32>
  %0 = "tf.TensorListSetItem"(%list, %i, %item) {element_dtype = f32, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<?xf32>) -> tensor<!tf_type.variant>
  return %next, %0, %h : tensor<i32>, tensor<!tf_type.variant>, tensor<?xi32>
}

// -----
// RUN: lower-tensor-lists, simplify
// A write behind the end makes the list longer first; only a dtype that DYNAMIC_UPDATE_SLICE takes is written by it.
// CHECK-LABEL: func.func @main(
// CHECK: %[[LONGER:.*]] = "tf.ConcatV2"(%arg0, %{{.*}}) : {{.*}} -> tensor<?x3xui8>
// CHECK: %[[AFTER:.*]] = "tf.StridedSlice"(%[[LONGER]]
// CHECK: %[[BEFORE:.*]] = "tf.StridedSlice"(%[[LONGER]]
// CHECK: "tf.ConcatV2"(%[[BEFORE]], %{{.*}}, %[[AFTER]], %{{.*}}) : {{.*}} -> tensor<?x3xui8>
func.func @main(%x: tensor<4x3xui8>, %i: tensor<i32>, %item: tensor<3xui8>) -> tensor<?x3xui8> {
  %shape = "tf.Const"() {value = dense<3> : tensor<1xi32>} : () -> tensor<1xi32>
  %list = "tf.TensorListFromTensor"(%x, %shape) {element_dtype = ui8, shape_type = i32} : (tensor<4x3xui8>, tensor<1xi32>) -> tensor<!tf_type.variant<tensor<3xui8>>>
  %0 = "tf.TensorListSetItem"(%list, %i, %item) {element_dtype = ui8, resize_if_index_out_of_bounds = true} : (tensor<!tf_type.variant<tensor<3xui8>>>, tensor<i32>, tensor<3xui8>) -> tensor<!tf_type.variant<tensor<3xui8>>>
  %y = "tf.TensorListStack"(%0, %shape) {element_dtype = ui8, num_elements = -1 : i64} : (tensor<!tf_type.variant<tensor<3xui8>>>, tensor<1xi32>) -> tensor<?x3xui8>
  return %y : tensor<?x3xui8>
}

// -----

// RUN: lower-tensor-lists
// Rows of a ragged tensor, of which a loop makes others: it slices the values, and adds its own to others.
// CHECK-LABEL: func.func @main
// CHECK-NOT: variant
// CHECK: %[[LOOP:.*]]:5 = "tf.While"(%{{.*}}, %{{.*}}, %arg1, %arg0, %{{.*}})
// CHECK: return %[[LOOP]]#4, %[[LOOP]]#1
// CHECK-LABEL: func.func private @body
// CHECK: %[[ROW:.*]] = "tf.GatherV2"(%arg2, {{.*}} -> tensor<?x2xf32>
// CHECK: %[[DOUBLE:.*]] = "tf.AddV2"(%[[ROW]], %[[ROW]])
// CHECK: %[[VALUES:.*]] = "tf.ConcatV2"(%arg1, %[[DOUBLE]],
// CHECK: %[[SPLITS:.*]] = "tf.ConcatV2"(%arg4,
// CHECK: return %{{.*}}, %[[VALUES]], %arg2, %arg3, %[[SPLITS]]
func.func @main(%splits: tensor<4xi64>, %values: tensor<?x2xf32>) -> (tensor<?xi64>, tensor<?x2xf32>) {
  %v = "tf.RaggedTensorToVariant"(%splits, %values) {batched_input = true} : (tensor<4xi64>, tensor<?x2xf32>) -> tensor<3x!tf_type.variant>
  %none = "tf.Const"() {value = dense<> : tensor<0xi32>} : () -> tensor<0xi32>
  %zero = "tf.Const"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
  %any = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %l = "tf.TensorListFromTensor"(%v, %none) {element_dtype = !tf_type.variant} : (tensor<3x!tf_type.variant>, tensor<0xi32>) -> tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>
  %m = "tf.TensorListReserve"(%any, %three) {element_dtype = !tf_type.variant} : (tensor<i32>, tensor<i32>) -> tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>
  %0:3 = "tf.While"(%zero, %m, %l) {cond = @cond, body = @body, is_stateless = true} : (tensor<i32>, tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>, tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<!tf_type.variant>)
  %s = "tf.TensorListStack"(%0#1, %none) {element_dtype = !tf_type.variant, num_elements = 3 : i64} : (tensor<!tf_type.variant>, tensor<0xi32>) -> tensor<3x!tf_type.variant>
  %1:2 = "tf.RaggedTensorFromVariant"(%s) {input_ragged_rank = -1 : i64, output_ragged_rank = 1 : i64} : (tensor<3x!tf_type.variant>) -> (tensor<?xi64>, tensor<?x2xf32>)
  return %1#0, %1#1 : tensor<?xi64>, tensor<?x2xf32>
}
func.func private @cond(%i: tensor<i32>, %m: tensor<!tf_type.variant>, %l: tensor<!tf_type.variant>) -> tensor<i1> {
  %three = "tf.Const"() {value = dense<3> : tensor<i32>} : () -> tensor<i32>
  %0 = "tf.Less"(%i, %three) : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @body(%i: tensor<i32>, %m: tensor<!tf_type.variant>, %l: tensor<!tf_type.variant>) -> (tensor<i32>, tensor<!tf_type.variant>, tensor<!tf_type.variant>) {
  %none = "tf.Const"() {value = dense<> : tensor<0xi32>} : () -> tensor<0xi32>
  %one = "tf.Const"() {value = dense<1> : tensor<i32>} : () -> tensor<i32>
  %x = "tf.TensorListGetItem"(%l, %i, %none) {element_dtype = !tf_type.variant} : (tensor<!tf_type.variant>, tensor<i32>, tensor<0xi32>) -> tensor<!tf_type.variant>
  %row = "tf.RaggedTensorFromVariant"(%x) {input_ragged_rank = -1 : i64, output_ragged_rank = 0 : i64} : (tensor<!tf_type.variant>) -> tensor<?x2xf32>
  %double = "tf.AddV2"(%row, %row) : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = "tf.RaggedTensorToVariant"(%double) {batched_input = false} : (tensor<?x2xf32>) -> tensor<!tf_type.variant>
  %w = "tf.TensorListSetItem"(%m, %i, %y) {element_dtype = !tf_type.variant, resize_if_index_out_of_bounds = false} : (tensor<!tf_type.variant>, tensor<i32>, tensor<!tf_type.variant>) -> tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>
  %next = "tf.AddV2"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i32>
  %c = "tf.Identity"(%w) : (tensor<!tf_type.variant<tensor<*x!tf_type.variant>>>) -> tensor<!tf_type.variant>
  return %next, %c, %l : tensor<i32>, tensor<!tf_type.variant>, tensor<!tf_type.variant>
}
