"""The least versions of ops, by dtypes, scales, ranks and options, and what a file's op codes say."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter

from litefuse.errors import LitefuseError
from litefuse.litert.export.op_codes import MIN_RUNTIME, correct_op_codes
from litefuse.litert.export.op_versions import least_version
from litefuse.litert.export.runtime_versions import Runtime, RuntimeLimit, first_runtime, least_runtime
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.schema_objects import add_metadata
from tests.litert.differences.edited import edited
from tests.litert.runtime.models import Graph, model

#: An operand or result: its type, its shape, and how many scales it has, along which axis.
Tensor = tuple[str, tuple[int, ...], int, int]


def tensor(dtype: str, shape: Sequence[int] = (1, 4, 4, 4), scales: int = 0, axis: int = 0) -> Tensor:
    return dtype, tuple(shape), scales, axis


F32, F16, I8, I16 = (tensor(dtype) for dtype in ("FLOAT32", "FLOAT16", "INT8", "INT16"))
Q8, Q16 = tensor("INT8", scales=1), tensor("INT16", scales=1)
I32, I64, BOOL, TEXT, U32 = (tensor(dtype) for dtype in ("INT32", "INT64", "BOOL", "STRING", "UINT32"))
X, Y = tensor("FLOAT32", (1, 4)), tensor("FLOAT32", (1, 8))
ROWS, ROW = tensor("INT8", (8, 4), 8), tensor("INT8", (8, 4), 1)
DEEP, OTHER_DEEP = tensor("FLOAT32", (1, 2, 3, 4, 5)), tensor("FLOAT32", (1, 1, 3, 4, 5))

SEQUENCES = [("UNIDIRECTIONAL", "RNN"), ("BIDIRECTIONAL", "RNN"), ("BIDIRECTIONAL", "LSTM")]

#: Ops with operands, results and options, and their versions, as in LiteRT's op_version_test.cc.
FORMS: list[tuple[int, str, list[Tensor | None], list[Tensor], Mapping[str, Any]]] = [
    (1, "FULLY_CONNECTED", [X, tensor("FLOAT32", (8, 4)), tensor("FLOAT32", (8,))], [Y], {}),
    (6, "FULLY_CONNECTED", [X, tensor("FLOAT32", (8, 4))], [Y], {}),
    (5, "FULLY_CONNECTED", [X, tensor("FLOAT32", (8, 4)), None], [Y], {"keepNumDims": True}),
    (12, "FULLY_CONNECTED", [X, ROWS, None], [Y], {"keepNumDims": True}),
    (12, "FULLY_CONNECTED", [X, tensor("INT4", (8, 4), 8), None], [Y], {}),
    (10, "FULLY_CONNECTED", [X, tensor("INT4", (8, 4), 1), None], [Y], {}),
    (3, "FULLY_CONNECTED", [X, ROW, None], [Y], {}),
    (9, "FULLY_CONNECTED", [X, ROW, None], [Y], {"asymmetricQuantizeInputs": True}),
    (4, "FULLY_CONNECTED", [Q8, ROWS, None], [Q8], {}),
    (7, "FULLY_CONNECTED", [Q16, ROWS, None], [Q16], {}),
    (7, "FULLY_CONNECTED", [Q16, ROW, None], [Q16], {"keepNumDims": True}),
    # Not as there: TensorFlow Lite 2.16 takes the first of the scales for all.
    (12, "FULLY_CONNECTED", [Q16, ROWS, None], [Q16], {"keepNumDims": True}),
    (11, "FULLY_CONNECTED", [Q16, ROWS, None], [Q16], {"quantizedBiasType": schema.TensorType.INT32}),
    (13, "FULLY_CONNECTED", [Q16, tensor("INT4", (8, 4), 8), None], [Q16], {}),
    (14, "FULLY_CONNECTED", [X, tensor("INT2", (8, 4), 8), None], [Y], {}),
    (1, "CONV_2D", [F32, tensor("FLOAT32", (8, 1, 1, 4)), None], [F32], {}),
    (6, "CONV_2D", [F32, tensor("FLOAT32", (8, 1, 1, 2)), None], [F32], {}),
    (6, "CONV_2D", [F32, tensor("INT8", (8, 1, 1, 2), 8), None], [F32], {}),
    (5, "CONV_2D", [F32, tensor("INT8", (8, 1, 1, 4), 8), None], [F32], {}),
    (2, "CONV_2D", [F32, tensor("INT8", (8, 1, 1, 4), 1), None], [F32], {}),
    (3, "CONV_2D", [Q8, tensor("INT8", (8, 1, 1, 4), 8), None], [Q8], {}),
    (7, "CONV_2D", [Q8, tensor("INT4", (8, 1, 1, 4), 8), None], [Q8], {}),
    (
        8,
        "CONV_2D",
        [F32, tensor("INT4", (8, 1, 1, 4), 8), None],
        [F32],
        {},
    ),  # not as there: 2.14 knows 7, and no such op
    (4, "CONV_2D", [Q16, tensor("INT8", (8, 1, 1, 4), 8), None], [Q16], {}),
    (8, "CONV_2D", [Q16, tensor("INT8", (8, 1, 1, 4), 8), None], [Q16], {"quantizedBiasType": 2}),
    (1, "DEPTHWISE_CONV_2D", [F32, F32, None], [F32], {"dilationWFactor": 1, "dilationHFactor": 1}),
    (2, "DEPTHWISE_CONV_2D", [F32, F32, None], [F32], {"dilationWFactor": 2, "dilationHFactor": 1}),
    (6, "DEPTHWISE_CONV_2D", [F32, tensor("INT8", (1, 4, 4, 4), 4, 3), None], [F32], {}),
    (4, "DEPTHWISE_CONV_2D", [F32, Q8, None], [F32], {}),
    (3, "DEPTHWISE_CONV_2D", [Q8, Q8, None], [Q8], {}),
    (5, "DEPTHWISE_CONV_2D", [Q16, Q8, None], [Q16], {}),
    (4, "EMBEDDING_LOOKUP", [I32, ROWS], [F32], {}),
    (4, "EMBEDDING_LOOKUP", [I32, tensor("INT4", (8, 4), 1)], [F32], {}),
    (1, "EMBEDDING_LOOKUP", [I32, ROW], [F32], {}),
    (1, "EMBEDDING_LOOKUP", [I32, F32], [F32], {}),
    (1, "ADD", [F32, F32], [F32], {}),
    (2, "ADD", [Q8, Q8], [Q8], {}),
    (3, "ADD", [Q16, Q16], [Q16], {"potScaleInt16": False}),
    (5, "ADD", [I16, I16], [I16], {}),
    (4, "ADD", [I64, I64], [I64], {}),
    (6, "ADD", [F16, F16], [F16], {}),
    (1, "MUL", [F32, F32], [F32], {}),
    (2, "MUL", [Q8, Q8], [tensor("INT8", scales=4)], {}),
    (3, "MUL", [Q8, Q8], [Q8], {}),  # scales of 1
    (4, "MUL", [Q16, Q16], [Q16], {}),
    (7, "MUL", [I16, I16], [I16], {}),
    (7, "MUL", [U32, U32], [U32], {}),
    (3, "SUB", [DEEP, OTHER_DEEP], [DEEP], {}),
    (1, "SUB", [DEEP, DEEP], [DEEP], {}),
    (5, "SUB", [Q16, Q16], [Q16], {"potScaleInt16": False}),
    (2, "DIV", [DEEP, OTHER_DEEP], [DEEP], {}),
    (3, "MAXIMUM", [DEEP, OTHER_DEEP], [DEEP], {}),
    (4, "MINIMUM", [Q16, Q16], [Q16], {}),
    (2, "DEQUANTIZE", [Q8], [F32], {}),
    (5, "DEQUANTIZE", [tensor("INT8", scales=4, axis=3)], [F32], {}),
    (3, "DEQUANTIZE", [F16], [F32], {}),
    (6, "DEQUANTIZE", [tensor("INT4", scales=1)], [F32], {}),
    (1, "QUANTIZE", [F32], [Q8], {}),
    (2, "QUANTIZE", [F32], [Q16], {}),
    (3, "QUANTIZE", [F32], [tensor("INT8", scales=4, axis=3)], {}),
    (5, "GATHER", [Q8, I32], [Q8], {"batchDims": 1}),
    (7, "GATHER", [tensor("INT4", scales=1), I32], [Q8], {}),
    (2, "GATHER", [Q8, I32], [Q8], {}),
    (3, "GATHER", [BOOL, I32], [BOOL], {}),
    (6, "STRIDED_SLICE", [F32, I32, I32, I32], [F32], {"newAxisMask": 1}),
    (4, "STRIDED_SLICE", [DEEP, I32, I32, I32], [DEEP], {}),
    (8, "STRIDED_SLICE", [F32, I32, I32, I32], [F32], {"offset": True}),
    (5, "SLICE", [DEEP, I32, I32], [DEEP], {}),
    (3, "SLICE", [TEXT, I32, I32], [TEXT], {}),
    (4, "TRANSPOSE", [DEEP, I32], [DEEP], {}),
    (9, "TRANSPOSE", [F16, I32], [F16], {}),
    (3, "RESIZE_BILINEAR", [Q8, I32], [Q8], {"halfPixelCenters": True}),
    (2, "RESIZE_BILINEAR", [Q8, I32], [Q8], {}),
    (3, "RESIZE_NEAREST_NEIGHBOR", [F32, I32], [F32], {"alignCorners": True}),
    (3, "TRANSPOSE_CONV", [I32, F32, F32, X], [F32], {}),
    (4, "TRANSPOSE_CONV", [I32, F32, F32, X], [F32], {"fusedActivationFunction": 1}),
    (1, "TRANSPOSE_CONV", [I32, F32, F32], [F32], {}),
    (5, "TRANSPOSE_CONV", [I32, I8, F32], [F32], {}),  # not as there: TensorFlow Lite 2.14 has no such op
    (4, "BATCH_MATMUL", [F32, Q8], [F32], {"asymmetricQuantizeInputs": True}),
    (2, "BATCH_MATMUL", [Q8, Q8], [Q8], {}),
    (5, "CAST", [F32], [F16], {}),
    (3, "CAST", [F32], [I8], {}),
    (1, "CAST", [F32], [I32], {}),
    (2, "BROADCAST_TO", [F32, I32], [F32], {}),
    (3, "BROADCAST_TO", [Q8, I32], [Q8], {}),
    (3, "SPLIT", [I32, I32], [I32], {}),
    (2, "SPLIT", [I32, Q8], [Q8], {}),
    (4, "SPACE_TO_BATCH_ND", [Q16, I32, I32], [Q16], {}),
    (3, "SPACE_TO_BATCH_ND", [tensor("FLOAT32", (1, 4, 4)), I32, I32], [F32], {}),
    (2, "WHERE", [F32], [I64], {}),
    (1, "WHERE", [BOOL], [I64], {}),
    (3, "UNPACK", [BOOL], [BOOL], {}),
    (5, "PAD", [BOOL, I32], [BOOL], {}),
    (2, "FILL", [I32, TEXT], [TEXT], {}),
    (3, "ABS", [Q16], [Q16], {}),
    (4, "ABS", [I16], [I16], {}),
    (2, "SELECT_V2", [BOOL, U32, U32], [U32], {}),
    (3, "SOFTMAX", [Q16], [Q16], {}),
    (3, "LOGISTIC", [Q16], [Q16], {}),
    (2, "TANH", [Q8], [Q8], {}),
    (2, "UNIDIRECTIONAL_SEQUENCE_LSTM", [F32, None, Q8], [F32], {}),
    (3, "UNIDIRECTIONAL_SEQUENCE_LSTM", [F32, None, Q8], [F32], {"asymmetricQuantizeInputs": True}),
    (1, "NEG", [F32], [F32], {}),
    (2, "FULLY_CONNECTED", [X, X, X], [Y], {"weightsFormat": 1}),
    (2, "FAKE_QUANT", [F32], [F32], {"narrowRange": True}),
    (2, "L2_NORMALIZATION", [F32], [Q8], {}),
    (2, "LSTM", [X] * 3, [Y], {"kernelType": 1}),
    (3, "LSTM", [X, X, ROW], [Y], {}),
    (4, "LSTM", [X, X, ROW], [Y], {"asymmetricQuantizeInputs": True}),
    (4, "UNIDIRECTIONAL_SEQUENCE_LSTM", [X] * 3, [Y], {"diagonalRecurrentTensors": True}),
    *(
        (3 if asymmetric else 2, name, [X, ROW], [Y], {"asymmetricQuantizeInputs": asymmetric})
        for name in ("RNN", *(f"{ways}_SEQUENCE_{kind}" for ways, kind in SEQUENCES))
        for asymmetric in (False, True)
    ),
    (2, "SVDF", [X, ROW], [Y], {}),
    (4, "SVDF", [X, ROW], [Y], {"asymmetricQuantizeInputs": True}),
    (4, "PAD", [DEEP, I32], [DEEP], {}),
    (3, "SELECT", [BOOL, DEEP, DEEP], [DEEP], {}),
    (6, "TRANSPOSE", [tensor("FLOAT32", (1,) * 6), I32], [F32], {}),
    (8, "TRANSPOSE", [tensor("FLOAT32", (1,) * 7), I32], [F32], {}),
    (2, "TRANSPOSE_CONV", [I32, Q8, Q8], [Q8], {}),
    (7, "DEPTHWISE_CONV_2D", [Q8, tensor("INT4"), None], [Q8], {}),
    (3, "TOPK_V2", [F32, I32], [F32, I16], {}),
]

#: What follows from the type of one operand: the version, the operand, its types, and the ops.
BY_TYPE = """
2 0 INT8 ABS ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_TO_SPACE_ND CONCATENATION DEPTH_TO_SPACE EQUAL EXP FLOOR_MOD GELU
2 0 INT8 GREATER GREATER_EQUAL LESS LESS_EQUAL LOG LOGISTIC LOG_SOFTMAX MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD
2 0 INT8 NOT_EQUAL PACK PAD PADV2 REDUCE_MAX REDUCE_MIN REDUCE_PROD RELU RELU6 RESIZE_NEAREST_NEIGHBOR RSQRT SLICE
2 0 INT8 SOFTMAX SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT_V SQRT SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TOPK_V2
2 0 INT8 TRANSPOSE UNPACK
2 0 INT16 DEPTH_TO_SPACE EXP FLOOR_MOD GELU GREATER LEAKY_RELU LESS_EQUAL LOG LOG_SOFTMAX REDUCE_PROD SPACE_TO_DEPTH
2 0 INT16 SQRT SQUARED_DIFFERENCE STRIDED_SLICE SUM
2 0 UINT8 ABS GELU RELU UNPACK
2 0 STRING GATHER_ND SQUEEZE TILE
2 0 FLOAT16 COS SIN
2 0 BOOL REVERSE_V2
2 0 UINT32 CAST
2 0 INT32 SIGN
2 0 INT64 RANGE
2 0 FLOAT32 FLOOR_DIV
2 1 INT8 SELECT
2 1 BOOL FILL
2 2 INT64 DYNAMIC_UPDATE_SLICE SPARSE_TO_DENSE
3 0 INT16 AVERAGE_POOL_2D BATCH_MATMUL BROADCAST_TO CONCATENATION DEQUANTIZE FLOOR_DIV GATHER_ND GREATER_EQUAL LESS
3 0 INT16 LOGISTIC MAX_POOL_2D MEAN MIRROR_PAD PACK PAD PADV2 REDUCE_MAX REDUCE_MIN RELU RELU6 RSQRT TANH TILE TOPK_V2
3 0 INT8 FLOOR_DIV REVERSE_V2 SVDF TILE
3 0 BOOL ARG_MAX ARG_MIN STRIDED_SLICE TRANSPOSE
3 0 STRING EQUAL NOT_EQUAL
3 0 FLOAT16 DYNAMIC_UPDATE_SLICE GELU
3 0 FLOAT8_E4M3FN,FLOAT8_E5M2 SPLIT_V
3 1 INT8,INT16 FILL
3 1 INT16 TOPK_V2
3 2 INT8,UINT8 SPARSE_TO_DENSE
4 0 INT16 BATCH_TO_SPACE_ND DYNAMIC_UPDATE_SLICE GATHER MAXIMUM NOT_EQUAL RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR SLICE
4 0 INT16 UNPACK
4 0 UINT32 CONCATENATION PACK
4 0 UINT16 CAST
4 0 INT64 SUB
4 0 INT4 QUANTIZE
4 0 FLOAT16 SOFTMAX
4 0 FLOAT8_E4M3FN,FLOAT8_E5M2 BROADCAST_TO REVERSE_V2
4 1 INT16 GATHER_ND SPLIT
4 1 UINT32 SELECT
4 1 FLOAT16 FILL
5 0 INT32 ABS
5 0 INT16 EQUAL TRANSPOSE
5 0 INT4 CONCATENATION DYNAMIC_UPDATE_SLICE
5 0 BOOL GATHER_ND PADV2
5 0 STRING STRIDED_SLICE
5 0 FLOAT16,FLOAT64 CAST
5 0 FLOAT16,BFLOAT16 UNPACK
5 0 INT64 MUL
5 0 UINT4 QUANTIZE
5 0 FLOAT8_E4M3FN,FLOAT8_E5M2 PACK
5 1 FLOAT8_E4M3FN,FLOAT8_E5M2 FILL SPLIT
5 1 INT2 EMBEDDING_LOOKUP
6 0 BFLOAT16 DYNAMIC_UPDATE_SLICE
6 0 FLOAT16 CONCATENATION
6 0 INT4 CAST
6 0 UINT32 SLICE
6 0 COMPLEX64 MUL
6 0 FLOAT8_E4M3FN,FLOAT8_E5M2 GATHER_ND PAD PADV2 UNPACK
6 1 INT16 GATHER
7 0 BFLOAT16 CAST
7 0 UINT32 STRIDED_SLICE
7 0 INT4 SLICE TRANSPOSE
7 0 INT2 DEQUANTIZE
7 0 FLOAT8_E4M3FN,FLOAT8_E5M2 CONCATENATION
8 0 INT2,UINT4 CAST
8 0 UINT4 DEQUANTIZE
8 0 FLOAT16 MUL SLICE
8 0 BFLOAT16 TRANSPOSE
8 0 FLOAT8_E4M3FN,FLOAT8_E5M2 GATHER
9 0 FLOAT8_E4M3FN,FLOAT8_E5M2 CAST DEQUANTIZE
"""


def one_op(
    name: str, operands: Sequence[Tensor | None], results: Sequence[Tensor], options: Mapping[str, Any]
) -> bytes:
    """A model of one op, which need not be one that runs."""
    graph = Graph()

    def add(value: Tensor | None) -> int:
        if value is None:
            return -1
        dtype, shape, scales, axis = value
        index = graph.tensor(f"t{len(graph.tensors)}", shape, dtype)
        if scales:
            made = graph.tensors[index][0]
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = [1.0] * scales, [0] * scales
            made.quantization.quantizedDimension = axis
        return index

    graph.builtin(name, [*map(add, operands)], [*map(add, results)], **options)
    return model(graph)


@pytest.mark.parametrize(
    ("version", "name", "operands", "results", "options"), FORMS, ids=lambda value: str(value)[:20]
)
def test_versions(
    version: int, name: str, operands: list[Tensor | None], results: list[Tensor], options: Mapping[str, Any]
) -> None:
    content = one_op(name, operands, results, options)
    if name == "MUL" and results[0][2] == 4:  # scales whose product is below that of the result

        def rescale(loaded: Any) -> None:
            loaded.subgraphs[0].tensors[-1].quantization.scale = [4.0]

        content = edited(content, rescale)
    (graph,) = Model(content).graphs
    (op,) = graph.ops
    assert least_version(graph, op) == version


def test_versions_by_the_type_of_an_operand() -> None:
    """With floats elsewhere; the runtime has each of the versions."""
    for line in BY_TYPE.split("\n")[1:-1]:
        version, position, types, *names = line.split(" ")
        for name, dtype in itertools.product(names, types.split(",")):
            operands = [tensor(dtype) if place == int(position) else F32 for place in range(3)]
            (graph,) = Model(one_op(name, operands, [F32], {})).graphs
            assert least_version(graph, graph.ops[0]) == int(version), (name, dtype)
            assert is_loaded(name, int(version)), (name, version)


def codes_of(content: bytes) -> list[tuple[int, int, int]]:
    """The op, the byte for older readers and the version of each op code."""
    loaded = schema.Model.GetRootAs(content, 0)
    codes = [loaded.OperatorCodes(index) for index in range(loaded.OperatorCodesLength())]
    return [(code.BuiltinCode(), code.DeprecatedBuiltinCode(), code.Version()) for code in codes]


def corrected(content: bytes, folder: Path) -> bytes:
    path = folder / "model.tflite"
    path.write_bytes(content)
    correct_op_codes(path)
    return path.read_bytes()


@pytest.mark.parametrize("version", [1, 5, 12, 14])
@pytest.mark.parametrize("byte", [0, 9])
def test_op_codes_are_corrected_in_place_or_beside(tmp_path: Path, version: int, byte: int) -> None:
    """Fields with the default value are absent, and the op code is written anew then."""

    def change(loaded: Any) -> None:
        loaded.operatorCodes[0].version, loaded.operatorCodes[0].deprecatedBuiltinCode = version, byte

    before = edited(one_op("FULLY_CONNECTED", [X, ROWS, None], [Y], {}), change)
    after = corrected(before, tmp_path)
    assert codes_of(after) == [(9, 9, 12)]
    if version != 1 and byte:
        assert len(after) == len(before)
    assert corrected(after, tmp_path) == after


def test_ops_beyond_a_byte_and_custom_ops(tmp_path: Path) -> None:
    graph = Graph()
    x, hidden, sum_ = graph.input("x", (1, 4)), graph.tensor("h", (1, 4)), graph.tensor("s", (1, 4))
    graph.builtin("GELU", [x], [hidden])
    graph.custom("Größe", [hidden], [sum_])
    graph.builtin("BROADCAST_TO", [sum_, x], [graph.output("y", (1, 4))])

    def change(loaded: Any) -> None:
        loaded.operatorCodes[0].deprecatedBuiltinCode = 0

    before = edited(model(graph), change)
    after = corrected(before, tmp_path)
    assert codes_of(after) == [(150, 127, 1), (32, 32, 1), (130, 127, 2)]
    codes = [schema.Model.GetRootAs(after, 0).OperatorCodes(index) for index in range(3)]
    assert [code.CustomCode() for code in codes if code is not None] == [None, "Größe".encode(), None]
    assert len(after) <= len(before) + 3 + 2 * 28  # two op codes, aligned
    assert [op.name for op in Model(after).graphs[0].ops] == ["GELU", "Größe", "BROADCAST_TO"]


@pytest.mark.parametrize(("size", "recorded"), [(6, bytes(6)), (7, b"2.17.0\0"), (16, b"2.17.0".ljust(16, b"\0"))])
def test_the_least_runtime_is_recorded_where_there_is_room(tmp_path: Path, size: int, recorded: bytes) -> None:
    def change(loaded: Any) -> None:
        for name in ("other", MIN_RUNTIME, "another"):
            add_metadata(loaded, name, np.zeros(size, np.uint8))

    after: Any = schema.ModelT.InitFromPackedBuf(
        corrected(edited(one_op("FULLY_CONNECTED", [X, ROWS, None], [Y], {}), change), tmp_path), 0
    )
    assert [bytes(after.buffers[entry.buffer].data) for entry in after.metadata] == [bytes(size), recorded, bytes(size)]


def test_a_code_has_the_version_that_all_its_ops_take(tmp_path: Path) -> None:
    graph = Graph()
    x = graph.input("x", (1, 8, 8, 4))
    for channels in (4, 2):  # the second one is in groups
        kernel = graph.tensor(f"w{channels}", (4, 1, 1, channels), value=np.ones((4, 1, 1, channels)))
        graph.builtin("CONV_2D", [x, kernel, -1], [graph.output(f"y{channels}", (1, 8, 8, 4))], strideW=1, strideH=1)
    assert [version for _, _, version in codes_of(corrected(model(graph), tmp_path))] == [6]


def test_the_table_is_the_runtime_s() -> None:
    """The runtime has each version in the table, and of these ops no newer one."""
    newest = {name: max(version for version in range(1, 20) if is_loaded(name, version)) for name in ("ADD", "GATHER")}
    assert newest == {"ADD": 6, "GATHER": 8}
    for version, name, *_ in FORMS:
        assert is_loaded(name, version), (name, version)
        assert first_runtime(name, version) != Runtime((1, 5), (1, 0)) or version == 1


def is_loaded(name: str, version: int) -> bool:
    """Whether the runtime has a version of an op: it looks before it prepares anything."""
    graph = Graph()
    x = graph.input("x", (1,))
    graph.outputs.append(x)

    def change(loaded: Any) -> None:
        code = schema.OperatorCodeT()
        code.builtinCode, code.version = getattr(schema.BuiltinOperator, name), version
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        loaded.operatorCodes = [code]

    try:
        Interpreter(model_content=edited(model(graph), change))
    except (RuntimeError, ValueError):
        return False
    return True


@pytest.mark.parametrize(
    ("codes", "text", "recorded"),
    [
        ([("CONV_2D", 1)], "LiteRT 1.0 or newer; TensorFlow Lite 1.5 or newer", "1.5.0"),
        ([("CONV_2D", 6), ("ADD", 1)], "LiteRT 1.0 or newer; TensorFlow Lite 2.9 or newer", "2.9.0"),
        ([("FULLY_CONNECTED", 12)], "LiteRT 1.0 or newer; TensorFlow Lite 2.17 or newer", "2.17.0"),
        ([("TRANSPOSE", 7)], "LiteRT 1.2 or newer; TensorFlow Lite 2.15 or newer", "2.15.0"),
        ([("UNIDIRECTIONAL_SEQUENCE_LSTM", 1)], "LiteRT 1.0 or newer; TensorFlow Lite 1.13.1 or newer", "1.13.1"),
        ([("ADD", 6)], "LiteRT 2.2 or newer", "2.23.0"),
        ([("QUANTIZE", 2)], "LiteRT 1.0 or newer; TensorFlow Lite 1.15 or newer", "1.15.0"),
        ([("QUANTIZE", 2, ("INT8", "INT16")), ("ADD", 1)], "LiteRT 2.1.3 or newer", "2.22.0"),
        ([("GELU", 2, ("INT8", "INT8"))], "LiteRT 1.0 or newer; TensorFlow Lite 2.9 or newer", "2.9.0"),
        ([("GELU", 2, ("INT16", "INT16"))], "LiteRT 1.3 or newer; TensorFlow Lite 2.21 or newer", "2.21.0"),
        ([("OF_LATER_TIMES", 3)], "LiteRT 1.0 or newer; TensorFlow Lite 1.5 or newer", "1.5.0"),
    ],
)
def test_least_runtimes(codes: list[tuple[Any, ...]], text: str, recorded: str) -> None:
    runtime = least_runtime((code[0], code[1], code[2] if code[2:] else ("", "")) for code in codes)
    assert (str(runtime), runtime.recorded) == (text, recorded)


@pytest.mark.parametrize(
    ("limit", "name", "version", "has"),
    [
        ("2.17", "FULLY_CONNECTED", 12, True),
        ("2.16.2", "FULLY_CONNECTED", 12, False),
        ("tflite:2.17.0", "FULLY_CONNECTED", 12, True),
        ("litert:1", "FULLY_CONNECTED", 12, True),
        ("LiteRT:1.1.2", "CAST", 7, True),
        ("litert:1.0.1", "CAST", 7, False),
        ("1.13.1", "UNIDIRECTIONAL_SEQUENCE_LSTM", 1, True),
        ("1.13", "UNIDIRECTIONAL_SEQUENCE_LSTM", 1, False),
    ],
)
def test_limits(limit: str, name: str, version: int, has: bool) -> None:
    release = RuntimeLimit.of(limit)
    assert release is not None
    assert release.has(first_runtime(name, version)) is has


def test_names_of_limits() -> None:
    assert RuntimeLimit.of(None) is None
    assert [str(RuntimeLimit.of(text)) for text in ("2.14", " litert:1.2", "tflite:2.14.1")] == [
        "TensorFlow Lite 2.14",
        "LiteRT 1.2",
        "TensorFlow Lite 2.14.1",
    ]
    with pytest.raises(LitefuseError, match=r"'2\.x' names no runtime"):
        RuntimeLimit.of("2.x")


@pytest.mark.parametrize(
    ("name", "version", "tflite", "litert"),
    [
        ("DYNAMIC_UPDATE_SLICE", 2, (2, 17), (1, 0)),
        ("DYNAMIC_UPDATE_SLICE", 3, (2, 19), (1, 1)),
        ("DYNAMIC_UPDATE_SLICE", 4, (2, 20), (1, 3)),
        ("DYNAMIC_UPDATE_SLICE", 5, (2, 21), (2, 1, 2)),
        ("DYNAMIC_UPDATE_SLICE", 6, (2, 22), (2, 2)),
        ("DEQUANTIZE", 7, (2, 21), (2, 1)),
        ("ADD", 6, (2, 23), (2, 2)),
        ("CAST", 7, (2, 17), (1, 1)),
        ("CONCATENATION", 5, (2, 21), (2, 1, 2)),
        ("EMBEDDING_LOOKUP", 5, (2, 21), (2, 1, 2)),
        ("PAD", 5, (2, 20), (2, 0)),
        ("PADV2", 5, (2, 20), (2, 0)),
        ("QUANTIZE", 5, (2, 21), (2, 2)),
        ("QUANTIZE", 6, (2, 21), (2, 2)),
        ("SQRT", 2, (2, 21), (2, 0)),
        ("STABLEHLO_CASE", 1, (2, 17), (1, 1)),
        ("TRANSPOSE", 7, (2, 15), (1, 2)),
    ],
)
def test_first_runtimes(name: str, version: int, tflite: tuple[int, ...], litert: tuple[int, ...]) -> None:
    assert first_runtime(name, version) == Runtime(tflite, litert)
