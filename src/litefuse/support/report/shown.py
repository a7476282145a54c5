"""Values that are shown as sections of a report: as text, and as tables in notebooks."""

from __future__ import annotations

from collections.abc import Callable
from pkgutil import resolve_name
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from litefuse.support.report.sections import Section


class ShownInNotebooks:
    """A value that notebooks show as sections.

    Its class names the function that makes them, as ``MODULE:FUNCTION``. If that function stands in a module of
    its own, this is imported when a value is first shown::

        @dataclass(frozen=True)
        class Benchmark(Shown):
            _sections_by = "litefuse.tools.benchmarking.benchmark_sections:benchmark_sections"

    The function takes the value, perhaps options, and returns a list of sections, or one.
    """

    _sections_by = ""

    def _repr_html_(self) -> str:
        from litefuse.support.report.html import sections_html

        return sections_html(self._sections())

    def _sections(self) -> list[Section]:
        make: Callable[[Any], list[Section] | Section] = resolve_name(self._sections_by)
        sections = make(self)
        return sections if isinstance(sections, list) else [sections]


class Shown(ShownInNotebooks):
    """A value whose text, ``str(value)``, is that of its sections, too."""

    def __str__(self) -> str:
        from litefuse.support.report.text import sections_text

        return sections_text(self._sections())
