"""Arm Ethos-U NPUs, for which Vela compiles files."""

from __future__ import annotations

import csv
import importlib
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from litefuse.errors import LitefuseError
from litefuse.litert.targets.micro import Micro
from litefuse.litert.targets.op_table import Limits, OpTable
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.litert.targets.target import Hint, Target, installed, logged, not_installed

_PACKAGE = "ethos-u-vela"
# As Vela names them: the generation of the NPU, and the MACs in a cycle.
_ACCELERATORS = (
    *("ethos-u55-32", "ethos-u55-64", "ethos-u55-128", "ethos-u55-256", "ethos-u65-256", "ethos-u65-512"),
    *("ethos-u85-128", "ethos-u85-256", "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048"),
)

_WARNING = re.compile(
    r"^Warning \(supported operators\) operator: (?P<op>\S+), ofm: '(?P<name>[^\n]*)'\nReason: (?P<reason>[^\n]*)\n"
    r"(?P<limit>[^\n]*)",
    re.MULTILINE,
)
_OF_TENSOR = re.compile(r" \([^()]*\)$| on tensor [^\n]*$|^Operation has ")
# How the compilation ends where Vela knows an op, but not in this form.
_INVALID = re.compile(
    r"(?P<op>[A-Z][A-Z0-9_]*) '(?P<name>[^\n]*)' Does not have valid TFLite Semantics\.(?P<why>(?:\n - .*)*)"
)
_DYNAMIC = re.compile(r"^Tensor '[^\n]*' has a dynamic signature", re.MULTILINE)

_QUANTIZE = "--quantize int8 --quantized-io integer and --samples"

# Of Vela 5.2, ``vela --supported-ops-report``: its ops for Ethos-U55 and Ethos-U65, and the dtypes and constant sizes
# that hold for all of them. Limits on single ops, such as on strides, are not in it.
_ANY = """
    ABS ADD ARG_MAX AVERAGE_POOL_2D BATCH_MATMUL CONCATENATION CONV_2D DEPTHWISE_CONV_2D ELU EXP EXPAND_DIMS
    FULLY_CONNECTED GELU HARD_SWISH LEAKY_RELU LOG LOGISTIC MAXIMUM MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NEG PACK
    PAD PADV2 PRELU QUANTIZE REDUCE_MAX REDUCE_MIN RELU RELU6 RELU_0_TO_1 RELU_N1_TO_1 RESIZE_BILINEAR
    RESIZE_NEAREST_NEIGHBOR REVERSE_V2 RSQRT SOFTMAX SPLIT SPLIT_V SQUARED_DIFFERENCE SQUEEZE SUB SUM TANH TILE
    TRANSPOSE TRANSPOSE_CONV UNIDIRECTIONAL_SEQUENCE_LSTM UNPACK
"""

ETHOS_U_OPS = OpTable(
    "Vela 5.2's report on supported ops, for Ethos-U55",
    ops={
        **{name: Limits() for name in _ANY.split()},
        "RESHAPE": Limits(constant=(1,)),
        "STRIDED_SLICE": Limits(constant=(1, 2, 3)),
        "SLICE": Limits(constant=(1, 2)),
    },
    every=Limits(dtypes=frozenset({"int8", "uint8", "int16", "int32"})),
)


class EthosU(Target):
    """Vela, the compiler for the NPU; it leaves what the NPU does not take to tflite-micro on the CPU beside it."""

    name = "ethos-u"
    # Those of tflite-micro, to which Vela leaves ops, WHILE and its subgraphs among them.
    traits = Micro.traits._replace(
        runtime="Vela",
        left_loops="Vela leaves them to the CPU",
        int4=(),
        names=True,  # Vela says by them what it leaves to the CPU
        # The last five run on the NPU, but litert-quantizer makes no integers of them.
        avoided=Micro.traits.avoided
        | {"REVERSE_V2", "SELECT_V2", "LEAKY_RELU", "MINIMUM", "NEG", "PRELU", "REDUCE_MAX"},
    )
    table = ETHOS_U_OPS
    hints = (
        Hint("QUANTIZE|DEQUANTIZE", "", "convert with --quantized-io: inputs and outputs are integers, too"),
        Hint("", "[Ff]loat|quantization parameters", f"convert with --target ethos-u, {_QUANTIZE}"),
        Hint("WHILE|UNIDIRECTIONAL_SEQUENCE_LSTM", "", f"convert with --target ethos-u, {_QUANTIZE}"),
        Hint("RESHAPE|SHAPE|FILL|BROADCAST_TO", "", "convert with --target ethos-u, which fixes sizes"),
        Hint("", "custom op", "convert with --allow-custom-ops never", rewritten=True),
    )
    partial = True
    #: The accelerator that is compiled for. What the others take differs little, but for Ethos-U85.
    accelerator = "ethos-u55-128"

    def choose(self, variant: str) -> None:
        if variant not in _ACCELERATORS:
            raise LitefuseError(
                f"the target 'ethos-u' has no variant {variant!r}", hint=f"Choose from {', '.join(_ACCELERATORS)}."
            )
        self.accelerator = variant

    def missing(self) -> str:
        return not_installed("Vela", "ethosu", "micro")

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        software = installed("Vela", _PACKAGE)
        folder = Path(question.folder)
        model = folder / "model.tflite"  # Vela names its files after it
        if Path(question.model) != model:
            shutil.copyfile(question.model, model)
        announce("compile the model")
        vela: Any = importlib.import_module("ethosu.vela.vela")
        made = str(folder / "made")
        with logged(question.log) as log:
            try:
                vela.main(
                    [
                        str(model),
                        "--accelerator-config",
                        self.accelerator,
                        "--output-dir",
                        made,
                        "--verbose-performance",
                    ]
                )
                failure = ""
            except (Exception, SystemExit) as error:  # noqa: BLE001  whatever the compiler raises
                failure = str(error)
        text = log.read_text(errors="replace")
        if not any(Path(made).glob("*_summary_*.csv")):
            if (invalid := _INVALID.search(failure or text)) is not None:
                why = invalid["why"].strip(" \n-") or "not in this form"
                return Answer(software, takes=False, refusals=(Refusal(invalid["op"], why, (invalid["name"],)),))
            why = failure or next(
                reversed([line.strip() for line in text.splitlines() if line.strip()]), "it says nothing"
            )
            return Answer(software, takes=False, refusals=(Refusal("", why),))
        refused = self.refusals(text)
        named = {name for refusal in refused for name in refusal.names}
        left = [name for target, name in _layers(Path(made)) if target == "CPU" and name not in named]
        refused += tuple(Refusal("", "Vela leaves it to the CPU", (name,)) for name in dict.fromkeys(left))
        facts = [("compiled for", self.accelerator), *_facts(Path(made))]
        if _DYNAMIC.search(text):
            facts.append(("sizes", "Vela takes those that are dynamic for 1"))
        return Answer(
            software, refusals=refused, not_run="compiled; not run: this machine has no NPU", facts=tuple(facts)
        )

    def refusals(self, log: str) -> tuple[Refusal, ...]:
        return tuple(Refusal(warning["op"], _reason(warning), (warning["name"],)) for warning in _WARNING.finditer(log))


def _reason(warning: re.Match[str]) -> str:
    """Returns the reason without the names of tensors, so that equal ones are counted together."""
    reason = _OF_TENSOR.sub("", warning["reason"].strip())
    if reason == "Unsupported opType":
        return "no such op"
    return f"{reason}: {warning['limit'].strip()}" if warning["limit"].strip() else reason


def _layers(made: Path) -> Iterator[tuple[str, str]]:
    """Yields where each operator runs, and the name of its result; one of the file may become many."""
    for path in made.glob("*_per-layer.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield row["Target"], row["Name"]


def _facts(made: Path) -> Iterator[tuple[str, str]]:
    targets = [target for target, _ in _layers(made)]
    if targets:
        on_npu = targets.count("NPU")
        yield "operators on the NPU", f"{on_npu:,} of {len(targets):,} ({on_npu / len(targets):.1%})"
    for path in made.glob("*_summary_*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                yield "MACs", f"{int(float(row['nn_macs'])):,}"
                yield "SRAM", f"{float(row['sram_memory_used']):,.1f} KiB"
                yield "flash", f"{float(row['off_chip_flash_memory_used']):,.1f} KiB"
                yield "time, by Vela's estimate", f"{float(row['inference_time']) * 1000:,.2f} ms"
