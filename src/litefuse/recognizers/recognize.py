"""The pass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from litefuse.engine.mlir import func, ir
from litefuse.fusions.annotation import read_annotation
from litefuse.fusions.form import RnnForm
from litefuse.passes.call_graph import callees, functions, is_public, operations
from litefuse.recognizers.faster import loop_is_faster
from litefuse.recognizers.layer import RecurrentLayer
from litefuse.recognizers.loops import NotRecognized, read_loop
from litefuse.recognizers.lstm import recognize_lstm
from litefuse.recognizers.outline import layer_name, outline
from litefuse.recognizers.simple_rnn import recognize_simple_rnn

__all__ = ["Recognition", "RecognizeComposites"]


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
    """

    name: ClassVar[str] = "recognize-composites"
    found: list[Recognition]
    form: RnnForm = "auto"

    def run(self, module: ir.Module) -> bool:
        by_symbol = functions(module)
        modified = False
        for symbol in _unannotated(by_symbol):
            for op in operations(by_symbol[symbol]):
                if op.name == "tf.While":
                    modified |= self._recognize(module, op)
        return modified

    def _recognize(self, module: ir.Module, op: ir.OpView) -> bool:
        layer = layer_name(op)
        try:
            loop = read_loop(op, functions(module))
            recurrent = recognize_simple_rnn(loop) if len(loop.states) == 1 else recognize_lstm(loop)
            reason = self._reason_to_leave(recurrent)
            if reason is None:
                outline(module, recurrent)
                self.found.append(Recognition(layer, recurrent.name))
                return True
        except NotRecognized as mismatch:
            reason = str(mismatch)
        self.found.append(Recognition(layer, None, reason))
        return False

    def _reason_to_leave(self, layer: RecurrentLayer) -> str | None:
        name = f"{layer.kind} of {layer.units} units"
        if self.form == "loop":
            return f"{name}, left as it is by choice"
        if self.form == "auto" and loop_is_faster(layer.name, layer.units, layer.steps):
            steps = "an unknown number of" if layer.steps is None else layer.steps
            return f"{name} over {steps} steps: the loop is faster than the fused op"
        return None


def _unannotated(by_symbol: Mapping[str, func.FuncOp]) -> list[str]:
    """The functions that are run outside of any composite."""
    found = [symbol for symbol, function in by_symbol.items() if is_public(function)]
    for symbol in found:  # grows
        for op in operations(by_symbol[symbol]):
            for callee in callees(op):
                if callee in by_symbol and callee not in found and read_annotation(by_symbol[callee]) is None:
                    found.append(callee)
    return found
