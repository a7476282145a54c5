"""The target ``models_file``: files ``models.toml``, up to where a batch would begin, and some of them beyond."""

from __future__ import annotations

import datetime as dt
import json
import random
import tempfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import litefuse
from fuzz.outcome import Kind, Outcome
from fuzz.target import Target
from fuzz.values import FLOATS, INTEGERS, STRINGS, change_bytes
from litefuse.conversion.api import convert, quantize
from litefuse.conversion.verify.against_original import verify_model
from litefuse.conversion.verify.targets.check import check
from litefuse.errors import LitefuseError
from litefuse.support.options.conversion import (
    Checks,
    Conversion,
    FileQuantization,
    Graph,
    Limits,
    Quantization,
)
from litefuse.support.options.declared import Options
from litefuse.tools.batch_runs.entry import BatchSettings, Entry
from litefuse.tools.batch_runs.models_file import read_models_file
from litefuse.tools.batch_runs.options import keys_of, options_of
from litefuse.tools.batch_runs.records import key_of, versions_here
from litefuse.tools.batch_runs.run import run_batch
from litefuse.tools.demo import SAVED_MODEL

_REAL = 500  # one of so many is done, with the demo as its model
_FUNCTIONS = {
    "verify": "litefuse.conversion.verify.against_original:verify_model",
    "check": "litefuse.conversion.verify.targets.check:check",
}
_CLASSES: Mapping[str, type[Options]] = {
    "checks": Checks,
    "convert": Conversion,
    "graph": Graph,
    "limits": Limits,
    "quantize": Quantization,
    "variants": FileQuantization,
}
_NEEDED: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "verify": ({},),
    "check": ({"targets": ["cpu"]}, {"targets": ["micro"]}, {}),
    "variants": ({"quantize": "dynamic"}, {"quantize": {"form": "int8"}}, {}),
}
# Keys that are no arguments, with their kinds.
_MORE = {
    "convert": {"path": "str", "name": "str", "plug_ins": "list", "timeout": "float", "memory": "int", "random": "int"},
    "variants": {"name": "str"},
    "verify": {"original": "str"},
    "check": {"targets": "list", "require_accelerated": "bool"},
}
_TEXTS = (
    b"x" * 5000,
    b"a/" * 3000,
    b"x" * 300,
    b"/dev/zero",
    b"~",
    b"~nobody/x",
    b"-1",
    b"*",
    b"cpu",
    b"auto",
    b"x.py",
)
_USUAL: Mapping[str, Sequence[Any]] = {
    "batch": (1, 2),
    "quantize": ("int8", "dynamic", "float16", "auto"),
    "form": ("int8", "dynamic", "int16"),
    "targets": (["cpu"], "micro:64K", ["gpu", "ethos-u"]),
    "shapes": ({"x": [1, 2]}, {"x": [-1, "?"]}),
    "memory": ("8G", 1 << 30),
    "min_runtime": ("2.14", "litert:1.2"),
    "composites": ("keep", {"a": "custom"}),
}


class ModelsFileTarget(Target):
    """Tables with known keys and hostile values, and such files with changed bytes."""

    name = "models_file"
    suffix = ".toml"
    batch = 200

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        lines: list[str] = []
        if draw.random() < 0.25:
            settings = {key: hostile_value(draw) for key in ("output", "jobs", "retries", "scheduler") if _often(draw)}
            lines += ["[batch]", *_pairs(settings or {"output": "out"})]
        if draw.random() < 0.4:
            lines += ["[defaults]", *_pairs(_table(draw, "convert"))]
        for _ in range(draw.choice((1, 1, 2))):
            table = _table(draw, "convert") | ({"path": "model"} if draw.random() < 0.8 else {})
            for key in ("verify", "check", "variants"):
                if draw.random() < 0.3:
                    tables = [{**_table(draw, key), **draw.choice(_NEEDED[key])} for _ in range(2)]
                    table[key] = draw.choice((tables[0], tables[0], tables if key == "variants" else True))
            lines += ["[[model]]", *_pairs(table)]
        content = "\n".join(lines).encode("utf-8", "replace")
        return change_bytes(draw, content, most=2) if draw.random() < 0.1 else content

    def try_out(self, content: bytes) -> Outcome:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "models.toml")
            path.write_bytes(content)
            entries, settings = read_models_file(path)
            for entry in entries:
                _asked(lambda entry=entry: key_of(entry, versions_here(with_tensorflow=False)))
                _try_entry(entry)
            if zlib.crc32(content) % _REAL == 0:
                done = [replace(each, path=str(SAVED_MODEL), plug_ins=(), verify=None) for each in entries[:1]]
                result = run_batch(done, BatchSettings(str(Path(folder, "out")), 1, settings.retries and 0))
                texts = [step.message for each in result.outcomes for step in each.steps]
                if any("This is a bug in litefuse" in text for text in texts):
                    return Outcome(Kind.BUG, "in a batch", "\n".join(texts))
        return Outcome(Kind.SUCCESS)


def _try_entry(entry: Entry) -> None:
    """Has each function check the options of an entry, for a model that is not there."""
    missing = "/nowhere/model"
    _asked(lambda: convert(missing, debug=litefuse.Debugging(in_process=True), **entry.convert))
    for variant in entry.variants:
        _asked(lambda variant=variant: quantize(f"{missing}.tflite", **variant.options))
    if entry.verify is not None:
        options = dict(entry.verify)
        _asked(lambda: verify_model(f"{missing}.tflite", options.pop("original", missing), **options))
    if entry.check is not None:
        options = {key: value for key, value in entry.check.items() if key != "require_accelerated"}
        _asked(lambda: check(f"{missing}.tflite", **options))


def _asked(call: Any) -> None:
    try:
        call()
    except LitefuseError as error:
        str(error)
        if "This is a bug in litefuse" in str(error):
            raise


def _often(draw: random.Random) -> bool:
    return draw.random() < 0.4


def _known(kind: str) -> dict[str, str]:
    """The names of options with their annotations: of a function, or declared."""
    if kind in _FUNCTIONS:
        return {**options_of(_FUNCTIONS[kind])}
    return {name: declared.annotation for name, declared in keys_of(_CLASSES[kind]).items()}


def _table(draw: random.Random, kind: str) -> dict[str, Any]:
    known = {**_known(kind), **_MORE.get(kind, {})}
    keys = [draw.choice(sorted(known)) for _ in range(draw.choice((0, 1, 1, 2, 3)))]
    table = {key: _value(draw, key, known[key]) for key in keys}
    return table | ({draw.choice(("", "pth", "__class__", "a b")): 1} if draw.random() < 0.03 else {})


def _value(draw: random.Random, key: str, kind: str) -> Any:
    """A value of an option: one of its kind, or of any."""
    if key in _CLASSES and draw.random() < 0.5:
        return _table(draw, key)
    if key in {
        "samples",
        "representative_dataset",
    }:  # a folder counts with all of its files, and some texts are large folders
        return draw.choice(("none.npz", "models.toml", "x:y.py", "f.py:g", "a\0b", "x" * 5000, 3))
    if key in _USUAL and draw.random() < 0.4:
        return draw.choice(_USUAL[key])
    if draw.random() < 0.1:
        return hostile_value(draw)
    if "bool" in kind:
        return draw.random() < 0.5
    if "int" in kind or "Bits" in kind or "float" in kind:
        return draw.choice((0, 1, 4, 8, *INTEGERS, *(FLOATS if "float" in kind else ())))
    if kind.startswith("Mapping") and draw.random() < 0.8:
        return {_any_text(draw): draw.choice((hostile_value(draw), [1, 2], "keep", "x"))}
    return [_any_text(draw)] if draw.random() < 0.4 else _any_text(draw)


def _any_text(draw: random.Random) -> str:
    return draw.choice((*STRINGS, *_TEXTS)).decode("utf-8", "replace")


def hostile_value(draw: random.Random, depth: int = 0) -> Any:
    """A value of any kind, at the end of its range more often than not."""
    match draw.randrange(9 if depth < 3 else 6):
        case 0:
            return draw.choice((*INTEGERS, *INTEGERS, 10**30, -(10**30), 1 << 20_000))
        case 1:
            return draw.choice(FLOATS)
        case 2:
            return draw.random() < 0.5
        case 3 | 4:
            return draw.choice(
                (*STRINGS, b"x" * 5000, b"a/" * 3000, b"x" * 300, b"/dev/zero", b"~", b"-1", b"*")
            ).decode("utf-8", "replace")
        case 5:
            return draw.choice((dt.date(1, 1, 1), dt.time(0), dt.datetime(9999, 12, 31)))
        case 6 | 7:
            return [hostile_value(draw, depth + 1) for _ in range(draw.randrange(4))]
        case _:
            keys = [draw.choice(STRINGS).decode("utf-8", "replace") for _ in range(draw.randrange(3))]
            return {key: hostile_value(draw, depth + 1) for key in keys}


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_text(key)} = {_toml(value)}" for key, value in table.items()]


def _text(text: str) -> str:
    return json.dumps(text).replace("\x7f", "\\u007f") if text.isascii() else json.dumps(text, ensure_ascii=False)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return hex(value) if value >> 200 > 0 else str(value)  # decimal numbers of so many digits are not read
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(_pairs(cast("Mapping[str, Any]", value))) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, cast("list[Any]", value))) + "]"
    return value.isoformat() if not isinstance(value, float) else repr(value)
