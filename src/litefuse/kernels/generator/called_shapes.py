"""The shapes that a model calls its composites with, when it is called with given sizes itself."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, NamedTuple, cast

from litefuse.errors import InterpreterError, LimitError, LitefuseError
from litefuse.kernels.generator.body import Body, read_signatures
from litefuse.litert.inputs.model_inputs import ModelInputs
from litefuse.support.processes.process import run_in_worker

# As ``litefuse benchmark`` takes sizes that are open and not given.
_BATCH, _SIZE = 1, 32

#: By a composite's name and its body's subgraph, the shapes of ``x0``, ``x1``, ... in the largest of its calls.
CalledShapes = Mapping[tuple[str, int], Mapping[str, tuple[int, ...]]]


class CallsJob(NamedTuple):
    """How a model is called.

    Attributes:
        content: The ``.tflite`` file.
        where: Its name, for messages.
        batch: The first size of inputs, where it is open; None: 1.
        shapes: Shapes of inputs by their names.
    """

    content: bytes
    where: str
    batch: int | None
    shapes: Mapping[str, tuple[int, ...]]


def known_shapes(
    content: bytes, where: str, on_step: Callable[[str], None], *, are_given: bool = False
) -> CalledShapes:
    """Returns the shapes that a model calls its composites with, where its own inputs have all sizes.

    Args:
        content: The ``.tflite`` file.
        where: Its name, for messages.
        on_step: Called with each step's name.
        are_given: Whether sizes have been given, so that those that are still open are taken to be usual ones.

    Raises:
        LimitError: The time is over.
    """
    graphs = read_signatures(content, where)
    are_open = any(None in graph.tensors[index].shape for graph in graphs for index in graph.inputs)
    if are_open and not are_given:
        return {}
    try:
        job = CallsJob(content, where, None, {})
        return cast("CalledShapes", run_in_worker(f"{__name__}:shapes_of_calls", job, on_step))
    except LitefuseError as error:
        if isinstance(error, LimitError):
            raise
        return {}  # it takes other inputs than those that were drawn, or kernels


def shapes_of_calls(job: CallsJob, announce: Callable[[str], None] = lambda _: None) -> CalledShapes:
    """Runs each signature of a model once, with drawn inputs, and looks at the operands of its composites.

    Raises:
        InterpreterError: The model does not run with these sizes.
        LitefuseError: No input has a name whose shape is given.
    """
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    announce("size-composites")
    inputs = ModelInputs(job.content)
    names = {name for signature in inputs.signatures.values() for name in signature}
    if unknown := sorted(job.shapes.keys() - names):
        raise LitefuseError(
            f"no input is called {unknown[0]!r}", where=job.where, hint=f"There are: {', '.join(sorted(names))}."
        )
    graphs = read_signatures(job.content, job.where)
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    called: dict[tuple[str, int], dict[str, tuple[int, ...]]] = {}
    interpreter: Any = None
    for key in inputs.signatures:
        shapes = inputs.shapes(key, batch=job.batch or _BATCH, size=_SIZE)
        shapes |= {name: shape for name, shape in job.shapes.items() if name in shapes}
        shapes = inputs.shapes(key, batch=job.batch or _BATCH, size=_SIZE, given=shapes)
        arrays = inputs.drawer(key, Random(0)).draw(shapes)
        try:
            if interpreter is None:
                interpreter = Interpreter(model_content=job.content, experimental_op_resolver_type=resolver)
            _call(interpreter, key, arrays)
        except (RuntimeError, ValueError) as error:
            message = f"the model does not run with these sizes: {' '.join(str(error).split())}"
            raise InterpreterError(message, where=job.where) from None
        for name, operands in _operands(interpreter, graphs):
            if _elements(operands) > _elements(called.get(name, {})) or name not in called:
                called[name] = operands
    return called


def _call(interpreter: Any, key: str, arrays: Mapping[str, Any]) -> None:
    if interpreter.get_signature_list():
        interpreter.get_signature_runner(key)(**arrays)
        return
    details = interpreter.get_input_details()
    for detail in details:
        interpreter.resize_tensor_input(detail["index"], arrays[detail["name"]].shape)
    interpreter.allocate_tensors()
    for detail in details:
        interpreter.set_tensor(detail["index"], arrays[detail["name"]])
    interpreter.invoke()


def _operands(interpreter: Any, graphs: Sequence[Body]) -> Iterator[tuple[tuple[str, int], dict[str, tuple[int, ...]]]]:
    """Yields the composites of the signatures' graphs, and the shapes of their operands in the last call."""
    for graph in graphs:
        for op in graph.ops:
            if op.name == "STABLEHLO_COMPOSITE" and op.options is not None and -1 not in op.inputs:
                name = op.options.name.decode() if isinstance(op.options.name, bytes) else str(op.options.name)
                shapes = {f"x{place}": _shape(interpreter, graph, index) for place, index in enumerate(op.inputs)}
                yield (name, int(op.options.decompositionSubgraphIndex)), shapes


def _shape(interpreter: Any, graph: Body, index: int) -> tuple[int, ...]:
    detail = interpreter._get_tensor_details(index, graph.graph)  # noqa: SLF001  of any subgraph
    return tuple(int(size) for size in detail["shape"])


def _elements(shapes: Mapping[str, tuple[int, ...]]) -> int:
    return sum(map(math.prod, shapes.values()))
