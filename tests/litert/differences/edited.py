"""Changes of the content of a LiteRT model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flatbuffers
from ai_edge_litert import schema_py_generated as schema


def edited(content: bytes, change: Callable[[Any], object]) -> bytes:
    """The content after a change of the object of the schema."""
    loaded: Any = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    change(loaded)
    builder = flatbuffers.Builder(1024)
    builder.Finish(loaded.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output())
