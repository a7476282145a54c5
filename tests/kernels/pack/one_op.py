"""Models of one custom op, run with either form of its kernel in the pack."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from litefuse.kernels import PACK, native_library
from litefuse.litert.runtime.interpreter import Interpreter
from tests.litert.runtime.models import Graph, model

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

FORMS = ("numpy", "native") if native_library() is not None else ("numpy",)
"""The forms of the pack's kernels that are there: the native library is missing where there is no compiler."""


def run(
    op: str,
    inputs: Sequence[npt.ArrayLike],
    outputs: Sequence[npt.DTypeLike],
    options: Mapping[str, Any] | bytes = b"",
    *,
    form: str = "numpy",
    constants: Collection[int] = (),
) -> list[npt.NDArray[Any]]:
    """The outputs of one custom op, in the runtime; the model is invoked twice and must give the same twice.

    Args:
        op: The op's name.
        inputs: Its inputs; strings as an array of objects, a scalar one as an array of numpy's own bytes.
        outputs: The dtypes of its outputs.
        options: Its options, written as a flexbuffer map unless they are bytes.
        form: Which kernel runs: ``numpy`` or ``native``.
        constants: The positions of the inputs that are constants of the model.
    """
    arrays = [np.asarray(value) for value in inputs]
    graph = Graph()
    dtypes = [np.dtype(object) if array.dtype.kind == "S" else array.dtype for array in arrays]
    tensors = [
        graph.tensor(f"constant_{place}", array.shape, dtype, value=array)
        if place in constants
        else graph.input(f"input_{place}", array.shape, dtype)
        for place, (array, dtype) in enumerate(zip(arrays, dtypes, strict=True))
    ]
    results = [graph.output(f"output_{place}", [], dtype) for place, dtype in enumerate(outputs)]
    graph.custom(op, tensors, results, options)
    interpreter = Interpreter(model(graph), custom_ops=[PACK[op]] if form == "numpy" else None)
    interpreter.allocate_tensors()
    answers: list[list[npt.NDArray[Any]]] = []
    for _ in range(2):
        for place, array in enumerate(arrays):
            if place not in constants:
                interpreter.set_tensor(tensors[place], array)
        interpreter.invoke()
        answers.append([interpreter.get_tensor(index) for index in results])
    for first, second in zip(*answers, strict=True):
        np.testing.assert_array_equal(first, second, err_msg="the second call differs from the first")
    return answers[1]
