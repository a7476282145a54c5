# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Builtin ops get the types that the runtime's kernels give them, and compute what numpy does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.errors import FusionError
from litefuse.fusions.builder import Builder
from litefuse.fusions.builtins import BUILTINS
from litefuse.ir.engine.lowering import set_signature, write_flatbuffer
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.ops.rules import RULES
from litefuse.ir.types import TensorType, ranked_tensor_type, tensor_type_of
from litefuse.litert.runtime.interpreter import Interpreter

Build: TypeAlias = Callable[[Builder, ir.Value], Any]
Array: TypeAlias = "npt.NDArray[Any]"

SHAPE = (None, 4, 6, 4)
RANDOM = np.random.default_rng(3)
MATRIX = RANDOM.normal(0, 1, (4, 5)).astype(np.float32)
FILTERS = RANDOM.normal(0, 1, (3, 2, 2, 4)).astype(np.float32)
DEPTHWISE = RANDOM.normal(0, 1, (1, 2, 2, 8)).astype(np.float32)
BIAS = RANDOM.normal(0, 1, 4).astype(np.float32)


def run(
    build: Build, shape: tuple[int | None, ...], x: Array, dtype: str = "float32"
) -> list[tuple[TensorType, Array]]:
    """The declared types of the ops' results, and what they compute; x is the argument, of an open batch size."""
    with mlir_context():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            kind = ranked_tensor_type(TensorType(dtype, shape))
            function = func.FuncOp("main", ir.FunctionType.get([kind], []))
        with ir.InsertionPoint(function.add_entry_block()):
            results = build(Builder(), function.arguments[0])
            func.ReturnOp(results)
        types = [value.type for value in results]
        function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], types))
        module.operation.verify()
        set_signature(function, "main", ["x"], [f"y{index}" for index in range(len(results))])
        declared = [tensor_type_of(kind) for kind in types]
        path = Path("model.tflite")
        write_flatbuffer(module, path)
    outputs = Interpreter(model_content=path.read_bytes()).get_signature_runner("main")(x=x)
    return [(kind, outputs[f"y{index}"]) for index, kind in enumerate(declared)]


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
        lambda b, x: b.builtin("SPLIT_V", x, [1, 5], np.array(2, np.int32), num_splits=2),
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
        lambda b, x: b.builtin("UNPACK", x, axis=1, num=4),
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
    return cases | OTHERS


CASES = _cases()


def test_every_builtin_has_a_case() -> None:
    assert CASES.keys() == BUILTINS.keys()


def test_every_builtin_has_a_shape_rule() -> None:
    assert {f"tfl.{name.lower()}" for name in BUILTINS} - RULES.keys() == set()


@pytest.mark.parametrize("name", sorted(CASES))
def test_builtin(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    build, compute = CASES[name]
    for batch in (1, 3):
        x = np.random.default_rng(batch).normal(0, 1, (batch, *SHAPE[1:])).astype(np.float32)  # pyright: ignore[reportArgumentType]
        expected = compute(x)
        if expected is None:
            continue
        results = run(build, SHAPE, x)
        wanted: list[Any] = expected if isinstance(expected, list) else [expected]
        assert len(results) == len(wanted)
        for (kind, found), value in zip(results, wanted, strict=True):
            assert kind.dtype == found.dtype.name == np.asarray(value).dtype.name.replace("float64", "float32")
            assert found.shape == np.shape(value)
            assert kind.shape is not None
            assert len(kind.shape) == found.ndim
            known = [real if size is None else size for size, real in zip(kind.shape, found.shape, strict=True)]
            assert known == [*found.shape], kind
            # Only what depends on the batch is open.
            assert kind.shape.count(None) <= (4 if name == "FILL" else 1), kind
            np.testing.assert_allclose(found, value, rtol=1e-5, atol=2e-6)


REFUSED: list[tuple[Build, str]] = [
    (lambda b, x: b.builtin("LSTM", x), r"builtin\(\) does not know 'LSTM', which op\(\) builds with result types"),
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
def test_what_is_refused(build: Build, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FusionError, match=message):
        run(build, SHAPE, np.zeros((1, 4, 6, 4), np.float32))
