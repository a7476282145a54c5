"""Makes the files that readers are given: each model in each form, by litefuse and by the stock converter."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy.typing as npt
from tests.tensorflow import saved_models
from tests.tensorflow.process import TensorFlow

import litefuse
from litefuse.litert.runtime.flatbuffer import content_of
from litefuse.litert.runtime.model_reader import Model
from suites.cases import Call, Case, write_case
from suites.readers import models

_SAMPLES = 32
#: The seeds and rows of the calls: the first one again, so that what is left of a call shows.
_CALLS = ((1, 1), (2, 1), (1, 1), (3, 3), (1, 1))
#: How many of them a file of fixed sizes takes.
FIXED_CALLS = 3

#: The options of litefuse for each form.
FORMS: Mapping[str, Mapping[str, Any]] = {
    "float": {},
    "dynamic": {"quantize": "dynamic"},
    "weights": {"quantize": "weights"},
    "float16": {"quantize": "float16"},
    "int8": {"quantize": "int8"},
    "int16": {"quantize": "int16"},
    "int4": {"quantize": litefuse.Quantization("dynamic", weight_bits=4)},
}


class Variant(NamedTuple):
    """Files that are made for one reader.

    Attributes:
        kind: The reader's kind.
        options: The options of litefuse.
        forms: The forms that there are, with their options.
        fixed: Whether the sizes in the files are fixed, with a batch of 1.
        alone: Whether the reader gets no other files, as it takes no open sizes.
        taken: Whether the reader has to take each file that is made.
    """

    kind: str
    options: Mapping[str, Any]
    forms: Mapping[str, Mapping[str, Any]]
    fixed: bool = False
    taken: bool = True
    alone: bool = False


#: Files for one reader, by what asks for them on the command line.
VARIANTS: Mapping[str, Variant] = {
    "--target micro": Variant(
        "tflite-micro",
        {"target": "micro"},
        {
            **{form: FORMS[form] for form in ("float", "int8", "int16")},
            "int4": {"quantize": litefuse.Quantization("int8", weight_bits=4, granularity="tensor")},
        },
        fixed=True,
        taken=False,
    ),
    "--target openvino": Variant(
        "openvino", {"target": "openvino"}, {form: FORMS[form] for form in ("float", "weights", "int8")}
    ),
    "--target web": Variant(
        "web", {"target": "web"}, {form: FORMS[form] for form in ("float", "dynamic", "int8")}, fixed=True, alone=True
    ),
    "--target intel-npu": Variant(
        "intel-npu", {"target": "intel-npu"}, {"float": FORMS["float"]}, fixed=True, alone=True
    ),
    "--min-runtime 2.14": Variant(
        "tflite-runtime", {"min_runtime": "2.14"}, {form: FORMS[form] for form in ("dynamic", "int8", "int16")}
    ),
}


class File(NamedTuple):
    """A model in a form.

    Attributes:
        model: Its name.
        form: A key of ``FORMS``, or of the variant's forms.
        variant: A key of ``VARIANTS``; empty for what every reader gets.
        path: The file; None if there is none.
        case: The folder with its calls.
        problem: Why there is no file.
    """

    model: str
    form: str
    variant: str
    path: Path | None
    case: Path
    problem: str = ""

    @property
    def name(self) -> str:
        """Its name, for messages."""
        return f"{self.model}, {self.form}" + (f", {self.variant}" if self.variant else "")

    @property
    def calls(self) -> int:
        """How many of its calls the sizes in it allow."""
        return FIXED_CALLS if self.variant and VARIANTS[self.variant].fixed else len(_CALLS)


def make_files(
    folder: Path, kinds: Collection[str], only: str = "", *, stock: bool = False
) -> tuple[list[File], list[File]]:
    """Makes the models, their calls and their files.

    Args:
        folder: Where all of it is written.
        kinds: The kinds of readers, for some of which there are files that others do not get.
        only: A regular expression of models' names.
        stock: Whether the stock converter makes files as well.

    Returns:
        litefuse's files, and the stock converter's.
    """
    running: list[Future[list[File]]] = []
    others: list[File] = []
    tensorflow = TensorFlow(folder)
    try:
        with ThreadPoolExecutor(2) as pool:
            for name in models.MODELS:
                if not re.search(only, name):
                    continue
                case = folder / name
                _make_case(tensorflow, case)
                running.append(pool.submit(_convert_all, case, kinds))
                others += _stock_files(tensorflow, case) if stock else ()
            return [file for each in running for file in each.result()], others
    finally:
        tensorflow.close()


def _make_case(tensorflow: TensorFlow, case: Path) -> None:
    tensorflow.call(saved_models.save, str(case / "saved_model"), models.build, (case.name,))
    given = [models.draw(case.name, rows, seed) for seed, rows in _CALLS]
    expected = tensorflow.run_calls(case / "saved_model", [("serving_default", each) for each in given])
    calls: list[Call] = [*zip(given, expected, strict=True)]
    write_case(case, Case(case.name, "readers"), calls)


def _samples(name: str) -> list[dict[str, npt.NDArray[Any]]]:
    """Returns what integers are calibrated with, the calls among it: what is beyond all samples says nothing."""
    drawn = [models.draw(name, 1, seed) for seed in range(100, 100 + _SAMPLES)]
    for seed, rows in dict.fromkeys(_CALLS):
        given = models.draw(name, rows, seed)
        drawn += [{key: value[row : row + 1] for key, value in given.items()} for row in range(rows)]
    return drawn


def _convert_all(case: Path, kinds: Collection[str]) -> list[File]:
    made = [_convert(case, form, "", options) for form, options in FORMS.items()]
    for name, variant in ((name, each) for name, each in VARIANTS.items() if each.kind in kinds):
        made += [_convert(case, form, name, {**options, **variant.options}) for form, options in variant.forms.items()]
    return made


def _convert(case: Path, form: str, variant: str, options: Mapping[str, Any]) -> File:
    given: dict[str, Any] = dict(options)
    quantization = litefuse.Quantization.of(given.get("quantize"), "quantize")
    if quantization.form in {"int8", "int16"}:
        given["quantize"] = replace(quantization, samples=_samples(case.name))
    path = case / f"{form}{variant}.tflite"
    try:
        # The readers are the check.
        litefuse.convert(case / "saved_model", checks=litefuse.Checks(targets=False), **given).save(path)
    except litefuse.LitefuseError as error:
        return File(case.name, form, variant, None, case, str(error).partition("\n")[0])
    return File(case.name, form, variant, path, case)


def _stock_files(tensorflow: TensorFlow, case: Path) -> Iterator[File]:
    for form in ("float", "dynamic", "float16", "int8", "int16"):
        answer = tensorflow.call(_stock_form, str(case / "saved_model"), form, _samples(case.name))
        path = case / f"{form}.stock.tflite"
        if isinstance(answer, bytes):
            path.write_bytes(answer)
            yield File(case.name, form, "", path, case)
        else:
            yield File(case.name, form, "", None, case, answer)


def _stock_form(tf: Any, path: str, form: str, samples: Sequence[Any]) -> bytes | str:
    """Returns the stock converter's file in a form, or its error; in the process of TensorFlow."""
    options: dict[str, Any] = {"optimizations": [] if form == "float" else [tf.lite.Optimize.DEFAULT]}
    if form == "float16":
        options["target_spec"] = tf.lite.TargetSpec(supported_types=[tf.float16])
    if form in {"int8", "int16"}:
        options["representative_dataset"] = lambda: iter(samples)
    if form == "int16":
        integers = tf.lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        options["target_spec"] = tf.lite.TargetSpec(supported_ops=[integers, tf.lite.OpsSet.TFLITE_BUILTINS])
    return saved_models.stock_convert(tf, path, options)


def input_order(path: Path) -> list[str]:
    """Returns the names of a file's inputs in the order of its subgraph."""
    with content_of(str(path)) as content:
        model = Model(content)
        (signature,) = model.signatures.values()
        names = {tensor: name for name, tensor in signature.inputs.items()}
        return [names[tensor] for tensor in model.graphs[signature.graph].inputs]


def step_of(path: Path) -> float:
    """Returns the step of the integers that a file's output is made of; 0 if it is computed in floating point."""
    with content_of(str(path)) as content:
        graph = Model(content).graphs[0]
        (output,) = graph.outputs
        (last,) = [op for op in graph.ops if output in op.outputs]
        return graph.tensor(last.inputs[0]).scale if last.name == "DEQUANTIZE" else 0.0
