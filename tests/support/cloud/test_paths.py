"""Models, samples and outputs at URLs, in the file systems that need no server: memory://, zip://, file://, http://."""

from __future__ import annotations

import contextlib
import http.server
import importlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import litefuse
from litefuse.errors import LitefuseError
from litefuse.support.cloud.cache import cache_folder, cached_entries, clear_cache
from litefuse.support.cloud.file_systems import file_system
from litefuse.support.cloud.names import as_url, shown
from litefuse.support.cloud.paths import local, saved_to
from litefuse.tools.cli.app import app
from litefuse.tools.demo import SAVED_MODEL


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """An empty memory://, and an empty cache."""
    monkeypatch.setenv("LITEFUSE_CACHE", str(tmp_path / "cache"))
    memory = importlib.import_module("fsspec").filesystem("memory")
    yield memory
    for each in memory.find("/"):
        memory.rm(each)
    memory.pseudo_dirs[:] = [""]


@pytest.fixture
def fetches(store: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were fetched from memory://."""
    found: list[str] = []
    get = kind(store).get_file

    def counted(self: Any, rpath: str, lpath: str, **options: Any) -> None:
        found.append(rpath)
        get(self, rpath, lpath, **options)

    monkeypatch.setattr(kind(store), "get_file", counted)
    return found


def kind(store: Any) -> Any:
    """The class of a file system, whose methods all of its objects have."""
    return store.__class__


def put(store: Any, url: str, content: bytes) -> str:
    store.pipe_file(url, content)
    return url


def run(*args: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(each) for each in args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.output


# What is a URL.


@pytest.mark.parametrize("text", ["model", "C://model", "c:\\x", "a/b://c", "/gs://x", "x: //y", "://x", "gs:/x", ""])
def test_no_url(text: str) -> None:
    assert as_url(text) is None
    assert local(text) == text


@pytest.mark.parametrize(
    "text", ["gs://b/x", "S3://b/x", "https://h/x", "zip://a::memory://b.zip", "simplecache::s3://b"]
)
def test_a_url(text: str) -> None:
    assert as_url(text) == text


def test_a_local_file_with_the_name_of_a_url_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "memory:").mkdir()
    (tmp_path / "memory:" / "x").write_bytes(b"here")
    monkeypatch.chdir(tmp_path)
    assert Path(local("memory://x")).read_bytes() == b"here"
    assert as_url("memory://y") == "memory://y"


def test_a_path_of_pathlib_has_lost_a_slash() -> None:
    with pytest.raises(LitefuseError, match="one of its slashes"):
        local(Path("gs://bucket/model"))
    with pytest.raises(LitefuseError, match="one of its slashes"), saved_to(Path("gs://bucket/model")):
        pass


def test_other_objects_stay() -> None:
    model = object()
    assert local(model) is model
    assert local(b"memory://x") == b"memory://x"


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("https://u:secret@h/x?sig=secret", "https://h/x"),
        ("ftp://u:secret@h/x", "ftp://h/x"),
        ("memory://a?b", "memory://a?b"),
    ],
)
def test_no_password_is_shown(url: str, text: str) -> None:
    assert shown(url) == text


def test_without_urls_fsspec_is_not_imported(tmp_path: Path) -> None:
    program = (
        "import sys, litefuse\n"
        f"result = litefuse.convert({str(SAVED_MODEL)!r})\n"
        f"litefuse.Interpreter(result.save({str(tmp_path / 'm.tflite')!r}))\n"
        "print([each for each in ('fsspec', 'platformdirs') if each in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"


# What is fetched.


def test_a_file_is_fetched_once(store: Any, fetches: list[str]) -> None:
    url = put(store, "memory://b/x.npz", b"one")
    first = Path(local(url))
    assert (first.name, first.read_bytes()) == ("x.npz", b"one")
    assert local(url) == str(first)
    assert fetches == ["/b/x.npz"]


def test_a_file_that_changed_is_fetched_again(store: Any, fetches: list[str]) -> None:
    url = put(store, "memory://b/x", b"one")
    first = Path(local(url))
    put(store, url, b"two")  # of the same size
    assert Path(local(url)).read_bytes() == b"two"
    assert len(fetches) == 2
    assert first.read_bytes() == b"one"  # whoever reads it may go on


def test_a_folder_is_fetched_with_its_files(store: Any, fetches: list[str]) -> None:
    put(store, "memory://b/m/saved_model.pb", b"graph")
    put(store, "memory://b/m/variables/é ü.index", b"index")
    put(store, "memory://b/m/empty", b"")
    for _ in range(2):
        folder = Path(local("memory://b/m/"))
        assert folder.name == "m"
        found = {str(each.relative_to(folder)): each.read_bytes() for each in folder.rglob("*") if each.is_file()}
        assert found == {"saved_model.pb": b"graph", "variables/é ü.index": b"index", "empty": b""}
    assert len(fetches) == 3
    put(store, "memory://b/m/more", b"more")
    assert (Path(local("memory://b/m")) / "more").read_bytes() == b"more"


def test_an_empty_file(store: Any) -> None:
    assert Path(local(put(store, "memory://b/empty", b""))).read_bytes() == b""


def test_a_name_that_would_leave_the_folder(store: Any, fetches: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    put(store, "memory://b/m/x", b"x")

    def found(*_: Any, **__: Any) -> dict[str, Any]:
        return {"/b/m/../../../out": {"name": "/b/m/../../../out", "size": 1, "type": "file", "created": 0}}

    with monkeypatch.context() as patch:
        patch.setattr(kind(store), "find", found)
        with pytest.raises(LitefuseError, match="outside"):
            local("memory://b/m")
    assert fetches == []


def test_a_damaged_entry_is_fetched_again(store: Any) -> None:
    url = put(store, "memory://b/x", b"one")
    Path(local(url)).write_bytes(b"o")
    assert Path(local(url)).read_bytes() == b"one"
    Path(local(url)).unlink()
    assert Path(local(url)).read_bytes() == b"one"


def test_an_entry_with_other_bytes_is_fetched_again(store: Any) -> None:
    url = put(store, "memory://b/x", b"one")
    Path(local(url)).write_bytes(b"two")
    assert Path(local(url)).read_bytes() == b"one"
    folder = put(store, "memory://d/a", b"one").removesuffix("/a")
    Path(local(folder), "a").write_bytes(b"eno")
    assert Path(local(folder), "a").read_bytes() == b"one"


def test_an_entry_without_facts_is_fetched_again(store: Any, fetches: list[str]) -> None:
    url = put(store, "memory://b/x", b"one")
    facts = Path(local(url)).parents[1] / "entry.json"
    for text in ("", "[]", "{"):
        facts.write_text(text)
        assert Path(local(url)).read_bytes() == b"one"
    assert len(fetches) == 4


def test_an_interrupted_fetch_leaves_nothing(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = put(store, "memory://b/x", b"one")

    def interrupted(_: Any, __: str, target: str, **___: Any) -> None:
        Path(target).write_bytes(b"o")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(kind(store), "get_file", interrupted)
        with pytest.raises(KeyboardInterrupt):
            local(url)
    assert [*cache_folder().iterdir()] == []
    assert Path(local(url)).read_bytes() == b"one"


def test_a_file_that_changes_while_it_is_fetched(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = put(store, "memory://b/x", b"0")
    get = kind(store).get_file
    changes = iter(range(1, 100))

    def changing(self: Any, rpath: str, lpath: str, **options: Any) -> None:
        get(self, rpath, lpath, **options)
        put(store, url, b"%d" % next(changes))

    with monkeypatch.context() as patch:
        patch.setattr(kind(store), "get_file", changing)
        with pytest.raises(LitefuseError, match="changed during the fetch"):
            local(url)
    assert Path(local(url)).read_bytes() == b"3"


def test_two_processes_at_once(tmp_path: Path) -> None:
    source = tmp_path / "big.zip"
    with zipfile.ZipFile(source, "w") as archive:
        archive.writestr("model", b"x" * 5_000_000)
    program = (
        "import hashlib, sys; from litefuse.support.cloud.paths import local\n"
        "for _ in range(20):\n"
        "    path = local(sys.argv[1]); data = open(path, 'rb').read(); assert data == b'x' * 5_000_000, len(data)\n"
        "print(path)"
    )
    command = [sys.executable, "-c", program, f"zip://model::file://{source}"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({each.communicate(timeout=100)[0] for each in running}) == 1
    assert [each.returncode for each in running] == [0, 0, 0]
    assert len([*cache_folder().iterdir()]) == 1


def test_what_is_here_is_not_copied(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"x")
    assert local(f"file://{tmp_path}/x") == str(tmp_path / "x")
    assert cached_entries() == []


# Web servers.


class _Pages(http.server.BaseHTTPRequestHandler):
    pages: dict[str, tuple[bytes, str | None]]
    requests: list[str]
    pause = 0.0
    stops_after: int | None = None
    missing = 404

    def do_HEAD(self) -> None:
        self._send(body=False)

    def do_GET(self) -> None:
        with contextlib.suppress(ConnectionError):  # who asked was ended; a traceback would be in what others print
            self._send(body=True)

    def _send(self, *, body: bool) -> None:
        if body:
            self.requests.append(self.path)
        content, tag = self.pages.get(self.path, (b"", None))
        self.send_response(200 if content else self.missing)
        self.send_header("Content-Length", str(len(content)))
        if tag is not None:
            self.send_header("ETag", tag)
        self.end_headers()
        if body:
            for piece in [content[: self.stops_after]] if not self.pause else [content[i : i + 1] for i in range(8)]:
                self.wfile.write(piece)
                time.sleep(self.pause)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  of the base class
        pass


@pytest.fixture
def web() -> Iterator[tuple[str, type[_Pages]]]:
    class Pages(_Pages):
        pages: dict[str, tuple[bytes, str | None]] = {}  # noqa: RUF012
        requests: list[str] = []  # noqa: RUF012

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", Pages
    server.shutdown()
    server.server_close()


def test_a_web_server_with_tags(web: tuple[str, type[_Pages]]) -> None:
    address, pages = web
    pages.pages["/m.tflite"] = b'<a href="x">a page with links is a file</a>', "one"
    path = Path(local(f"{address}/m.tflite"))
    assert (path.name, path.read_bytes()) == ("m.tflite", pages.pages["/m.tflite"][0])
    count = len(pages.requests)
    assert local(f"{address}/m.tflite") == str(path)
    assert len(pages.requests) == count
    pages.pages["/m.tflite"] = b"other", "two"
    assert Path(local(f"{address}/m.tflite")).read_bytes() == b"other"


def test_a_web_server_that_tells_nothing_of_changes(web: tuple[str, type[_Pages]]) -> None:
    address, pages = web
    for content in (b"one", b"two"):
        pages.pages["/m?sig=secret"] = content, None
        path = Path(local(f"{address}/m?sig=secret"))
        assert (path.name, path.read_bytes()) == ("m", content)
    assert "secret" not in (path.parents[1] / "entry.json").read_text()


def test_a_web_server_without_the_file(web: tuple[str, type[_Pages]]) -> None:
    with pytest.raises(LitefuseError, match="no such file"):
        local(f"{web[0]}/m?sig=secret")
    with pytest.raises(LitefuseError, match="web servers are read-only"), saved_to(f"{web[0]}/m"):
        pass


@pytest.mark.parametrize(
    ("status", "said"), [(401, "password"), (403, "right to read"), (500, "later"), (503, "later")]
)
def test_an_answer_that_is_none_of_the_files(web: tuple[str, type[_Pages]], status: int, said: str) -> None:
    web[1].missing = status
    with pytest.raises(LitefuseError, match=f"the server answers {status}") as caught:
        local(f"{web[0]}/m?sig=secret")
    assert said in caught.value.hint
    assert "secret" not in str(caught.value)


def test_nobody_answers() -> None:
    with pytest.raises(LitefuseError, match=r"cannot be read: .*onnect") as caught:
        local("http://127.0.0.1:1/m?sig=secret")
    assert "secret" not in str(caught.value)


def test_a_connection_that_ends_in_the_middle(web: tuple[str, type[_Pages]]) -> None:
    address, pages = web
    pages.pages["/m"], pages.stops_after = (b"content", "one"), 3
    with pytest.raises(LitefuseError, match="ended before the file did"):
        local(f"{address}/m")
    assert [*cache_folder().iterdir()] == []
    pages.stops_after = None
    assert Path(local(f"{address}/m")).read_bytes() == b"content"


def test_a_slow_line_has_time_and_one_that_stands_still_has_not(
    web: tuple[str, type[_Pages]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, pages = web
    assert file_system(address)[0].client_kwargs["timeout"].total is None
    monkeypatch.setattr("litefuse.support.cloud.file_systems.STANDSTILL", 0.5)
    pages.pages["/m"], pages.pause = (b"contents", "one"), 0.1
    assert Path(local(f"{address}/m")).read_bytes() == b"contents"
    pages.pages["/m"], pages.pause = (b"contents", "two"), 1.5
    with pytest.raises(LitefuseError, match=r"nothing came from the server for 0\.5 seconds"):
        local(f"{address}/m")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["TERM", "HUP"])
def test_a_signal_while_something_is_fetched(
    web: tuple[str, type[_Pages]], number: signal.Signals, tmp_path: Path
) -> None:
    address, pages = web
    pages.pages["/m"], pages.pause = (b"contents", "one"), 60.0
    running = subprocess.Popen(
        [sys.executable, "-m", "litefuse", "inspect", f"{address}/m"],
        env=os.environ | {"LITEFUSE_CACHE": str(tmp_path / "cache")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # noqa: PLW1509  nohup ignores it
    )
    while not pages.requests:
        time.sleep(0.02)
    running.send_signal(number)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out, err) == (128 + number, "", f"error: it was interrupted by {number.name}\n")
    assert not [*(tmp_path / "cache" / "fetched").iterdir()]


def test_sessions_of_the_user_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    configuration = importlib.import_module("fsspec.config").conf
    monkeypatch.setitem(configuration, "https", {"client_kwargs": {"trust_env": True}})
    assert file_system("https://h/x")[0].client_kwargs.keys() == {"timeout", "trust_env"}


# Errors.


def test_nothing_there() -> None:
    with pytest.raises(LitefuseError, match="no such file or folder") as caught:
        local("memory://b/none")
    assert caught.value.where == "memory://b/none"


def test_a_package_that_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)
    with pytest.raises(LitefuseError, match="requires the package gcsfs") as caught:
        local("gs://b/x")
    assert "pip install gcsfs" in caught.value.hint


def test_fsspec_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    with pytest.raises(LitefuseError, match="fsspec") as caught:
        local("s3://b/x")
    assert "litefuse[cloud]" in caught.value.hint


def test_no_such_file_system() -> None:
    with pytest.raises(LitefuseError, match="unknown file system nonesuch://"):
        local("nonesuch://b/x")


def test_a_store_that_fails(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    url = put(store, "memory://b/x", b"x")

    def refused(*_: Any, **__: Any) -> None:
        raise RuntimeError("the token has expired")

    monkeypatch.setattr(kind(store), "get_file", refused)
    with pytest.raises(LitefuseError, match="cannot be read: RuntimeError: the token has expired"):
        local(url)


# The cache.


def test_the_cache_is_where_it_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cache_folder() == tmp_path / "cache" / "fetched"
    monkeypatch.delenv("LITEFUSE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    assert cache_folder().name == "fetched"
    assert cache_folder().parent.name == "litefuse"


def test_what_was_used_last_is_kept(store: Any) -> None:
    urls = [put(store, f"memory://b/{name}", b"12345") for name in "abc"]
    for number, url in enumerate(urls):
        facts = Path(local(url)).parents[1] / "entry.json"
        os.utime(facts, (number, number))
    local(urls[0])
    assert clear_cache(10) == 5
    assert [each.url for each in cached_entries()] == [urls[2], urls[0]]
    assert clear_cache(unused_for=1e6) == 5
    assert [each.url for each in cached_entries()] == [urls[0]]


def test_the_command(store: Any) -> None:
    local(put(store, "memory://b/x", b"12345"))
    code, out = run("doctor", "cache", "--json")
    assert (code, json.loads(out)["bytes"], json.loads(out)["entries"][0]["url"]) == (0, 5, "memory://b/x")
    assert run("doctor", "cache", "--keep", "1K")[0] == 2
    assert json.loads(run("doctor", "cache", "--clear", "--json")[1])["removed_bytes"] == 5
    assert cached_entries() == []


def test_a_cache_that_cannot_be_written(store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LITEFUSE_CACHE", str(tmp_path / "file"))
    with pytest.raises(LitefuseError, match="cannot be read: Not a directory"):
        local(put(store, "memory://b/x", b"x"))


# Outputs.


def test_an_output_is_uploaded_when_it_is_whole(store: Any) -> None:
    with saved_to("memory://b/x") as path:
        path.write_bytes(b"new")
        assert not store.exists("memory://b/x")
    assert store.cat_file("memory://b/x") == b"new"
    with pytest.raises(ZeroDivisionError), saved_to("memory://b/x") as path:
        path.write_bytes(b"%d" % (1 // len(b"")))
    assert store.cat_file("memory://b/x") == b"new"
    assert not path.parent.exists()


def test_an_upload_that_fails(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("this bucket is read-only")

    monkeypatch.setattr(kind(store), "put_file", refused)
    with pytest.raises(LitefuseError, match="this bucket is read-only"), saved_to("memory://b/x") as path:
        path.write_bytes(b"x")


@pytest.mark.parametrize("url", ["memory://b/", "memory://"])
def test_no_name_for_an_output(url: str) -> None:
    with pytest.raises(LitefuseError, match="folder"), saved_to(url):
        pass


# Functions and commands.


@pytest.fixture
def model(store: Any) -> str:
    store.put(f"{SAVED_MODEL}/", "memory://b/my_model/", recursive=True)
    return "memory://b/my_model"


def test_functions(store: Any, model: str) -> None:
    result = litefuse.convert(model)
    assert result.report.source == model
    assert result.save("memory://b/a.tflite").is_file()
    assert store.cat_file("memory://b/a.tflite") == result.model_bytes
    assert "serving_default" in litefuse.Interpreter("memory://b/a.tflite").get_signature_list()
    assert litefuse.diff("memory://b/a.tflite", result).verdict == "identical"
    quantized = litefuse.quantize("memory://b/a.tflite", litefuse.Quantization("weights", min_weight_elements=0))
    quantized.save("memory://b/q.tflite")
    assert len(store.cat_file("memory://b/q.tflite")) == len(quantized.model_bytes)
    assert litefuse.check("memory://b/a.tflite", "cpu").model == "memory://b/a.tflite"
    litefuse.save_report("memory://b/a.html", "memory://b/a.tflite", model)
    assert b"memory://b/my_model" in store.cat_file("memory://b/a.html")


def test_folders_that_have_to_be_here(model: str) -> None:
    for arguments in ({"debug": "memory://b/ir"}, {"limits": {"temporary_folder": "memory://b"}}):
        with pytest.raises(LitefuseError, match="must be local"):
            litefuse.convert(model, **arguments)  # pyright: ignore[reportArgumentType]
    with pytest.raises(LitefuseError, match="must be local"):
        litefuse.export_micro(b"", "memory://b/app")


KERNEL = """
import litefuse
from litefuse.tools.demo.check import MyCustomFusedOp
litefuse.custom_op("my_custom_fused_op")(type("Kernel", (MyCustomFusedOp,), {}))
"""


def test_commands(store: Any, model: str, tmp_path: Path) -> None:
    url = "memory://b/o/x.tflite"
    code, out = run("convert", model, "-o", url, "--html", "memory://b/o/x.html")
    assert code == 0, out
    assert f"Converted {model} to {url}" in out
    assert "/tmp" not in out
    assert str(tmp_path) not in out
    assert run("inspect", url)[1].startswith(url)
    np.savez(tmp_path / "in.npz", image=np.ones((1, 8, 8, 3), np.float32))
    store.put_file(str(tmp_path / "in.npz"), "memory://b/in.npz")
    (tmp_path / "kernel.py").write_text(KERNEL)
    given = ["--signature", "serving_default", "--kernels", tmp_path / "kernel.py"]
    code, out = run("run", url, "--inputs", "memory://b/in.npz", *given, "-o", "memory://b/o/y.npz")
    assert code == 0, out
    assert "Outputs written to memory://b/o/y.npz" in out
    code, out = run("verify", url, url, *given, "--json")
    assert (code, json.loads(out)["model"]) == (0, url)
    assert run("diff", url, url)[0] == 0
    code, out = run("quantize", url, "-o", "memory://b/o/q.tflite", "--quantize", "weights", "--json")
    assert code == 0, out
    assert run("report", url, model, "-o", "memory://b/o/r.html", "--no-time", "--no-verify")[0] == 0
    found = sorted(each.removeprefix("/b/o/") for each in store.find("memory://b/o"))
    assert found == ["q.tflite", "r.html", "x.html", "x.tflite", "y.npz"]


def test_an_output_does_not_replace_what_it_is_made_from(store: Any, model: str) -> None:
    own = "variables/variables.index"
    code, out = run("convert", model, "-o", f"{model}/{own}")
    assert code == 1
    assert "it would replace what it is made from" in out
    assert store.cat_file(f"{model}/{own}") == (SAVED_MODEL / own).read_bytes()


def test_errors_name_the_url(store: Any) -> None:
    code, out = run("inspect", put(store, "memory://b/x.tflite", b"no model"))
    assert code == 1
    assert out.startswith("error: memory://b/x.tflite: ")
    code, out = run("verify", "memory://b/none", "memory://b/x.tflite", "--json")
    assert code == 4
    assert '"where": "memory://b/none"' in out


def test_a_failed_upload_is_the_only_json(store: Any, model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any, **__: Any) -> None:
        raise PermissionError("this bucket is read-only")

    monkeypatch.setattr(kind(store), "put_file", refused)
    result = CliRunner().invoke(app, ["convert", model, "-o", "memory://b/x.tflite", "--json"])
    assert result.exit_code == 1
    assert "read-only" in json.loads(result.stdout)["error"]["message"]
