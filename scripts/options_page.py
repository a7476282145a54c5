"""The options in docs/reference/api/converting.md, from their declarations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from litefuse.support.options.conversion import (
    Checks,
    Conversion,
    Debugging,
    FileQuantization,
    Graph,
    Limits,
    Quantization,
)
from litefuse.support.options.declared import Declared, Options, declared_options
from litefuse.support.options.language_model import LanguageModel

# What the static tools read of these classes are calls of option().
_CLASS = """::: litefuse.{name}
    options:
      members: false
      merge_init_into_class: false
      show_signature: false
"""


def of_convert() -> str:
    """The arguments of ``litefuse.convert``."""
    return "\n".join(_list(Conversion))


def of_quantize() -> str:
    """The arguments of ``litefuse.quantize``."""
    return "\n".join(_list(FileQuantization))


def of_language_model() -> str:
    """The arguments of ``litefuse.language_model``."""
    return "\n".join(_list(LanguageModel))


def classes() -> str:
    """The classes of options that belong together."""
    lines: list[str] = []
    for kind in (Quantization, Checks, Graph, Limits, Debugging):
        lines += [_CLASS.format(name=kind.__name__), *_list(kind), ""]
    return "\n".join(lines)


def _list(kind: type[Options]) -> Iterator[str]:
    for declared in declared_options(kind):
        yield f"- `{declared.name}` (`{declared.annotation}`): {_about(declared)}"


def _about(declared: Declared) -> str:
    def shown(text: str) -> str:
        text = re.sub(r"``(.+?)``", r"`\1`", text)
        return re.sub(r"(`[^`]*`)|([*_|\[\]<])", lambda match: match[1] or rf"\{match[2]}", text)

    return declared.about(shown, lambda value: f"`{value!r}`")
