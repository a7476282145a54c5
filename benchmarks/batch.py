"""Batches: how much faster two processes are, what models at fault do to others, and the memory of the command.

``python benchmarks/batch.py MODELS.toml OUTPUT JOBS ANSWER.json [cluster]`` does one batch in this process.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.append(str(Path(__file__).parents[1]))  # the builders of small models are those of the tests

from document import paragraph, table

MODELS = 200
MANY = 500
VERIFIED = 20
TIMEOUT, MEMORY = 60, "2G"
# A hang takes as long as its limit.
HANG = 15
_FAULTS = ("hangs", "crashes", "eats memory", "raises")


def measure_batches(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """Does the batches, each in a process of its own."""
    place = folder / "batch"
    place.mkdir(parents=True, exist_ok=True)
    plain = _models_file(place, "plain", MODELS, faults=False)
    at_fault = _models_file(place, "faults", MODELS, faults=True)
    many = _models_file(place, "many", MANY, faults=True)
    verified = _models_file(place, "verified", VERIFIED, faults=False, more="verify = { calls = 1 }")
    rows: list[dict[str, Any]] = []
    for _ in range(repeats):
        rows += [_batch("plain", plain, place, jobs) for jobs in (1, 2)]
    rows.append(_batch("faults", at_fault, place, 2))
    rows.append(_batch("faults", at_fault, place, 2, cluster=True))
    rows.append(_batch("many", many, place, 2))
    rows.append(_batch("verified", verified, place, 1))
    return rows


def _models_file(place: Path, name: str, count: int, *, faults: bool, more: str = "") -> Path:
    models = importlib.import_module("tests.tools.batch_runs.models")
    paths = models.dense_models(place / f"{name}_models", count - (len(_FAULTS) if faults else 0))
    lines = ["[defaults]", f"timeout = {TIMEOUT}", f'memory = "{MEMORY}"' if faults else "", more]
    entries = [["[[model]]", f"path = {json.dumps(str(each))}"] for each in paths]
    for number, kind in enumerate(_FAULTS if faults else ()):
        code = models.fault(place, kind)
        entry = ["[[model]]", f"name = '{kind}'", f"path = {json.dumps(models.DEMO)}", f"plug_ins = {[code]}"]
        # Among the others, not side by side.
        entries.insert((number + 1) * count // 5, [*entry, f"timeout = {HANG}"])
    path = place / f"{name}.toml"
    path.write_text("\n".join([*lines, *(line for entry in entries for line in entry)]) + "\n")
    return path


def _batch(kind: str, models: Path, place: Path, jobs: int, *, cluster: bool = False) -> dict[str, Any]:
    output, answer = place / "out", place / "answer.json"
    subprocess.run(["rm", "-rf", str(output)], check=True)
    arguments = [str(models), str(output), str(jobs), str(answer), *(["cluster"] if cluster else [])]
    subprocess.run([sys.executable, __file__, *arguments], check=True, stdout=subprocess.DEVNULL)
    row: dict[str, Any] = {"kind": kind, "jobs": jobs, "cluster": cluster, **json.loads(answer.read_text())}
    print(f"  {kind}, {jobs} jobs{', Dask' if cluster else ''}: {row['seconds']:.1f} s", file=sys.stderr, flush=True)
    return row


def _done(models: str, output: str, jobs: str, answer: str, *where: str) -> None:
    """Does one batch here, and writes what it took."""
    import litefuse

    _adopt()
    options: dict[str, Any] = {"jobs": int(jobs)}
    cluster: Any = None
    if where:
        distributed = importlib.import_module("distributed")
        cluster = distributed.LocalCluster(n_workers=int(jobs), threads_per_worker=1, dashboard_address=":0")
        options = {"scheduler": cluster.scheduler_address}
    begun = time.perf_counter()
    result = litefuse.batch(models, output=output, **options)
    seconds = time.perf_counter() - begun
    if cluster is not None:
        cluster.close()
    cpu = None if cluster is not None else _cpu_seconds()  # processes of the cluster's stay
    again = {} if cluster is not None else {"again": _again(models, output, options)}
    steps = [[each.step, each.status, each.seconds] for outcome in result.outcomes for each in outcome.steps]
    table_of_outcomes = [[each.name, each.status, each.attempts] for each in result.outcomes]
    told = {
        "models": len(result.outcomes),
        "seconds": seconds,
        "cpu": cpu,
        "peak": _peak_bytes(),
        "counts": dict(Counter(each.status for each in result.outcomes)),
        "table": hashlib.sha256(json.dumps(table_of_outcomes).encode()).hexdigest(),
        "verify": [took for step, status, took in steps if step == "verify" and status == "done"],
        **again,
    }
    Path(answer).write_text(json.dumps(told))


def _adopt() -> None:
    """Has this process become the parent of all processes below it whose own parents end, to learn their times."""
    become_subreaper = 36
    ctypes.CDLL(None).prctl(become_subreaper, 1)


def _cpu_seconds() -> float:
    """Processor time of this process and of all that it started, which have ended."""
    try:
        while True:
            os.waitpid(-1, 0)
    except ChildProcessError:
        return sum(os.times()[:4])


def _again(models: str, output: str, options: dict[str, Any]) -> float:
    """Returns the seconds of a second run in which nothing is to be done but what failed."""
    import litefuse

    begun = time.perf_counter()
    litefuse.batch(models, output=output, **options)
    return time.perf_counter() - begun


def _peak_bytes() -> int:
    """The largest resident memory that this process ever had; Linux."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))


def document(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The results in Markdown."""
    heads = ["Batch", "where", "outcomes", "time", "processor time of a model", "memory of the command"]
    cells = [
        [
            _NAMES[row["kind"]].format(row["models"]),
            f"a Dask cluster of {row['jobs']} workers" if row["cluster"] else _processes(row["jobs"]),
            ", ".join(f"{count} {status}" for status, count in row["counts"].items()),
            f"{row['seconds']:.1f} s",
            "" if row["cpu"] is None else f"{row['cpu'] / row['models']:.2f} s",
            f"{row['peak'] / 1e6:.0f} MB",
        ]
        for row in rows
    ]
    return [*paragraph(_ABOUT), *table(heads, cells, text=3), "", *paragraph(_found(rows))[:-1]]


def _processes(jobs: int) -> str:
    return f"{jobs} process{'es' if jobs > 1 else ''}"


def _found(rows: Sequence[dict[str, Any]]) -> str:
    plain = {jobs: [each for each in rows if each["kind"] == "plain" and each["jobs"] == jobs] for jobs in (1, 2)}
    ratios = [one["seconds"] / two["seconds"] for one, two in zip(plain[1], plain[2], strict=True)]
    whole = sum(each["seconds"] for each in plain[1]) / sum(each["seconds"] for each in plain[2])
    cpu = [2 * one["cpu"] / two["cpu"] for one, two in zip(plain[1], plain[2], strict=True)]
    faults = [each["table"] for each in rows if each["kind"] == "faults"]
    texts = [
        f"Two processes are {whole:.2f} times as fast as one, {_range(ratios)} times in pairs of runs.",
        f"By processor time, they are {_range(cpu)} times as fast.",
        f"The outcomes on processes and on the cluster are {'the same' if faults[0] == faults[1] else 'NOT the same'}.",
    ]
    for row in rows:
        if row["kind"] == "verified" and row["verify"]:
            others = row["verify"][1:]
            texts.append(
                f"The first verification takes {row['verify'][0]:.1f} s, including the start of TensorFlow; the others "
                f"take {sum(others) / len(others):.1f} s each."
            )
    return " ".join(texts)


def _range(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


_NAMES = {
    "plain": "{} models",
    "faults": "{} models, four of them faulty",
    "many": "{} models, four of them faulty",
    "verified": "{} models, each verified in TensorFlow",
}
_ABOUT = """
`litefuse.batch` on one-layer models with different weights. The time covers everything: hashing, converting, calling
the file, writing it and the record. Of the faulty models, one has conversion code that never ends, one dereferences a
null pointer, one allocates memory without end, and one raises an error. The processor time is that of all processes.
The memory is the largest resident memory of the process in which the batch was started; on the cluster, that includes
the scheduler.
"""

if __name__ == "__main__":
    _done(*sys.argv[1:])
