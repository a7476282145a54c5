# pyright: reportUnknownArgumentType=false, reportUnknownLambdaType=false, reportUnknownVariableType=false
"""Rewritings of random numbers: TensorFlow's generator in numpy, and what holds for any numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert.interpreter import Interpreter

from litefuse.ir.builder import Builder
from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.op_creation import create_op
from litefuse.ir.tensorflow_op import NotDecomposed, TensorFlowOp
from litefuse.ir.tensors import Tensor
from litefuse.ir.types import TensorType, ranked_tensor_type
from litefuse.passes.legalize.decomposition import find_decompositions
from tests.passes.legalize.one_op import Constant, Static, check, converted

_WORD = 0xFFFFFFFF


def philox(counter: list[int], key: list[int]) -> list[int]:
    """Four words of Philox 4x32 of 10 rounds (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", 2011)."""
    a, b, c, d = counter
    first, second = key
    for _ in range(10):
        low, high = 0xD2511F53 * a, 0xCD9E8D57 * c
        a, b, c, d = (high >> 32) ^ b ^ first, high & _WORD, (low >> 32) ^ d ^ second, low & _WORD
        first, second = (first + 0x9E3779B9) & _WORD, (second + 0xBB67AE85) & _WORD
    return [a, b, c, d]


def words(seed: tuple[int, int], count: int, first: int = 0) -> npt.NDArray[np.uint32]:
    """What TensorFlow draws with a seed, whose key and counter are drawn themselves, from a group of four words on.

    Source: tensorflow/core/kernels/stateless_random_ops.cc, GenerateKey.
    """
    mixed = philox([seed[0], 0, seed[1], 0], [0x3EC8F720, 0x02461E29])
    groups = [philox([first + group, 0, *mixed[2:]], mixed[:2]) for group in range(-(-count // 4))]
    return np.array(groups, np.uint32).reshape(-1)[:count]


def gamma(seed: tuple[int, int], alpha: float, number: int) -> tuple[float, int]:
    """A number of a gamma distribution as TensorFlow draws it, and how many tries were rejected.

    Source: tensorflow/core/kernels/stateless_random_gamma_op.cc; random_distributions.h, Uint64ToDouble and
    BoxMullerDouble.
    """
    drawn = words(seed, 4 * 13, 256 * number).astype(object).reshape(-1, 2)
    pairs = iter([(((high & 0xFFFFF) << 32 | low) / 2.0**52) for high, low in drawn])
    normals: list[float] = []
    uniforms: list[float] = []

    def uniform() -> float:
        if not uniforms:
            uniforms.extend((next(pairs), next(pairs)))
        return uniforms.pop()

    def normal() -> float:
        if not normals:
            radius, angle = math.sqrt(-2 * math.log(max(next(pairs), 1e-7))), 2 * math.pi * next(pairs)
            normals.extend((radius * math.sin(angle), radius * math.cos(angle)))
        return normals.pop()

    if alpha == 1:
        return -math.log1p(-uniform()), 0
    d = alpha + (2 / 3 if alpha < 1 else -1 / 3)
    rejected = 0
    while True:
        x = normal()
        v = (1 + x / 3 / math.sqrt(d)) ** 3
        if v > 0:
            u = uniform()
            if u < 1 - 0.0331 * x**4 or math.log(u) < x * x / 2 + d * (1 - v + math.log(v)):
                return d * v * (uniform() ** (1 / alpha) if alpha < 1 else 1), rejected
        rejected += 1


def test_the_generator_gives_the_known_answers() -> None:
    """Those of kat_vectors of Random123."""
    assert philox([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert philox([_WORD] * 4, [_WORD] * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


def test_the_bits_of_a_seed() -> None:
    shape = np.array([3, 7], np.int32)
    for seed in ((5, 1), (0, 123456)):
        expected = words(seed, 21).view(np.int32).reshape(3, 7)
        operands = [Constant(shape), Constant(np.array(seed, np.int32))]
        check("StatelessRandomUniformFullInt", operands, expected, dynamic=[False])
        check("StatelessRandomUniformFullInt", [Constant(shape), np.array(seed, np.int32)], expected, dynamic=[False])


def test_long_ranges_of_int64() -> None:
    """As unsigned numbers, also of more than 2^63."""
    drawn = words((5, 1), 20).astype(object)
    for low, high in ((-3, 5), (-(10**12), 10**15), (-(2**62) - 5, 2**62 + 9), (-(2**63), 2**63 - 1)):
        numbers = [low + (first + (second << 32)) % (high - low) for first, second in drawn.reshape(10, 2)]
        shape, seed = Constant(np.array([10], np.int32)), np.array([5, 1], np.int32)
        for bounds in ([Constant(low), Constant(high)], [np.array(low), np.array(high)]):
            check("StatelessRandomUniformInt", [shape, seed, *bounds], np.array(numbers, np.int64), dynamic=[False])


def test_a_shuffle_is_a_permutation() -> None:
    value = np.arange(3000).reshape(1000, 3)
    model = converted("RandomShuffle", [value], [("int64", 2)], {"seed": 3, "seed2": 0})
    with pytest.raises(AssertionError):  # the next call gives another one
        model(value)
    scalar = np.array(3, np.float32)
    check("RandomShuffle", [scalar], scalar)


def test_numbers_between_0_and_1_are_the_last_bits() -> None:
    seed = np.array([5, 1], np.int32)
    expected = ((words((5, 1), 10) & 0x7FFFFF) / 2.0**23).astype(np.float32)
    check("StatelessRandomUniform", [Constant(np.array([10], np.int32)), seed], expected, dynamic=[False])


def normals(drawn: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
    """Source: tensorflow/core/lib/random/random_distributions.h, BoxMullerFloat."""
    first, second = ((drawn & 0x7FFFFF) / 2.0**23).reshape(-1, 2).T
    radius = np.sqrt(-2 * np.log(np.maximum(first, 1e-7)))
    return np.stack([np.sin(2 * np.pi * second) * radius, np.cos(2 * np.pi * second) * radius], 1).reshape(-1)


@pytest.mark.parametrize("count", [1, 6, 9])
def test_normally_distributed_numbers(count: int) -> None:
    seed, shape = (5, 1), np.array([count, 1], np.int32)
    expected = normals(words(seed, 12))[:count].reshape(count, 1).astype(np.float32)
    inside = np.concatenate(
        [every[np.abs(every) < 2][:4] for every in (normals(words(seed, 16, 256 * at)) for at in range(3))]
    )
    for given in (Constant(shape), Static(shape)):
        operands = [given, np.array(seed, np.int32)]
        check("StatelessRandomNormal", operands, expected, rtol=1e-4, atol=1e-5, dynamic=[False])
        truncated = inside[:count].reshape(count, 1).astype(np.float32)
        check("StatelessTruncatedNormal", operands, truncated, rtol=1e-4, atol=1e-5, dynamic=[False])


def test_integers_of_32_bits() -> None:
    drawn = words((7, 3), 10).astype(np.int64)
    for low, high in ((-3, 5), (-(2**31), 2**31 - 1), (10**9, 2 * 10**9)):
        expected = (low + drawn % (high - low)).astype(np.int32)
        bounds = [np.array(low, np.int32), np.array(high, np.int32)]
        operands = [Constant(np.array([10], np.int32)), np.array([7, 3], np.int32)]
        check("StatelessRandomUniformInt", [*operands, *bounds], expected, dynamic=[False])
        check("StatelessRandomUniformInt", [*operands, *map(Constant, bounds)], expected, dynamic=[False])


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_shuffle_of_a_seed(*, dynamic: bool) -> None:
    rows = [*range(7)]
    for at, drawn in enumerate(words((5, 2), 6).tolist()):
        other = at + drawn % (7 - at)
        rows[at], rows[other] = rows[other], rows[at]
    value, seed = np.arange(14, dtype=np.float32).reshape(7, 2), Static(np.array([5, 2], np.int32))
    (found,) = converted(shuffled, [value, seed], [("float32", 2)], dynamic=dynamic)(value, seed.value)
    np.testing.assert_array_equal(found, value[rows])


def shuffled(b: Builder, value: Tensor, seed: Tensor) -> ir.Value:
    kinds = [("uint64", (1,)), ("uint64", (2,)), ("int32", ())]
    state = create_op(
        "StatelessRandomGetKeyCounterAlg", [ranked_tensor_type(TensorType(*kind)) for kind in kinds], [seed], {}
    )
    return b.op("StatelessShuffle", [value, *state.results], value.shape, value.dtype)


def test_classes_are_drawn_by_their_chances() -> None:
    logits, seed = np.array([[0.5, -1, 2, np.nan], [3, 3, -2, 0]], np.float32), (4, 9)
    weights = np.where(np.isfinite(logits), np.exp(logits - np.nanmax(logits, 1, keepdims=True)), 0)
    drawn = words(seed, 2 * 60).astype(np.int64).reshape(2, 30, 2)
    numbers = ((drawn[..., 0] & 0xFFFFF) << 32 | drawn[..., 1]) / 2.0**52
    sums = np.cumsum(weights, 1)
    expected = (sums[:, None] <= (numbers * sums[:, -1:])[..., None]).sum(2)
    for kind in (np.int32, np.int64):
        operands = [logits, Constant(np.int32(30)), np.array(seed, np.int64)]
        check("StatelessMultinomial", operands, expected.astype(kind), dynamic=[True])
    many = np.zeros((1, 10_000), np.float32)  # so many that all bits of a number count
    high, low = words(seed, 600).astype(np.int64).reshape(300, 2).T
    places = np.floor(((high & 0xFFFFF) << 32 | low) / 2.0**52 * 10_000).astype(np.int64)[None]
    check("StatelessMultinomial", [many, Constant(np.int32(300)), np.array(seed, np.int64)], places, dynamic=[False])


@pytest.mark.parametrize("number", [Constant(np.int32(50)), np.array(50, np.int32)], ids=["constant", "computed"])
def test_impossible_classes_are_never_drawn(number: Any) -> None:
    logits = np.array([[-np.inf, 0, -np.inf, 0], [-np.inf, -np.inf, 3, -np.inf]], np.float32)
    operands = [logits, number, np.zeros(2, np.int32)]
    numbers = [] if isinstance(number, Constant) else [number]
    (drawn,) = converted("StatelessMultinomial", operands, [("int64", 2)])(logits, *numbers, np.array([1, 2], np.int32))
    assert drawn.shape == (2, 50)
    assert set(drawn[0]) == {1, 3}
    assert set(drawn[1]) == {2}


def test_numbers_of_gamma_distributions_are_tried_in_the_order_of_tensorflow() -> None:
    seed, alphas = (29, 1), (0.1, 0.7, 1.0, 1.5)
    drawn = [[gamma(seed, alpha, kind * 120 + turn) for kind, alpha in enumerate(alphas)] for turn in range(120)]
    numbers, rejected = (np.array(each) for each in zip(*(zip(*row, strict=True) for row in drawn), strict=True))
    assert rejected[0, 0] == 1, "what is left of the first group is taken, and the next group"
    operands = [Constant(np.array([120, 4], np.int32)), np.array(seed, np.int32), np.array(alphas, np.float32)]
    expected = numbers.astype(np.float32)
    check("StatelessRandomGammaV2", operands, expected, dynamic=[False], rtol=2e-4, atol=1e-30)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("computed", [False, True])
def test_integers_of_a_range_are_all_drawn(dtype: str, *, computed: bool) -> None:
    shape, bounds = np.array([40, 5], np.int32), [np.array(bound, dtype) for bound in (-2, 3)]
    operands = [Static(shape), *bounds] if computed else [Constant(shape), *map(Constant, bounds)]
    model = converted("RandomUniformInt", operands, [(dtype, 2)], {"seed": 0, "seed2": 0})
    run = Interpreter(model_content=model.content).get_signature_runner()
    (numbers,) = run(**({"x0": shape, "x1": bounds[0], "x2": bounds[1]} if computed else {})).values()
    assert (numbers.dtype, numbers.shape, {*numbers.flat}) == (dtype, (40, 5), {-2, -1, 0, 1, 2})


def test_a_long_range_of_integers() -> None:
    bounds = [Constant(np.array(bound)) for bound in (-(2**61), 2**62)]
    operands = [Constant(np.array([1000], np.int32)), *bounds]
    numbers = drawn("RandomUniformInt", operands, "int64")
    assert -(2**61) <= numbers.min() < -(2**60)
    assert 2**61 < numbers.max() < 2**62
    assert len({*(numbers % 1024)}) > 500


@pytest.mark.parametrize(("dtype", "bits"), [("float16", 10), ("bfloat16", 7), ("float32", 23)])
def test_numbers_of_other_dtypes(dtype: str, bits: int) -> None:
    shape = Constant(np.array([1000], np.int32 if bits < 23 else np.int64))
    numbers = drawn("RandomUniform", [shape], dtype).astype(np.float32)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    assert abs(numbers.mean() - 0.5) < 0.05
    np.testing.assert_array_equal(numbers * 2**bits % 1, 0)
    assert (numbers * 2**bits % 2).any()
    numbers = drawn("RandomStandardNormal", [shape], dtype).astype(np.float32)
    assert abs(numbers.mean()) < 0.15
    assert 0.9 < numbers.std() < 1.1


def test_a_normal_distribution_without_its_ends() -> None:
    numbers = drawn("TruncatedNormal", [Constant(np.array([1000], np.int32))], "float32")
    assert 1.9 < np.abs(numbers).max() < 2
    assert abs(numbers.mean()) < 0.15
    assert 0.8 < numbers.std() < 0.96


def drawn(op: str, operands: Sequence[Constant], dtype: str) -> Any:
    content = converted(op, operands, [(dtype, 1)], {"seed": 0, "seed2": 0}).content
    (numbers,) = Interpreter(model_content=content).get_signature_runner()().values()
    return numbers


@pytest.mark.parametrize("op", ["RandomUniformInt", "TruncatedNormal", "RandomShuffle"])
@pytest.mark.parametrize("seeds", [(3, 0), (0, 4)])
def test_seeds_are_refused(op: str, seeds: tuple[int, int]) -> None:
    """Where no generator was made of them, as inside of loops."""
    kind, nothing = TensorType("float32", (3,)), cast("Tensor", None)
    seeded = TensorFlowOp(op, dict(zip(("seed", "seed2"), seeds, strict=True)), [nothing], [kind], [None], [kind])
    for decomposition in find_decompositions(op):
        with mlir_context(), pytest.raises(NotDecomposed, match="it has a seed"):
            decomposition.rewrite(seeded, Builder())
