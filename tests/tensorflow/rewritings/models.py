"""The models of the sweep: one for each family of forms and dtype, with a signature for each form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.tensorflow.rewritings.arithmetic import ACTIVATIONS, COMPARISONS, NEUTRAL, REORDERED
from tests.tensorflow.rewritings.concatenations import CONCATENATIONS
from tests.tensorflow.rewritings.fills import FILLS, extremes
from tests.tensorflow.rewritings.form import FLOATS, Form, Maker, Named, numpy_dtype
from tests.tensorflow.rewritings.movements import BITS, CASTS, MOVEMENTS, PRODUCTS, REDUCTIONS
from tests.tensorflow.rewritings.positions import POSITIONS

FAMILIES: Mapping[str, Sequence[Named]] = {
    "activations": ACTIVATIONS,
    "bits": BITS,
    "casts": CASTS,
    "comparisons": COMPARISONS,
    "concatenations": CONCATENATIONS,
    "fills": FILLS,
    "movements": MOVEMENTS,
    "neutral": NEUTRAL,
    "positions": POSITIONS,
    "products": PRODUCTS,
    "reductions": REDUCTIONS,
    "reordered": REORDERED,
}


def forms_of(family: str, dtype: str) -> dict[str, Form]:
    """The forms that a family has in a dtype, by their names."""
    return {name: form for name, dtypes, form in FAMILIES[family] if dtype in dtypes}


def inputs(family: str, dtype: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Sets of inputs: usual numbers; and of integers, those at the ends of the dtype."""
    if family == "fills":
        return extremes(dtype)
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        x = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]], bool)
        return [{"x": x, "y": x[::-1] | ~x}]
    random = np.random.default_rng(3)
    signs = random.choice([-1, 1], (3, 4))
    if dtype in FLOATS:
        x = random.normal(size=(3, 4)) * 3
        x[0, 0] = x[2, 1] = 0
        return [{"x": x.astype(kind), "y": (signs * random.uniform(0.5, 4, (3, 4))).astype(kind)}]
    signed = not dtype.startswith("u")
    x, y = random.integers(-9 if signed else 0, 12, (3, 4)), random.integers(1, 7, (3, 4)) * (signs if signed else 1)
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    ends = np.array([[low, high, 0, 1], [high, low, high - 1, 2], [high // 2 + 1, 3, low + 1, 5]], kind)
    divisors = np.where(ends[::-1] == 0, np.ones((), kind), ends[::-1])
    return [{"x": x.astype(kind), "y": y.astype(kind)}, {"x": ends, "y": divisors}]


def model(tf: Any, family: str, dtype: str, names: Sequence[str], rows: int | None = 3) -> Any:
    """A model of forms, each of two inputs of its own: what two forms share would not be rewritten."""
    module = tf.Module()
    forms = forms_of(family, dtype)
    maker = Maker(tf, dtype)
    signature = [tf.TensorSpec([rows, 4], dtype, name=f"{x}{n}") for n in range(len(names)) for x in "xy"]

    def serve(*values: Any) -> dict[str, Any]:
        results: dict[str, Any] = {}
        for n, name in enumerate(names):
            with tf.name_scope(f"form{n}"):
                results[f"z{n}"] = forms[name](maker, *values[2 * n : 2 * n + 2])
        return results

    module.serve = tf.function(serve, input_signature=signature, autograph=False)
    return module, {"serving_default": module.serve}


def expected(tf: Any, family: str, dtype: str, sets: Any) -> dict[str, list[Any] | str]:
    """TensorFlow's results of the forms, op by op; for a form that TensorFlow lacks in the dtype, its error."""
    results: dict[str, list[Any] | str] = {}
    for name, form in forms_of(family, dtype).items():
        try:
            results[name] = [
                np.array(form(Maker(tf, dtype), *(tf.constant(each[key], dtype) for key in ("x", "y"))))
                for each in sets
            ]
        except Exception as error:  # noqa: BLE001  whatever it is, there is nothing to compare with
            results[name] = f"{type(error).__name__}: {error}"[:300]
    return results
