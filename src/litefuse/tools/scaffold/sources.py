"""C++ sources of the kernel pack."""

from __future__ import annotations

from pathlib import Path

from litefuse.litert.cpp.folders import copy_folder, new_folder
from litefuse.litert.cpp.sources import native_sources
from litefuse.support.files.whole_file import write_new

__all__ = ["export_pack"]


def export_pack(target: Path) -> list[Path]:
    """Copies the pack's sources into a new folder, with a README about how to use them in an app.

    Returns:
        The files, relative to the folder.

    Raises:
        LitefuseError: The folder is not empty or cannot be written.
    """
    sources = native_sources()
    kernels = sorted(path.stem for path in (sources / "kernels").glob("*.cc"))
    readme = Path(__file__).with_name("templates") / "export_readme.md"
    text = readme.read_text("utf-8").replace("@KERNELS@", "\n".join(f"- `kernels/{name}.cc`" for name in kernels))
    with new_folder(target):
        copy_folder(sources, target)
        (target / "README.md").rename(target / "KERNELS.md")
        write_new(target / "README.md", text.encode())
    return sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())
