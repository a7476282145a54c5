// RUN: set-input-shapes{entry=main inputs=x+y+z x=2x? batch=4}
// A shape for one input, and the batch for those whose first size is open; other functions keep theirs.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x?xf32>, %arg1: tensor<4x3xi32>, %arg2: tensor<5x3xf32>)
// CHECK-LABEL: func.func private @called(%arg0: tensor<?x?xf32>)
func.func @main(%x: tensor<?x?xf32>, %y: tensor<?x3xi32>, %z: tensor<5x3xf32>) -> tensor<?x?xf32> {
  %0 = "tf.PartitionedCall"(%x) {f = @called, config = "", config_proto = "", executor_type = ""} : (tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
func.func private @called(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  return %x : tensor<?x?xf32>
}

// -----

// RUN: set-input-shapes{entry=main inputs=x+s main:x=2x3 s=}
// Of unknown rank, and by the name of the signature; a scalar.
// CHECK-LABEL: func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<i32>)
func.func @main(%x: tensor<*xf32>, %s: tensor<*xi32>) -> tensor<*xf32> {
  %0 = "tf.Neg"(%x) : (tensor<*xf32>) -> tensor<*xf32>
  return %0 : tensor<*xf32>
}

// -----

// RUN: set-input-shapes{entry=main inputs=x batch=8}
// An argument that is returned as it is changes the function's results.
// CHECK-LABEL: func.func @main(%arg0: tensor<8xf32>) -> (tensor<8xf32>, tensor<?xf32>)
func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %0 = "tf.Neg"(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %x, %0 : tensor<?xf32>, tensor<?xf32>
}

// -----

// RUN: set-input-shapes{entry=main inputs=x x=2x4}
// ERROR: signature main: the shape [2,4] that was given for the input 'x' contradicts its declared shape [?,3]
func.func @main(%x: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}

// -----

// RUN: set-input-shapes{entry=main inputs=x+y image=2x4}
// ERROR: no input is called 'image', whose shape was given
// ERROR: The inputs are main: x, y.
func.func @main(%x: tensor<?x3xf32>, %y: tensor<?x3xf32>) -> tensor<?x3xf32> {
  return %x : tensor<?x3xf32>
}
