"""Language models as parts of a bundle: signatures and tokenizer; those in files are read in a process of their own."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, cast
from unittest.mock import patch

from litefuse.errors import LitefuseError
from litefuse.frontends.keras_code import custom_objects
from litefuse.frontends.keras_config import check_config, parse_config
from litefuse.frontends.keras_file import ENVIRONMENT, is_keras_file
from litefuse.frontends.keras_loader import import_keras, load_model
from litefuse.frontends.language_models.decoder import Decoder, write_decoder
from litefuse.frontends.language_models.keras_hub import decoder_of, default_context, is_causal_lm
from litefuse.frontends.language_models.tokenizers import take_tokenizer, write_tokenizer
from litefuse.frontends.writer import describe_error
from litefuse.support.files.readable import check_file, check_there
from litefuse.support.processes.process import run_alone

_HUB = "keras_hub"
_CONFIGS = ("config.json", "preprocessor.json", "task.json", "tokenizer.json")
_TRUST = (
    "Load the model in Python with keras_hub.models.CausalLM.from_preset, and pass it to litefuse.language_model()."
)
_CONTEXT = "Pass how many tokens of prompt and text together the model is to know: context=1024 (--context 1024)."


@dataclass(frozen=True)
class PartsJob:
    """The parts to write of a language model.

    Attributes:
        folder: The folder to write to.
        context: How many tokens it knows at once; None for its own choice.
        prefill: How many tokens of a prompt are taken at once.
        tokenizer: The file of its tokenizer; None for that of the model.
        path: The file or folder of the model; None for one in memory.
    """

    folder: Path
    context: int | None
    prefill: tuple[int, ...]
    tokenizer: Path | None
    path: Path | None = None


class Parts(NamedTuple):
    """The parts of a bundle that come from the model.

    Attributes:
        saved_model: The folder of a SavedModel with its signatures.
        tokenizer: The file of its tokenizer.
        context: How many tokens it knows at once.
        start: The tokens that stand before each prompt.
        stop: The tokens that end a text.
        name: Its name in reports.
    """

    saved_model: Path
    tokenizer: Path
    context: int
    start: tuple[int, ...]
    stop: tuple[int, ...]
    name: str


def write_parts(model: object, job: PartsJob, announce: Callable[[str], None]) -> Parts:
    """Writes the parts of a language model.

    Args:
        model: A ``CausalLM`` of Keras Hub or a :class:`Decoder`; or the path of a ``.keras`` file or a preset's folder.
        job: What to write.
        announce: Called with the name of each step at its start.

    Raises:
        LitefuseError: It is none of these, or cannot be written.
    """
    announce("export")
    if isinstance(model, str | os.PathLike):
        path = Path(os.fspath(cast("str", model))).absolute()
        check_there(path)
        return in_keras(write_parts_of_file, replace(job, path=path), path, announce)
    if is_causal_lm(model):
        causal_lm: Any = model
        return _write(decoder_of(causal_lm), job, default_context(causal_lm), causal_lm.preprocessor.tokenizer, "")
    if isinstance(model, Decoder):
        return _write(model, job, None, None, "decoder")
    raise LitefuseError(
        f"an object of type {type(model).__name__} is not a language model that litefuse takes",
        hint="Pass a CausalLM of Keras Hub, its .keras file or preset's folder, or a litefuse.Decoder.",
    )


def in_keras(function: Callable[[Any, Any], Any], job: Any, path: Path, announce: Callable[[str], None]) -> Any:
    """Runs a function of this package with a job in a process of its own, in which Keras runs on TensorFlow."""
    try:
        target = f"{function.__module__}:{function.__name__}"
        return run_alone(target, job, environment=ENVIRONMENT, imported="tensorflow", announce=announce)
    except LitefuseError as error:
        error.where = error.where or str(path)
        raise


def write_parts_of_file(job: PartsJob, announce: Callable[[str], None]) -> Parts:
    """Entry point of that process: writes the parts of a model in a file or a preset's folder."""
    assert job.path is not None
    announce("read")
    return write_parts(load_causal_lm(job.path), job, announce)._replace(name=str(job.path))


def load_causal_lm(path: Path) -> Any:
    """Loads a model of a ``.keras`` file or a preset's folder, in this process.

    As with all Keras files, no code in it is run: classes are those of Keras and Keras Hub.

    Raises:
        LitefuseError: A package is missing; it cannot be read, or has another model.
    """
    keras = import_keras("keras", str(path))
    if is_keras_file(path):
        check_file(path)
        _import_hub(path)
        with _zeros_at_first(keras):
            model = load_model(path, (_HUB,), with_assets=True)
    else:
        hub = _import_hub(path)
        if not (path / _CONFIGS[0]).is_file():
            raise LitefuseError("this is not a preset of Keras Hub: it lacks config.json", where=str(path))
        for name in _CONFIGS:
            if (path / name).is_file():
                config = parse_config((path / name).read_bytes(), str(path / name))
                check_config(config, str(path / name), _TRUST, custom_objects(keras, config, (_HUB,)))
        try:
            with _zeros_at_first(keras):
                model = hub.models.CausalLM.from_preset(str(path))
        except Exception as error:  # Keras's readers and layers raise any exception
            raise LitefuseError(
                f"Keras Hub cannot load the preset: {describe_error(error)}", where=str(path)
            ) from error
    if not is_causal_lm(model):
        raise LitefuseError(f"it holds a {type(model).__name__}, not a CausalLM of Keras Hub", where=str(path))
    return model


@contextmanager
def _zeros_at_first(keras: Any) -> Generator[None]:
    """Draws no random numbers for the weights that are about to be loaded: for a billion of them, ten seconds' work."""
    zeros = keras.initializers.Zeros()

    def initial(_: Any, shape: Any, dtype: Any = None, **__: Any) -> Any:
        return zeros(shape, dtype)

    names = ("RandomNormal", "RandomUniform", "TruncatedNormal", "VarianceScaling")
    with ExitStack() as stack:
        for name in names:
            stack.enter_context(patch.object(getattr(keras.initializers, name), "__call__", initial))
        yield


def _import_hub(path: Path) -> Any:
    import_keras("keras", str(path))
    try:
        return importlib.import_module(_HUB)
    except ImportError as error:
        raise LitefuseError(
            f"reading it requires Keras Hub, which cannot be imported: {describe_error(error)}",
            where=str(path),
            hint="pip install keras-hub",
        ) from error


def _write(decoder: Decoder, job: PartsJob, own_context: int | None, tokenizer: Any, name: str) -> Parts:
    if job.tokenizer is None and tokenizer is None:
        raise LitefuseError("the decoder has no tokenizer", hint="Pass its file: tokenizer='tokenizer.json'.")
    context, rows = _lengths(job, own_context, decoder.max_positions)
    file = (
        write_tokenizer(tokenizer, job.folder) if job.tokenizer is None else take_tokenizer(job.tokenizer, job.folder)
    )
    folder = job.folder / "saved_model"
    write_decoder(decoder, rows, job.prefill, folder)
    return Parts(folder, file, context, tuple(decoder.start), tuple(decoder.stop), name)


def _lengths(job: PartsJob, own_context: int | None, positions: int | None) -> tuple[int, int]:
    """Returns the context, and the rows of caches.

    A chunk of a prompt is written as a whole, also where it is filled up: so a cache has as many rows more as the last
    chunk may have beyond the context. Otherwise it would be written too early, over rows that are in use.
    """
    more = max(job.prefill) - 1
    context = job.context or own_context
    if positions is not None:
        most = positions - more
        if (job.context is not None and job.context > most) or most < 2:
            raise LitefuseError(
                f"the model knows {positions:,} positions: with chunks of {max(job.prefill):,} tokens, the context is "
                f"at most {max(most, 0):,}",
                hint="Choose a smaller context, or smaller chunks: prefill=32 (--prefill 32).",
            )
        context = most if context is None else min(context, most)
    if context is None:
        raise LitefuseError("the model does not say how long its texts are", hint=_CONTEXT)
    return context, context + more
