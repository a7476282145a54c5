"""The pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from litefuse.engine.mlir import func, ir
from litefuse.forms import CompositeForms, RnnForm
from litefuse.fusions.annotation import read_annotation
from litefuse.fusions.fusion import find_fusion
from litefuse.passes.call_graph import callees, functions, is_public, operations
from litefuse.recognizers.cells import Step
from litefuse.recognizers.chains import Chain, find_chains
from litefuse.recognizers.faster import loop_is_faster, unrolled_is_faster
from litefuse.recognizers.formulas import formula_search
from litefuse.recognizers.gru import gru_cells
from litefuse.recognizers.layer import LoopLayer, described, recognize_loop
from litefuse.recognizers.loops import NotRecognized, read_loop
from litefuse.recognizers.lstm import lstm_cells
from litefuse.recognizers.outline import layer_name, outline_loop
from litefuse.recognizers.outline_chain import chain_name, outline_chain
from litefuse.recognizers.recognizer import Recognizer
from litefuse.recognizers.simple_rnn import simple_rnn_cells

__all__ = ["Recognition", "RecognizeComposites"]

_HOISTED = "; a loop with its input projection hoisted"
_CELLS = (*lstm_cells(), *simple_rnn_cells(), *gru_cells())


@dataclass(frozen=True)
class Recognition:
    """What was seen in one loop.

    Attributes:
        layer: The layer's name, from the loop's node.
        name: The annotation that it got; None if it was not recognised.
        reason: Why it was not, or why it was left as it is.
    """

    layer: str
    name: str | None
    reason: str | None = None


@dataclass(frozen=True)
class RecognizeComposites:
    """Makes a composite, an annotated function, of each loop that is an LSTM or SimpleRNN layer::

        %in = tf.TensorListFromTensor(%x)                       %call:3 = call @layer(%x, %h, %c, %kernel, ...)
        %out = tf.TensorListReserve(...)                   -->  %list = tf.TensorListFromTensor(%call#0)
        %r:7 = tf.While(0, %n, 0, %out, %h, %c, %in)            %y = tf.TensorListStack(%list)
        %y = tf.TensorListStack(%r#3)                           func @layer attributes {tf._implements = "lstm_loop"}

    The loop itself is the function's body, so that what is not fused computes what it did. Loops in annotated functions
    are left alone: those functions say themselves what they are.

    Attributes:
        found: Filled with one entry for each loop.
        form: Which layers to make composites of: those that are faster as one op, all or none.
        forms: The forms of composites: a layer whose composite is named there is made one in any case.
        recognizers: Formulas of others that are recognised too, where no loops are.
        tried: Filled with each of these: its name, how often it was found, and what came closest if it was not.
    """

    name: ClassVar[str] = "recognize-composites"
    found: list[Recognition]
    form: RnnForm = "auto"
    forms: CompositeForms = field(default_factory=CompositeForms)
    recognizers: Sequence[Recognizer] = ()
    tried: list[tuple[str, int, str | None]] = field(default_factory=list[tuple[str, int, "str | None"]])

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        modified = False
        for symbol in _unannotated(by_symbol):
            for op in operations(by_symbol[symbol]):
                if op.name == "tf.While":
                    modified |= self._recognize_loop(module, op)
            modified |= self._recognize_chains(module, by_symbol[symbol])
        for search in map(formula_search, self.recognizers):
            for symbol in _unannotated(functions(module)):
                modified |= search.outline_all(module, functions(module)[symbol])
            closest = None if search.found or search.closest is None else search.closest[1]
            self.tried.append((search.recognizer.name, len(search.found), closest))
        return modified

    def _recognize_loop(self, module: ir.Module, op: ir.OpView) -> bool:
        layer = layer_name(op)
        try:
            recognized = recognize_loop(read_loop(op, functions(module)), _CELLS)
            reason = self._reason_to_leave(recognized)
            if reason is None:
                outline_loop(module, recognized)
        except NotRecognized as mismatch:
            self.found.append(Recognition(layer, None, f"not recognised as {mismatch.kind}: {mismatch}"))
            return False
        if reason is not None:
            self.found.append(Recognition(layer, None, reason))
            return False
        self.found.append(Recognition(layer, recognized.step.cell.composite))
        return True

    def _reason_to_leave(self, layer: LoopLayer) -> str | None:
        cell = layer.step.cell
        name = f"{described(cell, masked=layer.loop.masked)} of {_count(layer.units)} units"
        if layer.loop.masked:
            return f"{name}: {f'{cell.op} takes no mask' if cell.op else 'LiteRT has no op for it'}{_HOISTED}"
        if self.forms.names(cell.composite):
            return None
        reason = _reason_of_cell(layer.step, name)
        if reason is not None:
            return f"{reason}{_HOISTED}"
        if self.form == "loop":
            return f"{name}, left as it is by choice"
        if self.form == "auto" and loop_is_faster(cell.composite, layer.units or 0, layer.steps, layer.batch):
            return f"{name} over {_count(layer.steps)} steps: the loop is faster than the fused op"
        return None

    def _recognize_chains(self, module: ir.Module, function: func.FuncOp) -> bool:
        modified = False
        for chain in find_chains(function, _CELLS):
            step, name = chain.steps[0], chain_name(chain)
            text = f"{described(step.cell, unrolled=True)} of {_count(chain.units)} units"
            reason = None if self.forms.names(step.cell.composite) else self._reason_to_leave_chain(chain, text)
            if reason is None:
                try:
                    outline_chain(module, function, chain)
                except NotRecognized as mismatch:
                    reason = f"{text}, which stays as it is: {mismatch}"
            self.found.append(Recognition(name, None if reason else step.cell.composite, reason))
            modified |= reason is None
        return modified

    def _reason_to_leave_chain(self, chain: Chain, name: str) -> str | None:
        composite, steps = chain.steps[0].cell.composite, len(chain.steps)
        reason = _reason_of_cell(chain.steps[0], name)
        if reason is None and self.form == "loop":
            return f"{name}, left as it is by choice"
        if reason is None and self.form == "auto" and unrolled_is_faster(composite, chain.units or 0, steps):
            return f"{name} over {steps} steps: it is faster than the fused op"
        return reason


def _reason_of_cell(step: Step, name: str) -> str | None:
    """Why a layer has no op in LiteRT."""
    if step.cell.op is None:
        return None if find_fusion(step.cell.composite) else f"{name}: LiteRT has no op for it"
    if step.lacking:
        return f"{name} whose activations {step.cell.op} does not have ({', '.join(step.lacking)})"
    return None


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)


def _unannotated(by_symbol: Mapping[str, func.FuncOp]) -> list[str]:
    """The functions that are run outside of any composite."""
    found = [symbol for symbol, function in by_symbol.items() if is_public(function)]
    for symbol in found:  # grows
        for op in operations(by_symbol[symbol]):
            for callee in callees(op):
                if callee in by_symbol and callee not in found and read_annotation(by_symbol[callee]) is None:
                    found.append(callee)
    return found
