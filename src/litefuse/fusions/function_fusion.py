"""Fusions that are one function, whose signature says what composites it takes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from types import NoneType, SimpleNamespace, UnionType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Union, cast, get_args, get_origin, get_type_hints

from litefuse.errors import FusionError
from litefuse.frontends.saved_model.dtypes import DataType
from litefuse.fusions.fusion import Fusion
from litefuse.support.options.names import nearest

if TYPE_CHECKING:
    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.ir.mlir import ir
    from litefuse.ir.types import TensorType

_SPECIFICATION = re.compile(r"(?P<dtypes>\w+(\s*\|\s*\w+)*)\s*(\[(?P<sizes>[\s\d?,]*)\])?")
_KINDS = inspect.Parameter


class _Specification(NamedTuple):
    """The dtypes and sizes that an annotation asks for, such as ``float32

    float16[?,4]``; None for any size or rank.
    """

    text: str
    dtypes: frozenset[str]
    sizes: Sequence[int | None] | None

    def fits(self, kind: TensorType) -> bool:
        """Whether a tensor is of this kind; an unknown rank or size is not."""
        if kind.dtype not in self.dtypes:
            return False
        if self.sizes is None:
            return True
        shape = kind.shape
        return (
            shape is not None
            and len(shape) == len(self.sizes)
            and all(wanted in {None, size} for wanted, size in zip(self.sizes, shape, strict=True))
        )


class FunctionFusion(Fusion):
    """A fusion that is a function, of the builder, the composite's arguments, and its attributes by keyword."""

    function: ClassVar[Callable[..., Any]]  # pyright: ignore[reportIncompatibleVariableOverride]
    tensors: ClassVar[Sequence[inspect.Parameter]]
    attributes: ClassVar[Mapping[str, inspect.Parameter]]
    specifications: ClassVar[Mapping[str, _Specification]]
    takes_any_attribute: ClassVar[bool]

    def verify(self, composite: Composite) -> str | None:
        names = [f"{'*' * (one.kind == _KINDS.VAR_POSITIONAL)}{one.name}" for one in self.tensors]
        optional = sum(parameter.default is not _KINDS.empty for parameter in self.tensors)
        variadic = bool(self.tensors) and self.tensors[-1].kind == _KINDS.VAR_POSITIONAL
        count = len(composite.args)
        if not len(names) - optional - variadic <= count <= (count if variadic else len(names)):
            return f"it has {count} arguments, not {len(names)} ({', '.join(names)}){self._misplaced(composite)}"
        for parameter, kind in zip(self.tensors, composite.arg_types, strict=False):
            specification = self.specifications.get(parameter.name)
            if specification is not None and not specification.fits(kind):
                return f"{parameter.name} is {kind}, not {specification.text}"
        try:
            self._values(composite.attributes)
        except ValueError as error:
            return str(error)
        return None

    def _misplaced(self, composite: Composite) -> str:
        """Says which parameter is not where it belongs, if that is why numbers of arguments differ."""
        builder = next(iter(inspect.signature(type(self).function).parameters))
        for parameter in self.tensors:
            if parameter.name in composite.attributes:
                return f"; {parameter.name!r} is an attribute: put * before it"
        return f"; the first parameter, {builder!r}, is the builder" if builder not in {"_", "b", "builder"} else ""

    def rewrite(self, composite: Composite, b: Builder) -> ir.Value | Sequence[ir.Value]:
        results = type(self).function(b, *composite.args, **self._values(composite.attributes))
        if results is None:
            raise FusionError(
                f"{type(self).__qualname__} returned None: return the results, or raise FusionError(reason) to decline"
            )
        return results

    def _values(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        """Returns the composite's attributes as the function takes them; raises a ValueError if one does not fit."""
        attributes = {name: value for name, value in attributes.items() if name != "tfl_fusable_op"}
        unknown = sorted(attributes.keys() - self.attributes.keys())
        if unknown and not self.takes_any_attribute:
            known = (
                f"those of {type(self).__qualname__} are {', '.join(self.attributes)}" if self.attributes else "none is"
            )
            raise ValueError(f"its attribute {unknown[0]!r} is unknown; {known}")
        for name, parameter in self.attributes.items():
            if parameter.default is _KINDS.empty and name not in attributes:
                raise ValueError(f"it has no attribute {name!r}")
        return {name: self._converted(name, value) for name, value in attributes.items()}

    def _converted(self, name: str, value: Any) -> Any:
        parameter = self.attributes.get(name)
        hint = Any if parameter is None else parameter.annotation
        if hint is float and isinstance(value, int) and not isinstance(value, bool):
            return float(value)
        if not _is_of(value, hint):
            raise ValueError(f"its attribute {name!r} is {value!r}, not {hint if get_origin(hint) else hint.__name__}")
        return value


def function_fusion(function: Callable[..., Any], **options: Any) -> type[FunctionFusion]:
    """Makes the fusion of a function.

    Args:
        function: Takes the builder, then the arguments of the composite by position, and its attributes by keyword.
        options: The class's attributes, such as ``tolerance``.

    Raises:
        FusionError: The signature cannot be that of conversion code.
    """
    where = f"{function.__qualname__} ({function.__code__.co_filename}:{function.__code__.co_firstlineno})"
    parameters = list(inspect.signature(function).parameters.values())
    if not parameters or parameters[0].kind not in {_KINDS.POSITIONAL_ONLY, _KINDS.POSITIONAL_OR_KEYWORD}:
        raise FusionError(
            "a fusion takes the builder first", where=where, hint="Write def f(b, x, ..., *, attribute=...)."
        )
    tensors = [one for one in parameters[1:] if one.kind not in {_KINDS.KEYWORD_ONLY, _KINDS.VAR_KEYWORD}]
    for parameter in tensors:
        if parameter.default not in {_KINDS.empty, None}:
            raise FusionError(
                f"{parameter.name} is an argument of the composite, whose default can only be None",
                where=where,
                hint=f"Attributes are keyword-only: put * before {parameter.name}.",
            )
    attributes = {
        one.name: one.replace(annotation=_hint(one, function)) for one in parameters if one.kind == _KINDS.KEYWORD_ONLY
    }
    specifications = {
        one.name: specification
        for one in tensors
        if (specification := _specification(one, function, where)) is not None
    }
    return type(
        function.__name__,
        (FunctionFusion,),
        {
            **options,
            "__module__": function.__module__ or "",
            "__qualname__": function.__qualname__,
            "__doc__": function.__doc__,
            "function": staticmethod(function),
            "tensors": tensors,
            "attributes": attributes,
            "specifications": specifications,
            "takes_any_attribute": parameters[-1].kind == _KINDS.VAR_KEYWORD,
        },
    )


def _hint(parameter: inspect.Parameter, function: Callable[..., Any]) -> Any:
    """Returns a parameter's annotation as a type; Any for none, and for what cannot be evaluated."""
    if parameter.annotation is _KINDS.empty:
        return Any
    annotated = SimpleNamespace(__annotations__={parameter.name: parameter.annotation})
    try:
        return get_type_hints(annotated, function.__globals__, include_extras=True)[parameter.name]
    except Exception:  # noqa: BLE001  evaluating an annotation may raise anything
        return Any


def _specification(parameter: inspect.Parameter, function: Callable[..., Any], where: str) -> _Specification | None:
    """Reads what a text asks of a tensor, as its annotation or in an ``Annotated``; None for any other annotation."""
    annotation = parameter.annotation
    texts = [annotation.strip("'\"")] if isinstance(annotation, str) else []
    texts += [text for text in getattr(_hint(parameter, function), "__metadata__", ()) if isinstance(text, str)]
    for text in reversed(texts):
        match = _SPECIFICATION.fullmatch(text.strip())
        if match is None:
            continue
        dtypes = frozenset(re.split(r"\s*\|\s*", match["dtypes"]))
        unknown = dtypes - {str(dtype) for dtype in DataType}
        close = nearest(min(unknown), map(str, DataType), 0.7) if unknown else []
        if unknown and match["sizes"] is None and text is texts[0] and isinstance(annotation, str) and not close:
            continue  # the name of a type
        if unknown:
            hint = f"Did you mean {close[0]}?" if close else f"Dtypes are {', '.join(map(str, DataType))}."
            raise FusionError(
                f"{parameter.name} is to be {text}, and {min(unknown)} is not a dtype", where=where, hint=hint
            )
        sizes = None if match["sizes"] is None else re.findall(r"\d+|\?", match["sizes"])
        return _Specification(text, dtypes, sizes and [None if size == "?" else int(size) for size in sizes])
    return None


def _is_of(value: Any, hint: Any) -> bool:
    """Whether an attribute's value is of a type; of a type that attributes do not have, each is."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in {bool, int, float, str, NoneType}:
        return type(value) is hint
    if origin in {Union, UnionType}:
        return any(_is_of(value, one) for one in inner)
    if origin is Literal:
        return value in inner
    if hint in {list, tuple} or origin in {list, tuple, Sequence}:
        if not isinstance(value, list):
            return False
        items = cast("list[Any]", value)
        if origin is tuple and ... not in inner:
            return len(items) == len(inner) and all(map(_is_of, items, inner))
        return not inner or all(_is_of(item, inner[0]) for item in items)
    return True
