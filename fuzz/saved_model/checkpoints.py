"""Changes of a checkpoint and of assets."""

from __future__ import annotations

import random
import struct

from tests.frontends.saved_model.bundle_writer import masked_crc32c, write_table

from fuzz.messages import change_message
from fuzz.saved_model.folder import MODEL, Files
from fuzz.values import change_bytes
from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model.messages import BundleEntryProto, BundleHeaderProto, TrackableObjectGraph
from litefuse.frontends.saved_model.sorted_table import read_table

_INDEX = "variables/variables.index"
_DATA = "variables/variables.data-00000-of-00001"
_GRAPH = b"_CHECKPOINTABLE_OBJECT_GRAPH"


def change_checkpoint(draw: random.Random, files: Files) -> None:
    """Changes the index's entries, whose checksums stay right, or the files as such."""
    try:
        entries = read_table(files[_INDEX])
    except (KeyError, LitefuseError):
        return
    match draw.randrange(6):
        case 0:
            name = draw.choice([_INDEX, _DATA])
            files[name] = change_bytes(draw, files.get(name, b""))
        case 1:
            files.pop(draw.choice([_INDEX, _DATA]), None)
        case 2:  # a block that says that it is compressed
            data = bytearray(files[_INDEX])
            place = draw.randrange(max(len(data) - 53, 1))
            data[place] = draw.choice((1, 2, 3))
            files[_INDEX] = bytes(data)
        case 3:
            _change_object_graph(draw, files, entries)
        case _:
            key = draw.choice(sorted(entries))
            message = (BundleEntryProto if key else BundleHeaderProto).FromString(entries[key])
            change_message(draw, message)
            entries[key] = message.SerializeToString()
            if draw.random() < 0.2:
                entries.pop(draw.choice(sorted(entries)))
            files[_INDEX] = write_table(entries)


def _change_object_graph(draw: random.Random, files: Files, entries: dict[bytes, bytes]) -> None:
    """Changes the object graph that the checkpoint holds, as the string tensor that it is."""
    if _GRAPH not in entries or _DATA not in files:
        return
    entry = BundleEntryProto.FromString(entries[_GRAPH])
    stored = files[_DATA][entry.offset : entry.offset + entry.size]
    head = stored.find(b"\n")  # the first field of the message; before it stand its length and a checksum
    try:
        graph = TrackableObjectGraph.FromString(stored[head:])
    except Exception:  # noqa: BLE001  the place was wrong
        return
    change_message(draw, graph)
    body = graph.SerializeToString()
    lengths = struct.pack("<I", len(body))
    checksum = struct.pack("<I", masked_crc32c(lengths))
    size = bytearray()
    rest = len(body)
    while rest >= 128:
        size.append(rest & 127 | 128)
        rest >>= 7
    size.append(rest)
    data = bytes(size) + checksum + body
    entry.offset, entry.size = len(files[_DATA]), len(data)
    entry.crc32c = masked_crc32c(lengths + checksum + body)
    files[_DATA] += data
    entries[_GRAPH] = entry.SerializeToString()
    files[_INDEX] = write_table(entries)


def change_bytes_of_a_file(draw: random.Random, files: Files) -> None:
    """Changes bytes of any file, or loses it."""
    name = draw.choice(sorted(files))
    if name != MODEL and draw.random() < 0.2:
        del files[name]
    else:
        files[name] = change_bytes(draw, files[name])
