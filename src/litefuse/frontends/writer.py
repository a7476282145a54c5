"""Writer of a SavedModel with concrete functions as signatures, and everything that they capture."""

from __future__ import annotations

import gc
import logging
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError

_LOGGERS = ("absl", "tensorflow")
_CAPTURES = (
    "A function may use variables and lookup tables, as long as their model is alive, which a function does not keep; "
    "what else it needs must be among its inputs."
)
_THROUGH_LAYER = "Exception encountered when calling layer"
# Keras reports first what it did, then a configuration, and last what went wrong.
_CONFIGURATION = re.compile(r" using config=\{.*\}\.(?= *Exception encountered: )")
_HALF = 250  # how many characters are kept at each end of a long reason


def write_saved_model(signatures: Mapping[str, Any], folder: Path, root: Any = None) -> None:
    """Writes a SavedModel.

    ``tf.saved_model.save`` saves only what is reachable from the saved object. Variables and tables captured by a
    function may not be: they become attributes of a temporary object.

    Args:
        signatures: The concrete functions by signature key; each returns a tensor, a list or a dictionary of tensors.
        folder: The folder to write, which does not exist.
        root: The object whose attribute paths name the variables.

    Raises:
        LitefuseError: TensorFlow cannot save them.
    """
    tf: Any = sys.modules["tensorflow"]
    with refused("TensorFlow cannot save it", hint=_CAPTURES), quiet_logging():
        holder: Any = tf.__internal__.tracking.AutoTrackable()
        paths: Mapping[int, tuple[str, ...]] = {} if root is None else _paths(tf, root)
        captured = [*_variables(signatures.values()), *_resources(tf, signatures.values())]
        holder.captured = [
            resource for resource in captured if not _attach(holder, paths.get(id(resource), ()), resource)
        ]
        tf.saved_model.save(holder, str(folder), signatures=dict(signatures))


def _attach(holder: Any, path: tuple[str, ...], value: Any) -> bool:
    """Sets the attribute at a path, if the path is not empty and not occupied; returns whether it did."""
    if not path:
        return False
    kind: type[object] = holder.__class__
    for step in path[:-1]:
        if not hasattr(holder, step):
            setattr(holder, step, kind())
        holder = getattr(holder, step)
    if type(holder) is not kind or hasattr(holder, path[-1]):
        return False
    setattr(holder, path[-1], value)
    return True


def _paths(tf: Any, root: Any) -> dict[int, tuple[str, ...]]:
    """Returns the shortest attribute path from an object to each one that can be saved."""
    children = tf.train.TrackableView(root).children
    paths: dict[int, tuple[str, ...]] = {id(root): ()}
    waiting = [root]
    for parent in waiting:
        for name, child in children(parent).items():
            if id(child) not in paths:
                paths[id(child)] = (*paths[id(parent)], name)
                waiting.append(child)
    return paths


def _variables(functions: Iterable[Any]) -> list[Any]:
    variables = {id(variable): variable for function in functions for variable in function.variables}
    return list(variables.values())


def _resources(tf: Any, functions: Iterable[Any]) -> list[Any]:
    """Returns the owners of captured resources other than variables, such as lookup tables.

    A function captures the handle of a resource and not its owner. The owner is alive, since the resource ends with it;
    so it is among the objects of the garbage collector.
    """
    functions = list(functions)
    of_variables = {id(variable.handle) for variable in _variables(functions)}
    handles = {
        id(captured)
        for function in functions
        for captured in function.captured_inputs
        if captured.dtype == tf.resource and id(captured) not in of_variables
    }
    if not handles:
        return []
    owner: type = tf.saved_model.experimental.TrackableResource
    owners = [thing for thing in gc.get_objects() if owner in type(thing).__mro__]
    # Reading ``resource_handle`` would create the resource of an object that has none yet.
    return [resource for resource in owners if id(getattr(resource, "_resource_handle", None)) in handles]


@contextmanager
def refused(message: str, *, hint: str = "") -> Generator[None]:
    """Converts any other exception to a ``LitefuseError``.

    Args:
        message: What failed; the reason is appended.
        hint: What to do about it.
    """
    try:
        yield
    except LitefuseError:
        raise
    except Exception as error:
        if (captures := _captures(str(error))) is not None:
            raise LitefuseError(f"{message}: {captures}", hint=_OF_ARGUMENTS) from error
        raise LitefuseError(f"{message}: {describe_error(error)}", hint=hint) from error


_OF_ARGUMENTS = (
    "TensorFlow has composites depend on their arguments alone. Pass what its body captures as an argument, variables "
    "as they are, look tables up outside of it, and return what is to be assigned to a variable."
)
# What TensorFlow says of a function with ``experimental_implements`` that depends on more than its arguments.
_REFUSED_CAPTURES = re.compile(
    r'Function (\S+) has "_implements=(.*?)" attribute and thus .* captures: \[(.*)\]', re.DOTALL
)


def _captures(text: str) -> str | None:
    """Says what a composite captures, from TensorFlow's message; None if it is another one."""
    match = _REFUSED_CAPTURES.search(text)
    if match is None:
        return None
    function, annotation, captured = match[1], match[2], match[3]
    named = re.search(r'name: "(.*?)"', annotation)
    resources = re.finditer(r'ResourceHandle\(name="(.*?)".*?type="(?:\w+::)*(\w+)"', captured)
    symbolic = re.finditer(r"<tf\.Tensor '(.*?)'", captured)
    eager = re.finditer(r"<tf\.Tensor: shape=(\([^)]*\)), dtype=(?!resource)(\w+)", captured)
    names = [
        *(f"the {'variable' if match[2] == 'Var' else 'table'} {match[1]!r}" for match in resources),
        *(f"the tensor {match[1]!r}" for match in symbolic),
        *(f"a {match[2]} tensor of shape {match[1]}" for match in eager),
    ]
    return f"the composite {named[1] if named else annotation!r} (function {function}) captures {', '.join(names)}"


def describe_error(error: Exception) -> str:
    """Returns an exception's text in one paragraph, without the stack frames that TensorFlow and Keras add.

    Of the layers of Keras 2 that an exception passed through, only the innermost is named, without its arguments.
    """
    kept: list[str] = []
    outer = -1  # the indentation of a stack frame or heading, while lines are further in: they belong to it
    for line in str(error).splitlines():
        stripped = line.strip()
        indentation = len(line) - len(line.lstrip())
        if stripped.startswith(('File "', "Call arguments received by layer")):
            outer = indentation
        elif (stripped and indentation <= outer) or outer < 0:
            outer = -1
            kept.append(stripped)
    layers = [line for line in kept if _THROUGH_LAYER in line]
    kept = [line for line in kept if line and line not in layers[:-1]]
    text = " ".join(line for line in kept if not line.startswith(("in user code:", "Arguments received by")))
    text = _CONFIGURATION.sub(".", text) or type(error).__name__
    return text if len(text) <= 2 * _HALF else f"{text[:_HALF]} ... {text[-_HALF:]}"


@contextmanager
def quiet_logging() -> Generator[None]:
    """Suppresses TensorFlow's log messages below warnings in this thread, such as those about the export."""
    thread = threading.get_ident()
    block: Callable[[logging.LogRecord], bool] = lambda record: (  # noqa: E731
        record.thread != thread or record.levelno >= logging.WARNING
    )
    loggers = [logging.getLogger(name) for name in _LOGGERS]
    for logger in loggers:
        logger.addFilter(block)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(block)
