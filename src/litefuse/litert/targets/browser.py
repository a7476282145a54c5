"""LiteRT.js in a browser without a window: where both are, and pages that a server of this process sends."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import unquote

from litefuse.errors import LitefuseError

#: The package of npm, with the one that it needs.
CORE, UTILS = "@litertjs/core", "@litertjs/wasm-utils"

#: What a page posts: the parts of the path, and the content.
Posted: TypeAlias = "tuple[tuple[str, ...], bytes]"

_BROWSER = "LITEFUSE_BROWSER"
_BROWSERS = (
    *("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "chrome", "microsoft-edge", "msedge"),
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
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
    """Returns the folder ``node_modules`` with LiteRT.js, where Node.js looks for it; None without any."""
    here = Path.cwd()
    folders = [folder / "node_modules" for folder in (here, *here.parents)]
    folders += map(Path, filter(None, os.environ.get("NODE_PATH", "").split(os.pathsep)))
    return next((folder for folder in folders if all((folder / name).is_dir() for name in (CORE, UTILS))), None)


def find_browser() -> str | None:
    """Returns a browser built on Chromium: the one that LITEFUSE_BROWSER names, or an installed one."""
    named = os.environ.get(_BROWSER)
    return next(filter(None, map(shutil.which, [named] if named else _BROWSERS)), None)


def missing_software() -> str:
    """Returns what is missing, and how to get it; empty if LiteRT.js and a browser are here."""
    if find_litert_js() is None:
        return f"LiteRT.js is not installed: npm install {CORE}, here or in a folder above; NODE_PATH names others"
    if find_browser() is None:
        return f"a browser is missing: install Chromium (apt install chromium) or Chrome, or name one in {_BROWSER}"
    return ""


class _Handler(SimpleHTTPRequestHandler):
    """Sends the files of a folder, and of LiteRT.js under ``/modules``; keeps what is posted until ``done`` is."""

    protocol_version = "HTTP/1.1"

    def __init__(self, *args: Any, modules: Path, posted: list[Posted], done: threading.Event, **more: Any) -> None:
        self._modules, self._posted, self._done = modules, posted, done
        super().__init__(*args, **more)

    def translate_path(self, path: str) -> str:
        kept = self.directory
        if path.startswith("/modules/"):
            self.directory, path = str(self._modules), path.removeprefix("/modules")
        try:
            return super().translate_path(path)
        finally:
            self.directory = kept

    def guess_type(self, path: Any) -> str:
        return _TYPES.get(Path(path).suffix, "application/octet-stream")  # the system's own table may be another

    def list_directory(self, path: Any) -> None:
        del path  # its names are the secret part of an address
        self.send_error(404)

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"] or 0))
        secret, *parts = map(unquote, self.path.removeprefix("/").split("/"))
        is_known = (Path(self.directory) / secret).is_dir() and secret not in {"", ".", ".."}
        self.send_response(200 if is_known else 404)
        self.send_header("Content-Length", "0")
        self.end_headers()
        if is_known:
            self._posted.append((tuple(parts), content))
            if parts == ["done"]:
                self._done.set()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        pass


def run_page(page: Path, folder: Path) -> list[Posted]:
    """Opens a page in a browser, and returns what it posts until it posts to ``done``.

    Args:
        page: The page, in a folder with a name that others cannot guess; the page asks for files there.
        folder: The folder of that folder; it gets the browser's profile.

    Raises:
        LitefuseError: LiteRT.js or a browser is missing, or the browser ends before that.
    """
    modules, browser = find_litert_js(), find_browser()
    if modules is None or browser is None:
        raise LitefuseError(missing_software())
    posted: list[Posted] = []
    done = threading.Event()
    handler = partial(_Handler, directory=str(folder), modules=modules, posted=posted, done=done)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/{page.relative_to(folder).as_posix()}"
        try:
            with _opened(browser, address, folder) as is_alive:
                while not done.wait(0.2):
                    if not is_alive():
                        log = (folder / "browser.log").read_text("utf-8", "replace")[-1000:].strip()
                        raise LitefuseError(f"the browser {browser} ends by itself: {log}")
        finally:
            server.shutdown()
    return posted


@contextmanager
def _opened(executable: str, address: str, folder: Path) -> Generator[Callable[[], bool]]:
    """Opens an address in a browser during the context, whose value tells whether it is still there."""
    is_windows = sys.platform == "win32"
    sandbox = [] if is_windows or os.geteuid() else ["--no-sandbox"]  # its sandbox is not for root
    command = [executable, *_FLAGS, *sandbox, f"--user-data-dir={folder / 'profile'}", address]
    with (
        (folder / "browser.log").open("wb") as log,
        subprocess.Popen(
            command if is_windows else [*_WITH_PIPE, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
        ) as process,
    ):
        try:
            yield lambda: process.poll() is None
        finally:
            assert process.stdin is not None
            process.stdin.close()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0 if is_windows else 10)
            process.kill()
