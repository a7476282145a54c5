"""Errors for what litert-quantizer refuses: at which op it was, and how that op stays in floating point."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

from litefuse.conversion.quantization.model_facts import OTHER_NAMES
from litefuse.errors import LitefuseError
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model

__all__ = ["WatchedManager", "not_run", "refusal"]

# How LiteRT names an op that it cannot prepare or run.
_NODE = re.compile(r"Node number (\d+) \((\w+)\)")
# What litert-quantizer asks about beside ops.
_BOUNDARIES = frozenset({"INPUT", "OUTPUT"})
_WHERE_UNKNOWN = (
    "Convert it without quantization, or leave the ops that this is about in floating point: keep_float, "
    "keep_float_ops (on the command line, --keep-float, --keep-float-op)."
)


class WatchedManager:
    """A recipe manager of litert-quantizer that knows which op it was last asked about.

    Args:
        manager: The recipe manager.

    Attributes:
        op: The op's kind, as litert-quantizer names it, and its results, each followed by a semicolon; None for none.
    """

    def __init__(self, manager: Any) -> None:
        self._manager = manager
        self.op: tuple[str, str] | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def get_quantization_configs(self, kind: Any, scope: str) -> Any:
        """Returns what an op gets, which litert-quantizer asks before it does so."""
        name = str(getattr(kind, "value", kind))
        self.op = None if name in _BOUNDARIES else (name, scope)
        return self._manager.get_quantization_configs(kind, scope)


def refusal(error: Exception, op: tuple[str, str] | None) -> LitefuseError:
    """Returns the error for an exception of litert-quantizer.

    Args:
        error: The exception.
        op: The op that it was at; see :class:`WatchedManager`.
    """
    if op is None:
        return LitefuseError(f"litert-quantizer refused the model: {error}", hint=_WHERE_UNKNOWN)
    kind, scope = op
    result = scope.partition(";")[0]
    return LitefuseError(
        f"litert-quantizer refused the model at {kind} {result!r}: {error}", hint=_how_to_keep(kind, result)
    )


def not_run(error: Exception, path: Path) -> LitefuseError:
    """Returns the error for an exception of LiteRT, which refused a quantized model.

    Args:
        error: The exception.
        path: The model.
    """
    node = _NODE.search(str(error))
    place = None if node is None else _place(path, int(node[1]), node[2])
    if place is None:
        return LitefuseError(f"the quantized model does not run in LiteRT: {error}", hint=_WHERE_UNKNOWN)
    return LitefuseError(
        f"the quantized model does not run in LiteRT, because of {place[0]} {place[1]!r}: {error}",
        hint=_how_to_keep(*place),
    )


def _place(path: Path, number: int, kind: str) -> tuple[str, str] | None:
    """Returns the kind and the result of the op that LiteRT numbers so; None if several subgraphs have such a one."""
    with content_of(path) as content:
        numbered = [(graph, graph.ops[number]) for graph in Model(content).graphs if number < len(graph.ops)]
        named = [(graph, op) for graph, op in numbered if op.name == kind and op.outputs]
        if len(named) != 1:
            return None
        ((graph, op),) = named
        return "CUSTOM_OP" if op.custom else OTHER_NAMES.get(kind, kind), graph.tensor(op.outputs[0]).name


def _how_to_keep(kind: str, result: str) -> str:
    pattern = f"^{re.escape(result)};"
    return (
        f"Leave this op in floating point, keep_float=[{pattern!r}] (on the command line, "
        f"--keep-float {shlex.quote(pattern)}), or all ops of its kind: keep_float_ops=[{kind!r}] "
        f"(--keep-float-op {kind})."
    )
