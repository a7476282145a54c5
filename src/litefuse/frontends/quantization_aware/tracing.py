"""The operations that a Keras model calls, those inside its layers as well."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from litefuse.errors import LitefuseError
from litefuse.frontends.writer import describe_error


@dataclass(eq=False)
class Value:
    """A tensor between operations.

    Attributes:
        shape: Its shape, with None for dynamic dimensions.
        dtype: Its dtype.
        variable: The variable that it is, if it is one.
        constant: Whether it is a variable, or computed from variables alone.
    """

    shape: Sequence[int | None]
    dtype: str
    variable: Any = None
    constant: bool = False

    @property
    def is_activation(self) -> bool:
        """Whether it may have a range."""
        return self.dtype == "float32" and not self.constant


@dataclass(eq=False)
class Step:
    """A call of an operation, or of a layer whose operations are not known.

    Attributes:
        kind: The class of the operation or layer.
        function: The operation, layer or function to call.
        args: Its positional arguments: structures with values among their leaves.
        kwargs: Its arguments by keyword, without ``training``.
        outputs: Its results.
        name: The names of the layers around it and its kind, such as ``block/conv/Conv``.
        takes_training: Whether it is called with ``training``.
        keeps_input: Whether it returns its input in inference.
    """

    kind: str
    function: Callable[..., Any]
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    outputs: list[Value]
    name: str
    takes_training: bool = False
    keeps_input: bool = False


@dataclass
class Trace:
    """The calls of a model.

    Attributes:
        args: The structures of values that stand for its arguments.
        outputs: The structure of its results.
        steps: The calls in their order.
    """

    args: list[Any]
    outputs: Any = None
    steps: list[Step] = field(default_factory=list[Step])


def trace_model(keras: Any, model: Any, args: Sequence[Any]) -> Trace:
    """Traces a model down to Keras's operations.

    A layer stays closed, and is one call, if it computes otherwise in training, assigns or reads variables, or hands its
    tensors to anything but operations and layers of Keras.

    Args:
        keras: The package.
        model: A built model.
        args: The structures of ``keras.KerasTensor`` to call it with.

    Raises:
        LitefuseError: The model's own ``call`` cannot be traced.
    """
    trace = Trace(keras.tree.map_structure(_value_of, list(args)))
    try:
        trace.outputs = _Tracer(keras, trace.steps).opened(model, (), trace.args, {})
    except _Closed as reason:
        raise LitefuseError(
            f"the model's call() cannot be traced: {reason}",
            where=model.name,
            hint="Move what assigns variables, reads their values or depends on training to a layer of its own.",
        ) from reason
    return trace


class _Closed(Exception):  # noqa: N818  not an error: the layer is called as it is
    """The operations of a layer are not known; the message is the reason."""


class _Graph(NamedTuple):
    """The operations and layers that a layer calls.

    Attributes:
        nodes: Keras's records of the calls, in an order in which they can be made.
        values: The values that the symbolic tensors of arguments and weights stand for, by their ids.
        sources: These tensors.
        outputs: The structure of symbolic results.
    """

    nodes: list[Any]
    values: dict[int, Value]
    sources: list[Any]
    outputs: Any


class _Tracer:
    def __init__(self, keras: Any, steps: list[Step]) -> None:
        self._keras, self._steps = keras, steps
        self._variables: dict[int, Value] = {}

    def opened(self, layer: Any, path: tuple[str, ...], args: Any, kwargs: Any) -> Any:
        """Traces the operations of a layer; returns the structure of its results.

        Raises:
            _Closed: They are not known.
        """
        if isinstance(layer, self._keras.layers.BatchNormalization):
            raise _Closed("it normalizes by batches in training")
        if getattr(layer, "activity_regularizer", None) is not None:
            raise _Closed("it has an activity regularizer")
        modes: list[dict[str, Any]] = [{"training": False}, {"training": True}] if _takes_training(layer) else [{}]
        graph, *others = [self._graph(layer, args, kwargs | mode) for mode in modes]
        if any(_calls(other) != _calls(graph) for other in others):
            raise _Closed("it computes otherwise in training")
        values = dict(graph.values)
        for node in graph.nodes:
            arguments = node.arguments.convert(lambda leaf: self._argument(leaf, values))
            results = self._call(node.operation, path, *arguments, node.outputs)
            values.update(zip(map(id, node.outputs), results, strict=True))
        return self._keras.tree.map_structure(lambda tensor: values[id(tensor)], graph.outputs)

    def _argument(self, leaf: Any, values: Mapping[int, Value]) -> Any:
        return self._variable(leaf) if isinstance(leaf, self._keras.Variable) else values.get(id(leaf), leaf)

    def _variable(self, variable: Any) -> Value:
        value = Value(tuple(variable.shape), str(variable.dtype), variable, constant=True)
        return self._variables.setdefault(id(variable), value)

    def _graph(self, layer: Any, args: Any, kwargs: Any) -> _Graph:
        keras = self._keras
        values: dict[int, Value] = {}
        sources: list[Any] = []

        def symbolic(leaf: Any) -> Any:
            if not isinstance(leaf, Value):
                return leaf
            tensor = keras.KerasTensor(leaf.shape, leaf.dtype)
            values[id(tensor)] = leaf
            sources.append(tensor)
            return tensor

        args, kwargs = keras.tree.map_structure(symbolic, (list(args), dict(kwargs)))
        weights = {name: value for name, value in vars(layer).items() if isinstance(value, keras.Variable)}
        try:
            with _recorded(keras, layer, {name: symbolic(self._variable(own)) for name, own in weights.items()}):
                outputs = layer.call(*args, **kwargs)
            returned = {id(tensor): tensor for tensor in keras.tree.flatten(outputs)}
            computed = [tensor for key, tensor in returned.items() if key not in values]
            nodes = _nodes(keras.Function(sources, computed)) if computed else []
        except Exception as error:  # layers raise any exception
            raise _Closed(describe_error(error)) from error
        if any(_open_sizes(node.operation) > (type(node.operation).__name__ == "Reshape") for node in nodes):
            raise _Closed("it computes with sizes that are open")
        return _Graph(nodes, values, sources, outputs)

    def _call(self, operation: Any, path: tuple[str, ...], args: Any, kwargs: Any, tensors: Any) -> list[Value]:
        """Adds a call, or those inside it; returns the values of its results."""
        keras, kind = self._keras, type(operation).__name__
        kwargs = {name: argument for name, argument in kwargs.items() if name != "training"}
        layer = isinstance(operation, keras.Layer)
        if layer:
            path = (*path, operation.name)
            if kind == "Rescaling":
                return self._rescaled(operation, path, *args)
            try:
                return keras.tree.flatten(self.opened(operation, path, args, kwargs))
            except _Closed:
                pass
        elif kind in _REWRITTEN and (value := _REWRITTEN[kind](self, operation, path, *args, **kwargs)) is not None:
            return [value]
        step = Step(kind, operation, args, kwargs, [_value_of(tensor) for tensor in tensors], "/".join((*path, kind)))
        if layer and _takes_training(operation):
            step.takes_training = True
            step.keeps_input = self._keeps_input(operation, args, kwargs)
        return self._added(step)

    def _keeps_input(self, layer: Any, args: Any, kwargs: Any) -> bool:
        try:
            graph = self._graph(layer, args, kwargs | {"training": False})
        except _Closed:
            return False
        return not graph.nodes

    def _added(self, step: Step) -> list[Value]:
        leaves = self._keras.tree.flatten((step.args, dict(step.kwargs)))
        inputs = [leaf for leaf in leaves if isinstance(leaf, Value)]
        for value in step.outputs:
            value.constant = bool(inputs) and all(leaf.constant for leaf in inputs)
        self._steps.append(step)
        return step.outputs

    def call(self, kind: str, path: tuple[str, ...], function: Callable[..., Any], *args: Any) -> Value:
        """Adds a call of a function with one result."""
        symbolic = [
            self._keras.KerasTensor(leaf.shape, leaf.dtype) if isinstance(leaf, Value) else leaf for leaf in args
        ]
        output = _value_of(function(*symbolic))
        return self._added(Step(kind, function, args, {}, [output], "/".join((*path, kind))))[0]

    def _rescaled(self, layer: Any, path: tuple[str, ...], x: Value) -> list[Value]:
        ops = self._keras.ops
        x = self.call("Cast", path, partial(ops.cast, dtype="float32"), x)
        x = self.call("Multiply", path, ops.multiply, x, layer.scale)
        return [self.call("Add", path, ops.add, x, layer.offset)]

    def reshaped(self, operation: Any, path: tuple[str, ...], x: Value) -> Value:
        """Adds the operation with -1 for the size that is open."""
        sizes = tuple(-1 if size is None else size for size in operation.newshape)
        return self.call("Reshape", path, partial(self._keras.ops.reshape, newshape=sizes), x)

    def silu(self, _: Any, path: tuple[str, ...], x: Value) -> Value:
        """Adds its factors, of which the sigmoid is rounded to steps of its own."""
        ops = self._keras.ops
        return self.call("Multiply", path, ops.multiply, x, self.call("Sigmoid", path, ops.sigmoid, x))

    def separable(self, operation: Any, path: tuple[str, ...], x: Value, depthwise: Value, pointwise: Value) -> Value:
        """Adds the two convolutions."""
        ops, layout = self._keras.ops, operation.data_format
        windows = {"strides": operation.strides, "dilation_rate": operation.dilation_rate}
        first = partial(ops.depthwise_conv, **windows, padding=operation.padding, data_format=layout)
        x = self.call("DepthwiseConv", path, first, x, depthwise)
        return self.call("Conv", path, partial(ops.conv, padding="valid", data_format=layout), x, pointwise)

    def attention(
        self, _: Any, path: tuple[str, ...], query: Value, key: Value, value: Value, **options: Any
    ) -> Value | None:
        """Adds the products and the softmax of attention without mask; None if it has one."""
        ops, scale = self._keras.ops, options.pop("scale", None)
        if any(option is not None and option is not False for option in options.values()) or key.shape[-2] != (
            query.shape[-2]
        ):
            return None
        scale = float(query.shape[-1] or 1) ** -0.5 if scale is None else scale
        query = self.call("Multiply", path, ops.multiply, query, scale)
        scores = self.call("Einsum", path, partial(ops.einsum, "btnh,bsnh->bnts"), query, key)
        weights = self.call("Softmax", path, ops.softmax, scores)
        return self.call("Einsum", path, partial(ops.einsum, "bnts,bsnh->btnh"), weights, value)


_REWRITTEN: Mapping[str, Callable[..., Value | None]] = {
    "DotProductAttention": _Tracer.attention,
    "Reshape": _Tracer.reshaped,
    "SeparableConv": _Tracer.separable,
    "Silu": _Tracer.silu,
}


@contextmanager
def _recorded(keras: Any, layer: Any, weights: Mapping[str, Any]) -> Generator[None]:
    """Lets a layer use symbolic tensors as its variables during the context.

    Raises:
        _Closed: It read the value of another variable, or added a loss.
    """

    class Scope(keras.StatelessScope):
        def get_current_value(self, variable: Any) -> Any:
            raise _Closed(f"it reads the value of {variable.path}")

    own = {name: vars(layer)[name] for name in weights}
    vars(layer).update(weights)
    try:
        with Scope(collect_losses=True) as scope:
            yield
    finally:
        vars(layer).update(own)
    if scope.losses:
        raise _Closed("it adds a loss")


def _nodes(function: Any) -> list[Any]:
    depths: Mapping[int, list[Any]] = function._nodes_by_depth  # noqa: SLF001  Keras's public records lack arguments
    nodes = [node for depth in sorted(depths, reverse=True) for node in depths[depth]]
    return [node for node in nodes if node.operation is not None and not node.is_input]


def _calls(graph: _Graph) -> list[Any]:
    """Returns what two traces of a layer have in common: the layers and the kinds of operations."""
    return [node.operation if hasattr(node.operation, "weights") else type(node.operation) for node in graph.nodes]


def _open_sizes(operation: Any) -> int:
    """Returns how many sizes are None in the shapes that an operation was made with."""
    shapes: list[Any] = [getattr(operation, name, None) for name in ("newshape", "shape")]
    return sum(list(shape).count(None) for shape in shapes if isinstance(shape, tuple | list))


def _takes_training(layer: Any) -> bool:
    return "training" in inspect.signature(layer.call).parameters


def _value_of(tensor: Any) -> Value:
    return Value(tuple(tensor.shape), str(tensor.dtype))
