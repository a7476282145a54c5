// RUN: emit-composite-ops
// In a function and in a branch; the decomposition stays. Other custom ops are others.
// CHECK-LABEL: func.func @main
// CHECK: %[[FIRST:.*]] = "vhlo.composite_v1"(%arg0)
// CHECK-SAME: #vhlo.string_v1<"count"> = #vhlo.integer_v1<3 : i64>
// CHECK-SAME: #vhlo.string_v1<"flag"> = #vhlo.bool_v1<true>
// CHECK-SAME: #vhlo.string_v1<"list"> = #vhlo.array_v1<[#vhlo.integer_v1<1 : i64>, #vhlo.integer_v1<2 : i64>]>
// CHECK-SAME: #vhlo.string_v1<"scale"> = #vhlo.float_v1<5.000000e-01 : !vhlo.f32_v1>
// CHECK-SAME: #vhlo.string_v1<"text"> = #vhlo.string_v1<"a\22\\b">
// CHECK-SAME: decomposition = #vhlo.string_v1<"body">, name = #vhlo.string_v1<"my.op">, version = #vhlo.integer_v1<1 : i32>
// CHECK: "tfl.if"
// CHECK: "vhlo.composite_v1"(%[[FIRST]]) <{composite_attributes = #vhlo.dict_v1<{}>, {{.*}}name = #vhlo.string_v1<"plain">
// CHECK: "tfl.custom"(%[[FIRST]]) <{custom_code = "Other"
// CHECK: return %[[FIRST]]
// CHECK-LABEL: func.func private @body
func.func @main(%x: tensor<2xf32>, %p: tensor<i1>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = "tfl.custom"(%x) {custom_code = "litefuse.composite", custom_option = #tfl<const_bytes : "0x">, name = "my.op", attributes = {count = 3 : i64, flag = true, list = [1 : i64, 2 : i64], scale = 0.5 : f32, text = "a\"\\b"}, decomposition = @body} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tfl.if"(%p) ({
    %2 = "tfl.custom"(%0) {custom_code = "litefuse.composite", custom_option = #tfl<const_bytes : "0x">, name = "plain", attributes = {}, decomposition = @body} : (tensor<2xf32>) -> tensor<2xf32>
    "tfl.yield"(%2) : (tensor<2xf32>) -> ()
  }, {
    %2 = "tfl.custom"(%0) {custom_code = "Other", custom_option = #tfl<const_bytes : "0x">} : (tensor<2xf32>) -> tensor<2xf32>
    "tfl.yield"(%2) : (tensor<2xf32>) -> ()
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
func.func private @body(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tfl.neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
