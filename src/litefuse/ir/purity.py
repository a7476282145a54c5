"""Purity of ops: which ones may be repeated, merged or erased, one answer for all passes; and what erases them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence

from litefuse.frontends.saved_model.op_registry import Statefulness, op_registry, statefulness_of
from litefuse.ir.attributes import WITHHELD
from litefuse.ir.mlir import ir

# LiteRT's ops with states: tensors of their own that keep their values between calls.
_KEEPING = frozenset(
    {
        *("tfl.basic_lstm", "tfl.bidirectional_sequence_lstm", "tfl.lstm", "tfl.svdf"),
        *("tfl.unidirectional_sequence_lstm", "tfl.unidirectional_sequence_rnn"),
    }
)
# LiteRT's ops that do not always compute the same results from the same operands.
_OF_LITERT = {
    **dict.fromkeys(
        ("tfl.hashtable", "tfl.hashtable_find", "tfl.hashtable_size", "tfl.read_variable", "tfl.var_handle"),
        Statefulness.READING,
    ),
    **dict.fromkeys(
        ("tfl.multinomial", "tfl.random_standard_normal", "tfl.random_uniform", *_KEEPING), Statefulness.VARYING
    ),
    # They write, run functions or kernels that may write, or end a region.
    **dict.fromkeys(
        (
            *("tfl.assign_variable", "tfl.call_once", "tfl.custom", "tfl.custom_tf", "tfl.hashtable_import"),
            *("tfl.if", "tfl.while", "tfl.yield"),
        ),
        Statefulness.STATEFUL,
    ),
}


def is_pure(name: str) -> bool:
    """Whether an op always returns the same results for the same operands, and has no side effects.

    Args:
        name: Its name with its dialect, such as ``tf.AddV2``; an unknown op may do anything.
    """
    return _statefulness(name) is Statefulness.PURE


def is_repeatable(name: str) -> bool:
    """Whether an op may be duplicated; see :func:`is_pure`.

    A copy of an op with states has its own states, which always equal those of the original.
    """
    return name in _KEEPING or _statefulness(name) in {Statefulness.PURE, Statefulness.READING}


def has_side_effects(name: str) -> bool:
    """Whether an op has, or may have, side effects; see :func:`is_pure`."""
    return _statefulness(name) is Statefulness.STATEFUL


def is_erasable(name: str) -> bool:
    """Whether an op may be erased if its results have no uses; see :func:`is_pure`.

    Ops that read a resource stay where the model has them.
    """
    return _statefulness(name) in {Statefulness.PURE, Statefulness.VARYING}


@functools.cache
def _statefulness(name: str) -> Statefulness:
    dialect, _, op = name.partition(".")
    if dialect in {"arith", "tfl"}:
        return _OF_LITERT.get(name, Statefulness.PURE)
    definition = op_registry().get(op.removesuffix(WITHHELD)) if dialect == "tf" else None
    if definition is None:
        return Statefulness.STATEFUL
    own = statefulness_of(definition)
    # Passes change the functions that ops run. An op may write through a reference to a variable.
    if any("func" in attr.type for attr in definition.attr) or any(arg.is_ref for arg in definition.input_arg):
        return own if own is Statefulness.READING else Statefulness.STATEFUL
    return own


def is_used(op: ir.OpView | ir.Operation) -> bool:
    """Whether any result of an op has a use."""
    return any(True for result in op.results for _ in result.uses)


def replace_op(op: ir.OpView | ir.Operation, values: Sequence[ir.Value | None]) -> None:
    """Puts values in the place of an op's results, of which those that get None have no uses, and erases the op."""
    for old, new in zip(op.results, values, strict=True):
        if new is not None:
            old.replace_all_uses_with(new)
    op.operation.erase()


def operand_owners(op: ir.OpView | ir.Operation) -> list[ir.OpView | ir.Operation]:
    """Returns the ops that compute an op's operands, each once."""
    owners = (value.owner for value in op.operands)
    return list(dict.fromkeys(owner for owner in owners if not isinstance(owner, ir.Block)))


def erase_unused(ops: Iterable[ir.OpView | ir.Operation], erasable: Callable[[str], bool] = is_erasable) -> None:
    """Erases those of some ops whose results nothing uses, then what only they used, and so on.

    Args:
        ops: The ops, each once.
        erasable: Whether ops of a name may be erased; those with regions stay in any case.
    """

    def is_unused(op: ir.OpView | ir.Operation) -> bool:
        return erasable(op.name) and not op.regions and not is_used(op)

    unused = [op for op in ops if is_unused(op)]
    for op in unused:
        owners = operand_owners(op)
        op.operation.erase()
        unused += [owner for owner in owners if is_unused(owner)]
