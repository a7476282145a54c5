"""What TensorFlow and LiteRT make of the cases of ``structures``, each told from the other."""

from __future__ import annotations

import importlib
import os
import pickle
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

import litefuse
from litefuse.errors import LitefuseError
from tests.tensorflow.edges.measure import Row
from tests.tensorflow.edges.structures import CASES, structures
from tests.tensorflow.process import RemoteError

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

Array: TypeAlias = npt.NDArray[Any]
Answer: TypeAlias = "list[Array] | str"

REFUSED, FAILS, DIES = "refused", "an error", "the process ends"
# So many elements are all written down.
_SHORT = 8


def answers(tensorflow: TensorFlow, names: Sequence[str]) -> dict[str, tuple[Answer, ...]]:
    """Returns the results of cases: of TensorFlow, of LiteRT with XNNPACK, and without.

    The cases are one model, or, where one of them fails, as many as are needed.

    Args:
        tensorflow: The process that runs the original.
        names: The names of the cases.
    """
    path = tensorflow.save(structures, tuple(names))
    places = {name: len(CASES[name][1]) for name in names}
    inputs = {f"x{n}_{place}": CASES[name][1][place] for n, name in enumerate(names) for place in range(places[name])}
    sides: list[Mapping[str, Array] | str] = []
    try:
        sides.append(tensorflow.run(path, inputs, calls=1)[0])
    except RemoteError:
        sides.append(FAILS)
    try:
        model = litefuse.convert(path).model_bytes
    except LitefuseError:
        sides += [REFUSED, REFUSED]
    else:
        sides += [_run(model, inputs, resolver) for resolver in ("BUILTIN", "BUILTIN_WITHOUT_DEFAULT_DELEGATES")]
    if len(names) > 1 and any(isinstance(side, str) for side in sides):
        middle = len(names) // 2
        return answers(tensorflow, names[:middle]) | answers(tensorflow, names[middle:])
    return {
        name: tuple(side if isinstance(side, str) else _of_case(side, number) for side in sides)
        for number, name in enumerate(names)
    }


def _of_case(results: Mapping[str, Array], number: int) -> list[Array]:
    return [value for key, value in sorted(results.items()) if key.startswith(f"y{number}_")]


def _run(model: bytes, inputs: Mapping[str, Array], resolver: str) -> Mapping[str, Array] | str:
    """Runs a model in a process of its own, which may end."""
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        answer: object = FAILS
        try:
            kind = litert.OpResolverType[resolver]
            engine = litert.Interpreter(model_content=model, experimental_op_resolver_type=kind, num_threads=1)
            answer = {name: value.copy() for name, value in engine.get_signature_runner()(**inputs).items()}
        finally:
            with os.fdopen(writing, "wb") as stream:
                pickle.dump(answer, stream)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        written = stream.read()
    os.waitpid(child, 0)
    return pickle.loads(written) if written else DIES


def rows_of(results: Mapping[str, tuple[Answer, ...]]) -> list[Row]:
    """Returns a row for each case whose results are not those of TensorFlow."""
    rows: list[Row] = []
    for name, (first, *others) in results.items():
        if not all(_is_same(first, other) for other in others):
            rows.append(Row(name, (), *_told(first, others)))
    return rows


def _is_same(first: Answer, second: Answer) -> bool:
    if isinstance(first, str) or isinstance(second, str):
        return first == second
    return len(first) == len(second) and all(map(_is_equal, first, second))


def _is_equal(first: Array, second: Array) -> bool:
    return first.shape == second.shape and bool(_equal_elements(first, second).all())


def _equal_elements(first: Array, second: Array) -> npt.NDArray[np.bool_]:
    if first.dtype.kind != "f":
        return np.asarray(first == second)
    close = {"rtol": 1e-4, "atol": 1e-6} if first.dtype == np.float32 else {"rtol": 2e-3, "atol": 0.0}
    return np.isclose(first.astype(np.float64), second.astype(np.float64), equal_nan=True, **close)


def _told(first: Answer, others: Sequence[Answer]) -> list[str]:
    """The results in words: all of a few, or the first elements that differ."""
    sides = [first, *others]
    arrays = [side for side in sides if not isinstance(side, str)]
    for results in zip(*arrays, strict=False):
        shapes = {result.shape for result in results}
        differ = len(shapes) > 1 or not all(_equal_elements(results[0], result).all() for result in results[1:])
        if not differ and len(arrays) == len(sides):
            continue
        told = iter(_written(results))
        return [side if isinstance(side, str) else next(told) for side in sides]
    return [side if isinstance(side, str) else "a result" for side in sides]


def _written(results: Sequence[Array]) -> list[str]:
    if len({result.shape for result in results}) > 1:
        return [f"of shape {list(result.shape)}" for result in results]
    if results[0].size <= _SHORT:
        return [_text(result.reshape(-1)) for result in results]
    same = np.logical_and.reduce([_equal_elements(results[0], result) for result in results])
    places = np.flatnonzero(~same.reshape(-1))[:_SHORT] if not same.all() else np.arange(_SHORT)
    dots = ", ..." if len(places) == _SHORT else ""
    return [f"{_text(result.reshape(-1)[places])}{dots}" for result in results]


def _text(values: Array) -> str:
    texts = [f"{value:.5g}" if values.dtype.kind == "f" else str(value).lower() for value in values.tolist()]
    return ", ".join(text.replace("nan", "NaN") for text in texts)
