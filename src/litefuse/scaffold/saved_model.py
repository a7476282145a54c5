"""The calls of an op in a SavedModel: it is converted, with the op as a custom op."""

from __future__ import annotations

import importlib
import tempfile
from collections.abc import Callable, Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, cast

from litefuse.errors import ConversionError, LitefuseError
from litefuse.fusions import Fusion
from litefuse.scaffold.call import Call
from litefuse.scaffold.litert_model import custom_names, read_calls, read_model

if TYPE_CHECKING:
    from litefuse.engine.mlir import ir
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite

__all__ = ["AsCustomOp", "read_saved_model"]


def read_saved_model(
    folder: Path, op: str, tags: Collection[str] | None, on_step: Callable[[str], None]
) -> tuple[list[Call], list[str]]:
    """Converts a SavedModel so that the op becomes a custom op, and reads its calls.

    A composite of that name becomes one whatever ``litefuse convert`` would make of it; its body, where it can be
    converted alone, becomes the calls' reference.

    Args:
        folder: The SavedModel.
        op: The name of a composite or TensorFlow op.
        tags: The tags of its graph; None takes the one for serving.
        on_step: Called with each step's name.

    Returns:
        The calls, and the names of all custom ops and composites in the converted model.

    Raises:
        LitefuseError: The model cannot be converted even so, or the composite cannot be a custom op.
    """
    from litefuse.api import convert

    with tempfile.TemporaryDirectory(prefix="litefuse-scaffold-") as work:
        bodies = Path(work)
        with _registered(op, bodies):
            result = convert(folder, tags=tags, allow_custom_ops=True, check_fusions=False, on_step=on_step)
        model = read_model(result.save(bodies / "converted.tflite"))
        calls = read_calls(model, op)
        for composite in result.report.composites:
            if not calls and composite.name == op and composite.outcome != "fused":
                raise ConversionError(f"the composite cannot be a custom op: {composite.reason}", where=op)
        references = sorted(bodies.glob("body*.tflite"))
        # Of several instances it is not known here which body is whose.
        if len(references) == len(calls) == 1 and calls[0].reference is None:
            calls = [replace(calls[0], reference=references[0].read_bytes())]
        return calls, custom_names(model)


@contextmanager
def _registered(op: str, bodies: Path) -> Generator[None]:
    """Registers the fusion for the name as long as the block runs, in place of what is registered."""
    # The process that converts gets classes, not objects; one of __main__ is sent with what it holds.
    made = type("Scaffold", (AsCustomOp,), {"bodies": str(bodies), "__module__": "__main__"})
    registry: dict[str, type[Fusion]] = vars(importlib.import_module("litefuse.fusions.fusion"))["_registered"]
    present = registry.get(op)
    registry[op] = made
    try:
        yield
    finally:
        del registry[op]
        if present is not None:
            registry[op] = present


class AsCustomOp(Fusion):
    """The composite as a custom op of its name; its body is saved as a model of its own."""

    unchecked = "its kernel is still to be written"
    bodies: ClassVar[str] = ""

    def rewrite(self, composite: Composite, b: Builder) -> Sequence[ir.Value]:
        self._save_body()
        options = {name: value for name, value in composite.attributes.items() if name != "tfl_fusable_op"}
        return b.custom(composite.name, composite.args, composite.result_types, options)

    def _save_body(self) -> None:
        from litefuse.engine.mlir import ir
        from litefuse.passes.call_graph import functions
        from litefuse.verify.standalone import standalone_model

        # What is being built stands beside the function with the body, whose name its own begins with.
        owner = cast("Any", ir.InsertionPoint).current.block.owner
        module: Any = owner.operation.parent.opview
        symbol = ir.StringAttr(owner.attributes["sym_name"]).value.removesuffix(".replacement")
        try:
            data = standalone_model(module, functions(module)[symbol])
        except LitefuseError:
            return  # it holds what LiteRT lacks: there is nothing to compare with
        folder = Path(self.bodies)
        (folder / f"body{len(list(folder.glob('body*')))}.tflite").write_bytes(data)
