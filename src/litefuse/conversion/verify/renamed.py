"""Calls of an original under the names that a model has, whose inputs and outputs were given others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.conversion.verify.original import Arrays, Call
from litefuse.litert.metadata.names import original_names, signature_names
from litefuse.litert.runtime.flatbuffer import content_of

__all__ = ["Names"]

_Record = Mapping[str, Mapping[str, Mapping[str, str]]]


class Names(NamedTuple):
    """The names of an original by those of a model: by signature, ``inputs`` and ``outputs``; those that differ alone.

    Attributes:
        record: The names.
    """

    record: _Record

    @classmethod
    def of(cls, model: str | bytes, original: str | bytes | None = None) -> Names:
        """Reads the names of a model before it was given others, from its file.

        Args:
            model: The file of the model, or its content.
            original: The file or content of the original, if it is a LiteRT model: it may have other names as well.
        """
        ours = _read(model, original_names)
        if original is None:
            return cls(ours)
        theirs, present = _read(original, original_names), _read(original, signature_names)
        own = _read(model, signature_names)
        made: dict[str, dict[str, dict[str, str]]] = {}
        for key, roles in own.items():
            for role, names in roles.items():
                before = {old: new for new, old in theirs.get(key, {}).get(role, {}).items()}
                for name in names:
                    first = ours.get(key, {}).get(role, {}).get(name, name)
                    partner = before.get(first, first)
                    if partner != name and partner in present.get(key, {}).get(role, []):
                        made.setdefault(key, {}).setdefault(role, {})[name] = partner
        return cls(made)

    def call(self, call: Call) -> Call:
        """Returns a call of the original."""
        names = self._of(call.signature, "inputs")
        return call._replace(inputs={names.get(name, name): value for name, value in call.inputs.items()})

    def outputs(self, outputs: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Returns the names of the original's outputs by signature."""
        return {
            key: tuple(self._of(key, "outputs").get(name, name) for name in names) for key, names in outputs.items()
        }

    def results(self, call: Call, found: Arrays) -> Arrays:
        """Returns the outputs of a call under the names of the model."""
        names = {original: name for name, original in self._of(call.signature, "outputs").items()}
        return {names.get(name, name): value for name, value in found.items()}

    def rounds(
        self,
        call: Callable[[Sequence[Sequence[Call]], Mapping[str, tuple[str, ...]]], list[list[Arrays]]],
        rounds: Sequence[Sequence[Call]],
        outputs: Mapping[str, tuple[str, ...]],
    ) -> list[list[Arrays]]:
        """Calls the original in rounds, and returns its outputs under the names of the model."""
        found = call([[self.call(each) for each in calls] for calls in rounds], self.outputs(outputs))
        return [
            [self.results(each, result) for each, result in zip(calls, results, strict=False)]
            for calls, results in zip(rounds, found, strict=False)
        ]

    def _of(self, key: str, role: str) -> Mapping[str, str]:
        return self.record.get(key, {}).get(role, {})


def _read(model: str | bytes, read: Callable[[Any], Any]) -> Any:
    """Reads names from a file or content; none of what is not a model, which is reported when it is run."""
    try:
        with content_of(model if isinstance(model, bytes) else Path(model)) as content:
            return read(content)
    except Exception:  # noqa: BLE001 - following the offsets of damaged data fails in many ways
        return {}
