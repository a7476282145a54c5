"""Pages, differences and measurements of the benchmark suite's models: whether there is an error, sizes and times."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from document import megabytes, milliseconds, paragraph, table
from models import MODELS
from process import ENVIRONMENT, measure

from conversion import make_model

_BROWSER = "LITEFUSE_BROWSER"
_OPENED = 5


def measure_pages(folder: Path) -> list[dict[str, Any]]:
    """Writes a page, a difference and a measurement of each model, and opens the page in the browser that is named."""
    return [_measure(name, folder) for name in MODELS]


def _measure(name: str, folder: Path) -> dict[str, Any]:
    print(f"  {name}", flush=True, file=sys.stderr)
    source = make_model(name, folder)
    file, smaller, page = folder / f"{name}.tflite", folder / f"{name}.int8.tflite", folder / f"{name}.html"
    _litefuse("convert", source, "-o", file, "--quiet")
    _litefuse("quantize", file, "--quantize", "dynamic", "-o", smaller, "--quiet")
    written = measure([sys.executable, "-m", "litefuse", "report", str(file), str(source), "-o", str(page)])
    if written.failure:
        raise RuntimeError(written.failure)
    difference = _litefuse("diff", file, smaller, "--json", codes=(0, 1))
    benchmark = _litefuse("benchmark", file, smaller, "--json")
    data = json.loads(page.read_text().partition('id="data">')[2].partition("</script>")[0])
    before, after = (sum(len(graph["nodes"]) for graph in side["graphs"]) for side in data["sides"])
    return {
        "model": name,
        "before": before,
        "after": after,
        "bytes": page.stat().st_size,
        "seconds": written.seconds,
        "explained": benchmark["measurements"][0]["explained"],
        "explained_by_op": benchmark["measurements"][0]["explained_by_op"],
        "ratio": benchmark["ratio"],
        "differs": difference["verdict"],
        **_opened(page, os.environ.get(_BROWSER, "")),
    }


def _litefuse(*arguments: Any, codes: Sequence[int] = (0,)) -> Any:
    command = [sys.executable, "-m", "litefuse", *map(str, arguments)]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    if done.returncode not in codes:
        raise RuntimeError(f"{' '.join(command)}: {done.returncode}: {done.stderr[-2000:]}")
    return json.loads(done.stdout) if "--json" in arguments else None


def _opened(page: Path, browser: str) -> dict[str, Any]:
    """Opens a page, looks for a layer in its middle, and returns how long both took; nothing without a browser."""
    if not browser:
        return {}
    from playwright.sync_api import sync_playwright

    loaded: list[float] = []
    found: list[float] = []
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for _ in range(_OPENED):
            tab = chromium.new_context().new_page()
            tab.goto(page.as_uri())
            loaded.append(tab.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd") / 1e3)
            # The name of a layer, and from the last key to what is shown of it on both sides.
            names: list[str] = tab.evaluate("[...document.querySelectorAll('#layers a')].map(each => each.textContent)")
            if not names:
                continue
            tab.locator("#search input").fill(names[len(names) // 2])
            begin = tab.evaluate("performance.now()")
            tab.keyboard.press("Enter")
            tab.locator("#details article").first.wait_for()
            found.append((tab.evaluate("performance.now()") - begin) / 1e3)
        chromium.close()
    return {"opened": statistics.median(loaded), "found": statistics.median(found) if found else None}


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    cells = [
        [
            row["model"],
            f"{row['before']:,}",
            f"{row['after']:,}",
            megabytes(row["bytes"]),
            f"{row['seconds']:.1f} s",
            milliseconds(row["opened"]) if row.get("opened") is not None else "",
            milliseconds(row["found"]) if row.get("found") is not None else "",
            f"{row['explained']:.0%}" if row["explained"] is not None else "",
            f"{row['ratio']:.2f}",
        ]
        for row in rows
    ]
    heads = ["Model", "nodes before", "after", "page", "written in", "opens in", "layer found in", "explained", "ratio"]
    return [*paragraph(_ABOUT), *table(heads, cells, text=1)]


_ABOUT = """
`litefuse report` on each model, with its original: the time includes TensorFlow, in which the model is verified layer
by layer, and measuring its ops. The page opens in headless Chromium; a layer is searched by name, until it is shown
before and after conversion. Explained is the share of a call that the times of ops and partitions add up to; the ratio
compares the time with int8 weights to that without.
"""
