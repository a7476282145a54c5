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
_PATH = r"(?P<path>(?::: )?(?:\w+ :: )*\w+)"
# What follows an argument, or is all that there is.
_PARAMETERS = r"(?P<parameters>(?:[^()]|\([^()]*\))*)\)"
_GETTER = re.compile(rf"TfLiteRegistration (?:const )?[*&]?(?:const )?\s?{_PATH} \( {_PARAMETERS}")
_TRAILING = re.compile(rf"auto {_PATH} \( {_PARAMETERS} (?:noexcept )?-> (?:const )?(?:::? )?TfLiteRegistration")
_FILLS = re.compile(
    rf"{_PATH} \( (?:::? )?(?:\w+ :: )*(?:Mutable|Builtin)OpResolver\w* (?P<how>[*&]) ?(?:const )?\w* ?"
    rf"(?P<more>, )?{_PARAMETERS}"
)
_RESOLVER = re.compile(
    r"(?:class|struct) (?P<path>\w+) (?:final )?: (?:public )?(?:::? )?(?:\w+ :: )*(?:Mutable|Builtin)OpResolver\w*$"
)
_CLASS = re.compile(r"(?<!enum )(?P<key>class|struct) (?:\[ \[.*?\] \] )?(?P<name>\w+)(?: final)?(?: : .*)?$")
# What a function calls that does nothing else.
_FORWARDS = re.compile(r"return (?::: )?(?:\w+ :: )*(?P<name>\w+) \( \) ; }")
_ADD = re.compile(r'AddCustom \( (?P<text>"(?:[^"\\]|\\.)*") , (?:(?:::? )?(?:\w+ :: )*(?P<function>\w+) \()?')


@dataclass(frozen=True)
class RegisteringFunction:
    """A function that gives a registration, or adds several to a resolver.

    Attributes:
        path: Its name with its namespaces, such as ``tflite::ops::custom::Register_ATAN``.
        argument: How it takes a resolver: ``*`` or ``&``; empty if it gives a registration.
        is_member: Whether it is a member of a class.
    """

    path: str
    argument: str = ""
    is_member: bool = False

    @property
    def name(self) -> str:
        """The name without namespaces."""
        return self.path.rpartition("::")[2]

    @property
    def op(self) -> str:
        """The op that it is named after: ``X`` of ``Register_X``, ``RegisterX`` and ``X::Register``; empty if none."""
        matched = re.fullmatch(r"Register_?(\w+)", self.name)
        if matched is None and self.is_member and self.name in ("Register", "Registration", "GetRegistration"):
            return self.path.split("::")[-2]
        return matched[1] if matched is not None else ""

    @property
    def camel_case(self) -> str:
        """The op in the letters of TensorFlow's ops, such as ``GridSample``, if its name has capitals alone."""
        if self.op != self.op.upper():
            return ""
        words = "".join(word.capitalize() for word in self.op.split("_"))
        return re.sub(r"(?<=\d)[a-z]", lambda letter: letter[0].upper(), words)  # 3D


@dataclass(frozen=True)
class RegistrationsInSource:
    """Registrations of kernels in a source file.

    Attributes:
        getters: The functions that give a registration, and are called without arguments.
        fillers: The functions that add registrations to a resolver, the only argument that they need.
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
    is_public: bool = True


class _Head(NamedTuple):
    """The tokens before the body of a function or class, or before the end of a declaration."""

    text: str
    scopes: tuple[_Scope, ...]
    body: str

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for scope in self.scopes for name in scope.names)

    @property
    def is_member(self) -> bool:
        return bool(self.scopes) and self.scopes[-1].kind == "class"

    @property
    def is_callable(self) -> bool:
        """Whether its name alone is enough to call it."""
        words = self.text.split(" ")
        if "template" in words or "operator" in words or not all(scope.is_public for scope in self.scopes):
            return False
        return not self.is_member or "static" in words


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
    # Functions whose arguments have defaults, which may stand where they are declared; and classes, with their members.
    declared: set[str] = set()
    members: dict[str, set[str]] = {}
    for head in _heads(tokens):
        if head.body and (matched := _CLASS.search(head.text)) is not None:
            members.setdefault(_joined(head.names, matched["name"]), set())
            if (resolver := _RESOLVER.search(head.text)) is not None:
                resolvers.append(_joined(head.names, resolver["path"]))
            continue
        getter = _GETTER.search(head.text) or _TRAILING.search(head.text)
        function = getter or _FILLS.search(head.text)
        if function is None or not head.is_callable or re.match(r"(?:return|=|:) ", function["path"]):
            continue
        path = _joined(head.names, function["path"])
        around, _, name = path.rpartition("::")
        if _have_defaults(function["parameters"] if getter is not None or function["more"] else ""):
            declared.add(path)
        if head.is_member:
            members.setdefault(around, set()).add(name)
        forwarded = _FORWARDS.match(head.body)
        if (
            not head.body
            or path not in declared
            or name not in members.get(around, {name})
            or (forwarded is not None and forwarded["name"] == name)
        ):
            continue
        if getter is None:
            fillers.setdefault(path, RegisteringFunction(path, function["how"]))
        elif path.startswith("litefuse_register_"):
            kit.append(path.removeprefix("litefuse_register_"))
        else:
            getters.setdefault(path, RegisteringFunction(path, is_member=around in members))
    named = [(_unquoted(call["text"]), call["function"] or "") for call in _ADD.finditer(" ".join(tokens))]
    return RegistrationsInSource(
        tuple(getters.values()),
        tuple(fillers.values()),
        tuple(dict.fromkeys(resolvers)),
        tuple(dict.fromkeys(named)),
        tuple(dict.fromkeys(kit)),
    )


def plain_letters(op: str) -> str:
    """Returns the name of an op without what capitals and underscores say."""
    return op.replace("_", "").lower()


def files_of(preprocessed: str) -> set[str]:
    """Returns the names of the files that a preprocessed source is from."""
    return {re.sub(r"\\(.)", r"\1", name) for name in _FROM.findall(preprocessed)}


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


def _have_defaults(parameters: str) -> bool:
    """Whether a function can be called without these arguments."""
    flat = re.sub(r"\([^()]*\)|<[^<>]*>", "", parameters).strip()
    return flat in ("", "void") or all("=" in parameter for parameter in flat.split(","))


def _heads(tokens: list[str]) -> Iterator[_Head]:
    """Returns what stands before each body in a namespace or class, and before the end of each declaration."""
    scopes: list[_Scope] = []
    head: list[str] = []
    for place, token in enumerate(tokens):
        inside = bool(scopes) and scopes[-1].kind == "body"
        if token == "{":
            scope = _Scope("body") if inside else _scope_of(head)
            if not inside and scope.kind != "namespace":
                yield _Head(" ".join(head), tuple(scopes), " ".join(tokens[place + 1 : place + 20]))
            scopes.append(scope)
            head = []
        elif token == "}":
            if scopes:
                scopes.pop()
            head = []
        elif inside:
            continue
        elif token == ";":
            yield _Head(" ".join(head), tuple(scopes), "")
            head = []
        elif token == ":" and head and head[-1] in ("public", "protected", "private"):
            scopes[-1:] = [scope._replace(is_public=head[-1] == "public") for scope in scopes[-1:]]
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
    if "template" not in head and (matched := _CLASS.search(" ".join(head))) is not None:
        return _Scope("class", (matched["name"],), matched["key"] == "struct")
    return _Scope("body")


def _joined(names: tuple[str, ...], path: str) -> str:
    own = path.replace(" ", "")
    return own[2:] if own.startswith("::") else "::".join((*names, own))


def _unquoted(text: str) -> str:
    return re.sub(r'\\(["\\])', r"\1", text[1:-1])
