"""The packages that TensorFlow and Keras come from: what to install, and which of them overwrite each other."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import distributions

__all__ = ["KERAS_2", "conflict", "tensorflow_packages"]

#: Distributions that have the module ``tensorflow``.
_PACKAGES = frozenset({"tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly"})

KERAS_2 = (
    'Files of Keras 2 are for tf_keras: pip install "litefuse[keras2]"; where tensorflow-cpu is installed, which that '
    "would overwrite: pip install --no-deps tf_keras, in the minor version of TensorFlow."
)
"""How to install Keras 2."""


def tensorflow_packages(folders: Iterable[str] | None = None) -> dict[str, str]:
    """Returns the installed distributions that have the module ``tensorflow``, with their versions.

    Args:
        folders: The folders to look in; None: Python's path.
    """
    found: dict[str, str] = {}
    for each in distributions() if folders is None else distributions(path=list(folders)):
        name = str(each.metadata["Name"] or "").lower().replace("_", "-")
        if name in _PACKAGES:
            found.setdefault(name, each.version)
    # On Windows, `tensorflow` has no files of its own: it depends on tensorflow-intel.
    if "tensorflow-intel" in found:
        found.pop("tensorflow", None)
    return dict(sorted(found.items()))


def conflict(installed: Iterable[str]) -> str | None:
    """Returns what is wrong with the installed distributions of TensorFlow, and what to do; None if nothing is.

    Args:
        installed: Their names, as :func:`tensorflow_packages` returns them.
    """
    names = [*installed]
    if len(names) < 2:
        return None
    kept = "tensorflow-cpu" if "tensorflow-cpu" in names else names[0]
    return (
        f"{' and '.join(names)} are installed, which have the same files and overwrite each other. Keep one: "
        f"pip uninstall -y {' '.join(names)} && pip install {kept}. tf_keras asks for tensorflow; beside tensorflow-cpu, "
        "it is installed by pip install --no-deps tf_keras."
    )
