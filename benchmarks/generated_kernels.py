"""Generated kernels against the bodies that they are made of.

Each composite is converted with fixed sizes, as ops and as a composite with its kernel; both files run in LiteRT with
XNNPACK on one thread, in one process, in short blocks in turn, of which the fastest counts, so that other work on the
machine disturbs it little.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from document import milliseconds, paragraph, table
from process import ENVIRONMENT

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

_BLOCK = 0.02  # seconds of one file's calls in a row


def main() -> None:
    """Makes the SavedModel (``--save FOLDER``), or measures and prints the table."""
    if sys.argv[1:2] == ["--save"]:
        _save(Path(sys.argv[2]))
        return
    print("\n".join(document(measure_generated_kernels(Path(sys.argv[1]), 15))))


def _save(path: Path) -> None:
    import importlib

    from tests.tensorflow import saved_models
    from tests.tensorflow.generated_composites import all_composites

    saved_models.save(importlib.import_module("tensorflow"), str(path), all_composites, [])


def measure_generated_kernels(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Converts the composites of the tests, generates kernels for them, and measures both.

    Args:
        folder: Where the models are made.
        repeats: How many pairs of blocks are measured for each composite.
    """
    from tests.tensorflow.generated_composites import COMPOSITES

    import litefuse
    from litefuse.kernels.generator.body import read_bodies
    from litefuse.kernels.generator.graph import NotGenerated
    from litefuse.kernels.generator.kernel import kernel_source
    from litefuse.kernels.generator.project import build_kernels, identifiers

    source = folder / "generated_composites"
    if not source.exists():
        subprocess.run([sys.executable, __file__, "--save", str(source)], check=True, env=ENVIRONMENT)
    shapes = {
        f"{name}:{each.name}": _fixed(each.shape, each.large)
        for name, composite in COMPOSITES.items()
        for each in composite.inputs
    }
    files = {
        form: litefuse.convert(
            source, composites=form, shapes=shapes, checks=litefuse.Checks(targets=False)
        ).model_bytes
        for form in ("inline", "keep")
    }
    bodies = read_bodies(files["keep"], "model")
    sources: dict[str, str] = {}
    reasons: dict[str, str] = {}
    for name, own in identifiers([*COMPOSITES]).items():
        try:
            sources[name] = kernel_source(name, bodies[name], own, "model")
        except NotGenerated as error:
            reasons[name] = str(error)
    kernels = folder / "generated_kernels"
    kernels.mkdir(exist_ok=True)
    for path in kernels.iterdir():
        path.unlink()
    library = build_kernels(kernels, sources)
    rows: list[dict[str, Any]] = []
    for name, composite in COMPOSITES.items():
        row = {"name": composite.title, "inputs": [_fixed(each.shape, each.large) for each in composite.inputs]}
        if name in reasons:
            rows.append(row | {"reason": reasons[name]})
            continue
        random = np.random.default_rng(0)
        inputs = {each.name: each.value(random, each.large) for each in composite.inputs}
        rows.append(row | _compared(files, library, name, inputs, repeats))
        print(f"  {json.dumps(rows[-1])}", flush=True, file=sys.stderr)
    return rows


def _fixed(shape: Sequence[int | None], sizes: Sequence[int]) -> list[int]:
    remaining = iter(sizes)
    return [next(remaining) if size is None else size for size in shape]


def _compared(
    files: dict[str, bytes], library: Path, name: str, inputs: dict[str, Any], repeats: int
) -> dict[str, Any]:
    from ai_edge_litert.interpreter import Interpreter, load_delegate

    body: Any = Interpreter(model_content=files["inline"], num_threads=1)
    kernel: Any = Interpreter(
        model_content=files["keep"], num_threads=1, experimental_delegates=[load_delegate(str(library))]
    )
    calls: list[Callable[[], Any]] = []
    results: list[dict[str, Any]] = []
    for interpreter in (body, kernel):
        runner = interpreter.get_signature_runner(name)
        results.append({key: value.copy() for key, value in runner(**inputs).items()})
        number = runner._subgraph_index  # noqa: SLF001  only this calls a signature without copies
        calls.append(lambda own=interpreter._interpreter, number=number: own.Invoke(number))  # noqa: SLF001
    difference = max(
        float(np.abs(results[0][key].astype(np.float64) - results[1][key]).max())
        / max(1.0, float(np.abs(results[0][key]).max()))
        for key in results[0]
    )
    counts = [max(1, int(_BLOCK / _seconds(call, 3))) for call in calls]
    times: list[list[float]] = [[], []]
    for _ in range(max(repeats, 3)):
        for call, count, found in zip(calls, counts, times, strict=True):
            found.append(_seconds(call, count))
    body_seconds, kernel_seconds = map(min, times)
    ratio = body_seconds / kernel_seconds
    return {"body": body_seconds, "kernel": kernel_seconds, "ratio": ratio, "difference": difference}


def _seconds(call: Callable[[], Any], count: int) -> float:
    started = time.perf_counter()
    for _ in range(count):
        call()
    return (time.perf_counter() - started) / count


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells: list[list[str]] = []
    for row in rows:
        sizes = ", ".join(" x ".join(map(str, shape)) for shape in row["inputs"])
        if "reason" in row:
            cells.append([row["name"], sizes, "", "", "", f"declined: {row['reason']}"])
            continue
        faster = f"**{row['ratio']:.1f}**" if row["ratio"] >= 1 else f"{row['ratio']:.2f}: declined"
        numbers = [milliseconds(row["body"]), milliseconds(row["kernel"]), faster]
        cells.append([row["name"], sizes, *numbers, f"{row['difference']:.0e}" if row["difference"] else "0"])
    return [
        *paragraph(
            'Kernels that litefuse generates from the bodies of composites (`composites="generate"`), against these '
            "bodies as LiteRT's ops with XNNPACK, both on one thread and with fixed sizes. They alternate in short "
            "blocks, and the fastest of each counts; a ratio above 1 is in favor of the kernel. A conversion also "
            "measures, and declines a kernel that is not faster. *difference*: the largest, relative to the largest "
            "number."
        ),
        *table(["Composite", "inputs", "body", "kernel", "ratio", "difference"], cells, text=2),
    ]


if __name__ == "__main__":
    main()
