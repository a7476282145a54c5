"""The headers that sources written for TensorFlow Lite include: litefuse's own, or those of a checkout of LiteRT."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import native_sources

# The sources of LiteRT that define what its headers declare, as far as kernels use it; those that are there are used.
_DEFINITIONS = (
    "core/c/common.cc",
    "c/common.cc",
    "array.cc",
    "kernels/kernel_util.cc",
    "kernels/internal/quantization_util.cc",
    "kernels/internal/runtime_shape.cc",
    "kernels/internal/tensor_ctypes.cc",
    "string_util.cc",
    "converter/utils/string_utils.cc",
    "../compiler/mlir/lite/utils/string_utils.cc",
)
# That of a header which few kernels include, since it needs gemmlowp's.
_ARITHMETIC = "kernels/internal/common.cc"

_MISSING = re.compile(r"fatal error: '?([^\s':]+)'?(?::| file) (?:No such file|not found)")
_UNKNOWN = re.compile(
    r"error: (?:no member named )?'(\w+)' (?:is not a member of|in namespace) ':*(tflite|flexbuffers)"
)
# Whose headers those of LiteRT include, by how their names begin.
_OTHERS = {
    "fixedpoint/": "https://github.com/google/gemmlowp",
    "flatbuffers/": "https://github.com/google/flatbuffers, folder include",
    "absl/": "https://github.com/abseil/abseil-cpp",
    "ruy/": "https://github.com/google/ruy",
    "Eigen/": "https://gitlab.com/libeigen/eigen",
}
_MOST_LINES = 40


@dataclass(frozen=True)
class TfliteHeaders:
    """Where the headers are.

    Attributes:
        includes: The folders to search, in this order.
        sources: What is to be compiled along with all sources.
        options: Options of the compiler.
        own: Whether they are litefuse's own.
        arithmetic: What is to be compiled along with sources that include its header.
    """

    includes: tuple[Path, ...]
    sources: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    own: bool = True
    arithmetic: Path | None = None

    def sources_for(self, preprocessed: Iterable[str]) -> tuple[Path, ...]:
        """Returns what is to be compiled along with sources, which are given preprocessed."""
        if self.arithmetic is None or not any(f'{self.arithmetic.with_suffix(".h")}"' in text for text in preprocessed):
            return self.sources
        return (*self.sources, self.arithmetic)


def tflite_headers(checkout: Path | None = None) -> TfliteHeaders:
    """Returns litefuse's own headers, or those of a checkout.

    Args:
        checkout: A folder with ``tflite/core/c/common.h``, as LiteRT has it, or with ``tensorflow/lite/c/common.h``.

    Raises:
        LitefuseError: The folder has neither.
    """
    compat = native_sources() / "compat"
    # Those of resolvers are always litefuse's: they collect what a source registers.
    resolver, names, others = (compat / part for part in ("resolver", "names", "third_party"))
    if checkout is None:
        return TfliteHeaders((resolver, compat / "headers", names, others))
    folder = checkout.resolve()
    if (folder / "tflite" / "core" / "c" / "common.h").is_file():
        root, more = folder / "tflite", (names, others)  # the names with tensorflow/lite stand for those with tflite
    elif (folder / "tensorflow" / "lite" / "c" / "common.h").is_file():
        root, more = folder / "tensorflow" / "lite", (others,)
    else:
        raise LitefuseError(
            "LiteRT's headers are missing",
            where=str(checkout),
            hint="Name the folder of a checkout: one with tflite/core/c/common.h or tensorflow/lite/c/common.h in it.",
        )
    definitions = tuple(root / definition for definition in _DEFINITIONS if (root / definition).is_file())
    options = ("-DLITEFUSE_USE_TFLITE_HEADERS", "-ffunction-sections", "-Wl,--gc-sections")
    arithmetic = root / _ARITHMETIC
    return TfliteHeaders(
        (resolver, folder, *more),
        definitions,
        options,
        own=False,
        arithmetic=arithmetic if arithmetic.is_file() else None,
    )


def explained(error: KernelError, headers: TfliteHeaders, files: Sequence[Path]) -> KernelError:
    """Returns the error of sources that do not compile, with a hint on headers where these are the reason."""
    missing = list(dict.fromkeys(_MISSING.findall(error.message)))
    unknown = [f"{space}::{name}" for name, space in dict.fromkeys(_UNKNOWN.findall(error.message))]
    hint = error.hint
    checkout = "a checkout of LiteRT (git clone https://github.com/google-ai-edge/LiteRT) by --tflite-headers DIR"
    if any(header.startswith(("tflite/", "tensorflow/lite/")) for header in missing) and headers.own:
        hint = f"litefuse lacks {', '.join(missing)}. Give the original headers: {checkout}."
    elif missing and missing[0].startswith(("tflite/", "tensorflow/lite/")):
        hint = f"The checkout has no {missing[0]}: its names may begin with the other of tflite/ and tensorflow/lite/."
    elif missing:
        from_where = [f" ({where})" for start, where in _OTHERS.items() if missing[0].startswith(start)]
        hint = f"Name the folder that has {', '.join(missing)}{''.join(from_where)} with -I DIR."
    elif unknown and headers.own:
        hint = f"litefuse's own headers lack {', '.join(unknown)}. Give the real ones: {checkout}."
    elif "undefined reference" in error.message or "undefined symbol" in error.message:
        hint = "Name all the sources that the kernels need, in one call."
    generated = not error.where or error.where.startswith("kernels_0.cc")
    lines = error.message.splitlines()
    more = [f"... and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
    message = "\n".join([*lines[:_MOST_LINES], *more])
    return KernelError(message, where=", ".join(path.name for path in files) if generated else error.where, hint=hint)
