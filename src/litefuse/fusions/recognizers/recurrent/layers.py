"""Decides which loops and unrolled chains of a function become composites, and outlines them."""

from __future__ import annotations

from collections.abc import Collection

from litefuse.fusions.fusion import find_fusion
from litefuse.fusions.layer_arguments import faster_than, loop_is_faster, most_units, unrolled_is_faster
from litefuse.fusions.recognizers.recognizer import HOISTED, Recognition
from litefuse.fusions.recognizers.recurrent.cells import Step, simple_rnn_cells
from litefuse.fusions.recognizers.recurrent.chains import Chain, find_chains
from litefuse.fusions.recognizers.recurrent.gru import gru_cells
from litefuse.fusions.recognizers.recurrent.loops import LoopLayer, described, read_loop, recognize_loop
from litefuse.fusions.recognizers.recurrent.lstm import lstm_cells
from litefuse.fusions.recognizers.recurrent.outlining import chain_name, outline_chain, outline_loop
from litefuse.fusions.recognizers.regions import NotRecognized
from litefuse.ir.call_graph import functions, operations
from litefuse.ir.locations import layer_name
from litefuse.ir.mlir import func, ir
from litefuse.support.options.forms import CompositeForms, RnnForm

_CELLS = (*lstm_cells(), *simple_rnn_cells(), *gru_cells())


class LayerSearch:
    """Outlines the recurrent layers of functions into composites.

    Args:
        found: Filled with one entry for each loop or chain.
        form: The layers to make composites of.
        forms: The forms of composites: layers whose composite is named there become one in any case.
        lacking: The ops of LiteRT's that the target does not have: layers do not become these.
        chosen_by: The option that chose the form, for reasons.
    """

    def __init__(
        self,
        found: list[Recognition],
        form: RnnForm,
        forms: CompositeForms,
        lacking: Collection[str] = (),
        chosen_by: str = "--rnn",
    ) -> None:
        self._found = found
        self._form = form
        self._forms = forms
        self._lacking = lacking
        self._chosen_by = chosen_by

    def outline_all(self, module: ir.Module, function: func.FuncOp) -> bool:
        """Outlines the layers of one function; returns whether there were any."""
        modified = False
        for op in operations(function):
            if op.name == "tf.While":
                modified |= self._recognize_loop(module, op)
        return self._recognize_chains(module, function) or modified

    def _recognize_loop(self, module: ir.Module, op: ir.OpView) -> bool:
        layer = layer_name(op)
        try:
            recognized = recognize_loop(read_loop(op, functions(module)), _CELLS)
            reason = self._reason_to_leave(recognized)
            if reason is None:
                outline_loop(module, recognized)
        except NotRecognized as mismatch:
            self._found.append(Recognition(layer, None, f"not recognized as {mismatch.kind}: {mismatch}"))
            return False
        if reason is not None:
            self._found.append(Recognition(layer, None, reason))
            return False
        self._found.append(Recognition(layer, recognized.step.cell.composite))
        return True

    def _reason_to_leave(self, layer: LoopLayer) -> str | None:
        cell = layer.step.cell
        name = f"{described(cell, masked=layer.loop.masked)} of {_count(layer.units)} units"
        if layer.loop.masked:
            return f"{name}: {f'{cell.op} takes no mask' if cell.op else 'LiteRT has no op for it'}{HOISTED}"
        if self._forms.names(cell.composite):
            return None
        reason = self._reason_of_cell(layer.step, name)
        if reason is not None:
            return f"{reason}{HOISTED}"
        if self._form == "loop":
            return f"{name}, a loop by choice ({self._chosen_by})"
        if self._form == "auto" and loop_is_faster(cell.composite, layer.units or 0, layer.steps, layer.batch):
            above = most_units(cell.composite, layer.steps, layer.batch)
            return f"{name} over {_count(layer.steps)} steps: {faster_than(cell.op or '', above=above)}"
        return None

    def _recognize_chains(self, module: ir.Module, function: func.FuncOp) -> bool:
        modified = False
        for chain in find_chains(function, _CELLS):
            step, name = chain.steps[0], chain_name(chain)
            text = f"{described(step.cell, unrolled=True)} of {_count(chain.units)} units"
            reason = None if self._forms.names(step.cell.composite) else self._reason_to_leave_chain(chain, text)
            if reason is None:
                try:
                    outline_chain(module, function, chain)
                except NotRecognized as mismatch:
                    reason = f"{text}, which stays as it is: {mismatch}"
            self._found.append(Recognition(name, None if reason else step.cell.composite, reason))
            modified |= reason is None
        return modified

    def _reason_to_leave_chain(self, chain: Chain, name: str) -> str | None:
        composite, steps = chain.steps[0].cell.composite, len(chain.steps)
        reason = self._reason_of_cell(chain.steps[0], name)
        if reason is None and self._form == "loop":
            return f"{name}, unrolled by choice ({self._chosen_by})"
        if reason is None and self._form == "auto" and unrolled_is_faster(composite, chain.units or 0, steps):
            return f"{name} over {steps} steps: {faster_than(chain.steps[0].cell.op or '', 'it')}"
        return reason

    def _reason_of_cell(self, step: Step, name: str) -> str | None:
        """Returns why a layer has no op; None if it has one."""
        if step.cell.op is None:
            return None if find_fusion(step.cell.composite) else f"{name}: LiteRT has no op for it"
        if step.lacking:
            return f"{name} whose activations {step.cell.op} does not have ({', '.join(step.lacking)})"
        if step.cell.op in self._lacking:
            return f"{name}: the target has no {step.cell.op}"
        return None


def _count(number: int | None) -> str:
    return "an unknown number of" if number is None else str(number)
