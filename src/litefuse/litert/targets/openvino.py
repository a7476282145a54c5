"""OpenVINO: Intel's processors, and others."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from litefuse.litert.targets.op_table import Limits, OpTable, refused_by_table
from litefuse.litert.targets.question import Answer, Arrays, Question, Refusal, TargetCall
from litefuse.litert.targets.target import Hint, Target, installed, logged, not_installed
from litefuse.support.target_traits import TargetTraits

_PACKAGE = "openvino"
# On the CPU, with floats as they are, and activations not rounded where weights are integers.
_DEVICE, _OPTIONS = "CPU", {"EXECUTION_MODE_HINT": "ACCURACY"}

_NO_OP = re.compile(r"No translator found for (?P<op>\S+) node")
_BEHIND = "weights are stored behind the flatbuffer, where OpenVINO does not look"

# The ops of its frontend for LiteRT files, measured by loading a model of each op of LiteRT's schema (OpenVINO 2026.4):
# one that it lacks is reported before anything else.
_ANY = """
    ABS ADD ADD_N ARG_MAX ARG_MIN AVERAGE_POOL_2D BATCH_MATMUL BATCH_TO_SPACE_ND BROADCAST_ARGS BROADCAST_TO CAST
    CEIL COMPLEX_ABS CONCATENATION CONV_2D CONV_3D COS CUMSUM DENSIFY DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE
    DIV ELU EMBEDDING_LOOKUP EQUAL EXP EXPAND_DIMS FILL FLOOR FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER GATHER_ND
    GELU GREATER GREATER_EQUAL HARD_SWISH L2_NORMALIZATION LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT
    LOGICAL_OR LOGISTIC LOG_SOFTMAX MATRIX_DIAG MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL
    ONE_HOT PACK PAD PADV2 POW PRELU QUANTIZE RANGE RANK REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD
    RELU RELU6 RELU_0_TO_1 RESHAPE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR REVERSE_SEQUENCE REVERSE_V2 RFFT2D ROUND
    RSQRT SCATTER_ND SEGMENT_SUM SELECT SELECT_V2 SHAPE SIGN SIN SLICE SOFTMAX SPACE_TO_BATCH_ND SPACE_TO_DEPTH
    SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE SQUEEZE STABLEHLO_COMPOSITE STRIDED_SLICE SUB SUM TANH TILE TOPK_V2
    TRANSPOSE TRANSPOSE_CONV UNIQUE UNPACK WHERE WHILE ZEROS_LIKE
"""

OPENVINO_OPS = OpTable("OpenVINO 2026.4", ops={name: Limits() for name in _ANY.split()})


class OpenVINO(Target):
    """OpenVINO's runtime on the CPU, which reads LiteRT files by a frontend of its own."""

    name = "openvino"
    traits = TargetTraits(
        "OpenVINO",
        integer_loops=False,  # its subgraphs take float32 for integers
        variables=False,
        lacking=frozenset({"UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN"}),
        avoided=frozenset({"DYNAMIC_UPDATE_SLICE", "RELU_N1_TO_1"}),
        xnnpack=False,
        complex=False,
        keeps_masks=False,  # it folds constants that are added one after the other
    )
    table = OPENVINO_OPS
    hints = (
        Hint("UNIDIRECTIONAL_SEQUENCE_LSTM|DYNAMIC_UPDATE_SLICE|RELU_N1_TO_1", "", "convert with --target openvino"),
        Hint("BITCAST|REAL|IMAG", "", "convert with --target openvino and sizes that are known (--batch, --shape)"),
        Hint("", "i4/u4", "leave out --weight-bits 4: OpenVINO takes int4 only in matrices"),
        Hint("", "no such op", "convert with --allow-custom-ops never", rewritten=True),
        Hint("", "no such op", "change the layer that it is from"),
    )

    def missing(self) -> str:
        return not_installed("OpenVINO", "openvino", "openvino")

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.runtime.model_reader import Model

        software = installed("OpenVINO", _PACKAGE)
        model = Model(Path(question.model).read_bytes())
        if model.has_buffers_behind:
            return Answer(software, takes=False, refusals=(Refusal("", _BEHIND),))
        core: Any = importlib.import_module("openvino").Core()
        facts = [("device", str(core.get_property(_DEVICE, "FULL_DEVICE_NAME")))]
        if left := [key for key, signature in model.signatures.items() if signature.graph]:
            facts.append(("not called", f"{', '.join(left)}: OpenVINO reads only the first subgraph"))
        outputs: list[tuple[Arrays | None, ...]] = []
        with logged(question.log):
            try:
                announce("compile the model")
                compiled: Any = core.compile_model(core.read_model(question.model), _DEVICE, _OPTIONS)
                announce("run the model")
                for calls in question.rounds:
                    request: Any = compiled.create_infer_request()
                    outputs.append(tuple(_called(request, model, call) for call in calls))
            except (RuntimeError, TypeError, ValueError) as error:
                refused = self.refusals(str(error))
                # It names one op that it lacks, whatever the others are.
                lacking = [Refusal(refusal.op, refused[0].reason) for refusal in refused_by_table(model, self.table)]
                more = tuple(dict.fromkeys(lacking)) if refused[0].op else ()
                return Answer(software, takes=False, refusals=tuple(dict.fromkeys((*refused, *more))))
        return Answer(software, outputs=tuple(outputs), facts=tuple(facts))

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        if refused := [Refusal(match["op"], "no such op") for match in _NO_OP.finditer(log)]:
            return tuple(refused)
        told = [line.strip() for line in log.splitlines() if line.strip()]
        return (Refusal("", told[-1] if told else "it says nothing"),)


def _called(request: Any, model: Any, call: TargetCall) -> Arrays | None:
    signature, graph = model.signatures[call.signature], model.graphs[0]
    if signature.graph:
        return None
    given = {graph.inputs.index(tensor): call.inputs[name] for name, tensor in signature.inputs.items()}
    results: Any = request.infer({position: np.ascontiguousarray(value) for position, value in given.items()})
    return {name: np.array(results[graph.outputs.index(tensor)]) for name, tensor in signature.outputs.items()}
