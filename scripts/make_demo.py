"""Write the SavedModel of ``litefuse demo`` and the results that TensorFlow computes with it.

Run it where TensorFlow is installed: ``python scripts/make_demo.py``. The weights are the same every time; names in the
graph may differ between TensorFlow's releases.
"""

from __future__ import annotations

import importlib
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

OUTPUT = Path(__file__).resolve().parent.parent / "src" / "litefuse" / "tools" / "demo"
ANNOTATION = (
    'name: "my_custom_fused_op" '
    'attr { key: "tfl_fusable_op" value { b: true } } '
    'attr { key: "example_option" value { i: 10 } }'
)


def build(tf: Any) -> Any:
    rng = np.random.default_rng(20)

    def normal(*shape: int) -> Any:
        return tf.Variable((rng.normal(size=shape) * 0.3).astype(np.float32))

    class Demo(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.filters_1, self.bias_1 = normal(3, 3, 3, 4), normal(4)
            self.filters_2, self.bias_2 = normal(3, 3, 3, 4), normal(4)
            self.table = normal(20, 4)
            self.scale = normal(4)
            self.calls = tf.Variable(0, dtype=tf.int32)

        @tf.function(experimental_implements=ANNOTATION)
        def my_custom_fused_op(self, input_1: Any, input_2: Any) -> Any:
            return tf.nn.relu(input_1 + input_2) * 10.0

        @tf.function(experimental_implements="embedding_matmul")
        def embedding(self, table: Any, ids: Any) -> Any:
            return tf.matmul(tf.one_hot(ids, 20), table)

        @tf.function(input_signature=[tf.TensorSpec([None, 8, 8, 3], tf.float32, name="image")])
        def convolutions(self, image: Any) -> Any:
            input_1 = tf.nn.bias_add(tf.nn.conv2d(image, self.filters_1, 1, "SAME"), self.bias_1)
            input_2 = tf.nn.bias_add(tf.nn.conv2d(image, self.filters_2, 1, "SAME"), self.bias_2)
            return {"fused": self.my_custom_fused_op(input_1, input_2)}

        @tf.function(input_signature=[tf.TensorSpec([None], tf.int32, name="ids")])
        def embed(self, ids: Any) -> Any:
            vectors = self.embedding(self.table, ids) * self.scale
            return {"vectors": vectors, "calls": self.calls.assign_add(1)}

    return Demo()


def reference_calls(loaded: Any) -> dict[str, Any]:
    """Each signature with batch 1 and 3, twice each, in one life of the model: the counter goes on."""
    rng = np.random.default_rng(21)
    calls: list[tuple[str, dict[str, Any]]] = []
    for batch in (1, 3):
        calls += [("serving_default", {"image": rng.normal(size=(batch, 8, 8, 3)).astype(np.float32)})] * 2
    for batch in (1, 3):
        calls += [("embed", {"ids": rng.integers(0, 20, batch, np.int32)})] * 2
    arrays: dict[str, Any] = {}
    for number, (signature, feed) in enumerate(calls):
        arrays |= {f"{number}/{signature}/inputs/{name}": value for name, value in feed.items()}
        results = loaded.signatures[signature](**feed)
        arrays |= {f"{number}/{signature}/outputs/{name}": value.numpy() for name, value in results.items()}
    return arrays


def main() -> None:
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
    tf: Any = importlib.import_module("tensorflow")
    folder = OUTPUT / "saved_model"
    shutil.rmtree(folder, ignore_errors=True)
    module = build(tf)
    tf.saved_model.save(module, str(folder), signatures={"serving_default": module.convolutions, "embed": module.embed})
    # Empty folders do not survive packaging, and nothing reads the fingerprint.
    for empty in (folder / "assets", folder / "fingerprint.pb"):
        shutil.rmtree(empty) if empty.is_dir() else empty.unlink(missing_ok=True)
    np.savez_compressed(OUTPUT / "references.npz", **reference_calls(tf.saved_model.load(str(folder))))
    files = [file for file in OUTPUT.rglob("*") if file.is_file() and file.suffix not in {".py", ".pyc"}]
    for file in files:
        print(f"{file.stat().st_size:8,}  {file.relative_to(OUTPUT)}")
    print(f"{sum(file.stat().st_size for file in files):8,}  in all")


if __name__ == "__main__":
    main()
