// RUN: drop-loop-variables
// A counter that only counts goes; one that the condition reads, or another variable, stays.
// CHECK-LABEL: func.func @main
// CHECK-NOT: dense<7>
// CHECK: %[[R:.*]]:2 = "tfl.while"(%arg0, %arg1)
// CHECK: ^bb0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<i32>):
// CHECK: tfl.less
// CHECK: ^bb0(%[[V:.*]]: tensor<f32>, %[[J:.*]]: tensor<i32>):
// CHECK-NOT: tfl.mul
// CHECK: %[[C:.*]] = "tfl.cast"(%[[J]])
// CHECK: %[[W:.*]] = tfl.add %[[V]], %[[C]]
// CHECK: %[[K:.*]] = tfl.add %[[J]]
// CHECK: "tfl.yield"(%[[W]], %[[K]])
// CHECK: return %[[R]]#0
func.func @main(%x: tensor<f32>, %j: tensor<i32>) -> tensor<f32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %r:4 = "tfl.while"(%zero, %x, %zero, %j) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>, %d: tensor<i32>, %k: tensor<i32>):
    %ten = arith.constant dense<10.0> : tensor<f32>
    %0 = "tfl.less"(%v, %ten) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "tfl.yield"(%0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>, %d: tensor<i32>, %k: tensor<i32>):
    %seven = arith.constant dense<7> : tensor<i32>
    %1 = tfl.add(%i, %seven) <{fused_activation_function = "NONE"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %2 = tfl.mul(%d, %i) <{fused_activation_function = "NONE"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = "tfl.cast"(%k) : (tensor<i32>) -> tensor<f32>
    %4 = tfl.add(%v, %3) <{fused_activation_function = "NONE"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %5 = tfl.add(%k, %seven) <{fused_activation_function = "NONE"}> : (tensor<i32>, tensor<i32>) -> tensor<i32>
    "tfl.yield"(%1, %4, %2, %5) : (tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>) -> ()
  }) : (tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<f32>, tensor<i32>, tensor<i32>)
  return %r#1 : tensor<f32>
}

// -----

// RUN: drop-loop-variables
// What an op with side effects takes, or a branch in the body, stays; and so does the last variable.
// CHECK-LABEL: func.func @effects
// CHECK: "tfl.while"(%{{.*}}, %arg0)
// CHECK: "tfl.custom"
// CHECK: "tfl.while"(%arg0)
func.func @effects(%x: tensor<f32>) -> tensor<f32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %r:2 = "tfl.while"(%zero, %x) ({
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %ten = arith.constant dense<10.0> : tensor<f32>
    %0 = "tfl.less"(%v, %ten) : (tensor<f32>, tensor<f32>) -> tensor<i1>
    "tfl.yield"(%0) : (tensor<i1>) -> ()
  }, {
  ^bb0(%i: tensor<i32>, %v: tensor<f32>):
    %1 = "tfl.custom"(%i) {custom_code = "Note", custom_option = #tfl<const_bytes : "0x">} : (tensor<i32>) -> tensor<i32>
    %2 = tfl.add(%v, %v) <{fused_activation_function = "NONE"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "tfl.yield"(%i, %2) : (tensor<i32>, tensor<f32>) -> ()
  }) : (tensor<i32>, tensor<f32>) -> (tensor<i32>, tensor<f32>)
  %s = "tfl.while"(%x) ({
  ^bb0(%v: tensor<f32>):
    %false = arith.constant dense<false> : tensor<i1>
    "tfl.yield"(%false) : (tensor<i1>) -> ()
  }, {
  ^bb0(%v: tensor<f32>):
    %2 = tfl.add(%v, %v) <{fused_activation_function = "NONE"}> : (tensor<f32>, tensor<f32>) -> tensor<f32>
    "tfl.yield"(%2) : (tensor<f32>) -> ()
  }) : (tensor<f32>) -> tensor<f32>
  return %r#1 : tensor<f32>
}
