"""Recipes: what each op gets, in the JSON form of litert-quantizer.

An entry names ops by a regular expression, which is searched for in the names of their results (each followed by a
semicolon), and by their kind. Of the entries that fit an op and that it supports, the last one counts; but entries of
the same expression count where its first one stands, so that an expression that must come later is written otherwise.
"""

from __future__ import annotations

import importlib
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Graph, Model, Op
from litefuse.support.options.forms import INTEGER_ACTIVATIONS
from litefuse.support.options.quantization import MIN_WEIGHT_ELEMENTS, IntegerType, Quantization

Recipe: TypeAlias = list[dict[str, Any]]
"""The entries, each with the keys ``regex``, ``operation``, ``algorithm_key`` and ``op_config``."""

_ALL = "*"
_MIN_MAX = "min_max_uniform_quantize"
_FLOAT_CASTING = "float_casting"
_NO_QUANTIZE = "no_quantize"
# Its rotations are ops that any LiteRT has; those of HADAMARD_ROTATION are custom ops.
_ROTATED = "DECOMPOSED_HADAMARD_ROTATION"
_BOUNDARIES = ("INPUT", "OUTPUT")
# The ops whose weights litert-quantizer puts into blocks, or rotates.
_ROW_WISE = ("FULLY_CONNECTED", "EMBEDDING_LOOKUP")


@dataclass(frozen=True)
class ModelFacts:
    """Facts about a model that a recipe depends on. Ops are named by their first results.

    Attributes:
        products_of_constants: The products with a constant first factor.
        returned: The ops with constants that are outputs of the model, too.
        widths: How many weights a row has, of the ops whose weights may be put into blocks or rotated.
        real: The ops whose activations cannot be integers.
        wide: The ops whose activations become int16 in a model of int8.
        carried: The first of the tensors that the bodies of loops take, and of those that they give.
        later: Those of them that become integers after litert-quantizer.
    """

    products_of_constants: Collection[str] = ()
    returned: Collection[str] = ()
    widths: Mapping[str, int] = field(default_factory=dict[str, int])
    real: Collection[str] = ()
    lookups_of_one_scale: bool = False
    wide: Collection[str] = ()
    carried: Collection[str] = ()
    later: Collection[str] = ()


def recipe_of(options: Quantization, facts: ModelFacts) -> Recipe:
    """Returns the recipe of a quantization.

    Args:
        options: What users choose.
        facts: What a recipe must know of the model.
    """
    form = options.scheme
    if options.entries:
        recipe = [dict(entry) for entry in options.entries] + _left(facts.real)
    elif form in INTEGER_ACTIVATIONS:
        recipe = _integers(INTEGER_ACTIVATIONS[form], options, facts)
    else:
        recipe = _weights_alone(options, facts)
    recipe += [_entry(f"(?:{pattern})", _ALL) for pattern in options.keep_float]
    recipe += [_entry("(?:^)", operation) for operation in options.keep_float_ops]
    if form in INTEGER_ACTIVATIONS:  # what stays in floating point are ops: inputs and outputs are what was asked for
        recipe += _boundaries(INTEGER_ACTIVATIONS[form], options.io)
        inner = {*facts.real, *facts.carried}.difference(facts.later)
        recipe += [_entry(f"(?:^){named(inner)}", boundary) for boundary in _BOUNDARIES if inner]
    return recipe


def named(results: Collection[str]) -> str:
    """Returns the regular expression of ops whose first result is one of these tensors."""
    return f"^(?:{'|'.join(map(re.escape, sorted(results)))});"


def _weights_alone(options: Quantization, facts: ModelFacts) -> Recipe:
    form = options.scheme
    if form == "float16":
        casting = _entry(".*", _ALL, _weights(16, dtype="FLOAT"), algorithm=_FLOAT_CASTING)
        return [casting, *_left(facts.returned)]
    make = _dynamic if form == "dynamic" else _weights
    smallest = options.min_weight_elements
    if smallest is None:
        smallest = MIN_WEIGHT_ELEMENTS if form == "dynamic" else 0

    def config(bits: int, granularity: str) -> dict[str, Any]:
        return {**make(bits, granularity=granularity), "min_weight_elements": smallest}

    bits = options.weight_bits
    whole = "TENSORWISE" if options.granularity == "tensor" else "CHANNELWISE"
    # Without a kernel for less than 8 bits, the first entry counts.
    recipe = [_entry(".*", _ALL, config(8, whole)), _entry("^", _ALL, config(bits, whole))]
    if form == "dynamic" and whole == "TENSORWISE":
        # LiteRT reads a scale for each channel, and computes with what is behind the only one.
        recipe.append(_entry("^", "DEPTHWISE_CONV_2D", config(8, "CHANNELWISE")))
    by_rows = f"BLOCKWISE_{options.block_size}" if options.block_size else whole
    if by_rows != whole or options.rotate:
        algorithm = _ROTATED if options.rotate else _MIN_MAX
        recipe += [_entry("(?:)", op, config(bits, by_rows), algorithm=algorithm) for op in _ROW_WISE]
        step = options.block_size or 2
        if others := {result for result, width in facts.widths.items() if width % step}:
            recipe.append(_entry(named(others), _ALL, config(bits, whole)))
    # Where weights are dequantized for the op, an output would be so, too, which litert-quantizer fails at.
    return recipe + _left(facts.products_of_constants if form == "dynamic" else facts.returned)


def _integers(bits: int, options: Quantization, facts: ModelFacts) -> Recipe:
    granularity = "TENSORWISE" if options.granularity == "tensor" else "CHANNELWISE"
    # Where tables are mixed with float32 all the same, lookups take the first scale for all rows.
    rows = "TENSORWISE" if facts.lookups_of_one_scale else granularity
    # LiteRT reads a scale for each channel of DEPTHWISE_CONV_2D.
    real = {_ALL: granularity, "DEPTHWISE_CONV_2D": "CHANNELWISE", "EMBEDDING_LOOKUP": rows}

    def in_float(pattern: str) -> Recipe:
        return [
            _entry(pattern, op, {**_dynamic(8, granularity=shared_by), "min_weight_elements": MIN_WEIGHT_ELEMENTS})
            for op, shared_by in real.items()
        ]

    recipe = [
        *in_float(".*"),
        _entry("^", _ALL, _static(bits, granularity=granularity)),
        # LiteRT reads only the scale of the first channel.
        _entry("^", "BATCH_MATMUL", _static(bits, granularity="TENSORWISE")),
    ]
    if options.weight_bits != 8:
        recipe.append(_entry("(?:)", _ALL, _static(bits, weight_bits=options.weight_bits, granularity=granularity)))
    if wide := set(facts.wide).difference(facts.products_of_constants):
        widened = _static(16, weight_bits=options.weight_bits, granularity=granularity)
        recipe.append(_entry(f"^{named(wide)}", _ALL, widened))
        recipe.append(_entry(f"^{named(wide)}", "BATCH_MATMUL", _static(16, granularity="TENSORWISE")))
    if facts.products_of_constants:  # a first factor has one scale, of 8 bits, as activations there
        constants = named(facts.products_of_constants)
        recipe.append(_entry(constants, "FULLY_CONNECTED", _static(bits, granularity="TENSORWISE")))
    if facts.real:
        recipe += _left(facts.real)
        # LiteRT supports integer weights as the second factor.
        others = set(facts.real).difference(facts.products_of_constants)
        recipe += in_float(f"(?:){named(others)}") if others else []
    return recipe


def _boundaries(bits: int, quantized_io: tuple[IntegerType, IntegerType]) -> Recipe:
    """Returns the entries of inputs and outputs."""
    boundaries: Recipe = []
    for boundary, of_integers in zip(_BOUNDARIES, quantized_io, strict=True):
        config = _static(8 if isinstance(of_integers, str) else bits) if of_integers else None
        if config is not None and of_integers == "uint8":
            config["activation_tensor_config"] |= {"dtype": "UINT"}
        boundaries.append(_entry("(?:(?:))", boundary, config))
    return boundaries


def mixed_recipe(forms: Mapping[str, str]) -> Recipe:
    """Returns the recipe that gives each op's weights a form of its own.

    Args:
        forms: ``int4``, ``int8``, ``float16`` or ``float32`` (left as they are) by the name of the op's result.
    """
    entries = {
        "int4": (_dynamic(4), _MIN_MAX),
        "int8": (_dynamic(8), _MIN_MAX),
        "float16": (_weights(16, dtype="FLOAT"), _FLOAT_CASTING),
    }
    return [
        _entry(named(results), _ALL, config, algorithm=algorithm)
        for form, (config, algorithm) in entries.items()
        if (results := [result for result, chosen in forms.items() if chosen == form])
    ]


def _left(results: Collection[str]) -> Recipe:
    return [_entry(named(results), _ALL)] if results else []


def _entry(
    regex: str, operation: str, config: dict[str, Any] | None = None, *, algorithm: str = _MIN_MAX
) -> dict[str, Any]:
    """Makes an entry; without a configuration, its ops are left as they are."""
    if config is None:
        return {"regex": regex, "operation": operation, "algorithm_key": _NO_QUANTIZE}
    return {"regex": regex, "operation": operation, "algorithm_key": algorithm, "op_config": config}


def _weights(bits: int, *, granularity: str = "CHANNELWISE", dtype: str = "INT") -> dict[str, Any]:
    """Weights that LiteRT makes float32 of before it computes."""
    weights = _tensor(bits, granularity=granularity, dtype=dtype)
    return {"weight_tensor_config": weights, "compute_precision": "FLOAT", "explicit_dequantize": True}


def _dynamic(bits: int, *, granularity: str = "CHANNELWISE") -> dict[str, Any]:
    """Weights that LiteRT multiplies with activations that it quantizes in each call."""
    weights = _tensor(bits, granularity=granularity)
    return {"weight_tensor_config": weights, "compute_precision": "INTEGER", "explicit_dequantize": False}


def _static(bits: int, *, weight_bits: int = 8, granularity: str = "CHANNELWISE") -> dict[str, Any]:
    """Activations of calibrated ranges: those of int8 have a zero point, those of int16 none, as LiteRT's kernels."""
    activations = _tensor(bits, granularity="TENSORWISE", symmetric=bits != 8)
    return {**_dynamic(weight_bits, granularity=granularity), "activation_tensor_config": activations}


def _tensor(bits: int, *, granularity: str, symmetric: bool = True, dtype: str = "INT") -> dict[str, Any]:
    return {"num_bits": bits, "symmetric": symmetric, "granularity": granularity, "dtype": dtype}


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


def check_named(path: Path, options: Quantization) -> None:
    """Checks that each regular expression and each kind of op in options is of ops that the model has.

    Raises:
        LitefuseError: One is not; or an entry of the recipe is not one that litert-quantizer takes.
    """
    if not (options.keep_float or options.keep_float_ops or options.entries):
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
    for number, entry in enumerate(options.entries, 1):
        where = f"recipe, entry {number}"
        _check_entry(entry, where)
        if entry["operation"] not in {"*", "INPUT", "OUTPUT"}:
            _check_operation(str(entry["operation"]), present, where)
        _check_pattern(str(entry["regex"]), scopes, where)


def kept_results(path: Path, options: Quantization) -> set[str]:
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
