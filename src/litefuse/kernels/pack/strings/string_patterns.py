"""``StaticRegexReplace``, ``RegexReplace``, ``StaticRegexFullMatch`` and ``RegexFullMatch``: regular expressions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from litefuse.errors import KernelError
from litefuse.kernels.pack.strings.expressions import expression, google_re2
from litefuse.kernels.pack.strings.strings import OfEachString, as_bytes, check_scalar, check_strings, string_array
from litefuse.kernels.pack.supported import LimitedKernel
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.kernel_pack import pack_kernel
from litefuse.litert.runtime.partly_native import PartlyNativeKernel
from litefuse.litert.runtime.tensors import STRING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from litefuse.litert.runtime.outputs import Outputs

__all__ = ["RegexFullMatch", "RegexReplace", "StaticRegexFullMatch", "StaticRegexReplace"]


class _OfKnownExpression(LimitedKernel, PartlyNativeKernel):
    @classmethod
    def refusal(cls, dtypes: Sequence[str], attributes: Mapping[str, Any]) -> str | None:
        """Accepts what RE2 does; everything where google-re2 is not installed, which would tell."""
        del dtypes
        if google_re2() is None:
            return None
        try:
            expression(as_bytes(attributes.get("pattern", "")))
        except KernelError as error:
            return error.message
        return None

    @classmethod
    def is_beyond_native(cls, attributes: Mapping[str, Any]) -> bool:
        r"""Whether there may be flags, a Unicode class (\pL) or a byte (\C); a backslash before it is not checked."""
        pattern = attributes.get("pattern", "")
        text = pattern.decode("latin-1") if isinstance(pattern, bytes) else str(pattern)  # C++ refuses what is not text
        return re.search(r"\\[CpP]|\(\?(?!:|P?<)", text) is not None


@pack_kernel("StaticRegexReplace", limited=True, native="partly")
class StaticRegexReplace(_OfKnownExpression, OfEachString):
    """TensorFlow's op of the same name (``tf.strings.regex_replace`` with a constant expression).

    Input: ``input``, strings of any shape. Output: the strings with matches replaced.

    Options: ``pattern``, an RE2 expression; ``rewrite``, the replacement of a match, in which a backslash and a digit
    refer to a group; ``replace_global``, true if missing: whether every match is replaced, or only the first one.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/regex_replace.
    """

    def prepare(self, text: TensorSpec, *, pattern: str | bytes = "") -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or the expression is invalid in RE2, or google-re2 is missing.
        """
        expression(as_bytes(pattern))
        return super().prepare(text)

    def invoke(
        self,
        inputs: tuple[npt.NDArray[Any], ...],
        outputs: Outputs,
        *,
        pattern: str | bytes,
        rewrite: str | bytes,
        replace_global: bool = True,
    ) -> None:
        """Replaces in one string after the other."""
        _replace(inputs[0], outputs, as_bytes(pattern), as_bytes(rewrite), every=replace_global)


@pack_kernel("RegexReplace")
class RegexReplace(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.regex_replace``).

    Inputs: ``input``, strings of any shape; ``pattern`` and ``rewrite``, each a string; see ``StaticRegexReplace``.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, pattern: TensorSpec, rewrite: TensorSpec) -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        for name, spec in (("pattern", pattern), ("rewrite", rewrite)):
            check_strings(name, spec)
            check_scalar(name, spec)
        return TensorSpec(check_strings("input", text), STRING)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, replace_global: bool = True) -> None:
        """Replaces in one string after the other.

        Raises:
            KernelError: The expression is invalid in RE2, or google-re2 is missing.
        """
        text, pattern, rewrite = inputs
        _replace(text, outputs, pattern.item(), rewrite.item(), every=replace_global)


@pack_kernel("StaticRegexFullMatch", limited=True, native="partly")
class StaticRegexFullMatch(_OfKnownExpression):
    """TensorFlow's op of the same name (``tf.strings.regex_full_match`` with a constant expression).

    Input: ``input``, strings of any shape. Output: whether the whole string matches, bool.

    Options: ``pattern``, an RE2 expression.

    Source: https://www.tensorflow.org/api_docs/python/tf/strings/regex_full_match.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, *, pattern: str | bytes) -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: The input is not of strings, or the expression is invalid in RE2, or google-re2 is missing.
        """
        expression(as_bytes(pattern))
        return TensorSpec(check_strings("input", text), np.bool_)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs, *, pattern: str | bytes) -> None:
        """Matches one string after the other."""
        _match(inputs[0], outputs, as_bytes(pattern))


@pack_kernel("RegexFullMatch")
class RegexFullMatch(CustomOp):
    """TensorFlow's op of the same name (``tf.strings.regex_full_match``).

    Inputs: ``input``, strings of any shape; ``pattern``, a string; see ``StaticRegexFullMatch``.
    """

    dtypes = ("string",)

    def prepare(self, text: TensorSpec, pattern: TensorSpec) -> TensorSpec:
        """Returns the input's shape.

        Raises:
            KernelError: An input has a wrong dtype or shape.
        """
        check_strings("pattern", pattern)
        check_scalar("pattern", pattern)
        return TensorSpec(check_strings("input", text), np.bool_)

    def invoke(self, inputs: tuple[npt.NDArray[Any], ...], outputs: Outputs) -> None:
        """Matches one string after the other.

        Raises:
            KernelError: The expression is invalid in RE2, or google-re2 is missing.
        """
        text, pattern = inputs
        _match(text, outputs, pattern.item())


def _replace(text: npt.NDArray[Any], outputs: Outputs, pattern: bytes, rewrite: bytes, *, every: bool) -> None:
    known = expression(pattern)
    changed = (known.replaced(rewrite, one, every=every) for one in text.ravel().tolist())
    outputs[0] = string_array(changed, text.shape)


def _match(text: npt.NDArray[Any], outputs: Outputs, pattern: bytes) -> None:
    known = expression(pattern)
    matches = [known.matches(one) for one in text.ravel().tolist()]
    outputs[0][...] = np.array(matches, np.bool_).reshape(text.shape)
