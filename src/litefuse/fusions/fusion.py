"""The conversion code of one composite, and the registry of all."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from litefuse.errors import FusionError
from litefuse.fusions.loading import is_loading, load_plug_ins
from litefuse.plug_ins.own_classes import OwnClass, own_classes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

__all__ = [
    "Fusion",
    "called_fusions",
    "find_fusion",
    "fusion",
    "own_fusions",
    "registered_fusions",
    "take_fusions",
]


class Fusion:
    """Conversion code: replaces a composite's body by fused ops.

    Subclass it, and register the subclass for the annotations that it handles::

        @litefuse.fusion("embedding_lookup")
        class EmbeddingLookup(litefuse.Fusion):
            def verify(self, composite):
                if len(composite.args) != 2:
                    return f"it has {len(composite.args)} arguments, not 2"

            def rewrite(self, composite, b):
                table, ids = composite.args
                return b.embedding_lookup(ids, table)

    The composite's body is erased only when ``verify`` gave no reason and what ``rewrite`` returned is valid.
    """

    #: The annotations that it is registered for.
    names: ClassVar[tuple[str, ...]] = ()

    #: The self-check's tolerance: the largest difference of a float result, relative to the largest value (at least 1).
    tolerance: ClassVar[float] = 1e-5

    #: Why there is no self-check, for an interface whose bodies are placeholders by its definition; None: there is one.
    unchecked: ClassVar[str | None] = None

    #: The indices of results whose values the interface leaves open: the self-check compares shape and dtype only.
    open_results: ClassVar[tuple[int, ...]] = ()

    #: Whether the interface takes only ids that its tables have: the self-check gives no others, which a body such as a
    #: product with ``tf.one_hot`` makes zeros of, and the runtime refuses.
    ids_in_range: ClassVar[bool] = False

    def verify(self, composite: Composite) -> str | None:
        """The reason why this composite cannot be fused, or None.

        The reason ends up in the report, after "not fused: ": say what was found and what is needed.
        """
        del composite
        return None

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value | Sequence[ir.Value]:
        """Builds the replacement with ``b`` from ``composite.args``.

        Returns:
            The results, as many as ``composite.result_types`` and of those dtypes; one value alone for one result.

        Raises:
            FusionError: It cannot be built after all; the message becomes the reason in the report.
        """
        raise NotImplementedError

    def check_inputs(
        self, composite: Composite, size: int, random: np.random.Generator
    ) -> Sequence[npt.NDArray[Any]] | None:
        """The self-check's inputs, for a composite that is defined for some values of its arguments only.

        Args:
            composite: The composite; only its types mean anything here.
            size: What to use for unknown dimensions, or to derive their sizes from.
            random: Where the values come from.

        Returns:
            One array for each argument; None for those that are drawn from what its body does with them.
        """
        del composite, size, random
        return None


_FusionType = TypeVar("_FusionType", bound=type[Fusion])

_own: dict[str, type[Fusion]] = {}  # those of modules that are loaded
_installed: dict[str, type[Fusion]] = {}  # those of plug-ins
_registered: dict[str, type[Fusion]] = {}  # those of the program that runs


def fusion(*names: str, replace: bool = False) -> Callable[[_FusionType], _FusionType]:
    """Registers a ``Fusion`` subclass for composites annotated with any of ``names``.

    Args:
        names: The annotations: the plain string given to ``experimental_implements``, or the name in its NameAttrList.
            One that ends in ``*`` is for the annotations of Keras 2 (``api_implements``) that begin so.
        replace: Take the place of a fusion that is registered already.

    Raises:
        FusionError: There is no name, or one is taken; or the class is no ``Fusion``, or has no ``rewrite``.
    """
    # Not only for the type checker's eyes: written without brackets, the class is what is decorated with.
    if not names or not all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FusionError("a fusion needs the names of its composites", hint='Write @litefuse.fusion("name").')

    def register(cls: _FusionType) -> _FusionType:
        if not isinstance(cls, type) or not issubclass(cls, Fusion):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise FusionError(f"{cls.__qualname__} is not a subclass of litefuse.Fusion")
        if cls.rewrite is Fusion.rewrite:
            raise FusionError(
                f"{cls.__qualname__} has no method rewrite", hint="It builds what becomes of a composite."
            )
        cls.names = names
        if all(_own_module(name) == cls.__module__ for name in names):
            _own.update(dict.fromkeys(names, cls))
            return cls
        if not is_loading():
            load_plug_ins()
        for name in names:
            present = _registered_fusion(name)
            same = present is not None and _qualified_name(present) == _qualified_name(cls)  # a notebook cell run again
            if present is not None and not same and not replace:
                raise FusionError(
                    f"{_qualified_name(present)} is registered for {name!r} already",
                    where=_qualified_name(cls),
                    hint="Pass replace=True to take its place.",
                )
        (_installed if is_loading() else _registered).update(dict.fromkeys(names, cls))
        return cls

    return register


@functools.cache
def own_fusions() -> Mapping[str, OwnClass]:
    """The fusions of this package by the names in their decorators; none is loaded."""
    return {name: each for each in own_classes("litefuse.fusions", "fusion") for name in each.arguments}


def _own_module(name: str) -> str | None:
    found = own_fusions().get(name)
    return None if found is None else found.module


def _registered_fusion(name: str) -> type[Fusion] | None:
    """What is registered for exactly this name."""
    cls = _registered.get(name) or _installed.get(name)
    module = _own_module(name)
    if cls is None and module is not None:
        importlib.import_module(module)  # which registers it
        return _own[name]
    return cls


def _qualified_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def find_fusion(name: str, *, by_prefix: bool = False) -> Fusion | None:
    """The fusion for a composite of this name, from the registry or an entry point; None when there is none.

    Args:
        name: The composite's name.
        by_prefix: Whether a fusion for names that begin like this one will do; the longest beginning counts.
    """
    load_plug_ins()
    names = [name]
    if by_prefix:
        known = (*_registered, *_installed, *own_fusions())
        patterns = {one for one in known if one.endswith("*") and name.startswith(one[:-1])}
        names += sorted(patterns, key=len, reverse=True)
    for one in names:
        cls = _registered_fusion(one)
        if cls is not None:
            return cls()
    return None


def registered_fusions() -> Mapping[str, type[Fusion]]:
    """Every name with its fusion, sorted by name."""
    load_plug_ins()
    found = {name: _registered_fusion(name) for name in sorted({*own_fusions(), *_installed, *_registered})}
    return {name: cls for name, cls in found.items() if cls is not None}


def called_fusions() -> Mapping[str, type[Fusion]]:
    """What the running program registered, for the process that converts."""
    return dict(_registered)


def take_fusions(registered: Mapping[str, type[Fusion]]) -> None:
    """Takes over what another process registered, and forgets what an earlier one did."""
    _registered.clear()
    _registered.update(registered)
