"""Reader of an op's calls in a SavedModel: it is converted with composites kept and other ops as custom ops."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from litefuse.errors import ConversionError
from litefuse.files.temporary import make_temporary_folder
from litefuse.scaffold.call import Call
from litefuse.scaffold.litert_model import read_calls

__all__ = ["read_saved_model"]


def read_saved_model(
    folder: Path, op: str, tags: Collection[str] | None, on_step: Callable[[str], None]
) -> tuple[list[Call], list[str]]:
    """Converts a SavedModel so that the op remains one op, and reads its calls.

    Args:
        folder: The SavedModel, or another file to convert: a Keras file or a frozen graph.
        op: The name of a composite or TensorFlow op.
        tags: The tags of its graph; None means the one for serving.
        on_step: Called with each step's name.

    Returns:
        The calls, which have the body of a composite as their reference, and the names of all custom ops and composites
        in the converted model.

    Raises:
        LitefuseError: The model cannot be converted even like this, or the composite cannot be kept.
    """
    from litefuse.api import convert

    with make_temporary_folder() as work:
        result = convert(folder, tags=tags, allow_custom_ops=True, composites="keep", on_step=on_step)
        calls, names = read_calls(result.save(Path(work, "converted.tflite")), op)
    for composite in result.report.composites:
        if not calls and composite.name == op and composite.outcome != "fused":
            raise ConversionError(f"the composite cannot be kept as one op: {composite.reason}", where=op)
    return calls, names
