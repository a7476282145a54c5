"""Quantization with the ranges that training found: integer ops in the place of fake-quantization nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path

from litefuse.conversion.model_file import write_model
from litefuse.conversion.quantization.difference import (
    Difference,
    calls_of_random_inputs,
    difference_on_random_inputs,
    layer_differences,
)
from litefuse.conversion.quantization.float_ops import STATES, ops_by_kind
from litefuse.conversion.quantization.integer_loops import make_trained_loops_integer
from litefuse.conversion.quantization.integer_rules import MOVING
from litefuse.conversion.quantization.moved_constants import move_integers
from litefuse.conversion.quantization.states.integer_variables import make_variables_integer
from litefuse.errors import LitefuseError
from litefuse.ir.mlir import ir
from litefuse.ir.passes import run_passes
from litefuse.litert.export.edited_file import edit_file
from litefuse.passes.fake_quantization.integer_boundary import IntegerBoundary
from litefuse.passes.fake_quantization.integer_ops import IntegerOps, UncoveredOp
from litefuse.passes.fake_quantization.pairs import NodesFound
from litefuse.passes.weights import Weights
from litefuse.support.report.quantized import FloatOp


def quantize_trained(
    module: ir.Module,
    weights: Weights,
    path: Path,
    nodes: NodesFound,
    integer_signatures: Collection[str] = (),
    *,
    int4: bool = True,
    layers: bool = False,
) -> tuple[int, Difference]:
    """Writes a lowered module whose fake-quantization nodes are pairs as a model of integer ops.

    Args:
        module: The module; it is consumed.
        weights: The weights that its placeholders represent.
        path: The file.
        nodes: What became of the nodes.
        integer_signatures: The functions whose inputs and outputs become integers, too.
        int4: Whether weights may be int4.
        layers: Whether the difference is also measured inside the model.

    Returns:
        The size in bytes of the model that computes fake quantization in floats; the difference in the outputs between
        that model and the one of integers, and the ops that stayed in floats.

    Raises:
        LitefuseError: The model has no node with a constant range, or LiteRT does not run the result.
        LoweringError: The exporter rejected the module.
    """
    if not nodes.pairs:
        why = "".join(f"\n  {node}: {reason}" for node, reason in nodes.left)
        raise LitefuseError(
            "the model has no fake quantization that gives ranges" + (f":{why}" if why else ""),
            hint="Without training for it, quantize='int8' takes ranges from samples (on the command line, "
            "--quantize int8 --samples FILE.npz).",
        )
    copy = BytesIO()
    module.operation.write_bytecode(copy)
    floats = path.with_name(path.name + ".floats")
    left: list[UncoveredOp] = [UncoveredOp("fake quantization", node, reason) for node, reason in nodes.left]
    try:
        write_model(ir.Module.parse(copy.getvalue()), weights, floats)
        run_passes(module, [IntegerOps(left, int4=int4), IntegerBoundary(integer_signatures)])
        write_model(module, weights, path)
        states: dict[str, str] = {}
        variables = partial(make_variables_integer, bits=8, ranges={}, reasons=states)
        edit_file(path, make_trained_loops_integer, variables, partial(move_integers, kept=()))
        difference = difference_on_random_inputs(floats, path)
        kinds, written = ops_by_kind(path, integer=True, reasons=states)
        inside = layer_differences(floats, path, calls_of_random_inputs(floats)) if layers else ()
        sizes = {f"node {op.name}": op.weights for op in written}
        ops = [FloatOp(op.op, op.node, "float", op.reason, sizes.get(op.node, 0)) for op in _left_in(written, left)]
        ops += [op for op in written if op.name in states and op.op in STATES]
        return floats.stat().st_size, difference._replace(kinds=kinds, floats=tuple(ops), layers=inside)
    finally:
        floats.unlink(missing_ok=True)


def _left_in(written: Sequence[FloatOp], left: Sequence[UncoveredOp]) -> Iterator[UncoveredOp]:
    """Yields the ops of a module that are of floats in the file as well: those of loops may carry integers there."""
    counts = Counter(op.op for op in written), Counter(op.op for op in left)
    for op in left:
        node = op.node.removeprefix("node ")
        has_changed = (
            op.op in {"BROADCAST_TO", "FILL", "READ_VARIABLE", "WHILE", *MOVING} and counts[0][op.op] < counts[1][op.op]
        )
        if not has_changed or any(other.op == op.op and other.name.startswith(node) for other in written):
            yield op
