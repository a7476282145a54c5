"""Compares two LiteRT files."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

from litefuse.errors import InterpreterError, LitefuseError
from litefuse.litert.differences.changes import SizeChange, ValueChange
from litefuse.litert.differences.compared_model import ComparedModel
from litefuse.litert.differences.model_diff import ModelDiff
from litefuse.litert.differences.subgraphs import SubgraphComparison, changed_values
from litefuse.litert.inspection.facts import FileSizes, SignatureFacts, SubgraphFacts, TensorFacts
from litefuse.litert.metadata.schema import METADATA_NAME
from litefuse.support.report.sections import shape_text
from litefuse.support.result import ConversionResult

# Metadata of so many bytes is shown if it is text.
_SHOWN = 100


def diff(
    before: str | os.PathLike[str] | bytes | ConversionResult, after: str | os.PathLike[str] | bytes | ConversionResult
) -> ModelDiff:
    """Compares two LiteRT models as they are in their files, without running them.

    Operators are paired by what they compute, by the names of their results and layers, and by their order; their
    indices, and those of tensors and buffers, do not count. Constants are compared number by number, quantized ones as
    the real numbers that they stand for.

    Args:
        before: A ``.tflite`` file, its content, or the result of a conversion.
        after: Another one.

    Returns:
        The differences; ``print(diff)`` shows them.

    Raises:
        InterpreterError: One of them cannot be read, is not a LiteRT model, or is damaged.
    """
    for model in (before, after):
        if not isinstance(cast("object", model), (str, os.PathLike, bytes, ConversionResult)):
            raise LitefuseError(f"a model is the path of a LiteRT file, its content, or a result, not {model!r}")
    a, b = (ComparedModel.of(model.path if isinstance(model, ConversionResult) else model) for model in (before, after))
    try:
        return _compared(a, b)
    except InterpreterError:
        raise
    except Exception as error:  # following the offsets of damaged data fails in many ways
        raise InterpreterError(
            f"one of the two is damaged, where no other check looks: {error}",
            where=f"{a.file.name}, {b.file.name}",
            hint="Are they complete? Convert or download them again.",
        ) from error


def _compared(a: ComparedModel, b: ComparedModel) -> ModelDiff:
    if a.file.sha256 == b.file.sha256:
        return ModelDiff(a.file, b.file, same_weights=sum(tensor.is_constant for tensor in a.facts.tensors))
    graphs = SubgraphComparison(a, b)
    ours, theirs = ({signature.key: signature for signature in side.facts.signatures} for side in (a, b))
    for key, one in ours.items():
        other = theirs.get(key)
        if other is not None and one.subgraph is not None and other.subgraph is not None:
            graphs.compare(one.subgraph, other.subgraph, dict(_inputs(one, other)))
    if a.operators and b.operators:
        graphs.compare(0, 0, {})
    graphs.rest()
    signatures = [*_signatures(ours, theirs, graphs)]
    if not ours and not theirs and a.facts.subgraphs and b.facts.subgraphs:
        signatures += _interface(a.facts.subgraphs[0], b.facts.subgraphs[0], graphs)
    return ModelDiff(
        a.file,
        b.file,
        signatures=tuple(signatures),
        operators=tuple(graphs.operators),
        tensors=tuple(graphs.tensors),
        weights=tuple(sorted(graphs.weights, key=lambda weight: -(weight.relative or 0.0))),
        names=tuple(graphs.names),
        metadata=tuple(_metadata(a, b)),
        properties=tuple(_properties(a, b, graphs)),
        sizes=tuple(_sizes(a.facts.sizes, b.facts.sizes)),
        op_counts=tuple(_counts(a.facts.op_counts, b.facts.op_counts)),
        same_weights=graphs.same_weights,
    )


def _inputs(one: SignatureFacts, other: SignatureFacts) -> Iterator[tuple[int, int]]:
    """Yields the pairs of inputs that have the same name."""
    partners = {input_.name: input_.index for input_ in other.inputs}
    for input_ in one.inputs:
        partner = partners.get(input_.name)
        if input_.index is not None and partner is not None:
            yield input_.index, partner


def _signatures(
    ours: Mapping[str, SignatureFacts], theirs: Mapping[str, SignatureFacts], graphs: SubgraphComparison
) -> Iterator[ValueChange]:
    for key in dict.fromkeys((*ours, *theirs)):
        if key not in theirs or key not in ours:
            yield ValueChange(
                f"signature {key}", *("there" if key in signatures else None for signatures in (ours, theirs))
            )
            continue
        one, other = ours[key], theirs[key]
        prefix = f"{key}: " if len(ours) > 1 or len(theirs) > 1 else ""
        yield from _values(f"{prefix}input", one.inputs, other.inputs, _partners(one, graphs))
        yield from _values(f"{prefix}output", one.outputs, other.outputs, _partners(one, graphs))
        yield from _sources(f"{prefix}output", one, other, graphs)


def _partners(signature: SignatureFacts, graphs: SubgraphComparison) -> Callable[[int | None], int | None]:
    """Returns a function from the tensors of a signature to the same ones of the second file."""
    graph = signature.subgraph
    return lambda index: None if graph is None or index is None else graphs.partner(graph, index)


def _values(
    role: str, ours: Sequence[TensorFacts], theirs: Sequence[TensorFacts], partner: Callable[[int | None], int | None]
) -> Iterator[ValueChange]:
    """Yields what differs between inputs or outputs: names, order, types."""
    one, other = ({tensor.name: tensor for tensor in side} for side in (ours, theirs))
    # The same tensor under a name that only one of the files has.
    places = {tensor.index: tensor.name for tensor in theirs if tensor.name not in one and tensor.index is not None}
    renamed = {
        tensor.name: places[index]
        for tensor in ours
        if tensor.name not in other and (index := partner(tensor.index)) in places
    }
    taken = {*renamed.values()}
    for name in dict.fromkeys((*one, *(name for name in other if name not in taken))):
        new = renamed.get(name, name)
        if name not in one or new not in other:
            before, after = (_type(side[name]) if name in side else None for side in (one, other))
            yield ValueChange(f"{role} {name}", before, after)
            continue
        if new != name:
            yield ValueChange(f"{role} {name}: name", name, new)
        yield from changed_values(f"{role} {name}: ", _facts(one[name]), _facts(other[new]))
    names = {new: name for name, new in renamed.items()}
    common = [[name for name in one if name in other or name in renamed], [names.get(name, name) for name in other]]
    common[1] = [name for name in common[1] if name in common[0]]
    if common[0] != common[1]:
        yield ValueChange(f"order of {role}s", common[0], common[1])


def _sources(
    role: str, one: SignatureFacts, other: SignatureFacts, graphs: SubgraphComparison
) -> Iterator[ValueChange]:
    """Yields the outputs that something else computes."""
    if one.subgraph is None or graphs.graphs.get(one.subgraph) != other.subgraph:
        yield ValueChange(f"{role}s", f"computed by subgraph {one.subgraph}", f"computed by subgraph {other.subgraph}")
        return
    places = {output.name: output.index for output in other.outputs}
    for output in one.outputs:
        partner = places.get(output.name)
        if output.index is not None and partner is not None and graphs.partner(one.subgraph, output.index) != partner:
            yield ValueChange(
                f"{role} {output.name}: computed by", *graphs.producers(one.subgraph, output.index, partner)
            )


def _interface(one: SubgraphFacts, other: SubgraphFacts, graphs: SubgraphComparison) -> Iterator[ValueChange]:
    """Yields what differs between the inputs and outputs of main subgraphs without signatures, by their positions."""
    for role, ours, theirs in (("input", one.inputs, other.inputs), ("output", one.outputs, other.outputs)):
        if len(ours) != len(theirs):
            yield ValueChange(f"number of {role}s", len(ours), len(theirs))
        for position, (before, after) in enumerate(zip(ours, theirs, strict=False)):
            yield from changed_values(f"{role} {position}: ", _facts(before), _facts(after))
    for position, (before, after) in enumerate(zip(one.output_indices, other.output_indices, strict=False)):
        if graphs.partner(0, before) != after:
            yield ValueChange(f"output {position}: computed by", *graphs.producers(0, before, after))


def _facts(tensor: TensorFacts) -> dict[str, Any]:
    shape = None if tensor.shape is None else list(tensor.shape)
    return {"dtype": tensor.dtype, "shape": shape, "scale": tensor.scale, "zero_point": tensor.zero_point}


def _type(tensor: TensorFacts) -> str:
    return f"{tensor.dtype} {shape_text(tensor.shape)}"


def _metadata(a: ComparedModel, b: ComparedModel) -> Iterator[ValueChange]:
    """Yields the metadata that differs: that for apps and people entry by entry, and associated files by name."""
    ours, theirs = a.metadata(), b.metadata()
    for name in dict.fromkeys((*ours, *theirs)):
        before, after = ours.get(name), theirs.get(name)
        if before != after:
            known = [side.facts.model_metadata for side in (a, b)] if name == METADATA_NAME else [None, None]
            if known[0] is None or known[1] is None:
                yield ValueChange(name, _content(before), _content(after))
            else:
                yield from changed_values(f"{name}: ", known[0], known[1], into_lists=True)
    files, others = a.files(), b.files()
    for name in dict.fromkeys((*files, *others)):
        if files.get(name) != others.get(name):
            yield ValueChange(f"file {name}", files.get(name), others.get(name))


def _content(data: bytes | None) -> Any:
    """Returns short text as it is, and of other bytes their number and hash."""
    if data is None:
        return None
    text = data.rstrip(b"\0")
    if len(data) <= _SHOWN and (text or not data) and text.isascii() and text.decode().isprintable():
        return text.decode()
    return f"{len(data):,} bytes, SHA-256 {hashlib.sha256(data).hexdigest()}"


def _properties(a: ComparedModel, b: ComparedModel, graphs: SubgraphComparison) -> Iterator[ValueChange]:
    yield from changed_values(
        "",
        {"description": a.facts.description, "schema version": a.version},
        {"description": b.facts.description, "schema version": b.version},
    )
    for first, second in sorted(graphs.graphs.items()):
        names = a.facts.subgraphs[first].name, b.facts.subgraphs[second].name
        if names[0] != names[1]:
            yield ValueChange(f"name of subgraph {first}", *names)


def _counts(ours: Mapping[str, int], theirs: Mapping[str, int]) -> Iterator[ValueChange]:
    for name in sorted({*ours, *theirs}):
        if ours.get(name) != theirs.get(name):
            yield ValueChange(name, ours.get(name, 0), theirs.get(name, 0))


def _sizes(ours: FileSizes | None, theirs: FileSizes | None) -> list[SizeChange]:
    one, other = _parts(ours), _parts(theirs)
    keys = [fromkey for fromkey in dict.fromkeys((*one, *other)) if one.get(fromkey) != other.get(fromkey)]
    changes = [SizeChange(*key, one.get(key, 0), other.get(key, 0)) for key in keys]
    return sorted(changes, key=lambda change: -abs(change.after - change.before))


def _parts(sizes: FileSizes | None) -> dict[tuple[str, str, str], int]:
    if sizes is None:
        return {}
    return {
        **{("layer", layer.layer, layer.dtype): layer.bytes for layer in sizes.layers},
        ("metadata", "", ""): sizes.metadata,
        ("unread", "", ""): sizes.unread,
        ("files", "", ""): sizes.files,
        ("structure", "", ""): sizes.structure,
    }
