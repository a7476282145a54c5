"""The operations that a Keras model calls, those inside its layers as well."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.fake_quantized.operations import REWRITTEN
from litefuse.frontends.writer import describe_error


@dataclass(eq=False)
class Value:
    """A tensor between operations.

    Attributes:
        tensor: The variable that it is, or a ``keras.KerasTensor`` of its shape and dtype.
        constant: Whether it is a variable, or computed from variables alone.
        is_variable: Whether it is a variable.
    """

    tensor: Any
    constant: bool = False
    is_variable: bool = False

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, with None for dynamic dimensions."""
        return tuple(self.tensor.shape)

    @property
    def is_activation(self) -> bool:
        """Whether it may have a range."""
        return str(self.tensor.dtype) == "float32" and not self.constant


@dataclass(eq=False)
class Step:
    """A call of an operation, or of a layer whose operations are not known.

    Attributes:
        kind: The class of the operation or layer.
        name: The names of the layers around it and its kind, such as ``block/conv/Conv``.
        function: The operation, layer or function to call.
        args: Its positional arguments: structures with values among their leaves.
        kwargs: Its arguments by keyword, without ``training``.
        inputs: The values among the arguments.
        outputs: Its results.
        takes_training: Whether it is called with ``training``.
        keeps_input: Whether it returns its input in inference.
    """

    kind: str
    name: str
    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    inputs: Sequence[Value]
    outputs: Sequence[Value]
    takes_training: bool = False
    keeps_input: bool = False


def trace_model(keras: Any, model: Any, args: Sequence[Any]) -> tuple[list[Step], Any, Any]:
    """Traces a model down to Keras's operations; returns its calls, the structures of its arguments and of its results.

    A layer stays closed, and is one call, if it computes otherwise in training, assigns or reads variables, or gives
    tensors to anything but Keras's operations and layers.

    Raises:
        LitefuseError: The model's own ``call`` cannot be traced.
    """
    tracer = _Tracer(keras)
    values = keras.tree.map_structure(Value, list(args))
    try:
        return tracer.steps, values, tracer.opened(model, (), values, {})
    except _Closed as reason:
        raise LitefuseError(
            f"the model's call() cannot be traced: {reason}",
            where=model.name,
            hint="Move what assigns variables, reads their values or depends on training to a layer of its own.",
        ) from reason


class _Closed(Exception):  # noqa: N818  not an error: the layer is called as it is
    """The operations of a layer are not known; the message is the reason."""

    keeps_input = False


class _Graph(NamedTuple):
    """The calls of a layer: Keras's records, the values of arguments and weights by the ids of tensors, the results."""

    nodes: list[Any]
    values: dict[int, Value]
    tensors: list[Any]
    outputs: Any


class _Tracer:
    def __init__(self, keras: Any) -> None:
        self._keras = keras
        self.steps: list[Step] = []
        self._variables: dict[int, Value] = {}

    def opened(self, layer: Any, path: tuple[str, ...], args: Any, kwargs: Any) -> Any:
        """Adds the calls of a layer; returns the structure of its results.

        Raises:
            _Closed: They are not known.
        """
        if isinstance(layer, self._keras.layers.BatchNormalization) or getattr(layer, "activity_regularizer", None):
            raise _Closed("it depends on the batch")
        if not _takes_training(layer):
            graph = self._graph(layer, args, kwargs)
        else:
            graph = self._graph(layer, args, {**kwargs, "training": False})
            try:
                in_training = _calls(self._graph(layer, args, {**kwargs, "training": True}))
            except _Closed as reason:
                reason.keeps_input = not graph.nodes
                raise
            if in_training != _calls(graph):
                raise _Closed("it computes otherwise in training")
        values = dict(graph.values)

        def value_of(leaf: Any) -> Any:
            return self._variable(leaf) if isinstance(leaf, self._keras.Variable) else values.get(id(leaf), leaf)

        for node in graph.nodes:
            args, kwargs = node.arguments.convert(value_of)
            results = self._call(node.operation, path, args, kwargs, node.outputs)
            values.update(zip(map(id, node.outputs), results, strict=True))
        return self._keras.tree.map_structure(value_of, graph.outputs)

    def _variable(self, variable: Any) -> Value:
        return self._variables.setdefault(id(variable), Value(variable, constant=True, is_variable=True))

    def _graph(self, layer: Any, args: Any, kwargs: Any) -> _Graph:
        """Calls a layer with symbolic tensors, also as its weights."""
        keras = self._keras
        values: dict[int, Value] = {}
        tensors: list[Any] = []

        def symbolic(leaf: Any) -> Any:
            if not isinstance(leaf, Value):
                return leaf
            tensors.append(keras.KerasTensor(leaf.shape, leaf.tensor.dtype))
            values[id(tensors[-1])] = leaf
            return tensors[-1]

        args, kwargs = keras.tree.map_structure(symbolic, (list(args), dict(kwargs)))
        attributes = cast("dict[str, Any]", vars(layer))
        own = {name for name, attribute in attributes.items() if isinstance(attribute, keras.Variable)}
        try:
            with _replaced(keras, layer, {name: symbolic(self._variable(attributes[name])) for name in sorted(own)}):
                outputs = layer.call(*args, **kwargs)
            computed = [tensor for tensor in keras.tree.flatten(outputs) if id(tensor) not in values]
            nodes = _nodes(keras.Function(tensors, computed)) if computed else []
        except Exception as error:  # layers raise any exception
            raise _Closed(describe_error(error)) from error
        if any(_open_sizes(node.operation) > (type(node.operation).__name__ == "Reshape") for node in nodes):
            raise _Closed("it computes with sizes that are open")
        return _Graph(nodes, values, tensors, outputs)

    def _call(
        self, operation: Any, path: tuple[str, ...], args: Any, kwargs: Any, tensors: Sequence[Any]
    ) -> Sequence[Value]:
        """Adds a call, or those inside it; returns its results."""
        keras, kind = self._keras, type(operation).__name__
        kwargs = {name: argument for name, argument in kwargs.items() if name != "training"}
        is_layer = isinstance(operation, keras.Layer)
        path = (*path, operation.name) if is_layer else path
        if kind in REWRITTEN and is_layer == (kind == "Rescaling"):
            result = REWRITTEN[kind](partial(self._add_call, path), keras.ops, operation, *args, **kwargs)
            if result is not None:
                return [result]
        behavior = (False, False)
        if is_layer:
            try:
                return keras.tree.flatten(self.opened(operation, path, args, kwargs))
            except _Closed as reason:
                behavior = _takes_training(operation), reason.keeps_input
                # Layers have the names of operations that they may not be.
                kind = kind if kind in {"BatchNormalization", "Softmax"} else f"layers.{kind}"
        return self._add(kind, path, operation, args, kwargs, tensors, *behavior)

    def _add_call(self, path: tuple[str, ...], kind: str, function: Callable[..., Any], *args: Any) -> Value:
        tensors = [argument.tensor if isinstance(argument, Value) else argument for argument in args]
        return self._add(kind, path, function, args, {}, [function(*tensors)])[0]

    def _add(
        self, kind: str, path: tuple[str, ...], function: Any, args: Any, kwargs: Any, tensors: Any, *behavior: bool
    ) -> Sequence[Value]:
        leaves = self._keras.tree.flatten((list(args), kwargs))
        inputs = [leaf for leaf in leaves if isinstance(leaf, Value)]
        constant = bool(inputs) and all(value.constant for value in inputs)
        outputs = [Value(tensor, constant) for tensor in tensors]
        name = "/".join((*path, kind.removeprefix("layers.")))
        self.steps.append(Step(kind, name, function, args, kwargs, inputs, outputs, *behavior))
        return outputs


@contextmanager
def _replaced(keras: Any, layer: Any, weights: Mapping[str, Any]) -> Generator[None]:
    """Lets a layer use symbolic tensors as its variables during the context.

    Raises:
        _Closed: It read the value of another variable, or added a loss.
    """

    class Scope(keras.StatelessScope):
        def get_current_value(self, variable: Any) -> Any:
            raise _Closed(f"it reads the value of {variable.path}")

    attributes = cast("dict[str, Any]", vars(layer))
    own = {name: attributes[name] for name in weights}
    attributes.update(weights)
    scope: Any = Scope(collect_losses=True)
    try:
        with scope:
            yield
    finally:
        attributes.update(own)
    if scope.losses:
        raise _Closed("it adds a loss")


def _nodes(function: Any) -> list[Any]:
    depths: Mapping[int, list[Any]] = function._nodes_by_depth  # noqa: SLF001  what is public lacks the arguments
    nodes = [node for depth in sorted(depths, reverse=True) for node in depths[depth]]
    return [node for node in nodes if node.operation is not None and not node.is_input]


def _calls(graph: _Graph) -> list[Any]:
    """Returns what two traces of a layer have in common: the layers and the kinds of operations."""
    return [node.operation if hasattr(node.operation, "weights") else type(node.operation) for node in graph.nodes]


def _open_sizes(operation: Any) -> int:
    """Returns how many sizes are None in the shapes that an operation was made with."""
    shapes: list[Any] = [getattr(operation, name, ()) or () for name in ("newshape", "shape")]
    return sum(size is None for shape in shapes if not isinstance(shape, int) for size in shape)


def _takes_training(layer: Any) -> bool:
    return "training" in inspect.signature(layer.call).parameters
