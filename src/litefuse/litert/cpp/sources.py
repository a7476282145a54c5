"""Where the C++ sources of the kit and the kernel pack are."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from litefuse.errors import LitefuseError

__all__ = ["native_sources"]


def native_sources() -> Path:
    """Returns the folder ``native`` with the kernel pack's sources, in the installed package or else the checkout.

    Raises:
        LitefuseError: No such folder.
    """
    installed = Path(str(resources.files("litefuse").joinpath("native")))
    checkout = Path(__file__).parents[4] / "native"
    for folder in (installed, checkout):
        if (folder / "include" / "litefuse" / "kernel.h").is_file():
            return folder
    raise LitefuseError(
        "this installation of litefuse has no C++ sources",
        where=str(installed),
        hint="Install litefuse from its sources or a litefuse wheel: pip install --force-reinstall litefuse.",
    )
