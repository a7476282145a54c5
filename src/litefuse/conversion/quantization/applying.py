"""Application of a recipe to a model, by litert-quantizer."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.calibration import Ranges
from litefuse.conversion.quantization.recipe import Recipe
from litefuse.conversion.quantization.refusals import WatchedManager, refusal
from litefuse.litert.runtime.flatbuffer import leave, mapped

__all__ = ["apply_recipe", "read_model"]


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
