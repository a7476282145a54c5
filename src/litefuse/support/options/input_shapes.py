"""Shapes that a conversion sets for the inputs of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from operator import index
from typing import SupportsIndex, cast

from litefuse.errors import LitefuseError, SignatureError
from litefuse.support.records import Record

_FIRST = ":0"


def _text(shape: Sequence[int | None] | None) -> str:
    if shape is None:
        return "of unknown rank"
    return f"[{','.join('?' if size is None else str(size) for size in shape)}]"


def drawn_shapes(shapes: Mapping[str, Sequence[int]] | None) -> dict[str, tuple[int, ...]]:
    """Returns the shapes of drawn inputs that a user gave, by their names.

    Raises:
        LitefuseError: They are not by names, or a size is not a number, or is negative or too large.
    """
    checked = InputShapes.of(shapes, None).shapes
    for name, shape in checked.items():
        if None in shape:
            raise LitefuseError(f"the shape of the drawn input {name!r} has an open size: {shape}")
    return {name: tuple(size for size in shape if size is not None) for name, shape in checked.items()}


class InputShapes(Record):
    """Shapes for some inputs, and a batch size for the others.

    Attributes:
        shapes: Shapes by the names of inputs, or by ``SIGNATURE:NAME``; None is a dimension that stays as it is. A name
            may end in ``:0``, as a graph's tensors do, or lack it.
        batch: The first dimension of every input whose first dimension is otherwise dynamic; None leaves it dynamic.
    """

    shapes: Mapping[str, tuple[int | None, ...]] = field(default_factory=dict[str, "tuple[int | None, ...]"])
    batch: int | None = None

    @classmethod
    def of(cls, shapes: Mapping[str, Sequence[int | None]] | None, batch: int | None) -> InputShapes:
        """Checks the user's request.

        Raises:
            LitefuseError: A size is not a number, negative, or beyond LiteRT's limit.
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
        """Rejects names that are not names of inputs.

        Args:
            signatures: The names of the inputs of each signature that is converted.

        Raises:
            SignatureError: There is one.
        """
        asked = {self._key(signature, input_) for signature, inputs in signatures.items() for input_ in inputs}
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
        """Returns the shape of an input in the converted model.

        Args:
            signature: The key of its signature.
            name: Its name.
            declared: Its shape in the model; None for an unknown rank.

        Raises:
            SignatureError: The given shape contradicts it.
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
        """Returns the key of an input in ``shapes``, with or without ``:0`` at its end; None if it is not there."""
        names = (name, name.removesuffix(_FIRST) if name.endswith(_FIRST) else name + _FIRST)
        keys = (key for form in names for key in (f"{signature}:{form}", form))
        return next((key for key in keys if key in self.shapes), None)


def _is_size(size: object) -> bool:
    # numpy's integers count as well.
    return size is None or (isinstance(size, SupportsIndex) and not isinstance(size, bool) and index(size) >= 0)


# Shapes are vectors of int32 in a .tflite file.
_LARGEST = 2**31 - 1
