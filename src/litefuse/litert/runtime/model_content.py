"""The file of a model, or its content, and the signature to run, as they are handed to the runtime."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_tables import IDENTIFIER
from litefuse.litert.runtime.soundness import check_soundness
from litefuse.support.cloud.paths import local
from litefuse.support.files.readable import MODEL_FILES, check_file, os_errors

# The runtime is given a path in UTF-8, with which it finds a file on Windows only if it is of ASCII.
_PATHS = "ascii" if sys.platform == "win32" else "utf-8"


def path_and_content(
    model: str | os.PathLike[str] | bytes | bytearray | memoryview | None,
    content: bytes | bytearray | memoryview | None = None,
) -> tuple[str | None, bytes | None]:
    """Distinguishes a path from a content, and rejects what the runtime reports badly.

    A model at a URL is fetched.
    """
    if isinstance(model, (bytes, bytearray, memoryview)) and content is None:
        model, content = None, model
    if content is not None and model is None:
        if len(content) == 0:
            raise InterpreterError("the model is empty", where="model content")
        return None, bytes(content)
    if content is not None or model is None or isinstance(model, (bytes, bytearray, memoryview)):
        raise InterpreterError("an interpreter needs either a path or a model's content")
    path = check_model(local(model))
    try:
        str(path).encode(_PATHS)
    except UnicodeEncodeError:  # the runtime does not take it as a path
        return None, path.read_bytes()
    return str(path), None


def chosen_signature(key: str | None, keys: Sequence[str], where: str) -> str:
    """Returns the key of the signature to run: the one that is named, or the only one.

    Raises:
        InterpreterError: No such signature, or there are several and none is named.
    """
    if key is None and len(keys) == 1:
        return keys[0]
    if key is None or key not in keys:
        wanted = "a signature must be named" if key is None else f"no signature {key!r}"
        raise InterpreterError(wanted, where=where, hint=f"The model has: {', '.join(keys) or 'none'}.")
    return key


def check_model(path: str | os.PathLike[str], options: str = "") -> Path:
    """Returns the path of a file that may be a model; ``options`` are those of litefuse convert for one that is not.

    Raises:
        InterpreterError: No such file, it cannot be opened, it is empty, or it does not begin as a model does.
    """
    checked = check_file(path, InterpreterError, folder=_conversion_hint(path, options))
    if checked.stat().st_size == 0:
        raise InterpreterError("the file is empty", where=str(checked))
    with os_errors("the file cannot be read", checked, InterpreterError), content_of(checked) as content:
        check_identifier(content, str(checked), options)
    return checked


def check_identifier(content: Any, where: str, options: str = "") -> None:
    """Raises an ``InterpreterError`` if content does not begin as a LiteRT model does."""
    if content[4:8] != IDENTIFIER:
        is_other = Path(where).suffix.lower() in MODEL_FILES
        hint = _conversion_hint(where, options) if is_other else "Is it a complete .tflite file?"
        raise InterpreterError("this is not a LiteRT model", where=where, hint=hint)


def _conversion_hint(model: str | os.PathLike[str], options: str) -> str:
    command = shlex.join(["litefuse", "convert", str(model), *options.split()])
    how = "(in Python, litefuse.convert) makes a LiteRT file of it"
    return f"{command} {how}; litefuse verify (litefuse.verify_model) compares the two."


def is_litert_model(path: Path) -> bool:
    """Whether the file has the identifier of LiteRT models."""
    try:
        with path.open("rb") as file:
            return file.read(8)[4:] == IDENTIFIER
    except OSError:
        return False


def check(path: str | None, content: bytes | None, where: str) -> bool:
    """Rejects models that would crash the runtime; returns whether the model has custom ops or composites."""
    if path is None:
        return check_soundness(content, where)
    with os_errors("the file cannot be read", where, InterpreterError), content_of(path) as data:
        return check_soundness(data, where)
