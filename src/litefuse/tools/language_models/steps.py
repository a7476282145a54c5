"""The model of a bundle, called in LiteRT as LiteRT-LM's engine calls it; in a process of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.interpreter import Interpreter

_PREFILL = "prefill_"


class ForcedPrompt(NamedTuple):
    """A prompt, and the tokens behind it.

    Attributes:
        tokens: Its tokens.
        written: The tokens behind it.
        ends: The tokens that end a text.
        logits: The file of the logits that are expected.
    """

    tokens: Sequence[int]
    written: Sequence[int]
    ends: Sequence[int]
    logits: Path


class ComparedPrompt(NamedTuple):
    """The answer of a bundle's model to a prompt.

    Attributes:
        error: The largest difference of logits, relative to the largest expected one.
        equal: How many of the tokens behind it are those that the model expects most.
        written: The tokens that the model writes itself, greedily; at most as many as are expected.
        ended: Whether it ends the text behind them.
    """

    error: float
    equal: int
    written: tuple[int, ...]
    ended: bool


def compare_steps(job: tuple[Path, Sequence[ForcedPrompt]], announce: Callable[[str], None]) -> list[ComparedPrompt]:
    """Entry point of that process: compares the logits of a model after each prompt."""
    announce("run the model")
    model = _Model(job[0])
    compared: list[ComparedPrompt] = []
    for prompt in job[1]:
        expected: npt.NDArray[np.float32] = np.load(prompt.logits)
        model.take(prompt.tokens[:-1])
        error, equal = 0.0, 0
        for place, (token, wanted) in enumerate(zip((prompt.tokens[-1], *prompt.written), expected, strict=False)):
            logits = model.step(token)
            if logits.shape != wanted.shape:
                raise LitefuseError(f"the bundle has {logits.size:,} logits, and the model {wanted.size:,}")
            error = max(error, float(np.max(np.abs(logits - wanted)) / max(float(np.max(np.abs(wanted))), 1e-30)))
            error = error if np.all(np.isfinite(logits)) else float("inf")
            equal += place < len(prompt.written) and int(np.argmax(logits)) == prompt.written[place]
        compared.append(ComparedPrompt(error, equal, *model.write(prompt)))
    return compared


class _Model:
    """The model, with its caches and how many tokens are in them."""

    def __init__(self, path: Path) -> None:
        self._interpreter = Interpreter(str(path))
        keys = self._interpreter.get_signature_list()
        lengths = [int(key.removeprefix(_PREFILL)) for key in keys if key.removeprefix(_PREFILL).isdigit()]
        if "decode" not in keys or not lengths:
            raise LitefuseError(f"the model has the signatures {', '.join(keys)}, not prefill_N and decode")
        self._runners = {length: self._interpreter.get_signature_runner(f"{_PREFILL}{length}") for length in lengths}
        self._decode = self._interpreter.get_signature_runner("decode")
        self._caches: dict[str, Any] = {}
        self._count = 0

    def take(self, tokens: Sequence[int]) -> None:
        """Takes the tokens of a prompt into empty caches: in chunks of the largest signature, then of the smallest."""
        details = self._decode.get_input_details()
        self._caches = {
            name: np.zeros(detail["shape"], detail["dtype"]) for name, detail in details.items() if "cache" in name
        }
        self._count = 0
        while self._count < len(tokens):
            left = len(tokens) - self._count
            fitting = [length for length in self._runners if length >= left]
            length = min(fitting) if fitting else max(self._runners)
            row = np.zeros((1, length), np.int32)
            chunk = tokens[self._count : self._count + length]
            row[0, : len(chunk)] = chunk
            self._caches = self._runners[length](tokens=row, input_pos=self._positions(length), **self._caches)
            self._count += len(chunk)

    def step(self, token: int) -> npt.NDArray[np.float32]:
        """Takes a token, and returns the logits of the next."""
        tokens = np.asarray([[token]], np.int32)
        outputs = self._decode(tokens=tokens, input_pos=self._positions(1), **self._caches)
        self._count += 1
        logits = outputs.pop("logits")
        self._caches = outputs
        return logits[0, 0]

    def write(self, prompt: ForcedPrompt) -> tuple[tuple[int, ...], bool]:
        """Returns the tokens that it writes, at most as many as are expected, and whether it ends the text then."""
        self.take(prompt.tokens[:-1])
        written = [prompt.tokens[-1]]
        while (token := int(np.argmax(self.step(written[-1])))) not in prompt.ends:
            if len(written) > len(prompt.written):
                return tuple(written[1:]), False
            written.append(token)
        return tuple(written[1:]), True

    def _positions(self, length: int) -> npt.NDArray[np.int32]:
        return np.arange(self._count, self._count + length, dtype=np.int32)
