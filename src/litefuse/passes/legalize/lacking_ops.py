"""TensorFlow ops that the engine left, or that are withheld from it, and their names."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from litefuse.ir.attributes import WITHHELD
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.mlir import func, ir

#: The attribute of an op that states why it was not rewritten into builtin ops.
REASON = "_litefuse_not_rewritten"

# The attribute of an op that the user chose to be a custom op.
_CHOSEN = "_litefuse_chosen"

# Ops that can be exported beside those of the dialects below: IF is exported from TensorFlow's op If.
_EXPORTED = frozenset({"arith.constant", "func.call", "func.return", "tf.If"})
_EXPORTED_DIALECTS = frozenset({"tfl", "stablehlo", "vhlo"})


RUNTIME_KERNELS = frozenset({"AudioSpectrogram", "Mfcc"})
"""The TensorFlow ops that become custom ops of their names and options, of which LiteRT's interpreter has kernels; see
``runtime.kernel_pack``."""


class CustomOpForm(NamedTuple):
    """A TensorFlow op that became a custom op.

    Attributes:
        op: The op's name.
        in_runtime: Whether LiteRT has a kernel for it.
        in_pack: Whether litefuse has a kernel for it.
        python_only: Whether that kernel has no native form.
        reason: Why the op was not rewritten into builtin ops; empty if no rewriting of this op exists.
    """

    op: str
    in_runtime: bool
    in_pack: bool
    python_only: bool
    reason: str


def has_left_over(module: ir.Module) -> bool:
    """Whether a lowered module has such ops."""
    return any(True for function in functions(module).values() for _ in left_over(function))


def left_over(function: func.FuncOp) -> Iterator[ir.OpView]:
    """Yields the ops of a lowered function that cannot be exported, except those in nested regions."""
    for op in operations(function):
        dialect = op.name.partition(".")[0]
        if op.name == "tfl.custom_tf" or (op.name not in _EXPORTED and dialect not in _EXPORTED_DIALECTS):
            yield op


def withhold(op: ir.OpView, reason: str, *, chosen: bool = False) -> None:
    """Withholds a TensorFlow op from the engine, which would lower it wrongly, or not as the user chose.

    It gets a name that the engine does not know, so it is left over; ``tensorflow_name`` returns its own name.

    Args:
        op: The op.
        reason: Why it was not rewritten.
        chosen: Whether the user chose it to be a custom op.
    """
    marks: dict[str, ir.Attribute] = {REASON: ir.StringAttr.get(reason)}
    if chosen:
        marks[_CHOSEN] = ir.UnitAttr.get()
    _rename(op, f"{op.name}{WITHHELD}", marks)


def release(op: ir.OpView) -> None:
    """Undoes ``withhold``."""
    _rename(op, op.name.removesuffix(WITHHELD), {})


def is_chosen(op: ir.OpView) -> bool:
    """Whether the user chose an op to be a custom op."""
    return _CHOSEN in tensorflow_op(op).attributes


def _rename(op: ir.OpView, name: str, marks: dict[str, ir.Attribute]) -> None:
    own = {key: op.attributes[key] for key in op.attributes if key not in {REASON, _CHOSEN}}
    with ir.InsertionPoint(op), op.location:
        renamed = ir.Operation.create(name, [result.type for result in op.results], list(op.operands), own | marks)
    for old, new in zip(op.results, renamed.results, strict=True):
        old.replace_all_uses_with(new)
    op.operation.erase()


def tensorflow_op(op: ir.OpView) -> ir.OpView:
    """Returns the TensorFlow op itself: the engine wraps ops that its dialect does not know in ``tfl.custom_tf``."""
    return op.regions[0].blocks[0].operations[0] if op.name == "tfl.custom_tf" else op


def tensorflow_name(op: ir.OpView) -> str | None:
    """Returns the TensorFlow op's name, such as ``Roll``; None for an op of another dialect."""
    name = tensorflow_op(op).name
    return name.removeprefix("tf.").removesuffix(WITHHELD) if name.startswith("tf.") else None


def is_option(key: str) -> bool:
    """Whether an attribute belongs to the op; those that begin with an underscore are bookkeeping."""
    return not key.startswith("_") and not key.endswith("_segment_sizes")
