"""Measure ops at the edge: ``python -m scripts.measure_edges``.

What is measured goes to ``tests/tensorflow/edges/edges.json``, of which docs/explanation/differences.md has a part.
"""

from __future__ import annotations

import platform
import tempfile
from pathlib import Path

from tests.tensorflow.edges.answers import answers, rows_of
from tests.tensorflow.edges.cases import FAMILIES
from tests.tensorflow.edges.measure import differences, measured
from tests.tensorflow.edges.page import record
from tests.tensorflow.edges.structures import CASES
from tests.tensorflow.process import TensorFlow

from litefuse.tools.environment.machine import version_of

# So many cases are one model: those of a model that fails are tried apart.
_AT_ONCE = 16


def _processor() -> str:
    flags = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    names = {"avx512f": "AVX-512", "avx2": "AVX2", "asimd": "NEON"}
    return " with ".join([platform.machine(), *[name for flag, name in names.items() if flag in flags][:1]])


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tensorflow = TensorFlow(Path(folder))
        rows = [row for family in FAMILIES for row in differences(family, measured(tensorflow, family))]
        names = [*CASES]
        for begin in range(0, len(names), _AT_ONCE):
            rows += rows_of(answers(tensorflow, names[begin : begin + _AT_ONCE]))
        tensorflow.close()
    versions = {
        "tensorflow": version_of("tensorflow-cpu") or version_of("tensorflow") or "",
        "litert": version_of("ai-edge-litert") or "",
        "processor": _processor(),
    }
    record(rows, versions)


if __name__ == "__main__":
    main()
