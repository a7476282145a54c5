"""Looks at the installed packages: what litefuse requires, what its extras bring, and what does not go together."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator, Mapping

from litefuse.frontends.tensorflow_packages import CORRECTED_TEXT, conflict, is_corrected, tensorflow_packages
from litefuse.tools.environment.finding import Finding
from litefuse.tools.environment.machine import version_of
from litefuse.tools.environment.requirements import Required, extras_of, requirements_of

__all__ = ["DEVELOPERS", "EXTRAS", "conflicts", "dependencies", "extras"]

_OWN = "litefuse"
#: What each extra is for, and the modules by which it is known without metadata of litefuse.
EXTRAS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "keras": ("reading .keras and .h5 files", ("keras", "tensorflow")),
    "tensorflow": ("verification against the original, and TensorFlow models in memory", ("tensorflow",)),
    "keras2": ("reading Keras 2 files", ("tf_keras",)),
    "quantize": ("--quantize", ("litert_quantizer",)),
    "report": ("pages about models (litefuse report, --html)", ("fast_sugiyama", "squarify")),
    "micro": ("the target micro, and export-micro", ("tflite_micro",)),
    "ethos-u": ("the target ethos-u", ("ethosu",)),
    "openvino": ("the target openvino", ("openvino",)),
    "explorer": ("litefuse show", ("model_explorer",)),
    "images": ("images in kernels and samples", ("PIL",)),
    "text": ("regular expressions in kernels in Python", ("re2",)),
    "cloud": ("models, samples and outputs at URLs", ("fsspec", "platformdirs")),
    "cluster": ("litefuse batch --scheduler", ("distributed",)),
    "junit": ("litefuse batch --junit", ("junitparser",)),
    "numba": ("kernels that numba compiles", ("numba",)),
}
#: Extras for who develops litefuse.
DEVELOPERS = frozenset({"bench", "docs", "test"})
_ENGINE = "litert-converter"
# Those whose requirements are looked at as well: a version that they exclude breaks what litefuse needs of them.
_OTHERS = (_ENGINE, "ai-edge-litert", "litert-quantizer", "tensorflow-cpu", "tensorflow", "keras", "tf_keras")


def dependencies() -> Iterator[Finding]:
    """Looks at what litefuse requires, and what that requires in turn."""
    own = requirements_of(_OWN)
    if own is None:
        text = "litefuse is not installed as a package, but imported from its sources: requirements are not known"
        yield Finding("packages", _OWN, "warning", text)
    for each in own or ():
        yield _required(each)
    for name in _OTHERS:
        unmet = [requirement for requirement in requirements_of(name) or () if not requirement.fits]
        if unmet:
            told = ", ".join(f"{each.requirement} ({each.installed or 'not installed'})" for each in unmet[:4])
            more = f" and {len(unmet) - 4} more" if len(unmet) > 4 else ""
            text = f"{version_of(name)} has unmet requirements: {told}{more}"
            yield Finding("packages", name, "warning", text, "See pip check.")


def _required(each: Required) -> Finding:
    # That of the engine is looked at by loading it.
    needed = each.name != _ENGINE
    if each.fits:
        return Finding("packages", each.name, "works", str(each.installed), needed=needed)
    hint = f"pip install '{each.requirement}'"
    if each.installed is None:
        return Finding("packages", each.name, "missing", f"{each.requirement} is required", hint, needed=needed)
    text = f"{each.installed} is outside of the range that litefuse is tested with, {each.requirement}"
    return Finding("packages", each.name, "warning", text, hint, needed=needed)


def extras() -> Iterator[Finding]:
    """Looks at what the extras of litefuse bring."""
    declared = extras_of(_OWN)
    for name in declared or EXTRAS:
        if name in DEVELOPERS:
            continue
        purpose, modules = EXTRAS.get(name, ("", ()))
        what = f"{purpose}: " if purpose else ""
        required = (requirements_of(_OWN, name) or []) if declared else []
        absent = [each.requirement for each in required if each.installed is None]
        if not declared:
            absent = [module for module in modules if importlib.util.find_spec(module) is None]
        other = [f"{each.name} {each.installed}, not {each.requirement}" for each in required if not each.fits]
        install = f"pip install '{_OWN}[{name}]'"
        if declared and not required:
            yield Finding("extras", name, "missing", f"{what}no packages for this system and Python")
        elif absent:
            yield Finding("extras", name, "missing", f"{what}not installed: {', '.join(absent)}", install)
        elif other:
            yield Finding("extras", name, "warning", f"{what}{', '.join(other)}", install)
        else:
            versions = ", ".join(f"{each.name} {each.installed}" for each in required)
            yield Finding("extras", name, "works", f"{what}{versions or 'installed'}")


def conflicts() -> Iterator[Finding]:
    """Looks for packages that do not go together, and releases that are not safe."""
    installed = tensorflow_packages()
    if (told := conflict(installed)) is not None:
        yield Finding("packages", "tensorflow", "warning", told.text, told.remedy)
    keras = version_of("keras")
    if keras is not None and not is_corrected(keras):
        text = f"Keras {keras} lets a file run code or read other ones, so litefuse does not read files with it"
        hint = f"Install {CORRECTED_TEXT}: pip install --upgrade '{_OWN}[keras]'."
        yield Finding("packages", "keras", "warning", text, hint)
    backends = ("tensorflow", "jax", "torch")
    if keras is not None and all(importlib.util.find_spec(backend) is None for backend in backends):
        text = f"Keras {keras} has no backend: none of {', '.join(backends)} is installed"
        yield Finding("packages", "keras", "warning", text, f"pip install '{_OWN}[tensorflow]'")
    legacy, tensorflow = version_of("tf_keras"), next(iter(installed.values()), None)
    if legacy is not None and tensorflow is None:
        text = f"tf_keras {legacy} needs TensorFlow, which is not installed"
        yield Finding("packages", "tf_keras", "warning", text, f"pip install '{_OWN}[tensorflow]'")
    elif legacy is not None and tensorflow is not None and _minor(legacy) != _minor(tensorflow):
        text = f"tf_keras {legacy} is for another TensorFlow than {tensorflow}"
        hint = f"pip install --no-deps 'tf_keras=={'.'.join(_minor(tensorflow))}.*'"
        yield Finding("packages", "tf_keras", "warning", text, hint)


def _minor(version: str) -> list[str]:
    return re.findall(r"\d+", version)[:2]
