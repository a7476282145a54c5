from __future__ import annotations

import pytest

from litefuse.litert.inspection.layer_names import layer_of


@pytest.mark.parametrize(
    ("name", "layer"),
    [
        # Keras 3, as litefuse and the stock converter name them
        ("functional_1/stem_1/c1_1/convolution", "functional_1/stem_1/c1_1"),
        ("functional_1/Conv_1_1/convolution", "functional_1/Conv_1_1"),
        ("functional_1/global_average_pooling2d_1/Mean", "functional_1/global_average_pooling2d_1"),
        ("functional_1/add_1/Add", "functional_1/add_1"),
        ("functional_1/Add", "functional_1"),
        ("functional_1/dense_1/Tensordot/MatMul", "functional_1/dense_1"),
        ("functional_1/dense_1/Tensordot1", "functional_1/dense_1"),
        ("functional_1/mha_1/einsum_1/Einsum2", "functional_1/mha_1"),
        ("functional_1/layer_normalization_1/moments/SquaredDifference", "functional_1/layer_normalization_1"),
        ("functional_1/layer_normalization_1/add/y", "functional_1/layer_normalization_1"),
        ("functional_1/embedding_1/GatherV2/ReadVariableOp", "functional_1/embedding_1"),
        ("functional_1/scale_1/ReadVariableOp", "functional_1/scale_1"),
        ("functional_1/lstm_1/strided_slice_3/stack_1", "functional_1/lstm_1"),
        ("functional_1/lstm_1/Const", "functional_1/lstm_1"),
        ("functional_1/repeat_vector_1/Repeat/ExpandDims/dim", "functional_1/repeat_vector_1"),
        ("functional_1/gru_1/while/gru_cell_1/MatMul_13", "functional_1/gru_1/gru_cell_1"),
        ("functional_1/gru_1/while/TensorArrayV2Write/TensorListSetItem", "functional_1/gru_1"),
        ("functional_1/dense_1/Gelu/mul_2;functional_1/dense_1/Gelu/mul/x", "functional_1/dense_1"),
        ("functional_1/separable_conv2d_1/separable_conv2d/depthwise2", "functional_1/separable_conv2d_1"),
        ("sequential/dropout/dropout/Mul", "sequential/dropout"),
        ("sequential/dropout/Mul", "sequential/dropout"),
        ("functional_1/conv2d_transpose_1/conv_transpose/input_sizes3", "functional_1/conv2d_transpose_1"),
        # the convolution among fused nodes, in whichever place
        ("m/relu/Relu;m/bn/batchnorm/mul_1;m/conv/convolution;m/bn/batchnorm/Rsqrt1", "m/conv"),
        ("m/bn/batchnorm/mul_1;m/dw/depthwise;m/other/batchnorm/Rsqrt", "m/dw"),
        ("m/bn/batchnorm/mul_1;m/relu/Relu", "m/bn"),
        # Keras 2, functions, results
        ("sequential/dense/MatMul;sequential/dense/BiasAdd", "sequential/dense"),
        ("StatefulPartitionedCall/sequential/dense/BiasAdd", "sequential/dense"),
        ("StatefulPartitionedCall_1:0", ""),
        ("outer/inner/MatMul:1", "outer/inner"),
        ("while/Less/y", ""),
        # PyTorch, whose names end with the module
        ("Net/torch.nn.modules.conv.Conv2d_conv1;", "Net/torch.nn.modules.conv.Conv2d_conv1"),
        # composites, whose names may have dots as well
        ("functional_1/rms_norm_2/RmsNorm1", "functional_1/rms_norm_2"),
        ("functional_1/gate_1/odml.rms_norm", "functional_1/gate_1"),
        # names that tell nothing
        ("arith.constant3", ""),
        ("", ""),
        (";;/", ""),
        ("/", ""),
        ("größe/Add", "größe"),
    ],
)
def test_layers(name: str, layer: str) -> None:
    assert layer_of(name) == layer
