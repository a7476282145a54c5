"""Write the schemas of what ``--json`` prints: ``python -m scripts.write_schemas``.

They are made of the data classes that the documents are made of, and of their docstrings. A schema that was published
is not changed: raise its version in ``litefuse.tools.documents.document``. ``--unreleased`` changes it nevertheless:
that is for versions that no release has.
"""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast, get_type_hints

import msgspec
import numpy as np

from litefuse import errors
from litefuse.conversion.verify.layers.layers import Layers
from litefuse.conversion.verify.targets.target_check import TargetCheck, TargetReport
from litefuse.conversion.verify.verification import OutputVerdict, Verdict, Verification
from litefuse.kernels.pack.catalog import AvailableKernel
from litefuse.litert.differences.model_diff import ModelDiff
from litefuse.litert.inspection.litert_model_facts import LiteRTModelFacts
from litefuse.litert.inspection.saved_model_facts import SavedModelFacts
from litefuse.support.report import Report
from litefuse.tools.batch_runs.outcome import BatchResult, Outcome
from litefuse.tools.benchmarking.measurement import Benchmark, Measurement
from litefuse.tools.cli.run_job import RunFacts
from litefuse.tools.documents.document import FOLDER, VERSIONS, Failure, Head, address, details_of, file_name
from litefuse.tools.environment.finding import Diagnosis
from litefuse.tools.kernel_check.check import CheckedCall
from litefuse.tools.scaffold.micro.export import MicroProject
from litefuse.tools.scaffold.web import WebPage

__all__ = ["PUBLISHED", "fingerprint", "schema"]

#: The fingerprints of the schemas that were published.
PUBLISHED = Path(__file__).parents[1] / "tests" / "tools" / "documents" / "published.json"

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


class _Form(NamedTuple):
    """What ``to_json`` gives beyond the fields of a class.

    Attributes:
        properties: Its properties.
        types: The types of fields that are others than in the class, or are not there.
        names: Other names of fields.
        optional: The fields that may be left out.
        kept: The only fields that are there; empty for all.
    """

    properties: tuple[str, ...] = ()
    types: Mapping[str, Any] = {}
    names: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


_FORMS: Mapping[type, _Form] = {
    BatchResult: _Form(("ok", "counts"), names={"outcomes": "models"}),
    Outcome: _Form(("status", "seconds", "message")),
    Benchmark: _Form(("ratio",)),
    Diagnosis: _Form(("ok",)),
    Measurement: _Form(("seconds", "explained", "explained_by_op")),
    ModelDiff: _Form(("verdict", "same_computation", "categories")),
    Verification: _Form(
        ("verdict", "ok", "error"),
        optional=("layers",),
        kept=("model", "original", "tolerance", "calls", "outputs", "coverage", "limit", "samples", "layers"),
    ),
    OutputVerdict: _Form(("ok",)),
    Layers: _Form(("first", "largest_step"), {"compared": int, "tensors": int}),
    TargetCheck: _Form(("ok", "accelerated"), {"skipped": dict[str, str]}, {"reports": "targets"}),
    TargetReport: _Form(types={"facts": dict[str, str]}),
    CheckedCall: _Form(
        ("verdict", "difference"),
        {"inputs": list[str | None], "outputs": list[str], "options": dict[str, Any] | None},
        kept=("op", "original", "problem", "verification"),
    ),
}


class _CacheEntry(NamedTuple):
    """A file or folder that was fetched.

    Attributes:
        url: Where it is from, without passwords.
        folder: Where it is.
        bytes: Its size.
    """

    url: str
    folder: str
    bytes: int


class _Cache(NamedTuple):
    """What was fetched from URLs.

    Attributes:
        folder: The folder of the cache.
        bytes: The size of all.
        removed_bytes: How much was removed.
        entries: What is there, what was not used for the longest time first.
    """

    folder: str
    bytes: int
    removed_bytes: int
    entries: list[_CacheEntry]


class _Kernels(NamedTuple):
    """The kernels that there are.

    Attributes:
        kernels: The kernels, sorted by op; of several for one op, the first runs.
    """

    kernels: list[AvailableKernel]


class _Fusion(NamedTuple):
    """A fusion.

    Attributes:
        composite: The name of the composite.
        becomes: What becomes of it, in a sentence.
        origin: The distribution or module that the fusion is from.
    """

    composite: str
    becomes: str
    origin: str


class _Fusions(NamedTuple):
    """The fusions that there are.

    Attributes:
        fusions: The fusions.
    """

    fusions: list[_Fusion]


class _KernelTest(NamedTuple):
    """The comparison of kernels with what they stand for.

    Attributes:
        verdict: The verdict on all calls: that on the worst.
        calls: Each kind of call.
    """

    verdict: Verdict
    calls: list[CheckedCall]


#: The classes of the results of each command; one of several.
_RESULTS: Mapping[str, tuple[type, ...]] = {
    "batch": (BatchResult,),
    "benchmark": (Benchmark,),
    "doctor cache": (_Cache,),
    "check": (TargetCheck,),
    "convert": (Report,),
    "lm": (Report,),
    "diff": (ModelDiff,),
    "doctor": (Diagnosis,),
    "export-micro": (MicroProject,),
    "export-web": (WebPage,),
    "doctor fusions": (_Fusions,),
    "inspect": (SavedModelFacts, LiteRTModelFacts),
    "kernels list": (_Kernels,),
    "kernels test": (_KernelTest,),
    "quantize": (Report,),
    "run": (RunFacts,),
    "verify": (Verification,),
}


def schema(command: str) -> dict[str, Any]:
    """Makes the schema of a command's documents; for an empty name, that of a failure of any command."""
    made = _Definitions()
    head = made.object_of(Head)
    results = [made.object_of(each) for each in _RESULTS.get(command, ())]
    names = ["Done"] if len(results) == 1 else [f"Done{each.__name__}" for each in _RESULTS.get(command, ())]
    exact = {"schema": address(command), **({"command": command} if command else {})}
    documents = {
        name: _object(
            "The result of the command.",
            _exactly({**head, **_without_title(result)}, exact | {"status": "done"}),
            made.optional,
        )
        for name, result in zip(names, results, strict=True)
    }
    failed = {**head, "error": {"$ref": "#/$defs/Failure", "description": "The error."}}
    documents["Failed"] = _object("The command failed.", _exactly(failed, exact | {"status": "failed", "ok": False}))
    made.found["Failure"] = _failure(made)
    title = f"litefuse {command} --json" if command else "litefuse --json"
    return {
        "$schema": _DIALECT,
        "$id": address(command),
        "title": title,
        "description": f"What `{title}` prints on the standard output."
        if command
        else "What is printed when a command is not known, or ends before its options are.",
        "oneOf": [{"$ref": f"#/$defs/{name}"} for name in documents],
        "$defs": {**documents, **dict(sorted(made.found.items()))},
    }


class _Definitions:
    """The schemas of classes, by their names."""

    def __init__(self) -> None:
        self.found: dict[str, Any] = {}
        self.optional: set[str] = set()

    def object_of(self, kind: type) -> dict[str, Any]:
        """Returns the schemas of what ``to_json`` gives for a class, by name."""
        form = _FORMS.get(kind, _Form())
        hints = get_type_hints(kind)
        told = _attributes(kind)
        found: dict[str, Any] = {}
        for name, hint in hints.items():
            if form.kept and name not in form.kept:
                continue
            text = told.get(name, "")
            found[form.names.get(name, name)] = self.described(form.types.get(name, hint), text)
        for name in form.properties:
            getter = getattr(kind, name).fget
            text = inspect.getdoc(getter) or ""
            found[name] = self.described(get_type_hints(getter)["return"], text)
        for name, hint in form.types.items():
            found.setdefault(form.names.get(name, name), self.described(hint, ""))
        self.optional |= {*form.optional}
        return found

    def described(self, hint: Any, text: str) -> dict[str, Any]:
        made = self.of(hint)
        return {**made, "description": _plain(text)} if text else made

    def of(self, hint: Any) -> dict[str, Any]:
        """Returns the schema of a type; those of the classes in it are among the definitions."""
        (made,), _ = msgspec.json.schema_components((hint,), schema_hook=_hook, ref_template="#/$defs/{name}")
        for kind in _classes(hint):
            if kind.__name__ not in self.found:
                self.found[kind.__name__] = {}  # classes may hold themselves
                optional = {*_FORMS.get(kind, _Form()).optional}
                self.found[kind.__name__] = _object(_first(kind), self.object_of(kind), optional)
        return _strict(made)


def _hook(kind: type[Any]) -> dict[str, Any]:
    if issubclass(kind, Path):
        return {"type": "string"}
    if issubclass(kind, np.ndarray):
        return {"type": "array"}  # in fields that no document has
    raise NotImplementedError(kind)


def _classes(hint: Any) -> list[type]:
    """Returns the classes with fields in a type."""
    if hint is not Any and inspect.isclass(hint) and hasattr(hint, "__annotations__"):  # pyright: ignore[reportUnknownArgumentType]
        return [hint]
    arguments: tuple[Any, ...] = getattr(hint, "__args__", ())
    return [kind for each in arguments for kind in _classes(each)]


def _object(text: str, properties: dict[str, Any], optional: set[str] | frozenset[str] = frozenset()) -> dict[str, Any]:
    return {
        "type": "object",
        "description": text,
        "properties": properties,
        "required": [name for name in properties if name not in optional],
        "additionalProperties": False,
    }


def _exactly(properties: dict[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: {"const": values[name], **({"description": text} if (text := each.get("description")) else {})}
        if name in values
        else each
        for name, each in properties.items()
    }


def _without_title(properties: dict[str, Any]) -> dict[str, Any]:
    return {name: {key: value for key, value in each.items() if key != "title"} for name, each in properties.items()}


def _failure(made: _Definitions) -> dict[str, Any]:
    """Returns the schema of an error: what every one has, and what the classes of ``litefuse.errors`` add."""
    properties = {name: each for name, each in made.object_of(Failure).items() if name != "details"}
    required = {*properties}
    added: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for kind in (getattr(errors, name) for name in errors.__all__):
        if not (isinstance(kind, type) and issubclass(kind, errors.LitefuseError)):
            continue
        hints = get_type_hints(kind.__init__)
        for name in details_of(kind):
            added.setdefault(name, []).append((kind.__name__, made.of(hints[name])))
    for name, kinds in added.items():
        schemas: list[dict[str, Any]] = []
        schemas += [each for _, each in kinds if each not in schemas]
        schemas = [each for index, each in enumerate(schemas) if each not in schemas[:index]]
        told = {"description": f"Of {' and '.join(kind for kind, _ in kinds)}."}
        properties[name] = {**(schemas[0] if len(schemas) == 1 else {"anyOf": schemas}), **told}
    return _object(_first(Failure), properties, {*properties} - required)


def _strict(value: Any) -> Any:
    """Adapts what msgspec makes: no defaults, and null for numbers that are not finite."""
    if isinstance(value, list):
        return [_strict(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    made = {key: _strict(each) for key, each in cast("dict[str, Any]", value).items() if key != "default"}
    if made.get("type") == "number":
        made["type"] = ["number", "null"]
    return made


def _attributes(kind: type) -> dict[str, str]:
    """Reads what the docstring of a class says of its attributes."""
    text = inspect.getdoc(kind) or ""
    _, _, told = text.partition("Attributes:\n")
    found = re.findall(r"^    (\w+): ((?:.|\n(?!    \w+: |\n|\S))*)", told, flags=re.MULTILINE)
    return {name: " ".join(each.split()) for name, each in found}


def _first(kind: type) -> str:
    return _plain((inspect.getdoc(kind) or "").partition("\n\n")[0])


def _plain(text: str) -> str:
    """Takes the markup of docstrings out."""
    text = re.sub(r":\w+:`~?([^`]*)`", r"\1", text.replace("``", "`"))
    return " ".join(text.split())


def fingerprint(value: Mapping[str, Any]) -> str:
    """Returns the SHA-256 of a schema without its descriptions."""
    return hashlib.sha256(json.dumps(_bare(value), sort_keys=True).encode()).hexdigest()


def _bare(value: Any) -> Any:
    if isinstance(value, list):
        return [_bare(each) for each in cast("list[Any]", value)]
    if not isinstance(value, dict):
        return value
    found = cast("dict[str, Any]", value)
    # A description is a text; a property of that name has a schema.
    return {key: _bare(each) for key, each in found.items() if key != "description" or not isinstance(each, str)}


def main() -> None:
    """Writes the schemas."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--unreleased", action="store_true", help="Change schemas that no release has.")
    unreleased = parser.parse_args().unreleased
    published: dict[str, str] = json.loads(PUBLISHED.read_text()) if PUBLISHED.exists() else {}
    for command in VERSIONS:
        made, name = schema(command), file_name(command)
        found = fingerprint(made)
        if published.setdefault(name, found) != found and not unreleased:
            sys.exit(f"{name} would change: raise the version of {command!r} in litefuse/tools/documents/document.py")
        published[name] = found
        (FOLDER / name).write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PUBLISHED.write_text(json.dumps(published, indent=1) + "\n")
    print(f"{FOLDER}: {len(VERSIONS)} schemas")


if __name__ == "__main__":
    main()
