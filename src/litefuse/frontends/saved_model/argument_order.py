"""The order of a model's own arguments and results, behind the functions that TensorFlow wraps around them.

``tf.saved_model.save`` makes a function for each signature, whose parameters and results are sorted by name, because
they are given by keyword. All that it does is call the model's own function::

    signature_wrapper(alpha, zeta, captured...):
        call = PartitionedCall[f=call](zeta, alpha, captured...)
        return Identity(call:1), Identity(call:0)

So the operands of that call have the order in which the model takes its inputs, and its results that in which it gives
its outputs. A dictionary has no other order than that of its sorted keys, in which TensorFlow flattens it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from google.protobuf.message import DecodeError

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.messages import KerasMetadata
from litefuse.frontends.saved_model.nodes import Nodes
from litefuse.frontends.saved_model.regular_file import read_regular

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from litefuse.frontends.saved_model.messages import FunctionDef, NodeDef

_CALLS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_IDENTITY = frozenset({"Identity"})
# What a wrapper has beside the call.
_PASSING = frozenset({"Identity", "NoOp"})
# TensorFlow names the functions so that it makes for signatures; a loaded signature that is saved again is in two.
_WRAPPER = "signature_wrapper"
_MAX_DEPTH = 100
_FILE = "keras_metadata.pb"
_MAX_BYTES = 2**28


class Ranks(NamedTuple):
    """Where the parameters and results of a function stand in the model's own order; some may stand in one place."""

    parameters: tuple[int, ...]
    results: tuple[int, ...]


def ranks_in_model(function: str, functions: Mapping[str, FunctionDef]) -> Ranks:
    """Returns the ranks of a signature's function."""
    wrappers: list[tuple[FunctionDef, NodeDef]] = []
    while len(wrappers) < _MAX_DEPTH:
        body = functions[function]
        # A model's own function may well call another one with its arguments in another order.
        call = _only_call(body, functions) if _WRAPPER in function else None
        if call is None:
            break
        wrappers.append((body, call))
        function = call.attr["f"].func.name
    signature = functions[function].signature
    ranks = Ranks(tuple(range(len(signature.input_arg))), tuple(range(len(signature.output_arg))))
    for body, call in reversed(wrappers):
        ranks = _outer(ranks, body, call)
    return ranks


def _only_call(body: FunctionDef, functions: Mapping[str, FunctionDef]) -> NodeDef | None:
    """Returns the call that is all that a function does; None if it does something else."""
    nodes = [node for node in body.node_def if node.op not in _PASSING]
    if len(nodes) != 1 or nodes[0].op not in _CALLS or "f" not in nodes[0].attr:
        return None
    return nodes[0] if nodes[0].attr["f"].func.name in functions else None


def _outer(inner: Ranks, body: FunctionDef, call: NodeDef) -> Ranks:
    """Returns the ranks of a function from those of the function that it calls; what is not handed on comes last."""
    nodes = Nodes.of(body.node_def)
    operands: dict[str, int] = {}
    for operand, rank in zip(call.input, inner.parameters, strict=False):
        name = nodes.origin(operand, _IDENTITY)
        operands[name] = min(rank, operands.get(name, rank))
    returned = [nodes.origin(body.ret.get(result.name, ""), _IDENTITY) for result in body.signature.output_arg]
    return Ranks(
        _ranked([operands.get(argument.name) for argument in body.signature.input_arg]),
        _ranked([_rank_of_result(tensor, call, inner) for tensor in returned]),
    )


def _rank_of_result(tensor: str, call: NodeDef, inner: Ranks) -> int | None:
    name, _, place = tensor.partition(":")
    index = place.rpartition(":")[2]
    if name != call.name or not index.isdecimal() or int(index) >= len(inner.results):
        return None
    return inner.results[int(index)]


def _ranked(ranks: Sequence[int | None]) -> tuple[int, ...]:
    last = max((rank for rank in ranks if rank is not None), default=-1) + 1
    return tuple(last if rank is None else rank for rank in ranks)


def output_names(folder: Path) -> tuple[str, ...]:
    """Returns the names of a functional model's outputs, in its order; empty without such a model.

    An output has the name of its layer, and a number if several are of one.

    Args:
        folder: The SavedModel's folder, symbolic links resolved.
    """
    try:
        if (folder / _FILE).stat().st_size > _MAX_BYTES:
            return ()
        model = next(node for node in KerasMetadata.FromString(read_regular(folder, _FILE)).nodes if not node.node_id)
        layers: Any = json.loads(model.metadata)["config"]["output_layers"]
        # One output is a layer's name, node and tensor; several are a list or a dictionary of such lists.
        values: Any = (
            [value for _, value in sorted(cast("dict[str, Any]", layers).items())]
            if isinstance(layers, dict)
            else layers
        )
        names: list[Any] = [value[0] for value in values if isinstance(value, list)]
    # Metadata are not part of the model: where they are damaged, the order is that of the signature.
    except (DecodeError, LookupError, OSError, RecursionError, SavedModelError, StopIteration, TypeError, ValueError):
        return ()
    return _unique(names) if all(isinstance(name, str) for name in names) else ()


def _unique(layers: list[Any]) -> tuple[str, ...]:
    """Returns names as Keras makes them of layers' names."""
    taken: dict[str, None] = {}
    counts: dict[str, int] = {}
    for layer in layers:
        name = layer
        while name in taken:
            counts[layer] = counts.get(layer, 0) + 1
            name = f"{layer}_{counts[layer]}"
        taken[name] = None
    return tuple(taken)
