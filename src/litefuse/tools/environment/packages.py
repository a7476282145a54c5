"""The installed packages: what litefuse requires, what its extras bring, and what does not go together."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion

from litefuse.frontends.tensorflow_packages import (
    CORRECTED_TEXT,
    TENSORFLOWS,
    conflict,
    is_corrected,
    tensorflow_packages,
)
from litefuse.tools.environment.finding import Finding
from litefuse.tools.environment.machine import version_of


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
            for other_extra in sorted(required.extras - seen):
                yield from _applying(distribution, texts, other_extra, seen)
            continue
        names = TENSORFLOWS if required.name in TENSORFLOWS else (required.name,)
        installed = next((version for name in names if (version := version_of(name)) is not None), None)
        fits = installed is not None and _fits(required.specifier, installed)
        yield Required(f"{required.name}{required.specifier}", required.name, installed, fits)


def _fits(specifier: SpecifierSet, version: str) -> bool:
    try:
        return specifier.contains(version, prereleases=True)
    except InvalidVersion:
        return False


_OWN = "litefuse"
#: What each extra is for, and the modules by which it is known without metadata of litefuse.
EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "keras": (".keras and .h5 files, models in memory, comparisons with the original", ("keras", "tensorflow")),
    "keras2": ("reading Keras 2 files", ("tf_keras",)),
    "quantize": ("--quantize", ("litert_quantizer",)),
    "micro": ("the targets micro and ethos-u, and export-micro", ("tflite_micro", "ethosu")),
    "cloud": (
        "models, samples and outputs at URLs, litefuse batch --scheduler",
        ("fsspec", "platformdirs", "distributed"),
    ),
    "lm": ("language models for LiteRT-LM: litefuse lm, run and verify", ("litert_lm", "litert_lm_builder")),
    "openvino": ("the targets openvino and, of one release, intel-npu", ("openvino",)),
    "explorer": ("litefuse report --explorer", ("model_explorer",)),
    "numba": ("kernels that numba compiles", ("numba",)),
}
#: Extras for who develops litefuse.
DEVELOPERS = frozenset({"bench", "docs", "test"})
#: Those that others are made of, and former names of these.
ALIASES = frozenset({"all", "cluster", "ethos-u", "images", "junit", "report", "tensorflow", "text"})
_ENGINE = "litert-converter"
# Those whose requirements are looked at as well: a version that they exclude breaks what litefuse needs of them.
_OTHERS = (_ENGINE, "ai-edge-litert", "litert-quantizer", "tensorflow-cpu", "tensorflow", "keras", "tf_keras")


def dependencies() -> Iterator[Finding]:
    """Looks at what litefuse requires, and what that requires in turn."""
    own = requirements_of(_OWN)
    if own is None:
        text = "litefuse is not installed as a package, but imported from its sources: requirements are not known"
        yield Finding("packages", _OWN, "warning", text)
    for requirement in own or ():
        yield _required(requirement)
    for name in _OTHERS:
        unmet = [requirement for requirement in requirements_of(name) or () if not requirement.fits]
        if unmet:
            told = ", ".join(f"{missing.requirement} ({missing.installed or 'not installed'})" for missing in unmet[:4])
            more = f" and {len(unmet) - 4} more" if len(unmet) > 4 else ""
            text = f"{version_of(name)} has unmet requirements: {told}{more}"
            yield Finding("packages", name, "warning", text, "See pip check.")


def _required(required: Required) -> Finding:
    # That of the engine is looked at by loading it.
    needed = required.name != _ENGINE
    if required.fits:
        return Finding("packages", required.name, "works", str(required.installed), needed=needed)
    hint = f"pip install '{required.requirement}'"
    if required.installed is None:
        return Finding("packages", required.name, "missing", f"{required.requirement} is required", hint, needed=needed)
    text = f"{required.installed} is outside of the range that litefuse is tested with, {required.requirement}"
    return Finding("packages", required.name, "warning", text, hint, needed=needed)


def extras() -> Iterator[Finding]:
    """Looks at what the extras of litefuse bring."""
    declared = extras_of(_OWN)
    for name in declared or EXTRAS:
        if name in DEVELOPERS | ALIASES:
            continue
        purpose, modules = EXTRAS.get(name, ("", ()))
        what = f"{purpose}: " if purpose else ""
        required = (requirements_of(_OWN, name) or []) if declared else []
        absent = [requirement.requirement for requirement in required if requirement.installed is None]
        if not declared:
            absent = [module for module in modules if importlib.util.find_spec(module) is None]
        other = [
            f"{requirement.name} {requirement.installed}, not {requirement.requirement}"
            for requirement in required
            if not requirement.fits
        ]
        install = _install(name, required)
        if declared and not required:
            yield Finding("extras", name, "missing", f"{what}no packages for this system and Python")
        elif absent:
            yield Finding("extras", name, "missing", f"{what}not installed: {', '.join(absent)}", install)
        elif other:
            yield Finding("extras", name, "warning", f"{what}{', '.join(other)}", install)
        else:
            versions = ", ".join(f"{requirement.name} {requirement.installed}" for requirement in required)
            yield Finding("extras", name, "works", f"{what}{versions or 'installed'}")


def _install(extra: str, required: Sequence[Required]) -> str:
    """Returns the command that installs an extra, without another TensorFlow than the installed one.

    Each distribution of TensorFlow would overwrite files of the others. tf_keras depends on one of them.
    """
    installed = tensorflow_packages()
    brought = {package.name for package in required if package.name in TENSORFLOWS}
    if not installed or not brought - installed.keys():
        return f"pip install '{_OWN}[{extra}]'"
    version = ".".join(_minor(next(iter(installed.values()))))
    lacking = [
        f"'tf_keras=={version}.*'" if package.name.replace("-", "_") == "tf_keras" else f"'{package.requirement}'"
        for package in required
        if package.name not in TENSORFLOWS and not package.fits
    ]
    return f"pip install --no-deps {' '.join(lacking)}" if lacking else ""


def conflicts() -> Iterator[Finding]:
    """Looks for packages that do not go together, and releases that are not safe."""
    installed = tensorflow_packages()
    if (told := conflict(installed)) is not None:
        yield Finding("packages", "tensorflow", "warning", told.text, told.remedy)
    keras = version_of("keras")
    if keras is not None and not is_corrected(keras):
        text = f"Keras {keras} lets a file run code or read other ones, so litefuse does not read files with it"
        hint = f"Install {CORRECTED_TEXT}: pip install --upgrade 'keras>=3.15.1'."
        yield Finding("packages", "keras", "warning", text, hint)
    backends = ("tensorflow", "jax", "torch")
    if keras is not None and all(importlib.util.find_spec(backend) is None for backend in backends):
        text = f"Keras {keras} has no backend: none of {', '.join(backends)} is installed"
        yield Finding("packages", "keras", "warning", text, f"pip install '{_OWN}[keras]'")
    legacy, tensorflow = version_of("tf_keras"), next(iter(installed.values()), None)
    if legacy is not None and tensorflow is None:
        text = f"tf_keras {legacy} needs TensorFlow, which is not installed"
        yield Finding("packages", "tf_keras", "warning", text, f"pip install '{_OWN}[keras]'")
    elif legacy is not None and tensorflow is not None and _minor(legacy) != _minor(tensorflow):
        text = f"tf_keras {legacy} is for another TensorFlow than {tensorflow}"
        hint = f"pip install --no-deps 'tf_keras=={'.'.join(_minor(tensorflow))}.*'"
        yield Finding("packages", "tf_keras", "warning", text, hint)


def _minor(version: str) -> list[str]:
    return re.findall(r"\d+", version)[:2]
