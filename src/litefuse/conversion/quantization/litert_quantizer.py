"""litert-quantizer: what it needs of a file, the application of a recipe, and errors that say which op it refuses."""

from __future__ import annotations

import importlib
import re
import shlex
import shutil
import sys
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.recipe import OTHER_NAMES, Recipe
from litefuse.errors import LitefuseError
from litefuse.litert.export.edited_file import edit_file, name_tensors, sign
from litefuse.litert.runtime.flatbuffer import content_of, leave, mapped
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.runtime.schema_objects import op_names, tensor_name


def read_model(path: Path) -> Any:
    """Reads a model, as the schema's objects; its constants stay in the mapped file, on Windows in memory."""
    # What is mapped cannot be replaced there.
    model = path.read_bytes() if sys.platform == "win32" else memoryview(mapped(path))
    return importlib.import_module("litert_quantizer.utils.tfl_flatbuffer_utils").read_model(model)


def apply_recipe(path: Path, target: Path, recipe: Recipe, ranges: Ranges | None = None) -> None:
    """Writes a quantized model.

    litert-quantizer's parts are called one by one: its class ``Quantizer``, which does the same, loads the model in an
    interpreter without kernels of custom ops if there are ranges, to see whether a tensor lacks one.

    Args:
        path: A LiteRT model.
        target: The file for the quantized one.
        recipe: What each op gets.
        ranges: The ranges of the model's tensors, if the recipe has integer activations.

    Raises:
        LitefuseError: litert-quantizer rejects the model or the recipe.
    """
    library: Any = importlib.import_module
    manager: WatchedManager | None = None
    try:
        manager = WatchedManager(library("litert_quantizer.recipe_manager").RecipeManager())
        manager.load_quantization_recipe(recipe)
        model = read_model(path)
        generator = library("litert_quantizer.params_generator").ParamsGenerator(model)
        parameters = generator.generate_quantization_parameters(manager, ranges, enable_progress_bar=False)
        modifier = library("litert_quantizer.model_modifier").ModelModifier(model)
        modifier.modify_model(parameters, serialize_to_path=str(target), enable_progress_bar=False)
        leave(mapped(path))
    except Exception as error:
        raise refusal(error, manager and manager.op) from error


# How LiteRT names an op that it cannot prepare or run.
_NODE = re.compile(r"Node number (\d+) \((\w+)\)")
# What litert-quantizer asks about beside ops.
_BOUNDARIES = frozenset({"INPUT", "OUTPUT"})
_WHERE_UNKNOWN = (
    "Convert it without quantization, or leave the ops that this is about in floating point: keep_float, "
    "keep_float_ops (on the command line, --keep-float, --keep-float-op)."
)


class WatchedManager:
    """A recipe manager of litert-quantizer that knows which op it was last asked about.

    Attributes:
        op: The op's kind, as litert-quantizer names it, and its results, each followed by a semicolon; None for none.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.op: tuple[str, str] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def get_quantization_configs(self, kind: Any, scope: str) -> Any:
        """Returns what an op gets, which litert-quantizer asks before it does so."""
        name = str(getattr(kind, "value", kind))
        self.op = None if name in _BOUNDARIES else (name, scope)
        return self._manager.get_quantization_configs(kind, scope)


def refusal(error: Exception, op: tuple[str, str] | None) -> LitefuseError:
    """Returns the error for an exception of litert-quantizer.

    Args:
        error: The exception.
        op: The op that it was at; see :class:`WatchedManager`.
    """
    if op is None:
        return LitefuseError(f"litert-quantizer refused the model: {error}", hint=_WHERE_UNKNOWN)
    kind, scope = op
    result = scope.partition(";")[0]
    return LitefuseError(
        f"litert-quantizer refused the model at {kind} {result!r}: {error}", hint=_how_to_keep(kind, result)
    )


def not_run(error: Exception, path: Path) -> LitefuseError:
    """Returns the error for an exception of LiteRT, which refused a quantized model."""
    node = _NODE.search(str(error))
    place = None if node is None else _place(path, int(node[1]), node[2])
    if place is None:
        return LitefuseError(f"the quantized model does not run in LiteRT: {error}", hint=_WHERE_UNKNOWN)
    return LitefuseError(
        f"the quantized model does not run in LiteRT, because of {place[0]} {place[1]!r}: {error}",
        hint=_how_to_keep(*place),
    )


def _place(path: Path, number: int, kind: str) -> tuple[str, str] | None:
    """Returns the kind and the result of the op that LiteRT numbers so; None if several subgraphs have such a one."""
    with content_of(path) as content:
        numbered = [(graph, graph.ops[number]) for graph in Model(content).graphs if number < len(graph.ops)]
        named = [(graph, op) for graph, op in numbered if op.name == kind and op.outputs]
        if len(named) != 1:
            return None
        ((graph, op),) = named
        return "CUSTOM_OP" if op.custom else OTHER_NAMES.get(kind, kind), graph.tensor(op.outputs[0]).name


def _how_to_keep(kind: str, result: str) -> str:
    pattern = f"^{re.escape(result)};"
    return (
        f"Leave this op in floating point, keep_float=[{pattern!r}] (on the command line, "
        f"--keep-float {shlex.quote(pattern)}), or all ops of its kind: keep_float_ops=[{kind!r}] "
        f"(--keep-float-op {kind})."
    )


def prepare_model(path: Path, target: Path) -> None:
    """Copies a model, with a name of its own for each tensor, and with a signature.

    Tensors of several subgraphs may have one name; what comes later is then ``NAME#2``. A model without signatures gets
    one of its first subgraph, whose inputs and outputs have the names of the tensors.

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
