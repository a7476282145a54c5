"""Sizes and ops of what litefuse writes for models of the tests, beside the stock converter's.

``python benchmarks/outputs.py`` converts them and compares with ``outputs.json``. It fails where that has changed, and
where a file is more than 2 % and 300 bytes larger than the stock converter's, or has more ops, and ``REASONS`` does not
say why. ``--update`` writes the file, with ``--stock`` what the stock converter makes as well; a change of it is a
change to talk about. The reasons are in docs/explanation/differences.md.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.tensorflow import (
    keras_layers,
    recurrent_models,
    test_dynamic_attention,
    test_keras_applications,
    test_transformers,
)
from tests.tensorflow.checking import op_counts
from tests.tensorflow.process import TensorFlow

import litefuse

_EXPECTED = Path(__file__).with_name("outputs.json")
_LARGER = 1.02  # of the stock converter's size
# The metadata that says who wrote a file, and which nodes its results are from, may take so many bytes more.
_SIGNED = 300
# Sizes in bytes may differ from what is expected by this share: they depend on the lengths of names.
_CHANGED = 0.01
_RECURRENT = ("last LSTM", "sequence LSTM", "masked LSTM", "bidirectional LSTM", "sequence GRU", "stack SimpleRNN")

REASONS: Mapping[str, str] = {
    "layer/vectors/softplus": "The stock converter's form is infinite from 89 on; a minimum and a maximum bound it.",
    "layer/vectors/sparsemax": "Four values are copied, as XNNPACK may read from memory that moved behind TOPK_V2.",
    "layer/spectra/stft_spectrogram": "Real and imaginary parts are each transposed before they are added.",
}
"""Why a file has more ops than the stock converter's, or is larger, by a regular expression for names of models."""


@dataclass(frozen=True)
class Model:
    """A model of the tests.

    Attributes:
        name: Its name.
        builder: Builds it, at the top level of a module of the tests.
        arguments: The builder's arguments after ``tf``.
    """

    name: str
    builder: Callable[..., Any]
    arguments: tuple[Any, ...]


def models() -> Iterator[Model]:
    """The models, in the order in which they are built: names of tensors depend on it."""
    for group, layers in keras_layers.GROUPS.items():
        for layer in layers:
            yield Model(f"layer/{group}/{layer}", keras_layers.build, (group, "float32", layer))
    for name, size in test_keras_applications.SIZES.items():
        yield Model(f"application/{name}", test_keras_applications.application, (name, size))
    for case in test_transformers.BACKBONES:
        arguments = (case.name, dict(case.options))
        yield Model(f"transformer/{case.name}", test_transformers.backbone, (*arguments, case.length))
        yield Model(f"transformer/{case.name}/dynamic", test_transformers.backbone, (*arguments, None))
    for form in test_dynamic_attention.FORMS:
        yield Model(f"attention/{form}", test_dynamic_attention.module, (form,))
    for family in _RECURRENT:
        yield Model(f"recurrent/{family}", recurrent_models.build, ("keras", family, 1, 6))


def main() -> None:
    """Converts, and compares."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write what is counted as what is expected")
    parser.add_argument("--stock", action="store_true", help="convert with the stock converter as well")
    parser.add_argument("--only", default="", metavar="REGEX", help="the models whose names it matches")
    parser.add_argument(
        "--slack", type=int, default=0, metavar="BYTES", help="what a file may have more or less, as of another release"
    )
    options = parser.parse_args()
    slack: int = options.slack
    expected: dict[str, dict[str, int]] = json.loads(_EXPECTED.read_text()) if _EXPECTED.exists() else {}
    with tempfile.TemporaryDirectory(prefix="litefuse-outputs-") as folder:
        found = _measure(re.compile(options.only), Path(folder), expected, stock=options.stock)
    if options.update:
        kept = {name: row for name, row in expected.items() if not re.search(options.only, name)}
        rows = [f"{json.dumps(name)}: {json.dumps(row)}" for name, row in sorted((kept | found).items())]
        _EXPECTED.write_text("{\n" + ",\n".join(rows) + "\n}\n")
        expected = found
    wanted = {name for name in expected if re.search(options.only, name)}
    known = sorted(found.keys() & wanted)
    failures = [
        *(f"{name}: there is no such model any more (--update)" for name in sorted(wanted - found.keys())),
        *(f"{name}: not expected yet (--update --stock)" for name in sorted(found.keys() - wanted)),
        *(line for name in known for line in _changes(name, expected[name], found[name], slack)),
        *(line for name, row in found.items() for line in _worse(name, row, slack)),
    ]
    if failures:
        sys.exit("\n".join(failures))
    compared = sum("stock_bytes" in row for row in found.values())
    print(f"{len(found)} models, {compared} of which the stock converter converts: none is larger without a reason")


def _measure(
    wanted: re.Pattern[str], folder: Path, expected: Mapping[str, Mapping[str, int]], *, stock: bool
) -> dict[str, dict[str, int]]:
    """Converts the models, while the next ones are built; the stock converter's numbers are measured or expected."""
    tensorflow = TensorFlow(folder)
    running: dict[str, tuple[Future[dict[str, int]], dict[str, int]]] = {}
    try:
        with ThreadPoolExecutor(2) as pool:
            for model in models():
                if not wanted.search(model.name):
                    continue
                path = tensorflow.save(model.builder, *model.arguments)
                other = {key: n for key, n in expected.get(model.name, {}).items() if key.startswith("stock_")}
                if stock:
                    converted = tensorflow.stock_convert(path)
                    sizes = {} if isinstance(converted, str) or _lacks_weights(converted) else _sizes(converted)
                    other = {f"stock_{key}": n for key, n in sizes.items()}
                running[model.name] = pool.submit(_convert, path), other
            return {name: future.result() | other for name, (future, other) in running.items()}
    finally:
        tensorflow.close()


def _convert(path: Path) -> dict[str, int]:
    return _sizes(litefuse.convert(path, checks=litefuse.Checks(file=False)).model_bytes)


def _sizes(model: bytes) -> dict[str, int]:
    return {"bytes": len(model), "ops": op_counts(model).total()}


def _lacks_weights(model: bytes) -> bool:
    """Whether a model reads variables that it never writes: the stock converter has left their values out."""
    ops = op_counts(model)
    return ops["READ_VARIABLE"] > 0 and ops["ASSIGN_VARIABLE"] == 0


def _changes(name: str, expected: Mapping[str, int], found: Mapping[str, int], slack: int) -> Iterator[str]:
    if expected["ops"] != found["ops"]:
        yield f"{name}: {found['ops']} ops, and {expected['ops']} were expected"
    if abs(found["bytes"] - expected["bytes"]) > max(_CHANGED * expected["bytes"], slack):
        yield f"{name}: {found['bytes']} bytes, and {expected['bytes']} were expected"


def _worse(name: str, row: Mapping[str, int], slack: int) -> Iterator[str]:
    if "stock_bytes" not in row or any(re.fullmatch(pattern, name) for pattern in REASONS):
        return
    if row["ops"] > row["stock_ops"]:
        yield f"{name}: {row['ops']} ops, and {row['stock_ops']} of the stock converter"
    if row["bytes"] > _LARGER * row["stock_bytes"] + _SIGNED + slack:
        yield f"{name}: {row['bytes']} bytes, and {row['stock_bytes']} of the stock converter"


if __name__ == "__main__":
    main()
