"""Options that are declared once: as arguments of functions, flags of commands, and keys of ``models.toml``.

A class of options has a field for each, made by :func:`option`. What belongs together is a class of its own, which a
field of another class takes: as an object, as a mapping from its fields, or as the value of its first field.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, field, fields
from typing import TYPE_CHECKING, Any, Concatenate, ForwardRef, Literal, NamedTuple, ParamSpec, TypeVar, cast

from litefuse.errors import LitefuseError, UnknownArgumentError
from litefuse.support.options.names import choices_text
from litefuse.support.records import Record, dataclass_transform

if TYPE_CHECKING:
    from typing_extensions import Self

_P = ParamSpec("_P")
_Model = TypeVar("_Model")
_Options = TypeVar("_Options", bound="Options")
_Result = TypeVar("_Result")
_Function = TypeVar("_Function", bound="Callable[..., Any]")
# The name of another option in a help text.
_REFERENCE = re.compile(r"\{(\w+)\}")


class Option(NamedTuple):
    """An option beside its name, type and default.

    Attributes:
        help: What it is for. ``{name}`` stands for another option.
        flag: Its flag, where that is not its name with dashes; ``-``: it is for Python alone.
        metavar: The kind of value, for help.
        group: The heading under which help lists it; empty: before all headings.
        choices: The values that there are.
        is_repeated: Whether its flag may be repeated.
        path: Whether it is the path of what is read, or of what is written.
        least: The smallest number.
        is_bytes: Whether it is a number of bytes, which may be ``2G``.
        python: What is said beside that of it as an argument in Python.
        otherwise: What the default does, where that is none of the values.
        of: What makes the value that the option holds of the one that a user gives.
    """

    help: str
    flag: str = ""
    metavar: str = ""
    group: str = ""
    choices: tuple[Any, ...] = ()
    is_repeated: bool = False
    path: Literal["", "read", "written"] = ""
    least: int | None = None
    is_bytes: bool = False
    python: str = ""
    otherwise: str = ""
    of: Callable[..., Any] | None = None


def option(
    *,
    default: Any,
    help: str,  # noqa: A002  as click calls it
    kw_only: bool = True,
    converter: Callable[..., Any] | None = None,
    only: tuple[str, ...] = (),
    **known: Any,
) -> Any:
    """Declares an option of a class.

    Args:
        default: Its default, as users give it.
        help: What it is for.
        kw_only: Whether it is given by its name alone.
        converter: What makes the option's value of the one that a user gives, whose type is that of its argument. That
            of another class's options groups them: it takes an object, a mapping, or the value of their first.
        only: The options of a group that have an effect here; empty for all.
        **known: What else is known of it, see :class:`Option`.
    """
    kind = getattr(converter, "__self__", None)
    metadata: dict[str, Any] = {"option": Option(help, of=converter, **known), "only": only}
    if isinstance(kind, type) and issubclass(kind, Options):
        metadata["kind"] = kind
    return field(default=default, kw_only=kw_only, metadata=metadata)


class Declared(NamedTuple):
    """An option of a class.

    Attributes:
        name: Its name.
        annotation: Its type, as text.
        default: Its default.
        option: What else is known of it.
        kind: The class of the options that it groups; None for a single one.
        only: The names of those in the group that have an effect; empty for all.
    """

    name: str
    annotation: str
    default: Any
    option: Option
    kind: type[Options] | None
    only: tuple[str, ...]

    @property
    def inner(self) -> tuple[Declared, ...]:
        """The options of a group."""
        known = declared_options(self.kind) if self.kind is not None else ()
        return tuple(one for one in known if not self.only or one.name in self.only)

    @property
    def flag(self) -> str:
        """The flag of a single option."""
        return self.option.flag or f"--{self.name.replace('_', '-')}"

    @property
    def parameter(self) -> str:
        """The flag as a name, of one that has a second, which says no, the first."""
        return self.flag.partition("/")[0].lstrip("-").replace("-", "_")

    @property
    def is_switch(self) -> bool:
        """Whether it is true or false, and nothing else."""
        return self.annotation == "bool"

    @property
    def values(self) -> tuple[Any, ...]:
        """The values that there are in Python, where yes and no are True and False."""
        return tuple({"yes": True, "no": False}.get(choice, choice) for choice in self.option.choices)

    def about(self, shown: Callable[[str], str], quoted: Callable[[Any], str]) -> str:
        """Returns what it is for, its values and its default.

        Args:
            shown: Writes text as the place wants it.
            quoted: Writes a value.
        """
        text = shown(help_text(f"{self.option.help} {self.option.python}".strip()))
        if self.values:
            text += f" One of {', '.join(map(quoted, self.values))}."
        plain = self.default is not None and not callable(self.default)
        default = self.option.otherwise or (quoted(self.default) if plain else "")
        return f"{text} Default: {default}." if default else text


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
class Options(Record):
    """Options that belong together."""

    def __init__(self, *values: Any, **named: Any) -> None:
        own = [kept.name for kept in fields(self)]
        _refuse_unknown(type(self).__name__, named, own, declared_options(type(self)))
        super().__init__(*values, **named)

    def __post_init__(self) -> None:
        """Makes the values that the options hold of those that were given.

        Raises:
            LitefuseError: One is not what its option takes.
        """
        for declared in declared_options(type(self)):
            value = getattr(self, declared.name)
            if value is not None or declared.default is not None:
                _check(declared, value)
            if declared.option.of is not None:
                vars(self)[declared.name] = declared.option.of(value, declared.name)

    @classmethod
    def _of(cls, value: Any, argument: str) -> Self:
        """Returns the options that a user gave: as an object, as a mapping, or as the first of them; None: defaults.

        Raises:
            LitefuseError: A key that there is none of.
        """
        if value is None:
            return cls()
        if isinstance(value, cls):
            return value
        if isinstance(value, Options):
            raise LitefuseError(f"{argument} takes {cls.__name__}, not {type(value).__name__}")
        if not isinstance(value, Mapping):
            return cls(**{declared_options(cls)[0].name: value})
        return cls(**{str(name): one for name, one in cast("Mapping[Any, Any]", value).items()})


def _check(declared: Declared, value: object) -> None:
    """Refuses values that Python would take for something else, or not compare."""
    known, wanted = declared.option, ""
    number = "__index__" if declared.annotation.startswith("int") else "__float__"  # numpy's have them, too
    is_number = hasattr(value, number) and not isinstance(value, (bool, type))
    if declared.is_switch and not isinstance(value, bool):
        wanted = "True or False"
    elif known.path == "written" and not isinstance(value, (str, os.PathLike)):
        wanted = "a path"
    elif known.least is not None and not (is_number and cast("float", value) >= known.least):
        wanted = f"a number of at least {known.least}"
    if wanted:
        raise LitefuseError(f"{declared.name} must be {wanted}, not {value!r}")
    if known.choices and not any(isinstance(value, type(one)) and value == one for one in declared.values):
        raise LitefuseError(f"{declared.name} is {value!r}", hint=choices_text(value, declared.values))


@functools.cache
def declared_options(kind: type[Options]) -> tuple[Declared, ...]:
    """Returns the options of a class, groups as one."""

    def known(kept: Field[Any]) -> Declared:
        known = kept.metadata
        return Declared(kept.name, _annotation(kept), kept.default, known["option"], known.get("kind"), known["only"])

    return tuple(known(kept) for kept in fields(kind) if "option" in kept.metadata)


def _annotation(kept: Field[Any]) -> str:
    """Returns the type of what a user gives for an option, as text."""
    converter = kept.metadata["option"].of if "option" in kept.metadata else None
    if converter is None:
        return str(kept.type)
    taken, *_ = inspect.signature(converter).parameters.values()
    return str(taken.annotation)


def single_options(kind: type[Options]) -> Iterator[Declared]:
    """Yields the options of a class, and of the groups among them."""
    for declared in declared_options(kind):
        yield from (declared,) if declared.kind is None else declared.inner


def written_for(known: Iterable[Declared], given: Mapping[str, Any]) -> Mapping[str, str]:
    """Returns what is written for options in groups, and for others that have other flags, by names and by flags.

    Args:
        known: The options and groups.
        given: What a user gave: a value that stands for a group goes along.
    """
    answers: dict[str, str] = {}
    for one in known:
        if one.kind is None:
            answers[one.parameter] = one.name
            continue
        value, first = given.get(one.name), next(iter(inspect.signature(one.kind).parameters.values()))
        stands_for_it = isinstance(value, (str, int, float)) and not isinstance(value, bool)
        name = f"{first.name}=" if first.kind is first.KEYWORD_ONLY else ""
        shorthand = f"{name}{value!r}, " if stands_for_it else ""
        for inner in one.inner:
            text = f"{one.name}=litefuse.{one.kind.__name__}({shorthand}{inner.name}=...)"
            answers |= {inner.parameter: text, inner.name: text}
    return answers


def help_text(text: str, flags: Mapping[str, str] | None = None) -> str:
    """Returns a help text with the names of other options: for Python as they are, for a command as their flags."""
    if flags is None:
        return _REFERENCE.sub(r"``\1``", text)
    return _REFERENCE.sub(lambda match: flags[match[1]], text)


def takes(
    kind: Callable[_P, _Options], about: Callable[[Any], object] = lambda _: None
) -> Callable[[Callable[[_Model, _Options], _Result]], Callable[Concatenate[_Model, _P], _Result]]:
    """Makes a function of a model and an object of options take the options as its arguments.

    They are in its signature and its documentation. Arguments that it does not have are answered by their names here,
    where they are those of other converters or former ones.

    Args:
        kind: The class of the options.
        about: Raises what is wrong with a model, to be told before what is wrong with arrays behind it.
    """
    options = cast("type[Options]", kind)
    known = declared_options(options)
    names = [declared.name for declared in known]

    def decorate(function: Callable[[_Model, _Options], _Result]) -> Callable[Concatenate[_Model, _P], _Result]:
        @functools.wraps(function)
        def called(model: _Model, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
            given = dict(zip(names, args, strict=False)) | kwargs
            _refuse_unknown(f"litefuse.{function.__name__}", given, names, known)
            if any(hasattr(one, "__array__") for one in args):  # those of a function to convert
                about(model)
            _refuse_positional(f"litefuse.{function.__name__}", (model, *args), signature)
            signature.bind(model, *args, **kwargs)
            return function(model, kind(*args, **kwargs))

        (model, _) = inspect.signature(function).parameters.values()
        signature = inspect.Signature(
            [model, *_parameters(options)], return_annotation=inspect.signature(function).return_annotation
        )
        called.__signature__ = signature  # pyright: ignore[reportAttributeAccessIssue]
        own = function.__annotations__
        called.__annotations__ = {model.name: own[model.name], **_hints(options), "return": own["return"]}
        called.__doc__ = _documented(inspect.getdoc(function) or "", known)
        return called

    return decorate


def _refuse_unknown(
    owner: str, given: Mapping[str, Any], names: Collection[str], known: Iterable[Declared] = ()
) -> None:
    if unknown := [name for name in given if name not in names]:
        from litefuse.support.options.names_elsewhere import answers_elsewhere  # few have use for it

        raise UnknownArgumentError(
            f"{owner} has no argument {' or '.join(map(repr, unknown))}",
            hint=answers_elsewhere(unknown, names, written_for(known, given)) or f"It has {', '.join(names)}.",
            arguments=unknown,
        )


def _refuse_positional(owner: str, args: Sequence[object], signature: inspect.Signature) -> None:
    by_name = [one.name for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
    places = len(signature.parameters) - len(by_name)
    if len(args) > places:
        raise UnknownArgumentError(
            f"{owner} got too many positional arguments, {len(args)} instead of {places}",
            hint=f"Write the others by name: {', '.join(f'{name}=' for name in by_name)}.",
        )


def answering(**groups: type[Options]) -> Callable[[_Function], _Function]:
    """Has a function answer arguments that it does not have, as :func:`takes` does.

    Args:
        **groups: The classes of its arguments that group options of processes.
    """
    known = [
        Declared(name, "", None, Option(""), kind, tuple(one.name for one in declared_options(kind) if one.flag == "-"))
        for name, kind in groups.items()
    ]

    def decorate(function: _Function) -> _Function:
        signature = inspect.signature(function)
        names = [*signature.parameters]

        @functools.wraps(function)
        def called(*args: Any, **kwargs: Any) -> Any:
            _refuse_unknown(f"litefuse.{function.__name__}", kwargs, names, known)
            _refuse_positional(f"litefuse.{function.__name__}", args, signature)
            return function(*args, **kwargs)

        return cast("_Function", called)

    return decorate


def _hints(kind: type[Options]) -> Mapping[str, ForwardRef]:
    """Returns the types of a class's options, each to be read in its module."""
    return {
        declared.name: ForwardRef(declared.annotation, module=(declared.option.of or kind).__module__)
        for declared in declared_options(kind)
    }


def _parameters(kind: type[Options]) -> Iterator[inspect.Parameter]:
    for kept in fields(kind):
        manner = inspect.Parameter.KEYWORD_ONLY if kept.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        yield inspect.Parameter(kept.name, manner, default=kept.default, annotation=_annotation(kept))


def documented(kind: type[_Options]) -> type[_Options]:
    """Adds the options of a class to its documentation and signature."""
    kind.__doc__ = f"{inspect.getdoc(kind)}\n\nAttributes:\n{_entries(declared_options(kind))}"
    kind.__signature__ = inspect.Signature([*_parameters(kind)])  # pyright: ignore[reportAttributeAccessIssue]
    return kind


def _documented(text: str, known: tuple[Declared, ...]) -> str:
    before, _, after = text.partition("    options: Each of them is an argument.")
    return f"{before}{_entries(known)}{after}"


def _entries(known: tuple[Declared, ...]) -> str:
    lines: list[str] = []
    for declared in known:
        text = f"{declared.name}: {declared.about(str, lambda value: f'``{value!r}``')}"
        lines += textwrap.wrap(text, 112, initial_indent="    ", subsequent_indent="        ")
    return "\n".join(lines)
