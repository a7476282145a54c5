# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Builtin ops get the types that the runtime's kernels give them, and compute what numpy does."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert import schema_py_generated as schema
from scripts.builders_page import made

from litefuse.conversion.verify.standalone import standalone_model
from litefuse.errors import FusionError
from litefuse.fusions.builder import Builder
from litefuse.fusions.builtin_ops import UNAVAILABLE
from litefuse.fusions.builtins import BUILTINS
from litefuse.ir.call_graph import update_function_type
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.ops.rules import RULES
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.model_tables import names_of
from tests.every import every
from tests.fusions import builtin_cases

Build: TypeAlias = Callable[[Any, Any], Any]
Array: TypeAlias = "npt.NDArray[Any]"

SHAPE = (None, 4, 6, 4)
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.normal(0, 1, (4, 5)).astype(np.float32)
FILTERS = RANDOM.normal(0, 1, (3, 2, 2, 4)).astype(np.float32)
DEPTHWISE = RANDOM.normal(0, 1, (1, 2, 2, 8)).astype(np.float32)
BIAS = RANDOM.normal(0, 1, 4).astype(np.float32)


def run(build: Build, shape: tuple[int | None, ...], *xs: Array) -> tuple[list[TensorType], list[list[Array]]]:
    """The declared types of the ops' results, and what one interpreter computes of each x."""
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            kind = ranked_tensor_type(TensorType(xs[0].dtype.name, shape))
            function = func.FuncOp("main", ir.FunctionType.get([kind], []))
        with ir.InsertionPoint(function.add_entry_block()):
            built = build(Builder(), Tensor(function.arguments[0]))
            results: list[ir.Value] = built if isinstance(built, list) else [built]
            func.ReturnOp(results)
        update_function_type(function)
        module.operation.verify()
        declared = [tensor_type_of(value) for value in results]
        content = standalone_model(module, function).content
    runner = Interpreter(model_content=content).get_signature_runner()
    outputs = [runner(x0=x) for x in xs]
    return declared, [[np.array(output[f"y{index}"]) for index in range(len(declared))] for output in outputs]


def gelu(x: Array) -> Array:
    from math import erf

    return 0.5 * x * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def softmax(x: Array) -> Array:
    y = np.exp(x - x.max(-1, keepdims=True))
    return y / y.sum(-1, keepdims=True)


UNARY: dict[str, Callable[[Array], Array]] = {
    "ABS": np.abs,
    "CEIL": np.ceil,
    "COS": np.cos,
    "ELU": lambda x: np.where(x > 0, x, np.expm1(x)),
    "EXP": np.exp,
    "FLOOR": np.floor,
    "GELU": gelu,
    "HARD_SWISH": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "L2_NORMALIZATION": lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True)),
    "LEAKY_RELU": lambda x: np.where(x > 0, x, 0.2 * x),
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)),
    "LOG_SOFTMAX": lambda x: np.log(softmax(x)),
    "NEG": np.negative,
    "RELU": lambda x: np.maximum(x, 0),
    "RELU6": lambda x: np.clip(x, 0, 6),
    "RELU_0_TO_1": lambda x: np.clip(x, 0, 1),
    "RELU_N1_TO_1": lambda x: np.clip(x, -1, 1),
    "ROUND": np.round,
    "SIGN": np.sign,
    "SIN": np.sin,
    "SOFTMAX": softmax,
    "SQUARE": np.square,
    "TANH": np.tanh,
    "ZEROS_LIKE": np.zeros_like,
}

BINARY: dict[str, Callable[[Array, Array], Array]] = {
    "ADD": np.add,
    "DIV": np.divide,
    "EQUAL": np.equal,
    "FLOOR_DIV": np.floor_divide,
    "GREATER": np.greater,
    "GREATER_EQUAL": np.greater_equal,
    "LESS": np.less,
    "LESS_EQUAL": np.less_equal,
    "MAXIMUM": np.maximum,
    "MINIMUM": np.minimum,
    "MUL": np.multiply,
    "NOT_EQUAL": np.not_equal,
    "SQUARED_DIFFERENCE": lambda a, b: (a - b) ** 2,
    "SUB": np.subtract,
}

Numpy: TypeAlias = Callable[[Array], Any]


def sliding(x: Array, filters: Array) -> Array:
    """VALID convolution of windows of two rows and columns, ``filters`` ``[m, 2, 2, n]``."""
    views = np.lib.stride_tricks.sliding_window_view(x, (2, 2), axis=(1, 2))
    return np.einsum("bhwnij,mijn->bhwm", views, filters)


OTHERS: dict[str, tuple[Build, Numpy]] = {
    "ARG_MAX": (lambda b, x: b.builtin("ARG_MAX", x, 1), lambda x: x.argmax(1).astype(np.int32)),
    "ARG_MIN": (
        lambda b, x: b.builtin("ARG_MIN", x, np.array(-1, np.int32), output_type="int64"),
        lambda x: x.argmin(-1),
    ),
    "ATAN2": (lambda b, x: b.builtin("ATAN2", x, b.builtin("NEG", x)[0]), lambda x: np.arctan2(x, -x)),
    "AVERAGE_POOL_2D": (
        lambda b, x: b.builtin(
            "AVERAGE_POOL_2D", x, filter_height=2, filter_width=2, stride_h=2, stride_w=2, padding="VALID"
        ),
        lambda x: x.reshape(-1, 2, 2, 3, 2, 4).mean((2, 4)),
    ),
    "BATCH_MATMUL": (lambda b, x: b.builtin("BATCH_MATMUL", x, x, adj_y=True), lambda x: x @ x.swapaxes(-1, -2)),
    "BROADCAST_TO": (
        lambda b, x: b.builtin("BROADCAST_TO", b.constant(BIAS), [2, 3, 4]),
        lambda _: np.broadcast_to(BIAS, (2, 3, 4)),
    ),
    "CAST": (lambda b, x: b.builtin("CAST", x, to="int32"), lambda x: x.astype(np.int32)),
    "CONCATENATION": (lambda b, x: b.builtin("CONCATENATION", x, x, axis=-1), lambda x: np.concatenate([x, x], -1)),
    "CONV_2D": (
        lambda b, x: b.builtin("CONV_2D", x, FILTERS, BIAS[:3], padding="VALID", fused_activation_function="RELU"),
        lambda x: np.maximum(sliding(x, FILTERS) + BIAS[:3], 0),
    ),
    "CUMSUM": (lambda b, x: b.builtin("CUMSUM", x, np.array(1, np.int32)), lambda x: x.cumsum(1)),
    "DEPTHWISE_CONV_2D": (
        lambda b, x: b.builtin(
            "DEPTHWISE_CONV_2D", x, DEPTHWISE, np.zeros(8, np.float32), padding="VALID", depth_multiplier=2
        ),
        lambda x: np.concatenate(
            [sliding(x[..., [n // 2]], DEPTHWISE[..., [n]].transpose(3, 1, 2, 0)) for n in range(8)], -1
        ),
    ),
    "DEPTH_TO_SPACE": (
        lambda b, x: b.builtin("DEPTH_TO_SPACE", x, block_size=2),
        lambda x: x.reshape(-1, 4, 6, 2, 2, 1).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 8, 12, 1),
    ),
    "DYNAMIC_UPDATE_SLICE": (
        lambda b, x: b.builtin("DYNAMIC_UPDATE_SLICE", x, np.ones((1, 4, 1, 4), np.float32), [0, 0, 2, 0]),
        lambda x: np.concatenate([x[:, :, :2], np.ones_like(x[:, :, :1]), x[:, :, 3:]], 2) if len(x) == 1 else None,
    ),
    "EXPAND_DIMS": (lambda b, x: b.builtin("EXPAND_DIMS", x, np.array(1, np.int32)), lambda x: x[:, None]),
    "FILL": (
        lambda b, x: b.builtin("FILL", b.builtin("SHAPE", x)[0], np.array(2, np.float32)),
        lambda x: np.full(x.shape, 2, np.float32),
    ),
    "FLOOR_MOD": (lambda b, x: b.builtin("FLOOR_MOD", x, 0.75), lambda x: np.mod(x, 0.75)),
    "FULLY_CONNECTED": (
        lambda b, x: b.builtin("FULLY_CONNECTED", x, MATRIX.T.copy(), b.no_value(), keep_num_dims=True),
        lambda x: x @ MATRIX,
    ),
    "GATHER": (lambda b, x: b.builtin("GATHER", x, [2, 0], axis=2), lambda x: x[:, :, [2, 0]]),
    "GATHER_ND": (
        lambda b, x: b.builtin("GATHER_ND", x, np.array([[0, 1], [0, 3]], np.int32)),
        lambda x: x[[0, 0], [1, 3]],
    ),
    "LOG": (lambda b, x: b.builtin("LOG", b.builtin("EXP", x)[0]), lambda x: x),
    "LOGICAL_AND": (
        lambda b, x: b.builtin("LOGICAL_AND", b.builtin("GREATER", x, 0)[0], b.builtin("LESS", x, 1)[0]),
        lambda x: (x > 0) & (x < 1),
    ),
    "LOGICAL_NOT": (lambda b, x: b.builtin("LOGICAL_NOT", b.builtin("GREATER", x, 0)[0]), lambda x: x <= 0),
    "LOGICAL_OR": (
        lambda b, x: b.builtin("LOGICAL_OR", b.builtin("GREATER", x, 1)[0], b.builtin("LESS", x, 0)[0]),
        lambda x: (x > 1) | (x < 0),
    ),
    "MAX_POOL_2D": (
        lambda b, x: b.builtin("MAX_POOL_2D", x, filter_height=2, filter_width=3, stride_h=2, stride_w=3),
        lambda x: x.reshape(-1, 2, 2, 2, 3, 4).max((2, 4)),
    ),
    "MEAN": (lambda b, x: b.builtin("MEAN", x, [1, -1], keep_dims=True), lambda x: x.mean((1, 3), keepdims=True)),
    "MIRROR_PAD": (
        lambda b, x: b.builtin("MIRROR_PAD", x, np.array([[0, 0], [1, 2], [0, 0], [0, 0]], np.int32)),
        lambda x: np.pad(x, ((0, 0), (1, 2), (0, 0), (0, 0)), "reflect"),
    ),
    "ONE_HOT": (
        lambda b, x: b.builtin(
            "ONE_HOT",
            b.builtin("ARG_MAX", x, np.array(3, np.int32))[0],
            np.array(4, np.int32),
            np.float32(1),
            np.float32(0),
        ),
        lambda x: np.eye(4, dtype=np.float32)[x.argmax(3)],
    ),
    "PACK": (lambda b, x: b.builtin("PACK", x, x, axis=-1), lambda x: np.stack([x, x], -1)),
    "PAD": (
        lambda b, x: b.builtin("PAD", x, np.array([[0, 0], [1, 2], [0, 0], [3, 0]], np.int32)),
        lambda x: np.pad(x, ((0, 0), (1, 2), (0, 0), (3, 0))),
    ),
    "PADV2": (
        lambda b, x: b.builtin("PADV2", x, np.array([[0, 0], [1, 2], [0, 0], [3, 0]], np.int32), np.float32(7)),
        lambda x: np.pad(x, ((0, 0), (1, 2), (0, 0), (3, 0)), constant_values=7),
    ),
    "POW": (lambda b, x: b.builtin("POW", b.builtin("ABS", x)[0], 1.5), lambda x: np.abs(x) ** 1.5),
    "PRELU": (
        lambda b, x: b.builtin("PRELU", x, BIAS.reshape(1, 1, 4)),
        lambda x: np.where(x > 0, x, x * BIAS),
    ),
    "RANK": (lambda b, x: b.builtin("RANK", x), lambda x: np.int32(x.ndim)),
    "REDUCE_ALL": (
        lambda b, x: b.builtin("REDUCE_ALL", b.builtin("GREATER", x, -1)[0], [1, 2]),
        lambda x: (x > -1).all((1, 2)),
    ),
    "REDUCE_ANY": (
        lambda b, x: b.builtin("REDUCE_ANY", b.builtin("GREATER", x, 1)[0], [-1]),
        lambda x: (x > 1).any(-1),
    ),
    "REDUCE_MAX": (lambda b, x: b.builtin("REDUCE_MAX", x, [0]), lambda x: x.max(0)),
    "REDUCE_MIN": (lambda b, x: b.builtin("REDUCE_MIN", x, [1, 2]), lambda x: x.min((1, 2))),
    "REDUCE_PROD": (lambda b, x: b.builtin("REDUCE_PROD", x, [3], keep_dims=True), lambda x: x.prod(3, keepdims=True)),
    "RESHAPE": (lambda b, x: b.builtin("RESHAPE", x, [-1, 12, 8]), lambda x: x.reshape(-1, 12, 8)),
    "RESIZE_BILINEAR": (
        lambda b, x: b.builtin("RESIZE_BILINEAR", x, [2, 3]),
        lambda x: x[:, ::2, ::2],
    ),
    "RESIZE_NEAREST_NEIGHBOR": (
        lambda b, x: b.builtin("RESIZE_NEAREST_NEIGHBOR", x, [8, 12]),
        lambda x: x.repeat(2, 1).repeat(2, 2),
    ),
    "REVERSE_V2": (lambda b, x: b.builtin("REVERSE_V2", x, [1]), lambda x: x[:, ::-1]),
    "RIGHT_SHIFT": (
        lambda b, x: b.builtin(
            "RIGHT_SHIFT", b.builtin("CAST", b.builtin("MUL", x, 9)[0], to="int32")[0], np.array(1, np.int32)
        ),
        lambda x: (x * 9).astype(np.int32) >> 1,
    ),
    "BITWISE_XOR": (
        lambda b, x: b.builtin("BITWISE_XOR", b.builtin("CAST", x, to="int32")[0], np.array(5, np.int32)),
        lambda x: x.astype(np.int32) ^ 5,
    ),
    "RSQRT": (lambda b, x: b.builtin("RSQRT", b.builtin("EXP", x)[0]), lambda x: np.exp(x) ** -0.5),
    "SQRT": (lambda b, x: b.builtin("SQRT", b.builtin("EXP", x)[0]), lambda x: np.exp(x) ** 0.5),
    "SELECT_V2": (
        lambda b, x: b.builtin("SELECT_V2", b.builtin("GREATER", x, 0)[0], x, b.constant(BIAS)),
        lambda x: np.where(x > 0, x, BIAS),
    ),
    "SHAPE": (lambda b, x: b.builtin("SHAPE", x, out_type="int64"), lambda x: np.array(x.shape, np.int64)),
    "SLICE": (
        lambda b, x: b.builtin("SLICE", x, [0, 1, 0, 2], [-1, 2, -1, 2]),
        lambda x: x[:, 1:3, :, 2:4],
    ),
    "SPACE_TO_DEPTH": (
        lambda b, x: b.builtin("SPACE_TO_DEPTH", x, block_size=2),
        lambda x: x.reshape(-1, 2, 2, 3, 2, 4).transpose(0, 1, 3, 2, 4, 5).reshape(-1, 2, 3, 16),
    ),
    "SPLIT": (
        lambda b, x: b.builtin("SPLIT", b.constant(np.array(2, np.int32)), x, num_splits=3),
        lambda x: np.split(x, 3, 2),
    ),
    "SPLIT_V": (
        lambda b, x: b.builtin("SPLIT_V", x, [1, 5], 2),
        lambda x: [x[:, :, :1], x[:, :, 1:]],
    ),
    "SQUEEZE": (
        lambda b, x: b.builtin("SQUEEZE", b.expand_dims(x, 2), squeeze_dims=[2]),
        lambda x: x,
    ),
    "SUM": (lambda b, x: b.builtin("SUM", x, [1, 2, 3]), lambda x: x.sum((1, 2, 3))),
    "TILE": (lambda b, x: b.builtin("TILE", x, [1, 2, 1, 3]), lambda x: np.tile(x, (1, 2, 1, 3))),
    "TOPK_V2": (
        lambda b, x: b.builtin("TOPK_V2", x, np.array(2, np.int32)),
        lambda x: [np.sort(x, -1)[..., :-3:-1], np.argsort(x, -1)[..., :-3:-1].astype(np.int32)],
    ),
    "TRANSPOSE": (lambda b, x: b.builtin("TRANSPOSE", x, [0, 3, 1, 2]), lambda x: x.transpose(0, 3, 1, 2)),
    "UNPACK": (
        lambda b, x: b.builtin("UNPACK", x, axis=1),
        lambda x: [x[:, index] for index in range(4)],
    ),
}


def _cases() -> dict[str, tuple[Build, Numpy]]:
    def unary(name: str) -> Build:
        return lambda b, x: b.builtin(name, x)

    def binary(name: str) -> Build:
        return lambda b, x: b.builtin(name, x, BIAS)

    def with_bias(compute: Callable[[Array, Array], Array]) -> Numpy:
        return lambda x: compute(x, BIAS)

    cases: dict[str, tuple[Build, Numpy]] = {name: (unary(name), compute) for name, compute in UNARY.items()}
    cases |= {name: (binary(name), with_bias(compute)) for name, compute in BINARY.items()}
    return cases | OTHERS | builtin_cases.CASES


CASES = _cases()
# Their numbers are tested apart.
RANDOM_OPS = {"RANDOM_STANDARD_NORMAL", "RANDOM_UNIFORM"}


def test_every_op_of_the_schema_is_built_or_refused_with_a_reason() -> None:
    assert BUILTINS.keys() | UNAVAILABLE.keys() == set(names_of(schema.BuiltinOperator).values())
    assert not BUILTINS.keys() & UNAVAILABLE.keys()
    for name, reason in UNAVAILABLE.items():
        alternative = re.search(r"use ([A-Z_0-9]+)(?: and ([A-Z_0-9]+))?$", reason)
        others = [] if alternative is None else [other for other in alternative.groups() if other]
        assert BUILTINS.keys() >= {*others}, name
        assert others or re.search(r"\w\(\) builds|use |build the ops|leave the composite", reason), name


def test_every_builtin_has_a_case() -> None:
    assert CASES.keys() | RANDOM_OPS == BUILTINS.keys()


def test_every_builtin_has_a_shape_rule() -> None:
    assert {f"tfl.{name.lower()}" for name in BUILTINS} - RULES.keys() == set()


def numbers(value: Any) -> Array:
    """An array as LiteRT has it: float32 in place of float64, strings as bytes."""
    array = np.asarray(value)
    if array.dtype.kind in "UO":
        texts = [text if isinstance(text, bytes) else str(text).encode() for text in array.reshape(-1)]
        return np.array(texts, object).reshape(array.shape)
    return array.astype(np.float32) if array.dtype == np.float64 else array


@pytest.mark.parametrize("name", sorted(CASES))
def test_builtin(name: str) -> None:
    build, compute = CASES[name]
    random = np.random.default_rng(1)
    xs = [random.normal(0, 1, (batch, *SHAPE[1:])).astype(np.float32) for batch in (1, 3, 3)]
    kinds, outputs = run(build, SHAPE, *xs)
    for x, results in zip(xs, outputs, strict=True):
        expected = compute(x)
        if expected is None:
            continue
        wanted = [numbers(value) for value in (expected if isinstance(expected, list) else [expected])]
        for kind, result, value in zip(kinds, results, wanted, strict=True):
            assert kind.shape is not None
            assert len(kind.shape) == result.ndim
            known = [real if size is None else size for size, real in zip(kind.shape, result.shape, strict=True)]
            assert known == [*result.shape] == [*value.shape], kind
            # Only what depends on the batch is open, or on a shape that is computed.
            assert kind.shape.count(None) <= (4 if name in {"FILL", "CONV_3D_TRANSPOSE", "TRANSPOSE_CONV"} else 1), kind
            if value.dtype == object:
                assert (kind.dtype, result.tolist()) == ("string", value.tolist())
                continue
            assert kind.dtype == result.dtype.name == value.dtype.name
            np.testing.assert_allclose(result, value, rtol=1e-5, atol=4e-6)


@pytest.mark.parametrize("name", sorted(RANDOM_OPS))
def test_random_numbers(name: str) -> None:
    def build(b: Any, x: Any) -> Any:
        return [b.builtin(name, np.array([40, 50]), seed=seed)[0] for seed in (3, 3, 4)]

    x = np.zeros((1, 4, 6, 4), np.float32)
    kinds, (first, second) = run(build, SHAPE, x, x)
    assert kinds == [TensorType("float32", (40, 50))] * 3
    np.testing.assert_array_equal(first[0], first[1])
    assert not any(np.array_equal(first[0], other) for other in (first[2], second[0]))
    mean, deviation = (0.5, 12**-0.5) if name == "RANDOM_UNIFORM" else (0, 1)
    assert abs(first[0].mean() - mean) < 0.1
    assert abs(first[0].std() - deviation) < 0.1


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "uint8", "int64"])
def test_numbers_get_the_dtype_of_what_is_beside_them(dtype: str) -> None:
    def build(b: Any, x: Any) -> Any:
        y = b.cast(x, to=dtype)
        made = [
            b.mul(y, 1),
            b.maximum(2, y),
            b.select_v2(True, 3, y),
            b.padv2(y, [[1, 0]], 1),
            b.add_n(y, np.array([1, 2])),
        ]
        assert {value.dtype for value in made} == {dtype}
        return b.neg(x)

    _, ((result,),) = run(build, (2,), np.array([1, 2], np.float32))
    assert result.tolist() == [-1, -2]


def test_every_operand_may_be_an_array_a_number_a_list_or_a_value() -> None:
    def build(b: Any, x: Any) -> Any:
        made = [b.constant(np.array(2, np.float32)), np.float32(2), np.array(2, np.float32), 2.0, np.float64(2)]
        sums = [
            sign
            for one in made
            for other in (*made, 2, [2], np.array(2.0))
            for sign in (b.sub(one, other), b.sub(other, one))
        ]
        assert every(isinstance(one, Tensor) and one.dtype == "float32" for one in sums)
        assert repr(sums[0]) == "<Tensor float32[]>"
        return b.add_n([b.reshape(one, [1]) for one in sums])

    _, ((result,),) = run(build, (1,), np.zeros(1, np.float32))
    assert result.tolist() == [0]


@pytest.mark.parametrize("name", sorted(BUILTINS))
def test_a_builder_is_documented(name: str) -> None:
    builder, known = getattr(Builder(), name.lower()), BUILTINS[name]
    if name.lower() not in vars(Builder):  # some have a method of their own
        assert builder.__name__ == name.lower()
        assert known.about in builder.__doc__
        parameters = [*inspect.signature(builder).parameters]
        assert parameters == [*(operand.name for operand in known.operands), *known.defaults]
        assert len({*parameters}) == len(parameters)
    assert name.lower() in dir(Builder())


def test_the_page_has_every_op() -> None:
    text = made()
    assert [name for name in BUILTINS if text.count(f"\n- `b.{name.lower()}(") != 1] == []
    assert [name for name in UNAVAILABLE if f"\n| {name} |" not in text] == []


REFUSED: list[tuple[Build, str]] = [
    (lambda b, x: b.builtin("FIND_SAINT", x), r"builtin\(\) does not know 'FIND_SAINT', which op\(\) builds"),
    (
        lambda b, x: b.builtin("WHILE", x),
        r"does not build WHILE: it runs subgraphs, .* leave the composite",
    ),
    (lambda b, x: b.builtin("STABLEHLO_DIVIDE", x, x), r"does not build STABLEHLO_DIVIDE: .* use DIV$"),
    (lambda b, x: b.builtin("LSTM", x), r"LSTM\(x, .*\) is called without input_to_forget_weights"),
    (lambda b, x: b.builtin("ABS"), r"ABS\(x\) is called without x"),
    (lambda b, x: b.builtin("ABS", x, x), r"ABS\(x\) does not take 2 operands"),
    (lambda b, x: b.builtin("ADD", x, x=x), r"ADD\(x, y, \*, .*\) does not take 1 operands and x"),
    (lambda b, x: b.builtin("PACK"), r"PACK\(\*values, .*\) does not take 0 operands"),
    (
        lambda b, x: b.builtin("NEG", [x]),
        r"an operand is \[<Tensor float32.*>\], neither a value nor numbers",
    ),
    (lambda b, x: b.mul(b.cast(x, to="int32"), 0.5), "0.5 is beside int32, which cannot hold it"),
    (lambda b, x: b.add(b.cast(x, to="uint8"), [-1]), r"\[-1\] is beside uint8, which cannot hold it"),
    (lambda b, x: b.equal(b.constant(np.array(["a"])), 1), "1 is beside string, and must be a value"),
    (lambda b, x: b.gather(x, 2**40), "is beside int32, which cannot hold it"),
    (lambda b, x: b.builtin("GATHER", x, [0], axis=None), "axis is None, not of type int"),
    (
        lambda b, x: b.read_variable(b.var_handle(shared_name="v"), dtype="float32", shape=[None, 4]),
        "the sizes of a variable must be known",
    ),
    (lambda b, x: b.builtin("CONV_2D", x, x, padding="same"), "padding is 'same', not SAME or VALID"),
    (lambda b, x: b.builtin("GATHER", x, [0], axis="1"), "axis is '1', not of type int"),
    (lambda b, x: b.builtin("SPLIT", 1, x), "num_splits must be given"),
    (lambda b, x: b.builtin("UNPACK", x), "the number of its results is not known"),
    (lambda b, x: b.builtin("QUANTIZE", x, scale=0.1, zero_point=128), "zero point from -128 to 127"),
    (lambda b, x: b.builtin("QUANTIZE", x, scale=0.1, dtype="int4"), "dtype is 'int4', not int8, uint8 or int16"),
    (lambda b, x: b.transpose_conv([1, 8, 12, 7], FILTERS, x, stride_h=2), "contradict each other"),
    (lambda b, x: b.builtin("GELLU", x), r"builtin\(\) does not know 'GELLU'; did you mean 'GELU'\?"),
    (lambda b, x: b.builtin("GELU", x, beta=1.0), r"GELU has no attributes \['beta'\]; it has \['approximate'\]"),
    (
        lambda b, x: b.builtin("ADD", x, np.zeros(3, np.float32)),
        r"ADD does not take \(float32\[\?,4,6,4\], float32\[3\]\): .* cannot be broadcast to each other",
    ),
    (lambda b, x: b.builtin("SUM", x, [4]), "axis 4 is out of range for rank 4"),
    (lambda b, x: b.builtin("SUM", x, b.builtin("SHAPE", x)[0]), "axes must be a constant"),
    (lambda b, x: b.builtin("TRANSPOSE", x, [0, 9]), r"TRANSPOSE does not take \(float32\[\?,4,6,4\], int32\[2\]\)"),
    (
        lambda b, x: b.builtin("CONV_2D", x, np.ones((3, 2, 2, 3), np.float32), BIAS[:3], stride_h=2),
        r"CONV_2D does not take .* with {'stride_h': 2}: .* differ in channels",
    ),
    (
        lambda b, x: b.builtin("SQUEEZE", x),
        r"the result types of SQUEEZE do not follow from \(float32\[\?,4,6,4\]\): a size that is not known may be 1",
    ),
    (lambda b, x: b.builtin("UNPACK", x, axis=1, num=3), r"with {'axis': 1, 'num': 3}: .* does not have 3 parts"),
    (lambda b, x: b.builtin("CAST", x, to="float"), "unknown dtype 'float'"),
]


@pytest.mark.parametrize(("build", "message"), REFUSED)
def test_what_is_refused(build: Build, message: str) -> None:
    with pytest.raises(FusionError, match=message):
        run(build, SHAPE, np.zeros((1, 4, 6, 4), np.float32))
