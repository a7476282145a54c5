"""One model of a batch and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Variant:
    """A quantized form of a converted model.

    Attributes:
        name: Its name, which its file gets.
        options: The arguments of :func:`litefuse.quantize`; ``quantize`` is among them.
    """

    name: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class Entry:
    """A model, and what is to be done with it.

    Attributes:
        name: Its name, which its file gets: unique.
        path: Its path or URL.
        convert: The arguments of :func:`litefuse.convert`.
        plug_ins: Files and modules that register fusions, recognizers and kernels.
        verify: The arguments of :func:`litefuse.verify_model`; None: it is not verified.
        check: The arguments of :func:`litefuse.check`, with ``targets``; None: it is not checked.
        variants: Its quantized forms.
        timeout: The seconds that all of it may take; None for no limit.
        memory: The bytes that each process may take; None for no limit.
    """

    name: str
    path: str
    convert: Mapping[str, Any] = field(default_factory=dict[str, Any])
    plug_ins: tuple[str, ...] = ()
    verify: Mapping[str, Any] | None = None
    check: Mapping[str, Any] | None = None
    variants: tuple[Variant, ...] = ()
    timeout: float | None = None
    memory: int | None = None

    @property
    def files(self) -> list[str]:
        """The names of the files that are written."""
        return [f"{self.name}.tflite", *(f"{self.name}.{variant.name}.tflite" for variant in self.variants)]


@dataclass(frozen=True)
class BatchSettings:
    """How a batch is done.

    Attributes:
        output: The folder, or the URL, to write to; None: it has to be given.
        jobs: How many models at once; None: as many as this machine has cores.
        retries: How often a model is tried again whose process died.
        scheduler: The address of a Dask scheduler; None: on this machine.
    """

    output: str | None = None
    jobs: int | None = None
    retries: int | None = None
    scheduler: str | None = None
