"""Write ``kernels/pack/strings/unicode_scripts.npz``: the scripts of characters, as TensorFlow's ICU has them.

Run it where the newest supported TensorFlow is installed: ``python scripts/dump_unicode_scripts.py``.
"""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = (
    Path(__file__).resolve().parent.parent / "src" / "litefuse" / "kernels" / "pack" / "strings" / "unicode_scripts.npz"
)
LAST = 0x10FFFF


def main() -> None:
    tf: Any = importlib.import_module("tensorflow")
    scripts = tf.strings.unicode_script(np.arange(LAST + 2, dtype=np.int32)).numpy()
    starts = np.flatnonzero(np.diff(scripts, prepend=-2))
    np.savez_compressed(OUTPUT, starts=starts.astype(np.int32), scripts=scripts[starts].astype(np.int16))
    print(f"{len(starts)} runs of characters: {OUTPUT.stat().st_size} bytes")


if __name__ == "__main__":
    main()
