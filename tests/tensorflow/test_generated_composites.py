"""Composites as users mark them: each gets a kernel that computes what it computes."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pytest

import litefuse
from litefuse.kernels.generator.body import read_bodies
from litefuse.kernels.generator.graph import NotGenerated
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import build_kernels, identifiers
from litefuse.litert.cpp.compiler import find_compiler
from tests.tensorflow.checking import run_calls
from tests.tensorflow.generated_composites import COMPOSITES, all_composites

if TYPE_CHECKING:
    from tests.tensorflow.process import Call, TensorFlow

# Runs all calls in a process with the address sanitizer's library, which the kernels are compiled for.
CALLER = """
import pickle, sys
from ai_edge_litert.interpreter import Interpreter, load_delegate
model, library, calls, results = sys.argv[1:]
interpreter = Interpreter(model, num_threads=1, experimental_delegates=[load_delegate(library)])
with open(calls, "rb") as file:
    todo = pickle.load(file)
made = [{k: v.copy() for k, v in interpreter.get_signature_runner(name)(**inputs).items()} for name, inputs in todo]
with open(results, "wb") as file:
    pickle.dump(made, file)
"""


class Outcome(NamedTuple):
    """What the composites came to.

    Attributes:
        calls: The calls, each set of inputs twice.
        expected: TensorFlow's results.
        bodies: Those of the stock runtime without kernels.
        kernels: Those with the kernels.
        declined: Why composites have none.
    """

    calls: list[Call]
    expected: list[dict[str, npt.NDArray[Any]]]
    bodies: list[dict[str, npt.NDArray[Any]]]
    kernels: list[dict[str, npt.NDArray[Any]]]
    declined: Mapping[str, str]


@pytest.fixture(scope="module")
def outcome(
    request: pytest.FixtureRequest, tensorflow: TensorFlow, tmp_path_factory: pytest.TempPathFactory
) -> Outcome:
    """What all composites compute, with kernels of those that are run."""
    path = tensorflow.save(all_composites)
    content = litefuse.convert(path, composites="keep", checks=litefuse.Checks(targets=False)).model_bytes
    folder = tmp_path_factory.mktemp("composites")
    found = read_bodies(content, "model")
    declined: dict[str, str] = {}
    sources: dict[str, str] = {}
    for name, own in identifiers([*COMPOSITES]).items():
        try:
            sources[name] = kernel_source(name, found[name], own, "model")
        except NotGenerated as error:
            declined[name] = str(error)
    tests = [item for item in request.session.items if isinstance(item, pytest.Function)]
    called = [test for test in tests if test.function is test_kernels_compute_what_tensorflow_and_the_body_compute]
    chosen = {str(test.callspec.params["name"]) for test in called}
    # One file, little optimized: the headers take most of the time.
    first, *others = [name for name in sources if name in chosen] or [*sources]
    sources = {name: sources[name] for name in (first, *others)}
    together = {first: "\n".join(sources.values()), **dict.fromkeys(others, "")}
    library = build_kernels(folder, together, sanitize=True, options=["-O1"])
    calls = _calls()
    return Outcome(
        calls,
        tensorflow.run_calls(path, calls),
        run_calls(content, calls),
        _called_apart(folder, content, library, calls),
        declined,
    )


def _calls() -> list[Call]:
    """Two calls with the small sizes, and one with others."""
    random = np.random.default_rng(3)
    calls: list[Call] = []
    for name, composite in COMPOSITES.items():
        inputs = {each.name: each.value(random, each.small) for each in composite.inputs}
        others = {each.name: each.value(random, [size + 1 for size in each.small]) for each in composite.inputs}
        calls += [(name, inputs), (name, inputs), (name, others)]
    return calls


def _called_apart(folder: Path, content: bytes, library: Path, calls: list[Call]) -> list[dict[str, npt.NDArray[Any]]]:
    (folder / "model.tflite").write_bytes(content)
    (folder / "calls").write_bytes(pickle.dumps([(name, dict(inputs)) for name, inputs in calls]))
    sanitizer = subprocess.run(
        [*find_compiler(), "-print-file-name=libasan.so"], capture_output=True, text=True, check=True
    ).stdout.strip()
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            CALLER,
            *(str(folder / name) for name in ("model.tflite", library.name, "calls", "results")),
        ],
        env=os.environ | {"LD_PRELOAD": sanitizer, "ASAN_OPTIONS": "detect_leaks=0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return pickle.loads((folder / "results").read_bytes())


def test_each_composite_gets_a_kernel(outcome: Outcome) -> None:
    assert outcome.declined == {}


@pytest.mark.parametrize("name", COMPOSITES)
def test_kernels_compute_what_tensorflow_and_the_body_compute(outcome: Outcome, name: str) -> None:
    places = [place for place, (called, _) in enumerate(outcome.calls) if called == name]
    for place in places:
        for key, kernel in outcome.kernels[place].items():
            for other in (outcome.expected[place][key], outcome.bodies[place][key]):
                assert kernel.dtype == other.dtype
                size = max(1.0, float(np.abs(other.astype(np.float64)).max()))
                np.testing.assert_allclose(kernel, other, rtol=0, atol=3e-6 * size, err_msg=f"{name} {key}")
    first, second, _ = places
    for key in outcome.kernels[first]:
        np.testing.assert_array_equal(outcome.kernels[first][key], outcome.kernels[second][key])
