"""The target ``keras``: ``.keras`` and ``.h5`` files through ``litefuse.convert``, a few seconds each."""

from __future__ import annotations

import functools
import importlib.util
import io
import json
import random
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import litefuse
from fuzz.outcome import Kind, Outcome
from fuzz.target import Target
from fuzz.values import FLOATS, STRINGS, change_bytes, hostile_integer

_SEEDS = Path(__file__).with_name("seeds") / "keras.zip"
_CONFIG = "config.json"
_LAYERS = ("Dense", "LSTM", "Lambda", "TimeDistributed", "Embedding", "Conv2D", "TextVectorization", "NoSuchLayer", "")


@functools.cache
def _seeds() -> Mapping[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(_SEEDS.read_bytes())) as archive:
        return {name: archive.read(name) for name in sorted(archive.namelist())}


class KerasFileTarget(Target):
    """Keras files with hostile configurations, members and bytes."""

    name = "keras"
    suffix = ".keras"
    batch = 20
    memory = 4 << 30  # TensorFlow is loaded in a child
    slow = 60.0
    timeout = 120.0

    def __init__(self) -> None:
        if importlib.util.find_spec("keras") is None:
            raise SystemExit("this target needs Keras and TensorFlow: pip install 'litefuse[keras]'")

    def mutant(self, number: int) -> bytes:
        draw = self.random(number)
        name = draw.choice(sorted(_seeds()))
        data = _seeds()[name]
        if draw.random() < 0.25:
            return change_bytes(draw, data)
        return _changed_archive(draw, data) if name.endswith(".keras") else _changed_hdf5(draw, data)

    def try_out(self, content: bytes) -> Outcome:
        suffix = ".keras" if content[:2] == b"PK" else ".h5"
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            path = Path(folder, f"model{suffix}")
            path.write_bytes(content)
            litefuse.convert(str(path), limits=litefuse.Limits(temporary_folder=folder))
        return Outcome(Kind.SUCCESS)


def _changed_archive(draw: random.Random, data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    match draw.randrange(6):
        case 0:
            del members[draw.choice(sorted(members))]
        case 1:
            name = draw.choice(sorted(members))
            members[draw.choice(("../outside", "/absolute", "assets/x", name))] = change_bytes(draw, members[name])
        case _:
            members[_CONFIG] = _changed_text(draw, members[_CONFIG])
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, member in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name), member)
    return buffer.getvalue()


def _changed_hdf5(draw: random.Random, data: bytes) -> bytes:
    """Changes the configuration, which is an attribute of the file; its length stays."""
    begin = data.find(b'{"module"')
    depth, end = 0, begin
    for end in range(max(begin, 0), len(data)):
        depth += (data[end] == ord("{")) - (data[end] == ord("}"))
        if depth == 0:
            break
    if begin < 0:
        return change_bytes(draw, data)
    changed = _changed_text(draw, data[begin : end + 1]).decode("latin-1")
    # Without what JSON does not need, there is room.
    text = json.dumps(json.loads(changed), separators=(",", ":")).encode("latin-1")
    room = end + 1 - begin
    return data[:begin] + text.ljust(room)[:room] + data[end + 1 :]


def _changed_text(draw: random.Random, text: bytes) -> bytes:
    config = json.loads(text)
    for _ in range(draw.randint(1, 3)):
        _change(draw, config)
    return json.dumps(config).encode()


def _change(draw: random.Random, config: Any) -> None:
    """Changes one value somewhere."""
    places = [*_places(config)]
    if not places:
        return
    owner, key = draw.choice(places)
    value = owner[key]
    match draw.randrange(5):
        case 0:
            del owner[key]
        case 1:
            other, other_key = draw.choice(places)
            owner[key] = json.loads(json.dumps(other[other_key]))
        case _ if isinstance(value, bool):
            owner[key] = not value
        case _ if isinstance(value, int):
            owner[key] = hostile_integer(draw)
        case _ if isinstance(value, str) and key == "class_name":
            owner[key] = draw.choice(_LAYERS)
        case _:
            text = draw.choice(STRINGS).decode("latin-1")
            others: list[Any] = [None, [], {}, hostile_integer(draw), draw.choice(FLOATS), text]
            owner[key] = draw.choice(others)


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    waiting: list[Any] = [value]
    while waiting:
        owner = waiting.pop()
        for key, each in owner.items() if hasattr(owner, "items") else enumerate(owner):
            found.append((owner, key))
            if isinstance(each, (dict, list)):
                waiting.append(each)
    return found
