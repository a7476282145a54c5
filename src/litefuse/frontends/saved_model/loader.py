"""Loader of SavedModels: the entry point of this package."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from litefuse.errors import SavedModelError, SignatureError
from litefuse.frontends.saved_model.argument_order import output_names
from litefuse.frontends.saved_model.captures import Asset, Constant, ResourceObject, Table
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.frontends.saved_model.messages import AssetFileDef, CollectionDef, MetaGraphDef, NodeDef
from litefuse.frontends.saved_model.messages import SavedModel as SavedModelProto
from litefuse.frontends.saved_model.model import SavedModel
from litefuse.frontends.saved_model.nodes import Nodes, node_of
from litefuse.frontends.saved_model.object_graph import ObjectGraph
from litefuse.frontends.saved_model.op_registry import op_registry
from litefuse.frontends.saved_model.regular_file import read_regular, resolve_inside
from litefuse.frontends.saved_model.signatures import INTERNAL_KEYS, Signature, SignatureReader
from litefuse.frontends.saved_model.tensor_bundle import TensorBundle
from litefuse.frontends.saved_model.variables import checkpoint_keys, load_variables
from litefuse.support.files.readable import GRAPH_FILES
from litefuse.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from litefuse.frontends.saved_model.graph_signatures import GraphSignatures

_DEFAULT_TAGS = frozenset({"serve"})
_ASSETS_COLLECTION = "saved_model_assets"


def is_graph_file(path: Path) -> bool:
    """Whether a path is a file whose name says that it may hold a graph."""
    return path.suffix in GRAPH_FILES and path.stem != "saved_model" and path.is_file()


def load(
    path: str | os.PathLike[str],
    tags: Collection[str] | None = None,
    *,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
) -> SavedModel:
    """Reads a SavedModel (without the values of its variables) or a frozen graph.

    Args:
        path: The SavedModel's folder, or the file of a frozen graph (``.pb``, ``.pbtxt``).
        tags: The tags of the meta graph to load; None for the only one, or else the one tagged ``serve`` alone.
        input_arrays: The input tensors of a frozen graph; see ``load_graph``.
        output_arrays: The output tensors of a frozen graph.

    Raises:
        SavedModelError: It is neither, is damaged, or none of its signatures can be used.
        SignatureError: No meta graph has these tags, or the graph has no such tensors.
        CheckpointError: The index of the variables is missing or damaged.
    """
    if is_graph_file(Path(path)):
        if tags is not None:
            raise SignatureError("a frozen graph has no tags", where=str(path))
        from litefuse.frontends.saved_model.graph_def import load_graph  # few models are one

        return load_graph(Path(path), input_arrays, output_arrays)
    folder = _find_folder(Path(path))
    if input_arrays is not None or output_arrays is not None:
        raise SignatureError(
            "inputs and outputs can be named for a frozen graph only: those of a SavedModel are its signatures'",
            where=str(folder),
            hint="Choose signatures instead.",
        )
    return _Loader(folder, read_meta_graph(folder, tags)).load()


def read_meta_graph(path: Path, tags: Collection[str] | None) -> MetaGraphDef:
    """Reads a meta graph of a SavedModel as it is in its file.

    Args:
        path: The SavedModel's folder.
        tags: As in :func:`load`.

    Raises:
        SavedModelError: It is not a SavedModel, or is damaged.
        SignatureError: No meta graph has these tags.
    """
    folder = _find_folder(path)
    where = str(folder)
    try:
        proto = SavedModelProto.FromString(read_regular(folder, "saved_model.pb"))
    except (DecodeError, UnicodeDecodeError) as reason:
        message = f"saved_model.pb is damaged, or not a SavedModel: {reason}"
        raise SavedModelError(message, where=where) from None
    return _select_meta_graph(list(proto.meta_graphs), None if tags is None else frozenset(tags), where)


def _find_folder(path: Path) -> Path:
    """Returns the SavedModel's folder with symbolic links resolved; explains what else ``path`` may be."""
    if os.path.lexists(path / "saved_model.pb"):
        return path.resolve()
    from litefuse.frontends.saved_model.other_files import refuse_other_path

    return refuse_other_path(path)


def _select_meta_graph(meta_graphs: list[MetaGraphDef], tags: frozenset[str] | None, where: str) -> MetaGraphDef:
    if not meta_graphs:
        raise SavedModelError("saved_model.pb holds no graph: it is empty, truncated or not a SavedModel", where=where)
    if tags is None and len(meta_graphs) == 1:
        return meta_graphs[0]
    wanted = _DEFAULT_TAGS if tags is None else tags
    for meta_graph in meta_graphs:
        if frozenset(meta_graph.meta_info_def.tags) == wanted:
            return meta_graph
    available = "; ".join(_tag_list(frozenset(meta_graph.meta_info_def.tags)) for meta_graph in meta_graphs)
    message = f"no graph is tagged {_tag_list(wanted)}"
    raise SignatureError(message, where=where, hint=f"The graphs are tagged: {available}.")


def _tag_list(tags: frozenset[str]) -> str:
    return ", ".join(sorted(tags)) or "(no tag)"


class _Loader(Record):
    """Turns a meta graph into a :class:`SavedModel`."""

    folder: Path
    meta_graph: MetaGraphDef

    def load(self) -> SavedModel:
        graph = ObjectGraph.from_proto(self.meta_graph.object_graph_def, str(self.folder))
        paths = graph.paths()
        nodes = Nodes.of(self.meta_graph.graph_def.node)
        functions = {function.signature.name: function for function in self.meta_graph.graph_def.library.function}
        of_model = output_names(self.folder)
        reader = SignatureReader(nodes, functions, graph.concrete_functions, graph.signature_functions(), of_model)
        assets = self._assets(graph)

        @functools.cache
        def from_graph() -> GraphSignatures:
            from litefuse.frontends.saved_model.graph_signatures import GraphSignatures, initial_values  # as above

            return GraphSignatures(
                folder=self.folder,
                nodes=nodes,
                registry=op_registry(),
                assets=self._assets_by_node(),
                functions=functions,
                first_id=len(graph.nodes),
                initial=initial_values(self.meta_graph, nodes, op_registry()),
            )

        unusable: dict[str, SavedModelError] = {}
        signatures: dict[str, Signature] = {}
        tables: dict[int, Table] = {}
        resources = _resources(graph, paths)
        model = SavedModel(
            path=self.folder,
            tags=frozenset(self.meta_graph.meta_info_def.tags),
            tensorflow_version=self.meta_graph.meta_info_def.tensorflow_version,
            functions=MappingProxyType(functions),
            op_definitions=tuple(self.meta_graph.meta_info_def.stripped_op_list.op),
            signatures=MappingProxyType(signatures),
            variables=MappingProxyType(load_variables(self.folder, graph, paths)),
            constants=MappingProxyType(self._constants(graph, nodes)),
            assets=MappingProxyType(assets),
            tables=MappingProxyType(tables),
            resources=MappingProxyType(resources),
            unusable_signatures=MappingProxyType(unusable),
            bound_inputs={name: tuple(saved.bound_inputs) for name, saved in graph.concrete_functions.items()},
        )
        for number in list(resources):
            from litefuse.frontends.saved_model.tables import table_of_resource  # few models have such objects

            checkpoint = functools.partial(self._checkpoint_of_table, graph, number)
            table = table_of_resource(resources[number], functions, model.captures, op_registry(), checkpoint)
            if table is not None:
                tables[number] = table
                del resources[number]
        for key in sorted(set(self.meta_graph.signature_def) - INTERNAL_KEYS):
            definition = self.meta_graph.signature_def[key]
            function = reader.function_of(key, definition)
            try:
                if function is None:
                    signatures[key] = from_graph().read(key, definition)
                else:
                    signatures[key] = reader.read(key, definition, function, model.captures(function))
            except SavedModelError as error:
                unusable[key] = error
        if unusable and not signatures:
            raise next(iter(unusable.values()))
        return model

    def _checkpoint_of_table(self, graph: ObjectGraph, number: int) -> tuple[TensorBundle, str] | None:
        """Returns the checkpoint and the key under which it holds a mutable table."""
        bundle = TensorBundle.open(self.folder)
        keys = checkpoint_keys(bundle, graph).get(number, {}).values()
        return next(((bundle, key) for key in keys if f"{key}-keys" in bundle), None)

    def _constants(self, graph: ObjectGraph, nodes: Mapping[str, NodeDef]) -> dict[int, Constant]:
        constants: dict[int, Constant] = {}
        for number, saved in enumerate(graph.nodes):
            if saved.WhichOneof("kind") != "constant":
                continue
            name = saved.constant.operation
            node = nodes.get(name)
            if node is None or node.op != "Const" or not node.attr["value"].HasField("tensor"):
                message = f"constant {name!r} (object {number}) is not a Const node of the graph"
                raise SavedModelError(message, where=str(self.folder))
            tensor = node.attr["value"].tensor
            dtype = DataType.from_proto(tensor.dtype, f"constant {name!r}")
            constants[number] = Constant(
                number, name, dtype, tuple(dim.size for dim in tensor.tensor_shape.dim), tensor
            )
        return constants

    def _assets(self, graph: ObjectGraph) -> dict[int, Asset]:
        files = self.meta_graph.asset_file_def
        assets: dict[int, Asset] = {}
        for number, saved in enumerate(graph.nodes):
            if saved.WhichOneof("kind") != "asset":
                continue
            index = saved.asset.asset_file_def_index
            if not 0 <= index < len(files):
                raise SavedModelError(f"asset {index} (object {number}) does not exist", where=str(self.folder))
            assets[number] = self._asset(number, files[index].filename)
        return assets

    def _assets_by_node(self) -> dict[str, Asset]:
        """Returns the assets, by the nodes of the top-level graph that hold their paths."""
        definitions = [*self.meta_graph.asset_file_def]
        if _ASSETS_COLLECTION in self.meta_graph.collection_def:  # where TensorFlow 1 lists them
            try:
                collection = CollectionDef.FromString(self.meta_graph.collection_def[_ASSETS_COLLECTION])
                definitions += [AssetFileDef.FromString(file.value) for file in collection.any_list.value]
            except (DecodeError, UnicodeDecodeError) as reason:
                raise SavedModelError(f"its list of assets is damaged: {reason}", where=str(self.folder)) from None
        return {
            node_of(definition.tensor_info.name): self._asset(-1, definition.filename) for definition in definitions
        }

    def _asset(self, number: int, filename: str) -> Asset:
        resolve_inside(self.folder / "assets", filename)
        return Asset(number, filename, self.folder)


def _resources(graph: ObjectGraph, paths: Mapping[int, tuple[str, ...]]) -> dict[int, ResourceObject]:
    """Returns the objects captured by functions that are not variables, constants or assets."""
    captured = {node for saved in graph.concrete_functions.values() for node in saved.bound_inputs}
    resources: dict[int, ResourceObject] = {}
    for number, saved in enumerate(graph.nodes):
        kind = saved.WhichOneof("kind") or ""
        if kind == "resource" or (number in captured and kind in ("captured_tensor", "user_object")):
            functions = {name: graph.function_name(child) for name, child in graph.children[number].items()}
            resources[number] = ResourceObject(
                node_id=number,
                name=".".join(paths.get(number, ())),
                kind=kind,
                registered_name=saved.registered_name,
                functions=MappingProxyType({name: function for name, function in functions.items() if function}),
            )
    return resources
