"""The target ``web`` where LiteRT.js or a browser is missing; ``in_web.py`` has what needs both."""

from __future__ import annotations

import os
import re
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import numpy as np
import pytest

import litefuse
from litefuse.errors import LitefuseError
from litefuse.litert.targets.browser import CORE, UTILS, missing_software, run_page
from litefuse.litert.targets.web import Web
from tests.litert.runtime.models import Graph
from tests.litert.targets.models import dense, remembering, serving

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder like that of LiteRT.js, above the current one."""
    for name in (CORE, UTILS):
        (tmp_path / "node_modules" / name).mkdir(parents=True)
    (tmp_path / "node_modules" / CORE / "package.json").write_text('{"version": "9.8.7"}')
    (tmp_path / "app").mkdir()
    monkeypatch.setenv("NODE_PATH", "")
    monkeypatch.chdir(tmp_path / "app")
    return tmp_path / "node_modules"


def browser(path: Path, script: str) -> str:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_what_is_missing_is_said_with_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NODE_PATH", "")
    assert "npm install @litertjs/core" in missing_software()
    (report,) = litefuse.check(dense(), "web").reports
    assert (report.verdict, report.missing) == ("unknown", missing_software())
    (report,) = litefuse.check(remembering(), "web").reports
    assert report.verdict == "refused"
    assert "--target web" in report.refused[0].hint
    graph = Graph()
    graph.custom("Mine", [graph.input("x", (1, 4))], [graph.output("y", (1, 4))])
    (report,) = litefuse.check(serving(graph), "web").reports
    assert (report.verdict, report.refused[0].op) == ("refused", "Mine")


def test_litert_js_is_found_as_node_finds_it(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITEFUSE_BROWSER", str(modules / "no-browser"))
    assert "install Chromium" in missing_software()
    monkeypatch.setenv("LITEFUSE_BROWSER", browser(modules / "browser", "exit"))
    assert missing_software() == ""
    monkeypatch.chdir(modules.parents[1])
    assert "npm install" in missing_software()
    monkeypatch.setenv("NODE_PATH", f"/nothing{os.pathsep}{modules}")
    assert Web().missing() == ""


def test_a_browser_that_ends_is_unknown(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITEFUSE_BROWSER", browser(modules / "browser", "echo cannot open display >&2; exit 3"))
    (report,) = litefuse.check(dense(), "web").reports
    assert report.verdict == "unknown"
    assert "cannot open display" in report.missing


def test_the_server_sends_only_what_it_has(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A browser that asks for files outside, for lists of files, and without the address."""
    folder = modules.parent
    (folder / "secret").mkdir()
    (folder / "secret" / "model").write_text("123")
    (folder.parent / "outside").write_text("outside")
    script = """for argument; do address=$argument; done
root=${address%secret/check.html}
for path in ../outside %2e%2e/outside modules/../../outside modules/ "" secret/ \\
        secret/model modules/@litertjs/core/package.json; do
    curl -s --path-as-is -o /dev/null -w "%{http_code} " "$root$path"
done > codes
for path in secret/said/h%C3%A4/%2F other/said/1 said ../said secret/done; do
    curl -s --path-as-is -o /dev/null -d 1 -w "%{http_code} " "$root$path"
done >> codes
cat > /dev/null"""
    monkeypatch.setenv("LITEFUSE_BROWSER", browser(modules / "browser", script))
    posted = run_page(folder / "secret" / "check.html", folder)
    assert (folder / "app" / "codes").read_text().split() == ["404"] * 6 + ["200"] * 3 + ["404"] * 3 + ["200"]
    assert posted == [(("said", "hä", "/"), b"1"), (("done",), b"1")]


def test_the_server_is_gone_afterwards(modules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = 'for argument; do address=$argument; done; echo "$address" > address; exit'
    monkeypatch.setenv("LITEFUSE_BROWSER", browser(modules / "browser", script))
    with pytest.raises(LitefuseError, match="ends by itself"):
        run_page(modules.parent / "secret" / "check.html", modules.parent)
    with pytest.raises(urllib.error.URLError):
        urllib.request.urlopen((modules.parent / "app" / "address").read_text().strip())


@pytest.mark.parametrize("dtype", [np.int64, np.bool_, np.int8, np.float64])
def test_dtypes_that_litert_js_lacks_have_hints(dtype: type) -> None:
    reason = f"Element type {np.dtype(dtype).name.upper()} is not supported"
    texts = [hint.text for hint in Web.hints if not hint.op and re.search(hint.reason, reason)]
    assert texts[0].startswith(("convert with --target web", "convert with --quantized-io", "convert with --dtypes"))
