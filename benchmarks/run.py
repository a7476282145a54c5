"""All benchmarks, or some of their sections: ``pip install '.[bench]' && python benchmarks/run.py``.

It writes ``docs/explanation/benchmarks/results.json``, from which the site has the tables of
``docs/explanation/benchmarks.md``; results of sections that are not run stay as they are. All of it takes about an
hour, 16 GB of memory and 20 GB of disk. Nothing else should run on the machine.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import batch
import floor
import generated_kernels
import growth
import large
import latency
import layers
import on_jax
import pages
import recurrent
import speed
import startup
from models import MODELS
from process import machine

import conversion
import kernels

_RESULTS = Path(__file__).parents[1] / "docs" / "explanation" / "benchmarks" / "results.json"


@dataclass(frozen=True)
class Section:
    """One part of the page.

    Attributes:
        title: Its heading.
        measure: Makes its rows, from a folder for models and a number of repeats.
        document: Its text, from its rows and that number.
        repeats: How often each thing is measured, unless the command says otherwise.
    """

    title: str
    measure: Callable[[Path, int], list[dict[str, Any]]]
    document: Callable[[list[dict[str, Any]], int], list[str]]
    repeats: int


def _conversions(folder: Path, repeats: int) -> list[dict[str, Any]]:
    return [_progress(name, conversion.measure_conversion(name, folder, repeats)) for name in MODELS]


def _floors(folder: Path, repeats: int) -> list[dict[str, Any]]:
    return [_progress(name, floor.measure_floor(name, folder, repeats)) for name in MODELS]


def _latencies(folder: Path, _repeats: int) -> list[dict[str, Any]]:
    return [_progress(name, latency.measure_latency(name, folder)) for name in MODELS]


def _progress(name: str, row: dict[str, Any]) -> dict[str, Any]:
    print(f"  {name}", flush=True, file=sys.stderr)
    return row


SECTIONS = {
    "conversion": Section("Conversion: time and memory", _conversions, conversion.document, 3),
    "floor": Section("The engine alone", _floors, floor.document, 5),
    "large": Section("Large models", large.measure_large, lambda rows, _: large.document(rows), 0),
    "growth": Section(
        "Growth",
        lambda folder, repeats: growth.drawn(growth.measure_growth(folder, repeats), _RESULTS.parent),
        lambda rows, _: growth.document(rows),
        0,
    ),
    "outputs": Section("Output files: latency and size", _latencies, lambda rows, _: latency.document(rows), 0),
    "speed": Section(
        "Output files: the speed of a hundred models",
        lambda folder, repeats: speed.measure_speed(folder / "speed", repeats),
        lambda rows, _: speed.document(rows),
        3,
    ),
    "layers": Section(
        "Output files, layer by layer",
        lambda folder, _: layers.measure_layers(folder),
        lambda rows, _: layers.document(rows),
        0,
    ),
    "on_jax": Section("Keras models on JAX", on_jax.measure_on_jax, on_jax.document, 3),
    "recurrent": Section(
        "Recurrent layers",
        lambda _, repeats: recurrent.measure_recurrent(repeats),
        lambda rows, _: recurrent.document(rows),
        20,
    ),
    "kernels": Section(
        "Kernels", lambda _, repeats: kernels.measure_kernels(repeats), lambda rows, _: kernels.document(rows), 30
    ),
    "generated": Section(
        "Generated kernels",
        generated_kernels.measure_generated_kernels,
        lambda rows, _: generated_kernels.document(rows),
        15,
    ),
    "pages": Section(
        "Pages, differences and measurements of each model",
        lambda folder, _: pages.measure_pages(folder),
        lambda rows, _: pages.document(rows),
        0,
    ),
    "batch": Section("Many models", batch.measure_batches, lambda rows, _: batch.document(rows), 3),
    "startup": Section("Start", startup.measure_startup, lambda rows, _: startup.document(rows), 5),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, or print what was measured."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "sections", nargs="*", choices=[[], *SECTIONS], default=[], metavar="SECTION", help=", ".join(SECTIONS)
    )
    parser.add_argument("--repeats", type=int, help="how often each thing is measured")
    parser.add_argument("--folder", type=Path, help="where models are made and kept (default: a temporary folder)")
    parser.add_argument("--page", action="store_true", help="only print what was measured, as Markdown")
    parser.add_argument("--section", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    results: dict[str, Any] = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
    if options.page:
        print("\n".join(page(results)))
        return
    if options.section:  # in a process of its own
        section = SECTIONS[options.section]
        repeats = section.repeats if options.repeats is None else options.repeats
        rows = section.measure(options.folder, repeats)
        results[options.section] = {
            "machine": machine(),
            "day": time.strftime("%Y-%m-%d"),
            "repeats": repeats,
            "rows": rows,
        }
        _RESULTS.parent.mkdir(parents=True, exist_ok=True)
        _RESULTS.write_text(json.dumps(results, indent=1) + "\n")
        return
    with tempfile.TemporaryDirectory(prefix="litefuse-benchmark-") as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        given = [] if options.repeats is None else ["--repeats", str(options.repeats)]
        for name in options.sections or SECTIONS:
            print(f"{name} ...", flush=True, file=sys.stderr)
            subprocess.run([sys.executable, __file__, "--section", name, "--folder", str(folder), *given], check=True)


def page(results: dict[str, Any]) -> list[str]:
    """The sections of the page, from the results of all that were ever run."""
    lines: list[str] = []
    for name, section in SECTIONS.items():
        if name not in results:
            continue
        found = results[name]
        told = ", ".join(f"{key} {value}" for key, value in found["machine"].items())
        lines += [f"## {section.title}", "", *section.document(found["rows"], found["repeats"]), ""]
        lines += [f"<sub>`{name}`, {found['day']}: {told}</sub>", ""]
    return lines[:-1]


if __name__ == "__main__":
    main()
