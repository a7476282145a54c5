"""Compiles the kernels before the wheel is written."""

import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SUFFIX = {"darwin": ".dylib", "win32": ".dll"}.get(sys.platform, ".so")


class Kernels(BuildHookInterface):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        package = Path(self.root, "src", "row_standardize")
        library = package / f"kernels{SUFFIX}"
        sources = map(str, sorted(package.glob("*.cc")))
        subprocess.run([sys.executable, "-m", "litefuse", "kernels", "build", *sources, "-o", str(library)], check=True)
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data.update(pure_python=False, tag=f"py3-none-{platform}")
        build_data["artifacts"].append(library.name)
