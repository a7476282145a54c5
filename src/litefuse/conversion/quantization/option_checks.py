"""Checks of what is asked of a quantization, before it begins."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.litert.targets import traits_of
from litefuse.support.cloud.paths import local
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, INTEGER_FORMS
from litefuse.support.options.quantization import Quantization, check_combination, recipe_entries

# The forms in which ops take float32 and weights that are smaller.
_MIXED = frozenset({"auto", "dynamic", "float16"})


def check_quantization(quantization: Quantization, target: tuple[str, ...]) -> Quantization:
    """Checks what was asked of a quantization; returns it with the entries of its recipe.

    Raises:
        LitefuseError: No such combination, samples are lacking or needless, a target does not run what the form makes,
            or litert-quantizer is not installed.
    """
    if quantization.recipe is not None:
        if quantization.form is not None:
            raise LitefuseError(
                f"a recipe already says how to quantize each op, so it excludes the quantization {quantization.form!r}",
                hint="Leave out one of the two (on the command line, --recipe or --quantize).",
            )
        quantization = replace(quantization, recipe=recipe_entries(local(quantization.recipe)))
    form = quantization.scheme
    check_combination(quantization)
    if form not in {None, "qat"} and importlib.util.find_spec("litert_quantizer") is None:
        raise LitefuseError(
            "quantization needs the package litert-quantizer",
            hint="Install it with `pip install 'litefuse[quantize]'`.",
        )
    _check_target(quantization, target)
    _check_max_error(quantization)
    _check_samples(quantization)
    if quantization.samples is not None:
        from litefuse.conversion.quantization.dataset import check_dataset

        check_dataset(quantization)
    if quantization.measure_layers and form is None:
        raise LitefuseError(
            "measure_layers measures the effect of quantization, but no form was chosen",
            hint="Pass a form as well (on the command line, --quantize).",
        )
    return quantization


def _check_max_error(quantization: Quantization) -> None:
    """Checks the largest difference that is allowed."""
    if quantization.max_error is None:
        if quantization.form == "auto":
            raise LitefuseError(
                "the quantization 'auto' needs max_error: the difference up to which it makes the model smaller",
                hint="Pass max_error (on the command line, --max-error), such as 0.01 for a hundredth of the largest "
                "element of each output.",
            )
    elif quantization.scheme is None:
        raise LitefuseError(
            "max_error limits the effect of quantization, but no form was chosen",
            hint="Pass a form as well (on the command line, --quantize).",
        )


def _check_target(options: Quantization, target: tuple[str, ...]) -> None:
    """Checks that a target runs what a form makes."""
    form, traits, named = options.scheme, traits_of(target), ", ".join(map(repr, target))
    if form in _MIXED and not traits.mixed:
        raise LitefuseError(
            f"the quantization {form!r} is not for the target {named}: tflite-micro, which runs the floating-"
            "point ops there, has no float32 ops with smaller weights",
            hint="Quantize to int8 or int16 with samples, or to 'weights', which are made float32 first.",
        )
    if options.weight_bits == 4 and traits.int4 is not None:
        of_samples = form in INTEGER_ACTIVATIONS
        if not (of_samples and options.granularity in traits.int4):
            taken = (
                "takes int4 weights of one scale only with int8 and int16" if traits.int4 else "takes no int4 weights"
            )
            raise LitefuseError(
                f"weight_bits=4 is not for the target {named}: {traits.runtime} {taken}",
                hint="Leave it out" + (", or pass granularity='tensor'." if traits.int4 and of_samples else "."),
            )


def needs_ranges(entry: Mapping[str, Any]) -> bool:
    """Whether an entry of a recipe needs ranges of activations."""
    return entry["algorithm_key"] == "GPTQ" or "activation_tensor_config" in entry.get("op_config", ())


def _check_samples(quantization: Quantization) -> None:
    """Checks that there are samples if the form needs them, and what is for some forms only with these."""
    form, dataset, preprocess = quantization.form, quantization.samples, quantization.preprocess is not None
    form = form or quantization.scheme
    needs_samples = quantization.scheme in INTEGER_ACTIVATIONS or any(map(needs_ranges, quantization.entries))
    takes_samples = needs_samples or form == "auto"
    calibrated, integers = (*INTEGER_ACTIVATIONS, "auto"), (*INTEGER_FORMS, "auto")
    types = quantization.io
    if any(types) and form == "recipe":
        raise LitefuseError("io cannot be combined with a recipe, whose entries INPUT and OUTPUT set it")
    of_integers = form in INTEGER_FORMS or needs_samples
    for argument, given, fits, forms in (
        ("samples", dataset is not None, takes_samples, calibrated),
        ("preprocess", preprocess, takes_samples, calibrated),
        ("io", any(types), of_integers, integers),
        ("require_integer", quantization.require_integer, of_integers, integers),
    ):
        if given and not fits:
            *others, last = map(repr, forms)
            raise LitefuseError(
                f"{argument} is only for the quantizations {', '.join(others)} and {last}",
                hint="" if form else "Pass one of these as well (on the command line, --quantize).",
            )
    if "uint8" in types and form not in {"auto", "int8"}:
        raise LitefuseError(f"uint8 inputs and outputs require int8 activations, not {form!r}")
    if types[0] != types[1] and form == "qat":
        raise LitefuseError("the quantization 'qat' has inputs and outputs of one type")
    if preprocess and dataset is None:
        raise LitefuseError(
            "preprocess requires a folder of images",
            hint="Pass it as samples (on the command line, --samples).",
        )
    if needs_samples and dataset is None:
        raise LitefuseError(
            f"the quantization {form!r} needs samples",
            hint=f"Pass quantize=litefuse.Quantization({form!r}, samples=...) (on the command line, --samples): some "
            "inputs of the kind that the model will get, as arrays or an .npz file, a folder of images, or a function "
            "that returns them (FILE.py:FUNCTION).",
        )
