"""Composites, and custom calls, which StableHLO itself does not define."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from litefuse.frontends.fake_quantized import FAKE_QUANTIZATIONS
from litefuse.ir.annotations import annotate
from litefuse.ir.attributes import attribute_value
from litefuse.ir.call_graph import create_call, function_symbol
from litefuse.ir.mlir import ir
from litefuse.passes.stablehlo.modules import unknown_call
from litefuse.passes.stablehlo.rules.broadcasting import elementwise
from litefuse.passes.stablehlo.rules.linear_algebra import ROUTINES
from litefuse.passes.stablehlo.rules.reductions import counts
from litefuse.passes.stablehlo.rules.sorting import top_k
from litefuse.passes.stablehlo.rules.windows import dynamic_reduce_window
from litefuse.passes.stablehlo.translation import Result, Rules, Translation

# For complex numbers, the decompositions of these that JAX gives.
_OF_REAL_NUMBERS = frozenset({"acos", "acosh", "asin", "asinh", "atan", "atanh"})
# TensorFlow's op for each elementwise op of CHLO, https://openxla.org/stablehlo/generated/chlo.
_UNARY = {
    name: name.replace("_", "").capitalize()
    for name in (*_OF_REAL_NUMBERS, "cosh", "digamma", "erf", "erf_inv", "erfc", "lgamma", "sinh", "square", "tan")
}

# Marks of how a program is sharded over devices; here there is only one.
_PASSED_ON = frozenset({"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"})


def _composite(op: Any, t: Translation) -> Sequence[Result]:
    """Maps CHLO's ops to TensorFlow's; others become composites, as ``jax.lax.composite`` makes them."""
    name = ir.StringAttr(op.attributes["name"]).value
    attributes = _dictionary(op, "composite_attributes")
    namespace, _, short = name.rpartition(".")
    if namespace in {"chlo", "mhlo"}:
        known = _known(op, t, short, attributes)
        if known is not None:
            return known
    decomposition = t.functions.program(ir.FlatSymbolRefAttr(op.attributes["decomposition"]).value)
    body = decomposition.entry_block
    if namespace == "chlo":
        return t.block(body, [t.lazy(operand) for operand in op.operands])

    def emit(arguments: Sequence[ir.Value]) -> list[ir.Value]:
        return [value.emit() for value in t.inner().block(body, arguments)]

    operands = t.values(op.operands)
    function = t.functions.define(name, [value.type for value in op.operands], emit)
    annotate(function, name, attributes)
    return list(create_call(function_symbol(function), [result.type for result in op.results], operands).results)


def _custom_call(op: Any, t: Translation) -> Sequence[Result]:
    target = ir.StringAttr(op.attributes["call_target_name"]).value
    if target in _PASSED_ON:
        return [t.lazy(operand) for operand in op.operands]
    if target == "stablehlo.dynamic_reduce_window":
        return dynamic_reduce_window(op, t)
    if target == "ApproxTopK":
        return _approximate_top_k(op, t)
    if target in FAKE_QUANTIZATIONS:
        return [_fake_quantized(op, t, narrow=FAKE_QUANTIZATIONS[target])]
    if target in ROUTINES:
        return list(ROUTINES[target](op, t, _dictionary(op, "mhlo.backend_config")))
    namespace, _, short = target.rpartition(".")
    known = _known(op, t, short, _dictionary(op, "mhlo.attributes")) if namespace in {"chlo", "mhlo"} else None
    if known is None:
        raise unknown_call(target)
    return known


def _fake_quantized(op: Any, t: Translation, *, narrow: bool) -> Result:
    x, low, high = t.values(op.operands)
    name = "FakeQuantWithMinMaxVars" + ("PerChannel" if t.shape(op.operands[1]) else "")
    rounded = t.b.op(name, [x, low, high], t.shape(op.results[0]), "float32", num_bits=8, narrow_range=narrow)
    # A range that has not been observed rounds nothing; those of weights always have.
    return rounded if narrow else t.b.select(t.b.compare("Less", low, high), rounded, x)


def _approximate_top_k(op: Any, t: Translation) -> Sequence[Result]:
    """Translates the largest, or least, elements, all of which are found: ``jax.lax.approx_max_k``."""
    options = _dictionary(op, "mhlo.backend_config")
    values, positions = op.operands[:2]
    axis, last = int(options["reduction_dim"]), len(t.shape(values)) - 1
    symbol = ir.FlatSymbolRefAttr(ir.ArrayAttr(op.attributes["called_computations"])[0]).value
    if axis != last or not counts(positions, axis) or not options.get("aggregate_to_topk"):
        raise unknown_call("ApproxTopK")
    first = next(iter(t.functions.program(symbol).entry_block.operations))
    direction = t.direction(first)
    largest, places = top_k(t, t.value(values), int(options["top_k"]), upwards=direction.startswith("L"))
    return [largest, t.b.cast(places, t.dtype(positions))]


def _dictionary(op: Any, name: str) -> dict[str, Any]:
    """Returns an attribute that holds attributes, as Python values."""
    if name not in op.attributes:
        return {}
    given = ir.DictAttr(op.attributes[name])
    return {entry.name: attribute_value(given[entry.name]) for entry in given}


def _known(op: Any, t: Translation, name: str, attributes: dict[str, Any]) -> Sequence[Result] | None:
    if name in _UNARY and not (name in _OF_REAL_NUMBERS and "complex" in t.dtype(op.operands[0])):
        return [elementwise(t, op.operands, lambda x: t.b.unary(_UNARY[name], x))]
    if name in {"top_k", "topk"} and "k" in attributes:
        upwards = not attributes.get("largest", True)
        return list(top_k(t, t.value(op.operands[0]), int(attributes["k"]), upwards=upwards))
    return None


RULES: Rules = {"stablehlo.composite": _composite, "stablehlo.custom_call": _custom_call}
