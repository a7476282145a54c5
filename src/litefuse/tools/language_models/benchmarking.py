"""How fast LiteRT-LM's engine reads prompts and writes texts."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import InterpreterError
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.report.sections import Section, count_of, time_text
from litefuse.tools.benchmarking.benchmark_sections import machine_rows
from litefuse.tools.benchmarking.calls import Resident, growth
from litefuse.tools.benchmarking.measurement import Benchmark, Input, Latency, Measurement, Memory
from litefuse.tools.environment.machine import cores, processor, versions
from litefuse.tools.language_models.bundle import read_bundle
from litefuse.tools.language_models.engine import engine_package, in_engine

# The tokens of a prompt and those written behind it; of these, at least as many in a short context.
_PROMPT, _WRITTEN, _LEAST = 128, 64, 16


class _Runs(NamedTuple):
    bundle: Path
    prompt: int
    written: int
    threads: int
    repeat: int
    seconds: float


def benchmark_bundle(path: Path, *, threads: int, repeat: int, seconds: float) -> Benchmark:
    """Measures the engine with a bundle: the time of a prompt as ``prefill``, and of a token behind it as ``decode``.

    A first run, which packs the weights, does not count. Then come at most ``repeat`` runs within so many seconds.

    Raises:
        LitefuseError: It cannot be read or run, or a package is missing.
    """
    context = read_bundle(path).context
    prompt = max(1, min(_PROMPT, context - _LEAST - 1))
    written = max(1, min(_WRITTEN, context - prompt - 1))
    return in_engine(measure_engine, _Runs(path.absolute(), prompt, written, threads, repeat, seconds), path)


def measure_engine(job: _Runs, announce: Callable[[str], None]) -> Benchmark:
    """Entry point of the engine's process."""
    package = engine_package()
    announce("measure")
    runs: list[Any] = []
    before, begun = Resident.now(reset=True), time.perf_counter()
    with make_temporary_folder() as cache:
        backend = package.Backend.CPU(thread_count=job.threads)
        runner = package.Benchmark(str(job.bundle), backend, job.prompt, job.written, cache_dir=cache)
        while len(runs) < 2 or (len(runs) <= job.repeat and time.perf_counter() - begun < job.seconds):
            begun = time.perf_counter() if len(runs) == 1 else begun
            try:
                runs.append(runner.run())
            except RuntimeError as error:
                raise InterpreterError(f"LiteRT-LM's engine refuses it: {error}", where=str(job.bundle)) from error
    after, cold = Resident.now(), runs.pop(0)
    memory = Memory(job.bundle.stat().st_size, growth(before.total, after.peak), growth(before.private, after.private))

    def measured(key: str, length: int, times: Callable[[Any], float], note: str) -> Measurement:
        known = job.threads, True, cold.init_time_in_second, times(cold), Latency.of([*map(times, runs)]), memory
        inputs = (Input("tokens", "int32", (1, length)),)
        return Measurement(str(job.bundle), key, inputs, True, *known, notes=(note,))

    first_token = time_text(Latency.of([run.time_to_first_token_in_second for run in runs]).p50)
    parts = (
        measured(
            "prefill",
            job.prompt,
            lambda run: run.last_prefill_token_count / run.last_prefill_tokens_per_second,
            f"the first token comes after {first_token}",
        ),
        measured(
            "decode",
            1,
            lambda run: 1 / run.last_decode_tokens_per_second,
            f"the mean of {cold.last_decode_token_count:,} tokens",
        ),
    )
    return Benchmark(parts, cpu=processor(), cores=cores(), versions=versions())


def language_sections(benchmark: Benchmark) -> list[Section]:
    """Returns the section of a benchmark of a bundle."""
    prefill, decode = benchmark.measurements
    count, peak, runs = prefill.inputs[0].shape[1], decode.memory.peak, count_of(decode.warm.count, "run")
    rows = [
        ("prefill", f"{time_text(prefill.seconds)} for {count_of(count, 'token')}; {prefill.notes[0]}"),
        ("decode", f"{time_text(decode.seconds)} a token, {decode.notes[0]}; medians of {runs}"),
        ("load", time_text(decode.load)),
        *([] if peak is None else [("memory", f"{count_of(peak, 'byte')} at most")]),
        *machine_rows(benchmark),
    ]
    return [Section(f"Reads {count / prefill.seconds:,.0f} tokens a second, writes {1 / decode.seconds:,.0f}", rows)]
