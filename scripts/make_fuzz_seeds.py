"""Writes the models that the fuzzer mutates: ``python -m scripts.make_fuzz_seeds`` (TensorFlow and JAX are needed).

They are kept in ``fuzz/seeds``: SavedModels, what litefuse makes of them, Keras files, and calls of kernels that the
tests of the kernels make.
"""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from fuzz.native.call import Call
from scripts.fuzz_seed_calls import CALLS
from scripts.fuzz_seed_models import save_all, save_keras
from tests.kernels.pack import one_op
from tests.tensorflow.process import TensorFlow

import litefuse

SEEDS = Path(__file__).resolve().parents[1] / "fuzz" / "seeds"
_PER_OP = 3
_LARGEST_CALL = 1500


def main() -> None:
    SEEDS.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        tensorflow = TensorFlow(folder)
        for kind, save in (("saved_models", save_all), ("keras", save_keras)):
            (folder / kind).mkdir()
            tensorflow.call(save, str(folder / kind))
        tensorflow.close()
        _add_jax(folder / "saved_models" / "jax")
        _pack(SEEDS / "saved_models.zip", folder / "saved_models", {"fingerprint.pb"})
        _pack(SEEDS / "keras.zip", folder / "keras", set())
        (folder / "tflite").mkdir()
        for model in sorted((folder / "saved_models").iterdir()):
            _convert(model, folder / "tflite" / f"{model.name}.tflite")
        kept = litefuse.convert(str(folder / "saved_models" / "composites"), composites="keep")
        kept.save(folder / "tflite" / "kept.tflite")
        _pack(SEEDS / "tflite.zip", folder / "tflite", set())
    _record_calls(SEEDS / "calls.json")


def _add_jax(folder: Path) -> None:
    """A SavedModel with a program of StableHLO."""
    import jax
    import jax.numpy as jnp
    from jax import export

    from litefuse.frontends.source_of import source_of

    jax.config.update("jax_traceback_in_locations_limit", 0)  # no paths of this machine

    def function(x: Any) -> Any:
        return {"y": jnp.tanh(x @ jnp.ones((2, 3))).sum(1), "z": jnp.where(x > 0, x, 0.0)}

    exported = export.export(jax.jit(function))(jax.ShapeDtypeStruct((2, 2), jnp.float32))
    source = source_of(exported)
    assert source.write is not None
    source.write(folder)


def _convert(model: Path, target: Path) -> None:
    try:
        litefuse.convert(str(model), allow_custom_ops=True).save(target)
    except litefuse.LitefuseError as error:
        print(f"{model.name}: {error}")


def _pack(target: Path, folder: Path, without: set[str]) -> None:
    """A zip file that is the same for the same files."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.name not in without:
                archive.writestr(
                    zipfile.ZipInfo(str(path.relative_to(folder))), path.read_bytes(), zipfile.ZIP_DEFLATED
                )
    print(f"{target.name}: {target.stat().st_size:,} bytes")


def _record_calls(target: Path) -> None:
    """Runs the tests of the kernels, and keeps some of the calls that they make of each op."""
    calls = {op: [Call.of(op, inputs, outputs, options, ()).text()] for op, inputs, outputs, options in CALLS}
    run = one_op.run

    def recorded(op: str, inputs: Any, outputs: Any, options: Any = b"", **more: Any) -> Any:
        found = run(op, inputs, outputs, options, **more)
        text = Call.of(op, inputs, outputs, options, more.get("constants", ())).text()
        known = calls.setdefault(op, [])
        if len(known) < _PER_OP and text not in known and len(text) < _LARGEST_CALL:
            known.append(text)
        return found

    one_op.run = recorded
    with_tensorflow = [f"tests/tensorflow/test_{name}_kernels.py" for name in ("string", "array", "image")]
    pytest.main(["-q", "-p", "no:cacheprovider", "tests/kernels/pack", *with_tensorflow])
    lines = [text for op in sorted(calls) for text in calls[op]]
    target.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{target.name}: {len(lines)} calls of {len(calls)} ops, {target.stat().st_size:,} bytes")
    assert json.loads(target.read_text())


if __name__ == "__main__":
    main()
