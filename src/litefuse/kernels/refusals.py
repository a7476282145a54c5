"""Which forms of ops the pack's kernels do not take, so that a conversion says so and not the runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from litefuse.errors import KernelError

__all__ = ["refusal"]


def refusal(op: str, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
    """Why the pack's kernel does not take an op of some form.

    Args:
        op: The op's name; the pack has a kernel for it.
        dtypes: The dtypes of its results.
        attributes: Its attributes as Python values.

    Returns:
        The reason; empty where LiteRT has such an op, of other dtypes, and why it is left is known better elsewhere;
        None if the kernel takes it.
    """
    check = _CHECKS.get(op)
    return None if check is None else check(dtypes, attributes)


def _of_strings(dtypes: Sequence[str], _attributes: Mapping[str, Any]) -> str | None:
    """Ops that LiteRT has for numbers: the kernels are there for strings."""
    return None if "string" in dtypes else ""


def _expression(_dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
    from litefuse.kernels.strings.expressions import PythonExpression
    from litefuse.kernels.strings.strings import as_bytes

    try:
        PythonExpression(as_bytes(attributes.get("pattern", "")))  # the model may run where google-re2 is not
    except KernelError as error:
        return error.message
    return None


def _encoding(_dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
    from litefuse.kernels.strings.unicode_strings import ENCODINGS

    name = attributes.get("input_encoding", ENCODINGS[0])
    return None if name in ENCODINGS else f"litefuse's kernel decodes {', '.join(ENCODINGS)}, not {name}"


_CHECKS: Mapping[str, Callable[[Sequence[str], Mapping[str, Any]], str | None]] = {
    **dict.fromkeys(
        ("ConcatV2", "Pack", "Pad", "PadV2", "RaggedTensorToTensor", "Select", "SelectV2", "SparseToDense"), _of_strings
    ),
    **dict.fromkeys(("StaticRegexFullMatch", "StaticRegexReplace"), _expression),
    **dict.fromkeys(("UnicodeDecode", "UnicodeDecodeWithOffsets", "UnicodeTranscode"), _encoding),
}
