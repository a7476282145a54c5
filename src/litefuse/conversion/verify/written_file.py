"""The last check of a conversion: loads the written file, prepares it and calls it once in LiteRT."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy.typing as npt

from litefuse.conversion.verify.file_check import CHECK_FILE, KEEP, FileCall, FileCheckJob
from litefuse.errors import FileCheckError, KernelError, LitefuseError, MissingKernelError
from litefuse.litert.inputs.model_inputs import LEVELS, Manner, ModelInputs, signatures_to_call
from litefuse.litert.runtime.flatbuffer import content_of, shared_files
from litefuse.litert.runtime.model_reader import Model, Op
from litefuse.litert.runtime.transfer import unpickle_kernels
from litefuse.support.plug_ins.entry_points import take_plug_ins
from litefuse.support.processes.limits import extra_memory

# The operands whose values the sizes of results follow from, or have to agree with.
_OPERANDS_OF_SIZES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(["FILL", "TRANSPOSE_CONV", "CONV_3D_TRANSPOSE", "WHERE", "UNIQUE"], (0,)),
    **dict.fromkeys(["RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"], (0,)),
    **dict.fromkeys(
        ["RESHAPE", "BROADCAST_TO", "TILE", "PAD", "PADV2", "MIRROR_PAD", "TRANSPOSE", "EXPAND_DIMS"], (1,)
    ),
    **dict.fromkeys(
        ["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR", "SPLIT_V", "ONE_HOT", "TOPK_V2", "MULTINOMIAL"], (1,)
    ),
    **dict.fromkeys(["SEGMENT_SUM", "REDUCE_WINDOW"], (1,)),
    **dict.fromkeys(["SLICE", "SPACE_TO_BATCH_ND", "BATCH_TO_SPACE_ND"], (1, 2)),
    **dict.fromkeys([f"UNSORTED_SEGMENT_{kind}" for kind in ("SUM", "PROD", "MIN", "MAX")], (2,)),
    **dict.fromkeys(["NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "SCATTER_ND"], (2,)),
    "SPARSE_TO_DENSE": (1,),
    "STRIDED_SLICE": (1, 2, 3),
    "RANGE": (0, 1, 2),
}
_SHAPES = {"SHAPE", "RANK"}


class _Question(NamedTuple):
    """Whether a tensor's values, or else its sizes, follow from values of inputs."""

    graph: int
    tensor: int
    of_values: bool


def values_decide(model: Model, graph: int, position: int) -> bool:
    """Whether sizes at an op follow from the values of inputs.

    With other values than the drawn ones, such an op may run: ``tf.reshape(x, shape)`` takes few shapes.
    """
    search = _Search(model)
    asked = list(search.at(graph, model.graphs[graph].ops[position]))
    known = set(asked)
    while asked:
        question = asked.pop()
        if search.is_input(question):
            if question.of_values:
                return True
            continue  # its sizes are those that were tried
        new = set(search.before(question)) - known
        known |= new
        asked += new
    return False


class _Search:
    def __init__(self, model: Model) -> None:
        self._model = model
        self._producers = [{result: op for op in graph.ops for result in op.outputs} for graph in model.graphs]
        # The operands that a called subgraph's inputs are.
        self._callers: dict[int, list[tuple[int, tuple[int, ...]]]] = {}
        for number, graph in enumerate(model.graphs):
            for op in graph.ops:
                operands = op.inputs[1:] if op.name == "IF" else op.inputs
                for callee in op.callees:
                    self._callers.setdefault(callee, []).append((number, operands))

    def is_input(self, question: _Question) -> bool:
        """Whether a tensor is an input of a signature, rather than one of a subgraph that an op calls."""
        return question.graph not in self._callers and question.tensor in self._model.graphs[question.graph].inputs

    def at(self, graph: int, op: Op) -> Iterator[_Question]:
        """Yields what the sizes at an op depend on: the values of some operands, the sizes of all."""
        operands = [operand for operand in op.inputs if operand >= 0]
        for operand in operands:
            yield _Question(graph, operand, of_values=False)
        for operand in operands if self._makes_sizes(graph, op) else ():
            yield _Question(graph, operand, of_values=True)
        for place in _OPERANDS_OF_SIZES.get(op.name, ()):
            if place < len(op.inputs) and op.inputs[place] >= 0:
                yield _Question(graph, op.inputs[place], of_values=True)

    def before(self, question: _Question) -> Iterator[_Question]:
        """Yields the questions that an answer depends on."""
        graph, tensor, of_values = question
        op = self._producers[graph].get(tensor)
        if op is None:  # a constant, or an input of a subgraph
            inputs = self._model.graphs[graph].inputs
            if tensor in inputs:
                place = inputs.index(tensor)
                for caller, operands in self._callers.get(graph, ()):
                    if place < len(operands) and operands[place] >= 0:
                        yield _Question(caller, operands[place], of_values)
        elif of_values and op.name not in _SHAPES:
            for operand in op.inputs:
                if operand >= 0:
                    yield _Question(graph, operand, of_values=True)
        else:
            yield from self.at(graph, op)

    def _makes_sizes(self, graph: int, op: Op) -> bool:
        """Whether an op that may do anything has results of dynamic sizes where its operands have none."""
        if not op.custom and op.name not in {"IF", "WHILE"}:
            return False
        tensor = self._model.graphs[graph].tensor
        dynamic = [None in tensor(index).shape for index in op.inputs if index >= 0]
        return not any(dynamic) and any(None in tensor(index).shape for index in op.outputs)


# The bytes that a model may take besides those for its weights: a small one may ask for any number.
_MEMORY = 3 << 29
_NO_MEMORY = "there is not enough memory for it; try it with litefuse run"
# A signature is called again if the first call takes no longer than this, for so long in all, in seconds.
_QUICK, _AGAIN = 0.2, 0.02
# The batch sizes and the sizes of other dynamic dimensions to try: few image models, for example, take the smallest.
_OPEN = ((1, 7), (1, 32), (1, 60), (1, 224), (1, 1), (3, 7))
# With several dynamic dimensions, the larger sizes together may be too much.
_MOST_ELEMENTS = 1 << 22


class _Unfit(Exception):  # noqa: N818  not an error: the file may run with other sizes
    """The model may run with other inputs than the tried ones; the text says why these do not work."""


def check_job(job: FileCheckJob, announce: Callable[[str], None]) -> FileCall:
    """Calls a file with the kernels that another process sent; see :func:`check_written_file`.

    Raises:
        FileCheckError: LiteRT refuses it.
    """
    announce(CHECK_FILE)
    take_plug_ins(job.plug_ins)
    unpickle_kernels(job.kernels)
    with extra_memory(_MEMORY + 3 * job.path.stat().st_size), shared_files():
        return check_written_file(job.path, xnnpack=job.xnnpack)


def check_written_file(path: Path, *, xnnpack: bool = True) -> FileCall:
    """Loads a model and calls each of its signatures, with inputs drawn from the model.

    Of a large model, those are prepared alone whose weights another signature of fewer inputs has.

    Sizes of dynamic dimensions are tried one after the other until the model runs with one. The kernels are the
    registered ones, litefuse's and those of plug-ins.

    Args:
        path: The ``.tflite`` file.
        xnnpack: Whether to call it with XNNPACK, if it is not too large for that.

    Returns:
        How long calls took; or why it could not be run here: a custom op has no kernel, a kernel refused the
        inputs, none of the tried sizes fits, or sizes follow from inputs' values, and the drawn ones do not fit.

    Raises:
        FileCheckError: LiteRT refuses it; the message names the op.
    """
    from litefuse.litert.runtime.interpreter import without_large_copies

    xnnpack = xnnpack and not without_large_copies(path)
    try:
        quick = _called(path, xnnpack=xnnpack)
        return FileCall(seconds=tuple(_seconds(path, quick).items()) if quick else ())
    except (MissingKernelError, KernelError) as error:
        text = error.message if error.where == str(path) else str(error)  # the file is a temporary one
        return FileCall(text.partition("\n")[0])
    except MemoryError:
        return FileCall(_NO_MEMORY)
    except _Unfit as error:
        return FileCall(f"{error}; give inputs shapes (--shape)")
    except Exception as error:
        if notes := getattr(error, "__notes__", ()):  # of a kernel in Python: its op and node
            return FileCall(f"{', '.join(notes)}: {type(error).__name__}: {error}")
        if not isinstance(error, (LitefuseError, RuntimeError, ValueError)):
            raise
        try:
            refusal = _refusal(path, error, xnnpack=xnnpack)
        except _Unfit as unfit:
            return FileCall(f"{unfit}; try it with litefuse run")
        if refusal is None:
            return FileCall(_NO_MEMORY)
        raise refusal from None


def _called(path: Path, *, xnnpack: bool) -> dict[str, dict[str, npt.NDArray[Any]]]:
    """Calls signatures, and prepares others; returns the inputs of those that are quick, and with XNNPACK alone."""
    from litefuse.litert.runtime.interpreter import Interpreter, without_large_copies

    model = ModelInputs.of_file(path)
    options: dict[str, Any] = {"num_threads": os.cpu_count(), **without_large_copies(path, xnnpack=xnnpack)}
    interpreter, called = Interpreter(path, **options), signatures_to_call(path, model)
    quick: dict[str, dict[str, npt.NDArray[Any]]] = {}
    for key, domains in model.signatures.items():
        if unranked := sorted(model.unranked[key]):
            raise _Unfit(f"the rank of {', '.join(map(repr, unranked))} is unknown")
        is_open = any(None in domain.shape for domain in domains.values())
        refused: list[Exception] = []
        for (batch, size), limit in product(_OPEN if is_open else _OPEN[:1], LEVELS):
            shapes = model.shapes(key, batch=batch, size=size)
            if is_open and size > 7 and sum(map(math.prod, shapes.values())) > _MOST_ELEMENTS:
                continue
            inputs = model.drawer(key, Random(0)).draw(shapes, Manner(limit))
            try:
                runner, begun = interpreter.get_signature_runner(key), time.perf_counter()
                if key in called:
                    runner(**inputs)
                else:
                    interpreter.prepare_call(key, inputs)
                if xnnpack and time.perf_counter() - begun < _QUICK:
                    quick[key] = inputs
                break
            except (MissingKernelError, MemoryError):
                raise
            except Exception as error:  # noqa: BLE001  whatever a kernel raises
                refused.append(error)
        else:
            # Different messages for the sizes suggest that another size may work.
            if len({str(error) for error in refused[:: len(LEVELS)]}) > 1:
                raise _Unfit(f"none of the sizes that were tried fit its dynamic dimensions: {_one_line(refused[0])}")
            raise refused[0]
    return quick


def _seconds(path: Path, quick: Mapping[str, dict[str, npt.NDArray[Any]]]) -> dict[str, float]:
    """Calls signatures again, for as long as nobody notices; returns the shortest time of each.

    They are measured as ``litefuse benchmark`` does: on one thread, without copying inputs and outputs.
    """
    from litefuse.litert.runtime.interpreter import Interpreter

    interpreter = Interpreter(path, num_threads=1)
    seconds: dict[str, float] = {}
    for key, inputs in quick.items():
        call = interpreter.prepare_call(key, inputs)
        call.set_inputs()
        call.invoke()  # the first call takes longer
        least, end = math.inf, time.perf_counter() + _AGAIN
        while key not in seconds or time.perf_counter() + least < end:
            call.set_inputs()
            begun = time.perf_counter()
            call.invoke()
            least = seconds[key] = min(least, time.perf_counter() - begun)
    return seconds


def _refusal(path: Path, error: Exception, *, xnnpack: bool) -> FileCheckError | None:
    """Returns the error to raise where LiteRT refuses a model; None if it says nothing, as when it has no memory.

    Raises ``_Unfit`` if it may take inputs of other values.
    """
    from litefuse.litert.runtime.failed_op import failed_op

    who, step, place = "LiteRT", "run", None
    if xnnpack:
        plain = _refused(path, xnnpack=False)
        if plain is None:
            from litefuse.conversion.verify.failing_op import failing_op

            who = "XNNPACK, LiteRT's delegate for this processor,"
            place = failing_op(path, lambda beginning: _refused(beginning, xnnpack=True) is not None)
        else:
            error = plain
    message = error.message if isinstance(error, LitefuseError) else str(error)
    if place is None:
        with content_of(path) as content:
            failed = failed_op(content, message)
            is_unfit = failed is not None and values_decide(Model(content), failed.subgraph, failed.position)
        if failed is not None:
            if is_unfit:
                raise _Unfit(f"values of its inputs decide about sizes at the op {failed.place}, and no drawn ones fit")
            step, place = failed.step, failed.place
    reported = "\n".join(f"  {line.strip()}" for line in message.splitlines() if line.strip())
    if not reported:
        return None
    return FileCheckError(
        f"the file was written, but {who} refuses to {step} it{f', at the op {place}' if place else ''}:\n{reported}",
        hint=f"Give inputs fixed shapes (--shape, --batch), or change what the model computes there. {KEEP}",
    )


def _refused(path: Path, *, xnnpack: bool) -> Exception | None:
    """Returns why LiteRT refuses a model; None if it does not."""
    try:
        _called(path, xnnpack=xnnpack)
    except Exception as error:  # noqa: BLE001  whatever a kernel raises
        return error
    return None


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
