"""Loading a SavedModel: the public entry of this room."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from google.protobuf.message import DecodeError

from litefuse.errors import SavedModelError, SignatureError
from litefuse.saved_model.captures import Asset, Capture, Constant, ResourceObject, Variable
from litefuse.saved_model.dtypes import DataType
from litefuse.saved_model.messages import FunctionDef, MetaGraphDef, NodeDef, OpDef
from litefuse.saved_model.messages import SavedModel as SavedModelProto
from litefuse.saved_model.object_graph import ObjectGraph
from litefuse.saved_model.regular_file import read_regular, resolve_inside
from litefuse.saved_model.signatures import INTERNAL_KEYS, Signature, SignatureReader
from litefuse.saved_model.variables import load_variables

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

__all__ = ["SavedModel", "load"]

_DEFAULT_TAGS = frozenset({"serve"})


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A TensorFlow 2 SavedModel, read from disk; the variables' values stay there until they are asked for.

    Attributes:
        path: The folder.
        tags: The tags of the meta graph that was loaded.
        tensorflow_version: The release that saved it.
        functions: The function library by name.
        op_definitions: The definitions of the ops that it uses, among them those of other libraries than TensorFlow, as
            the process that saved it had them.
        signatures: The signatures that can be used, by key, in alphabetical order.
        variables: The variables by their node in the object graph.
        constants: The captured constants, in the same way.
        assets: The assets, in the same way.
        resources: Other resources, such as hash tables, in the same way.
        unusable_signatures: Why each of the remaining signatures cannot be used.
    """

    path: Path
    tags: frozenset[str]
    tensorflow_version: str
    functions: Mapping[str, FunctionDef] = field(repr=False)
    op_definitions: Sequence[OpDef] = field(repr=False)
    signatures: Mapping[str, Signature]
    variables: Mapping[int, Variable] = field(repr=False)
    constants: Mapping[int, Constant] = field(repr=False)
    assets: Mapping[int, Asset] = field(repr=False)
    resources: Mapping[int, ResourceObject] = field(repr=False)
    unusable_signatures: Mapping[str, SavedModelError]
    _bound_inputs: Mapping[str, tuple[int, ...]] = field(repr=False)

    def signature(self, key: str) -> Signature:
        """Return a signature.

        Raises:
            SignatureError: There is none of that name; the error lists those that there are.
            SavedModelError: It is there, but cannot be used.
        """
        found = self.signatures.get(key)
        if found is not None:
            return found
        if key in self.unusable_signatures:
            raise self.unusable_signatures[key]
        if not self.signatures:
            raise SignatureError(
                f"no signature {key!r}: the SavedModel has no signatures",
                where=str(self.path),
                hint="Save it with tf.saved_model.save(module, path, signatures=module.function).",
            )
        close = difflib.get_close_matches(key, self.signatures, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(repr(name) for name in self.signatures)
        raise SignatureError(
            f"no signature {key!r}.{guess}", where=str(self.path), hint=f"The signatures are {listed}."
        )

    def captures(self, function: str) -> tuple[Capture, ...]:
        """Return what stands behind the last arguments of a function, for any function that the object graph knows.

        That is every traced function, not the callees inside the library.

        Raises:
            SavedModelError: The object graph does not know the function, or it captures something that is no tensor.
        """
        bound = self._bound_inputs.get(function)
        if bound is None:
            message = f"function {function!r} is not in the object graph, so what it captures is not known"
            raise SavedModelError(message, where=str(self.path))
        captures: list[Capture] = []
        for node in bound:
            sources = (self.variables, self.constants, self.assets, self.resources)
            capture = next((source[node] for source in sources if node in source), None)
            if capture is None:
                message = (
                    f"function {function!r} captures object {node}, which is no variable, constant, asset or resource"
                )
                raise SavedModelError(message, where=str(self.path))
            captures.append(capture)
        return tuple(captures)


def load(path: str | os.PathLike[str], tags: Collection[str] | None = None) -> SavedModel:
    """Read a SavedModel, without its variables' values.

    Args:
        path: Its folder.
        tags: The tags of the meta graph to load; None for the only one, or else the one tagged ``serve`` alone.

    Raises:
        SavedModelError: The folder is not a SavedModel, is damaged, or is one of TensorFlow 1.
        SignatureError: No meta graph has these tags.
        CheckpointError: The index of the variables is missing or damaged.
    """
    folder = _find_folder(Path(path))
    where = str(folder)
    try:
        proto = SavedModelProto.FromString(read_regular(folder, "saved_model.pb"))
    except (DecodeError, UnicodeDecodeError) as reason:
        message = f"saved_model.pb is damaged, or not a SavedModel: {reason}"
        raise SavedModelError(message, where=where) from None
    meta_graph = _select_meta_graph(list(proto.meta_graphs), None if tags is None else frozenset(tags), where)
    return _Loader(folder, meta_graph).load()


def _find_folder(path: Path) -> Path:
    """Return the SavedModel's folder with symbolic links resolved; explain what else ``path`` may be."""
    where = str(path)
    try:
        folder = path.resolve()
        is_folder, exists = folder.is_dir(), folder.exists()
    except (OSError, RuntimeError, ValueError) as reason:
        raise SavedModelError(f"the path cannot be resolved: {reason}", where=where) from None
    if not exists:
        raise SavedModelError("there is no such folder", where=where)
    if not is_folder:
        message, hint = _OTHER_FILES.get(
            path.suffix.lower(), ("this is a file, not a SavedModel", "Give the SavedModel's folder.")
        )
        if path.name == "saved_model.pb":
            message, hint = "this is a file of a SavedModel", f"Give the folder that holds it: {path.parent}"
        raise SavedModelError(message, where=where, hint=hint)
    if os.path.lexists(folder / "saved_model.pb"):
        return folder
    for name, (message, hint) in _OTHER_FORMS.items():
        if os.path.lexists(folder / name):
            raise SavedModelError(message, where=where, hint=hint)
    raise SavedModelError("the folder holds no saved_model.pb, so it is not a SavedModel", where=where)


_EXPORT_HINT = "Load it with keras.models.load_model and write a SavedModel with model.export(folder)."
_OTHER_FILES = {
    ".h5": ("this is a Keras HDF5 file, not a SavedModel", _EXPORT_HINT),
    ".hdf5": ("this is a Keras HDF5 file, not a SavedModel", _EXPORT_HINT),
    ".keras": ("this is a Keras file, not a SavedModel", _EXPORT_HINT),
    ".tflite": ("this is a LiteRT model already, not a SavedModel", "Give the SavedModel that it was made from."),
    ".pb": ("this is a file, perhaps a frozen graph of TensorFlow 1, not a SavedModel", "Give a SavedModel's folder."),
}
_OTHER_FORMS = {
    "saved_model.pbtxt": (
        "the SavedModel is in text form (saved_model.pbtxt), which is not read",
        "Load it in TensorFlow and save it again: tf.saved_model.save writes the binary form.",
    ),
    "saved_model.cpb": (
        "the SavedModel is in chunks (saved_model.cpb), which are not read",
        "Save it again without experimental_image_format.",
    ),
    "keras_metadata.pb": ("the folder has Keras metadata, but no saved_model.pb", "Save the model again."),
}


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


@dataclass(frozen=True)
class _Loader:
    """Turns a meta graph into a :class:`SavedModel`."""

    folder: Path
    meta_graph: MetaGraphDef

    def load(self) -> SavedModel:
        graph = ObjectGraph.from_proto(self.meta_graph.object_graph_def, str(self.folder))
        paths = graph.paths()
        nodes = {node.name: node for node in self.meta_graph.graph_def.node}
        functions = {function.signature.name: function for function in self.meta_graph.graph_def.library.function}
        reader = SignatureReader(nodes, functions, graph.concrete_functions, graph.signature_functions())
        unusable: dict[str, SavedModelError] = {}
        signatures: dict[str, Signature] = {}
        model = SavedModel(
            path=self.folder,
            tags=frozenset(self.meta_graph.meta_info_def.tags),
            tensorflow_version=self.meta_graph.meta_info_def.tensorflow_version,
            functions=MappingProxyType(functions),
            op_definitions=tuple(self.meta_graph.meta_info_def.stripped_op_list.op),
            signatures=MappingProxyType(signatures),
            variables=MappingProxyType(load_variables(self.folder, graph, paths)),
            constants=MappingProxyType(self._constants(graph, nodes)),
            assets=MappingProxyType(self._assets(graph)),
            resources=MappingProxyType(_resources(graph, paths)),
            unusable_signatures=MappingProxyType(unusable),
            _bound_inputs={name: tuple(saved.bound_inputs) for name, saved in graph.concrete_functions.items()},
        )
        for key in sorted(set(self.meta_graph.signature_def) - INTERNAL_KEYS):
            definition = self.meta_graph.signature_def[key]
            function = reader.function_of(key, definition)
            if function is None:
                unusable[key] = self._tensorflow_1_error(f"signature {key!r} is of")
                continue
            try:
                signatures[key] = reader.read(key, definition, function, model.captures(function))
            except SavedModelError as error:
                unusable[key] = error
        if unusable and not signatures:
            raise next(iter(unusable.values()))
        if not graph.nodes:
            raise self._tensorflow_1_error("the SavedModel is of")
        return model

    def _tensorflow_1_error(self, subject: str) -> SavedModelError:
        return SavedModelError(
            f"{subject} the TensorFlow 1 style (nodes of the top-level graph, no function), which is not supported yet",
            where=str(self.folder),
            hint="Load it in TensorFlow 2 with model = tf.saved_model.load(path) and save it again with "
            "tf.saved_model.save(model, new_path, signatures=model.signatures).",
        )

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
            filename = files[index].filename
            resolve_inside(self.folder / "assets", filename)
            assets[number] = Asset(number, filename, self.folder)
        return assets


def _resources(graph: ObjectGraph, paths: Mapping[int, tuple[str, ...]]) -> dict[int, ResourceObject]:
    """Return the objects that a function captures and that are neither variable, constant nor asset."""
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
