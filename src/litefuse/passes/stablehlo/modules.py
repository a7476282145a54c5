"""Reads the program in an ``XlaCallModule``, a StableHLO portable artifact.

The op: https://www.tensorflow.org/api_docs/cc/class/tensorflow/ops/xla-call-module; the format:
https://openxla.org/stablehlo/compatibility.
"""

from __future__ import annotations

from litefuse.errors import GraphError
from litefuse.ir.engine.lowering import run_mlir_passes
from litefuse.ir.mlir import ir, stablehlo
from litefuse.passes.control_flow.limit_ops import LimitOps
from litefuse.passes.stablehlo.annotations import without_annotations

__all__ = ["read_module", "unknown_call"]

# Checks that the sizes are those that the program was exported for: the model's own shapes imply that already.
_ASSERTIONS = frozenset({"shape_assertion"})


def read_module(program: bytes) -> ir.Module:
    """Reads a program and prepares it: inlines calls, and removes dead and duplicate ops.

    Raises:
        GraphError: It cannot be read, or is not valid.
        LimitError: It has more ops than allowed, with its calls inlined.
    """
    context = ir.Context.current
    dialect = stablehlo()
    try:
        module = dialect.deserialize_portable_artifact(context, without_annotations(program))
        assert isinstance(module, ir.Module)
        _drop_assertions(module)
        LimitOps().run(module)
        run_mlir_passes(module, "inline{default-pipeline=}", "symbol-dce", "cse")
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        raise GraphError(
            f"the program in it cannot be read: {error}",
            hint="It was exported by a newer version of JAX than the StableHLO here, or is damaged.",
        ) from error
    return module


def unknown_call(target: str) -> GraphError:
    """Returns the error for a call of something that is not an op."""
    return GraphError(
        f"the program calls {target!r}, which is code of JAX's own runtime",
        hint="Export the function without it: most such calls come from linear algebra and from callbacks.",
    )


def _drop_assertions(module: ir.Module) -> None:
    found: list[ir.Operation] = []

    def look(op: ir.Operation) -> ir.WalkResult:
        if op.name == "stablehlo.custom_call":
            target = ir.StringAttr(op.attributes["call_target_name"]).value
            if target in _ASSERTIONS and not list(op.results):
                found.append(op)
        return ir.WalkResult.ADVANCE

    module.operation.walk(look)
    for op in found:
        op.erase()
