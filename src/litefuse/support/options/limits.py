"""The limits of a conversion: of its processes, and of a model's size, as small files can describe huge models.

If a function calls another twice, which calls a third twice, the size doubles with each of them, since calls are
inlined; and one element in a file may represent a constant of any shape.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from litefuse.errors import LimitError, LitefuseError
from litefuse.support.options.declared import Options, documented, option

#: The maximum number of ops of a model with its calls inlined. Large transformers have some ten thousand.
MAX_OPS = 1_000_000
#: The maximum bytes of created constants beyond the size of the model's files. Tables of positions take some 10 MB.
MAX_CONSTANT_BYTES = 1 << 28
#: The maximum number of steps of a loop that is unrolled for a target without loops.
MAX_UNROLLED_STEPS = 128
#: The maximum number of ops that all such loops of a model become together.
MAX_UNROLLED_OPS = 4096
#: The maximum number of items of a dimension that is reversed without REVERSE_V2, for a target that lacks it. Each is
#: one operation of the NPU, beside some twenty for the step of an LSTM, and up to 150 bytes of the file.
MAX_REVERSED_ITEMS = 1024

# The contents of the files may grow by this factor: dequantized int8 becomes float64.
_GROWTH = 8
_FACTORS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def local_folder(value: str | os.PathLike[str] | None, argument: str = "it") -> Path | None:
    """Returns the absolute path of a folder on this machine that a user named for what is written.

    Raises:
        LitefuseError: It is a URL.
    """
    if isinstance(value, str) and "://" in value:
        raise LitefuseError("this folder must be local", where=f"{argument}: {value}")
    return None if value is None else Path(os.fspath(value)).absolute()


@documented
class Limits(Options):
    """The limits of a conversion: time, memory and sizes."""

    timeout: float | None = option(default=None, help="Stop after this many seconds.", flag="-")
    memory: int | None = option(
        default=None,
        help="Stop if a process needs more bytes of memory than this; mapped files do not count. Linux only.",
        flag="-",
        is_bytes=True,
    )
    temporary_folder: Path | None = option(
        default=None,
        help="The folder for the model until it is saved: a large one is saved faster on the same file system.",
        flag="-",
        path="written",
        otherwise="the system's",
        converter=local_folder,
    )
    max_ops: int = option(
        default=MAX_OPS,
        help="The most ops that the model may have once its calls are inlined: a small file may describe any number.",
        group="Limits",
        metavar="N",
        least=1,
    )
    max_constant_bytes: int = option(
        default=MAX_CONSTANT_BYTES,
        help="The most bytes of new constants, each and together, beyond those in the model's files.",
        group="Limits",
        metavar="BYTES",
        least=1,
        is_bytes=True,
    )

    @classmethod
    def of(cls, value: Limits | Mapping[str, Any] | float | None, argument: str = "it") -> Limits:
        """Makes the limits of what a user gave: limits, a mapping from their names, or seconds."""
        return cls._of(value, argument)


_current: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039  it is frozen


def current_limits() -> Limits:
    """Returns the limits of the current conversion."""
    return _current.get()


@contextmanager
def limited(limits: Limits) -> Generator[None]:
    """Applies limits in the context."""
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


def check_constant(size: int, held: int, what: str, where: str = "") -> None:
    """Rejects constants that are larger than the limit.

    Args:
        size: Their size in bytes.
        held: The bytes in the model's files that they are computed from.
        what: Their description, for the message.
        where: The node or the like.

    Raises:
        LimitError: They are too large.
    """
    limit = current_limits().max_constant_bytes
    if size <= limit + _GROWTH * held:
        return
    raise LimitError(
        f"{what} would be {size:,} bytes, where the model holds {held:,}: more than the limit max_constant_bytes "
        f"({limit:,})",
        where=where,
        hint=f"If this is intended, pass max_constant_bytes={size} to convert() (on the command line, "
        f"--max-constant-bytes {size}).",
        limit="max_constant_bytes",
    )


def parsed_bytes(text: str) -> int | None:
    """Returns a number of bytes above 0, given as 1000, 512M or 2G; None if it is something else."""
    given = text.strip().upper()
    factor = _FACTORS.get(given[-1:], 1)
    digits = given[:-1] if factor > 1 else given
    if not (digits.isascii() and digits.isdigit() and len(digits) < 20 and int(digits)):
        return None
    return int(digits) * factor


def held_bytes(source: Path) -> int:
    """Returns the size in bytes of a frozen graph, or of a SavedModel's graph and variables."""
    if source.is_file():
        return source.stat().st_size
    files = [source / "saved_model.pb", *(source / "variables").glob("*")]
    return sum(file.stat().st_size for file in files if file.is_file())
