"""Finds the functions that register kernels in C++ sources written for TensorFlow Lite."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_TOKEN = re.compile(
    r"""
      (?P<string>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)" | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*")
    | (?P<char>'(?:[^'\\\n]|\\.)+')
    | (?P<word>[A-Za-z_]\w*)
    | (?P<number>\d[\w.']*)
    | (?P<mark_of_two>::|->)
    | (?P<other>\S)
    """,
    re.VERBOSE | re.DOTALL,
)
# Lines of the preprocessor that say from which file the following ones are.
_FROM = re.compile(r'^#(?:line)? ?\d+ "((?:[^"\\]|\\.)*)".*$', re.MULTILINE)
_GETTER = re.compile(
    r"TfLiteRegistration (?:const )?[*&]?(?:const )?\s?(?P<path>(?::: )?(?:\w+ :: )*\w+) \( (?:void )?\)"
)
_TRAILING = re.compile(
    r"auto (?P<path>(?::: )?(?:\w+ :: )*\w+) \( (?:void )?\) (?:noexcept )?-> (?:const )?(?:::? )?TfLiteRegistration"
)
_FILLS = re.compile(
    r"(?P<path>(?::: )?(?:\w+ :: )*\w+) \( (?:::? )?(?:\w+ :: )*(?:Mutable|Builtin)OpResolver\w* (?P<how>[*&]) ?"
    r"(?:const )?\w* ?\)"
)
_RESOLVER = re.compile(
    r"(?:class|struct) (?P<path>\w+) (?:final )?: (?:public )?(?:::? )?(?:\w+ :: )*(?:Mutable|Builtin)OpResolver\w*$"
)
_ADD = re.compile(r'AddCustom \( (?P<text>"(?:[^"\\]|\\.)*") , (?:(?:::? )?(?:\w+ :: )*(?P<function>\w+) \()?')


@dataclass(frozen=True)
class RegisteringFunction:
    """A function that gives a registration, or adds several to a resolver.

    Attributes:
        path: Its name with its namespaces, such as ``tflite::ops::custom::Register_ATAN``.
        argument: How it takes a resolver: ``*`` or ``&``; empty if it gives a registration.
    """

    path: str
    argument: str = ""

    @property
    def name(self) -> str:
        """The name without namespaces."""
        return self.path.rpartition("::")[2]

    @property
    def op(self) -> str:
        """The op that it is named after: ``X`` of ``Register_X`` and ``RegisterX``; empty if it is not."""
        matched = re.fullmatch(r"Register_?(\w+)", self.name)
        return matched[1] if matched is not None else ""


@dataclass(frozen=True)
class RegistrationsInSource:
    """Registrations of kernels in a source file.

    Attributes:
        getters: The functions without arguments that give a registration.
        fillers: The functions that add registrations to a resolver, their only argument.
        resolvers: The classes of resolvers, whose constructors add registrations.
        named: The ops that calls of AddCustom name, with the names of the functions that give their registrations;
            empty where none does.
        kit: The ops of kernels that are defined with LITEFUSE_DEFINE_KERNEL.
    """

    getters: tuple[RegisteringFunction, ...]
    fillers: tuple[RegisteringFunction, ...]
    resolvers: tuple[str, ...]
    named: tuple[tuple[str, str], ...]
    kit: tuple[str, ...]


class _Scope(NamedTuple):
    kind: str
    names: tuple[str, ...] = ()


def find_registrations(preprocessed: str, is_own: Callable[[Path], bool]) -> RegistrationsInSource:
    """Finds the functions in a source that was preprocessed: without comments, and with its macros expanded.

    Args:
        preprocessed: What ``c++ -E`` prints.
        is_own: Whether a file counts. What others hold is skipped: they must not leave a brace open.
    """
    getters: dict[str, RegisteringFunction] = {}
    fillers: dict[str, RegisteringFunction] = {}
    tokens = list(_tokens(preprocessed, is_own))
    kit: list[str] = []
    resolvers: list[str] = []
    for head, names in _definitions(tokens):
        # Neither can be called by its name alone.
        if "template" in head.split(" ") or "operator" in head.split(" "):
            continue
        getter = _GETTER.search(head) or _TRAILING.search(head)
        filler = None if getter is not None else _FILLS.search(head)
        if getter is not None:
            path = _joined(names, getter["path"])
            if path.startswith("litefuse_register_"):
                kit.append(path.removeprefix("litefuse_register_"))
            else:
                getters.setdefault(path, RegisteringFunction(path))
        elif filler is not None and not re.match(r"(?:return|=|:) ", filler["path"]):
            path = _joined(names, filler["path"])
            fillers.setdefault(path, RegisteringFunction(path, filler["how"]))
        elif (resolver := _RESOLVER.search(head)) is not None:
            resolvers.append(_joined(names, resolver["path"]))
    named = [(_unquoted(call["text"]), call["function"] or "") for call in _ADD.finditer(" ".join(tokens))]
    return RegistrationsInSource(
        tuple(getters.values()),
        tuple(fillers.values()),
        tuple(dict.fromkeys(resolvers)),
        tuple(dict.fromkeys(named)),
        tuple(dict.fromkeys(kit)),
    )


def _tokens(preprocessed: str, is_own: Callable[[Path], bool]) -> Iterator[str]:
    parts = _FROM.split(preprocessed)
    known: dict[str, bool] = {}
    # Between the names of files, in turn, is the text of each.
    for name, text in zip(parts[1::2], parts[2::2], strict=True):
        if name not in known:
            known[name] = is_own(Path(re.sub(r"\\(.)", r"\1", name)).resolve())
        if not known[name]:
            continue
        without_directives = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        for token in _TOKEN.finditer(without_directives):
            yield token[0]


def _definitions(tokens: list[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Returns what stands before each body in a namespace, and the names of the namespaces around it."""
    scopes: list[_Scope] = []
    head: list[str] = []
    for token in tokens:
        inside = bool(scopes) and scopes[-1].kind == "body"
        if token == "{":
            scope = _Scope("body") if inside else _scope_of(head)
            if scope.kind == "body" and not inside:
                yield " ".join(head), tuple(name for around in scopes for name in around.names)
            scopes.append(scope)
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif inside:
            continue
        elif token == ";":
            head = []
        else:
            head.append(token)


def _scope_of(head: list[str]) -> _Scope:
    if "namespace" in head:
        words = head[head.index("namespace") + 1 :]
        # Attributes stand in brackets or parentheses before the name; `inline` may stand within.
        text = re.sub(r"\[.*?\]\s*\]|__attribute__ \( \(.*?\) \)", "", " ".join(words))
        return _Scope("namespace", tuple(word for word in re.findall(r"\w+", text) if word != "inline"))
    if len(head) == 2 and head[0] == "extern" and head[1].startswith('"'):
        return _Scope("namespace")
    return _Scope("body")


def _joined(names: tuple[str, ...], path: str) -> str:
    own = path.replace(" ", "")
    return own[2:] if own.startswith("::") else "::".join((*names, own))


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])
