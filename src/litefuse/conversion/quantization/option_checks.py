"""Checks of what is asked of a quantization, before it begins."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import replace

from litefuse.errors import LitefuseError
from litefuse.litert.targets import traits_of
from litefuse.support.cloud.paths import local
from litefuse.support.options.conversion import Quantization
from litefuse.support.options.forms import INTEGER_ACTIVATIONS, INTEGER_FORMS, QUANTIZATIONS, QuantizationForm
from litefuse.support.options.quantization import QuantizationOptions, quantization_options, types_of_io

# The forms in which ops take float32 and weights that are smaller.
_MIXED = frozenset({"auto", "dynamic", "float16"})


def check_quantization(
    quantization: Quantization, target: str | Sequence[str]
) -> tuple[QuantizationForm | None, QuantizationOptions]:
    """Checks what was asked of a quantization; returns its form, None if nothing is quantized, and its options.

    Raises:
        LitefuseError: No such form or combination, samples are lacking or needless, a target does not run what the form
            makes, or litert-quantizer is not installed.
    """
    form = quantization.form
    if form is not None and form not in QUANTIZATIONS:
        raise LitefuseError(f"unknown quantization {form!r}", hint=f"Choose from {', '.join(QUANTIZATIONS)}.")
    if quantization.recipe is not None:
        if form is not None:
            raise LitefuseError(
                f"a recipe already says how to quantize each op, so it excludes the quantization {form!r}",
                hint="Leave out one of the two (on the command line, --recipe or --quantize).",
            )
        form = "recipe"
    options = quantization_options(form, replace(quantization, recipe=local(quantization.recipe)))
    if form not in {None, "qat"} and importlib.util.find_spec("litert_quantizer") is None:
        raise LitefuseError(
            "quantization needs the package litert-quantizer",
            hint="Install it with `pip install 'litefuse[quantize]'`.",
        )
    _check_max_error(form, quantization.max_error)
    _check_samples(form, quantization, options)
    if form == "auto" and _asks_for_integers(quantization):
        form, options = "int8", options._replace(mixed_activations=True)
    _check_target(form, options, target)
    if quantization.samples is not None:
        from litefuse.conversion.quantization.dataset import check_dataset

        check_dataset(quantization.samples, quantization.preprocess)
    if quantization.measure_layers and form is None:
        raise LitefuseError(
            "measure_layers measures the effect of quantization, but no form was chosen",
            hint="Pass a form as well (on the command line, --quantize).",
        )
    return form, options


def _asks_for_integers(quantization: Quantization) -> bool:
    return quantization.require_integer or any(types_of_io(quantization.io))


def _check_max_error(form: QuantizationForm | None, max_error: float | None) -> None:
    """Checks the largest difference that is allowed."""
    if max_error is None:
        if form == "auto":
            raise LitefuseError(
                "the quantization 'auto' needs max_error: the difference up to which it makes the model smaller",
                hint="Pass max_error (on the command line, --max-error), such as 0.01 for a hundredth of the largest "
                "element of each output.",
            )
    elif form is None:
        raise LitefuseError(
            "max_error limits the effect of quantization, but no form was chosen",
            hint="Pass a form as well (on the command line, --quantize).",
        )


def _check_target(form: QuantizationForm | None, options: QuantizationOptions, target: str | Sequence[str]) -> None:
    """Checks that a target runs what a form makes."""
    traits = traits_of(target)
    named = ", ".join(map(repr, [target] if isinstance(target, str) else target))
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


def _check_samples(form: QuantizationForm | None, quantization: Quantization, options: QuantizationOptions) -> None:
    """Checks that there are samples if the form needs them, and what is for some forms only with these."""
    dataset, preprocess = quantization.samples, quantization.preprocess is not None
    needs_samples = form in INTEGER_ACTIVATIONS or (form == "recipe" and options.has_integer_activations)
    needs_samples = needs_samples or (form == "auto" and _asks_for_integers(quantization))
    takes_samples = needs_samples or form == "auto"
    calibrated, integers = (*INTEGER_ACTIVATIONS, "auto"), (*INTEGER_FORMS, "auto")
    types = types_of_io(quantization.io)
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
            hint=f"Pass Quantization({form!r}, samples=...) (on the command line, --samples FILE.npz): some inputs of "
            "the kind that the model will get.",
        )
