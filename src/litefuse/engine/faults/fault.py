"""What is noted of a fault."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

__all__ = ["ENGINE_VERSION", "RUNTIME_VERSION", "Component", "Fault"]

#: The version of litert-converter that the faults of the engine were last seen in, but for those that say another.
ENGINE_VERSION = "0.5.0"
#: The version of ai-edge-litert that the faults of the runtime were last seen in, but for those that say another.
RUNTIME_VERSION = "2.3.0"


class Component(Enum):
    """What has a fault; the value is the distribution that it comes with."""

    ENGINE = "litert-converter"
    ENGINE_BINDINGS = "litert-converter, its bindings"
    KERNELS = "ai-edge-litert"
    XNNPACK = "ai-edge-litert, its XNNPACK"
    RUNTIME_BINDINGS = "ai-edge-litert, its bindings"

    @property
    def distribution(self) -> str:
        """The distribution on the package index."""
        return self.value.partition(",")[0]


class Fault(NamedTuple):
    """A fault that litefuse works around.

    Attributes:
        id: Its name, which the reproducer's function has as well, with underscores.
        component: What has it.
        what: What goes wrong.
        seen: The version of the component's distribution that it was last seen in.
        places: The modules, classes or functions of litefuse that work around it, by their dotted names.
        unchecked: Why it has no reproducer; empty: it has one.
        upstream: Where it is reported, if it is.
    """

    id: str
    component: Component
    what: str
    seen: str
    places: tuple[str, ...]
    unchecked: str = ""
    upstream: str = ""
