"""Where the tests find what LiteRT's plug-in for Intel's NPUs loads."""

from __future__ import annotations

import functools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from litefuse.litert.targets.npu import IntelNpu

#: Only its packages for Linux have the compiler and its plug-ins.
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="ai-edge-litert has plug-ins for Linux")


@functools.cache
def intel_npu() -> str:
    """The target, with the release of OpenVINO that the plug-in loads: pip gets it where another one is installed."""
    missing = IntelNpu().missing()
    if not missing:
        return "intel-npu"
    (requirement,) = re.findall(r"openvino==[\d.]+", missing)
    folder = Path(tempfile.gettempdir(), f"litefuse-tests-{requirement}")
    if not folder.is_dir():
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            subprocess.run(
                [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", f"{made}/all", requirement],
                check=True,
            )
            try:
                Path(made, "all").rename(folder)
            except OSError:  # another process was faster
                assert folder.is_dir()
    return f"intel-npu:{folder / 'openvino' / 'libs'}"
