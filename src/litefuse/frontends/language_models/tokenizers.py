"""Tokenizers as files that LiteRT-LM reads: SentencePiece, and Hugging Face's ``tokenizer.json``."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.support.files.readable import check_file, os_errors

#: The names of the files: of a model of SentencePiece, and of Hugging Face's JSON.
SENTENCE_PIECE, HUGGING_FACE = "tokenizer.spm", "tokenizer.json"
_GIVE = "Pass a file that LiteRT-LM reads: tokenizer='tokenizer.json' or 'tokenizer.model' (--tokenizer FILE)."


def write_tokenizer(tokenizer: Any, folder: Path) -> Path:
    """Writes a tokenizer of Keras Hub to a file in a folder, and returns that.

    Raises:
        LitefuseError: It is of a kind that LiteRT-LM does not have, or adds tokens of its own.
    """
    kinds: Any = sys.modules["keras_hub"].tokenizers
    kind = type(tokenizer).__name__
    if isinstance(tokenizer, kinds.SentencePieceTokenizer):
        if tokenizer.add_bos or tokenizer.add_eos:
            raise LitefuseError(f"the {kind} adds tokens of its own (add_bos, add_eos)", hint="Make it without these.")
        path = folder / SENTENCE_PIECE
        path.write_bytes(tokenizer.proto)
        return path
    if isinstance(tokenizer, kinds.BytePairTokenizer):
        # Keras Hub encodes with Hugging Face's tokenizer, whose JSON therefore encodes alike.
        tokenizer.token_to_id(next(iter(tokenizer.get_vocabulary())))  # makes it
        inner = getattr(tokenizer, "_tokenizer", None)
        if inner is None:
            raise LitefuseError(
                f"this release of Keras Hub encodes without the package tokenizers, so its {kind} cannot be written",
                hint=f"Install another one: pip install --upgrade keras-hub. {_GIVE}",
            )
        path = folder / HUGGING_FACE
        path.write_text(inner.to_str(), "utf-8")
        return path
    raise LitefuseError(f"LiteRT-LM has nothing like the model's {kind}", hint=_GIVE)


def take_tokenizer(file: Path, folder: Path) -> Path:
    """Copies a file of a tokenizer that a user gave, under the name that says what it is.

    Raises:
        LitefuseError: It cannot be read.
    """
    check_file(file)
    try:
        with os_errors("it cannot be read", file):
            with file.open("rb") as stream:
                is_json = stream.read(64).lstrip()[:1] == b"{"
            if is_json:
                json.loads(file.read_bytes())["model"]
            return Path(shutil.copyfile(file, folder / (HUGGING_FACE if is_json else SENTENCE_PIECE)))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise LitefuseError("this JSON is not of a tokenizer of Hugging Face", where=str(file), hint=_GIVE) from error
