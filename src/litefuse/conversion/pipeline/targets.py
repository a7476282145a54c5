"""Requirements of targets, checked while the input or op to blame is still known, and what became of their loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from litefuse.errors import ConversionError, SignatureError
from litefuse.fusions.recognizers.recognizer import HOISTED
from litefuse.ir.call_graph import all_operations, functions
from litefuse.ir.constants import CONSTANTS
from litefuse.ir.importer import ImportedModule
from litefuse.ir.locations import node_text
from litefuse.ir.mlir import ir, producer
from litefuse.ir.types import shape_of
from litefuse.litert.targets import traits_of
from litefuse.support import report as reports
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import MAX_UNROLLED_OPS, MAX_UNROLLED_STEPS

if TYPE_CHECKING:
    from litefuse.passes.control_flow.unroll_loops import LoopOutcome

_SHOWN = 3


def fixed_shapes(target: Sequence[str], requested: InputShapes, imported: ImportedModule) -> InputShapes:
    """Returns the shapes to set for the inputs: a batch of 1 where a target needs a size, and none was given.

    Raises:
        SignatureError: Another dimension of an input is dynamic, and the target takes none.
    """
    if traits_of(target).dynamic:
        return requested
    by_symbol = functions(imported.module)
    for entry in imported.entry_points:
        arguments = by_symbol[entry.symbol].entry_block.arguments
        for name, argument in zip(entry.inputs, arguments, strict=True):
            shape = requested.of_input(entry.symbol, name, shape_of(ir.ShapedType(argument.type)))
            if shape is None or None in shape[1:]:
                sizes = "of unknown rank" if shape is None else ",".join("?" if n is None else str(n) for n in shape)
                raise SignatureError(
                    f"the input {name!r} is {sizes}, and {traits_of(target).runtime} supports no dynamic dimensions",
                    where=f"signature {entry.symbol}",
                    hint=f"Give its shape, shapes={{{name!r}: (...)}} (on the command line, --shape {name}=...).",
                )
            if shape and shape[0] is None:
                requested = replace(requested, batch=1)
    return requested


def check_lowered(
    module: ir.Module, target: Sequence[str], loops: Sequence[reports.LoopReport], *, loops_chosen: bool
) -> None:
    """Checks that a target takes a module that is ready for export.

    Args:
        module: The module, of LiteRT's ops.
        target: The target.
        loops: The loops that were not unrolled.
        loops_chosen: Whether recurrent layers are loops by choice.

    Raises:
        ConversionError: It has dynamic dimensions, or loops that nobody chose.
    """
    traits = traits_of(target)
    if not traits.dynamic and (dynamic := [*_dynamic_ops(module)]):
        raise ConversionError(
            f"{traits.runtime} supports no dynamic dimensions, and the sizes of results are known only in the call:"
            + _listed(dynamic),
            hint="They depend on the values of inputs. Leave these ops out of the signature.",
        )
    if traits.loops:
        return
    if traits.variables and (variants := [*_lacking_lstms(module)]):
        raise ConversionError(
            f"{traits.runtime} supports only plain LSTMs, but the model has others:{_listed(variants)}",
            hint="Keep their loops, rnn='loop' and composites='inline' (on the command line, --rnn loop and "
            "--composites inline), or take layers without these.",
        )
    if loops_chosen:
        return
    left = [node_text(op) for op in all_operations(module) if op.name == "tfl.while"]
    if left:
        reasons = [f"{loop.layer}: {loop.reason}" for loop in loops] or left
        raise ConversionError(
            f"loops are not for the target {', '.join(target)}, and {len(left)} would stay:{_listed(reasons)}",
            hint=f"Loops are unrolled where the model, or the shapes of its inputs, give the number of steps, up to "
            f"{MAX_UNROLLED_STEPS} steps and {MAX_UNROLLED_OPS:,} ops in all. rnn='loop' (on the command line, --rnn "
            f"loop) keeps them: {traits.left_loops}.",
        )


def _dynamic_ops(module: ir.Module) -> Iterator[str]:
    for op in all_operations(module):
        kinds = [result.type for result in op.results if isinstance(result.type, ir.RankedTensorType)]
        if (
            op.name.startswith("tfl.")
            and op.name not in CONSTANTS  # whose types may be without a shape
            and any(not kind.has_static_shape for kind in kinds)
        ):
            yield f"{op.name.removeprefix('tfl.').upper()} {node_text(op)}"


def _lacking_lstms(module: ir.Module) -> Iterator[str]:
    """Yields the recurrent ops that tflite-micro rejects when it loads a file, and Vela leaves to it."""
    for op in all_operations(module):
        if op.name == "tfl.unidirectional_sequence_lstm":
            given = {index for index, operand in enumerate(op.operands) if producer(operand, "tfl.no_value") is None}
            lacks = [what for what, positions in _VARIANTS.items() if given.intersection(positions)]
            lacks += [] if 1 in given else ["no input gate"]
            if lacks:
                yield f"{node_text(op)}: {', '.join(lacks)}"
        elif op.name in _NO_PLAIN_FORM:
            yield f"{node_text(op)}: {op.name.removeprefix('tfl.').upper()}"


# The positions of the operands that only some LSTMs have.
_VARIANTS = {"peepholes": range(9, 12), "a projection": range(16, 18), "layer normalization": range(20, 24)}
# The other recurrent ops of LiteRT, of which tflite-micro has none.
_NO_PLAIN_FORM = frozenset(
    f"tfl.{name}" for name in ("basic_lstm", "bidirectional_sequence_lstm", "lstm", "unidirectional_sequence_rnn")
)


def _listed(lines: Sequence[str]) -> str:
    more = [f"and {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return "".join(f"\n  {line}" for line in [*lines[:_SHOWN], *more])


def with_unrolled(
    loops: Sequence[reports.LoopReport], outcomes: Sequence[LoopOutcome]
) -> tuple[reports.LoopReport, ...]:
    """Adds to the entries of loops that they were unrolled, or why not.

    Returns:
        The entries, followed by those of further loops, such as the ones in annotated functions.
    """
    texts = {outcome.layer: _text(outcome) for outcome in outcomes}
    known = {loop.layer for loop in loops}
    return (
        *(
            replace(loop, reason=f"{loop.reason.removesuffix(HOISTED)}; {texts[loop.layer]}")
            if loop.layer in texts
            else loop
            for loop in loops
        ),
        *(reports.LoopReport(outcome.caller, _text(outcome)) for outcome in outcomes if outcome.layer not in known),
    )


def loops_left(loops: Sequence[reports.LoopReport], outcomes: Sequence[LoopOutcome]) -> list[reports.LoopReport]:
    """Returns the entries of the loops that were not unrolled."""
    layers = {name for outcome in outcomes if outcome.steps is None for name in (outcome.layer, outcome.caller)}
    return [loop for loop in loops if loop.layer in layers]


def _text(outcome: LoopOutcome) -> str:
    return outcome.reason if outcome.steps is None else f"unrolled into {outcome.steps} steps"
