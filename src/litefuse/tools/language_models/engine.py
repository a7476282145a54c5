"""Texts that LiteRT-LM's engine writes, in a process of its own."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from litefuse.errors import EngineCrashError, InterpreterError, LitefuseError
from litefuse.frontends.writer import describe_error
from litefuse.support.files.temporary import make_temporary_folder
from litefuse.support.processes.process import run_alone
from litefuse.tools.language_models.bundle import INSTALL, read_bundle


@dataclass(frozen=True)
class EngineJob:
    """Questions to the engine.

    Attributes:
        bundle: The file of the bundle.
        prompts: The prompts to write behind, greedily and without the template of conversations.
        texts: The texts to encode.
        tokens: The tokens to decode.
        enough: How many tokens to write behind each prompt at most; None: to the end.
    """

    bundle: Path
    prompts: Sequence[str] = ()
    texts: Sequence[str] = ()
    tokens: Sequence[Sequence[int]] = ()
    enough: int | None = None


class Answers(NamedTuple):
    """The engine's answers.

    Attributes:
        written: The text behind each prompt.
        seconds: The time that each took.
        encoded: The tokens of each text.
        decoded: The text of each sequence of tokens.
    """

    written: list[str]
    seconds: list[float]
    encoded: list[list[int]]
    decoded: list[str]


def ask_engine(job: EngineJob) -> Answers:
    """Asks LiteRT-LM's engine, on the CPU.

    Raises:
        LitefuseError: The package litert-lm is missing, or the engine does not take the bundle or a prompt.
    """
    return in_engine(answer, job, job.bundle)


def in_engine(function: Callable[[Any, Any], Any], job: Any, bundle: Path) -> Any:
    """Runs a function of this package with a job in a process of its own, as the engine may die."""
    try:
        return run_alone(f"{function.__module__}:{function.__name__}", job, environment={"GLOG_minloglevel": "3"})
    except EngineCrashError as error:
        raise LitefuseError(f"LiteRT-LM's engine died: {error.message}", where=str(bundle)) from error


def engine_package() -> Any:
    """Imports litert-lm, and makes it quiet.

    Raises:
        LitefuseError: It is missing.
    """
    try:
        package: Any = importlib.import_module("litert_lm")
    except (ImportError, OSError) as error:
        raise LitefuseError(f"LiteRT-LM's engine needs litert-lm: {describe_error(error)}", hint=INSTALL) from error
    package.set_min_log_severity(package.LogSeverity.FATAL)
    return package


def answer(job: EngineJob, announce: Callable[[str], None]) -> Answers:
    """Entry point of the engine's process."""
    package = engine_package()
    announce("load the model")
    greedy = package.SamplerConfig(top_k=1, top_p=1.0, temperature=1.0, seed=0)
    answers, refused, context = Answers([], [], [], []), "", read_bundle(job.bundle).context
    # The engine keeps what it compiles in a folder: not beside the user's file.
    with make_temporary_folder() as cache:
        try:
            with package.Engine(str(job.bundle), backend=package.Backend.CPU(), cache_dir=cache) as engine:
                announce("run the model")
                for prompt in job.prompts:
                    begun = time.perf_counter()
                    with engine.create_session(
                        apply_prompt_template=False, sampler_config=greedy, max_output_tokens=job.enough
                    ) as session:
                        refused = f"a prompt of {len(engine.tokenize(prompt)):,} tokens in a context of {context:,}: "
                        session.run_prefill([prompt])
                        refused = ""
                        answers.written.append("".join(session.run_decode().texts))
                    answers.seconds.append(time.perf_counter() - begun)
                answers.encoded.extend(list(engine.tokenize(text)) for text in job.texts)
                answers.decoded.extend(engine.detokenize(list(tokens)) for tokens in job.tokens)
        except RuntimeError as error:
            raise InterpreterError(
                f"LiteRT-LM's engine refuses {refused or 'it: '}{error}", where=str(job.bundle)
            ) from error
    return answers
