"""Signatures of ops as the rules expect them: the number and types of operands and results, and the options."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from litefuse.kernels.generator.body import BodyOp, BodyTensor
from litefuse.kernels.generator.nodes import CPP_TYPES
from litefuse.litert.runtime.schema_objects import made

# LiteRT has no tensors of more axes, and they would be too many loops.
_MOST_AXES = 16
_INTEGERS = ("INT32", "INT64")

_ALLOWED: dict[str, Sequence[str]] = {
    "i": _INTEGERS,
    "j": _INTEGERS,
    "k": ("INT16", *_INTEGERS),
    "b": ("BOOL",),
    "f": ("FLOAT32",),
    "c": ("COMPLEX64",),
}


class NotGenerated(Exception):  # noqa: N818  not an error: the composite keeps its body
    """No kernel can be made of a body; the text says why."""


class Form(NamedTuple):
    """Operands, results and options of an op.

    Attributes:
        takes: A letter for each operand. Those of ``x`` are of one type, and so are those of ``y`` and of ``j``;
            ``i`` and ``j`` are integers of 32 or 64 bits, ``k`` also of 16, ``b`` are booleans, ``f`` float32, ``c``
            complex64, and ``?`` is of any type. The last may be absent if it is a capital letter, and stands for one
            or more before a ``+``, for any number before a ``*``.
        gives: The same of the results.
        options: The name of the class of its options.
    """

    takes: str
    gives: str
    options: str | None = None


def in_form(op: BodyOp, form: Form, tensors: Sequence[BodyTensor]) -> BodyOp:
    """Checks the operands, results and options of an op, and that there can be loops for its tensors.

    Returns:
        The op. Options of another class are as LiteRT reads them: as if there were none.

    Raises:
        NotGenerated: There are more or fewer, or some are of other types.
    """
    types: dict[str, str] = {}
    for what, indices, letters in (("operands", op.inputs, form.takes), ("results", op.outputs, form.gives)):
        for index, letter in zip(indices, _spread(op, what, len(indices), letters), strict=True):
            if index < 0:
                if letter.isupper():
                    continue
                raise NotGenerated(f"{op.name} lacks one of its {what}")
            tensor = tensors[index]
            if tensor.dtype not in CPP_TYPES:
                raise NotGenerated(f"{op.name} has a tensor of {tensor.dtype}")
            if tensor.is_quantized and op.name not in ("QUANTIZE", "DEQUANTIZE"):
                raise NotGenerated(f"{op.name} computes with integers of quantized numbers")
            if len(tensor.shape) > _MOST_AXES:
                raise NotGenerated(f"{op.name} has a tensor of {len(tensor.shape)} axes")
            own = letter.lower()
            if tensor.dtype not in _ALLOWED.get(own, (tensor.dtype,)):
                raise NotGenerated(f"{op.name} of {tensor.dtype}")
            if own in "xyj" and types.setdefault(own, tensor.dtype) != tensor.dtype:
                raise NotGenerated(f"{op.name} of {types[own]} and {tensor.dtype}")
    if form.options is not None and type(op.options).__name__ != f"{form.options}T":
        return replace(op, options=made(form.options))
    return op


def _spread(op: BodyOp, what: str, count: int, letters: str) -> str:
    """Returns a letter for each of so many operands or results."""
    if letters[-1:] in ("+", "*"):
        fewest = len(letters) - 1 if letters.endswith("+") else 0
        made = letters[:-1] + letters[-2] * (count - len(letters) + 1)
        made = made[:count]
    else:
        fewest = len(letters) - (letters[-1:].isupper())
        made = letters[:count]
    if len(made) != count or count < fewest:
        raise NotGenerated(f"{op.name} has {count} {what}")
    return made
