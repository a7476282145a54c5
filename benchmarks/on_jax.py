"""Models of Keras on JAX, as ``model.export()`` writes them: both converters' time, latency and ops."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from document import milliseconds, paragraph, seconds, table
from process import ENVIRONMENT, call

from conversion import CONVERTERS, measure_in_turn, median, stock_failure

MODELS = {
    "MobileNetV2": "MobileNetV2",
    "EfficientNetB0": "EfficientNetB0",
    "ResNet50": "ResNet50",
    "small_encoder": "4 layers of a BERT-like encoder, 256 wide",
    "text_lstm": "a text classifier: embedding and two LSTMs",
}


def measure_on_jax(folder: Path, repeats: int) -> list[dict[str, Any]]:
    """One row for each model; each converter is run in turn, after one run that does not count."""
    rows: list[dict[str, Any]] = []
    for name in MODELS:
        source = folder / f"jax_{name}"
        if not (source / "saved_model.pb").exists():
            maker = [sys.executable, __file__, name, str(source)]
            subprocess.run(maker, check=True, env=ENVIRONMENT | {"KERAS_BACKEND": "jax"}, stdout=subprocess.DEVNULL)
        paths = {each: folder / f"{source.name}.{each}.tflite" for each in CONVERTERS}
        runs = measure_in_turn(source, paths, repeats)
        failed = bool(runs["stock"][0].failure)
        compared = [str(paths[each]) for each in CONVERTERS if not (failed and each == "stock")]
        latencies: dict[str, Any] = json.loads(
            call(sys.executable, str(Path(__file__).with_name("outputs.py")), *compared)
        )
        counts = [json.loads(call(sys.executable, __file__, "ops", path)) for path in compared]
        ops = dict(zip(CONVERTERS, counts, strict=False))
        rows.append(
            {"model": name, "latency": latencies, "ops": ops}
            | {each: [asdict(run) for run in found] for each, found in runs.items()}
        )
        print(f"  {name}", flush=True, file=sys.stderr)
    return rows


def document(rows: Sequence[dict[str, Any]], repeats: int) -> list[str]:
    """The results in Markdown."""
    cells: list[list[str]] = []
    for row in rows:
        failed = stock_failure(row)
        line = [f"{row['model']}: {MODELS[row['model']]}" if MODELS[row["model"]] != row["model"] else row["model"]]
        for values, show in (
            ([median(row, each, "seconds") for each in CONVERTERS], seconds),
            ([row["latency"].get(each, {}).get("seconds", 0.0) for each in CONVERTERS], milliseconds),
        ):
            ours, theirs = values
            line += [show(ours), *(["fails", ""] if failed else [show(theirs), f"{theirs / ours:.1f}"])]
        line += [str(row["ops"]["litefuse"]), "" if failed else str(row["ops"]["stock"]), failed]
        cells.append(line)
    heads = ["Model", "conversion", "stock", "ratio", "latency", "stock", "ratio", "ops", "stock", ""]
    return [*paragraph(_ABOUT.format(repeats=repeats)), *table(heads, cells, text=1)]


_ABOUT = """
Keras 3 models on the JAX backend, exported with a dynamic batch by `model.export()`. Conversions run alternately in
fresh processes, medians of {repeats}; latency is that of one call with a batch of one and one thread, alternately,
medians. A ratio above 1 is in favor of litefuse.
"""


def _make(name: str, folder: str) -> None:
    import importlib

    keras: Any = importlib.import_module("keras")
    layers = keras.layers
    keras.utils.set_random_seed(0)
    if name == "small_encoder":
        from models import encoder

        model = encoder(keras, layers=4, width=256, heads=4, inner=1024)
    elif name == "text_lstm":
        ids = keras.Input((100,), dtype="int32")
        x = layers.LSTM(64)(layers.LSTM(64, return_sequences=True)(layers.Embedding(20_000, 64)(ids)))
        model = keras.Model(ids, layers.Dense(4, activation="softmax")(x))
    else:
        model = getattr(keras.applications, name)(weights=None)
    model.export(folder, verbose=False)


def _count_ops(path: str) -> int:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    plain = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter: Any = Interpreter(model_path=path, experimental_op_resolver_type=plain)
    return len(interpreter._get_ops_details())  # noqa: SLF001  there is no other way to ask


if __name__ == "__main__":
    if sys.argv[1] == "ops":
        print(json.dumps(_count_ops(sys.argv[2])))
    else:
        _make(*sys.argv[1:])
