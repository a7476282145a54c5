"""Import of a SavedModel's signatures, and all functions that they reach, as one MLIR module."""

from __future__ import annotations

import os
from collections import ChainMap
from collections.abc import Collection, Mapping, MutableMapping, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import NamedTuple, cast

import numpy as np

from litefuse.errors import GraphError, SignatureError
from litefuse.frontends.saved_model import (
    Asset,
    Capture,
    Constant,
    DataType,
    SavedModel,
    Signature,
    Table,
    TensorSpec,
    Variable,
    op_registry,
)
from litefuse.frontends.saved_model.control_flow import functionalize
from litefuse.frontends.saved_model.messages import FunctionDef
from litefuse.ir.importer.constants import constant, element_type, tensor_type
from litefuse.ir.importer.functions import FunctionImporter
from litefuse.ir.mlir import func, ir

_KERAS_ENDPOINT = "serve"
_DEFAULT = "serving_default"


def default_signatures(saved_model: SavedModel) -> tuple[str, ...]:
    """Returns all signatures of a model without duplicates.

    ``model.export()`` of Keras writes its endpoint both as ``serve`` and as ``serving_default``. Then only the second
    is converted, as by TFLiteConverter, since each signature is a separate subgraph in the file.

    Raises:
        SignatureError: The model has no signatures.
    """
    signatures = saved_model.signatures
    if not signatures:
        raise SignatureError(
            "the SavedModel has no signatures",
            where=str(saved_model.path),
            hint="Save it with tf.saved_model.save(module, path, signatures=module.function).",
        )
    keys = list(signatures)
    if set(keys) == {_DEFAULT, _KERAS_ENDPOINT} and _same(saved_model, *signatures.values()):
        keys.remove(_KERAS_ENDPOINT)
    return tuple(keys)


def left_out_signatures(saved_model: SavedModel, converted: Collection[str], *, chosen: bool) -> dict[str, str]:
    """Returns why each of the other signatures is not converted, and how to convert it.

    Args:
        saved_model: The model.
        converted: The keys of the signatures that are converted.
        chosen: Whether the user chose these; otherwise they are ``default_signatures``.
    """
    why = "it was not selected" if chosen else f"it computes the same as {_DEFAULT}"
    left_out = {
        key: f"{why}; signatures=[{key!r}] (--signature={key}) converts it"
        for key in saved_model.signatures
        if key not in converted
    }
    return left_out | {
        key: f"it cannot be used: {error.message}" for key, error in saved_model.unusable_signatures.items()
    }


def _same(saved_model: SavedModel, one: Signature, other: Signature) -> bool:
    """Whether two signatures are wrappers around the same function."""
    if (one.inputs, one.input_indices, one.outputs, one.output_indices, one.captures) != (
        other.inputs,
        other.input_indices,
        other.outputs,
        other.output_indices,
        other.captures,
    ):
        return False
    a, b = saved_model.functions[one.function], saved_model.functions[other.function]
    return list(a.node_def) == list(b.node_def) and dict(a.ret) == dict(b.ret)


class EntryPoint(NamedTuple):
    """An exported function of the module.

    Attributes:
        symbol: The function's symbol; also the key of the signature.
        inputs: The names of its arguments, as users pass them.
        outputs: The names of its results.
        input_tensors: The arguments' tensor names in the TensorFlow graph, such as ``serving_default_x:0``.
        output_tensors: The results' tensor names, such as ``StatefulPartitionedCall:0``.
    """

    symbol: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    input_tensors: tuple[str, ...]
    output_tensors: tuple[str, ...]


class ImportedModule(NamedTuple):
    """A module with its metadata outside MLIR.

    Attributes:
        module: One func per function; the exported ones are public, with their signature's key as symbol.
        entry_points: The exported functions, in the requested order.
        variables: The variables by the ``shared_name`` of their ``tf.VarHandleOp``.
        tables: The hash tables by the ``shared_name`` of their ``tf.HashTableV2``.
    """

    module: ir.Module
    entry_points: tuple[EntryPoint, ...]
    variables: Mapping[str, Variable]
    tables: Mapping[str, Table]


def import_saved_model(saved_model: SavedModel, signatures: Sequence[str] | None = None) -> ImportedModule:
    """Imports signatures into the current MLIR context.

    Functions are not inlined and keep their annotations; only those that the signatures reach are imported. A captured
    variable is a ``tf.VarHandleOp`` in the exported function, and a hash table a ``tf.HashTableV2``; both are passed to
    callees as resource arguments.

    Args:
        saved_model: The model.
        signatures: The keys to import; None means all.

    Raises:
        SignatureError: No such key.
        GraphError: A function cannot be imported.
    """
    keys = list(saved_model.signatures) if signatures is None else list(dict.fromkeys(signatures))
    return _ModuleImporter(saved_model).run([saved_model.signature(key) for key in keys])


class _ModuleImporter:
    def __init__(self, saved_model: SavedModel) -> None:
        # A narrowed model makes its functions when they are accessed; only the first mapping is written to.
        functions = cast("MutableMapping[str, FunctionDef]", saved_model.functions)
        self._library: ChainMap[str, FunctionDef] = ChainMap({}, functions)
        self._module = ir.Module.create()
        self._registry = op_registry().with_others(saved_model.op_definitions)
        self._functions = FunctionImporter(self._library, self._registry, self._symbol)
        self._symbols: dict[str, str] = {}  # the symbol of each library function that is imported or pending
        self._pending: list[str] = []
        self._current = ""  # the function being imported; empty for exported functions, which are never callees
        self._references: dict[str, set[str]] = {}
        self._reserved: set[str] = set()
        self._variables: dict[str, Variable] = {}
        self._tables: dict[str, Table] = {}
        self._resource_names: dict[int, str] = {}

    def run(self, signatures: Sequence[Signature]) -> ImportedModule:
        self._reserved = {signature.key for signature in signatures}
        entry_points = tuple(self._import_entry(signature) for signature in signatures)
        while self._pending:
            name = self._current = self._pending.pop()
            self._functions.import_function(self._function(name), self._symbols[name], self._module)
        self._refuse_recursion()
        return ImportedModule(self._module, entry_points, self._variables, self._tables)

    def _function(self, name: str) -> FunctionDef:
        """Returns a function with its TensorFlow 1 control flow functionalized; adds new functions to the library."""
        function, made = functionalize(self._library[name], self._library, self._registry)
        self._library.update({new.signature.name: new for new in made})
        return function

    def _refuse_recursion(self) -> None:
        try:
            TopologicalSorter(self._references).prepare()
        except CycleError as error:
            cycle = " -> ".join(reversed(error.args[1]))
            raise GraphError(f"the functions call each other in a cycle: {cycle}") from error

    def _symbol(self, function: str) -> str:
        self._references.setdefault(self._current, set()).add(function)
        if function not in self._symbols:
            symbol = function
            while symbol in self._reserved:
                symbol += "_"
            self._reserved.add(symbol)
            self._symbols[function] = symbol
            self._pending.append(function)
        return self._symbols[function]

    def _import_entry(self, signature: Signature) -> EntryPoint:
        if not signature.key:
            raise GraphError("a signature has an empty name", hint="Give it a name, or select others by their names.")
        function = self._function(signature.function)
        where = f"signature {signature.key}"
        try:
            types = [tensor_type(spec.dtype, spec.shape) for spec in signature.inputs]
        except GraphError as error:
            raise GraphError(error.message, where=where) from error
        location = ir.Location.name(signature.key)
        with ir.InsertionPoint(self._module.body):
            op = func.FuncOp(signature.key, ir.FunctionType.get(types, []), visibility="public", loc=location)
        block = op.add_entry_block([ir.Location.name(name) for name in signature.input_tensors])
        with ir.InsertionPoint(block):
            captures = [self._capture(capture, where) for capture in signature.captures]
            arguments = [block.arguments[signature.input_indices.index(place)] for place in range(len(types))]
            results = self._functions.import_body(function, [*arguments, *captures])
            outputs = [results[index] for index in signature.output_indices]
            func.ReturnOp(outputs)
        op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, [value.type for value in outputs]))
        return EntryPoint(
            symbol=signature.key,
            inputs=_names(signature.inputs),
            outputs=_names(signature.outputs),
            input_tensors=signature.input_tensors,
            output_tensors=signature.output_tensors,
        )

    def _capture(self, capture: Capture, where: str) -> ir.Value:
        """Emits the value that represents a captured object in an exported function."""
        if isinstance(capture, Variable):
            return self._variable_handle(capture)
        if isinstance(capture, Constant):
            return constant(capture.read(), capture.dtype, ir.Location.name(capture.name))
        if isinstance(capture, Asset):
            path = np.array(os.fsencode(capture.path), object)
            return constant(path, DataType.STRING, ir.Location.name(capture.filename))
        if isinstance(capture, Table):
            return self._table_handle(capture)
        raise GraphError(
            f"it uses {capture.name or 'an object'} ({capture.registered_name or capture.kind}), "
            "which is not supported yet",
            where=where,
            hint="Replace the resource by tensor ops, or export a signature that does not use it.",
        )

    def _variable_handle(self, variable: Variable) -> ir.Value:
        name = self._resource_name(variable)
        self._variables[name] = variable
        value = tensor_type(variable.dtype, variable.shape)
        return _handle("tf.VarHandleOp", ir.Type.parse(f"tensor<!tf_type.resource<{value}>>"), name, {})

    def _table_handle(self, table: Table) -> ir.Value:
        name = self._resource_name(table)
        self._tables[name] = table
        attributes: dict[str, ir.Attribute] = {
            "key_dtype": ir.TypeAttr.get(element_type(table.key_dtype)),
            "value_dtype": ir.TypeAttr.get(element_type(table.value_dtype)),
            "use_node_name_sharing": ir.BoolAttr.get(False),
        }
        return _handle("tf.HashTableV2", tensor_type(DataType.RESOURCE, ()), name, attributes)

    def _resource_name(self, capture: Variable | Table) -> str:
        """Returns a name that no other resource of the module has."""
        name = self._resource_names.get(capture.node_id)
        if name is None:
            name = capture.name
            while name in self._resource_names.values():
                name += f"_{capture.node_id}"
            self._resource_names[capture.node_id] = name
        return name


def _handle(op: str, kind: ir.Type, name: str, attributes: dict[str, ir.Attribute]) -> ir.Value:
    attributes |= {"container": ir.StringAttr.get(""), "shared_name": ir.StringAttr.get(name)}
    return ir.Operation.create(op, results=[kind], attributes=attributes, loc=ir.Location.name(name)).result


def _names(specs: Sequence[TensorSpec]) -> tuple[str, ...]:
    return tuple(spec.name for spec in specs)
