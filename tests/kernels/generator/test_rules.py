"""Each rule computes what LiteRT computes: bodies of an op or a few, in the stock runtime, with and without kernels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest
from ai_edge_litert.interpreter import Interpreter, OpResolverType, load_delegate

from litefuse.kernels.generator.body import Body, body_model, composite_model, read_bodies
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import build_kernels, identifiers
from litefuse.litert.results.difference import difference
from tests.every import every
from tests.kernels.generator.bodies import BodyWriter, file_of
from tests.kernels.generator.cases import CASES
from tests.kernels.generator.index_cases import INDICES

_SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 100.25, -100.25, 1e-30, -1e30, 300.0, -300.0, 88.0]
# The cases whose numbers are as large as those.
_TAKE_ANY = (
    "binary",
    "unary",
    "activated",
    "comparisons",
    "selection",
    "packs",
    *(f"casts_of_float{bits}" for bits in (16, 32, 64)),
)

# Whether the kernels are compiled with sanitizers, whose library has to be preloaded then.
_SANITIZED = bool(os.environ.get("LITEFUSE_SANITIZED_KERNELS"))

# The cases that are called with an empty batch.
_EMPTY = ("binary", "softmaxes", "concatenation", "reshapes", "running_sums", "arguments", "gathers", "segments")
_OUTSIDE = ("gathers", "gathers_of_batches", "gathers_of_elements", "segments", "largest")

# Sums in another order, whose results are much smaller than what is added.
_SUMS = ("sum", "mean")


class Generated(NamedTuple):
    content: bytes
    bodies: Mapping[str, Body]
    library: Path


@pytest.fixture(scope="module")
def generated(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Generated:
    """The cases that are run."""
    tests = [item for item in request.session.items if isinstance(item, pytest.Function)]
    rules = [test.callspec.params for test in tests if test.function is test_rule]
    chosen = {*(str(each["name"]) for each in rules), "repeated_rows", *_EMPTY, *_OUTSIDE}
    writers: list[BodyWriter] = []
    for name, write in ((name, write) for name, write in CASES.items() if name in chosen):
        writers.append(BodyWriter(name))
        write(writers[-1])
    content = file_of(*writers)
    bodies = read_bodies(content, "cases")
    classes = identifiers([*bodies])
    sources = {name: kernel_source(name, found, classes[name], "cases") for name, found in bodies.items()}
    # One file, not optimized, since that is what takes time.
    first, *others = sources
    together = {first: "\n".join(sources.values()), **dict.fromkeys(others, "")}
    library = build_kernels(tmp_path_factory.mktemp("kernels"), together, options=["-O0"], sanitize=_SANITIZED)
    return Generated(content, {name: found[0] for name, found in bodies.items()}, library)


class Run:
    """An interpreter that is called with arrays."""

    def __init__(self, content: bytes, library: Path | None, *, xnnpack: bool = True) -> None:
        resolvers = OpResolverType.AUTO, OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.interpreter: Any = Interpreter(
            model_content=content,
            num_threads=1,
            experimental_delegates=None if library is None else [load_delegate(str(library))],
            experimental_op_resolver_type=resolvers[not xnnpack],
        )

    def __call__(self, arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
        details = self.interpreter.get_input_details()
        for detail, array in zip(details, arrays, strict=True):
            self.interpreter.resize_tensor_input(detail["index"], array.shape)
        self.interpreter.allocate_tensors()
        for detail, array in zip(details, arrays, strict=True):
            self.interpreter.set_tensor(detail["index"], array)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(each["index"]) for each in self.interpreter.get_output_details()]


def drawn(body: Body, name: str, sizes: tuple[int, int], seed: int) -> list[npt.NDArray[Any]]:
    random = np.random.default_rng(seed)
    arrays: list[npt.NDArray[Any]] = []
    for place, index in enumerate(body.inputs):
        tensor = body.tensors[index]
        shape = [sizes[min(axis, 1)] if size is None else size for axis, size in enumerate(tensor.shape)]
        if name == "repeated_rows" and place == 0:
            shape[1] = 3
        dtype = np.dtype(tensor.dtype.lower())
        if dtype.kind == "f":
            array = random.normal(scale=2, size=shape)
            flat = array.reshape(-1)
            flat[: len(_SPECIAL)] = random.permutation(_SPECIAL)[: flat.size]
            if name.endswith("positive_numbers"):
                array = np.clip(abs(array), 1e-3, 30)
            if name not in _TAKE_ANY:
                array = np.clip(array, -20, 20)
            array = array.astype(dtype) if dtype != np.float16 else np.clip(array, -6e4, 6e4).astype(dtype)
        elif dtype.kind == "c":
            array = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
        elif dtype == np.bool_:
            array = random.integers(0, 2, shape).astype(dtype)
        elif name in INDICES:
            array = random.integers(0, INDICES[name], shape).astype(dtype)
        elif place == 1 and name.startswith(("binary", "power")):
            array = random.integers(1, 6, shape).astype(dtype)
            if name.startswith("binary") and name != "binary_uint8":
                array = (array * random.choice([-1, 1], shape)).astype(dtype)
        else:
            limits = np.iinfo(dtype)
            wide = name.startswith("casts") or name in ("reductions_int8", "reductions_uint8")
            low, high = (limits.min, limits.max) if wide else (max(limits.min, -9), 9)
            array = random.integers(low, high, shape, dtype=dtype, endpoint=True)
        arrays.append(array)
    return arrays


@pytest.mark.parametrize("name", CASES)
def test_rule(generated: Generated, name: str) -> None:
    body = generated.bodies[name]
    # XNNPACK's LOGISTIC of 1e30 is NaN on processors with AVX-512.
    specification = Run(body_model(generated.content, body), None, xnnpack=name != "unary")
    kernel = Run(composite_model(generated.content, body), generated.library)
    for seed, sizes in enumerate([(2, 5), (2, 5), (1, 4), (5, 16), (3, 7)]):
        arrays = drawn(body, name, sizes, seed)
        expected, found = specification(arrays), kernel(arrays)
        for number, (one, other) in enumerate(zip(found, expected, strict=True)):
            away = difference(one, other)
            assert away.error <= (1e-5 if name in _SUMS else 1e-6), (sizes, number, away, one, other)


@pytest.mark.parametrize("name", _OUTSIDE)
def test_places_outside_are_refused_as_by_the_body(generated: Generated, name: str) -> None:
    body = generated.bodies[name]
    arrays = drawn(body, name, (2, 3), 0)  # too few columns for the four largest
    if name != "largest":
        arrays[1].flat[-1] = 7
    for run in (
        Run(body_model(generated.content, body), None),
        Run(composite_model(generated.content, body), generated.library),
    ):
        with pytest.raises(RuntimeError, match=r"outside|beyond|bounds|elements|max_index|higher"):
            run(arrays)


def test_sizes_that_are_1_are_repeated_as_in_the_body(generated: Generated) -> None:
    body = generated.bodies["repeated_rows"]
    specification = Run(body_model(generated.content, body), None)
    kernel = Run(composite_model(generated.content, body), generated.library)
    random = np.random.default_rng(0)
    for first, second, third in ((2, 3, 2), (2, 1, 1), (1, 3, 4), (5, 1, 5), (1, 1, 1)):
        shapes = ((first, second, 64), (third, 1, 64), (3, 1))
        arrays = [random.normal(size=shape).astype(np.float32) for shape in shapes]
        for one, other in zip(kernel(arrays), specification(arrays), strict=True):
            assert difference(one, other).error <= 1e-6, (first, second, third)
    with pytest.raises(RuntimeError, match="are not broadcast"):
        kernel([np.zeros(shape, np.float32) for shape in ((2, 3, 64), (3, 1, 64), (3, 1))])


def test_an_empty_batch_gives_empty_results(generated: Generated) -> None:
    for name in _EMPTY:
        body = generated.bodies[name]
        kernel = Run(composite_model(generated.content, body), generated.library)
        results = kernel(drawn(body, name, (0, 0), 0))
        assert every(0 in result.shape or result.size for result in results)
