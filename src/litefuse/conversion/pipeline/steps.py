"""The steps of a conversion: announced, measured, and the module written after each if that is asked for."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from litefuse.conversion.pipeline.module_dump import ModuleDump
    from litefuse.ir.mlir import ir

#: The names of the steps that are not passes of litefuse: calls are inlined, functions without callers are removed, and
#: the engine lowers TensorFlow's ops.
INLINE, REMOVE_UNUSED, LOWER = "inline", "symbol-dce", "lower"
#: The name of the step that compares a fused op with its composite, within the pass that fuses.
SELF_CHECK = "self-check"


class ModuleSaved(Exception):  # noqa: N818  not an error: it ends a conversion that was to save the module only
    """The module was saved, as requested."""


class SavedBefore(NamedTuple):
    """A request to save the module as bytecode before a step, and to end there.

    Attributes:
        step: The step's name.
        path: The file to write.
    """

    step: str
    path: Path


class Steps:
    """Announces the steps and measures them.

    Attributes:
        announce: Called with the name of each step when it begins.
        module: The module, once there is one.
        timings: The seconds that each step took, by its name.
    """

    def __init__(
        self,
        announce: Callable[[str], None],
        *,
        saved_before: SavedBefore | None = None,
        dump: ModuleDump | None = None,
    ) -> None:
        self.announce = announce
        self.module: ir.Module | None = None
        self.timings: dict[str, float] = {}
        self._saved_before = saved_before
        self._dump = dump
        self._started = 0.0
        self._current = ""
        self._dumped_from = 0.0

    def begin(self, step: str) -> None:
        """Begins a step, which ends the one before; an empty name ends that only.

        Raises:
            ModuleSaved: The module was to be saved before this step.
        """
        now = time.perf_counter()
        if self._current:
            self.timings[self._current] = self.timings.get(self._current, 0.0) + now - self._started
        # The self-check is a part of the pass that it interrupts, whose module is not yet a result.
        is_within = step == SELF_CHECK or self._current == SELF_CHECK
        self._current = step
        if self._saved_before is not None and step == self._saved_before.step and self.module is not None:
            with self._saved_before.path.open("wb") as file:
                self.module.operation.write_bytecode(file)
            raise ModuleSaved
        if self._dump is not None and not is_within:
            self._dump.end(self.module, now - self._dumped_from)
            if step:
                self._dump.begin(step)
            self._dumped_from = time.perf_counter()
        self._started = time.perf_counter()
        self.announce(step)

    @contextmanager
    def failing(self) -> Generator[None]:
        """Writes the module in the state in which a step failed, where modules are written."""
        try:
            yield
        except Exception as error:
            if self._dump is not None:
                self._dump.end(self.module, time.perf_counter() - self._dumped_from, str(error) or type(error).__name__)
            raise
        finally:
            if self._dump is not None:
                self._dump.close()
