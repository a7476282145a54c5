"""Signatures: the names and the order of a model's inputs and outputs, and the functions that they belong to.

A SavedModel contains this information three times. ``SignatureDef`` names inputs and outputs and maps each to a tensor
of the top-level graph. In that graph a node calls the signature's function with the placeholders and the captured
objects: its operands give the order. The object graph says which function it is and what it captures, and the
function's structured signature has the names once more, in case the graph was rewritten.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from litefuse.errors import SavedModelError
from litefuse.frontends.saved_model.argument_order import ranks_in_model
from litefuse.frontends.saved_model.dtypes import DataType, shape_from_proto
from litefuse.frontends.saved_model.nodes import Nodes, split_tensor_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from litefuse.frontends.saved_model.captures import Capture
    from litefuse.frontends.saved_model.dtypes import Shape
    from litefuse.frontends.saved_model.messages import (
        FunctionDef,
        NodeDef,
        SavedConcreteFunction,
        SignatureDef,
        TensorInfo,
    )

# The signatures of the initialization and training ops of the graph, which are not functions of the model.
INTERNAL_KEYS = frozenset({"__saved_model_init_op", "__saved_model_train_op"})
# The signature that Keras 2 makes of a model.
_OF_KERAS = "serving_default"
_IDENTITY = frozenset({"Identity"})
_CALL_OPS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})


class TensorSpec(NamedTuple):
    """An input or output of a signature.

    Attributes:
        name: The name that users pass or get.
        dtype: The element type.
        shape: The shape; None for an unknown dimension or an unknown rank.
    """

    name: str
    dtype: DataType
    shape: Shape | None


class Signature(NamedTuple):
    """A function of the model, with names for its arguments and results.

    The function takes its inputs, in the order that ``input_indices`` says, and then ``captures``.

    Attributes:
        key: The signature's name, such as ``serving_default``.
        function: The function's name in the library.
        inputs: The explicit arguments, in the order of the model's own function; see :mod:`.argument_order`.
        input_indices: The index of the function's parameter for each input.
        outputs: The outputs, in the order of the model's own function, then of their names.
        output_indices: The index of the function's result for each output. Two outputs may be the same result, and
            some results may not be outputs.
        input_tensors: For each input, its tensor in TensorFlow's top-level graph, such as ``serving_default_x:0``.
        output_tensors: The same for each output, such as ``StatefulPartitionedCall:0``.
        captures: The object behind each of the function's remaining arguments.
    """

    key: str
    function: str
    inputs: tuple[TensorSpec, ...]
    input_indices: tuple[int, ...]
    outputs: tuple[TensorSpec, ...]
    output_indices: tuple[int, ...]
    input_tensors: tuple[str, ...]
    output_tensors: tuple[str, ...]
    captures: tuple[Capture, ...]


class SignatureReader(NamedTuple):
    """Resolves the signatures of a meta graph.

    Attributes:
        nodes: The nodes of the top-level graph by name.
        functions: The function library.
        concrete_functions: The object graph's description of each function.
        signature_functions: The function of each signature, according to the object graph.
        model_outputs: The names of the outputs of a Keras 2 model, in its order.
    """

    nodes: Nodes
    functions: Mapping[str, FunctionDef]
    concrete_functions: Mapping[str, SavedConcreteFunction]
    signature_functions: Mapping[str, str]
    model_outputs: tuple[str, ...] = ()

    def function_of(self, key: str, definition: SignatureDef) -> str | None:
        """Returns the function of a signature, or None if its tensors are nodes of the top-level graph."""
        name = self.signature_functions.get(key)
        if name is None:
            calls = (self._call(info.name) for info in definition.outputs.values())
            name = next((_callee(node) for node, _ in filter(None, calls)), None)
        return name if name in self.concrete_functions else None

    def read(self, key: str, definition: SignatureDef, function: str, captures: tuple[Capture, ...]) -> Signature:
        """Resolves a signature.

        Raises:
            SavedModelError: The SavedModel contradicts itself, or a tensor is sparse or composite.
        """
        where = f"signature {key!r}"
        check_dense(definition, where)
        body = self.functions.get(function)
        if body is None:
            raise SavedModelError(f"its function {function!r} is not in the function library", where=where)
        count = len(body.signature.input_arg) - len(captures)
        names = self._input_names(definition, body, count)
        if names is None:
            expected = ", ".join(sorted(definition.inputs)) or "none"
            raise SavedModelError(f"its inputs ({expected}) are not the {count} arguments of {function!r}", where=where)
        indices = self._output_indices(definition, body)
        if indices is None:
            expected = ", ".join(sorted(definition.outputs))
            raise SavedModelError(f"its outputs ({expected}) are not results of {function!r}", where=where)
        ranks = ranks_in_model(function, self.functions)
        places = sorted(range(count), key=lambda place: ranks.parameters[place])
        outputs = sorted(indices, key=lambda name: (ranks.results[indices[name]], name))
        if key == _OF_KERAS and sorted(self.model_outputs) == sorted(outputs):
            outputs = self.model_outputs
        arguments, results = body.signature.input_arg, body.signature.output_arg
        return Signature(
            key=key,
            function=function,
            inputs=tuple(
                _spec(names[place], definition.inputs[names[place]], arguments[place].type, where) for place in places
            ),
            input_indices=tuple(places),
            outputs=tuple(
                _spec(name, definition.outputs[name], results[indices[name]].type, where) for name in outputs
            ),
            output_indices=tuple(indices[name] for name in outputs),
            input_tensors=tuple(definition.inputs[names[place]].name for place in places),
            output_tensors=tuple(definition.outputs[name].name for name in outputs),
            captures=captures,
        )

    def _call(self, tensor: str) -> tuple[NodeDef, int] | None:
        """Returns the call that produces a tensor of the top-level graph and the index of its result, or None."""
        name, index = split_tensor_name(self.nodes.origin(tensor, _IDENTITY))
        node = self.nodes.get(name)
        return (node, index) if node is not None and node.op in _CALL_OPS else None

    def _calls(self, definition: SignatureDef, function: str) -> list[tuple[NodeDef, int]] | None:
        """Returns each output's call of a function and result index, or None if not all outputs are its results."""
        calls = [self._call(info.name) for info in definition.outputs.values()]
        own = [call for call in calls if call is not None and _callee(call[0]) == function]
        return own if len(own) == len(calls) else None

    def _input_names(self, definition: SignatureDef, body: FunctionDef, count: int) -> Sequence[str] | None:
        """Returns the name of the input for each of the first ``count`` arguments; None if it cannot be determined."""
        if count < 0 or len(definition.inputs) != count:
            return None
        if not count:
            return ()
        function = body.signature.name
        by_tensor = {split_tensor_name(info.name): name for name, info in definition.inputs.items()}
        calls = self._calls(definition, function) or []
        candidates = [
            *([by_tensor.get(split_tensor_name(operand), "") for operand in node.input] for node, _ in calls[:1]),
            [_user_specified_name(body, position) for position in range(count)],
            # Keyword arguments are flattened in the order of their names.
            sorted(_keywords(self.concrete_functions[function])),
            [argument.name for argument in body.signature.input_arg],
        ]
        wanted = set(definition.inputs)
        return next(
            (names[:count] for names in candidates if len(names) >= count and set(names[:count]) == wanted), None
        )

    def _output_indices(self, definition: SignatureDef, body: FunctionDef) -> dict[str, int] | None:
        """Returns the index of the function's result for each output; None if it cannot be determined."""
        function = body.signature.name
        calls = self._calls(definition, function)
        if calls is not None:
            indices = {name: index for name, (_, index) in zip(definition.outputs, calls, strict=True)}
        else:
            # A dict of results is flattened in the order of its keys.
            keys = sorted(self.concrete_functions[function].output_signature.dict_value.fields)
            indices = {name: keys.index(name) for name in definition.outputs if name in keys}
        count = len(body.signature.output_arg)
        if len(indices) != len(definition.outputs) or any(not 0 <= index < count for index in indices.values()):
            return None
        return indices


def check_dense(definition: SignatureDef, where: str) -> None:
    """Rejects a signature with a sparse, ragged or composite tensor.

    Raises:
        SavedModelError: There is one; the message names it.
    """
    for name, info in (*definition.inputs.items(), *definition.outputs.items()):
        if info.WhichOneof("encoding") != "name":
            raise SavedModelError(
                f"{name!r} is a sparse, ragged or composite tensor",
                where=where,
                hint="Save a signature that takes and returns its dense components.",
            )


def _keywords(function: SavedConcreteFunction) -> Sequence[str]:
    """Returns the names of the keyword arguments in a canonical signature: the tuple (positional, keywords)."""
    values = function.canonicalized_input_signature.tuple_value.values
    return list(values[1].dict_value.fields) if len(values) == 2 else []


def _callee(call: NodeDef) -> str | None:
    # Looking up a key that a map field lacks would insert it.
    return call.attr["f"].func.name if "f" in call.attr else None


def _user_specified_name(function: FunctionDef, position: int) -> str:
    """Returns the name of an argument in Python, or an empty string."""
    value = function.arg_attr[position].attr.get("_user_specified_name") if position in function.arg_attr else None
    return value.s.decode(errors="replace") if value else ""


def _spec(name: str, info: TensorInfo, argument_type: int, where: str) -> TensorSpec:
    spec = tensor_spec(name, info, where)
    if spec.dtype != argument_type:
        raise SavedModelError(
            f"{name!r} is declared as {spec.dtype}, but its function has the type {argument_type}", where=where
        )
    return spec


def tensor_spec(name: str, info: TensorInfo, where: str) -> TensorSpec:
    """Returns the spec of an input or output as the signature declares it.

    Raises:
        SavedModelError: Its type is unknown.
    """
    dtype = DataType.from_proto(info.dtype, where)
    return TensorSpec(name, dtype, shape_from_proto(info.tensor_shape) if info.HasField("tensor_shape") else None)
