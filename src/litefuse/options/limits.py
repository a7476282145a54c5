"""How large a model may become on its way: small files can describe models that nothing could hold.

A function that calls another twice, which calls a third twice, doubles with each of them, since calls are inlined; and
one element in a file may stand for a constant of any shape.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from litefuse.errors import LimitError, LitefuseError

__all__ = ["MAX_CONSTANT_BYTES", "MAX_OPS", "Limits", "check_constant", "current_limits", "held_bytes", "limited"]

#: How many ops a model may have with its calls inlined. Those of large transformers are some ten thousand.
MAX_OPS = 1_000_000
#: How many bytes of constants may be made beyond what the model's files hold. Tables of positions take some 10 MB.
MAX_CONSTANT_BYTES = 1 << 28

# What the files hold may grow as it is: int8 becomes float64 where it is dequantized.
_GROWTH = 8


@dataclass(frozen=True)
class Limits:
    """The limits of one conversion.

    Attributes:
        max_ops: How many ops it may have with its calls inlined.
        max_constant_bytes: How many bytes of constants may be made, each and together, beyond what its files hold.
    """

    max_ops: int = MAX_OPS
    max_constant_bytes: int = MAX_CONSTANT_BYTES

    def __post_init__(self) -> None:
        for name in ("max_ops", "max_constant_bytes"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < 1:
                raise LitefuseError(f"{name} is a number of at least 1, not {value!r}")


_current: ContextVar[Limits] = ContextVar("limits", default=Limits())  # noqa: B039  it is frozen


def current_limits() -> Limits:
    """The limits of the conversion that runs."""
    return _current.get()


@contextmanager
def limited(limits: Limits) -> Generator[None]:
    """Has these limits hold for what runs in the context."""
    token = _current.set(limits)
    try:
        yield
    finally:
        _current.reset(token)


def check_constant(size: int, held: int, what: str, where: str = "") -> None:
    """Refuses constants that are larger than the limit.

    Args:
        size: Their bytes.
        held: The bytes that the model's files hold of them, or of what they are made of.
        what: What they are, for the message.
        where: The node or the like.

    Raises:
        LimitError: They are too large.
    """
    limit = current_limits().max_constant_bytes
    if size <= limit + _GROWTH * held:
        return
    raise LimitError(
        f"{what} would be {size:,} bytes, of which the model holds {held:,}: more than the limit max_constant_bytes "
        f"({limit:,})",
        where=where,
        hint=f"If that is meant, pass max_constant_bytes={size} to convert() (on the command line, "
        f"--max-constant-bytes {size}).",
        limit="max_constant_bytes",
    )


def held_bytes(source: Path) -> int:
    """The bytes of a frozen graph, or of a SavedModel's graph and variables."""
    if source.is_file():
        return source.stat().st_size
    files = [source / "saved_model.pb", *(source / "variables").glob("*")]
    return sum(file.stat().st_size for file in files if file.is_file())
