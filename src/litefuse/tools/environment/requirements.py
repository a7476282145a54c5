"""The requirements of installed distributions, and what is installed of them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from litefuse.frontends.tensorflow_packages import TENSORFLOWS
from litefuse.tools.environment.machine import version_of

__all__ = ["Required", "extras_of", "requirements_of"]


@dataclass(frozen=True)
class Required:
    """A requirement that applies here.

    Attributes:
        requirement: The requirement, such as ``click>=8.1``.
        name: The name of the distribution.
        installed: Its version; None if it is not installed.
        fits: Whether it is installed in a version that fits.
    """

    requirement: str
    name: str
    installed: str | None
    fits: bool


def extras_of(distribution: str) -> tuple[str, ...]:
    """Returns the names of a distribution's extras; empty if it is not installed."""
    try:
        return tuple(sorted(importlib.metadata.metadata(distribution).get_all("Provides-Extra") or ()))
    except importlib.metadata.PackageNotFoundError:
        return ()


def requirements_of(distribution: str, extra: str = "") -> list[Required] | None:
    """Returns the requirements of a distribution that apply here; None if it is not installed.

    Args:
        distribution: Its name.
        extra: The extra whose requirements to return, with those of its extras it names; empty for those without extra.
    """
    try:
        texts = importlib.metadata.requires(distribution) or ()
    except importlib.metadata.PackageNotFoundError:
        return None
    return list(_applying(distribution, texts, extra, set()))


def _applying(distribution: str, texts: list[str] | tuple[()], extra: str, seen: set[str]) -> Iterator[Required]:
    seen.add(extra)
    for text in texts:
        try:
            required = Requirement(text)
        except InvalidRequirement:
            continue
        marker = required.marker
        if bool(extra) != (marker is not None and "extra" in str(marker)):
            continue
        if marker is not None and not marker.evaluate({"extra": extra}):
            continue
        if required.name.lower() == distribution.lower():  # an extra that names others
            for each in sorted(required.extras - seen):
                yield from _applying(distribution, texts, each, seen)
            continue
        names = TENSORFLOWS if required.name in TENSORFLOWS else (required.name,)
        installed = next((found for name in names if (found := version_of(name)) is not None), None)
        fits = installed is not None and _fits(required.specifier, installed)
        yield Required(f"{required.name}{required.specifier}", required.name, installed, fits)


def _fits(specifier: SpecifierSet, version: str) -> bool:
    try:
        return specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False
