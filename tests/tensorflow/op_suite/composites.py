"""Cases of the op suite as bodies of composites, and what they are fused into: the same case, converted by itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

import litefuse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litefuse.fusions.builder import Builder
    from litefuse.fusions.composite import Composite
    from litefuse.support.report import CompositeReport
    from tests.tensorflow.op_suite.case import Array, Case
    from tests.tensorflow.process import TensorFlow

_PREFIX = "op_suite_"


def outcomes(tensorflow: TensorFlow, folder: Path, cases: Sequence[Case], *, off: int = 0) -> list[CompositeReport]:
    """What becomes of a composite of each case when its fusion computes the same.

    Args:
        tensorflow: The process that builds the models.
        folder: Where they go.
        cases: The cases.
        off: How many elements of each result the fusion gets wrong.
    """
    from tests.tensorflow.op_suite.building import build

    tensorflow.call(build, str(folder / "cases"), [(case, []) for case in cases])
    tensorflow.call(_build_composites, str(folder / "composites"), list(cases))
    random = np.random.default_rng(0)

    class OfCase(_OfReference):
        model = litefuse.convert(folder / "cases").model_bytes
        wrong = off

    class Same(_Same):
        inputs: ClassVar[Mapping[tuple[str, int], Sequence[Array]]] = {
            (f"{_PREFIX}{number}", size): [each.values(random, size) for each in case.inputs]
            for number, case in enumerate(cases)
            for size in range(1, 5)
        }

    litefuse.custom_op("OfCase", replace=True)(OfCase)
    litefuse.fusion(*(f"{_PREFIX}{number}" for number in range(len(cases))), replace=True)(Same)
    report = litefuse.convert(folder / "composites").report
    found = {composite.name: composite for composite in report.composites}
    return [found[f"{_PREFIX}{number}"] for number in range(len(cases))]


class _OfReference(litefuse.CustomOp):
    """Runs a signature of a LiteRT model."""

    model: ClassVar[bytes]
    wrong: ClassVar[int]

    def prepare(self, *_: Any, dtypes: Sequence[str], **__: Any) -> list[litefuse.TensorSpec]:
        import ml_dtypes

        numpy = {"string": object, "bfloat16": ml_dtypes.bfloat16}
        return [litefuse.TensorSpec(None, numpy.get(dtype, dtype)) for dtype in dtypes]

    def invoke(self, inputs: Any, outputs: Any, *, signature: str, **_: Any) -> None:
        runner = litefuse.Interpreter(model_content=self.model).get_signature_runner(signature)
        for index, value in enumerate(_in_order(runner(**{f"x{index}": value for index, value in enumerate(inputs)}))):
            result = np.array(value)
            if self.wrong and result.size:
                flat = result.reshape(-1)[-self.wrong :]
                flat[:] = np.where(flat == 0, 1, 0) if result.dtype != object else [each + b"?" for each in flat]
            outputs[index] = result


def _in_order(results: Mapping[str, Array]) -> list[Array]:
    return [results[f"y{index}"] for index in range(len(results))]


class _Same(litefuse.Fusion):
    """The op that computes what the composite computes."""

    inputs: ClassVar[Mapping[tuple[str, int], Sequence[Array]]]

    def check_inputs(self, composite: Composite, size: int, random: np.random.Generator) -> Sequence[Array]:
        del random
        return self.inputs[composite.name, size if (composite.name, size) in self.inputs else 3]

    def rewrite(self, composite: Composite, b: Builder) -> Any:
        options = {
            "signature": composite.name.replace(_PREFIX, "c"),
            "dtypes": [kind.dtype for kind in composite.result_tensor_types],
        }
        return b.custom("OfCase", composite.args, composite.result_types, options)


def _build_composites(tf: Any, path: str, cases: Sequence[Case]) -> None:
    """Writes a SavedModel with a signature for each case that calls the case as a composite."""
    module = tf.Module()
    signatures: dict[str, Any] = {}
    for number, case in enumerate(cases):
        signatures[f"c{number}"] = _calling(tf, case, f"{_PREFIX}{number}")
        setattr(module, f"f{number}", signatures[f"c{number}"])
    tf.saved_model.save(module, path, signatures=signatures)


def _calling(tf: Any, case: Case, annotation: str) -> Any:
    from tests.tensorflow.op_suite.building import case_function

    composite = tf.function(case_function(tf, case), experimental_implements=annotation, autograph=False)
    specs = [tf.TensorSpec(each.shape, each.dtype, name=f"x{n}") for n, each in enumerate(case.inputs)]

    def serve(*args: Any) -> Any:
        return composite(*args)

    return tf.function(serve, input_signature=specs, autograph=False)
