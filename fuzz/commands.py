"""The target ``commands``: LiteRT models through the commands that take one."""

from __future__ import annotations

import json
import random
import re
import tempfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from fuzz.outcome import Kind, Outcome, of_error, shape_of_text
from fuzz.target import Target
from fuzz.tflite import mutated_model, seeds
from fuzz.values import STRINGS
from litefuse.support.processes.limits import ProcessLimits, processes_limited
from litefuse.tools.cli.app import app

_BUG = "This is a bug in litefuse"
# Those of the second row run the model, or compile it, in other processes, which takes a second or so.
_COMMANDS: Sequence[Sequence[str]] = (
    *(("inspect", "MODEL", "--all"), ("inspect", "MODEL", "--json"), ("diff", "MODEL", "SEED"), ("report", "MODEL")),
    *(("run", "MODEL", "-o", "OUT.npz"), ("benchmark", "MODEL", "--repeat", "2", "--json")),
    ("quantize", "MODEL", "--quantize", "dynamic", "-o", "OUT.tflite"),
    ("quantize", "MODEL", "--quantize", "int8", "-o", "OUT.tflite", "--no-check-file"),
    ("check", "MODEL", "--target", "ethos-u", "--json"),
)
_SECONDS = 30.0


class CommandsTarget(Target):
    """Damaged LiteRT models, and sound ones with hostile names; each through one command that it chooses itself."""

    name = "commands"
    suffix = ".tflite"
    batch = 40
    timeout = 90.0

    def mutant(self, number: int) -> bytes:
        return mutated_model(self.random(number), (_change_name, _change_name, _change_name))

    def try_out(self, content: bytes) -> Outcome:
        chosen = _COMMANDS[zlib.crc32(content) % len(_COMMANDS)]
        with tempfile.TemporaryDirectory() as folder:
            model, seed = Path(folder, "m.tflite"), Path(folder, "seed.tflite")
            model.write_bytes(content)
            seed.write_bytes(seeds()["dense.tflite"])
            places = {"MODEL": str(model), "SEED": str(seed)}
            arguments = [re.sub("^OUT", str(Path(folder, "out")), places.get(each, each)) for each in chosen]
            if chosen[0] == "report":
                arguments += ["-o", str(Path(folder, "page.html"))]
            with processes_limited(ProcessLimits(_SECONDS, None)):
                return outcome_of_command(arguments)


def outcome_of_command(arguments: Sequence[str]) -> Outcome:
    """Runs a command in this process, and says what became of it: a foreign exception is a fault."""
    result = CliRunner().invoke(app, [*arguments])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return of_error(result.exception)
    told = result.stderr
    if _BUG in told or "Traceback" in told:
        return Outcome(Kind.BUG, shape_of_text(told), told)
    if "--json" in arguments:
        json.loads(result.stdout, parse_constant=_refuse)
    if result.exit_code:
        return Outcome(Kind.REFUSAL, f"{arguments[0]}: {shape_of_text(told)}", told)
    return Outcome(Kind.SUCCESS, arguments[0])


def _refuse(constant: str) -> float:
    raise ValueError(f"{constant} is no number of JSON")


def _change_name(draw: random.Random, model: Any) -> None:
    """Makes a name of anything hostile: it may become one of a file, an array or a signature."""
    signatures = [*(model.signatureDefs or ())]
    entries = [each for signature in signatures for each in (*(signature.inputs or ()), *(signature.outputs or ()))]
    tensors = [each for graph in model.subgraphs for each in graph.tensors or ()]
    name = draw.choice((*STRINGS, b"file", b"allow_pickle", b"self", b"../x", b"a\nb", b"x/y", b"C:\\x", b"x" * 70_000))
    match draw.randrange(5):
        case 0 if signatures:
            draw.choice(signatures).signatureKey = name
        case 1 | 2 if entries:
            draw.choice(entries).name = name
        case 3:
            draw.choice(model.subgraphs).name = name
        case _ if tensors:
            draw.choice(tensors).name = name
        case _:
            model.description = name
