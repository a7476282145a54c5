"""Models for batches, and conversion code with faults."""

from __future__ import annotations

from pathlib import Path

from litefuse.tools.demo import SAVED_MODEL
from tests.frontends.saved_model.frozen_graph import write_dense

#: A model with a composite, which conversion code can be for.
DEMO = str(SAVED_MODEL)

#: What conversion code does that is at fault.
FAULTS = {
    "hangs": "while True: pass",
    "crashes": "import ctypes; ctypes.string_at(0)",
    "eats memory": "kept = []\n        while True: kept.append(bytearray(1 << 26))",
    "raises": "raise ValueError('this fusion is wrong')",
}


def dense_models(folder: Path, count: int) -> list[Path]:
    """Writes models of one layer with other weights each."""
    folder.mkdir(exist_ok=True)
    return [write_dense(folder / f"dense{number:03}.pb", number) for number in range(count)]


def fault(folder: Path, kind: str) -> str:
    """Writes conversion code with a fault for the composite of the demo; returns its path."""
    path = folder / f"{kind.replace(' ', '_')}.py"
    path.write_text(
        "import litefuse\n\n\n"
        "@litefuse.fusion('my_custom_fused_op')\n"
        "class Fault(litefuse.Fusion):\n"
        "    def rewrite(self, composite, b):\n"
        f"        {FAULTS[kind]}\n"
    )
    return str(path)


def processes_of(word: str) -> list[int]:
    """The processes whose environment has a word: all that a command started to which it was given."""
    found: list[int] = []
    for each in Path("/proc").iterdir():
        if not each.name.isdigit():
            continue
        try:
            if word.encode() in (each / "environ").read_bytes() and "State:\tZ" not in (each / "status").read_text():
                found.append(int(each.name))
        except OSError:  # it ended, or is another user's
            continue
    return found
