"""The headers that sources written for TensorFlow Lite include: litefuse's own, or those of a checkout of LiteRT."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import KernelError, LitefuseError
from litefuse.litert.cpp.compiler import native_sources
from litefuse.litert.cpp.lacking import missing_headers

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
#: The source with the table of all kernels, which is written with each library.
TABLE = "kernels.cc"
# Where a checkout has the schema, or what its header includes.
_SCHEMAS = tuple(f"{folder}schema/schema_generated.h" for folder in ("", "converter/", "../compiler/mlir/lite/"))
# Where compilers look by themselves.
_SYSTEM = (Path("/usr/include"), Path("/usr/local/include"))


@dataclass(frozen=True)
class TfliteHeaders:
    """Where the headers are.

    Attributes:
        includes: The folders to search, in this order.
        sources: What is to be compiled along with all sources.
        options: Options of the compiler.
        own: Whether they are litefuse's own.
    """

    includes: tuple[Path, ...]
    sources: tuple[Path, ...] = ()
    options: tuple[str, ...] = ()
    own: bool = True


def tflite_headers(
    checkout: Path | None = None, others: Sequence[Path] = (), folder: Path | None = None
) -> TfliteHeaders:
    """Returns litefuse's own headers, or those of a checkout.

    Args:
        checkout: A folder with ``tflite/core/c/common.h``, as LiteRT has it, or with ``tensorflow/lite/c/common.h``.
        others: Further folders of headers. If one has those of flatbuffers, in the version that the checkout's schema
            asks for, that schema is used, and so is its resolver of ops.
        folder: A folder to fill with the names of the checkout's headers that begin with the other of the two.

    Raises:
        LitefuseError: The folder has neither.
    """
    compat = native_sources() / "compat"
    # Those of resolvers are always litefuse's: they collect what a source registers.
    resolver, schema, names, third_party = (compat / part for part in ("resolver", "schema", "names", "third_party"))
    if checkout is None:
        return TfliteHeaders((resolver, schema, compat / "headers", names, third_party))
    top = checkout.resolve()
    if (top / "tflite" / "core" / "c" / "common.h").is_file():
        root, other = top / "tflite", "tensorflow/lite"
    elif (top / "tensorflow" / "lite" / "c" / "common.h").is_file():
        root, other = top / "tensorflow" / "lite", "tflite"
    else:
        raise LitefuseError(
            "LiteRT's headers are missing",
            where=str(checkout),
            hint="Name the folder of a checkout: one with tflite/core/c/common.h or tensorflow/lite/c/common.h in it.",
        )
    definitions = tuple(root / definition for definition in _DEFINITIONS if (root / definition).is_file())
    options = ("-DLITEFUSE_USE_TFLITE_HEADERS", "-ffunction-sections", "-Wl,--gc-sections")
    flatbuffers = filter(Path.is_file, (place / "flatbuffers" / "base.h" for place in (*others, *_SYSTEM)))
    whole = _reads_schema(root, next(flatbuffers, None))
    if folder is not None:
        with suppress(OSError, NotImplementedError):  # Windows asks for a right to make links
            (folder / other).parent.mkdir(exist_ok=True)
            (folder / other).symlink_to(root, target_is_directory=True)
            names = folder
    includes = (resolver, *(() if whole else (schema,)), top, names, third_party)
    return TfliteHeaders(includes, definitions, options, own=False)


def _reads_schema(root: Path, flatbuffers: Path | None) -> bool:
    """Whether a header of flatbuffers is of the version that a checkout's schema asks for."""
    schemas = [(root / schema).read_text("utf-8") for schema in _SCHEMAS if (root / schema).is_file()]
    if flatbuffers is None or not schemas:
        return False
    wanted = re.findall(r"(FLATBUFFERS_VERSION_\w+) == (\d+)", "".join(schemas))
    given = re.findall(r"#define (FLATBUFFERS_VERSION_\w+) (\d+)", flatbuffers.read_text("utf-8"))
    return {*wanted} <= {*given}


def explained(error: KernelError, headers: TfliteHeaders, files: Sequence[Path]) -> KernelError:
    """Returns the error of sources that do not compile, with a hint on headers where these are the reason."""
    missing = missing_headers(error)
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
    generated = not error.where or TABLE in error.where.split(", ")
    lines = error.message.splitlines()
    more = [f"... and {len(lines) - _MOST_LINES} lines more"] if len(lines) > _MOST_LINES else []
    message = "\n".join([*lines[:_MOST_LINES], *more])
    return KernelError(message, where=", ".join(path.name for path in files) if generated else error.where, hint=hint)
