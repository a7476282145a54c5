"""Layers are named whatever way they are written, and nothing that computes something else is."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pytest

from litefuse.fusions.recognizers.layers import normalizations
from litefuse.fusions.recognizers.layers.layer import Layer, NearMiss
from litefuse.fusions.recognizers.layers.name_layers import NameLayers
from litefuse.ir.annotations import read_annotation
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import functions
from litefuse.ir.mlir import func, ir, mlir_context
from litefuse.ir.types import TensorType, ranked_tensor_type

V: TypeAlias = Any  # ir.Value, with operators below
Build: TypeAlias = "Callable[[Ops, V], V]"

SHAPE = (None, 4, 8)
SCALE = np.linspace(0.5, 1.5, 8, dtype=np.float32)
OFFSET = np.linspace(-1, 1, 8, dtype=np.float32)
ANGLES = np.arange(32, dtype=np.float32).reshape(4, 8)


def _all(_: str) -> bool:
    return True


def _none(_: str) -> bool:
    return False


class Ops:
    """TensorFlow's ops under short names."""

    def __init__(self) -> None:
        self.b = Builder()

    def c(self, value: Any, dtype: str = "float32") -> V:
        return self.b.constant(value, dtype)

    def add(self, x: V, y: V) -> V:
        return self.b.binary("AddV2", x, y)

    def sub(self, x: V, y: V) -> V:
        return self.b.binary("Sub", x, y)

    def mul(self, x: V, y: V) -> V:
        return self.b.binary("Mul", x, y)

    def div(self, x: V, y: V) -> V:
        return self.b.binary("RealDiv", x, y)

    def pow(self, x: V, y: float) -> V:
        return self.b.binary("Pow", x, y)

    def square(self, x: V) -> V:
        return self.b.unary("Square", x)

    def rsqrt(self, x: V) -> V:
        return self.b.unary("Rsqrt", x)

    def sqrt(self, x: V) -> V:
        return self.b.unary("Sqrt", x)

    def mean(self, x: V, *axes: int, keep: bool = True, name: str = "Mean") -> V:
        rank = len(self.b.shape(x))
        over = {axis % rank for axis in axes or (-1,)}
        shape = [1 if axis in over else size for axis, size in enumerate(self.b.shape(x)) if keep or axis not in over]
        return self.b.op(name, [x, self.c(sorted(over), "int32")], shape, self.b.dtype(x), keep_dims=keep)

    def halves(self, x: V) -> tuple[V, V]:
        return self.b.slice(x, 2, 0, 4), self.b.slice(x, 2, 4, 8)

    def every_second(self, x: V) -> tuple[V, V]:
        return self.b.slice(x, 2, 0, 8, 2), self.b.slice(x, 2, 1, 8, 2)

    def join(self, *values: V) -> V:
        return self.b.concat(list(values), 2)

    def interleave(self, *values: V) -> V:
        return self.b.reshape(self.b.stack(list(values), 3), [*self.b.sizes(values[0])[:2], 8])


class Named(NamedTuple):
    """What is found in a function.

    Attributes:
        layers: The layers.
        near: What is nearly one.
        attributes: The attributes of the composites.
        arguments: How many arguments each of them has.
    """

    layers: list[Layer]
    near: list[NearMiss]
    attributes: list[Mapping[str, Any]]
    arguments: list[int]

    @property
    def names(self) -> list[tuple[str, str]]:
        return [(each.name, each.kind) for each in self.layers]


def named(
    build: Build,
    shape: tuple[int | None, ...] = SHAPE,
    dtype: str = "float32",
    compare: Any = None,
    wanted: bool = True,
) -> Named:
    with mlir_context(), ir.Location.unknown():
        module = ir.Module.create()
        kind = ranked_tensor_type(TensorType(dtype, shape))
        with ir.InsertionPoint(module.body):
            main = func.FuncOp("main", ir.FunctionType.get([kind], []))
        block = main.add_entry_block()
        with ir.InsertionPoint(block):
            result = build(Ops(), block.arguments[0])
            func.ReturnOp([result])
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([kind], [result.type]))
        before = str(module)
        layers: list[Layer] = []
        near: list[NearMiss] = []
        NameLayers(layers, near, _all if wanted else _none, compare).run(module)
        module.operation.verify()
        if not wanted:
            assert str(module) == before
        annotations = [(read_annotation(function), len(function.arguments)) for function in functions(module).values()]
        composites = [(each.attributes, count) for each, count in annotations if each is not None]
        return Named(layers, near, [each for each, _ in composites], [count for _, count in composites])


def moments(o: Ops, x: V, *axes: int) -> tuple[V, V]:
    m = o.mean(x, *axes)
    return m, o.mean(o.b.binary("SquaredDifference", x, m), *axes)


def standard(o: Ops, x: V, *axes: int, epsilon: float = 1e-5) -> V:
    m, v = moments(o, x, *axes)
    return o.mul(o.sub(x, m), o.rsqrt(o.add(v, epsilon)))


def affine(o: Ops, y: V) -> V:
    return o.add(o.mul(y, o.c(SCALE)), o.c(OFFSET))


def batch_normalization(o: Ops, x: V) -> V:
    m, v = moments(o, x)
    factor = o.mul(o.rsqrt(o.add(v, 1e-5)), o.c(SCALE))
    return o.add(o.mul(x, factor), o.sub(o.c(OFFSET), o.mul(m, factor)))


def mean_of_squares(o: Ops, x: V) -> V:
    m = o.mean(x)
    v = o.sub(o.mean(o.mul(x, x)), o.square(m))
    return affine(o, o.div(o.sub(x, m), o.sqrt(o.add(v, 1e-5))))


def never_negative(o: Ops, x: V) -> V:
    m = o.mean(x)
    v = o.b.binary("Maximum", o.sub(o.mean(o.mul(x, x)), o.square(m)), 0.0)
    return affine(o, o.mul(o.sub(x, m), o.rsqrt(o.add(v, 1e-5))))


def never_negative_by_relu(o: Ops, x: V) -> V:
    m = o.mean(x, keep=False)
    v = o.b.unary("Relu", o.sub(o.mean(o.square(x), keep=False), o.square(m)))
    return affine(o, o.mul(o.sub(x, o.mean(x)), o.rsqrt(o.add(o.b.expand(v, 2), 1e-5))))


def sums(o: Ops, x: V) -> V:
    d = o.sub(x, o.div(o.mean(x, name="Sum"), 8.0))
    v = o.mul(o.mean(o.mul(d, d), name="Sum"), 0.125)
    return affine(o, o.mul(d, o.div(o.c(1.0), o.sqrt(o.add(v, 1e-5)))))


def power(o: Ops, x: V) -> V:
    d = o.sub(x, o.mean(x))
    return affine(o, o.mul(d, o.pow(o.add(o.mean(o.pow(d, 2.0)), 1e-5), -0.5)))


def axes_dropped(o: Ops, x: V) -> V:
    m = o.b.expand(o.mean(x, keep=False), 2)
    v = o.mean(o.b.binary("SquaredDifference", x, m), keep=False)
    return affine(o, o.mul(o.sub(x, m), o.b.expand(o.rsqrt(o.add(v, 1e-5)), 2)))


def with_selection(o: Ops, x: V) -> V:
    m, v = moments(o, x)
    v = o.b.select(o.c(True, "bool"), v, o.c(math.nan))  # as JAX's variance
    return affine(o, o.mul(o.sub(x, m), o.rsqrt(o.add(v, 1e-5))))


def in_float32(o: Ops, x: V) -> V:
    y = affine(o, standard(o, o.b.cast(o.b.cast(x, "float16"), "float32")))
    return o.b.cast(o.b.cast(y, "float16"), "float32")


def by_batch_normalization(o: Ops, x: V) -> V:
    flat = o.b.op("Reshape", [x, o.c([1, -1, 8, 1], "int32")], [1, None, 8, 1], "float32")
    ones = [o.b.op("Fill", [o.b.op("Shape", [x], [3], "int32"), o.c(n)], [None], "float32") for n in (1.0, 0.0)]
    vector: list[int | None] = [None]
    kinds = [([1, None, 8, 1], "float32"), *((vector, "float32") for _ in range(5))]
    options = {"data_format": "NCHW", "epsilon": 1e-5, "exponential_avg_factor": 1.0, "is_training": True}
    empty = o.c(np.zeros([0]))
    y = o.b.ops("FusedBatchNormV3", [flat, *ones, empty, empty], kinds, **options)[0]
    return affine(o, o.b.op("Reshape", [y, o.c([-1, 4, 8], "int32")], SHAPE, "float32"))


LAYER_NORMS = (
    batch_normalization,
    mean_of_squares,
    never_negative,
    never_negative_by_relu,
    sums,
    power,
    axes_dropped,
    with_selection,
    in_float32,
    by_batch_normalization,
)


@pytest.mark.parametrize("build", LAYER_NORMS, ids=lambda build: build.__name__)
def test_layer_normalization(build: Build) -> None:
    found = named(build)
    assert found.names == [("odml.group_norm", "layer normalization")]
    attributes = found.attributes[0]
    assert attributes == {
        "epsilon": pytest.approx(1e-5),  # pyright: ignore[reportUnknownMemberType]
        "num_groups": 1,
        "channel_axis": 2,
        "sub_type": 1,
    }
    assert named(build, wanted=False).names == found.names


def test_layer_normalization_of_which_something_is_absent() -> None:
    assert named(standard).names == [("odml.group_norm", "layer normalization")]
    scaled = named(lambda o, x: o.mul(standard(o, x), o.c(SCALE)))
    assert scaled.names == [("odml.group_norm", "layer normalization")]
    # The contract has no offset without scale.
    shifted = named(lambda o, x: o.add(standard(o, x), o.c(OFFSET)))
    assert shifted.names == [("litefuse.layer_norm", "layer normalization")]


@pytest.mark.parametrize("axes", [(0,), (0, 1), (0, 2), (0, 1, 2)])
def test_axes_that_no_contract_has_are_named(axes: tuple[int, ...]) -> None:
    found = named(lambda o, x: standard(o, x, *axes), (3, 4, 8))
    assert found.names == [("litefuse.layer_norm", "layer normalization")]
    assert found.attributes[0]["axes"] == list(axes)
    found = named(lambda o, x: rms(o, x, *axes), (3, 4, 8))
    assert found.names == [("litefuse.rms_norm", "RMS normalization")]
    assert found.attributes[0]["axes"] == list(axes)


def test_two_layers_share_the_statistics_of_their_input() -> None:
    def build(o: Ops, x: V) -> V:
        y = standard(o, x)
        return o.mul(affine(o, y), o.mul(y, o.c(SCALE[::-1].copy())))

    assert named(build).names == [("odml.group_norm", "layer normalization")] * 2
    assert named(build, wanted=False).names == [("odml.group_norm", "layer normalization")] * 2


def test_a_number_is_no_scale() -> None:
    for build in (standard, rms):
        found = named(lambda o, x, build=build: o.mul(build(o, x), 0.5))
        assert [name.partition(".")[0] for name, _ in found.names] == ["odml"]


def test_a_sum_with_data_is_not_an_offset() -> None:
    found = named(lambda o, x: o.add(x, affine(o, standard(o, x))))
    assert found.names == [("odml.group_norm", "layer normalization")]


def rms(o: Ops, x: V, *axes: int) -> V:
    return o.mul(x, o.rsqrt(o.add(o.mean(o.square(x), *axes), 1e-6)))


RMS_NORMS: dict[str, Build] = {
    "plain": rms,
    "scaled": lambda o, x: o.mul(rms(o, x), o.c(SCALE)),
    "one plus scale": lambda o, x: o.mul(rms(o, x), o.add(o.c(1.0), o.c(SCALE))),
    "divided": lambda o, x: o.mul(o.c(SCALE), o.div(x, o.sqrt(o.add(o.mean(o.pow(x, 2.0)), 1e-6)))),
    "cast": lambda o, x: o.mul(o.b.cast(rms(o, o.b.cast(o.b.cast(x, "float16"), "float32")), "float32"), o.c(SCALE)),
}


@pytest.mark.parametrize("how", RMS_NORMS)
def test_rms_normalization(how: str) -> None:
    found = named(RMS_NORMS[how])
    assert found.names == [("odml.rms_norm", "RMS normalization")]
    assert found.attributes == [{"epsilon": pytest.approx(1e-6)}]  # pyright: ignore[reportUnknownMemberType]


def grouped(o: Ops, x: V) -> V:
    y = o.b.reshape(x, [*o.b.sizes(x)[:3], 2, 4])
    m, v = moments(o, y, 1, 2, 4)
    scale = o.mul(o.rsqrt(o.add(v, 1e-3)), o.c(SCALE.reshape(2, 4)))
    y = o.add(o.mul(y, scale), o.sub(o.c(OFFSET.reshape(2, 4)), o.mul(m, scale)))
    return o.b.reshape(y, [*o.b.sizes(y)[:3], 8])


def _times_data(o: Ops, x: V, y: V) -> V:
    return o.mul(y, x)


def _times_more_axes(o: Ops, _: V, y: V) -> V:
    return o.mul(y, o.c(np.ones((3, 1, 1, 1, 8), np.float32)))


@pytest.mark.parametrize("other", [_times_data, _times_more_axes])
def test_a_scale_of_groups_beside_what_is_none(other: Callable[[Ops, V, V], V]) -> None:
    """Whichever use of the normalized value comes first."""

    def build(o: Ops, x: V) -> V:
        groups = standard(o, o.b.reshape(x, [*o.b.sizes(x)[:3], 2, 4]), 1, 2, 4, epsilon=1e-3)
        y = o.b.reshape(groups, [*o.b.sizes(x)[:3], 8])
        first, scaled = other(o, x, y), o.mul(y, o.c(SCALE))
        return o.add(scaled, o.add(first, other(o, x, y)))

    layers = named(build, (None, 3, 4, 8))
    assert layers.names == [("odml.group_norm", "group normalization")]
    assert layers.arguments == [2]


def of_one_group(o: Ops, x: V) -> V:
    return affine(o, standard(o, x, 1, 2, 3, epsilon=1e-3))


def of_instances(o: Ops, x: V) -> V:
    return affine(o, standard(o, x, 1, 2, epsilon=1e-3))


@pytest.mark.parametrize(("build", "groups"), [(grouped, 2), (of_one_group, 1), (of_instances, 8)])
def test_group_normalization(build: Build, groups: int) -> None:
    found = named(build, (None, 3, 4, 8))
    assert found.names == [("odml.group_norm", "group normalization")]
    assert found.attributes == [
        {
            "epsilon": pytest.approx(1e-3),  # pyright: ignore[reportUnknownMemberType]
            "num_groups": groups,
            "channel_axis": 3,
            "sub_type": 0,
        }
    ]


def behind_groups(o: Ops, x: V) -> V:
    y = standard(o, o.b.reshape(x, [*o.b.sizes(x)[:3], 2, 4]), 1, 2, 4)
    return o.b.reshape(y, o.b.sizes(x))


BEHIND_GROUPS: list[tuple[Build, int]] = [
    (lambda _, y: y, 0),
    (lambda o, y: o.mul(y, o.c(SCALE)), 1),
    (affine, 2),
    (lambda o, y: o.b.unary("Tanh", affine(o, y)), 2),
    (lambda o, y: o.b.unary("Tanh", y), 0),
    (lambda o, y: o.mean(y, 1, 2), 0),
    (lambda o, y: o.mean(affine(o, y), 1, 2), 2),
    # Neither is of the channels: one has an offset alone, the other makes a batch.
    (lambda o, y: o.add(y, o.c(OFFSET)), 0),
    (lambda o, y: o.mul(y, o.c(np.stack([SCALE] * 5).reshape(5, 1, 1, 8))), 0),
    (lambda o, y: o.mul(o.mul(y, o.c(SCALE)), o.c(np.ones([5, 1, 1, 1]) / 3)), 1),
]


@pytest.mark.parametrize(("behind", "vectors"), BEHIND_GROUPS)
def test_scale_and_offset_of_a_group_normalization_have_its_shape(behind: Build, vectors: int) -> None:
    found = named(lambda o, x: behind(o, behind_groups(o, x)), (1, 3, 4, 8))
    assert found.names == [("odml.group_norm", "group normalization")]
    assert found.arguments == [1 + vectors]


@pytest.mark.parametrize("dims", [(None, None, None, 8), (None, None, 4, 8)])
def test_sizes_of_another_value(dims: tuple[int | None, ...]) -> None:
    """They are arguments of a composite that is litefuse's own; one with a contract takes none."""

    def build(o: Ops, x: V, layer: Callable[[Ops, V, V], V], others: int) -> V:
        sizes = [o.b.sizes(o.b.unary("Tanh", x)), o.b.sizes(y := o.b.unary("Sin", x))]
        return layer(o, y, o.b.vector([*sizes[0][:others], *sizes[1][others:]]))

    def gelu(o: Ops, y: V, sizes: V) -> V:
        half, root = (o.b.op("BroadcastTo", [o.c(c), sizes], dims, "float32") for c in (0.5, 2**0.5))
        one = o.b.broadcast(o.c(1.0), o.b.sizes(y))
        return o.mul(o.mul(half, y), o.add(o.b.unary("Erf", o.div(y, root)), one))

    def norm(o: Ops, y: V, sizes: V) -> V:
        groups = standard(o, o.b.reshape(y, [*o.b.sizes(y)[:3], 2, 4]), 1, 2, 4)
        return affine(o, o.b.op("Reshape", [groups, sizes], dims, "float32"))

    for others, arguments in ((0, 1), (1, 2), (2, 2)):
        found = named(partial(build, layer=gelu, others=others), dims)
        assert (found.names, found.arguments) == ([("litefuse.gelu", "GELU")], [arguments])
    problems = [named(partial(build, layer=norm, others=n), dims).layers[0].problem for n in (0, 1)]
    assert problems[0] is None
    assert "it needs sizes that the model computes elsewhere" in str(problems[1])


def gelu_by(o: Ops, x: V, name: str, inner: V) -> V:
    return o.mul(o.mul(x, 0.5), o.add(o.b.unary(name, inner), 1.0))


def cubed(o: Ops, x: V, root: float = (2 / math.pi) ** 0.5, factor: float = 0.044715) -> V:
    return o.mul(o.add(x, o.mul(o.mul(o.mul(x, x), x), factor)), root)


def with_shared_half(o: Ops, x: V) -> V:
    half = o.mul(x, 0.5)
    return o.add(half, o.mul(half, o.b.unary("Erf", o.div(x, 2**0.5))))


GELUS: dict[str, tuple[Build, bool]] = {
    "erf": (lambda o, x: gelu_by(o, x, "Erf", o.div(x, 2**0.5)), False),
    "erfc": (lambda o, x: o.mul(o.mul(x, 0.5), o.b.unary("Erfc", o.mul(x, -(0.5**0.5)))), False),
    "shared": (with_shared_half, False),
    "tanh": (lambda o, x: gelu_by(o, x, "Tanh", cubed(o, x)), True),
    "tanh, power": (
        lambda o, x: gelu_by(o, x, "Tanh", o.mul(o.add(x, o.mul(o.pow(x, 3.0), 0.044715)), 0.7978845608)),
        True,
    ),
    "tanh, factored": (
        lambda o, x: gelu_by(o, x, "Tanh", o.mul(o.mul(x, 0.7978845608), o.add(o.mul(o.square(x), 0.044715), 1.0))),
        True,
    ),
}


@pytest.mark.parametrize("how", GELUS)
def test_gelu(how: str) -> None:
    build, approximate = GELUS[how]
    found = named(build)
    assert found.names == [("litefuse.gelu", "GELU")]
    assert found.attributes == [{"approximate": approximate}]


def gate(o: Ops, x: V, activation: Build) -> V:
    a, b = o.halves(x)
    return o.mul(b, activation(o, a))


GATED: dict[str, tuple[Build, tuple[str, str]]] = {
    "sigmoid": (lambda o, x: o.mul(x, o.b.unary("Sigmoid", x)), ("litefuse.swiglu", "SwiGLU")),
    "exp": (
        lambda o, x: o.div(x, o.add(o.b.unary("Exp", o.b.unary("Neg", x)), 1.0)),
        ("litefuse.swiglu", "SwiGLU"),
    ),
    "gelu": (GELUS["tanh"][0], ("litefuse.geglu", "GeGLU")),
}


@pytest.mark.parametrize("how", GATED)
def test_gated_activation(how: str) -> None:
    activation, expected = GATED[how]
    assert named(lambda o, x: gate(o, x, activation)).names == [expected]
    assert expected not in named(activation).names


COS, SIN = np.cos(ANGLES), np.sin(ANGLES)


def rotated_pairs(o: Ops, a: V, b: V, *, turned: bool = False) -> tuple[V, V]:
    cos, sin = o.c(COS[:, :4]), o.c(SIN[:, :4])
    first, second = o.sub(o.mul(a, cos), o.mul(b, sin)), o.add(o.mul(sin, a), o.mul(cos, b))
    return (second, first) if turned else (first, second)


def whole(o: Ops, x: V, turned: V) -> V:
    return o.add(o.mul(x, o.c(COS)), o.mul(turned, o.c(SIN)))


def neg(o: Ops, x: V) -> V:
    return o.b.unary("Neg", x)


ROTARY: dict[str, tuple[Build, str, str]] = {
    "halves": (lambda o, x: whole(o, x, o.join(neg(o, o.halves(x)[1]), o.halves(x)[0])), "halves", "of features"),
    "halves apart": (lambda o, x: o.join(*rotated_pairs(o, *o.halves(x))), "halves", "of pairs"),
    "neighbors": (
        lambda o, x: whole(o, x, o.interleave(neg(o, o.every_second(x)[1]), o.every_second(x)[0])),
        "neighbors",
        "of features",
    ),
    "neighbors apart": (lambda o, x: o.interleave(*rotated_pairs(o, *o.every_second(x))), "neighbors", "of pairs"),
}


@pytest.mark.parametrize("how", ROTARY)
def test_rotary_embedding(how: str) -> None:
    build, pairs, angles = ROTARY[how]
    found = named(build, (2, 4, 8))
    assert found.names == [("litefuse.rotary_embedding", "rotary embedding")]
    assert found.attributes == [{"pairs": pairs, "angles": angles}]
    assert named(build).names == found.names


def other_divisor(o: Ops, x: V) -> V:
    d = o.sub(x, o.mean(x))
    return o.mul(d, o.rsqrt(o.add(o.div(o.mean(o.mul(d, d), name="Sum"), 7.0), 1e-5)))


def epsilon_outside(o: Ops, x: V) -> V:
    m, v = moments(o, x)
    return o.div(o.sub(x, m), o.add(o.sqrt(v), 1e-5))


def not_centered(o: Ops, x: V) -> V:
    return o.mul(x, o.rsqrt(o.add(moments(o, x)[1], 1e-5)))


def other_mean(o: Ops, x: V) -> V:
    return o.mul(o.sub(x, o.mean(x, -2)), o.rsqrt(o.add(moments(o, x)[1], 1e-5)))


def of_another_value(o: Ops, x: V) -> V:
    return o.mul(o.b.reverse(x, [1]), o.rsqrt(o.add(o.mean(o.square(x)), 1e-6)))


def misaligned(o: Ops, x: V) -> V:  # the mean of each row, taken for that of each column
    return o.mul(x, o.rsqrt(o.add(o.mean(o.square(x), keep=False), 1e-6)))


NOT: dict[str, tuple[Build, tuple[int | None, ...], str | None]] = {
    "divisor": (other_divisor, SHAPE, "it divides by the root of 1.14286 times the variance"),
    "epsilon outside": (epsilon_outside, SHAPE, "without an epsilon"),
    "not centered": (not_centered, SHAPE, "what is divided by the root is not what the root is of"),
    "other mean": (other_mean, SHAPE, "what is divided by the root is not what the root is of"),
    "of another value": (of_another_value, SHAPE, "what is divided by the root is not what the root is of"),
    "misaligned": (misaligned, (8, 8), "what is divided by the root is not what the root is of"),
    "GELU by another root": (lambda o, x: gelu_by(o, x, "Erf", o.div(x, 1.5)), SHAPE, "its constants are others"),
    "GELU by other constants": (
        lambda o, x: gelu_by(o, x, "Tanh", cubed(o, x, 0.8, 0.05)),
        SHAPE,
        "its constants are others",
    ),
    "turned the other way": (lambda o, x: whole(o, x, o.join(o.halves(x)[1], neg(o, o.halves(x)[0]))), SHAPE, None),
    "swapped": (lambda o, x: o.join(*rotated_pairs(o, *o.halves(x), turned=True)), SHAPE, None),
    "empty": (lambda o, x: o.add(x, x), SHAPE, None),
}


@pytest.mark.parametrize("how", NOT)
def test_what_is_nearly_a_layer_is_not_named(how: str) -> None:
    build, shape, reason = NOT[how]
    found = named(build, shape)
    assert found.names == []
    assert [each.reason for each in found.near if reason is None or reason not in each.reason] == []
    assert bool(found.near) == (reason is not None)


def attention(o: Ops, x: V, order: tuple[int, ...] = (0, 2, 1, 3)) -> V:
    """Of heads that are the third axis, and come first for the products."""
    heads = o.b.transpose(x, [*order])
    batch, count, length, size = (o.b.shape(x)[axis] for axis in order)
    products = [batch, count, length, length]
    scores = o.b.op("BatchMatMulV2", [heads, heads], products, "float32", adj_x=False, adj_y=True)
    weights = o.b.unary("Softmax", o.mul(scores, 0.5))
    shape = [batch, count, length, size]
    result = o.b.op("BatchMatMulV2", [weights, heads], shape, "float32", adj_x=False, adj_y=False)
    return o.b.transpose(result, [order.index(axis) for axis in range(4)])


@pytest.mark.parametrize("shape", [(1, 5, 2, 4), (None, None, 2, 4)])
def test_attention(shape: tuple[int | None, ...]) -> None:
    found = named(attention, shape)
    assert [kind for _, kind in found.names] == ["attention"]
    assert found.arguments == [3]


def test_nothing_is_known_of_the_axes_of_an_unknown_rank() -> None:
    text = """
    func.func public @main(%x: tensor<*xf32>) -> tensor<*xf32> {
      %axis = "tf.Const"() {value = dense<-1> : tensor<i32>} : () -> tensor<i32>
      %0 = "tf.Square"(%x) : (tensor<*xf32>) -> tensor<*xf32>
      %1 = "tf.Mean"(%0, %axis) {keep_dims = true} : (tensor<*xf32>, tensor<i32>) -> tensor<*xf32>
      %2 = "tf.Rsqrt"(%1) : (tensor<*xf32>) -> tensor<*xf32>
      %3 = "tf.Mul"(%x, %2) : (tensor<*xf32>, tensor<*xf32>) -> tensor<*xf32>
      return %3 : tensor<*xf32>
    }
    """
    layers: list[Layer] = []
    near: list[NearMiss] = []
    with mlir_context():
        NameLayers(layers, near, _all).run(ir.Module.parse(text))
    assert layers == near == []


def test_a_layer_that_is_not_what_its_name_says_keeps_none() -> None:
    found = named(rms, compare=lambda *_: "it computes something else")  # pyright: ignore[reportUnknownLambdaType]
    assert [(each.outlined, each.problem) for each in found.layers] == [(False, "it computes something else")]
    assert found.attributes == []


def test_the_definition_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """With another epsilon in the definition, the runtime gives other numbers."""
    from litefuse.conversion.verify.self_check import self_check
    from litefuse.fusions.composites.outcome import CheckTerms

    def compare(module: ir.Module, layer: func.FuncOp, definition: func.FuncOp) -> str | None:
        return self_check(module, layer, definition, CheckTerms(1e-4)).problem

    found = named(RMS_NORMS["scaled"], compare=compare)
    assert [(each.outlined, each.problem) for each in found.layers] == [(True, None)]

    def wrong(b: Builder, arguments: Any, attributes: Any) -> Any:
        return true(b, arguments, {"epsilon": 0.1 + attributes["epsilon"]})

    true = normalizations.rms_norm
    monkeypatch.setattr(normalizations, "rms_norm", wrong)
    found = named(RMS_NORMS["scaled"], compare=compare)
    assert not found.layers[0].outlined
    assert "it computes something else: the relative error" in str(found.layers[0].problem)
