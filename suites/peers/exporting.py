"""Writes a function of TensorFlow, with inputs and expected outputs, as a case of a suite."""

from __future__ import annotations

import hashlib
import importlib
import re
import shutil
from typing import TYPE_CHECKING, Any

import numpy as np

from suites.cases import Case, write_case
from suites.peers.sensitivity import moved_by_a_digit, tolerances

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

_SIGNATURE = "serving_default"
# Twice the relative distance of neighbouring numbers.
_HALF = {"float16": 2.0**-9, "bfloat16": 2.0**-6}
_LONGEST_NAME = 100


class Exporter:
    """Writes the cases of one suite, each named after the test that it is from.

    Args:
        tf: The module ``tensorflow``.
        folder: Where the cases are written.
        suite: The suite's name.
    """

    def __init__(self, tf: Any, folder: Path, suite: str) -> None:
        self._tf = tf
        self._folder = folder
        self._suite = suite
        self._test = ""
        self._count = 0

    def begin(self, test: str) -> None:
        """Says of which test the next cases are."""
        self._test = test
        self._count = 0

    @property
    def count(self) -> int:
        """How many cases the current test has had."""
        return self._count

    def export(
        self,
        function: Callable[..., Any],
        specs: Sequence[Any],
        batches: Sequence[Sequence[Any]],
        *,
        tracked: Any = None,
        rtol: float = 1e-5,
        atol: float = 1e-5,
    ) -> None:
        """Writes a function as a case.

        Args:
            function: Takes tensors and gives tensors, in any structure.
            specs: The ``TensorSpec`` of each argument.
            batches: The arguments of each call, as arrays or tensors.
            tracked: What holds the function's variables, where it has any.
            rtol: The relative tolerance of the test.
            atol: The absolute one.
        """
        tf = self._tf
        names = [f"input_{index}" for index in range(len(specs))]
        signature = [tf.TensorSpec(spec.shape, spec.dtype, name=name) for spec, name in zip(specs, names, strict=True)]

        @tf.autograph.experimental.do_not_convert
        def serve(*tensors: Any) -> dict[str, Any]:
            flat = tf.nest.flatten(function(*tensors), expand_composites=True)
            return {f"output_{index}": tf.convert_to_tensor(each) for index, each in enumerate(flat)}

        resource = importlib.import_module("tensorflow.python.trackable.resource")
        tracker: Any = resource.ResourceTracker()
        with resource.resource_tracker_scope(tracker):
            served = tf.function(serve, input_signature=signature)
            concrete = served.get_concrete_function()
        module = tf.Module()
        module.serve, module.tracked = served, tracked
        module.resources, module.variables_of_graph = list(tracker.resources), list(concrete.graph.variables)

        def write(path: str) -> None:
            tf.saved_model.save(module, path, signatures={_SIGNATURE: concrete})

        def call(tensors: Sequence[Any]) -> dict[str, Any]:
            values = [tf.convert_to_tensor(each, spec.dtype) for each, spec in zip(tensors, specs, strict=True)]
            result: Mapping[str, Any] = concrete(*values)
            return {name: each.numpy() for name, each in result.items()}

        inputs = [{n: _array(each) for n, each in zip(names, batch, strict=True)} for batch in batches]
        moved = [[moved_by_a_digit(each) for each in map(_array, batch)] for batch in batches]
        runs, moved_runs = ([lambda batch=batch: call(batch) for batch in each] for each in (batches, moved))
        self.write(write, runs, inputs, rtol, atol, moved_runs)

    def write(
        self,
        save: Callable[[str], None],
        runs: Sequence[Callable[[], dict[str, Any]]],
        inputs: Sequence[Mapping[str, Any]],
        rtol: float = 1e-5,
        atol: float = 1e-5,
        moved_runs: Sequence[Callable[[], dict[str, Any]]] = (),
    ) -> None:
        """Writes a case.

        Where a second run gives other outputs, since ops draw numbers or a state has changed, only shapes and dtypes
        are compared later, which an infinite tolerance says. Where outputs move further than the tolerance with the
        last digits of the inputs, they may differ as far.

        Args:
            save: Writes the SavedModel into a folder.
            runs: Each gives the outputs by name for the inputs at the same place.
            inputs: The inputs of each call, by name.
            rtol: The relative tolerance of the test.
            atol: The absolute one.
            moved_runs: The runs for inputs that have been moved by a digit, if that is known.
        """
        name = self._name()
        folder = self._folder / name
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir(parents=True)
        try:
            save(str(folder / "saved_model"))
            expected = [run() for run in runs]
            if any(_differ(run(), before) for run, before in zip(runs, expected, strict=True)):
                atol = float("inf")
            dtypes = {str(np.asarray(each).dtype) for results in expected for each in results.values()}
            rtol = max(rtol, *(_HALF.get(dtype, 0.0) for dtype in dtypes))
            outliers = 0.0
            if np.isfinite(atol):
                for before, run in zip(expected, moved_runs, strict=False):
                    atol, share = tolerances(before, run(), rtol, atol)
                    outliers = max(outliers, share)
            case = Case(name, self._suite, _SIGNATURE, rtol, atol, outliers)
            write_case(folder, case, list(zip(inputs, expected, strict=True)))
        except BaseException:
            shutil.rmtree(folder)
            raise
        self._count += 1

    def _name(self) -> str:
        test = self._test if self._count == 0 else f"{self._test}.{self._count}"
        name = re.sub(r"[^A-Za-z0-9_.=-]+", "_", test).strip("_")
        if len(name) > _LONGEST_NAME or name != test:
            name = f"{name[:_LONGEST_NAME]}_{hashlib.sha256(test.encode()).hexdigest()[:8]}"
        return name


def _array(value: Any) -> Any:
    return value.numpy() if hasattr(value, "numpy") else np.asarray(value)


def _differ(results: Mapping[str, Any], others: Mapping[str, Any]) -> bool:
    return any(
        np.shape(result) != np.shape(others[name]) or not bool(np.all((result == others[name]) | (result != result)))
        for name, result in results.items()
    )
