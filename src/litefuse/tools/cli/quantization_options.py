"""Options of the commands that quantize."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from litefuse.support.options.quantization import GRANULARITIES, WEIGHT_BITS, IntegerType, QuantizedIo
from litefuse.tools.cli.parameters import ALL, PATH

# The types of inputs and outputs.
_TYPES: dict[str, IntegerType] = {"integer": True, "uint8": "uint8", "float32": False}


def _number(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    return int(value)


PREPROCESS = click.option(
    "--preprocess",
    metavar="FILE.py:FUNCTION",
    help="The function that turns each image of the folder, a PIL.Image.Image, into an input of the model. Default: "
    "RGB, resized, with values 0 to 255 if the model scales them or takes integers, else 0 to 1.",
)


def representative_dataset_option(what: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns the option of samples.

    Args:
        what: What they are for.
    """
    return click.option(
        "--representative-dataset",
        type=PATH,
        metavar="FILE.npz|FOLDER|FILE.py:FUNCTION",
        help=f"{what}: an array for each input, whose first axis counts samples or rows; a "
        "folder of images; or a function that returns or yields samples.",
    )


_OPTIONS = (
    representative_dataset_option("Samples for int8, int16 and auto"),
    PREPROCESS,
    click.option(
        "--quantized-io",
        metavar="[=TYPE[,TYPE]]",
        help="With int8, int16 and qat, also make inputs and outputs integers: integer (the form's own type) or, with "
        "int8, uint8; or two types, for inputs and outputs, one of which may be float32.",
    ),
    click.option(
        "--require-integer",
        is_flag=True,
        help="With int8, int16 and qat, fail if an op does not compute in integers, and list such ops.",
    ),
    click.option(
        "--quantization-layers",
        is_flag=True,
        help="Also measure the difference in every tensor of the model.",
    ),
    click.option(
        "--weight-bits",
        type=click.Choice([str(bits) for bits in WEIGHT_BITS]),
        default="8",
        callback=_number,
        help="4 for int4 weights where LiteRT has kernels: fully connected layers, convolutions, embeddings.",
    ),
    click.option(
        "--granularity",
        type=click.Choice(GRANULARITIES),
        default="channel",
        help="Weights that share a scale: those of an output channel, a tensor, or a block of a row (int4, dynamic).",
    ),
    click.option(
        "--rotate",
        type=click.Choice(["hadamard"]),
        help="Rotate the weights of fully connected layers and embeddings before rounding (dynamic, weights).",
    ),
    click.option(
        "--min-weight-elements",
        type=click.IntRange(min=0),
        metavar="N",
        help="Do not quantize weights with fewer elements. Default: 1024 with dynamic, 0 with weights.",
    ),
    click.option(
        "--keep-float",
        multiple=True,
        metavar="REGEX",
        help="Keep in float the ops whose output name matches REGEX; may be repeated.",
    ),
    click.option(
        "--keep-float-op",
        "keep_float_ops",
        multiple=True,
        metavar="OP",
        help="Keep all ops of this kind in float, such as SOFTMAX; may be repeated.",
    ),
    click.option(
        "--recipe",
        type=PATH,
        metavar="FILE.json",
        help="A litert-quantizer recipe, which says how to quantize each op; replaces --quantize.",
    ),
)


def quantization_option_group(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a quantization beyond its form."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def integer_io(value: str | None) -> QuantizedIo:
    """Returns what ``--quantized-io`` says of inputs and outputs: the form's own integers, ``uint8``, or nothing."""
    if value in (None, ALL):
        return value is not None
    types = value.split(",")
    if not 1 <= len(types) <= 2 or not {*types} <= _TYPES.keys():
        raise click.BadParameter(f"--quantized-io takes one or two of {', '.join(_TYPES)} after =, not {value!r}")
    return _TYPES[types[0]], _TYPES[types[-1]]
