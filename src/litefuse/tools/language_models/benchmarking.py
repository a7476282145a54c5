"""How fast LiteRT-LM's engine reads prompts and writes texts."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import InterpreterError
from litefuse.support.report.sections import Section, count_of, time_text
from litefuse.tools.benchmarking.benchmark_sections import machine_rows
from litefuse.tools.benchmarking.calls import Resident, growth
from litefuse.tools.benchmarking.measurement import Benchmark, Input, Latency, Measurement, Memory
from litefuse.tools.environment.machine import cores, processor, versions
from litefuse.tools.language_models.bundle import read_bundle
from litefuse.tools.language_models.engine import engine_package, in_engine

# How many tokens are written; at least so many where the context has space for few.
_WRITTEN, _LEAST = 64, 16


class _Runs(NamedTuple):
    """Runs of the engine: a prompt of so many tokens in chunks of a signature, and tokens behind it."""

    bundle: Path
    signature: str
    prompt: int
    written: int
    threads: int
    repeat: int
    seconds: float


def benchmark_bundle(path: Path, *, threads: int, repeat: int, seconds: float) -> Benchmark:
    """Measures the engine with a bundle: prompts that fill the largest ``prefill`` signature, and the tokens behind.

    A first run, which packs the weights, does not count. The measurement of the ``prefill`` signature has the time of
    a prompt, that of ``decode`` the time of a token: the mean of each run.

    Args:
        path: The bundle.
        threads: How many threads the engine uses.
        repeat: The largest number of runs.
        seconds: How long they may take.

    Raises:
        LitefuseError: It cannot be read or run, or a package is missing.
    """
    bundle = read_bundle(path)
    with bundle.opened() as model:
        chunk = model.chunk
    prompt = max(1, min(chunk, bundle.context - _LEAST - 1))
    written = max(1, min(_WRITTEN, bundle.context - prompt - 1))
    job = _Runs(path.absolute(), f"prefill_{chunk}", prompt, written, threads, repeat, seconds)
    return in_engine(measure_engine, job, path)


def measure_engine(job: _Runs, announce: Callable[[str], None]) -> Benchmark:
    """Entry point of the engine's process."""
    package = engine_package()
    announce("measure")
    before, runs, begun = Resident.now(reset=True), [], time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="litefuse-") as cache:
        runner = package.Benchmark(
            str(job.bundle),
            package.Backend.CPU(thread_count=job.threads),
            prefill_tokens=job.prompt,
            decode_tokens=job.written,
            cache_dir=cache,
        )
        while len(runs) < 2 or (len(runs) <= job.repeat and time.perf_counter() - begun < job.seconds):
            try:
                runs.append(runner.run())
            except RuntimeError as error:
                raise InterpreterError(f"LiteRT-LM's engine refuses it: {error}", where=str(job.bundle)) from error
            if len(runs) == 1:
                begun = time.perf_counter()
    after, first = Resident.now(), runs.pop(0)
    memory = Memory(job.bundle.stat().st_size, growth(before.total, after.peak), growth(before.private, after.private))
    first_token = Latency.of([run.time_to_first_token_in_second for run in runs]).p50

    def measured(key: str, length: int, times: Callable[[Any], float], note: str) -> Measurement:
        known = job.threads, True, first.init_time_in_second, times(first), Latency.of([*map(times, runs)]), memory
        inputs = (Input("tokens", "int32", (1, length)),)
        return Measurement(str(job.bundle), key, inputs, True, *known, notes=(note,))

    prefill = measured(
        job.signature,
        job.prompt,
        lambda run: run.last_prefill_token_count / run.last_prefill_tokens_per_second,
        f"the first token comes after {time_text(first_token)}",
    )
    note = f"the mean of {first.last_decode_token_count:,} tokens"
    decode = measured("decode", 1, lambda run: 1 / run.last_decode_tokens_per_second, note)
    return Benchmark((prefill, decode), cpu=processor(), cores=cores(), versions=versions())


def language_sections(benchmark: Benchmark) -> list[Section]:
    """Returns the section of a benchmark of a bundle."""
    prefill, decode = benchmark.measurements
    count, peak = prefill.inputs[0].shape[1], decode.memory.peak
    rows = [
        ("prefill", f"{time_text(prefill.seconds)} for {count_of(count, 'token')}; {prefill.notes[0]}"),
        (
            "decode",
            f"{time_text(decode.seconds)} a token, {decode.notes[0]}; medians of {count_of(decode.warm.count, 'run')}",
        ),
        ("load", time_text(decode.load)),
        *([] if peak is None else [("memory", f"{count_of(peak, 'byte')} at most")]),
        *machine_rows(benchmark),
    ]
    return [Section(f"Reads {count / prefill.seconds:,.0f} tokens a second, writes {1 / decode.seconds:,.0f}", rows)]
