"""The shapes that a conversion is asked to give the inputs of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import index
from typing import SupportsIndex, cast

from litefuse.errors import LitefuseError, SignatureError

__all__ = ["InputShapes"]

_FIRST = ":0"


def _text(shape: Sequence[int | None] | None) -> str:
    if shape is None:
        return "of unknown rank"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


@dataclass(frozen=True)
class InputShapes:
    """Shapes for some inputs, and a batch size for the others.

    Attributes:
        shapes: Shapes by the names of inputs, or by ``SIGNATURE:NAME``; None is a size that stays as it is. A name may
            have ``:0`` behind it, as a graph's tensors do, or lack it.
        batch: The first size of every input whose first size is not known otherwise; None leaves them so.
    """

    shapes: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict[str, "tuple[int | None, ...]"])
    batch: int | None = None

    @classmethod
    def of(cls, shapes: Mapping[str, Sequence[int | None]] | None, batch: int | None) -> InputShapes:
        """What a user asked for, checked.

        Raises:
            LitefuseError: A size is no number, negative, or more than LiteRT can note.
        """
        if shapes is not None and not isinstance(cast("object", shapes), Mapping):
            raise LitefuseError(f"shapes are given by the names of inputs, not as {shapes!r}")
        checked: dict[str, tuple[int | None, ...]] = {}
        for name, shape in (shapes or {}).items():
            sizes = cast("object", shape)
            if isinstance(sizes, str) or not isinstance(sizes, Iterable) or not all(map(_is_size, shape)):
                raise LitefuseError(
                    f"the shape of the input {name!r} must be sizes, None for one that stays open, not {shape!r}"
                )
            checked[name] = tuple(None if size is None else int(size) for size in shape)
        if batch is not None and not (_is_size(batch) and batch):
            raise LitefuseError(f"the batch size must be a positive number, not {batch!r}")
        for size in (batch, *(size for shape in checked.values() for size in shape)):
            if size is not None and size > _LARGEST:
                raise LitefuseError(f"LiteRT has no sizes above {_LARGEST}, so an input cannot be of {size}")
        return cls(checked, batch)

    def check_names(self, signatures: Mapping[str, Iterable[str]]) -> None:
        """Refuses names that are no input's.

        Args:
            signatures: The names of the inputs of each signature that is converted.

        Raises:
            SignatureError: There is one.
        """
        asked = {self._key(signature, each) for signature, inputs in signatures.items() for each in inputs}
        for name in self.shapes:
            if name not in asked:
                known = "; ".join(
                    f"{signature}: {', '.join(inputs) or 'none'}" for signature, inputs in signatures.items()
                )
                raise SignatureError(
                    f"no input is called {name!r}, whose shape was given", hint=f"The inputs are {known}."
                )

    def of_input(
        self, signature: str, name: str, declared: tuple[int | None, ...] | None
    ) -> tuple[int | None, ...] | None:
        """The shape of an input in the converted model.

        Args:
            signature: The key of its signature.
            name: Its name.
            declared: What the model says of its shape; None for an unknown rank.

        Raises:
            SignatureError: The shape that was given contradicts it.
        """
        key = self._key(signature, name)
        shape = declared if key is None else self.shapes[key]
        if shape is not None and declared is not None and shape != declared:
            fits = len(shape) == len(declared) and all(
                a is None or b is None or a == b for a, b in zip(shape, declared, strict=True)
            )
            if not fits:
                raise SignatureError(
                    f"the shape {_text(shape)} that was given for the input {name!r} contradicts its declared shape "
                    f"{_text(declared)}",
                    where=f"signature {signature}",
                    hint="Only sizes that the model leaves open can be given.",
                )
            shape = tuple(b if a is None else a for a, b in zip(shape, declared, strict=True))
        if self.batch is not None and shape and shape[0] is None:
            shape = (self.batch, *shape[1:])
        return shape

    def _key(self, signature: str, name: str) -> str | None:
        """What an input is called in ``shapes``, if it is there; with or without ``:0`` behind it."""
        names = (name, name.removesuffix(_FIRST) if name.endswith(_FIRST) else name + _FIRST)
        keys = (key for each in names for key in (f"{signature}:{each}", each))
        return next((key for key in keys if key in self.shapes), None)


def _is_size(size: object) -> bool:
    # Those of numpy are integers as well.
    return size is None or (isinstance(size, SupportsIndex) and not isinstance(size, bool) and index(size) >= 0)


# Shapes are vectors of int32 in a .tflite file.
_LARGEST = 2**31 - 1
