"""The packages that TensorFlow and Keras come from: what to install, which are safe, and which overwrite each other."""

from __future__ import annotations

import re
from collections.abc import Iterable
from importlib.metadata import distributions
from typing import NamedTuple

#: Distributions that have the module ``tensorflow``: each stands for the others.
TENSORFLOWS = (
    *("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-macos"),
    *("tf-nightly", "tf-nightly-cpu"),
)

KERAS_2 = (
    'Files of Keras 2 are for tf_keras: pip install "litefuse[keras2]"; where tensorflow-cpu is installed, which that '
    "would overwrite: pip install --no-deps tf_keras, in the minor version of TensorFlow."
)
"""How to install Keras 2."""
# The first releases in which a file has no known way to run code, and what to ask pip for. 3.12 is the last for Python
# 3.10, and has got the corrections of later releases.
_CORRECTED = ((3, 12, 4), (3, 15, 1))
CORRECTED_TEXT = "3.12.4 or a later 3.12, or 3.15.1 or later"


def tensorflow_packages(folders: Iterable[str] | None = None) -> dict[str, str]:
    """Returns the installed distributions that have the module ``tensorflow``, with their versions.

    Args:
        folders: The folders to look in; None: Python's path.
    """
    installed: dict[str, str] = {}
    for distribution in distributions() if folders is None else distributions(path=list(folders)):
        try:
            name = str(distribution.metadata["Name"] or "").lower().replace("_", "-")
        except Exception:  # noqa: BLE001  the metadata of any package may be damaged in any way
            continue
        if name in TENSORFLOWS:
            installed.setdefault(name, distribution.version)
    # On Windows, `tensorflow` has no files of its own: it depends on tensorflow-intel.
    if "tensorflow-intel" in installed:
        installed.pop("tensorflow", None)
    return dict(sorted(installed.items()))


class Conflict(NamedTuple):
    """Distributions that overwrite each other.

    Attributes:
        text: Which, and what they do.
        remedy: What to do.
    """

    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.text}. {self.remedy}"


def conflict(installed: Iterable[str]) -> Conflict | None:
    """Returns what is wrong with the installed distributions of TensorFlow; None if nothing is.

    Args:
        installed: Their names, as :func:`tensorflow_packages` returns them.
    """
    names = [*installed]
    if len(names) < 2:
        return None
    kept = "tensorflow-cpu" if "tensorflow-cpu" in names else names[0]
    return Conflict(
        f"{' and '.join(names)} are installed, which have the same files and overwrite each other",
        f"Keep one: pip uninstall -y {' '.join(names)} && pip install {kept}. tf_keras asks for tensorflow; beside "
        "tensorflow-cpu, it is installed by pip install --no-deps tf_keras.",
    )


def is_corrected(version: str) -> bool:
    """Whether a release of Keras is safe to read files with."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version)[:3])
    (line, latest) = _CORRECTED
    return numbers >= latest or (numbers[:2] == line[:2] and numbers >= line)
