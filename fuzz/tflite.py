"""The target ``tflite``: LiteRT models through ``litefuse.Interpreter``."""

from __future__ import annotations

import contextlib
import functools
import io
import math
import random
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter as litert
from ai_edge_litert import schema_py_generated as schema

from fuzz.child import Ending
from fuzz.containment import is_in_litert, judge_run
from fuzz.inspecting import inspect_model
from fuzz.outcome import Outcome
from fuzz.running import judged_run
from fuzz.target import Target
from fuzz.values import STRINGS, change_bytes, hostile_integer, hostile_shape
from litefuse.errors import InterpreterError
from litefuse.kernels import PACK
from litefuse.litert.runtime.interpreter import Interpreter

# Changes something in a model, an object of the schema.
Change: TypeAlias = Callable[[random.Random, Any], None]

_SEEDS = Path(__file__).with_name("seeds") / "tflite.zip"
_MOST = 1 << 20  # elements of an input


@functools.cache
def seeds() -> Mapping[str, bytes]:
    """The models that are mutated, by their names."""
    with zipfile.ZipFile(io.BytesIO(_SEEDS.read_bytes())) as archive:
        return {name: archive.read(name) for name in sorted(archive.namelist())}


class LiteRTModelTarget(Target):
    """LiteRT models with custom ops, composites, strings, control flow and state."""

    name = "tflite"
    suffix = ".tflite"
    batch = 100

    def mutant(self, number: int) -> bytes:
        return mutated_model(self.random(number))

    def try_out(self, content: bytes) -> Outcome:
        with contextlib.suppress(InterpreterError):  # the interpreter is to say it again
            inspect_model(content)
        return try_model(content)

    def judge(self, content: bytes, ending: Ending) -> Outcome:
        return judge_ending(content, ending)

    def is_contained(self, ending: Ending) -> bool:
        return is_in_litert(ending)


def mutated_model(draw: random.Random, more: Sequence[Change] = ()) -> bytes:
    """One of the seeds with a few changes: of bytes, of what is in the model, or of ``more`` beside that."""
    seed = seeds()[draw.choice(sorted(seeds()))]
    if draw.random() < 0.25:
        return change_bytes(draw, seed)
    return changed_model(draw, seed, draw.choice((1, 1, 1, 2, 2, 3)), lambda: draw.choice((*CHANGES, *more)))


def changed_model(draw: random.Random, seed: bytes, count: int, chosen: Callable[[], Change]) -> bytes:
    """A seed with so many changes, each chosen when its turn comes; with changed bytes if the result is no file."""
    model = schema.ModelT.InitFromPackedBuf(seed, 0)
    for _ in range(count):
        chosen()(draw, model)
    try:
        builder = flatbuffers.Builder(len(seed))
        builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())
    except Exception:  # noqa: BLE001  a value that the format cannot hold
        return change_bytes(draw, seed)


def try_model(content: bytes) -> Outcome:
    """Loads a model, runs its first subgraph twice, and each of its signatures."""
    return judged_run(lambda: _run(Interpreter(content)))


def judge_ending(content: bytes, ending: Ending) -> Outcome:
    """Whose fault it is that a model ended the child that ran it."""
    return judge_run(
        ending,
        lambda: _run(litert.Interpreter(model_content=content)),
        lambda: _run(Interpreter(content, custom_ops=PACK.values())),
    )


def _run(interpreter: Any) -> None:
    interpreter.allocate_tensors()
    for _ in range(2):
        for detail in interpreter.get_input_details():
            interpreter.set_tensor(detail["index"], _value(detail["shape"].tolist(), detail["dtype"]))
        interpreter.invoke()
        for detail in interpreter.get_output_details():
            interpreter.get_tensor(detail["index"])
    for key in interpreter.get_signature_list():
        runner = interpreter.get_signature_runner(key)
        details = runner.get_input_details()
        runner(**{name: _value(each["shape"].tolist(), each["dtype"]) for name, each in details.items()})


def _value(shape: list[int], dtype: Any) -> Any:
    """An input: small numbers, or short texts."""
    count = math.prod(shape)
    if min(shape, default=0) < 0 or count > _MOST:
        shape, count = [0], 0
    if dtype in {np.bytes_, np.str_, np.object_}:
        texts = [STRINGS[index % 9] for index in range(count)]
        return np.array(texts, object).reshape(shape) if shape else np.array(texts[0])
    return (np.arange(count) % 5).astype(dtype).reshape(shape)


def _graph(draw: random.Random, model: Any) -> Any:
    return draw.choice(model.subgraphs)


def _operator(draw: random.Random, model: Any) -> Any:
    operators = [each for graph in model.subgraphs for each in graph.operators or ()]
    return draw.choice(operators) if operators else schema.OperatorT()


def _tensor(draw: random.Random, model: Any) -> Any:
    tensors = [each for graph in model.subgraphs for each in graph.tensors or ()]
    return draw.choice(tensors) if tensors else schema.TensorT()


def _index(draw: random.Random, model: Any) -> int:
    count = len(_graph(draw, model).tensors or ())
    return draw.choice((*range(count), -1, -1, -2, count, 2**31 - 1, -(2**31)))


def _change_indices(draw: random.Random, model: Any) -> None:
    owner = _operator(draw, model) if draw.random() < 0.8 else _graph(draw, model)
    name = draw.choice(("inputs", "outputs"))
    indices = [] if getattr(owner, name) is None else [int(each) for each in getattr(owner, name)]
    match draw.randrange(4):
        case 0 if indices:
            del indices[draw.randrange(len(indices))]
        case 1:
            indices.append(_index(draw, model))
        case _ if indices:
            indices[draw.randrange(len(indices))] = _index(draw, model)
        case _:
            indices = [0]
    setattr(owner, name, indices)


def _change_shape(draw: random.Random, model: Any) -> None:
    tensor = _tensor(draw, model)
    name = draw.choice(("shape", "shape", "shapeSignature"))
    now = getattr(tensor, name)
    setattr(tensor, name, hostile_shape(draw, [] if now is None else [int(each) for each in now]))


def _change_type(draw: random.Random, model: Any) -> None:
    _tensor(draw, model).type = draw.choice((*range(20), 127))


def _change_buffer(draw: random.Random, model: Any) -> None:
    if draw.random() < 0.4:
        _tensor(draw, model).buffer = draw.choice((*range(len(model.buffers)), len(model.buffers), 2**32 - 1))
        return
    buffer = draw.choice(model.buffers)
    data = b"" if buffer.data is None else bytes(bytearray(buffer.data))
    buffer.data = list(change_bytes(draw, data, most=3))


def _change_fields(draw: random.Random, model: Any) -> None:
    """Numbers of an op's options, of subgraphs too."""
    operator = _operator(draw, model)
    options = draw.choice([each for each in (operator.builtinOptions, operator.builtinOptions2) if each] or [None])
    if options is None or draw.random() < 0.1:
        operator.builtinOptionsType = draw.randrange(130)
        return
    fields = [name for name, value in vars(options).items() if isinstance(value, (bool, int, float))]
    if not fields:
        return
    name = draw.choice(fields)
    value = getattr(options, name)
    if isinstance(value, bool):
        setattr(options, name, not value)
    elif isinstance(value, int):
        setattr(options, name, draw.choice((0, 1, 2, 3, -1)) if draw.random() < 0.6 else hostile_integer(draw, 32))
    else:
        setattr(options, name, draw.choice((0.0, -1.0, float("nan"), float("inf"))))


def _change_custom_options(draw: random.Random, model: Any) -> None:
    operators = [each for graph in model.subgraphs for each in graph.operators or () if each.customOptions is not None]
    if operators:
        operator = draw.choice(operators)
        operator.customOptions = list(change_bytes(draw, bytes(bytearray(operator.customOptions)), most=3))


def _change_code(draw: random.Random, model: Any) -> None:
    code = draw.choice(model.operatorCodes)
    match draw.randrange(4):
        case 0:
            code.version = hostile_integer(draw, 32)
        case 1:
            code.builtinCode = draw.choice((*range(210), -1))
            code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        case 2:
            code.customCode = draw.choice(("Roll", "Erf", "StringLower", "", "FlexRelu", "ReadVariable", "a" * 300))
            code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
        case _:
            _operator(draw, model).opcodeIndex = draw.choice((*range(len(model.operatorCodes)), 2**31))


def _change_signature(draw: random.Random, model: Any) -> None:
    if not model.signatureDefs:
        return
    signature = draw.choice(model.signatureDefs)
    maps: list[Any] = draw.choice((signature.inputs, signature.outputs)) or []
    match draw.randrange(5):
        case 0:
            signature.subgraphIndex = draw.choice((*range(len(model.subgraphs)), 2**32 - 1))
        case 1:
            signature.signatureKey = draw.choice((None, "", "other", "a\0b"))
        case 2 if maps:
            draw.choice(maps).tensorIndex = max(_index(draw, model), 0)
        case 3 if maps:
            draw.choice(maps).name = draw.choice((None, "", "x", "y", "self"))
        case _ if maps:
            maps.append(draw.choice(maps))
        case _:
            model.signatureDefs.append(signature)


def _change_parts(draw: random.Random, model: Any) -> None:
    graph = _graph(draw, model)
    parts: list[Any] = (
        draw.choice((graph.operators, graph.tensors, model.subgraphs, model.operatorCodes, model.buffers)) or []
    )
    if not parts:
        return
    match draw.randrange(3):
        case 0 if len(parts) > 1:
            del parts[draw.randrange(len(parts))]
        case 1:
            parts.append(draw.choice(parts))
        case _:
            draw.shuffle(parts)


CHANGES: tuple[Change, ...] = (
    *(_change_indices, _change_indices, _change_shape, _change_shape, _change_type, _change_buffer, _change_fields),
    *(_change_fields, _change_custom_options, _change_custom_options, _change_code, _change_signature, _change_parts),
)
