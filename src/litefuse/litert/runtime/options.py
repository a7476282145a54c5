"""The options of a custom op: a flexbuffer map, and the entries of it that a kernel's method takes."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from flatbuffers import flexbuffers

from litefuse.errors import KernelError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def decode_map(data: bytes) -> dict[str, Any] | None:
    """Decodes a flexbuffer map; returns None for anything else. A string that is not UTF-8 stays bytes.

    Custom options do not declare their format, so the only way to recognize a flexbuffer is to try.
    """
    if len(data) < 3:
        return None
    try:
        root = flexbuffers.GetRoot(data)
        return _Decoder(len(data)).map(root) if root.IsMap else None
    except Exception:  # noqa: BLE001 - reading arbitrary bytes as offsets fails in many ways
        return None


def _text(data: bytes) -> str | bytes:
    try:
        return bytes(data).decode()
    except UnicodeDecodeError:
        return bytes(data)


@dataclass
class _Decoder:
    """Reads at most as many values as there are bytes, since each takes at least one.

    In malicious data, vectors may refer to one vector many times, and so on: their contents grow without bound.
    """

    left: int

    def map(self, ref: flexbuffers.Ref) -> dict[str, Any]:
        entries = ref.AsMap
        self._take(len(entries))
        pairs = zip(entries.Keys, entries.Values, strict=True)
        return {key.AsKeyBytes.decode(): self._value(value) for key, value in pairs}  # Value is for ASCII only

    def _value(self, ref: flexbuffers.Ref) -> Any:
        if ref.IsMap:
            return self.map(ref)
        if ref.IsVector:
            self._take(len(ref.AsVector))
            return [self._value(item) for item in ref.AsVector]
        if ref.IsString:
            return _text(ref.AsStringBytes)
        if ref.IsTypedVector:
            vector = ref.AsTypedVector
            self._take(len(vector))
            if vector.ElementType is flexbuffers.Type.KEY:  # strings
                return [_text(item.AsKeyBytes) for item in vector]
        return ref.Value

    def _take(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            raise ValueError("more values than bytes")


@dataclass(frozen=True)
class Parameters:
    """The signature of a kernel's method.

    Attributes:
        positional: The least and the greatest number of positional arguments after ``self``; None for no limit.
        required: The options that are required.
        optional: The options that are optional.
        takes_all: Whether it takes all others as well.
    """

    positional: tuple[int, int | None]
    required: frozenset[str]
    optional: frozenset[str]
    takes_all: bool

    @classmethod
    def of(cls, method: Callable[..., Any]) -> Parameters:
        """Reads the signature of an unbound ``method``."""
        parameters = list(inspect.signature(method).parameters.values())[1:]
        kinds = {parameter.kind for parameter in parameters}
        places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        names = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
        return cls(
            positional=(
                sum(p.default is p.empty for p in places),
                None if inspect.Parameter.VAR_POSITIONAL in kinds else len(places),
            ),
            required=frozenset(p.name for p in names if p.default is p.empty),
            optional=frozenset(p.name for p in names if p.default is not p.empty),
            takes_all=inspect.Parameter.VAR_KEYWORD in kinds,
        )

    def select(self, options: Mapping[str, Any], *, where: str) -> dict[str, Any]:
        """Returns the options to call the method with.

        Raises:
            KernelError: A required one is missing.
        """
        missing = sorted(self.required - options.keys())
        if missing:
            there = ", ".join(sorted(options)) or "no options that are a flexbuffer map"
            raise KernelError(
                f"the model does not give the option {', '.join(map(repr, missing))}",
                where=where,
                hint=f"The node has {there}. Give the parameter a default, or override decode_options.",
            )
        if self.takes_all:
            return dict(options)
        return {name: value for name, value in options.items() if name in self.required or name in self.optional}
