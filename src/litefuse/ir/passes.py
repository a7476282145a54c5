"""The interface of passes, what visits ops for them, and their runner."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar, Protocol, TypeAlias

from litefuse.errors import GraphError
from litefuse.ir.attributes import custom_code
from litefuse.ir.call_graph import all_operations
from litefuse.ir.mlir import ir
from litefuse.ir.purity import replace_op

Visitor: TypeAlias = "Callable[[ir.OpView], ir.Value | Sequence[ir.Value | None] | bool | None]"
"""Takes an op; returns the values in the place of its results, or whether it changed the module by itself."""


class Pass(Protocol):
    """A pass: a function, or a named tuple of its options; to make a data class takes longer than most passes run."""

    @property
    def name(self) -> str:
        """The pass's name."""
        ...

    def run(self, module: ir.Module, /) -> bool:
        """Changes the module in place; returns whether it did."""
        ...


class module_pass:  # noqa: N801  it is a decorator
    """Makes a pass of a function, with its name: ``lower_case`` is the pass ``lower-case``."""

    def __init__(self, run: Callable[[ir.Module], bool]) -> None:
        self.name = run.__name__.replace("_", "-")
        self.run = run
        self.__doc__ = run.__doc__


class Deferred:
    """A pass that is imported when a module has an op that it is for; see :func:`deferred`.

    Args:
        options: What the pass's class is called with.
    """

    name = ""
    ops: ClassVar[tuple[str, ...]]
    when: ClassVar[Callable[[ir.Module], bool] | None]
    path: ClassVar[str]

    def __init__(self, *options: Any, **named: Any) -> None:
        self._options = options
        self._named = named

    @classmethod
    def load(cls) -> Any:
        """Imports the pass, or its class if it has options."""
        module, _, name = cls.path.partition(":")
        return getattr(importlib.import_module(f"litefuse.{module}"), name)

    @classmethod
    def may_change(cls, module: ir.Module, names: Iterable[str]) -> bool:
        """Whether a module with ops of these names is one that the pass is for."""
        has_ops = not cls.ops or any(name.startswith(cls.ops) for name in names)
        return has_ops and (cls.when is None or cls.when(module))

    def run(self, module: ir.Module) -> bool:
        """Runs the pass, whatever the module has."""
        loaded = self.load()
        one = loaded if isinstance(loaded, module_pass) else loaded(*self._options, **self._named)
        return one.run(module)


def deferred(path: str, *ops: str, when: Callable[[ir.Module], bool] | None = None) -> type[Deferred]:
    """Returns a class in the place of a pass; ``LowerCase`` and ``lower_case`` have the name ``lower-case``.

    Args:
        path: The pass's module in ``litefuse``, and its class or function.
        ops: How the names of ops begin without which it changes nothing; none: it is imported in any case. A custom
            op's name has its code behind it: ``tfl.custom Roll``.
        when: Whether it may change a module with such ops; None: always.
    """
    own = path.rpartition(":")[2]
    name = re.sub(r"(?<!^)(?=[A-Z])", "-", own).lower().replace("_", "-")
    test = None if when is None else staticmethod(when)
    return type(own, (Deferred,), {"name": name, "path": path, "ops": ops, "when": test})


def visit_ops(module: ir.Module, visitors: Mapping[str, Visitor], *, nested: bool = True) -> bool:
    """Calls visitors for the ops that a module has before, function by function; returns whether it was changed.

    What a visitor emits stands before the op, at its location. An op whose results get other values is erased (None
    instead of a value: the result has no uses). A visitor that answers by itself may erase its op, but no other op
    that is visited.
    """
    modified = False
    for op in [op for op in all_operations(module, nested=nested) if op.name in visitors]:
        with ir.InsertionPoint(op), op.location:
            answer = visitors[op.name](op)
        if answer is None or isinstance(answer, bool):
            modified |= answer is True
            continue
        replace_op(op, [answer] if isinstance(answer, ir.Value) else answer)
        modified = True
    return modified


def op_names(module: ir.Module) -> set[str]:
    """Returns the names of a module's ops; a custom op's has its code behind it."""
    ops = list(all_operations(module))
    return {*(op.name for op in ops), *(f"tfl.custom {code}" for op in ops if (code := custom_code(op)))}


def run_passes(module: ir.Module, passes: Iterable[Pass], on_pass: Callable[[str], None] = lambda _: None) -> bool:
    """Runs passes in order and verifies the module after each one that changed it; returns whether any did.

    Raises:
        GraphError: A pass left an invalid module; the message names the pass and those before it.
        LitefuseError: A pass raised it.
    """
    before: list[str] = []
    modified = False
    present: set[str] | None = None  # the names of the module's ops, until a pass runs
    for one in passes:
        on_pass(one.name)
        if isinstance(one, Deferred) and (one.ops or one.when):
            present = present or op_names(module)
            if not one.may_change(module, present):
                before.append(one.name)
                continue
        present = None
        if one.run(module):
            modified = True
            try:
                module.operation.verify()
            except ir.MLIRError as error:
                raise GraphError(
                    f"the module is not valid: {error}", where=f"after the pass {one.name} (before it: {before})"
                ) from error
        before.append(one.name)
    return modified
