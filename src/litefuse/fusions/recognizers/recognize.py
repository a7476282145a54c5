"""The pass that outlines what recognizers find into composites."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import field

from litefuse.fusions.recognizers.recognizer import Recognition, Recognizer
from litefuse.ir.annotations import read_annotation
from litefuse.ir.call_graph import callees, functions, is_public, operations
from litefuse.ir.defining_ops import products_of_shared_weights
from litefuse.ir.mlir import func, ir
from litefuse.support.options.forms import CompositeForms, RnnForm
from litefuse.support.records import Record


class RecognizeComposites(Record):
    """Outlines each loop that is an LSTM or SimpleRNN layer into a composite, an annotated function::

        %in = tf.TensorListFromTensor(%x)                       %call:3 = call @layer(%x, %h, %c, %kernel, ...)
        %out = tf.TensorListReserve(...)                   -->  %list = tf.TensorListFromTensor(%call#0)
        %r:7 = tf.While(0, %n, 0, %out, %h, %c, %in)            %y = tf.TensorListStack(%list)
        %y = tf.TensorListStack(%r#3)                           func @layer attributes {tf._implements = "lstm_loop"}

    The loop itself is the function's body, so without a fusion it computes the same as before. Loops in annotated
    functions are left alone: their annotation already says what they are.

    Attributes:
        recognitions: Filled with one entry for each loop.
        form: The layers to make composites of: those that are faster as one op, all or none.
        forms: The forms of composites: layers whose composite is named there become one in any case.
        recognizers: Formulas of further recognizers, for code without loops.
        lacking: The ops of LiteRT's that the target does not have: layers do not become these.
        chosen_by: The option that chose the form, for reasons.
        tried: Filled for each of these with its name, how often it was found, and the nearest miss if it was not.
    """

    name = "recognize-composites"
    recognitions: list[Recognition]
    form: RnnForm = "auto"
    forms: CompositeForms = field(default_factory=CompositeForms)
    recognizers: Sequence[Recognizer] = ()
    lacking: Collection[str] = ()
    chosen_by: str = "--rnn"
    tried: list[tuple[str, int, str | None]] = field(default_factory=list[tuple[str, int, "str | None"]])

    def run(self, module: ir.Module) -> bool:
        modified = False
        for function in _unannotated(functions(module)):
            if not _may_have_layers(function):
                continue
            # Most models have no layers, and do not need the formulas.
            from litefuse.fusions.recognizers.recurrent.layers import LayerSearch

            search = LayerSearch(self.recognitions, self.form, self.forms, self.lacking, self.chosen_by)
            modified |= search.outline_all(module, function)
        if self.recognizers:
            from litefuse.fusions.recognizers.formulas import formula_search

            for search in map(formula_search, self.recognizers):
                for function in _unannotated(functions(module)):
                    modified |= search.outline_all(module, function)
                closest = None if search.places or search.closest is None else search.closest[1]
                self.tried.append((search.recognizer.name, len(search.places), closest))
        return modified


def _may_have_layers(function: func.FuncOp) -> bool:
    return bool(products_of_shared_weights(function)) or any(op.name == "tf.While" for op in operations(function))


def _unannotated(by_symbol: Mapping[str, func.FuncOp]) -> list[func.FuncOp]:
    """Returns the functions that are called outside of any composite."""
    symbols = [symbol for symbol, function in by_symbol.items() if is_public(function)]
    for symbol in symbols:  # grows
        for op in operations(by_symbol[symbol]):
            for callee in callees(op):
                if callee in by_symbol and callee not in symbols and read_annotation(by_symbol[callee]) is None:
                    symbols.append(callee)
    return [by_symbol[symbol] for symbol in symbols]
