// RUN: emit-custom-ops{allow=ExtractImagePatches}
// CHECK: "tfl.custom"(%arg0) <{custom_code = "ExtractImagePatches", custom_option = #tfl<const_bytes : "0x54006B73697A657300040103030170616464696E67000453414D4500726174657300040101010173747269646573000401010101
func.func @main(%x: tensor<1x10x10x1xf32>) -> tensor<1x10x10x9xf32> {
  %0 = "tf.ExtractImagePatches"(%x) {T = f32, ksizes = [1, 3, 3, 1], padding = "SAME", rates = [1, 1, 1, 1], strides = [1, 1, 1, 1]} : (tensor<1x10x10x1xf32>) -> tensor<1x10x10x9xf32>
  return %0 : tensor<1x10x10x9xf32>
}

// -----
// RUN: emit-custom-ops
// Every op is listed, not the first.
// ERROR: LiteRT has no op for Erf, Roll
// ERROR: Erf(float32[?,2]) -> (float32[?,2])  at a/erf
// ERROR: Roll(float32[?,2], int32[], int32[]) -> (float32[?,2])
// ERROR: --allow-custom-ops
func.func @main(%x: tensor<?x2xf32>, %n: tensor<i32>) -> tensor<?x2xf32> {
  %0 = "tf.Erf"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32> loc("a/erf")
  %1 = "tf.Roll"(%0, %n, %n) : (tensor<?x2xf32>, tensor<i32>, tensor<i32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----
// RUN: emit-custom-ops{allow=Erf}
// ERROR: LiteRT has no op for Roll
func.func @main(%x: tensor<?x2xf32>, %n: tensor<i32>) -> tensor<?x2xf32> {
  %0 = "tf.Erf"(%x) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %1 = "tf.Roll"(%0, %n, %n) : (tensor<?x2xf32>, tensor<i32>, tensor<i32>) -> tensor<?x2xf32>
  return %1 : tensor<?x2xf32>
}

// -----
// RUN: emit-custom-ops
// A tokenizer is to be cut off, and the page on text is at an address that everyone has.
// ERROR: LiteRT has no op for TFText>RoundRobinTrim
// ERROR: Cut it off: convert the part of the model that takes token ids
// ERROR: https://litefuse.github.io/litefuse/guides/text/
func.func @main(%x: tensor<?xi32>, %n: tensor<i32>) -> tensor<?xi32> {
  %0 = "tf.TFText>RoundRobinTrim"(%x, %n) : (tensor<?xi32>, tensor<i32>) -> tensor<?xi32>
  return %0 : tensor<?xi32>
}
