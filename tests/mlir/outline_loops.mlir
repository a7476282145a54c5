// RUN: outline-loops
// Constants are copied into the functions; another value from outside becomes a loop variable.

// CHECK-LABEL: func.func @main
// CHECK-SAME: (%[[N:.*]]: tensor<i32>, %[[W:.*]]: tensor<i32>)
// CHECK: %[[R:.*]]:3 = "tfl.while"(%[[N]], %[[N]], %[[W]])
// CHECK: func.call @main.while.0.cond({{.*}}) : (tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<i1>
// CHECK-NEXT: tfl.yield
// CHECK: func.call @main.while.0.body({{.*}}) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>, tensor<i32>)
// CHECK-NEXT: tfl.yield
// CHECK: return %[[R]]#1
func.func @main(%n: tensor<i32>, %w: tensor<i32>) -> tensor<i32> {
  %one = arith.constant dense<1> : tensor<i32>
  %0:2 = "tfl.while"(%n, %n) ({
    ^bb0(%i: tensor<i32>, %x: tensor<i32>):
      %1 = "tfl.less"(%i, %w) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<i32>):
      %1 = tfl.add %i, %one {fused_activation_function = "NONE"} : tensor<i32>
      %2 = tfl.mul %x, %w {fused_activation_function = "NONE"} : tensor<i32>
      "tfl.yield"(%1, %2) : (tensor<i32>, tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %0#1 : tensor<i32>
}
// CHECK: func.func private @main.while.0.cond(%[[I:.*]]: tensor<i32>, %{{.*}}: tensor<i32>, %[[V:.*]]: tensor<i32>) -> tensor<i1>
// CHECK: tfl.less(%[[I]], %[[V]])
// CHECK: func.func private @main.while.0.body(%{{.*}}: tensor<i32>, %[[X:.*]]: tensor<i32>, %[[V:.*]]: tensor<i32>)
// CHECK: arith.constant dense<1>
// CHECK: tfl.mul %[[X]], %[[V]]
// CHECK: return %{{.*}}, %{{.*}}, %[[V]]

// -----
// RUN: outline-loops
// A loop in a loop: the inner one's value from outside of both goes through the outer one.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.while"(%arg0, %arg1)
// CHECK-DAG: func.func private @main.while.0.cond
// CHECK-DAG: func.func private @main.while.0.body
// CHECK-DAG: func.func private @main.while.1.cond
// CHECK-DAG: func.func private @main.while.1.body
func.func @main(%n: tensor<i32>, %w: tensor<i32>) -> tensor<i32> {
  %0 = "tfl.while"(%n) ({
    ^bb0(%i: tensor<i32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>):
      %1 = "tfl.while"(%i) ({
        ^bb0(%j: tensor<i32>):
          %2 = "tfl.less"(%j, %w) : (tensor<i32>, tensor<i32>) -> tensor<i1>
          "tfl.yield"(%2) : (tensor<i1>) -> ()
      }, {
        ^bb0(%j: tensor<i32>):
          %2 = tfl.add %j, %w {fused_activation_function = "NONE"} : tensor<i32>
          "tfl.yield"(%2) : (tensor<i32>) -> ()
      }) {is_stateless = true} : (tensor<i32>) -> tensor<i32>
      "tfl.yield"(%1) : (tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}

// -----
// RUN: outline-loops
// What grows from nothing: the runtime would take its sizes before and after a step for equal.
// CHECK-LABEL: func.func @main
// CHECK: %[[TWO:.*]] = "tfl.pseudo_const"(){{.*}} -> tensor<2xi32>
// CHECK: "tfl.while"(%{{.*}}, %{{.*}}, %[[TWO]])
// CHECK: (tensor<i32>, tensor<0x3xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<?x3xf32>, tensor<?xi32>)
// CHECK: func.func private @main.while.0.cond(%{{.*}}: tensor<i32>, %{{.*}}: tensor<?x3xf32>, %{{.*}}: tensor<?xi32>)
// CHECK: func.func private @main.while.0.body(%{{.*}}: tensor<i32>, %{{.*}}: tensor<?x3xf32>, %{{.*}}: tensor<?xi32>)
// CHECK: %[[THREE:.*]] = "tfl.pseudo_const"(){{.*}} -> tensor<3xi32>
// CHECK: return %{{.*}}, %{{.*}}, %[[THREE]]
func.func @main(%n: tensor<i32>) -> tensor<?x3xf32> {
  %nothing = arith.constant dense<> : tensor<0x3xf32>
  %0:2 = "tfl.while"(%n, %nothing) ({
    ^bb0(%i: tensor<i32>, %x: tensor<?x3xf32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<?x3xf32>):
      %row = arith.constant dense<1.0> : tensor<1x3xf32>
      %1 = "tfl.concatenation"(%x, %row) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
      "tfl.yield"(%i, %1) : (tensor<i32>, tensor<?x3xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<0x3xf32>) -> (tensor<i32>, tensor<?x3xf32>)
  return %0#1 : tensor<?x3xf32>
}

// -----
// RUN: outline-loops
// Something that has a row to begin with needs no such variable.
// CHECK-LABEL: func.func @main
// CHECK: (tensor<i32>, tensor<1x3xf32>) -> (tensor<i32>, tensor<?x3xf32>)
func.func @main(%n: tensor<i32>, %first: tensor<1x3xf32>) -> tensor<?x3xf32> {
  %0:2 = "tfl.while"(%n, %first) ({
    ^bb0(%i: tensor<i32>, %x: tensor<?x3xf32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<?x3xf32>):
      %1 = "tfl.concatenation"(%x, %x) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      "tfl.yield"(%i, %1) : (tensor<i32>, tensor<?x3xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<1x3xf32>) -> (tensor<i32>, tensor<?x3xf32>)
  return %0#1 : tensor<?x3xf32>
}

// -----
// RUN: outline-loops
// The axis may count from the end; and what stays in its place, or moves to an earlier one, is not copied.
// CHECK-LABEL: func.func @main
// CHECK: %[[TWO:.*]] = "tfl.pseudo_const"(){{.*}} -> tensor<2xi32>
// CHECK: "tfl.while"(%{{.*}}, %{{.*}}, %{{.*}}, %[[TWO]])
// CHECK: func.func private @main.while.0.body(%[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>, %{{.*}}: tensor<?x3xf32>,
// CHECK-NOT: tfl.add %[[I]]
// CHECK: return %[[I]], %[[J]], %
func.func @main(%n: tensor<i32>) -> tensor<?x3xf32> {
  %nothing = arith.constant dense<> : tensor<0x3xf32>
  %0:3 = "tfl.while"(%n, %n, %nothing) ({
    ^bb0(%i: tensor<i32>, %j: tensor<i32>, %x: tensor<?x3xf32>):
      %1 = "tfl.less"(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %j: tensor<i32>, %x: tensor<?x3xf32>):
      %row = arith.constant dense<1.0> : tensor<1x3xf32>
      %1 = "tfl.concatenation"(%x, %row) {axis = -2 : i32, fused_activation_function = "NONE"} : (tensor<?x3xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
      "tfl.yield"(%i, %j, %1) : (tensor<i32>, tensor<i32>, tensor<?x3xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<i32>, tensor<0x3xf32>) -> (tensor<i32>, tensor<i32>, tensor<?x3xf32>)
  return %0#2 : tensor<?x3xf32>
}

// -----
// RUN: outline-loops
// It grows along its last axis, which is not the first: no variable is added.
// CHECK-LABEL: func.func @main
// CHECK: (tensor<i32>, tensor<3x0xf32>) -> (tensor<i32>, tensor<3x?xf32>)
func.func @main(%n: tensor<i32>) -> tensor<3x?xf32> {
  %nothing = arith.constant dense<> : tensor<3x0xf32>
  %0:2 = "tfl.while"(%n, %nothing) ({
    ^bb0(%i: tensor<i32>, %x: tensor<3x?xf32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<3x?xf32>):
      %column = arith.constant dense<1.0> : tensor<3x1xf32>
      %1 = "tfl.concatenation"(%x, %column) {axis = -1 : i32, fused_activation_function = "NONE"} : (tensor<3x?xf32>, tensor<3x1xf32>) -> tensor<3x?xf32>
      "tfl.yield"(%i, %1) : (tensor<i32>, tensor<3x?xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<3x0xf32>) -> (tensor<i32>, tensor<3x?xf32>)
  return %0#1 : tensor<3x?xf32>
}

// -----
// RUN: outline-loops
// A variable in a later place is copied: fault `variable-in-a-later-place`. The one that comes to an earlier place is not.
// CHECK: func.func private @main.while.0.body(%[[I:.*]]: tensor<i32>, %[[J:.*]]: tensor<i32>)
// CHECK: %[[COPY:.*]] = {{.*}}%[[I]]
// CHECK-NOT: %[[J]]
// CHECK: return %[[J]], %[[COPY]]
func.func @main(%n: tensor<i32>, %m: tensor<i32>) -> tensor<i32> {
  %0:2 = "tfl.while"(%n, %m) ({
    ^bb0(%i: tensor<i32>, %j: tensor<i32>):
      %1 = "tfl.less"(%i, %j) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %j: tensor<i32>):
      "tfl.yield"(%j, %i) : (tensor<i32>, tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
  return %0#1 : tensor<i32>
}

// -----
// RUN: outline-loops
// A constant of quantized elements is copied into the function as well.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.while"(%arg0)
// CHECK: func.func private @main.while.0.body(%arg0: tensor<2xf32>) -> tensor<2xf32>
// CHECK-NEXT: tfl.pseudo_qconst
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %w = "tfl.pseudo_qconst"() <{qtype = tensor<2x!quant.uniform<i8:f32, 0.5>>, value = dense<9> : tensor<2xi8>}>
      : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %0 = "tfl.while"(%x) ({
    ^bb0(%i: tensor<2xf32>):
      %1 = "tfl.pseudo_const"() <{value = dense<false> : tensor<i1>}> : () -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<2xf32>):
      %1 = "tfl.dequantize"(%w) : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
      %2 = tfl.add %i, %1 {fused_activation_function = "NONE"} : tensor<2xf32>
      "tfl.yield"(%2) : (tensor<2xf32>) -> ()
  }) {is_stateless = true} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----
// RUN: outline-loops, outline-loops
// A name that is taken gets an underscore. A constant that only loops use is not left behind, and what was outlined stays
// as it is.
// CHECK-LABEL: func.func @main
// CHECK-NOT: dense<1>
// CHECK: %[[TWO:.*]] = arith.constant dense<2>
// CHECK-NOT: arith.constant
// CHECK: "tfl.while"(%arg0)
// CHECK: func.call @main.while.0.cond_(
// CHECK: func.call @main.while.0.body(
// CHECK: return %{{.*}}, %[[TWO]]
// CHECK: func.func private @main.while.0.body(
// CHECK-DAG: arith.constant dense<1>
// CHECK-DAG: arith.constant dense<2>
// CHECK: return
// CHECK-NOT: func.func private @main.while.0
func.func private @main.while.0.cond()
func.func @main(%n: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %0 = "tfl.while"(%n) ({
    ^bb0(%i: tensor<i32>):
      %1 = "tfl.less"(%i, %one) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>):
      %1 = tfl.add %one, %two {fused_activation_function = "NONE"} : tensor<i32>
      %2 = tfl.add %1, %one {fused_activation_function = "NONE"} : tensor<i32>
      "tfl.yield"(%2) : (tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<i32>) -> tensor<i32>
  return %0, %two : tensor<i32>, tensor<i32>
}

// -----
// RUN: outline-loops
// What may be empty at first: its first size, or its rank, is not known. It may be the last variable, or the first.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.while"(%arg0, %arg1, %{{.*}}) {{.*}}
// CHECK: (tensor<?x3xf32>, tensor<i32>, tensor<2xi32>) -> (tensor<?x3xf32>, tensor<i32>, tensor<?xi32>)
// CHECK: "tfl.while"(%{{.*}}, %arg2, %{{.*}}) {{.*}}
// CHECK: (tensor<i32>, tensor<*xf32>, tensor<2xi32>) -> (tensor<i32>, tensor<*xf32>, tensor<?xi32>)
func.func @main(%rows: tensor<?x3xf32>, %n: tensor<i32>, %any: tensor<*xf32>) -> (tensor<?x3xf32>, tensor<*xf32>) {
  %0:2 = "tfl.while"(%rows, %n) ({
    ^bb0(%x: tensor<?x3xf32>, %i: tensor<i32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%x: tensor<?x3xf32>, %i: tensor<i32>):
      %1 = "tfl.concatenation"(%x, %x) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<?x3xf32>, tensor<?x3xf32>) -> tensor<?x3xf32>
      "tfl.yield"(%1, %i) : (tensor<?x3xf32>, tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<?x3xf32>, tensor<i32>) -> (tensor<?x3xf32>, tensor<i32>)
  %2:2 = "tfl.while"(%0#1, %any) ({
    ^bb0(%i: tensor<i32>, %x: tensor<*xf32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>, %x: tensor<*xf32>):
      %3 = tfl.add %i, %i {fused_activation_function = "NONE"} : tensor<i32>
      %1 = "tfl.concatenation"(%x, %x) {axis = 0 : i32, fused_activation_function = "NONE"} : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      "tfl.yield"(%3, %1) : (tensor<i32>, tensor<*xf32>) -> ()
  }) {is_stateless = true} : (tensor<i32>, tensor<*xf32>) -> (tensor<i32>, tensor<*xf32>)
  return %0#0, %2#1 : tensor<?x3xf32>, tensor<*xf32>
}

// -----
// RUN: outline-loops
// What a branch in a loop takes from outside of both goes through the loop, and constants come into it.
// CHECK-LABEL: func.func @main
// CHECK: "tfl.while"(%arg0, %arg1)
// CHECK: func.func private @main.while.0.body(%[[I:.*]]: tensor<i32>, %[[W:.*]]: tensor<i32>)
// CHECK: %[[TWO:.*]] = arith.constant dense<2>
// CHECK: "tfl.if"
// CHECK: %[[A:.*]] = tfl.add %[[I]], %[[W]]
// CHECK: tfl.mul %[[A]], %[[TWO]]
// CHECK: return %{{.*}}, %[[W]]
func.func @main(%n: tensor<i32>, %w: tensor<i32>) -> tensor<i32> {
  %two = arith.constant dense<2> : tensor<i32>
  %0 = "tfl.while"(%n) ({
    ^bb0(%i: tensor<i32>):
      %1 = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "tfl.yield"(%1) : (tensor<i1>) -> ()
  }, {
    ^bb0(%i: tensor<i32>):
      %c = "tfl.less"(%i, %i) : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %1 = "tfl.if"(%c) ({
        %2 = tfl.add %i, %w {fused_activation_function = "NONE"} : tensor<i32>
        %3 = tfl.mul %2, %two {fused_activation_function = "NONE"} : tensor<i32>
        "tfl.yield"(%3) : (tensor<i32>) -> ()
      }, {
        "tfl.yield"(%i) : (tensor<i32>) -> ()
      }) : (tensor<i1>) -> tensor<i32>
      "tfl.yield"(%1) : (tensor<i32>) -> ()
  }) {is_stateless = true} : (tensor<i32>) -> tensor<i32>
  return %0 : tensor<i32>
}
