"""Facts about a model that recipes depend on, and the check that a recipe names ops of the model."""

from __future__ import annotations

import importlib
import re
import struct
from collections.abc import Iterator
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from litefuse.conversion.quantization.recipe import ModelFacts
from litefuse.errors import LitefuseError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.support.options.quantization import QuantizationOptions

__all__ = ["OTHER_NAMES", "check_named", "facts_of", "kept_results"]

# The ops with weights in rows, and the operand that they are.
_ROWS = {"FULLY_CONNECTED": 1, "EMBEDDING_LOOKUP": 1}
# The names that litert-quantizer has for ops of the schema's other names.
OTHER_NAMES = {"TRANSPOSE_CONV": "CONV_2D_TRANSPOSE", "CUSTOM": "CUSTOM_OP"}
_LISTED = 5


def facts_of(path: Path) -> ModelFacts:
    """Returns what a recipe must know of a model, but for what its ranges tell.

    A file that cannot be read has no facts: litert-quantizer says what is wrong with it.
    """
    products, returned, widths = set[str](), set[str](), dict[str, int]()
    with suppress(struct.error, IndexError, ValueError):
        for graph, op in _ops(path):
            result = graph.tensor(op.outputs[0]).name if op.outputs else ""
            # LiteRT supports integer weights as the second factor.
            if op.name in {"BATCH_MATMUL", "FULLY_CONNECTED"} and graph.is_constant(op.inputs[0]):
                products.add(result)
            if any(input_ in graph.outputs and graph.is_constant(input_) for input_ in op.inputs):
                returned.add(result)
            if op.name in _ROWS:
                widths[result] = graph.tensor(op.inputs[_ROWS[op.name]]).shape[-1] or 0
    return ModelFacts(products, returned, widths)


def check_named(path: Path, options: QuantizationOptions) -> None:
    """Checks that each regular expression and each kind of op in options is of ops that the model has.

    Raises:
        LitefuseError: One is not; or an entry of the recipe is not one that litert-quantizer takes.
    """
    if not (options.keep_float or options.keep_float_ops or options.recipe):
        return
    scopes = {
        "".join(f"{graph.tensor(output).name};" for output in (op.outputs or op.inputs) if output >= 0): op.name
        for graph, op in _ops(path)
    }
    for pattern in options.keep_float:
        _check_pattern(pattern, scopes, "keep_float")
    present = {OTHER_NAMES.get(name, name) for name in scopes.values()}
    for name in options.keep_float_ops:
        _check_operation(name, present, "keep_float_ops")
    for number, entry in enumerate(options.recipe, 1):
        where = f"recipe, entry {number}"
        _check_entry(entry, where)
        if entry["operation"] not in {"*", "INPUT", "OUTPUT"}:
            _check_operation(str(entry["operation"]), present, where)
        _check_pattern(str(entry["regex"]), scopes, where)


def kept_results(path: Path, options: QuantizationOptions) -> set[str]:
    """Returns the names of the results of ops that the user wants in floating point."""
    if not (options.keep_float or options.keep_float_ops):
        return set()
    names: set[str] = set()
    for graph, op in _ops(path):
        results = [graph.tensor(output).name for output in op.outputs if output >= 0]
        scope = "".join(f"{name};" for name in results)
        wanted = OTHER_NAMES.get(op.name, op.name) in options.keep_float_ops
        if wanted or any(re.search(pattern, scope) for pattern in options.keep_float):
            names.update(results)
    return names


def _check_pattern(pattern: str, scopes: dict[str, str], where: str) -> None:
    if not any(re.search(pattern, scope) for scope in scopes):
        names = [scope.rstrip(";") for scope in scopes]
        close = get_close_matches(pattern, names, _LISTED, cutoff=0.3) or names[:_LISTED]
        raise LitefuseError(
            f"the regular expression {pattern!r} matches the name of no result of an op",
            where=where,
            hint=f"Similar names: {', '.join(map(repr, close))}.",
        )


def _check_operation(name: str, present: set[str], where: str) -> None:
    if name not in present:
        raise LitefuseError(f"the model has no op {name!r}", where=where, hint=f"It has {', '.join(sorted(present))}.")


def _check_entry(entry: object, where: str) -> None:
    """Has litert-quantizer read an entry alone, so that what is wrong is said of it."""
    try:
        importlib.import_module("litert_quantizer.qtyping").TFLOperationName(entry["operation"])  # type: ignore[index]
        manager = importlib.import_module("litert_quantizer.recipe_manager").RecipeManager()
        manager.load_quantization_recipe([entry])
    except Exception as error:
        reason = f"litert-quantizer does not take it: {type(error).__name__}: {error}"
        raise LitefuseError(reason, where=where) from error


def _ops(path: Path) -> Iterator[tuple[Graph, Op]]:
    with content_of(path) as content:
        for graph in Model(content).graphs:
            for op in graph.ops:
                yield graph, op
