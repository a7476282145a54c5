"""Preparation of a LiteRT file of any converter: what litert-quantizer, samples and reports name things by."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.applying import read_model
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import edit_file, name_tensors, sign
from litefuse.litert.runtime.schema_objects import op_names, tensor_name

__all__ = ["prepare_model"]


def prepare_model(path: Path, target: Path) -> None:
    """Copies a model, with a name of its own for each tensor, and with a signature.

    Tensors of several subgraphs may have one name; what comes later is then ``NAME#2``. A model without signatures gets
    one of its first subgraph, whose inputs and outputs have the names of the tensors.

    Args:
        path: A LiteRT model.
        target: The file for the copy.

    Raises:
        LitefuseError: It cannot be read or written, or is quantized already.
    """
    try:
        model = read_model(path)
        _check_real(model, path)
        shutil.copyfile(path, target)
        edit_file(target, name_tensors, sign)
    except (OSError, LitefuseError):
        raise
    except Exception as error:
        raise LitefuseError(f"the model cannot be read: {error}", where=str(path)) from error


def _check_real(model: Any, path: Path) -> None:
    """Checks that a model is in floating point: what litert-quantizer makes of integers is wrong, or no model.

    Raises:
        LitefuseError: A tensor has a scale, or weights are float16 in the file only.
    """
    kinds = op_names(model)
    for graph in model.subgraphs:
        stored = [op.inputs[0] for op in graph.operators or () if kinds[op.opcodeIndex] == "DEQUANTIZE"]
        for index, tensor in enumerate(graph.tensors):
            parameters = tensor.quantization
            # Scales of blocks are in a tensor that the details name.
            has_scale = parameters is not None and parameters.scale is not None and len(parameters.scale) > 0
            has_blocks = parameters is not None and parameters.details is not None
            if has_scale or has_blocks or (index in stored and model.buffers[tensor.buffer].data is not None):
                raise LitefuseError(
                    f"the model is quantized already: {tensor_name(tensor)!r}, for one, is stored in fewer bits",
                    where=str(path),
                    hint="Quantize the model in floating point that it was made of.",
                )
