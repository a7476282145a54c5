"""Reads what is to be done with many models: a file ``models.toml``, a folder, or Python's lists and dictionaries."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from litefuse.errors import LitefuseError
from litefuse.support.cloud.names import as_url, file_name
from litefuse.support.files.readable import MODEL_FILES, check_file, os_errors
from litefuse.support.options.conversion import Conversion, FileQuantization, Quantization
from litefuse.support.options.declared import Declared, Options, declared_options
from litefuse.support.options.forms import INTEGER_ACTIVATIONS
from litefuse.support.options.limits import parsed_bytes
from litefuse.support.processes.limits import ProcessLimits
from litefuse.tools.batch_runs.entry import BatchSettings, Entry, Variant
from litefuse.tools.batch_runs.options import FILES, check_value, keys_of, options_of, unknown_key

_VERIFY = "litefuse.conversion.verify.against_original:verify_model"
_CHECK = "litefuse.conversion.verify.targets.check:check"

_OWN = ("name", "path", "plug_ins", "verify", "check", "variants", "timeout", "memory")
# Other names of keys, which the command line has.
_ALIASES = {
    "plug_in": "plug_ins",
    "shape": "shapes",
    "signature": "signatures",
}
_CODE = frozenset(("plug_ins", "kernels"))
_CODE_FILES = (".py", ".so", ".dylib", ".dll")
_LONGEST_NAME = 200
_SAVED_MODEL = ("saved_model.pb", "saved_model.pbtxt")


def read_models_file(path: Path, more: Mapping[str, Any] | None = None) -> tuple[list[Entry], BatchSettings]:
    """Reads a file ``models.toml``.

    Args:
        path: The file.
        more: Options in the place of the file's defaults.

    Raises:
        LitefuseError: It cannot be read, or says what nothing knows.
    """
    toml: Any
    if sys.version_info >= (3, 11):
        import tomllib as toml
    else:
        import tomli as toml
    check_file(path)
    try:
        with os_errors("it cannot be read", path), path.open("rb") as file:
            read: dict[str, Any] = toml.load(file)
    except (ValueError, RecursionError) as error:  # not TOML, or not in UTF-8
        raise LitefuseError(f"not valid TOML: {error}", where=str(path)) from error
    where = str(path)
    _check_numbers(read, where)
    for key in read.keys() - {"batch", "defaults", "model"}:
        if key == "models":
            hint = 'Write each model as a table of its own:\n\n[[model]]\npath = "my_model.keras"'
            raise LitefuseError(f"unknown key {key!r}", where=where, hint=hint)
        raise unknown_key(key, ("batch", "defaults", "model"), where)
    models = read.get("model", [])
    if not isinstance(models, list) or not all(isinstance(model, dict) for model in cast("list[object]", models)):
        raise LitefuseError("model must be an array of tables: [[model]]", where=where)
    settings = _settings(_table(read.get("batch", {}), "batch", where), path)
    defaults = _table(read.get("defaults", {}), "defaults", where)
    entries = entries_in(
        cast("list[dict[str, Any]]", models), defaults, folder=path.parent, where=where, more=more or {}
    )
    return entries, settings


def _check_numbers(value: Any, where: str) -> None:
    """Refuses integers of more than 64 bits, which the format does not promise, and most options cannot hold."""
    if isinstance(value, int) and value.bit_length() > 63:
        raise LitefuseError("an integer has more than 64 bits", where=where)
    for inner in _inner(value):
        _check_numbers(inner, where)


def _inner(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return cast("dict[str, Any]", value).values()
    return cast("list[Any]", value) if isinstance(value, list) else ()


def _settings(given: Mapping[str, Any], path: Path) -> BatchSettings:
    where = f"{path}, [batch]"
    kinds = {"output": "str", "jobs": "int", "retries": "int", "scheduler": "str"}
    for key, value in given.items():
        if key not in kinds:
            raise unknown_key(key, kinds, where)
        check_value(key, value, kinds[key], where)
    settings = dict(given)
    if "output" in settings:
        settings["output"] = _path(settings["output"], path.parent)
    return BatchSettings(**settings)


def entries_in(
    models: str | os.PathLike[str] | Iterable[Any],
    defaults: Mapping[str, Any] | None = None,
    *,
    folder: Path | None = None,
    where: str = "models",
    more: Mapping[str, Any] | None = None,
) -> list[Entry]:
    """Returns what is to be done with models.

    Args:
        models: A folder with models in it, at any depth; or models: paths, URLs, or tables of options with ``path``.
        defaults: The options of those that do not say otherwise.
        folder: The folder that paths are relative to; None: the current one, and paths stay as they are.
        where: Where they are from, for messages.
        more: Options in the place of those defaults, whose paths are relative to the current folder.

    Raises:
        LitefuseError: An option is unknown or of another kind, or two models have one name.
    """
    if isinstance(models, str | os.PathLike):
        place = Path(models)
        given: list[Any] = list(_models_in(place))
        where = str(place)
        if not given:
            raise LitefuseError("this folder has no models", where=where)
    else:
        given = list(models)
    general = _entry_options(_table(defaults or {}, "defaults", where), folder, f"{where}, defaults", is_general=True)
    general |= _entry_options(more or {}, None, "the defaults", is_general=True)
    if not given:
        raise LitefuseError("no models given", where=where)
    entries = [_entry(model, general, folder, f"{where}, model {number}") for number, model in enumerate(given, 1)]
    _check_names(entries, where)
    return entries


def _models_in(place: Path) -> Iterable[dict[str, Any]]:
    """Yields the models in a folder, with names by their paths in it."""

    def unreadable(error: OSError) -> None:
        raise LitefuseError(f"it cannot be read: {error.strerror or error}", where=str(error.filename))

    for root, folders, files in os.walk(place, onerror=unreadable):
        here = Path(root)
        if any(name in files for name in _SAVED_MODEL):
            folders.clear()
            yield _of_path(here, here.relative_to(place), place)
            continue
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        for name in sorted(files):
            if name.endswith(MODEL_FILES) and not name.startswith("."):
                path = here / name
                yield _of_path(path, path.relative_to(place).with_suffix(""), place)


def _of_path(path: Path, below: Path, place: Path) -> dict[str, Any]:
    return {"path": str(path), "name": "-".join(below.parts) or place.absolute().name}


def _entry(given: Any, general: Mapping[str, Any], folder: Path | None, where: str) -> Entry:
    if isinstance(given, str | os.PathLike):
        given = {"path": os.fspath(cast("str", given))}
    if not isinstance(given, Mapping):
        raise LitefuseError(
            f"this is a {type(given).__name__}, not a path or a table of options",
            where=where,
            hint="Models in memory are converted with litefuse.convert; a batch takes those in files.",
        )
    own = _entry_options(cast("Mapping[str, Any]", given), folder, where, is_general=False)
    path = own.get("path")
    if not isinstance(path, str) or not path:
        raise LitefuseError("the path of the model is missing", where=where)
    options = {**general, **own}
    name = options.pop("name", None) or _name_of(path)
    if not isinstance(name, str):
        raise LitefuseError(f"name must be a string, not {name!r}", where=where)
    where = f"{where} ({name})"
    timeout, memory = options.pop("timeout", None), options.pop("memory", None)
    try:
        ProcessLimits(timeout, memory)
    except LitefuseError as error:
        raise LitefuseError(error.message, where=where, hint=error.hint) from None
    return Entry(
        name,
        options.pop("path"),
        plug_ins=options.pop("plug_ins", ()),
        verify=options.pop("verify", None),
        check=options.pop("check", None),
        variants=options.pop("variants", ()),
        timeout=timeout,
        memory=memory,
        convert=options,
    )


def _entry_options(given: Mapping[str, Any], folder: Path | None, where: str, *, is_general: bool) -> dict[str, Any]:
    """Returns the options of a model, or of all, by the names of arguments; checked."""
    known = keys_of(Conversion)
    options: dict[str, Any] = {}
    for written, value in given.items():
        key = "plug_ins" if written == "kernels" else _key(written)
        if (key not in known and key not in _OWN) or (is_general and key in {"name", "path"}):
            names = {*known, *_OWN} - ({"name", "path"} if is_general else set())
            raise _unknown(Conversion, written, given, names, where)
        options[key] = _value(key, value, known, folder, where)
    _check(Conversion, {name: value for name, value in options.items() if name in known}, where)
    return options


def _unknown(kind: type[Options], written: str, given: Mapping[str, Any], names: set[str], where: str) -> LitefuseError:
    """Returns the error for a key; for an option of a group, with the whole group as it is to be written."""
    places = {
        name: (group.name, inner.name)
        for group in declared_options(kind)
        for inner in group.inner
        for name in (inner.parameter, inner.name)
    }
    group, _ = places.get(_key(written), ("", ""))
    own = given.get(group, {})
    values = dict(cast("Mapping[str, Any]", own)) if isinstance(own, Mapping) else {"form": own}
    for name, value in given.items():
        if name != group and (place := places.get(_key(name))) is not None and place[0] == group:
            values[place[1]] = value
    if group == "quantize" and "recipe" not in values:
        is_calibrated = {"rotate", "min_weight_elements"}.isdisjoint(values)
        values = {"form": "int8" if is_calibrated else "dynamic", **values}
        if str(values["form"]) in INTEGER_ACTIVATIONS:
            values = {"form": "", "samples": "samples.npz", **values}
    try:
        kind(**{group: values} if group in names else {})
    except LitefuseError:
        group = ""
    if group not in names:
        return unknown_key(written, names, where)
    inner = ", ".join(f"{name} = {json.dumps(value, default=str)}" for name, value in values.items())
    return LitefuseError(f"unknown key {written!r}", where=where, hint=f"Write {group} = {{{inner}}}.")


def _check(kind: type[Options], options: Mapping[str, Any], where: str) -> None:
    """Checks the values of options, as far as that needs no model."""
    try:
        kind(**options)
    except LitefuseError as error:
        raise LitefuseError(error.message, where=where, hint=error.hint) from None


def _value(key: str, value: Any, known: Mapping[str, Declared], folder: Path | None, where: str) -> Any:
    """Returns the value of a model's option; checked."""
    match key:
        case "verify":
            return None if value is False else _called({} if value is True else value, _VERIFY, key, folder, where)
        case "check":
            return _checked(value, folder, where)
        case "variants":
            return _variants(value, folder, where)
        case "memory":
            return _bytes(key, value, where)
        case "plug_ins":
            return tuple(_code(text, folder) for text in _texts(value, key, where))
        case "path":
            return _path(os.fspath(value), folder) if isinstance(value, str | os.PathLike) else value
        case _:
            return _declared(known[key], value, folder, where) if key in known else value


def _declared(declared: Declared, value: Any, folder: Path | None, where: str) -> Any:
    """Returns the value of a declared option, of a group as a table; checked."""
    if declared.option.is_bytes:
        return _bytes(declared.name, value, where)
    if declared.kind is Quantization and isinstance(value, list | tuple):
        listed = json.dumps(value, default=str)
        hint = f"For a file of each form beside the model's own: variants = {listed}"
        raise LitefuseError(f"{declared.name} is one form, not {listed}", where=where, hint=hint)
    if declared.kind is None or not isinstance(value, Mapping):
        return _option(declared.name, value, declared.annotation, folder, where)
    return _arguments(cast("Mapping[str, Any]", value), declared.kind, folder, f"{where}, {declared.name}")


def _arguments(
    table: Mapping[str, Any], kind: type[Options], folder: Path | None, where: str, *more: str
) -> dict[str, Any]:
    """Returns the values of the options of a class; checked."""
    known = keys_of(kind)
    arguments: dict[str, Any] = {}
    for written, value in table.items():
        name = _key(written)
        if name not in known and name not in more:
            raise _unknown(kind, written, table, {*known, *more}, where)
        arguments[name] = _declared(known[name], value, folder, where) if name in known else value
    return arguments


def _called(given: Any, function: str, key: str, folder: Path | None, where: str, *more: str) -> dict[str, Any]:
    """Returns the arguments of another function; checked."""
    known = options_of(function)
    extra = ("original",) if function == _VERIFY else ()
    arguments: dict[str, Any] = {}
    for written, value in _table(given, key, where).items():
        name = _key(written)
        if name not in known and name not in extra and name not in more:
            raise unknown_key(written, {*known, *extra, *more}, f"{where}, {key}")
        arguments[name] = _option(name, value, known.get(name, ""), folder, f"{where}, {key}")
    return arguments


def _checked(value: Any, folder: Path | None, where: str) -> dict[str, Any]:
    """Returns the arguments of a check: of a table, or of the names of targets."""
    table = cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {"targets": value}
    arguments = _called(table, _CHECK, "check", folder, where, "targets", "require_accelerated")
    arguments["targets"] = _texts(arguments.get("targets", ()), "check", where)
    if not arguments["targets"]:
        raise LitefuseError("check names no target", where=where)
    check_value("require_accelerated", arguments.setdefault("require_accelerated", False), "bool", where)
    return arguments


def _variants(value: Any, folder: Path | None, where: str) -> tuple[Variant, ...]:
    variants: list[Variant] = []
    for variant in cast("list[Any]", value) if isinstance(value, list | tuple) else [value]:
        table = {"quantize": variant} if isinstance(variant, str) else _table(variant, "variants", where)
        options = _arguments(table, FileQuantization, folder, f"{where}, variants", "name")
        form = options.get("quantize")
        name = options.pop("name", cast("Any", form).get("form") if isinstance(form, Mapping) else form)
        if not isinstance(name, str):
            raise LitefuseError("a variant has quantize, a form; or a name and a recipe in quantize", where=where)
        _check(FileQuantization, options, f"{where}, variants")
        variants.append(Variant(_checked_name(name, where), options))
    return tuple(variants)


def _option(key: str, value: Any, annotation: str, folder: Path | None, where: str) -> Any:
    check_value(key, value, annotation, where)
    if key in FILES and isinstance(value, str):
        return _path(value, folder)
    if key in _CODE:
        return [_code(text, folder) for text in _texts(value, key, where)]
    if key == "shapes" and isinstance(value, Mapping):
        return {name: _shape(sizes, where) for name, sizes in cast("Mapping[str, Any]", value).items()}
    return value


def _shape(sizes: Any, where: str) -> list[int | None]:
    """Returns a shape: TOML has no null, so that -1 and ? are sizes that stay open."""
    listed = cast("list[Any]", sizes) if isinstance(sizes, list | tuple) else [sizes]
    shape = [None if size in (-1, "?", None) else size for size in listed]
    if not all(size is None or (isinstance(size, int) and not isinstance(size, bool)) for size in shape):
        raise LitefuseError(f"a shape must be a list of sizes, not {sizes!r}", where=where)
    return shape


def _key(written: str) -> str:
    key = written.replace("-", "_")
    return _ALIASES.get(key, key)


def _table(value: Any, key: str, where: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise LitefuseError(f"{key} must be a table, not {value!r}", where=where)
    return cast("Mapping[str, Any]", value)


def _texts(value: Any, key: str, where: str) -> list[str]:
    listed = cast("Sequence[Any]", value) if isinstance(value, list | tuple) else [value]
    if not all(isinstance(text, str | os.PathLike) for text in listed):
        raise LitefuseError(f"{key} must be a list of strings, not {value!r}", where=where)
    return [os.fspath(text) for text in listed]


def _bytes(key: str, value: Any, where: str) -> int | None:
    size = value if isinstance(value, int) or value is None else parsed_bytes(str(value))
    if size is None and value is not None:
        raise LitefuseError(f"{key} must be a number of bytes, such as 2G, not {value!r}", where=where)
    return size


def _path(text: str, folder: Path | None) -> str:
    if folder is None or as_url(text) is not None:
        return text
    return str(folder / Path(text).expanduser())


def _code(text: str, folder: Path | None) -> str:
    return _path(text, folder) if text.endswith(_CODE_FILES) else text


def _name_of(path: str) -> str:
    if as_url(path) is not None:
        name = file_name(path)
    else:
        name = Path(path).name or Path(path).absolute().name
        name = Path(path).resolve().name if name == ".." else name
    stem = Path(name)
    return (stem.stem if stem.suffix in MODEL_FILES else name) or "model"


def _check_names(entries: Iterable[Entry], where: str) -> None:
    seen: dict[str, str] = {}
    for entry in entries:
        _checked_name(entry.name, where)
        for file in entry.files:
            if (other := seen.setdefault(file.casefold(), entry.path)) is not entry.path or entry.files.count(file) > 1:
                raise LitefuseError(
                    f"two files would be called {file}: of {other} and of {entry.path}",
                    where=where,
                    hint="Give one of them another name.",
                )


def _checked_name(name: str, where: str) -> str:
    is_odd = name in {".", "..", ""} or name.startswith(".") or "/" in name or "\\" in name or "\0" in name
    if is_odd or len(os.fsencode(name)) > _LONGEST_NAME:
        raise LitefuseError(
            f"{name!r} is not a valid file name",
            where=where,
            hint="Names have no slash, and no dot first.",
        )
    return name
