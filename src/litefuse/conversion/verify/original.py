"""Entry point of the child process that calls the original model in TensorFlow, which litefuse loads nowhere else."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.litert.inputs.kinds import Kind
from litefuse.support.progress.stages import Step

Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
"""Arrays by the names of inputs or outputs."""

_SEEN = 1 << 18


class RefusedCallError(LitefuseError):
    """The original does not run on the inputs of a call."""


class Call(NamedTuple):
    """One call of a signature.

    Attributes:
        signature: The signature's key.
        inputs: The inputs of the call.
        thin: Whether only some elements of large outputs are compared: with many such calls, all would take too much
            memory.
        kind: The kind of numbers that it is to show something of, element by element; either model may refuse these,
            and then has no outputs. None for a usual call.
    """

    signature: str
    inputs: Arrays
    thin: bool = False
    kind: Kind | None = None

    def seen(self, output: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Returns the elements of an output to compare: of a large one, every n-th element, with an odd n."""
        if not self.thin or output.size <= _SEEN:
            return output
        return np.array(output.reshape(-1)[:: math.ceil(output.size / _SEEN) | 1])

    @property
    def described(self) -> str:
        """The names and shapes of the inputs, for a message."""
        return ", ".join(f"{name} {list(value.shape)}" for name, value in self.inputs.items()) or "no inputs"


@dataclass(frozen=True)
class OriginalJob:
    """The job of the process: the model and the calls.

    Attributes:
        model: The folder of a SavedModel, or the file of a frozen graph.
        tags: The tags of the graph in the SavedModel; None for the only one, or the one for serving.
        rounds: The calls; each round begins with the state that the model was saved with.
        outputs: The names of each signature's outputs, which are tensors of a frozen graph.
    """

    model: Path
    tags: tuple[str, ...] | None
    rounds: tuple[tuple[Call, ...], ...]
    outputs: Mapping[str, tuple[str, ...]]


def call_original(job: OriginalJob, announce: Callable[[str], None]) -> list[list[Arrays]]:
    """Loads the model and calls it.

    Returns:
        The outputs of each call of each round, strings as objects (bytes).

    Raises:
        LitefuseError: TensorFlow is missing, or does not load the model, or refuses a call.
    """
    tf = load_tensorflow(announce)
    where = str(job.model)
    outputs: list[list[Arrays]] = []
    for number, calls in enumerate(job.rounds):
        announce(Step(f"call the original: round {number + 1} of {len(job.rounds)}", number, len(job.rounds)))
        outputs.append(call_functions(tf, load_functions(tf, job, calls), calls, where))
    return outputs


def load_tensorflow(announce: Callable[[str], None]) -> Any:
    """Imports TensorFlow.

    Raises:
        LitefuseError: It is missing.
    """
    announce("load TensorFlow")
    if importlib.util.find_spec("tensorflow") is None:
        raise LitefuseError(
            "calling the original model requires TensorFlow, which is not installed",
            hint='pip install "litefuse[keras]", or pass the expected outputs (--expected FILE.npz).',
        )
    return importlib.import_module("tensorflow")


class Function(NamedTuple):
    """A signature of the original.

    Attributes:
        dtypes: The dtypes of its inputs, by their names.
        call: Calls it with tensors by their names.
        owner: The object that owns its variables, which are freed with it.
        concrete: TensorFlow's function, with a graph.
        arguments: The names of the inputs, in the function's own order.
        outputs: The names of tensors in its graph, by the names of the outputs.
    """

    dtypes: Mapping[str, Any]
    call: Callable[..., Mapping[str, Any]]
    owner: Any
    concrete: Any
    arguments: tuple[str, ...]
    outputs: Mapping[str, str]

    def given(self, tf: Any, call: Call) -> list[Any]:
        """Returns the tensors of a call, in the order of the function's inputs."""
        return [_given(tf, call.inputs[name], self.dtypes[name]) for name in self.arguments]


def load_functions(tf: Any, job: OriginalJob, calls: Sequence[Call]) -> dict[str, Function]:
    """Loads the signatures, with the state that the model was saved with.

    Raises:
        LitefuseError: TensorFlow does not load the model.
    """
    try:
        return _frozen(tf, job, calls) if job.model.is_file() else _saved(tf, job)
    except Exception as error:  # TensorFlow raises whatever its readers do
        raise LitefuseError(f"TensorFlow does not load it: {_described(error)}", where=str(job.model)) from error


def call_functions(tf: Any, functions: Mapping[str, Function], calls: Sequence[Call], where: str) -> list[Arrays]:
    """Returns the outputs of consecutive calls.

    Raises:
        LitefuseError: No such signature, or TensorFlow refuses a call.
    """
    return [_called(tf, functions, call, where) for call in calls]


def _saved(tf: Any, job: OriginalJob) -> dict[str, Function]:
    try:
        loaded = tf.saved_model.load(str(job.model), tags=job.tags)
    except ValueError:
        if job.tags is not None:
            raise
        loaded = tf.saved_model.load(str(job.model), tags=["serve"])

    functions: dict[str, Function] = {}
    for key, function in loaded.signatures.items():
        specs = function.structured_input_signature[1]
        dtypes = {name: spec.dtype for name, spec in specs.items()}
        outputs = _output_names(tf, function)
        functions[key] = Function(dtypes, function, loaded, function, tuple(sorted(specs)), outputs)
    return functions


def _frozen(tf: Any, job: OriginalJob, calls: Sequence[Call]) -> dict[str, Function]:
    """Returns the functions of a frozen graph whose inputs and outputs are the tensors that the signatures name."""
    graph = tf.compat.v1.GraphDef()
    if job.model.suffix == ".pbtxt":
        importlib.import_module("google.protobuf.text_format").Parse(job.model.read_text("utf-8"), graph)
    else:
        graph.ParseFromString(job.model.read_bytes())
    whole = tf.compat.v1.wrap_function(lambda: tf.compat.v1.import_graph_def(graph, name=""), [])

    functions: dict[str, Function] = {}
    for call in calls:
        feeds = {name: whole.graph.get_tensor_by_name(_tensor(name)) for name in call.inputs}
        fetches = {name: whole.graph.get_tensor_by_name(_tensor(name)) for name in job.outputs[call.signature]}
        dtypes = {name: tensor.dtype for name, tensor in feeds.items()}
        pruned = whole.prune([*feeds.values()], fetches)
        functions[call.signature] = Function(
            dtypes,
            _by_name(pruned, tuple(feeds)),
            whole,
            pruned,
            tuple(feeds),
            _output_names(tf, pruned),
        )
    return functions


def _output_names(tf: Any, function: Any) -> dict[str, str]:
    """Returns the names of tensors in a function's graph by output name; of nested structures, by their order."""
    names = tf.nest.pack_sequence_as(function.structured_outputs, [output.name for output in function.outputs])
    return dict(names)


def _by_name(function: Any, names: Sequence[str]) -> Callable[..., Any]:
    def call(**given: Any) -> Any:
        return function(*(given[name] for name in names))

    return call


def _tensor(name: str) -> str:
    return name if ":" in name else f"{name}:0"


def _called(tf: Any, functions: Mapping[str, Function], call: Call, where: str) -> Arrays:
    function = functions.get(call.signature)
    if function is None:
        raise LitefuseError(
            f"the original has no signature {call.signature!r}",
            where=where,
            hint=f"Its signatures are {', '.join(functions) or 'none'}.",
        )
    if function.dtypes.keys() != call.inputs.keys():
        takes, given = _names(function.dtypes), _names(call.inputs)
        raise LitefuseError(
            f"the original's signature {call.signature!r} takes {takes}, the model's {given}", where=where
        )
    try:
        given = {name: _given(tf, call.inputs[name], dtype) for name, dtype in function.dtypes.items()}
        outputs = function.call(**given)
    except Exception as error:  # as any op of the model does
        if call.kind:
            return {}
        raise RefusedCallError(
            f"the original does not run on {call.described}: {_described(error)}",
            where=f"{where}, signature {call.signature!r}",
            hint="Pass inputs that it accepts, or their shapes (--inputs, --shape).",
        ) from error
    return {name: call.seen(np.asarray(value.numpy())) for name, value in outputs.items()}


def _given(tf: Any, value: npt.NDArray[Any], dtype: Any) -> Any:
    """Returns an array as a tensor of the original's dtype: the model's may be narrower or wider."""
    return tf.constant(value if value.dtype == object else value.astype(dtype.as_numpy_dtype), dtype)


def _names(mapping: Mapping[str, object]) -> str:
    return ", ".join(sorted(mapping)) or "nothing"


def _described(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines[:3])[:600]}"
