"""Reads the program in an ``XlaCallModule``, a StableHLO portable artifact.

The op: https://www.tensorflow.org/api_docs/cc/class/tensorflow/ops/xla-call-module; the format:
https://openxla.org/stablehlo/compatibility.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from litefuse.errors import GraphError
from litefuse.frontends.fake_quantized import FAKE_QUANTIZATIONS
from litefuse.ir.call_graph import all_operations
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.mlir import ir, stablehlo
from litefuse.ir.op_creation import create_op
from litefuse.ir.purity import replace_op
from litefuse.passes.control_flow.limit_ops import limit_ops

# Checks that the sizes are those that the program was exported for: the model's own shapes imply that already.
_ASSERTIONS = frozenset({"shape_assertion"})
_MAGIC = b"ML\xefR"
# Sections, by their numbers.
_STRINGS, _DIALECTS, _ATTRIBUTES, _OFFSETS = 0, 1, 2, 3
_READABLE = frozenset({b"builtin", b"vhlo"})


class _Span(NamedTuple):
    """A section, or an element of one: its start and exclusive end."""

    start: int
    end: int


class _Reader:
    """Reads numbers and texts one after the other."""

    def __init__(self, program: bytes, start: int) -> None:
        self.program = program
        self.position = start

    def byte(self) -> int:
        self.position += 1
        return self.program[self.position - 1]

    def number(self) -> int:
        """Reads a number of one to nine bytes: the trailing zeros of the first byte say how many follow."""
        first = self.program[self.position]
        count = (first & -first).bit_length() if first else 9
        start = self.position
        self.position += count
        value = int.from_bytes(self.program[start : self.position], "little")
        return value >> (8 if count == 9 else count)

    def text(self) -> bytes:
        """Reads a text that ends in a zero."""
        end = self.program.index(0, self.position)
        start, self.position = self.position, end + 1
        return self.program[start:end]


def without_annotations(program: bytes) -> bytes:
    """Replaces the attributes of a program's bytecode that cannot be read by texts of the same length.

    JAX annotates some calls with how they may be sharded over devices, in its own dialect, which the bindings lack:
    they read no program that has such an attribute. The format: https://mlir.llvm.org/docs/BytecodeFormat/.

    Input that is damaged, or not bytecode, is returned unchanged.
    """
    if not program.startswith(_MAGIC):
        return program
    try:
        sections = _sections(program)
        dialects = _dialects(program, sections)
        if _READABLE.issuperset(dialects):
            return program
        return _replaced(program, sections, dialects)
    except (ArithmeticError, LookupError, ValueError):  # damaged: the reader reports it
        return program


def _sections(program: bytes) -> dict[int, _Span]:
    reader = _Reader(program, len(_MAGIC))
    reader.number()  # the format's version
    reader.text()  # the producer
    sections: dict[int, _Span] = {}
    while reader.position < len(program):
        kind = reader.byte()
        length = reader.number()
        if kind & 0x80:
            alignment = reader.number()
            reader.position += -reader.position % alignment
        sections[kind & 0x7F] = _Span(reader.position, reader.position + length)
        reader.position += length
    return sections


def _dialects(program: bytes, sections: dict[int, _Span]) -> list[bytes]:
    """Returns the names of the dialects in the order in which other sections refer to them."""
    strings = _Reader(program, sections[_STRINGS].start)
    lengths = [strings.number() for _ in range(strings.number())]
    texts = [strings.text() for _ in lengths]
    reader = _Reader(program, sections[_DIALECTS].start)
    names: list[bytes] = []
    for _ in range(reader.number()):
        name = reader.number()
        names.append(texts[name >> 1])
        if name & 1:  # its version, a section of its own
            reader.byte()
            length = reader.number()
            reader.position += length
    return names


def _replaced(program: bytes, sections: dict[int, _Span], dialects: list[bytes]) -> bytes:
    changed = bytearray(program)
    reader = _Reader(program, sections[_OFFSETS].start)
    remaining, _types = reader.number(), reader.number()
    start = sections[_ATTRIBUTES].start
    while remaining > 0:
        dialect, count = reader.number(), reader.number()
        for _ in range(count):
            entry = reader.position
            size = reader.number()
            end = start + (size >> 1)
            if end > sections[_ATTRIBUTES].end:
                raise ValueError("an attribute is behind the end of its section")
            text = _text(end - start)
            if dialects[dialect] not in _READABLE and text is not None:
                changed[start:end] = text
                if size & 1:  # the flag of an encoding that only its dialect knows; it is cleared
                    changed[entry] ^= 1 << (reader.position - entry)
            start = end
        remaining -= count
    return bytes(changed)


def _text(size: int) -> bytes | None:
    """Returns a text attribute of this many bytes, with the zero at its end; None if there is none."""
    if size < 2:
        return None
    return b"1\0" if size == 2 else b'"' + b"-" * (size - 3) + b'"\0'


def read_module(program: bytes) -> ir.Module:
    """Reads a program and prepares it: inlines calls, and removes dead and duplicate ops.

    Raises:
        GraphError: It cannot be read, or is not valid.
        LimitError: It has more ops than allowed, with its calls inlined.
    """
    context = ir.Context.current
    dialect = stablehlo()
    try:
        module = dialect.deserialize_portable_artifact(context, without_annotations(program))
        assert isinstance(module, ir.Module)
        _drop_assertions(module)
        _keep_fake_quantization(module)
        limit_ops.run(module)
        run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce", "cse")
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        raise GraphError(
            f"the program in it cannot be read: {error}",
            hint="It was exported by a newer version of JAX than the StableHLO here, or is damaged.",
        ) from error
    return module


def _keep_fake_quantization(module: ir.Module) -> None:
    """Makes custom calls of the calls of functions whose name says that they are fake quantization."""
    for call in [op for op in all_operations(module) if op.name == "func.call"]:
        symbol = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
        name = re.sub(r"_\d+$", "", symbol)  # a number that tells functions of one name apart
        if name in FAKE_QUANTIZATIONS:
            operands = list(call.operands)[-3:]  # behind the sizes of the program
            with ir.InsertionPoint(call), call.location:
                kinds = [result.type for result in call.results]
                target = {"call_target_name": ir.StringAttr.get(name)}
                replace_op(call, list(create_op("stablehlo.custom_call", kinds, operands, target).results))


def unknown_call(target: str) -> GraphError:
    """Returns the error for a call of something that is not an op."""
    return GraphError(
        f"the program calls {target!r}, which is code of JAX's own runtime",
        hint="Export the function without it: most such calls come from linear algebra and from callbacks.",
    )


def _drop_assertions(module: ir.Module) -> None:
    assertions: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "stablehlo.custom_call":
            target = ir.StringAttr(op.attributes["call_target_name"]).value
            if target in _ASSERTIONS and not list(op.results):
                assertions.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for op in assertions:
        op.erase()
