"""Concrete functions as signatures: names for the tensors in their structured inputs and outputs."""

from __future__ import annotations

import dataclasses
import keyword
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

from litefuse.errors import LitefuseError
from litefuse.frontends.writer import quiet_logging, refused

_Path = tuple[Any, ...]
# What TensorFlow takes for the name of a node, and so for that of an input.
_NODE_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


class _Input(NamedTuple):
    """A tensor in a function's arguments, the keys that lead to it, and the name in its ``tf.TensorSpec``, if any."""

    argument: str
    path: _Path
    given: str | None

    def name(self, *, in_full: bool) -> str:
        """Returns its name, which begins with the argument's if ``in_full`` or if its path begins with a number."""
        if self.given:
            return self.given
        by_keys = not in_full and self.path and isinstance(self.path[0], str)
        return "_".join(str(key) for key in (self.path if by_keys else (self.argument, *self.path)))


def with_signature(function: Any) -> Any:
    """Returns a concrete function that is valid as a signature: the function itself, or one that calls it.

    TensorFlow names all tensors in a nested argument after the argument, and refuses nested outputs. Here, the name of
    an input is what its ``tf.TensorSpec`` says, or else the keys that lead to it: those of an argument that is a
    dictionary, or the argument's name and the keys in it. If two inputs would have the same name, that of the argument
    stands before the keys of dictionaries too. Outputs are named by :func:`named_outputs`.

    The inputs are in the order in which the function declares its arguments. TensorFlow sorts those by keyword.

    Args:
        function: A concrete function with arbitrarily nested inputs and outputs.

    Raises:
        LitefuseError: It returns no tensors, or two of its outputs have the same name.
    """
    tf: Any = sys.modules["tensorflow"]
    inputs = list(_inputs(tf, function))
    names = _input_names(inputs)
    declared = list(function.function_type.parameters)
    order = sorted(range(len(inputs)), key=lambda position: declared.index(inputs[position].argument))
    outputs_are_nested = _is_nested(function.structured_outputs)
    if outputs_are_nested:
        named_outputs(function.structured_outputs)  # raises its error here rather than during tracing
    structure = function.structured_input_signature
    leaves = tf.nest.flatten(structure, expand_composites=True)
    if not outputs_are_nested and sorted(names) == sorted(_names_in_tensorflow(function)) and order == sorted(order):
        return function
    flattened = [place for place, leaf in enumerate(leaves) if isinstance(leaf, tf.TensorSpec)]
    places = [flattened[position] for position in order]

    def call(tensors: Sequence[Any]) -> Any:
        values = dict(zip(places, tensors, strict=True))
        flat = [values.get(place, leaf) for place, leaf in enumerate(leaves)]
        args, kwargs = tf.nest.pack_sequence_as(structure, flat, expand_composites=True)
        outputs = function(*args, **kwargs)
        return named_outputs(outputs) if outputs_are_nested else outputs

    specs = [(leaves[flattened[position]], names[position]) for position in order]
    named = [tf.TensorSpec(spec.shape, spec.dtype, name) for spec, name in specs]
    try:
        with refused("the function cannot be called with the inputs that it was traced for"), quiet_logging():
            return tf.function(call, autograph=False).get_concrete_function(named)
    except LitefuseError:  # TensorFlow does not keep every object that is an argument, nor variables
        if outputs_are_nested:
            raise
        return function


def named_outputs(outputs: Any) -> dict[str, Any]:
    """Returns the tensors among a function's outputs under the names that TensorFlow gives them.

    An output is named by the keys of its path; a list's elements are ``output_0``, ``output_1`` and so on.

    Raises:
        LitefuseError: It has no tensors, or two have the same name.
    """
    tensors: dict[str, Any] = {}
    for path, tensor in _leaves(outputs):
        if tensor is None:
            continue
        parts = [str(key) for key in path]
        if not path or isinstance(path[0], int):
            parts = ["output", *(parts or ["0"])]
        name = "_".join(parts)
        if name in tensors:
            raise LitefuseError(f"two outputs are named {name!r}", hint="Return a dictionary with other keys.")
        tensors[name] = tensor
    if not tensors:
        raise LitefuseError("the function returns no tensor", hint="Return a tensor, or a dictionary of tensors.")
    return tensors


def _input_names(inputs: Sequence[_Input]) -> list[str]:
    """Returns a name for each tensor of a function's inputs; all are different."""
    # Components of one ragged tensor are equal here.
    different = {input_ if input_.given is None else input_.given for input_ in inputs}
    in_full = len({input_.name(in_full=False) for input_ in inputs}) < len(different)
    taken: dict[str, None] = {}
    for input_ in inputs:
        name = _valid(input_.name(in_full=in_full))
        copies = (f"{name}_{number}" for number in range(1, len(inputs)))
        taken[next(copy for copy in (name, *copies) if copy not in taken)] = None
    return list(taken)


def _inputs(tf: Any, function: Any) -> Iterable[_Input]:
    args, kwargs = function.structured_input_signature
    parameters: list[Any] = list(function.function_type.parameters.values())
    positional = [parameter for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
    by_keyword = sorted(
        (parameter for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY),
        key=lambda parameter: parameter.name,
    )
    values = [*args, *(kwargs[parameter.name] for parameter in by_keyword)]
    for parameter, value in zip([*positional, *by_keyword], values, strict=True):
        given = iter([spec.name for spec in parameter.type_constraint.flatten()])
        for path, leaf in _leaves(value):
            for spec in tf.nest.flatten(leaf, expand_composites=True):  # the components of a ragged tensor
                if isinstance(spec, tf.TensorSpec):
                    yield _Input(parameter.name, path, next(given))


def _names_in_tensorflow(function: Any) -> list[str]:
    """Returns the names that a concrete function's inputs would have in a signature, of which some may be equal."""
    explicit = function.inputs[: len(function.inputs) - len(function.captured_inputs)]
    try:
        return [tensor.op.get_attr("_user_specified_name").decode() for tensor in explicit]
    except ValueError:  # of a function that was wrapped, not traced
        return [tensor.op.name for tensor in explicit]


def _valid(name: str) -> str:
    """Returns the name of an input as close as possible to a given one."""
    if not _NODE_NAME.fullmatch(name):
        name = re.sub(r"[^A-Za-z0-9_.\\/>-]", "_", name)
    if not _NODE_NAME.fullmatch(name) or keyword.iskeyword(name) or name == "self":
        name = f"input_{name.lstrip('_')}"
    return name


def _leaves(value: Any, path: _Path = ()) -> Iterable[tuple[_Path, Any]]:
    """Yields what a structure consists of and the path to each, in the order of ``tf.nest.flatten``."""
    children = _children(value)
    if children is None:
        yield path, value
    else:
        for key, child in children:
            yield from _leaves(child, (*path, key))


def _children(value: Any) -> list[tuple[Any, Any]] | None:
    if isinstance(value, Mapping):
        mapping = cast("Mapping[Any, Any]", value)
        return [(key, mapping[key]) for key in sorted(mapping)]
    if hasattr(value, "_asdict"):  # a namedtuple
        return list(value._asdict().items())
    if hasattr(value, "__attrs_attrs__"):
        return [(attr.name, getattr(value, attr.name)) for attr in value.__attrs_attrs__]
    flatten: Any = getattr(value, "__tf_flatten__", None)
    if flatten is not None and dataclasses.is_dataclass(value):
        names = {id(getattr(value, field.name)): field.name for field in dataclasses.fields(value)}
        return [(names.get(id(part), index), part) for index, part in enumerate(flatten()[1])]
    if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
        return list(enumerate(cast("Sequence[Any]", value)))
    return None


def _is_nested(outputs: Any) -> bool:
    """Whether outputs are not valid in a signature."""
    children = _children(outputs)
    if children is None:
        return outputs is None
    keys_are_names = isinstance(outputs, Mapping) and all(isinstance(key, str) for key, _ in children)
    return (
        not children
        or not (keys_are_names or isinstance(outputs, Sequence))
        or any(child is None or _children(child) is not None for _, child in children)
    )
