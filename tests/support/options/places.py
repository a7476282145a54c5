"""The places in the sources that declare an option, or pass it on from the user to where it has its effect."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import litefuse

SOURCES = Path(litefuse.__file__).parent
DECLARED = tuple(f"support/options/{name}.py" for name in ("conversion", "quantization", "limits"))
#: The modules through which the options of conversions pass. Those of other commands have options of the same names,
#: as have the verifications and checks that the tasks of a batch run.
CARRIERS = (
    *("support/options/*.py", "conversion/*.py", "conversion/quantization/option_checks.py", "tools/compat/*.py"),
    *(f"tools/cli/{name}.py" for name in ("convert", "quantize", "declared_options", "parameters")),
    *(f"tools/batch_runs/{name}.py" for name in ("models_file", "options", "entry")),
)
# What objects that hold options are called; `self` is one in their classes.
_HOLDERS = frozenset({"options", "job", "again", "quantization", "checks", "graph", "limits", "debug", "chosen"})
_SCOPES = (ast.FunctionDef, ast.ClassDef, ast.Lambda)


def declared_names(*sources: str) -> list[str]:
    """Returns the names of the options that modules declare, those of two classes twice."""
    return [
        field.target.id
        for source in sources
        for kind in ast.parse(source).body
        if isinstance(kind, ast.ClassDef)
        for field in kind.body
        if isinstance(field, ast.AnnAssign)
        and isinstance(field.target, ast.Name)
        and isinstance(field.value, ast.Call)
        and ast.unparse(field.value.func) in {"option", "group_of"}
    ]


def places(sources: Mapping[str, str], names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the places that name each option: as a field, parameter, argument or key, or where they read it.

    A place is a function or class, or a line outside of these. A class of options is one, its methods included.

    Args:
        sources: The text of each module.
        names: The options.
    """
    found: dict[str, dict[str, None]] = {name: {} for name in names}
    for module, text in sources.items():
        for name, place in _named(ast.parse(text), "", is_record=False):
            if name in found:
                found[name][f"{module}:{place}"] = None
    return {name: [*listed] for name, listed in found.items()}


def carriers() -> dict[str, str]:
    """Returns the text of each module that carries options."""
    paths = sorted({path for pattern in CARRIERS for path in SOURCES.glob(pattern)})
    return {path.relative_to(SOURCES).as_posix(): path.read_text("utf-8") for path in paths}


def _named(node: ast.AST, scope: str, *, is_record: bool) -> Iterator[tuple[str, str]]:
    """Yields the names in a tree that may be those of options, with their places."""
    names: Iterable[str] = ()
    match node:
        case ast.ClassDef():
            is_record = any(word in ast.unparse(base) for base in node.bases for word in ("Options", "Record"))
        case ast.AnnAssign(target=ast.Name(id=name)) | ast.arg(arg=name) | ast.Constant(value=str(name)):
            names = (name,)
        case ast.Call(keywords=keywords):
            # Records that are no options have fields of the same names.
            if not _is_other_class(ast.unparse(node.func).rpartition(".")[2]):
                names = [keyword.arg for keyword in keywords if keyword.arg is not None]
        case ast.Attribute(value=base, attr=name):
            holder = ast.unparse(base).rpartition(".")[2]
            if holder in _HOLDERS or (holder == "self" and is_record):
                names = (name,)
        case _:
            pass
    yield from ((name, scope or str(getattr(node, "lineno", 0))) for name in names)
    for inner in ast.iter_child_nodes(node):
        own = scope
        if isinstance(inner, _SCOPES) and scope[1:] not in _OPTIONS:
            own = f"{scope}.{getattr(inner, 'name', inner.lineno)}"
        yield from _named(inner, own, is_record=is_record)


_OPTIONS = frozenset(
    {"Conversion", "FileQuantization", "Quantization", "Checks", "Graph", "Limits", "Debugging", "InputShapes"}
)


def _is_other_class(name: str) -> bool:
    return name[:1].isupper() and name not in {*_OPTIONS, "ConversionJob", "QuantizationOptions", "SizeLimits", "Entry"}
