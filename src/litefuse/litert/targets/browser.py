"""LiteRT.js in a browser without a window: where they are, and a page with them that a server of this process sends."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import unquote

from litefuse.errors import LitefuseError

#: The packages of npm that a page needs.
CORE, UTILS = "@litertjs/core", "@litertjs/wasm-utils"

#: How to get LiteRT.js.
INSTALL = "npm install @litertjs/core, in the current folder or one above it; NODE_PATH names other folders"

_BROWSER = "LITEFUSE_BROWSER"
_BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"),
    *("msedge", "microsoft-edge", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)
_TYPES = {".html": "text/html", ".js": "text/javascript", ".json": "application/json", ".wasm": "application/wasm"}

# WebGPU is SwiftShader's, in software, whose numbers are those of any machine; nothing is fetched from elsewhere.
_FLAGS = (
    *("--headless", "--no-first-run", "--disable-background-networking", "--disable-component-update"),
    *("--disable-dev-shm-usage", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"),
    *("--enable-features=Vulkan", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"),
)
# The browser ends when the other end of its pipe closes, even if this process was killed.
_WITH_PIPE = ("/bin/sh", "-c", 'exec "$0" --remote-debugging-pipe "$@" 3<&0 4>&1')


def find_litert_js() -> Path | None:
    """Returns the folder ``node_modules`` with LiteRT.js where Node.js looks for it; None if there is none."""
    here = Path.cwd()
    folders = [folder / "node_modules" for folder in (here, *here.parents)]
    folders += map(Path, filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep)))
    return next((folder for folder in folders if all((folder / name).is_dir() for name in (CORE, UTILS))), None)


def litert_js_version(folder: Path) -> str:
    """Returns the name and version of LiteRT.js in a folder ``node_modules``."""
    return f"LiteRT.js {json.loads((folder / CORE / 'package.json').read_text('utf-8'))['version']}"


def find_browser() -> str | None:
    """Returns a browser built on Chromium: the one that LITEFUSE_BROWSER names, or an installed one."""
    named = os.environ.get(_BROWSER)
    return next(filter(None, map(shutil.which, [named] if named else _BROWSERS)), None)


def missing_software() -> str:
    """Returns what is missing, and how to get it; empty if LiteRT.js and a browser are here."""
    if find_litert_js() is None:
        return f"LiteRT.js is not installed: {INSTALL}"
    if find_browser() is None:
        return f"a browser is missing: install Chromium (apt install chromium) or Chrome, or name one in {_BROWSER}"
    return ""


class Posted(NamedTuple):
    """A message of the page.

    Attributes:
        path: Its parts: the kind, and what it is about.
        content: Its content.
    """

    path: tuple[str, ...]
    content: bytes


class _Server(ThreadingHTTPServer):
    """Sends contents and the files of LiteRT.js, and collects what the page posts until it says that it is done.

    Others on this machine do not know the address.
    """

    daemon_threads = True

    def __init__(self, contents: Mapping[str, bytes | Path], modules: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.contents = contents
        self.modules = modules.resolve()
        self.root = f"/{secrets.token_urlsafe()}/"
        self.posted: list[Posted] = []
        self.done = threading.Event()

    def content(self, path: str) -> bytes | None:
        content = self.contents.get(path)
        if content is None and path.startswith("modules/"):
            content = (self.modules / path.removeprefix("modules/")).resolve()
            if not (content.is_relative_to(self.modules) and content.is_file()):
                return None
        return content.read_bytes() if isinstance(content, Path) else content


class _Handler(BaseHTTPRequestHandler):
    server: _Server  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = self._path()
        self._answer(None if path is None else self.server.content(path), Path(path or "").suffix)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        path = self._path()
        if path is not None:
            self.server.posted.append(Posted(tuple(map(unquote, path.split("/"))), content))
        self._answer(None if path is None else b"", "")
        if path == "done":
            self.server.done.set()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass

    def _path(self) -> str | None:
        root = self.server.root
        return self.path.removeprefix(root) if self.path.startswith(root) else None

    def _answer(self, content: bytes | None, suffix: str) -> None:
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Type", _TYPES.get(suffix, "application/octet-stream"))
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write(content or b"")


def run_page(page: str, contents: Mapping[str, bytes | Path], folder: Path) -> list[Posted]:
    """Opens a page in a browser, and returns what it posts until it posts to ``done``.

    Args:
        page: The path of the page among the contents.
        contents: What the server sends, by path; ``modules/`` is the folder with LiteRT.js.
        folder: A folder for the browser's profile.

    Raises:
        LitefuseError: The browser ends before that.
    """
    modules, browser = find_litert_js(), find_browser()
    assert modules is not None
    assert browser is not None
    server = _Server(contents, modules)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        with _browser(browser, f"http://127.0.0.1:{server.server_port}{server.root}{page}", folder) as is_alive:
            while not server.done.wait(0.2):
                if not is_alive():
                    log = (folder / "browser.log").read_text("utf-8", "replace")[-1000:].strip()
                    raise LitefuseError(f"the browser {browser} ends by itself: {log}")
    finally:
        server.shutdown()
        server.server_close()
    return server.posted


@contextmanager
def _browser(executable: str, address: str, folder: Path) -> Generator[Callable[[], bool]]:
    """Opens an address in a browser during the context, whose value tells whether it is still there."""
    command = [executable, *_flags(), f"--user-data-dir={folder / 'profile'}", address]
    with (folder / "browser.log").open("wb") as log:
        process = subprocess.Popen(
            command if sys.platform == "win32" else [*_WITH_PIPE, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            yield lambda: process.poll() is None
        finally:
            assert process.stdin is not None
            process.stdin.close()
            if sys.platform == "win32":
                process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


def _flags() -> Iterator[str]:
    yield from _FLAGS
    if sys.platform != "win32" and os.geteuid() == 0:  # its sandbox is not for root
        yield "--no-sandbox"
