"""LiteRT's ``CompiledModel`` with its accelerator for GPUs."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Callable
from pathlib import Path

from litefuse.litert.targets.litert import LiteRT, reported_errors
from litefuse.litert.targets.op_table import Limits, OpTable
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.litert.targets.target import Hint, Target, logged

_ACCELERATORS = "GPU|CPU"

# The accelerator prints the refused ops, each kind with each reason once for a subgraph, below this line.
_REFUSED = re.compile(
    r"Following operations are not supported by GPU delegate:\n(?P<ops>(?:[A-Z][A-Z0-9_]*: [^\n]*\n)+)"
)
_COUNTS = re.compile(
    r"^(?P<gpu>\d+) operations will run on the GPU, and the remaining (?P<cpu>\d+) operations", re.MULTILINE
)
_ADAPTER = re.compile(r"Selected adapter: (?P<name>[^\n,]*)")
_NO_DRIVER = re.compile(
    r"No adapters found|GPU accelerator could not be loaded|Failed to initialize WebGPU environment"
)

_DRIVER = (
    "no GPU with a driver was found, and no package of pip has one; without a GPU, set VK_ICD_FILENAMES to the ICD "
    "file of a software driver for Vulkan, such as SwiftShader, and LD_LIBRARY_PATH to the folder of libvulkan.so.1"
)

_TARGET = "convert with --target gpu"

# Read from the op parsers of the accelerator's open part (ml_drift_delegate in LiteRT's repository, 2026-08), and
# measured with the accelerator of ai-edge-litert 2.3.
_ANY = """
    ABS ADD ADD_N ARG_MAX ATAN2 BATCH_MATMUL BITCAST BITWISE_XOR CAST CEIL COS DEPTH_TO_SPACE DIV
    ELU EMBEDDING_LOOKUP EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD GELU GREATER GREATER_EQUAL
    HARD_SWISH LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGICAL_NOT LOGICAL_OR LOGISTIC LSTM MAXIMUM MEAN MINIMUM
    MUL NEG NOT_EQUAL PACK POW REDUCE_ALL REDUCE_ANY REDUCE_MAX REDUCE_MIN REDUCE_PROD RELU_0_TO_1 RELU_N1_TO_1
    REVERSE_V2 RIGHT_SHIFT ROUND RSQRT SIGN SIN SPLIT SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE
    STABLEHLO_BROADCAST_IN_DIM STABLEHLO_CBRT STABLEHLO_CLAMP STABLEHLO_COMPOSITE STABLEHLO_REMAINDER
    STABLEHLO_SHIFT_LEFT SUB SUM TANH TILE UNPACK
"""

# Those that it takes up to a version.
_VERSIONS = {
    1: "CUMSUM ONE_HOT PRELU SELECT SELECT_V2 TOPK_V2",
    2: "AVERAGE_POOL_2D MAX_POOL_2D QUANTIZE RELU RELU6 SPACE_TO_DEPTH",
    3: "DEQUANTIZE RESIZE_BILINEAR RESIZE_NEAREST_NEIGHBOR TRANSPOSE_CONV",
    4: "SOFTMAX",
    5: "PAD PADV2 MIRROR_PAD",
    6: "CONCATENATION CONV_2D DEPTHWISE_CONV_2D",
    8: "SLICE",
    9: "TRANSPOSE",
}

GPU_OPS = OpTable(
    "the accelerator of ai-edge-litert 2.3",
    ops={
        **{name: Limits() for name in _ANY.split()},
        **{name: Limits(version) for version, names in _VERSIONS.items() for name in names.split()},
        # Of other ranks, it takes computed places for 0 without a word, and gives other numbers.
        "DYNAMIC_UPDATE_SLICE": Limits(ranks={0: (4,)}, computed=(2,)),
        "FULLY_CONNECTED": Limits(14, computed=(0,)),
        "GATHER": Limits(ranks={1: (1,)}),
        "RESHAPE": Limits(1, constant=(1,)),
        # begin_mask and end_mask are fields 0 and 1 of StridedSliceOptions.
        "STRIDED_SLICE": Limits(
            2, constant=(1, 2, 3), unset={2: "ellipsis_mask", 3: "new_axis_mask", 4: "shrink_axis_mask"}
        ),
    },
    every=Limits(rank=4),
    variables=False,
)


class Gpu(Target):
    """LiteRT's GPU accelerator, which runs over Vulkan, Metal or a software driver."""

    name = "gpu"
    # Those of CompiledModel, which compiles for the shapes in the file here.
    traits = LiteRT.traits._replace(
        runtime="LiteRT's GPU accelerator",
        dynamic=False,
        loops=False,
        left_loops="the accelerator refuses them, and the CPU runs the model",
        xnnpack=False,
        complex=False,
        flat_ids=True,
        shrinks_axes=False,
        plain_operands=True,
        max_rank=4,
    )
    table = GPU_OPS
    hints = (
        Hint(
            "",
            "variable tensors",
            f"{_TARGET}: recurrent layers are unrolled; for batch normalization, export it with training=False",
        ),
        Hint("GATHER", "1D indices|operand 1 has rank", f"{_TARGET}: ids of any rank are flattened"),
        Hint("STRIDED_SLICE", "shrink_axis_mask", f"{_TARGET}: axes are dropped by RESHAPE"),
        Hint("", "[Vv]ersion", f"{_TARGET}: ops are written in the oldest version that does"),
        Hint("WHILE|IF", "", f"{_TARGET}: loops are unrolled where their steps are known"),
        Hint("DYNAMIC_UPDATE_SLICE", "rank", f"{_TARGET}: tensors of rank 4 are updated"),
        Hint("", "[Rr]ank|dimensions|1D-4D", f"{_TARGET}: fewer dimensions where that is possible"),
        Hint("", "operand 1 is computed|SHAPE|dynamic", "convert with --batch 1, or --shape for what else is open"),
        Hint("SHAPE|FILL|BROADCAST_TO|RANGE", "", "convert with --batch 1, or --shape for what else is open"),
        Hint("", "the file has composites", "convert with --composites inline, and without forms of named layers"),
        Hint("", "custom op", "convert with --allow-custom-ops never", rewritten=True),
    )
    partial = True

    def missing(self) -> str:
        spec = importlib.util.find_spec("ai_edge_litert")
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
        if not any(Path(folder).glob("libLiteRt*Accelerator.*") for folder in folders):
            return (
                "this release of ai-edge-litert has no GPU accelerator for this system; pip install -U ai-edge-litert"
            )
        return ""

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.targets.compiled_model import compile_model, not_callable, run_rounds, software

        announce("compile the model")
        with logged(question.log) as log:
            try:
                model = compile_model(question, _ACCELERATORS)
            except (RuntimeError, ValueError) as error:
                text = log.read_text(errors="replace")
                if _NO_DRIVER.search(text):
                    return Answer(software(), unavailable=_DRIVER)
                refused = self.refusals(text) or (Refusal("", str(error).strip()),)
                return Answer(software(), takes=False, refusals=refused)
            accelerated = model.is_fully_accelerated()
            text = log.read_text(errors="replace")
            if _NO_DRIVER.search(text):
                return Answer(software(), unavailable=_DRIVER)
            refused = self.refusals(text)
            if not accelerated and not refused:
                refused = (Refusal("", "it does not say which ops it refuses"),)
            facts = facts_of(text)
            if why := not_callable(question):
                return Answer(software(), refusals=refused, not_run=why, facts=facts)
            announce("run the model")
            try:
                outputs = run_rounds(question, _ACCELERATORS, model)
            except (RuntimeError, ValueError) as error:
                return Answer(
                    software(), takes=False, refusals=(*refused, Refusal("", str(error).strip())), facts=facts
                )
            return Answer(software(), refusals=refused, outputs=outputs, facts=facts)

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        refused = list(reported_errors(log)) if not _COUNTS.search(log) else []
        for block in _REFUSED.finditer(log):
            for line in block["ops"].splitlines():
                op, _, reason = line.partition(": ")
                refused.append(Refusal(op, _unsupported(reason.strip().rstrip("."))))
        return tuple(dict.fromkeys(refused))


def _unsupported(reason: str) -> str:
    return "no such op" if reason == "Operation is not supported" else reason


def facts_of(log: str) -> tuple[tuple[str, str], ...]:
    """Returns the adapter, and how many ops run where; the accelerator counts them only where it refuses some."""
    adapter = _ADAPTER.search(log)
    counts = [(int(match["gpu"]), int(match["cpu"])) for match in _COUNTS.finditer(log)]
    facts = [] if adapter is None else [("GPU", adapter["name"].strip())]
    if counts:
        on_gpu, on_cpu = (sum(column) for column in zip(*counts, strict=True))
        facts.append(("ops on the GPU", f"{on_gpu:,} of {on_gpu + on_cpu:,}"))
    return tuple(facts)
