"""The models of the sweep: one for each family of forms and dtype, with a signature for each form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tests.tensorflow.rewritings.arithmetic import ACTIVATIONS, COMPARISONS, NEUTRAL, REORDERED
from tests.tensorflow.rewritings.concatenations import CONCATENATIONS
from tests.tensorflow.rewritings.form import DTYPES, FLOATS, Form, Maker, numpy_dtype
from tests.tensorflow.rewritings.movements import BITS, CASTS, MOVEMENTS, PRODUCTS, REDUCTIONS

__all__ = ["FAMILIES", "expected", "forms_of", "inputs", "model"]

FAMILIES: Mapping[str, Sequence[tuple[str, tuple[str, ...], Form]]] = {
    "activations": ACTIVATIONS,
    "bits": BITS,
    "casts": CASTS,
    "comparisons": COMPARISONS,
    "concatenations": CONCATENATIONS,
    "movements": MOVEMENTS,
    "neutral": NEUTRAL,
    "products": PRODUCTS,
    "reductions": REDUCTIONS,
    "reordered": REORDERED,
}


def forms_of(family: str, dtype: str) -> dict[str, Form]:
    """The forms that a family has in a dtype, each by the key of its signature."""
    forms = [(name, form) for name, dtypes, form in FAMILIES[family] if dtype in dtypes]
    return {f"s{number}": form for number, (_, form) in enumerate(forms)}


def names_of(family: str, dtype: str) -> dict[str, str]:
    """The names of the forms by the keys of their signatures."""
    return {f"s{n}": name for n, name in enumerate(name for name, dtypes, _ in FAMILIES[family] if dtype in dtypes)}


def inputs(dtype: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Two sets of inputs: usual numbers, and those at the ends of the dtype."""
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        x = np.array([[0, 1, 1, 0], [1, 1, 1, 1], [0, 0, 0, 1]], bool)
        return [{"x": x, "y": x[::-1] | ~x}]
    random = np.random.default_rng(3)
    if dtype in FLOATS:
        x = random.normal(size=(3, 4)) * 3
        x[0, 0] = x[2, 1] = 0
        return [
            {
                "x": x.astype(kind),
                "y": (np.sign(random.normal(size=(3, 4))) * random.uniform(0.5, 4, (3, 4))).astype(kind),
            }
        ]
    signed = not dtype.startswith("u")
    x = random.integers(-9 if signed else 0, 12, (3, 4))
    y = random.integers(1, 7, (3, 4)) * (random.choice([-1, 1], (3, 4)) if signed else 1)
    limits = np.iinfo(dtype)
    ends = np.array(
        [
            [limits.min, limits.max, 0, 1],
            [limits.max, limits.min, limits.max - 1, 2],
            [limits.max // 2 + 1, 3, limits.min + 1, 5],
        ],
        kind,
    )
    return [
        {"x": x.astype(kind), "y": y.astype(kind)},
        {"x": ends, "y": np.where(ends[::-1] == 0, 1, ends[::-1]).astype(kind)},
    ]


def model(tf: Any, family: str, dtype: str, keys: Sequence[str], rows: int | None = 3) -> Any:
    """A model with a signature for each form."""
    module = tf.Module()
    signature = [tf.TensorSpec([rows, 4], dtype, name=name) for name in ("x", "y")]
    for key, form in forms_of(family, dtype).items():
        if key in keys:
            serve = _serving(Maker(tf, dtype), form)
            setattr(module, key, tf.function(serve, input_signature=signature, autograph=False))
    return module, {key: getattr(module, key) for key in keys}


def _serving(maker: Maker, form: Form) -> Any:
    return lambda x, y: {"z": form(maker, x, y)}


def expected(tf: Any, family: str, dtype: str, sets: Any) -> dict[str, list[Any] | str]:
    """TensorFlow's results of the forms, op by op; for a form that TensorFlow lacks in the dtype, its error."""
    results: dict[str, list[Any] | str] = {}
    for key, form in forms_of(family, dtype).items():
        try:
            results[key] = [
                np.array(form(Maker(tf, dtype), *(tf.constant(each[name], dtype) for name in ("x", "y"))))
                for each in sets
            ]
        except Exception as error:  # noqa: BLE001  whatever it is, there is nothing to compare with
            results[key] = f"{type(error).__name__}: {error}"[:300]
    return results
