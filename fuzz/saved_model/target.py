"""The target ``saved_model``: SavedModels through ``litefuse.convert`` and ``litefuse.inspect``."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import litefuse
from fuzz.child import Ending, Limits, run_in_child
from fuzz.containment import is_in_litert
from fuzz.inspecting import inspect_saved_model
from fuzz.outcome import Kind, Outcome
from fuzz.saved_model.checkpoints import change_bytes_of_a_file, change_checkpoint
from fuzz.saved_model.folder import MODEL, Files, pack, seeds, unpack, write
from fuzz.saved_model.graphs import change_model
from fuzz.target import Target
from fuzz.tflite import judge_ending, try_model
from litefuse.frontends.saved_model.messages import SavedModel

_INSPECTED = 8  # one of so many is looked into before it is converted
_OPTIONS: tuple[Mapping[str, Any], ...] = (
    *(
        {},
        {"dtypes": "narrow"},
        {"dtypes": "widen"},
        {"allow_custom_ops": True},
        {"allow_custom_ops": "never"},
        {"batch": 2},
    ),
    *({"composites": form} for form in ("keep", "inline", "custom", "builtin")),
    *({"rnn": form} for form in ("fused", "loop")),
)
_RUN = Limits(timeout=30.0, memory=2 << 30, slow=10.0)


class SavedModelTarget(Target):
    """SavedModels; what is converted is loaded and run."""

    name = "saved_model"
    suffix = ".zip"
    batch = 200
    slow = 20.0

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        files: Files = dict(seeds()[draw.choice(sorted(seeds()))])
        kind = draw.random()
        if kind < 0.75:
            model = SavedModel.FromString(files[MODEL])
            change_model(draw, model)
            files[MODEL] = model.SerializeToString(deterministic=True)
        if 0.7 < kind < 0.9:
            change_checkpoint(draw, files)
        if kind > 0.9:
            change_bytes_of_a_file(draw, files)
        return pack(files)

    def try_out(self, content: bytes) -> Outcome:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
            folder = Path(name, "model")
            folder.mkdir()
            write(unpack(content), folder)
            if len(content) % _INSPECTED == 0:
                inspect_saved_model(folder)
            model = litefuse.convert(
                str(folder), limits=litefuse.Limits(temporary_folder=name), **_options(content)
            ).model_bytes
        return _run(model)


def _options(content: bytes) -> Mapping[str, Any]:
    """The options of a conversion, which a mutant decides as well: most often none."""
    return _OPTIONS[zlib.crc32(content) % 2 * zlib.crc32(content) % len(_OPTIONS)]


def _run(model: bytes) -> Outcome:
    """Loads and runs what was made, in a child of its own."""

    def run(_: int) -> tuple[str, str, str]:
        outcome = try_model(model)
        return outcome.kind.value, outcome.group, outcome.detail

    for _, found in run_in_child(iter([0]), run, _RUN, is_in_litert):
        if isinstance(found, Ending):
            return judge_ending(model, found)
        kind, group, detail = found
        if Kind(kind).is_finding:
            return Outcome(Kind(kind), f"of the converted model: {group}", detail)
        return Outcome(Kind.SUCCESS, f"run: {kind}")
    return Outcome(Kind.DEATH, "of the converted model, before it began")
