"""The record of a fault."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

#: The version of litert-converter that the engine's faults were last seen in, unless they state another.
ENGINE_VERSION = "0.5.0"
#: The version of ai-edge-litert that the runtime's faults were last seen in, unless they state another.
RUNTIME_VERSION = "2.3.0"


class Component(Enum):
    """A component that has faults; the value begins with its distribution."""

    ENGINE = "litert-converter"
    ENGINE_BINDINGS = "litert-converter, its bindings"
    KERNELS = "ai-edge-litert"
    XNNPACK = "ai-edge-litert, its XNNPACK"
    RUNTIME_BINDINGS = "ai-edge-litert, its bindings"

    @property
    def distribution(self) -> str:
        """The name of the distribution on the package index."""
        return self.value.partition(",")[0]


class Fault(NamedTuple):
    """A fault that litefuse works around.

    Attributes:
        id: Its name; with underscores, also the name of its reproducer's function.
        component: The component that has it.
        what: A description of what goes wrong.
        seen: The version of the component's distribution that it was last seen in.
        places: The dotted names of the modules, classes or functions of litefuse that work around it.
        unchecked: The reason why it has no reproducer; empty if it has one.
        upstream: The upstream report, if there is one.
    """

    id: str
    component: Component
    what: str
    seen: str
    places: tuple[str, ...]
    unchecked: str = ""
    upstream: str = ""
