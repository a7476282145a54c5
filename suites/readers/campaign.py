"""What becomes of files in readers, and which of it is a failure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.tools.flatbuffer_utils import convert_object_to_bytearray

from suites.readers.files import VARIANTS, File
from suites.readers.reading import Reader, Reading, judged, read

#: The reader that the others are compared with, LiteRT's release in the environment of litefuse.
REFERENCE = "LiteRT"

#: What became of each file, by its name, in each reader, by its name.
Readings: TypeAlias = Mapping[str, Mapping[str, Reading]]

#: The same of the stock converter's files, as it is recorded: verdicts with errors.
Records: TypeAlias = Mapping[str, Mapping[str, str]]

_STOCK = Path(__file__).with_name("stock.json")
_MESSAGE = 200
#: The version of FULLY_CONNECTED with a scale for each row of its weights.
_PER_CHANNEL = 12


class Known(NamedTuple):
    """What is known of files that a reader runs with other numbers, or refuses unlike the stock converter's.

    Attributes:
        reader: A regular expression of readers' names.
        file: One of files' names.
        why: What the reader does with them.
    """

    reader: str
    file: str
    why: str


KNOWN: Sequence[Known] = (
    Known("tflite-runtime 2.14", "(GRU|LSTM), .*, --min.*", "a batch that changes between calls ends its loops"),
)


def read_all(readers: Sequence[Reader], files: Sequence[File]) -> dict[str, dict[str, Reading]]:
    """Returns what becomes of files in readers, of which the first is the reference."""

    def of(reader: Reader) -> dict[str, Reading]:
        mine = {name for name, variant in VARIANTS.items() if reader is readers[0] or variant.kind == reader.kind}
        mine |= set() if any(VARIANTS[name].alone for name in mine) and reader is not readers[0] else {""}
        chosen = [each for each in files if each.path is not None and each.variant in mine]
        return {each.name: read(reader, each) for each in chosen}

    by_name = {each.name: each for each in files}
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip((each.name for each in readers), pool.map(of, readers), strict=True))
    reference = found[readers[0].name]
    return {
        reader: {name: judged(each, reference[name], by_name[name]) for name, each in readings.items()}
        for reader, readings in found.items()
    }


def failures(
    files: Iterable[File],
    readings: Readings,
    stock: Records,
    known: Sequence[Known] = KNOWN,
    *,
    whole: bool = True,
) -> Iterator[str]:
    """Yields what is wrong: files with other numbers, and quantized ones that are refused unlike the stock converter's.

    Args:
        files: litefuse's files.
        readings: What became of them.
        stock: What became of the stock converter's.
        known: What is known to be wrong.
        whole: Whether these are all files, so that what is known has to be among them.
    """
    for file in files:
        if file.path is None and not file.variant:
            yield f"{file.name}: there is no file: {file.problem}"
    seen: set[Known] = set()
    for reader, of_files in readings.items():
        if reader not in stock:
            yield f"{reader}: what it makes of the stock converter's files is not recorded: --stock"
        for name, each in of_files.items():
            if not (fault := _fault(reader, name, each, stock.get(reader, {}).get(name, ""))):
                continue
            allowed = [one for one in known if re.fullmatch(one.reader, reader) and re.fullmatch(one.file, name)]
            seen.update(allowed)
            if not allowed:
                yield f"{reader}: {name}: {fault}: {' '.join(each.message.split())[-_MESSAGE:]}"
    for one in known if whole else ():
        if one not in seen and any(re.fullmatch(one.reader, reader) for reader in readings):
            yield f"{one.reader}: {one.file}: this is known to fail, and does not: drop it from KNOWN"


def _fault(reader: str, name: str, reading: Reading, theirs: str) -> str:
    """Returns what is wrong with a reading, or empty text if nothing is."""
    if reading.verdict == "right":
        return ""
    if reading.verdict == "wrong" or reader == REFERENCE:
        return reading.verdict
    _, form, *variants = name.split(", ")
    if any(VARIANTS[variant].taken for variant in variants):
        return f"{reading.verdict}, though it is made for this reader"
    return (
        f"{reading.verdict}, but the stock converter's is {theirs}" if form != "float" and theirs[:5] == "right" else ""
    )


def unnoticed(readers: Sequence[Reader], files: Sequence[File]) -> Iterator[str]:
    """Yields readers of before TensorFlow 2.17 in which a file that must be wrong there is found to be right.

    It is one of ``dynamic`` whose products claim to be of version 1, as litert-quantizer leaves them; the first that
    they do not refuse for another op.
    """
    old = [reader for reader in readers if reader.kind == "tflite-runtime"]
    for file in files if old else ():
        if file.path is None or (file.form, file.variant) != ("dynamic", ""):
            continue
        model: Any = schema.ModelT.InitFromPackedBuf(file.path.read_bytes(), 0)
        codes = [code for code in model.operatorCodes if code.builtinCode == schema.BuiltinOperator.FULLY_CONNECTED]
        if not any(code.version == _PER_CHANNEL for code in codes):
            continue
        for code in codes:
            code.version = 1
        path = file.path.with_suffix(".spoiled.tflite")
        path.write_bytes(convert_object_to_bytearray(model))
        spoiled = file._replace(path=path)
        reference = read(readers[0], spoiled)
        verdicts = {reader: judged(read(reader, spoiled), reference, spoiled) for reader in old}
        old = [reader for reader in old if verdicts[reader].verdict in {"refuses", "dies"}]
        for reader in verdicts.keys() - {*old}:
            if verdicts[reader].verdict != "wrong":
                found = verdicts[reader].cell
                yield f"{reader.name}: {file.name}, with version 1 of FULLY_CONNECTED: {found}, not wrong"
        if not old:
            return


def records_of(readings: Readings) -> dict[str, dict[str, str]]:
    """Returns readings as they are recorded."""
    return {reader: {name: each.cell for name, each in of_files.items()} for reader, of_files in readings.items()}


def stock_records() -> Records:
    """Returns what became of the stock converter's files when they were recorded."""
    return json.loads(_STOCK.read_text("utf-8"))


def record_stock(readings: Readings) -> None:
    """Records what became of the stock converter's files, in readers that are not asked as well."""
    records = {**(stock_records() if _STOCK.exists() else {}), **records_of(readings)}
    _STOCK.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
