"""``litefuse verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from litefuse.support.options.quantization import Quantization
from litefuse.tools.cli.arguments import given_parameters
from litefuse.tools.cli.command import Command
from litefuse.tools.cli.declared_options import declared_option
from litefuse.tools.cli.failures import VERDICT_CODES
from litefuse.tools.cli.output import print_result, progress
from litefuse.tools.cli.parameters import (
    ALLOW_SIDE_EFFECTS,
    INPUTS,
    MAX_ERROR_OR_QUANTIZATION,
    PATH,
    PLUG_INS,
    SEED,
    SHAPES,
    SIGNATURES,
    TAGS,
    check_given_or_drawn,
    parse_shapes,
    repeat_option,
)


@click.command(cls=Command)
@click.argument("model", type=PATH, metavar="MODEL.tflite")
@click.argument("original", type=PATH, required=False)
@SIGNATURES
@INPUTS
@click.option(
    "--expected", type=PATH, metavar="FILE.npz", help="The expected outputs for --inputs, instead of ORIGINAL."
)
@declared_option(Quantization, "samples", "Samples to call both with, one after the other, as in litefuse convert.")
@declared_option(Quantization, "preprocess")
@SEED
@SHAPES
@repeat_option(2, "Call each signature N times.")
@MAX_ERROR_OR_QUANTIZATION
@click.option(
    "--coverage",
    type=click.FloatRange(min=0),
    default=120.0,
    show_default=True,
    metavar="SECONDS",
    help="Call the model for at most this many seconds to reach every row of its tables, up to 50,000 each.",
)
@TAGS
@PLUG_INS
@ALLOW_SIDE_EFFECTS
@click.option("--layers", is_flag=True, help="Also compare the tensors inside, and show the first that differs.")
def verify(
    model: Path,
    original: Path | None,
    signature: tuple[str, ...],
    inputs: Path | None,
    expected: Path | None,
    samples: Path | None,
    shape: tuple[str, ...],
    tags: tuple[str, ...] | None,
    plug_ins: tuple[str, ...],
    layers: bool,
    **options: Any,
) -> None:
    """Compare a LiteRT model with its original.

    ORIGINAL is the model that litefuse or another converter made MODEL.tflite from: the folder of a SavedModel, a
    .keras or .h5 file, or a frozen graph (.pb, .pbtxt). It runs in TensorFlow, which must be installed. Or it is
    another .tflite file, such as the one before quantization.

    Use an ORIGINAL that you trust: TensorFlow runs it. One that would do more than compute is refused without
    --allow-side-effects.

    Or MODEL.tflite is a .litertlm file, and ORIGINAL the language model that litefuse lm made it of: its tokenizer, the
    logits after prompts of several lengths, and what LiteRT-LM's engine writes are compared. Only --max-error counts
    there: with it, such as for a quantized model, the tokens that are most likely may be others.

    Both are called with the same random inputs, which suit the model: ids within its tables, words from its
    vocabularies, numbers within the ranges of its quantization. An output is equal, differs by more than --max-error,
    or is inconclusive, because it did not change with the inputs, or because not every row of a table was reached.

    The exit code is 0 if all outputs are equal, 1 if one differs, 3 if one is inconclusive, and 4 if the models cannot
    be compared.
    """
    from litefuse.tools.language_models import is_bundle

    if (original is None) == (expected is None):
        raise click.UsageError("Give either ORIGINAL or --expected.")
    check_given_or_drawn(inputs)
    if is_bundle(model):
        _verify_bundle(model, original, options["max_error"])
        return
    if expected is not None and inputs is None:
        raise click.BadParameter("--expected needs --inputs")
    if expected is not None and layers:
        raise click.BadParameter("--layers needs ORIGINAL, whose layers it compares")
    given = given_parameters(click.get_current_context()).keys()
    if samples is not None and {"--inputs", "--seed", "--shape"} & given:
        raise click.BadParameter("--samples excludes --inputs, --seed and --shape")
    shapes = parse_shapes(shape)

    from litefuse.conversion.verify.against_original import verify_model
    from litefuse.conversion.verify.verification import verification_sections

    # Other options are arguments of the same names.
    with progress(f"Verifying {model}") as on_step:
        verification = verify_model(
            model,
            original,
            signatures=signature or None,
            inputs=inputs,
            expected=expected,
            samples=samples,
            shapes=shapes,
            tags=tags,
            kernels=plug_ins,
            layers=layers,
            on_step=on_step,
            **options,
        )
    code = VERDICT_CODES[verification.verdict]
    print_result(verification.to_json, lambda: verification_sections(verification), code)


def _verify_bundle(model: Path, original: Path | None, max_error: float | None) -> None:
    if others := given_parameters(click.get_current_context()).keys() - {"model", "original", "--max-error"}:
        raise click.BadParameter(f"a .litertlm file excludes {', '.join(sorted(others))}")
    if original is None:
        raise click.UsageError("Give ORIGINAL, the model that the .litertlm file was made of.")

    from litefuse.conversion.verify.verification import verification_sections
    from litefuse.tools.language_models.verification import verify_bundle

    with progress(f"Verifying {model}") as on_step:
        verification = verify_bundle(model, original, max_error=max_error, on_step=on_step)
    code = VERDICT_CODES[verification.verdict]
    print_result(verification.to_json, lambda: verification_sections(verification), code)
