"""Targets: what runs or compiles LiteRT files, one module for each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from litefuse.errors import LitefuseError
from litefuse.support.plug_ins.entry_points import (
    find_plug_ins,
    load_plug_ins,
    take_plug_ins,
    third_party_code,
    what_was_raised,
)
from litefuse.support.target_traits import TargetTraits, stricter

if TYPE_CHECKING:
    from litefuse.litert.targets.question import Answer, Question
    from litefuse.litert.targets.target import Target

__all__ = [
    "ASK",
    "OWN",
    "TargetTraits",
    "ask",
    "chosen_targets",
    "find_target",
    "target",
    "target_names",
    "traits_of",
]

#: The function to run in the process that asks the software of a target.
ASK = "litefuse.litert.targets:ask"

#: litefuse's own targets: the module and the class of each.
OWN = {
    "cpu": ("litert", "Cpu"),
    "litert": ("litert", "LiteRT"),
    "gpu": ("gpu", "Gpu"),
    "micro": ("micro", "Micro"),
    "ethos-u": ("ethos_u", "EthosU"),
    "openvino": ("openvino", "OpenVINO"),
    "web": ("web", "Web"),
    "intel-npu": ("npu", "IntelNpu"),
    "qualcomm": ("npu", "Qualcomm"),
    "mediatek": ("npu", "MediaTek"),
    "google-tensor": ("npu", "GoogleTensor"),
    "samsung": ("npu", "Samsung"),
}
_FORMER_GROUP = "litefuse.targets"  # of classes, by the names of the targets
_registered: dict[str, type[Target]] = {}

_TargetType = TypeVar("_TargetType", bound="type[Target]")


def target(name: str) -> Callable[[_TargetType], _TargetType]:
    """Class decorator that registers a subclass of ``Target`` under the name by which users choose it.

    Raises:
        LitefuseError: The name is missing, or that of another target.
    """
    # Checked at run time too: in a decorator without brackets, ``name`` is the decorated class.
    if not name or not isinstance(name, str) or ":" in name:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise LitefuseError("a target needs a name without a colon", hint='Write @litefuse.targets.target("name").')

    def register(kind: _TargetType) -> _TargetType:
        place, present = f"{kind.__module__}.{kind.__qualname__}", _registered.get(name, kind)
        if name in OWN or place != f"{present.__module__}.{present.__qualname__}":
            raise LitefuseError(f"there is a target {name!r} already", where=place)
        kind.name = name
        _registered[name] = kind
        return kind

    return register


def target_names() -> tuple[str, ...]:
    """Returns the names of all targets, those of plug-ins last."""
    load_plug_ins()
    former = {plug_in.name for plug_in in find_plug_ins(_FORMER_GROUP)}
    return (*OWN, *sorted((former | _registered.keys()) - OWN.keys()))


def find_target(name: str) -> Target:
    """Returns a target by its name, or a variant of it, ``NAME:VARIANT``.

    Raises:
        LitefuseError: There is none of this name, it has no such variant, or the plug-in that has it does not load.
    """
    kind, colon, variant = name.partition(":")
    target = _found(kind)
    if colon:
        target.choose(variant)
        target.name = name
    return target


def _found(name: str) -> Target:
    if name in OWN:
        module, kind = OWN[name]
        return getattr(importlib.import_module(f"litefuse.litert.targets.{module}"), kind)()
    for plug_in in find_plug_ins(_FORMER_GROUP):
        if plug_in.name == name:
            return _loaded(name, plug_in.load, plug_in.package or plug_in.value)
    load_plug_ins()
    if name in _registered:
        return _loaded(name, lambda: _registered[name], _registered[name].__module__)
    from litefuse.support.options.names import choices_text  # where users are

    raise LitefuseError(f"unknown target {name!r}", hint=choices_text(name, target_names()))


def chosen_targets(names: str | Iterable[str]) -> tuple[str, ...]:
    """Returns the names of targets, each once.

    Raises:
        LitefuseError: None is given, or one is unknown.
    """
    from litefuse.support.options.names import listed_names  # where users are

    chosen = (names,) if isinstance(names, str) else tuple(dict.fromkeys(listed_names(names, "target") or ()))
    if not chosen:
        raise LitefuseError("target takes the name of a target, or several, and there are none")
    for name in chosen:
        find_target(name)
    return chosen


def traits_of(name: str | Sequence[str]) -> TargetTraits:
    """Returns what a target can run, or all of several.

    Raises:
        LitefuseError: There is none of such a name.
    """
    names = [name] if isinstance(name, str) else name
    # Most conversions are for the interpreter, and need no more of it than this.
    return stricter([TargetTraits() if target == "cpu" else find_target(target).traits for target in names])


def takers(ops: Collection[str]) -> tuple[str, ...]:
    """Returns which of litefuse's own targets take a file with these ops of recurrent layers; none if all do."""
    if not any(op.startswith("UNIDIRECTIONAL_") for op in ops):
        return ()  # without their modules
    lacking = {name: traits_of(name).lacking.intersection(ops) for name in OWN}
    return tuple(name for name, of_target in lacking.items() if not of_target) if any(lacking.values()) else ()


def ask(question: Question, announce: Callable[[str], None]) -> Answer:
    """Asks the software, in a process of its own: it may crash, and much of it writes to the streams.

    Raises:
        LitefuseError: No such target here, or its software does not answer.
    """
    take_plug_ins(question.plug_ins)
    target = find_target(question.target)
    try:
        return target.ask(question, announce)
    except LitefuseError:
        raise
    except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the software raises
        from litefuse.litert.targets.question import Answer, Refusal

        refusal = Refusal("", f"its software fails: {what_was_raised(error)}")
        return Answer(target.traits.runtime, takes=False, refusals=(refusal,))


def _loaded(name: str, load: Callable[[], Any], package: str) -> Target:
    with third_party_code(f"the target {name!r} cannot be imported", package):
        kind = load()
    from litefuse.litert.targets.target import Target

    if not (isinstance(kind, type) and issubclass(kind, Target)):
        raise LitefuseError(
            f"the target {name!r} is not a subclass of litefuse.targets.Target",
            where=package,
            hint="Decorate a subclass of it.",
        )
    return kind()
