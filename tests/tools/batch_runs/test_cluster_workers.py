"""Clusters whose workers, scheduler or client are missing, wrong, late or killed, in processes of their own."""

from __future__ import annotations

import importlib
import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import litefuse
import litefuse.tools.batch_runs.cluster as cluster_module
from litefuse.errors import LitefuseError
from litefuse.tools.batch_runs.outcome import Outcome
from litefuse.version import __version__
from tests.tools.batch_runs.models import DEMO, dense_models, fault, processes_of

SECONDS = 120.0
WORD = "LITEFUSE_TEST_CLUSTER"
# A worker as `dask worker` starts it, in this process and without processes of Dask's own.
WORKER = "from distributed.cli.dask_worker import main; main()"
SCHEDULER = "from distributed.cli.dask_scheduler import main; main()"
# One in an environment without litefuse.
BARE = f"""
import sys
class Without:
    def find_spec(self, name, *_):
        if name == "litefuse":
            raise ModuleNotFoundError("No module named litefuse", name=name)
sys.meta_path.insert(0, Without())
{WORKER}
"""


class Cluster:
    """A scheduler and workers, each a process; none of them shares modules with this one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.word = f"{WORD}={folder.name}-{os.getpid()}"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        self._file = folder / "scheduler.json"
        self.scheduler = self._begun(SCHEDULER, "--port", "0", "--no-dashboard", "--host", "127.0.0.1")
        until(lambda: self._file.exists() and self._file.read_text().rstrip().endswith("}"))
        self.address = str(json.loads(self._file.read_text())["address"])

    def worker(self, program: str = WORKER, path: Path | None = None) -> subprocess.Popen[bytes]:
        """Starts a worker; returns its process."""
        before = os.environ.get("PYTHONPATH", "")
        environment = {} if path is None else {"PYTHONPATH": os.pathsep.join([str(path), before])}
        return self._begun(program, "--no-nanny", "--nthreads", "1", "--no-dashboard", environment=environment)

    def wait(self, count: int) -> None:
        """Waits for so many workers."""
        distributed = importlib.import_module("distributed")
        with distributed.Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=SECONDS)

    def environment(self) -> dict[str, str]:
        """The environment of what is started here."""
        return {**os.environ, WORD: self.word.partition("=")[2], "TMPDIR": str(self.temporary)}

    def _begun(
        self, program: str, *options: str, environment: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-c", program, "--scheduler-file", str(self._file), *options],
            env={**self.environment(), **(environment or {})},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    for process in processes_of(made.word):
        os.kill(process, signal.SIGKILL)


@pytest.fixture
def older(tmp_path: Path) -> Path:
    """A folder with another version of litefuse."""
    folder = tmp_path / "older/litefuse"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "version.py").write_text('__version__ = "0.1.0"\n')
    return folder.parent


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def running(cluster: Cluster, models: list[Any], folder: Path, lease: float) -> subprocess.Popen[str]:
    """Starts a batch in a process of its own, which is none of the cluster's."""
    program = (
        "import litefuse, litefuse.tools.batch_runs.cluster as cluster\n"
        f"cluster._LEASE = {lease}\n"
        f"print(litefuse.batch({models!r}, output={str(folder)!r}, scheduler={cluster.address!r}))"
    )
    return subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")


def test_wrong_workers_are_told(
    cluster: Cluster, older: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    models = dense_models(tmp_path / "models", 2)
    with pytest.raises(LitefuseError, match="the cluster has no workers"):
        litefuse.batch(models, output=tmp_path / "out", scheduler=cluster.address)
    cluster.worker(BARE)
    cluster.worker(path=older)
    cluster.wait(2)
    with pytest.raises(LitefuseError, match="no worker of the cluster can do it") as caught:
        litefuse.batch(models, output=tmp_path / "out", scheduler=cluster.address)
    assert "litefuse is not installed" in caught.value.message
    assert f"it has litefuse 0.1.0, not {__version__}" in caught.value.message
    assert f"litefuse=={__version__}" in caught.value.hint
    assert not [*(tmp_path / "out/records").iterdir()]
    cluster.worker()
    cluster.wait(3)
    with caplog.at_level(logging.WARNING, "litefuse"):
        assert litefuse.batch(models, output=tmp_path / "out", scheduler=cluster.address).ok
    told = [vars(record) for record in caplog.records]
    assert sorted(record["reason"] for record in told if record.get("event") == "worker left out") == [
        f"it has litefuse 0.1.0, not {__version__}",
        "litefuse is not installed",
    ]


def hanging(folder: Path) -> dict[str, Any]:
    """A model that is converted for ever, and writes into a temporary folder first."""
    code = Path(fault(folder, "hangs"))
    code.write_text(
        code.read_text().replace(
            "while True",
            "from litefuse.support.files.temporary import make_temporary_folder\n"
            "        kept = make_temporary_folder(), make_temporary_folder(OUT)\n"
            "        open(OUT + '/hangs', 'w').close()\n"
            "        while True",
        )
        + f"\nOUT = {str(folder / 'out')!r}\n"
    )
    return {"path": DEMO, "name": "hangs", "plug_ins": [str(code)]}


def test_a_client_is_killed(cluster: Cluster, tmp_path: Path) -> None:
    cluster.worker()
    cluster.wait(1)
    before = len(processes_of(cluster.word))
    client = running(cluster, [*map(str, dense_models(tmp_path / "models", 1)), hanging(tmp_path)], tmp_path / "out", 2)
    until((tmp_path / "out/hangs").exists)
    assert len(processes_of(cluster.word)) > before
    client.kill()
    client.wait()
    until(lambda: len(processes_of(cluster.word)) == before)
    places = (cluster.temporary, tmp_path / "out")
    until(lambda: not [path for place in places for path in place.glob("*litefuse-*")])
    # The worker goes on with others.
    (tmp_path / "hangs.py").write_text("")
    result = litefuse.batch([hanging(tmp_path) | {"plug_ins": []}], output=tmp_path / "out", scheduler=cluster.address)
    assert result.ok


def test_workers_come_and_go(cluster: Cluster, older: Path, tmp_path: Path) -> None:
    good = cluster.worker()
    cluster.wait(1)
    *first, last = dense_models(tmp_path / "models", 3)
    models = [*first, hanging(tmp_path), {"path": last, "timeout": 2}]
    outcomes: dict[str, Outcome] = {}

    def on_outcome(outcome: Outcome) -> None:
        outcomes[outcome.name] = outcome

    options = {"output": tmp_path / "out", "scheduler": cluster.address, "on_outcome": on_outcome}
    batch = threading.Thread(target=litefuse.batch, args=[models], kwargs=options, daemon=True)
    batch.start()
    until(lambda: len(outcomes) == 2 and (tmp_path / "out/hangs").exists())
    cluster.worker(BARE)
    cluster.worker(path=older)
    cluster.wait(3)
    good.kill()
    until(lambda: len(outcomes) == 3)
    assert [outcomes[f"dense00{number}"].status for number in range(3)] == ["done", "done", "timeout"]
    assert "waiting for a worker" in outcomes["dense002"].message
    (tmp_path / "hangs.py").write_text("")
    cluster.worker()
    batch.join(SECONDS)
    assert outcomes["hangs"].status == "done"


def test_a_client_that_stands_still(cluster: Cluster, tmp_path: Path) -> None:
    cluster.worker()
    cluster.wait(1)
    model = hanging(tmp_path)
    client = running(cluster, [model], tmp_path / "out", 2)
    until((tmp_path / "out/hangs").exists)
    client.send_signal(signal.SIGSTOP)
    until(lambda: len(processes_of(cluster.word)) == 2)
    (tmp_path / "hangs.py").write_text("")
    client.send_signal(signal.SIGCONT)
    out, _ = client.communicate(timeout=SECONDS)
    assert "1 model: 1 done" in out


def test_the_scheduler_is_killed(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.tools.batch_runs.cluster._CONNECT", 2)
    monkeypatch.setattr("litefuse.tools.batch_runs.cluster._LEASE", 2)
    cluster.worker()
    cluster.wait(1)
    killed = threading.Thread(target=lambda: (until((tmp_path / "out/hangs").exists), cluster.scheduler.kill()))
    killed.start()
    with pytest.raises(LitefuseError, match="the connection to the scheduler was lost") as caught:
        litefuse.batch([hanging(tmp_path)], output=tmp_path / "out", scheduler=cluster.address)
    assert "does the rest" in caught.value.hint
    until(lambda: len(processes_of(cluster.word)) <= 1)


def test_other_versions_of_packages(cluster: Cluster, tmp_path: Path) -> None:
    for name in ("here", "there"):
        folder = tmp_path / f"{name}/litert_converter-{name}.dist-info"
        folder.mkdir(parents=True)
        (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: litert-converter\nVersion: 9.{len(name)}\n")
    cluster.worker(path=tmp_path / "there")
    cluster.worker(path=tmp_path / "there")
    cluster.worker(path=tmp_path / "here")
    cluster.wait(3)
    client = cluster_module.DaskCluster(cluster.address, 0, with_tensorflow=False)
    client.close()
    assert client.versions["litert-converter"] == "9.5"
    assert client.place.startswith("2 workers")


def test_a_model_that_ends_its_workers(cluster: Cluster, tmp_path: Path) -> None:
    """They are started again, as by Dask's nannies; the batch comes to an end all the same."""
    code = tmp_path / "ends.py"
    code.write_text("import os\nos.kill(os.getppid(), 9)\nwhile True: pass\n")
    worker = cluster.worker()
    cluster.wait(1)
    outcomes: list[Outcome] = []
    models = [{"path": DEMO, "name": "ends", "plug_ins": [str(code)]}]
    options: dict[str, Any] = {"scheduler": cluster.address, "on_outcome": outcomes.append}
    options["output"] = tmp_path / "out"
    batch = threading.Thread(target=litefuse.batch, args=[models], kwargs=options, daemon=True)
    batch.start()
    for _ in range(4):
        worker.wait(SECONDS)
        worker = cluster.worker()
    batch.join(SECONDS)
    assert [outcome.status for outcome in outcomes] == ["crashed"]
    assert "its workers were lost, 4 times" in outcomes[0].message
