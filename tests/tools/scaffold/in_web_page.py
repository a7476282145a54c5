"""A page of ``litefuse export-web`` in a browser, with LiteRT.js: run by .ci/web, which gets both.

With LITEFUSE_SCREENSHOTS, a folder, the page is drawn there.
"""

from __future__ import annotations

import json
import os
import re
import struct
import threading
import wave
import zlib
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from playwright.sync_api import sync_playwright

import litefuse
from litefuse.litert.metadata.description import Finish
from litefuse.litert.metadata.finish import finish_file
from litefuse.litert.targets.browser import find_browser
from tests.litert.runtime.models import Graph
from tests.litert.targets.models import serving
from tests.tools.scaffold.test_web import HOSTILE, described

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    import numpy.typing as npt

_PIXELS = np.array([[[255, 0, 0], [10, 20, 30]], [[0, 0, 255], [128, 127, 200]]], np.uint8)
_SOUNDS = np.array([0, 3000, -3000, 32767, -32768, 5, 6, 7], np.int16)


def picture(path: Path, pixels: npt.NDArray[Any]) -> Path:
    """A PNG file of pixels in red, green and blue."""
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    content = b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")):
        content += struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    path.write_bytes(content)
    return path


def sounds(path: Path) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(_SOUNDS.tobytes())
    return path


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


@contextmanager
def served(model: Path, tmp_path: Path) -> Generator[str]:
    """The address of a model's page, which a server of files sends."""
    litefuse.export_web(model, tmp_path / "page")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(tmp_path / "page"))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    with served(described(tmp_path), tmp_path) as found:
        yield found


def listening(folder: Path) -> Path:
    """A file that gives the loudest of a second of sounds."""
    graph = Graph()
    squares = graph.tensor("squares", (1, 8000))
    sounds, axes = graph.input("sounds", (1, 8000)), graph.tensor("axes", (2,), np.int32, value=[0, 1])
    graph.builtin("MUL", [sounds, sounds], [squares])
    graph.builtin("REDUCE_MAX", [squares, axes], [graph.output("loudest", ())])
    (folder / "listening.tflite").write_bytes(serving(graph))
    audio = {
        "content_properties_type": "AudioProperties",
        "content_properties": {"sample_rate": 8000, "channels": 1},
    }
    metadata = {"name": "Ear", "subgraph_metadata": [{"input_tensor_metadata": [{"content": audio}]}]}
    (folder / "metadata.json").write_text(json.dumps(metadata))
    finish_file(folder / "listening.tflite", Finish.of(folder / "metadata.json", None))
    return folder / "listening.tflite"


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


def test_forms_give_the_model_what_its_metadata_says(address: str, tmp_path: Path) -> None:
    flags = ["--no-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"]
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=find_browser(), args=flags).new_page()
        elsewhere: list[str] = []
        page.on("request", lambda request: None if request.url.startswith(address) else elsewhere.append(request.url))
        page.on("dialog", lambda dialog: elsewhere.append(dialog.message))
        page.goto(address)
        page.locator("#state", has_text="ready").wait_for(timeout=60_000)
        assert page.title() == "Net"
        assert page.locator("#backend option").all_inner_texts() == ["GPU (WebGPU)", "CPU (WebAssembly)"]
        page.locator("[name=image]").set_input_files(picture(tmp_path / "picture.png", _PIXELS))
        page.locator("[name=sounds]").set_input_files(sounds(tmp_path / "sounds.wav"))
        page.locator("[name=words]").fill("Hello, there!")
        page.locator("[name=ids]").fill("1 2, 3")
        page.locator("[name=x]").fill("3 5.5")
        page.wait_for_timeout(500)  # until both files are decoded
        for backend in ("wasm", "webgpu"):
            page.locator("#backend").select_option(backend)
            page.locator("form > button").click()
            page.locator("#state", has_text=re.compile(r"^[\d.]+ ms$")).wait_for(timeout=60_000)
            results = page.locator("#outputs section")
            labels = results.filter(has_text="classes").locator("div").all_inner_texts()
            total = ((_PIXELS - 127.5) / 127.5).sum()
            assert [label.rpartition(" ")[0] for label in labels] == [HOSTILE, "cat"]
            shown = [float(label.rpartition(" ")[2]) for label in labels]
            np.testing.assert_allclose(shown, [5.5 + total, 3 + total], rtol=5e-3)
            sums = results.filter(has_text="sums").locator("pre").inner_text()
            assert numbers(sums) == [1 + 1, 7 + 2, 2 + 3, 0]
            heard = results.filter(has_text="heard").locator("pre").inner_text()
            np.testing.assert_allclose(numbers(heard), np.tanh(_SOUNDS / 32768), atol=1e-4)
        if folder := os.environ.get("LITEFUSE_SCREENSHOTS"):
            page.screenshot(path=Path(folder) / "export-web.png", full_page=True)
        page.locator("[name=x]").fill("3 five")
        page.locator("form > button").click()
        page.locator("#state", has_text="not a number").wait_for()
        assert elsewhere == []


def test_what_a_microphone_hears(tmp_path: Path) -> None:
    """Chromium's own microphone, which beeps each second; before it is asked, there is silence."""
    flags = ["--no-sandbox", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"]
    with served(listening(tmp_path), tmp_path) as address, sync_playwright() as playwright:
        page = playwright.chromium.launch(executable_path=find_browser(), args=flags).new_page()
        page.goto(address)
        page.locator("#state", has_text="ready").wait_for(timeout=60_000)
        page.locator("#backend").select_option("wasm")
        loudest: list[float] = []
        for text in ("Record", "Record again"):
            if loudest:
                page.get_by_role("button", name="Record", exact=True).click()
            page.get_by_role("button", name=text, exact=True).wait_for()
            page.locator("form > button").click()
            page.locator("#state", has_text=re.compile(r"^[\d.]+ ms$")).wait_for(timeout=60_000)
            loudest += numbers(page.locator("#outputs pre").inner_text())
        assert loudest[0] == 0
        assert loudest[1] > 0.01
