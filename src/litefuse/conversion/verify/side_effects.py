"""Checks whether a model has side effects when TensorFlow loads it and calls its signatures.

A model whose signature has an op with side effects can do whatever TensorFlow can with the user's files and network.
Only what runs counts: the functions and nodes that the signatures reach, and those of the initialization. Every
SavedModel can save itself, but nothing asks it to. The ops are chosen by name from the registry of all ops; those of
accelerators and of TensorFlow's plumbing between devices are left out: they do nothing on a CPU alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from google.protobuf.message import DecodeError

from litefuse.errors import LitefuseError, SavedModelError
from litefuse.frontends.saved_model.graph_def import read_graph
from litefuse.frontends.saved_model.loader import read_meta_graph
from litefuse.frontends.saved_model.messages import (
    AttrValue,
    CollectionDef,
    FunctionDef,
    GraphDef,
    MetaGraphDef,
    NodeDef,
    TensorInfo,
)
from litefuse.frontends.saved_model.model import KERAS_IMPLEMENTS
from litefuse.frontends.saved_model.nodes import Nodes, data_inputs, functions_in, node_of
from litefuse.frontends.saved_model.object_graph import ObjectGraph
from litefuse.frontends.saved_model.regular_file import resolve_inside

READS = "reads files"
_WRITES = "writes files"
_RUNS = "runs code"
_CONNECTS = "opens connections"

_BY_EFFECT = {
    _WRITES: """
        CacheDataset CacheDatasetV2 CalibrationStatisticsSaver CloseSummaryWriter CreateSummaryDbWriter
        CreateSummaryFileWriter DatasetToTFRecord DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount
        DebugNumericSummary DistributedSave DumpTensor ExperimentalDatasetToTFRecord ExperimentalSqlDataset
        FlushSummaryWriter ImportEvent LMDBDataset LMDBReader ExperimentalLMDBDataset MergeV2Checkpoints Save
        SaveDataset SaveDatasetV2 SaveSlices SaveV2 SnapshotDataset SnapshotDatasetV2 SqlDataset
        StatsAggregatorSetSummaryWriter SummaryWriter WriteAudioSummary WriteFile WriteGraphSummary
        WriteHistogramSummary WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary
    """,
    # These include ops that run a graph that is in a tensor, where nobody can see it.
    _RUNS: """
        DatasetFromGraph DeserializeIterator EagerPyFunc PyFunc PyFuncStateless
    """,
    _CONNECTS: """
        ConfigureDistributedTPU DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4
        FileSystemSetConfiguration RegisterDataset RegisterDatasetV2 RemoteCall RpcCall RpcCheckStatus RpcClient
        RpcGetValue RpcServer RpcServerRegister RpcServerStart
    """,
    # A read of a computed name can send a message to anybody: TensorFlow's file systems reach the network.
    READS: """
        CSVDataset CSVDatasetV2 DTensorRestoreV2 ExperimentalCSVDataset ExperimentalMatchingFilesDataset
        FixedLengthRecordDataset FixedLengthRecordDatasetV2 FixedLengthRecordReader FixedLengthRecordReaderV2
        ListSnapshotChunksDataset LoadAndRemapMatrix LoadDataset MatchingFiles MatchingFilesDataset ReadFile RecordInput
        Restore RestoreSlice RestoreV2 SnapshotChunkDataset SnapshotDatasetReader SnapshotNestedDatasetReader
        TFRecordDataset TFRecordDatasetV2 TFRecordReader TFRecordReaderV2 TextLineDataset TextLineReader
        TextLineReaderV2 WholeFileReader WholeFileReaderV2
    """,
}
EFFECTS = {op: effect for effect, ops in _BY_EFFECT.items() for op in ops.split()}
"""The side effect of each op."""

_PRINTS = "PrintV2"  # to the standard error, or to a file
_STREAMS = frozenset({b"stderr", b"stdout", b"log(info)", b"log(warning)", b"log(error)"})


def effect_of(node: NodeDef) -> str:
    """Returns the side effect of a node; empty if it only computes."""
    if node.op == _PRINTS and node.attr["output_stream"].s.lower() not in _STREAMS | {b""}:
        return _WRITES
    return EFFECTS.get(node.op, "")


_INITIALIZES = "__saved_model_init_op"
_INITIALIZERS = frozenset({"_create_resource", "_initialize", "create_resource", "initialize", "initializer"})
_DESTROYS = frozenset({"_destroy_resource", "destroy_resource"})
_ASSIGNS = frozenset({"Assign", "AssignVariableOp"})
_FILLS_TABLE = frozenset({"InitializeTableFromTextFile", "InitializeTableFromTextFileV2"})
_PASSES_ON = frozenset({"Identity", "PlaceholderWithDefault", "PreventGradient", "StopGradient"})
_READS_VARIABLE = "ReadVariableOp"
_VARIABLES = frozenset({"Variable", "VariableV2"})
_SHOWN = 5


class _Found(NamedTuple):
    """A node with a side effect; the function's name is empty for the graph itself."""

    node: NodeDef
    function: str
    effect: str

    def __str__(self) -> str:
        place = f" of function {self.function!r}" if self.function else ""
        return f"the op {self.node.op}, node {self.node.name!r}{place}, {self.effect}"


def refuse_side_effects(
    path: Path, tags: Collection[str] | None, outputs: Mapping[str, Iterable[str]], where: str
) -> None:
    """Refuses a model that has side effects when TensorFlow loads it and calls some of its signatures.

    Args:
        path: The folder of a SavedModel, or the file of a frozen graph.
        tags: The tags of the graph in the SavedModel; None for the only one, or the one for serving.
        outputs: The signatures that are called, with the names of their outputs, which are tensors of a frozen graph.
        where: The model's name, for errors.

    Raises:
        LitefuseError: It has an op with side effects that would run, or an asset that is not in its folder; or it
            cannot be read to find out.
    """
    if path.is_file():
        graph = read_graph(path)
        model = _Model.of(graph)
        fetched = {node_of(name) for names in outputs.values() for name in names}
        found = list(model.effects(fetched, ()))
    else:
        meta_graph = read_meta_graph(path, tags)
        for asset in meta_graph.asset_file_def:
            resolve_inside(path.resolve() / "assets", asset.filename)
        model = _Model.of(meta_graph.graph_def)
        found = [*_of_saved_model(model, meta_graph, outputs.keys(), str(path))]
    if not found:
        return
    shown = "; ".join(map(str, found[:_SHOWN]))
    more = f"; and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    raise LitefuseError(
        f"the original does more than compute when it is run: {shown}{more}",
        where=where,
        hint="If you trust it, run it anyway: --allow-side-effects, or allow_side_effects=True.",
    )


@dataclass(frozen=True)
class _Model:
    """A graph and its functions, also by the value of a common attribute: those may run in place of one another."""

    nodes: Nodes
    functions: Mapping[str, FunctionDef]
    alike: Mapping[bytes, list[str]] = field(repr=False)

    @classmethod
    def of(cls, graph: GraphDef) -> _Model:
        functions = {each.signature.name: each for each in graph.library.function}
        alike: dict[bytes, list[str]] = {}
        for name, function in functions.items():
            if KERAS_IMPLEMENTS in function.attr:
                alike.setdefault(function.attr[KERAS_IMPLEMENTS].s, []).append(name)
        return cls(Nodes.of(graph.node), functions, alike)

    def effects(self, nodes: Iterable[str], functions: Iterable[str], *, may_read: bool = False) -> Iterator[_Found]:
        """Yields the side effects of the nodes that these nodes need, and of all functions called there or given."""
        # With each function, whether its arguments are those that the model was saved with, and not computed ones.
        calls = [(name, True) for name in functions]
        needed = Nodes.of(self.nodes.needed(nodes))
        yield from self._effects_of(needed, "", calls, is_given=True, may_read=may_read)
        seen: set[tuple[str, bool]] = set()
        while calls:
            call = calls.pop()
            name, is_given = call
            if call in seen or name not in self.functions:
                continue
            seen.add(call)
            function = self.functions[name]
            calls += [(each, is_given) for each in self._called("", function.attr.values())]
            if KERAS_IMPLEMENTS in function.attr:
                calls += [(each, is_given) for each in self.alike[function.attr[KERAS_IMPLEMENTS].s]]
            within = Nodes.of(function.node_def)
            yield from self._effects_of(within, name, calls, is_given=is_given, may_read=may_read)

    def _effects_of(
        self,
        nodes: Nodes,
        function: str,
        calls: list[tuple[str, bool]],
        *,
        is_given: bool,
        may_read: bool,
    ) -> Iterator[_Found]:
        """Yields the side effects of a function's nodes; adds the functions that they call to ``calls``."""
        for node in nodes.values():
            effect = effect_of(node)
            if node.op in _FILLS_TABLE and not _are_given(node.input[1:2], nodes, is_given=is_given):
                effect = READS
            if effect and not (may_read and effect == READS):
                yield _Found(node, function, effect)
            called = list(self._called(node.op, node.attr.values()))
            if called:
                given = _are_given(node.input, nodes, is_given=is_given)
                calls += [(each, given) for each in called]

    def _called(self, op: str, attributes: Iterable[AttrValue]) -> Iterator[str]:
        """Yields the functions that a node or a function names: as its op, or in an attribute of any kind."""
        if op in self.functions:
            yield op
        for value in attributes:
            for function in functions_in(value):
                yield function.name
                yield from self._called("", function.attr.values())
            for text in (value.s, *value.list.s):
                if text and (name := text.decode(errors="replace")) in self.functions:
                    yield name


def _of_saved_model(model: _Model, meta_graph: MetaGraphDef, keys: Collection[str], where: str) -> Iterator[_Found]:
    graph = ObjectGraph.from_proto(meta_graph.object_graph_def, where)
    every = [set(_functions_of(graph, number)) for number in range(len(graph.nodes))]
    run: set[str] = set()
    for number, children in enumerate(graph.children):
        for name, child in children.items():
            if name in _INITIALIZERS | _DESTROYS:
                run |= every[child]
        for saveable in graph.nodes[number].saveable_objects.values():
            if 0 <= saveable.restore_function < len(every):
                run |= every[saveable.restore_function]
    signatures = graph.children[0].get("signatures") if graph.nodes else None
    if signatures is not None:
        for key, child in graph.children[signatures].items():
            run |= every[child] if key in keys else set()

    definitions = meta_graph.signature_def
    called = [definitions[key] for key in definitions if key in keys or key == _INITIALIZES]
    started = {node for definition in called for each in definition.outputs.values() for node in _nodes_of(each)}
    yield from model.effects(started, run)
    # What TensorFlow runs to restore and initialize a TensorFlow 1 model; it has to read the checkpoint.
    restores = {node_of(meta_graph.saver_def.restore_op_name), *_collected(meta_graph, where)}
    restores |= {name for name, node in model.nodes.items() if node.op in _ASSIGNS}
    yield from model.effects(restores - started, (), may_read=True)


def _functions_of(graph: ObjectGraph, number: int) -> Iterator[str]:
    """Yields the functions that an object of the model represents: all traces of a function."""
    saved = graph.nodes[number]
    yield from saved.function.concrete_functions
    if saved.bare_concrete_function.concrete_function_name:
        yield saved.bare_concrete_function.concrete_function_name


def _nodes_of(tensor: TensorInfo) -> Iterator[str]:
    """Yields the nodes of an output, which may consist of several tensors."""
    sparse = tensor.coo_sparse
    for name in (tensor.name, sparse.values_tensor_name, sparse.indices_tensor_name, sparse.dense_shape_tensor_name):
        yield node_of(name)
    for each in tensor.composite_tensor.components:
        yield from _nodes_of(each)


def _collected(meta_graph: MetaGraphDef, where: str) -> Iterator[str]:
    """Yields the nodes that the graph's collections name."""
    for key, content in meta_graph.collection_def.items():
        try:
            names = CollectionDef.FromString(content).node_list.value
        except (DecodeError, UnicodeDecodeError) as reason:
            raise SavedModelError(f"its collection {key!r} is damaged: {reason}", where=where) from None
        yield from map(node_of, names)


def _are_given(tensors: Iterable[str], nodes: Nodes, *, is_given: bool) -> bool:
    """Whether tensors are constants or given arguments, as the name of an asset is, and not computed."""
    return all(_is_given(node_of(each), nodes, is_given=is_given) for each in tensors)


def _is_given(name: str, nodes: Nodes, *, is_given: bool) -> bool:
    for _ in range(len(nodes) + 1):
        node = nodes.get(name)
        if node is None:
            return is_given  # an argument of the function
        inputs = [*map(node_of, data_inputs(node))]
        if node.op == _READS_VARIABLE and inputs:
            return inputs[0] in nodes and _holds_given(inputs[0], nodes)
        if node.op in _VARIABLES:
            return _holds_given(name, nodes)
        if node.op not in _PASSES_ON or not inputs:
            return not inputs  # a constant, a feed, a table
        name = inputs[0]
    return False  # they pass it on in a circle


def _holds_given(variable: str, nodes: Nodes) -> bool:
    """Whether a variable only ever holds given values: TensorFlow 2 keeps the path of an asset in one."""
    written = [
        node.input[1]
        for node in nodes.values()
        if node.op in _ASSIGNS and len(node.input) > 1 and node_of(node.input[0]) == variable
    ]
    values = [nodes.producer(value) for value in written]
    return all(value is not None and not value.input for value in values)
