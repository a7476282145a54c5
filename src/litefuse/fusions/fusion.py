"""Conversion code of composites, its registry, and the loading of plug-ins that register more."""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from types import FunctionType, MethodType, NoneType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, cast

from litefuse.errors import FusionError
from litefuse.support.options.names import nearest
from litefuse.support.plug_ins.entry_points import load_plug_ins, loading_plug_in, place_of
from litefuse.support.plug_ins.own_classes import OwnClass, own_classes

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir

#: Arrays for the arguments of a composite.
Inputs: TypeAlias = "Sequence[npt.NDArray[Any]]"


class Fusion:
    """Conversion code that replaces a composite's body with fused ops.

    Subclass it, and register the subclass for the annotations that it handles:

        @litefuse.fusion("embedding_lookup")
        class EmbeddingLookup(litefuse.Fusion):
            def verify(self, composite):
                if len(composite.args) != 2:
                    return f"it has {len(composite.args)} arguments, not 2"

            def rewrite(self, composite, b):
                table, ids = composite.args
                return b.embedding_lookup(ids, table)

    The composite's body is erased only if ``verify`` returns None and what ``rewrite`` returns is valid.
    """

    #: The function that it is; None for a class.
    function: ClassVar[Callable[..., Any] | None] = None

    #: The annotations for which it is registered.
    names: ClassVar[tuple[str, ...]] = ()

    #: The self-check's tolerance: the largest error of an element of a float result, relative to the element, or to the
    #: numbers that it is a difference of.
    tolerance: ClassVar[float] = 1e-5

    #: Why the self-check is left out, for interfaces whose bodies are placeholders by definition; None if it is not.
    unchecked: ClassVar[str | None] = None

    #: Indices of results whose values the interface does not define: the self-check compares only shape and dtype.
    #: A pair ``(index, count)`` is a result that is defined up to a count, and the result with the count: a scalar
    #: counts along the first dimension, one of shape ``[batch]`` along the second.
    open_results: ClassVar[Sequence[int | tuple[int, int]]] = ()

    #: Whether the interface only accepts ids within its tables, so the self-check uses no others: a body such as a
    #: product with ``tf.one_hot`` turns those into zeros, but the runtime refuses them.
    ids_in_range: ClassVar[bool] = False

    def verify(self, composite: Composite) -> str | None:
        """Returns the reason why this composite cannot be fused, or None.

        The report shows it after "not fused: ". State what was found and what is needed.
        """
        del composite
        return None

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value | Sequence[ir.Value]:
        """Builds the replacement with ``b`` from ``composite.args``.

        Returns:
            The results, in the number and dtypes of ``composite.result_types``; a single result may be returned alone.

        Raises:
            FusionError: The replacement cannot be built. The message becomes the reason in the report.
        """
        raise NotImplementedError

    def faster_inlined(self, composite: Composite) -> str | None:
        """Returns why the composite's body is faster on a CPU than the fused op; None if it is not.

        Such a composite is inlined where nobody asks for one op. It is called after ``verify``.
        """
        del composite
        return None

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Inputs | None:
        """Returns inputs for the self-check of a composite that is defined only for some values of its arguments.

        Args:
            composite: The composite; only its types are meaningful here.
            size: The size of unknown dimensions, or the value to derive their sizes from.
            random: The source of the values.

        Returns:
            One array for each argument; None to draw inputs based on how the body uses its arguments.
        """
        del composite, size, random
        return None


_FusionType = TypeVar("_FusionType", bound="type[Fusion] | Callable[..., Any]")

# What the decorator sets of the class, and the types of it.
_OPTIONS: Mapping[str, tuple[type, ...]] = {
    "check_inputs": (FunctionType, MethodType),
    "ids_in_range": (bool,),
    "open_results": (tuple, list),
    "tolerance": (int, float),
    "unchecked": (str, NoneType),
}

_own: dict[str, type[Fusion]] = {}  # from modules of this package that are loaded
_installed: dict[str, type[Fusion]] = {}  # from plug-ins
_registered: dict[str, type[Fusion]] = {}  # from the running program

# The name of the composite, and the recognizer's class or function, by name and qualified name.
_installed_formulas: dict[str, tuple[str, Any]] = {}
_registered_formulas: dict[str, tuple[str, Any]] = {}


def count_problem(composite: Composite, arguments: Sequence[str], results: Sequence[str] = ()) -> str | None:
    """Returns why a composite lacks its interface's numbers of arguments and results; None if it has them.

    Args:
        composite: The composite.
        arguments: The names of its arguments.
        results: The names of its results; none: there is one.
    """
    if len(composite.args) != len(arguments):
        return f"it has {len(composite.args)} arguments, not {len(arguments)} ({', '.join(arguments)})"
    if len(composite.result_types) != (len(results) or 1):
        wanted = f"{len(results)} ({', '.join(results)})" if results else "1"
        return f"it has {len(composite.result_types)} results, not {wanted}"
    return None


def attributes_problem(name: str, attributes: Mapping[str, Any], expected: Collection[str]) -> str | None:
    """Returns why attributes are not those that an interface, called by a name, expects; None if they are."""
    if unknown := sorted(attributes.keys() - {*expected, "tfl_fusable_op"}):
        return f"{name} has no attribute {', '.join(unknown)}"
    if missing := sorted({*expected} - attributes.keys()):
        return f"it needs the attribute {', '.join(missing)}; it has {sorted(attributes)}"
    return None


def agree(one: Sequence[int | None] | None, other: Sequence[int | None] | None) -> bool:
    """Whether two shapes are compatible; None is unknown."""
    if one is None or other is None:
        return True
    return len(one) == len(other) and all(a is None or b is None or a == b for a, b in zip(one, other, strict=True))


def fusion(
    *names: str, replace: bool = False, pattern: Callable[..., Any] | None = None, **options: Any
) -> Callable[[_FusionType], _FusionType]:
    """Registers what becomes of composites with any of ``names``: conversion code, a kernel, or both in one class.

    Conversion code is a function or a ``Fusion`` subclass. Composites of the name of a kernel, a ``CustomOp`` subclass,
    become this custom op, and are compared with it. With a pattern, composites need no annotation.

    A function takes the builder, the arguments of the composite by position, and its attributes by keyword:

        @litefuse.fusion("conv_bn_relu")
        def conv_bn_relu(b, x: "float32[?,?,?,?]", filters, gamma, beta, mean, variance, *, epsilon: float = 1e-3):
            scale = gamma * b.rsqrt(variance + epsilon)
            return b.relu(b.conv_2d(x, b.transpose(filters, (3, 0, 1, 2)), 0 * beta) * scale + (beta - mean * scale))

    Its signature is checked: how many arguments there are (``*rest`` takes any number, ``y=None`` may be missing), the
    dtypes and sizes that annotations state (``float32|float16[?,4]``, as text or as ``Annotated[Any, "..."]``), the
    names of attributes (``**attributes`` takes any) and their types. It returns the results, or None where it declines,
    or raises ``FusionError`` with the reason.

    Args:
        names: The annotations: the plain string given to ``experimental_implements``, or the name in its NameAttrList.
                A name that ends in ``*`` matches annotations of Keras 2 (``api_implements``) with this prefix.
        replace: Whether it may replace what is registered already.
        pattern: The formula of composites that are not annotated, which get the first name, or a ``Recognizer``
            subclass, see ``recognizer``. By default, the attribute ``pattern`` of a class.
        options: ``tolerance``, ``unchecked``, ``open_results``, ``ids_in_range``, and ``check_inputs``, a function of
            ``(composite, size, random)``, see ``Fusion``.

    Raises:
        FusionError: No name is given, or several for a kernel; a name is taken; it is neither a function nor a
            ``Fusion`` with ``rewrite`` nor a kernel; or the function's signature is not that of conversion code.
        KernelError: The kernel is not complete, or the name is taken by another.
    """
    # Not redundant: without the parentheses, the decorator's argument is the class.
    if not names or not all(isinstance(name, str) for name in names):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise FusionError("a fusion needs the names of its composites", hint='Write @litefuse.fusion("name").')
    if unknown := options.keys() - _OPTIONS.keys():
        raise FusionError(f"a fusion has no option {min(unknown)!r}", hint=f"It has {', '.join(sorted(_OPTIONS))}.")
    if callable(inputs := options.get("check_inputs")):
        options["check_inputs"] = staticmethod(inputs)

    name = names[0]

    def register(code: _FusionType) -> _FusionType:
        cls = _fusion_class(code, options)
        for option, types in _OPTIONS.items():
            if not isinstance(value := getattr(cls, option), types):
                wanted = " or ".join(kind.__name__ for kind in types)
                raise FusionError(f"{option} is {value!r}, not {wanted}", where=place_of(cls))
        if _is_kernel(code):
            from litefuse.litert.runtime.custom_op import custom_op  # as in _is_kernel

            if len(names) > 1:
                raise FusionError(f"a kernel is for one custom op, not for {' and '.join(names)}")
            custom_op(name, replace=replace)(cast("Any", code))
        if (formula := pattern or getattr(code, "pattern", None)) is not None:
            register_formula(name, formula)
        _register(cls, names, replace=replace)
        return code

    return register


def _is_kernel(code: object) -> bool:
    if not isinstance(code, type):
        return False
    from litefuse.litert.runtime.custom_op import CustomOp  # few fusions come with a kernel

    return issubclass(code, CustomOp)


def _fusion_class(code: Any, options: Mapping[str, Any]) -> type[Fusion]:
    if _is_kernel(code) and getattr(code, "rewrite", Fusion.rewrite) is Fusion.rewrite:
        from litefuse.fusions.fusable_op import kernel_fusion  # as above

        return kernel_fusion(code, **options)
    if inspect.isfunction(code):
        from litefuse.fusions.function_fusion import function_fusion  # litefuse's own are classes

        return function_fusion(code, **options)
    if not isinstance(code, type) or not issubclass(cast("type[object]", code), Fusion):
        name = getattr(cast("object", code), "__qualname__", repr(code))
        raise FusionError(
            f"{name} is neither a function nor a subclass of litefuse.Fusion or litefuse.CustomOp",
            hint="Decorate a function, def f(b, x, ..., *, attribute=...), or class C(litefuse.Fusion) itself.",
        )
    cls = cast("type[Fusion]", code)
    if cls.rewrite is Fusion.rewrite:
        raise FusionError(
            f"{cls.__qualname__} has no method rewrite",
            hint="Write rewrite(self, composite, b), which returns the results.",
        )
    for name, value in options.items():
        setattr(cls, name, value)
    return cls


def _register(cls: type[Fusion], names: tuple[str, ...], *, replace: bool) -> None:
    cls.names = names
    if all(_own_module(name) == cls.__module__ for name in names):
        _own.update(dict.fromkeys(names, cls))
        return
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
    (_registered if loading_plug_in() is None else _installed).update(dict.fromkeys(names, cls))


def register_formula(name: str, target: Any) -> None:
    """Registers a formula of a composite that need not be annotated, see ``recognizer``.

    Args:
        name: The composite's name.
        target: A function, or a ``Recognizer`` subclass.

    Raises:
        FusionError: It is neither, or has a parameter that cannot be bound to a pattern.
    """
    is_class = inspect.isclass(target) and hasattr(target, "check")
    formula: Any = getattr(target, "formula", None) if is_class else target
    if not inspect.isfunction(formula):
        raise FusionError(f"{target!r} is neither a function nor a subclass of litefuse.Recognizer")
    if formula.__module__ == "litefuse.fusions.recognizers.recognizer":
        raise FusionError(f"{target.__qualname__} has no method formula", hint="Write formula(self, x, ...).")
    kinds = {parameter.kind for parameter in inspect.signature(formula).parameters.values()}
    if kinds & {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}:
        raise FusionError(
            f"the formula {formula.__qualname__} takes any number of arguments",
            hint="Give each argument its own parameter.",
        )
    load_plug_ins()
    registry = _registered_formulas if loading_plug_in() is None else _installed_formulas
    registry[f"{name} {target.__module__}.{target.__qualname__}"] = name, target


def registered_formulas() -> Iterable[tuple[str, Any]]:
    """Returns names and formulas in the order in which they are tried: those of the running program come first."""
    load_plug_ins()
    installed = {key: value for key, value in _installed_formulas.items() if key not in _registered_formulas}
    return {**_registered_formulas, **installed}.values()


def called_formulas() -> Mapping[str, tuple[str, Any]]:
    """Returns the formulas that the running program registered, for the conversion process."""
    return dict(_registered_formulas)


def take_formulas(registered: Mapping[str, tuple[str, Any]]) -> None:
    """Replaces the registered formulas with those of another process."""
    _registered_formulas.clear()
    _registered_formulas.update(registered)


@functools.cache
def own_fusions() -> Mapping[str, OwnClass]:
    """Returns the fusions of this package by the names in their decorators, without loading them."""
    return {name: class_ for class_ in own_classes("litefuse.fusions", "fusion") for name in class_.arguments}


def _own_module(name: str) -> str | None:
    own_class = own_fusions().get(name)
    return None if own_class is None else own_class.module


def _registered_fusion(name: str) -> type[Fusion] | None:
    """Returns the fusion that is registered for exactly this name."""
    cls = _registered.get(name) or _installed.get(name)
    module = _own_module(name)
    if cls is None and module is not None:
        importlib.import_module(module)  # which registers it
        return _own[name]
    return cls


def _qualified_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def similar_name(name: str) -> str:
    """Returns the name nearest to one among those that plug-ins and the program registered, for messages."""
    close = nearest(name, [*_registered, *_installed], 0.75)
    return f"; {place_of(_registered_fusion(close[0]) or Fusion)} is registered for {close[0]!r}" if close else ""


def find_fusion(name: str, *, by_prefix: bool = False) -> Fusion | None:
    """Returns the fusion for a composite, from the registry or an entry point; None if there is none.

    Args:
        name: The composite's name.
        by_prefix: Whether to also match names that end in ``*`` as prefixes; the longest prefix wins.
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
    """Returns the fusions by name, sorted by name."""
    load_plug_ins()
    classes = {name: _registered_fusion(name) for name in sorted({*own_fusions(), *_installed, *_registered})}
    return {name: cls for name, cls in classes.items() if cls is not None}


def called_fusions() -> Mapping[str, type[Fusion]]:
    """Returns the fusions that the running program registered, for the conversion process."""
    return dict(_registered)


def take_fusions(registered: Mapping[str, type[Fusion]]) -> None:
    """Replaces the registered fusions with those of another process."""
    _registered.clear()
    _registered.update(registered)
