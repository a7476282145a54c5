"""Finds attention."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from litefuse.fusions.recognizers.attention.composite import NAME, Form, definition
from litefuse.fusions.recognizers.attention.reading import Softmax, is_between_products, read_attention, softmax
from litefuse.fusions.recognizers.attention.roles import outermost, roles_of
from litefuse.fusions.recognizers.attention.scores import NotAttention, obstacle
from litefuse.fusions.recognizers.layers.layer import Emission, Graph, NamedLayer, NearMiss, Reference, where
from litefuse.fusions.recognizers.regions import NotRecognized, empty_composite, region_of
from litefuse.ir.builder import Builder
from litefuse.ir.call_graph import create_call, function_symbol, update_function_type
from litefuse.ir.mlir import func, ir
from litefuse.ir.tensors import Tensor

_KIND = "attention"


class Attention:
    """Finds a softmax between a product of queries and keys, and one with values::

        softmax(scale * q . k + masks) . v

    with batches, heads and groups in any order of axes, whatever transposes, reshapes and repeats them.
    """

    def find(self, graph: Graph) -> Iterator[NamedLayer | NearMiss]:
        results: set[ir.Value] = set()
        for op in graph.named("tf.Softmax", "tf.RealDiv"):
            candidate = softmax(op)
            if candidate is None:
                continue
            result = op.results[0]
            try:
                layer = _named(graph, candidate, result, results)
                results.update(layer.results)
                yield layer
            except NotAttention as reason:
                if not is_between_products(result):
                    continue
                text = str(reason) if reason.matched > 1 else obstacle(candidate.argument)
                if text is not None:
                    yield NearMiss(_KIND, where(result), text, reason.matched)


def _named(graph: Graph, found: Softmax, result: ir.Value, others: Collection[ir.Value]) -> NamedLayer:
    reading = read_attention(found, result)
    roles = roles_of(reading)
    whole = outermost(reading, roles, others)
    form, arguments = Form.of(whole, roles)
    try:
        region_of(graph.ops, graph.order, arguments, [whole.result.value])
    except NotRecognized:  # sizes of reshapes around it come from elsewhere
        whole = reading
        form, arguments = Form.of(whole, roles)
    return NamedLayer(
        NAME,
        _KIND,
        arguments,
        [whole.result.value],
        form.attributes,
        reference=_reference(form),
        note=_note(form),
        core=result,
        emit=_emission(form),
        problem=form.problem or _other_dtype(graph, [whole.queries.value, whole.keys.value, whole.values.value]),
    )


def _reference(form: Form) -> Reference:
    def build(b: Builder, arguments: Sequence[Tensor], attributes: Mapping[str, Any]) -> Sequence[ir.Value]:
        del attributes
        return [form.build(b, arguments, lambda operands, options: definition(b, operands, options))]

    return build


def _emission(form: Form) -> Emission:
    def build(module: ir.Module, place: str, b: Builder, arguments: Sequence[Tensor]) -> Sequence[ir.Value]:
        def core(operands: Sequence[Tensor], attributes: Mapping[str, Any]) -> Tensor:
            function = empty_composite(module, place, NAME, attributes, [value.type for value in operands])
            with ir.InsertionPoint(function.entry_block):
                func.ReturnOp(
                    [definition(b, [Tensor(argument) for argument in function.entry_block.arguments], attributes)]
                )
            update_function_type(function)
            return Tensor(create_call(function_symbol(function), list(function.type.results), operands).results[0])

        return [form.build(b, arguments, core)]

    return build


def _other_dtype(graph: Graph, tensors: Sequence[ir.Value]) -> str | None:
    other = [dtype for value in tensors if (dtype := graph.kind(value).dtype) != "float32"]
    return f"the composite takes float32, and here is {other[0]}" if other else None


def _note(form: Form) -> str:
    """Says what the attention has."""
    parts = [f"{count} heads" if (count := form.size(form.roles.all_heads)) else ""]
    if form.roles.groups:
        parts.append(f"in groups of {form.size(form.roles.groups)}")
    kinds = [mask.kind for mask in form.masks]
    parts.append("with a mask" if kinds else "")
    parts.append("with bounded scores" if form.cap is not None else "")
    return ", ".join(part for part in parts if part)
