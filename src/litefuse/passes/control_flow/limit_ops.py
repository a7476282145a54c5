"""Limits the number of ops that a module has once its calls are inlined."""

from __future__ import annotations

from collections import Counter

from litefuse.errors import LimitError
from litefuse.ir.call_graph import callees, callees_first, functions, is_public, nested_operations, original_name
from litefuse.ir.mlir import ir
from litefuse.ir.passes import module_pass
from litefuse.support.options.limits import current_limits


@module_pass
def limit_ops(module: ir.Module) -> bool:
    """Refuses a module with more ops than the limit, where each function counts once for each use.

    A branch, or the body of a loop, counts as a call does: functions with several callers are copied for each.

    Raises:
        LimitError: There are more; the message names the function that contributes most.
        GraphError: Functions call each other in a cycle.
    """
    by_symbol = functions(module)
    own: dict[str, int] = {}
    calls: dict[str, Counter[str]] = {}
    for symbol, function in by_symbol.items():
        ops = [] if function.is_external else list(nested_operations(function.entry_block))
        own[symbol] = len(ops)
        calls[symbol] = Counter(callee for op in ops for callee in _callees(op) if callee in by_symbol)
    order = callees_first(by_symbol, calls)
    whole: dict[str, int] = {}
    for symbol in order:
        whole[symbol] = own[symbol] + sum(count * whole[callee] for callee, count in calls[symbol].items())
    total = sum(whole[symbol] for symbol in order if is_public(by_symbol[symbol]))
    limit = current_limits().max_ops
    if total <= limit:
        return False
    uses: Counter[str] = Counter(symbol for symbol in order if is_public(by_symbol[symbol]))
    for symbol in reversed(order):
        for callee, count in calls[symbol].items():
            uses[callee] += count * uses[symbol]
    most = max(order, key=lambda symbol: uses[symbol] * own[symbol])
    raise LimitError(
        f"with its calls inlined, the model would have {_number(total)} ops, more than the limit max_ops "
        f"({limit:,}): this function, of {own[most]} ops, is run from {_number(uses[most])} places",
        where=f"function {original_name(by_symbol[most])}",
        hint="If this is intended, pass a larger max_ops to convert() (on the command line, --max-ops).",
        limit="max_ops",
    )


def _callees(op: ir.OpView) -> list[str]:
    """Returns the callees of an op; a composite of StableHLO may become its decomposition."""
    if op.operation.name == "stablehlo.composite":
        return [ir.FlatSymbolRefAttr(op.attributes["decomposition"]).value]
    return callees(op)


def _number(value: int) -> str:
    """Formats a number in few digits: it may double with each function, and have thousands of digits."""
    return f"{value:,}" if value < 10**15 else f"about 2**{value.bit_length() - 1}"
