"""The reference of a verification: the original in TensorFlow, or another LiteRT model."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeGuard, cast

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.verify.layers.comparison import LookIntoOriginal, litert_original, observation_of_original
from litefuse.conversion.verify.layers.model_values import Observation
from litefuse.conversion.verify.layers.original_values import Match
from litefuse.conversion.verify.model_process import ModelJob, run_job
from litefuse.conversion.verify.original import Arrays, Call, OriginalJob
from litefuse.conversion.verify.side_effects import refuse_side_effects
from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.frontends.saved_model import Constant, SavedModel, Variable, load
from litefuse.frontends.saved_model.messages import NodeDef, TensorProto
from litefuse.frontends.saved_model.tensor_proto import tensor_value
from litefuse.frontends.source_of import source_of
from litefuse.litert.inputs.kinds import FEW, MOST_CONSTANTS, few_numbers
from litefuse.litert.inputs.model_inputs import ModelInputs, Tables
from litefuse.litert.metadata.names import original_names, signature_names
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.loading import is_library
from litefuse.litert.runtime.model_content import check, check_identifier, is_litert_model, path_and_content
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.cloud.names import name_of
from litefuse.support.cloud.paths import local
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.options.conversion import Conversion, Graph
from litefuse.support.processes.process import run_alone, run_in_worker
from litefuse.support.result import ConversionResult

_NameRecord = Mapping[str, Mapping[str, Mapping[str, str]]]


class Names(NamedTuple):
    """The names of an original that differ, by those of a model: by signature, ``inputs`` and ``outputs``."""

    record: _NameRecord

    @classmethod
    def of(cls, model: str | bytes, original: str | bytes | None = None) -> Names:
        """Reads the names of a model before it was given others, from its file.

        Args:
            model: The file of the model, or its content.
            original: The file or content of the original, if it is a LiteRT model: it may have other names as well.
        """
        ours = _read_names(model, original_names)
        if original is None:
            return cls(ours)
        theirs, present = _read_names(original, original_names), _read_names(original, signature_names)
        own = _read_names(model, signature_names)
        made: dict[str, dict[str, dict[str, str]]] = {}
        for key, roles in own.items():
            for role, names in roles.items():
                before = {old: new for new, old in theirs.get(key, {}).get(role, {}).items()}
                for name in names:
                    first = ours.get(key, {}).get(role, {}).get(name, name)
                    partner = before.get(first, first)
                    if partner != name and partner in present.get(key, {}).get(role, []):
                        made.setdefault(key, {}).setdefault(role, {})[name] = partner
        return cls(made)

    def call(self, call: Call) -> Call:
        """Returns a call of the original."""
        names = self._of(call.signature, "inputs")
        return call._replace(inputs={names.get(name, name): value for name, value in call.inputs.items()})

    def outputs(self, outputs: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Returns the names of the original's outputs by signature."""
        return {
            key: tuple(self._of(key, "outputs").get(name, name) for name in names) for key, names in outputs.items()
        }

    def results(self, call: Call, found: Arrays) -> Arrays:
        """Returns the outputs of a call under the names of the model."""
        names = {original: name for name, original in self._of(call.signature, "outputs").items()}
        return {names.get(name, name): value for name, value in found.items()}

    def rounds(
        self,
        call: Callable[[Sequence[Sequence[Call]], Mapping[str, tuple[str, ...]]], list[list[Arrays]]],
        rounds: Sequence[Sequence[Call]],
        outputs: Mapping[str, tuple[str, ...]],
    ) -> list[list[Arrays]]:
        """Calls the original in rounds, and returns its outputs under the names of the model."""
        outputs_of_rounds = call(
            [[self.call(one_call) for one_call in calls] for calls in rounds], self.outputs(outputs)
        )
        return [
            [self.results(one_call, result) for one_call, result in zip(calls, results, strict=False)]
            for calls, results in zip(rounds, outputs_of_rounds, strict=False)
        ]

    def _of(self, key: str, role: str) -> Mapping[str, str]:
        return self.record.get(key, {}).get(role, {})


def _read_names(model: str | bytes, read: Callable[[Any], Any]) -> Any:
    """Reads names from a file or content; none of what is not a model, which is reported when it is run."""
    try:
        with content_of(model if isinstance(model, bytes) else Path(model)) as content:
            return read(content)
    except Exception:  # noqa: BLE001 - following the offsets of damaged data fails in many ways
        return {}


def original_tables(model: Path, tags: Collection[str] | None) -> Tables:
    """Reads the tables, as far as they can be read: this is not the place to refuse a model."""
    try:
        loaded = load(model, tags) if model.is_dir() else None
    except LitefuseError:
        loaded = None
    return Tables() if loaded is None else _tables(loaded)


def _tables(model: SavedModel) -> Tables:
    keys: list[tuple[bytes | int, ...]] = []
    for table in model.tables.values():
        with suppress(LitefuseError):
            keys_of_table = table.read()[0]
            if keys_of_table.dtype.kind in "iuO":
                keys.append(tuple(keys_of_table.tolist()))
    captured: list[Variable | Constant] = [*model.variables.values(), *model.constants.values()]
    shapes = {
        tuple(size or 0 for size in capture.shape)
        for capture in captured
        if capture.shape and None not in capture.shape
    }
    nodes = [node for function in model.functions.values() for node in function.node_def]
    own = [number for constant in model.constants.values() for number in _few(constant.tensor)]
    numbers = dict.fromkeys([*(number for node in nodes for number in _numbers(node)), *own])
    asks_for_nan = any(node.op in {"IsNan", "IsInf", "IsFinite"} for node in nodes)
    return Tables(tuple(keys), frozenset(shapes), tuple(numbers)[:MOST_CONSTANTS], asks_for_nan)


def _numbers(node: NodeDef) -> Iterator[float]:
    """Yields the numbers of a constant, unless they are weights, and those that an op has as options."""
    if node.op == "Const":
        yield from _few(node.attr["value"].tensor)
    elif node.op == "Relu6":
        yield 6.0
    elif "epsilon" in node.attr:
        yield node.attr["epsilon"].f


def _few(tensor: TensorProto) -> list[float]:
    value = None
    if math.prod(dim.size for dim in tensor.tensor_shape.dim) <= FEW:
        with suppress(LitefuseError):
            value = tensor_value(tensor)
    return few_numbers(value)


Outputs: TypeAlias = Mapping[str, tuple[str, ...]]
"""The names of each signature's outputs."""

CallReference: TypeAlias = Callable[[Sequence[Sequence[Call]], Outputs], list[list[Arrays]]]
"""Returns the outputs of calls, in rounds."""

_ORIGINAL = "litefuse.conversion.verify.original:call_original"
_LAYERS = "litefuse.conversion.verify.layers.original_values:observe_original"
_CONVERSION = "litefuse.conversion.run:run_job"
_ENVIRONMENT = {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "2"}


class Reference(NamedTuple):
    """The model that another one is compared with.

    Attributes:
        name: Its name for messages.
        tables: The contents of its tables.
        call: Calls it.
        look: Returns a function that reads the tensors inside it, for signatures with these outputs.
        file: Its file, or its content, if it is a LiteRT model.
        moves: Returns how far its rounding moves the outputs of calls: that of its own ops, not of what fuses them.
    """

    name: str
    tables: Tables
    call: CallReference
    look: Callable[[Outputs], LookIntoOriginal]
    file: str | bytes | None = None
    moves: CallReference | None = None


def name_and_content(model: ConversionResult | str | os.PathLike[str] | bytes) -> tuple[str, str | bytes]:
    """Returns the name of a LiteRT model for messages, and its file or content.

    Raises:
        LitefuseError: It is neither, or at a URL where there is none.
    """
    if isinstance(model, bytes):
        return "model content", model
    if isinstance(model, str | os.PathLike):
        path = os.fsdecode(local(model))
        return name_of(path), path
    if not isinstance(getattr(model, "path", None), Path):
        raise LitefuseError(f"a model is the path of a LiteRT file, its content, or a result, not {model!r}")
    return repr(model), str(model.path)


def path_of(model: object) -> Path | None:
    """Returns the path of a model that is given by path; None for any other."""
    return Path(local(cast("str | os.PathLike[str]", model))) if isinstance(model, str | os.PathLike) else None


@contextmanager
def opened(
    original: object,
    tags: Iterable[str] | None,
    job: ModelJob,
    *,
    allow_side_effects: bool,
    announce: Callable[[str], None] = lambda _: None,
) -> Generator[Reference]:
    """Opens an original.

    Raises:
        LitefuseError: It cannot be read.
    """
    if is_litert(original):
        _check_litert(*name_and_content(original))
        names = Names.of(job.model, name_and_content(original)[1])
        yield _with_names(_litert_reference(original, job, announce), names)
        return
    source = source_of(original, [name for name in job.kernel_modules if not is_library(name)])
    with make_temporary_folder() as temporary:
        folder = source.folder(Path(temporary, "saved_model"))
        with source.opened(folder, announce):
            chosen = None if tags is None else tuple(tags)
            reference = _tensorflow_reference(
                folder, chosen, source.name, job, announce, allow_side_effects=allow_side_effects
            )
            yield _with_names(reference, Names.of(job.model))


def _with_names(reference: Reference, names: Names) -> Reference:
    """Returns a reference that takes and gives the names of the model, whose inputs and outputs were renamed."""
    if not names.record:
        return reference

    def look(outputs: Outputs) -> LookIntoOriginal:
        look_into = reference.look(names.outputs(outputs))

        def renamed(calls: Sequence[Call], observed: Observation, place: Path) -> Mapping[int, Match]:
            return look_into([names.call(one_call) for one_call in calls], observed, place)

        return renamed

    moves = reference.moves and partial(names.rounds, reference.moves)
    return reference._replace(call=partial(names.rounds, reference.call), look=look, moves=moves)


def is_litert(model: object) -> TypeGuard[ConversionResult | str | os.PathLike[str] | bytes]:
    """Whether a model is a LiteRT file, its content, or the result of a conversion."""
    path = path_of(model)
    if path is None:
        return isinstance(model, ConversionResult | bytes)
    return path.is_file() and (path.suffix == ".tflite" or is_litert_model(path))


def _check_litert(name: str, content: str | bytes) -> None:
    """Rejects a LiteRT model that cannot be followed."""
    path, data = path_and_content(content)
    check(path, data, name)
    if path is None:
        check_identifier(data, name)


def _op_names(model: str | bytes) -> set[str]:
    with content_of(model) as content:
        return {op.name for graph in Model(content).graphs for op in graph.ops}


def _litert_reference(
    model: ConversionResult | str | os.PathLike[str] | bytes, job: ModelJob, announce: Callable[[str], None]
) -> Reference:
    name, content = name_and_content(model)

    def job_of(outputs: Outputs) -> ModelJob:
        return replace(job, model=content, signatures=tuple(outputs), custom_ops=())

    def call(rounds: Sequence[Sequence[Call]], outputs: Outputs) -> list[list[Arrays]]:
        given = replace(job_of(outputs), rounds=tuple(map(tuple, rounds)))
        return run_job(given, name, lambda step: announce(f"call the original: {step}")).results

    def moves(rounds: Sequence[Sequence[Call]], outputs: Outputs) -> list[list[Arrays]]:
        return run_job(replace(job_of(outputs), rounds=tuple(map(tuple, rounds)), moves="all"), name, announce).results

    def look(outputs: Outputs) -> LookIntoOriginal:
        return litert_original(job_of(outputs), name)

    return Reference(name, ModelInputs.of_file(content).tables, call, look, content, moves)


def _tensorflow_reference(
    folder: Path,
    tags: tuple[str, ...] | None,
    name: str,
    job: ModelJob,
    announce: Callable[[str], None],
    *,
    allow_side_effects: bool,
) -> Reference:
    def call(rounds: Sequence[Sequence[Call]], outputs: Outputs) -> list[list[Arrays]]:
        if not allow_side_effects:
            refuse_side_effects(folder, tags, outputs, name)
        return cast(
            "list[list[Arrays]]", _run(_ORIGINAL, OriginalJob(folder, tags, tuple(map(tuple, rounds)), outputs))
        )

    def moves(rounds: Sequence[Sequence[Call]], outputs: Outputs) -> list[list[Arrays]]:
        (calls,) = rounds
        is_frozen = folder.is_file()
        graph = Graph(inputs=calls[0].inputs, outputs=outputs[calls[0].signature]) if is_frozen else Graph(tags=tags)
        options = Conversion(
            signatures=None if is_frozen else tuple(outputs),
            graph=graph,
            allow_custom_ops=True,
            dtypes="narrow",
            composites="inline",
            rnn="loop",
            checks=False,
        )
        with make_temporary_folder() as temporary:
            conversion = ConversionJob(folder, Path(temporary, "inlined.tflite"), options)
            run_in_worker(_CONVERSION, conversion, lambda step: announce(f"call the original: {step}"))
            if _op_names(str(conversion.output)) <= _op_names(job.model):  # nothing is hidden: the file's own ops count
                return [[{} for _ in calls]]
            inlined = replace(job, model=str(conversion.output), signatures=tuple(outputs), moves="ops")
            return run_job(replace(inlined, rounds=(tuple(calls),)), name, announce).results

    def look(outputs: Outputs) -> LookIntoOriginal:
        original = OriginalJob(folder, tags, (), outputs)

        def look_into(calls: Sequence[Call], observed: Observation, place: Path) -> Mapping[int, Match]:
            return cast("Mapping[int, Match]", _run(_LAYERS, observation_of_original(original, calls, observed, place)))

        return look_into

    def _run(target: str, job: object) -> Any:
        try:
            return run_alone(target, job, environment=_ENVIRONMENT, imported="tensorflow", announce=announce)
        except EngineCrashError as error:
            raise LitefuseError(f"the process that ran the original died: {error.message}", where=name) from error

    return Reference(name, original_tables(folder, tags), call, look, moves=moves)
