"""The operations that a Keras model calls, those inside its layers as well."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
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
    """

    tensor: Any
    constant: bool = False

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The shape, with None for dynamic dimensions."""
        return tuple(self.tensor.shape)

    @property
    def is_activation(self) -> bool:
        """Whether it may have a range."""
        return str(self.tensor.dtype) == "float32" and not self.constant


@dataclass(eq=False)
class Body:
    """The calls of a recurrent layer's cell in one step of time.

    Attributes:
        steps: The calls.
        arguments: The input of the step, then the states before it.
        results: The output, then the states after it.
    """

    steps: Sequence[Step]
    arguments: Sequence[Value]
    results: Sequence[Value]


@dataclass(eq=False)
class Step:
    """A call of an operation, of a recurrent layer, or of a layer whose operations are not known.

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
        body: What a recurrent layer computes in each step of time.
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
    body: Body | None = None


class Trace(NamedTuple):
    """The operations of a model.

    Attributes:
        steps: Their calls.
        arguments: The structure of its arguments.
        results: The structure of its results.
        assigned: The variables that a call of the model assigns, with what they become.
    """

    steps: list[Step]
    arguments: Any
    results: Any
    assigned: list[tuple[Value, Value]]


def trace_model(keras: Any, model: Any, args: Sequence[Any]) -> Trace:
    """Traces a model down to Keras's operations.

    A layer stays closed, and is one call, if it computes otherwise in training, or gives tensors to anything but
    Keras's operations and layers, its own variables and what is theirs.

    Raises:
        LitefuseError: The model's own ``call`` cannot be traced.
    """
    tracer = _Tracer(keras)
    values = keras.tree.map_structure(Value, list(args))
    try:
        results = tracer.opened(model, (), values, {})
        return Trace(tracer.steps, values, results, [*tracer.assigned.values()])
    except _Closed as reason:
        raise LitefuseError(
            f"the model's call() cannot be traced: {reason}",
            where=model.name,
            hint="Move what reads the values of variables or depends on training to a layer of its own.",
        ) from reason


class _Closed(Exception):  # noqa: N818  not an error: the layer is called as it is
    """The operations of a layer are not known; the message is the reason."""

    keeps_input = False


class _Graph(NamedTuple):
    """The calls of a layer.

    Attributes:
        nodes: Keras's records.
        values: The values of arguments and weights by the ids of tensors.
        outputs: The results.
        assigned: What becomes of the variables that it assigns, by the names of its attributes.
    """

    nodes: list[Any]
    values: dict[int, Value]
    outputs: Any
    assigned: dict[str, Any]


class _Tracer:
    def __init__(self, keras: Any, variables: dict[int, Value] | None = None) -> None:
        self._keras = keras
        self.steps: list[Step] = []
        #: By the ids of variables that are assigned: what they are before the model's call, and behind it.
        self.assigned: dict[int, tuple[Value, Value]] = {}
        self._variables: dict[int, Value] = {} if variables is None else variables

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
        values, attributes = dict(graph.values), cast("dict[str, Any]", vars(layer))
        for name in graph.assigned:
            self._variable(attributes[name]).constant = False

        def value_of(leaf: Any) -> Any:
            return self._variable(leaf) if isinstance(leaf, self._keras.Variable) else values.get(id(leaf), leaf)

        for node in graph.nodes:
            args, kwargs = node.arguments.convert(value_of)
            results = self._call(node.operation, path, args, kwargs, node.outputs)
            values.update(zip(map(id, node.outputs), results, strict=True))
        for name, tensor in graph.assigned.items():
            variable, new = attributes[name], values[id(tensor)]
            first, _ = self.assigned.get(id(variable), (self._variable(variable), new))
            self.assigned[id(variable)], self._variables[id(variable)] = (first, new), new
        return self._keras.tree.map_structure(value_of, graph.outputs)

    def _variable(self, variable: Any) -> Value:
        return self._variables.setdefault(id(variable), Value(variable, constant=True))

    def _graph(self, layer: Any, args: Any, kwargs: Any) -> _Graph:
        """Calls a layer with symbolic tensors, also as its weights."""
        keras = self._keras
        values, assigned = dict[int, Value](), dict[str, Any]()
        tensors: list[Any] = []

        def symbolic(leaf: Any) -> Any:
            if not isinstance(leaf, Value):
                return leaf
            tensors.append(keras.KerasTensor(leaf.shape, leaf.tensor.dtype))
            values[id(tensors[-1])] = leaf
            return tensors[-1]

        args, kwargs = keras.tree.map_structure(symbolic, (list(args), dict(kwargs)))
        directions = [getattr(layer, name, None) for name in ("forward_layer", "backward_layer")]
        attributes = cast("dict[str, Any]", vars(layer))
        own = {name for name, attribute in attributes.items() if isinstance(attribute, keras.Variable)}
        try:
            with ExitStack() as stack:
                for direction in filter(None, directions):  # two layers, not one call of what GPUs have for both
                    stack.enter_context(changed(direction, use_cudnn=False))
                weights = {name: symbolic(self._variable(attributes[name])) for name in sorted(own)}
                for name, tensor in weights.items():
                    _make_assignable(tensor, partial(_assign, attributes, assigned, name))
                stack.enter_context(_replaced(keras, layer, weights))
                outputs = layer.call(*args, **kwargs)
            results = [*keras.tree.flatten(outputs), *assigned.values()]
            computed = [tensor for tensor in results if id(tensor) not in values]
            used = [tensor for tensor in tensors if hasattr(tensor, "_keras_history")]
            nodes = _nodes(keras.Function(used, computed)) if computed else []
        except Exception as error:  # layers raise any exception
            raise _Closed(describe_error(error)) from error
        if any(_open_sizes(node.operation) > (type(node.operation).__name__ == "Reshape") for node in nodes):
            raise _Closed("it computes with sizes that are open")
        return _Graph(nodes, values, outputs, assigned)

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
        behavior: tuple[bool, bool, Body | None] = (False, False, None)
        if is_layer:
            try:
                if isinstance(operation, keras.layers.RNN):
                    behavior = True, False, self._body(operation, path, args[0])
                else:
                    return keras.tree.flatten(self.opened(operation, path, args, kwargs))
            except _Closed as reason:
                behavior = _takes_training(operation), reason.keeps_input, None
                # Layers have the names of operations that they may not be.
                kind = kind if kind in {"BatchNormalization", "Softmax"} else f"layers.{kind}"
        return self._add(kind, path, operation, args, kwargs, tensors, *behavior)

    def _body(self, layer: Any, path: tuple[str, ...], sequences: Value) -> Body:
        """Traces the cell of a recurrent layer.

        Raises:
            _Closed: Its operations are not known.
        """
        keras, cell = self._keras, layer.cell
        if getattr(cell, "recurrent_dropout", 0):
            raise _Closed("it drops states in training")
        tracer, batch = _Tracer(keras, self._variables), sequences.shape[0]
        x = Value(keras.KerasTensor((batch, *sequences.shape[2:]), sequences.tensor.dtype))
        zeros = layer.get_initial_state(1)
        symbolic = [Value(keras.KerasTensor((batch, *x.shape[1:]), x.dtype)) for x in keras.tree.flatten(zeros)]
        states = keras.tree.pack_sequence_as(zeros, symbolic)
        # Dropout of the input comes before the first step. Keras does not save which implementation a layer has.
        with changed(cell, dropout=0.0, implementation=2):
            output, new_states = tracer.opened(cell, (*path, cell.name), [x, states], {})
        if any(step.takes_training for step in tracer.steps):
            raise _Closed("its cell computes otherwise in training")
        results = [output, *keras.tree.flatten(new_states)]
        if tracer.assigned or not all(isinstance(result, Value) for result in results):
            raise _Closed("its cell assigns variables, or gives constants")
        return Body(tracer.steps, [x, *symbolic], results)

    def _add_call(self, path: tuple[str, ...], kind: str, function: Callable[..., Any], *args: Any) -> Value:
        tensors = [argument.tensor if isinstance(argument, Value) else argument for argument in args]
        return self._add(kind, path, function, args, {}, [function(*tensors)])[0]

    def _add(
        self, kind: str, path: tuple[str, ...], function: Any, args: Any, kwargs: Any, tensors: Any, *behavior: Any
    ) -> Sequence[Value]:
        leaves = self._keras.tree.flatten((list(args), kwargs))
        inputs = [leaf for leaf in leaves if isinstance(leaf, Value)]
        constant = bool(inputs) and all(value.constant for value in inputs)
        outputs = [Value(tensor, constant) for tensor in tensors]
        name = "/".join((*path, kind.removeprefix("layers.")))
        self.steps.append(Step(kind, name, function, args, kwargs, inputs, outputs, *behavior))
        return outputs


@contextmanager
def changed(layer: Any, **attributes: Any) -> Generator[None]:
    """Gives a layer other attributes during the context, past what Keras tracks."""
    own = cast("dict[str, Any]", vars(layer))
    before = {name: own[name] for name in attributes if name in own}
    own.update(attributes)
    try:
        yield
    finally:
        for name in attributes.keys() - before.keys():
            del own[name]
        own.update(before)


@contextmanager
def _replaced(keras: Any, layer: Any, weights: Mapping[str, Any]) -> Generator[None]:
    """Lets a layer use symbolic tensors as its variables during the context.

    Raises:
        _Closed: It read the value of another variable, or added a loss.
    """

    class Scope(keras.StatelessScope):
        def get_current_value(self, variable: Any) -> Any:
            raise _Closed(f"it reads the value of {variable.path}")

    scope: Any = Scope(collect_losses=True)
    with changed(layer, **weights), scope:
        yield
    if scope.losses:
        raise _Closed("it adds a loss")


def _make_assignable(tensor: Any, assign: Callable[[Any], None]) -> None:
    """Gives a symbolic tensor what layers use of a variable."""

    def assign_add(x: Any) -> None:
        assign(tensor + x)

    tensor.value, tensor.assign, tensor.assign_add = tensor, assign, assign_add


def _assign(attributes: dict[str, Any], assigned: dict[str, Any], name: str, tensor: Any) -> None:
    if type(tensor) is not type(attributes[name]):
        raise _Closed("it assigns a constant")
    assigned[name] = attributes[name] = tensor


def _nodes(function: Any) -> list[Any]:
    depths: Mapping[int, list[Any]] = function._nodes_by_depth  # noqa: SLF001  what is public lacks the arguments
    nodes = [node for depth in sorted(depths, reverse=True) for node in depths[depth]]
    return [node for node in nodes if node.operation is not None and not node.is_input]


def _calls(graph: _Graph) -> list[Any]:
    """Returns what two traces of a layer have in common: the layers, the kinds of operations, what is assigned."""
    operations = [node.operation for node in graph.nodes]
    kinds: list[Any] = [one if hasattr(one, "weights") else cast("Any", type(one)) for one in operations]
    return [*kinds, *graph.assigned]


def _open_sizes(operation: Any) -> int:
    """Returns how many sizes are None in the shapes that an operation was made with."""
    shapes: list[Any] = [getattr(operation, name, ()) or () for name in ("newshape", "shape")]
    return sum(size is None for shape in shapes if not isinstance(shape, int) for size in shape)


def _takes_training(layer: Any) -> bool:
    return "training" in inspect.signature(layer.call).parameters
