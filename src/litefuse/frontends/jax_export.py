"""Exported JAX functions (``jax.export.export(jax.jit(f))(...)``) as sources: a SavedModel without TensorFlow."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.frontends.source import Source

_KEY = "serving_default"
_TAG = "serve"


def jax_export_source(model: object) -> Source | None:
    """Returns the source for an exported JAX function, or None for another object.

    Raises:
        LitefuseError: It is a JAX function that has not been exported.
    """
    jax = sys.modules.get("jax")
    if jax is None:
        return None
    export = sys.modules.get("jax.export")
    if export is not None and isinstance(model, export.Exported):
        exported: Any = model
        return Source(f"JAX function {exported.fun_name!r}", write=lambda folder: write_exported(exported, folder))
    if type(model).__name__ == "PjitFunction" or hasattr(model, "lower"):
        what = getattr(model, "__name__", type(model).__name__)
        raise LitefuseError(
            f"the shapes of the inputs of the JAX function {what!r} are not known",
            hint=f"Export it: {exporting(model)}.",
        )
    return None


def needed_arguments(function: Callable[..., Any]) -> list[str]:
    """Returns what stands before each argument that a function needs: its name, where it is given by that."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return [""]
    needed = [one for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    return [f"{one.name}=" if one.kind is one.KEYWORD_ONLY else "" for one in needed]


def exporting(function: Any) -> str:
    """Returns the code that converts a JAX function."""
    specs = ", ".join(f"{name}jax.ShapeDtypeStruct((3, 4), 'float32')" for name in needed_arguments(function))
    return f"litefuse.convert(jax.export.export(jax.jit(f))({specs}))"


def write_exported(exported: Any, folder: Path, inputs: Sequence[str] | None = None) -> None:
    """Writes an exported function as a SavedModel with one signature, ``serving_default``; see :func:`write_exports`.

    Args:
        exported: The ``jax.export.Exported``.
        folder: The folder to write, which does not exist.
        inputs: The names of the inputs; None: the keys of each path, ``args_0`` and so on for positional ones.
    """
    write_exports({_KEY: (exported, inputs)}, folder)


def write_exports(exports: Mapping[str, tuple[Any, Sequence[str] | None]], folder: Path) -> None:
    """Writes exported functions as the signatures of a SavedModel.

    An output is named by the keys of its path; those of a sequence are ``output_0`` and so on.

    Args:
        exports: The ``jax.export.Exported`` of each signature, and the names of its inputs; None: the keys of each
            path. Symbolic dimensions of inputs become dynamic dimensions of the model.
        folder: The folder to write, which does not exist.

    Raises:
        LitefuseError: A function has side effects, runs on several devices or not on a CPU, or has an input or output
            of a dtype that TensorFlow lacks.
    """
    from litefuse.frontends.saved_model.messages import MetaGraphDef, SavedModel

    graph = MetaGraphDef(meta_info_def=MetaGraphDef.MetaInfoDef(tags=[_TAG]))
    for key, (exported, inputs) in exports.items():
        _check(exported)
        _add_signature(graph, key, exported, inputs)
    folder.mkdir(parents=True)
    model = SavedModel(saved_model_schema_version=1, meta_graphs=[graph])
    (folder / "saved_model.pb").write_bytes(model.SerializeToString())


def _add_signature(graph: Any, key: str, exported: Any, inputs: Sequence[str] | None) -> None:
    from litefuse.frontends.saved_model.messages import NodeDef, SignatureDef, TensorInfo

    taken = _names(exported.in_tree, len(exported.in_avals), "args") if inputs is None else list(inputs)
    given = _names(exported.out_tree, len(exported.out_avals), "output")
    prefix = "" if key == _KEY else f"{key}_"
    signature = SignatureDef(method_name="tensorflow/serving/predict")
    call = NodeDef(name=f"{prefix}main", op="XlaCallModule")
    for types in ("Tin", "Tout"):  # even if the function uses none of its inputs
        call.attr[types].list.SetInParent()
    for index, (name, aval) in enumerate(zip(taken, exported.in_avals, strict=True)):
        node = NodeDef(name=f"{prefix}input_{index}", op="Placeholder")
        dtype, shape = _type_of(aval, name)
        node.attr["dtype"].type = dtype
        node.attr["shape"].shape.CopyFrom(shape)
        graph.graph_def.node.append(node)
        signature.inputs[name].CopyFrom(TensorInfo(name=f"{node.name}:0", dtype=dtype, tensor_shape=shape))
        if index in exported.module_kept_var_idx:
            call.input.append(node.name)
            call.attr["Tin"].list.type.append(dtype)
    for index, (name, aval) in enumerate(zip(given, exported.out_avals, strict=True)):
        dtype, shape = _type_of(aval, name)
        call.attr["Tout"].list.type.append(dtype)
        call.attr["Sout"].list.shape.append(shape)
        call.attr["_output_shapes"].list.shape.append(shape)
        signature.outputs[name].CopyFrom(TensorInfo(name=f"{call.name}:{index}", dtype=dtype, tensor_shape=shape))
    call.attr["module"].s = exported.mlir_module_serialized
    call.attr["version"].i = exported.calling_convention_version
    call.attr["platforms"].list.s.extend(platform.upper().encode() for platform in exported.platforms)
    graph.graph_def.node.append(call)
    graph.signature_def[key].CopyFrom(signature)


def _check(exported: Any) -> None:
    if "cpu" not in exported.platforms:
        raise LitefuseError(
            f"it was exported for {', '.join(exported.platforms)}",
            hint="Export it for a CPU: jax.export.export(jax.jit(f), platforms=['cpu'])(...).",
        )
    if exported.nr_devices != 1:
        raise LitefuseError(f"it runs on {exported.nr_devices} devices", hint="Export a function of one device.")
    if exported.ordered_effects or exported.unordered_effects:
        raise LitefuseError("it has side effects", hint="Export it without callbacks and debugging prints.")


def _names(tree: Any, count: int, prefix: str) -> list[str]:
    """Returns a name for each leaf: the keys of its path, after the prefix if the first key is not a name."""
    util: Any = sys.modules["jax"].tree_util
    leaves, _ = util.tree_flatten_with_path(util.tree_unflatten(tree, list(range(count))))
    names: list[str] = []
    for path, _ in leaves:
        keys = [str(getattr(part, "key", getattr(part, "name", getattr(part, "idx", part)))) for part in path]
        if prefix == "args":  # of (args, kwargs)
            keys = keys[1:]
        names.append("_".join([prefix, *(keys or ["0"])] if not keys or keys[0].isdigit() else keys))
    if len(set(names)) < len(names):
        raise LitefuseError(
            f"two of its values have the same name: {', '.join(sorted(names))}",
            hint="Return, and take, dictionaries with other keys.",
        )
    return names


def _type_of(aval: Any, name: str) -> tuple[Any, Any]:
    from litefuse.frontends.saved_model.dtypes import DataType
    from litefuse.frontends.saved_model.messages import TensorShapeProto

    dtypes = {str(member): member for member in DataType}
    dtype = dtypes.get(str(aval.dtype))
    if dtype is None:
        raise LitefuseError(f"{name!r} is of dtype {aval.dtype}, which TensorFlow does not have")
    dims = [TensorShapeProto.Dim(size=size if isinstance(size, int) else -1) for size in aval.shape]
    return int(dtype), TensorShapeProto(dim=dims)
