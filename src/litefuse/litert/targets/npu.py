"""NPUs of several vendors, for which plug-ins of LiteRT's compiler compile parts of files."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

from litefuse.errors import LitefuseError
from litefuse.litert.runtime.litert_library import file_of_package
from litefuse.litert.targets.op_table import OpTable
from litefuse.litert.targets.openvino import OPENVINO_OPS, OpenVINO
from litefuse.litert.targets.question import Answer, Question, Refusal
from litefuse.litert.targets.target import Hint, Target, logged

_ACCELERATORS = "NPU|CPU"
_COMPILER = "tools/apply_plugin_main"
# What it puts in the place of a partition.
_COMPILED = "DISPATCH_OP"

_NO_OP = re.compile(r"op type (?P<number>\d+) is not supported")
_NO_LIBRARY = re.compile(
    r"\S+\.so\S*: (?:cannot open shared object file|undefined symbol)|Failed to load \w+ shared library"
)
_ERROR = re.compile(
    r"^(?:ERROR: (?:\[[^\]]*\] )?|WARNING: \[\S*\] Model not supported: )"
    r"(?P<lines>(?!ERROR: |\[)\S.*(?:\n(?!(?:ERROR|WARNING|INFO): |\[).+)*)",
    re.MULTILINE,
)
_LEFT_OUT = "the plug-in leaves it to the CPU"

_STATE = "with an NPU's code around them, LiteRT 2.3 computes garbage from variables"
_STATEFUL = frozenset({"ASSIGN_VARIABLE", "READ_VARIABLE", "VAR_HANDLE"})

_OPENVINO = re.compile(rb"libopenvino(?:_tensorflow_lite_frontend)?\.so\.(\d\d)(\d)(\d)")

# What the list in Intel's plug-in of ai-edge-litert 2.3 (kSupportedOps) lacks of the ops of OpenVINO's frontend. The
# plug-in looks at hardly anything else of an op.
_NOT_INTEL = """
    ADD_N ARG_MIN BATCH_TO_SPACE_ND BROADCAST_ARGS CEIL COMPLEX_ABS DENSIFY ELU FILL FLOOR LOG_SOFTMAX MATRIX_DIAG NEG
    RANK REDUCE_ANY REDUCE_MIN REDUCE_PROD RELU6 REVERSE_SEQUENCE RFFT2D ROUND SCATTER_ND SEGMENT_SUM SHAPE
    SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT_V SQUEEZE UNIQUE WHERE WHILE ZEROS_LIKE
"""


class Npu(Target):
    """A vendor's plug-in, which leaves to the CPU what it does not take. Its variants say where the vendor's SDK is.

    Args:
        name: The target's name.
        manufacturer: The vendor's name in LiteRT.
        plug_in: Its plug-in among those in LiteRT's package.
        package: The package that has what the plug-in loads; empty for that of the vendor's SDK for LiteRT.
        **flags: Options of the compiler.
    """

    traits = OpenVINO.traits._replace(
        runtime="LiteRT's compiler",
        dynamic=False,
        loops=False,
        left_loops="the plug-in leaves them to the CPU",
        avoided=frozenset(),
        keeps_masks=True,
    )
    table = OpTable("LiteRT's schema")
    hints = (
        Hint("", "garbage", "make each variable an input and an output of the signature: the caller keeps the state"),
        Hint("", "[Vv]ariable tensors", "convert for this target: recurrent layers are unrolled"),
        Hint("WHILE|DYNAMIC_UPDATE_SLICE", "", "convert for this target: loops with known steps are unrolled"),
        Hint("", "", "convert with --allow-custom-ops never", rewritten=True),
    )
    partial = True
    only_named = True

    def __init__(self, name: str, manufacturer: str, plug_in: str, package: str = "", **flags: str) -> None:
        self.name, self.manufacturer, self.flags = name, manufacturer, flags
        self.package = package or f"ai_edge_litert_sdk_{plug_in.partition('/')[0]}"
        self._plug_in = f"vendors/{plug_in}"
        #: The folder of the SDK's libraries; None for that of its package.
        self.sdk: Path | None = None
        #: The vendor's name of the chip; empty for any.
        self.chip = ""

    def choose(self, variant: str) -> None:
        self.chip, _, folder = variant.rpartition(":")
        self.sdk = Path(folder).absolute()
        if not folder or not self.sdk.is_dir():
            raise LitefuseError(
                f"the target {self.name!r} has no variant {variant!r}: the folder {folder!r} does not exist",
                hint="Name the folder of the vendor's libraries, after a chip and a colon if the plug-in needs that.",
            )

    def missing(self) -> str:
        if file_of_package([_COMPILER]) is None or self._compiler_plug_in() is None:
            return f"ai-edge-litert has no plug-in of {self.manufacturer} here: pip install -U ai-edge-litert"
        if self.sdk is None and not importlib.util.find_spec(self.package):
            return f"the SDK of {self.manufacturer} is not installed: {self._how()}"
        return ""

    def _how(self) -> str:
        """Returns how to get what the plug-in loads."""
        package, name = self.package.replace("_", "-"), self.name.partition(":")[0]
        return f"pip install {package}, or name the folder of its libraries, {name}:FOLDER"

    @property
    def libraries(self) -> Path:
        """The folder of what the plug-in loads."""
        return self.sdk or Path(importlib.import_module(self.package).path_to_sdk_libs() or ".")

    def _compiler_plug_in(self) -> Path | None:
        own = [] if self.sdk is None else sorted(self.sdk.glob("libLiteRtCompilerPlugin*"))
        return next(iter(own), file_of_package([self._plug_in]))

    def ask(self, question: Question, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.runtime.model_reader import Graph, Model, Op
        from litefuse.litert.runtime.model_tables import BUILTIN_OPS
        from litefuse.litert.targets.compiled_model import software

        def names(graph: Graph, op: Op) -> tuple[str, ...]:
            return tuple(graph.tensor(index).name for index in op.outputs if index >= 0)

        model = Model(Path(question.model).read_bytes())
        ops = [(graph, op) for graph in model.graphs for op in graph.ops]
        if stateful := [Refusal(op.name, _STATE, names(graph, op)) for graph, op in ops if op.name in _STATEFUL]:
            return Answer(software(), takes=False, refusals=tuple(stateful))
        announce("compile the model")
        made = Path(question.folder) / "made.tflite"
        log = self._compile(question.model, made)
        Path(question.log).write_text(log)
        if lacks := _NO_LIBRARY.search(log):
            return Answer(software(), unavailable=f"{lacks[0]} ({self._how()})")
        if not made.is_file() or not made.stat().st_size:
            return Answer(software(), takes=False, refusals=(Refusal("", _told(log) or "it writes no file"),))
        compiled = Model(made.read_bytes())
        left = [(graph, op) for graph in compiled.graphs for op in graph.ops if op.name != _COMPILED]
        lacking = {BUILTIN_OPS.get(int(match["number"])) for match in _NO_OP.finditer(log)}
        refused = tuple(
            Refusal(op.name, "no such op" if op.name in lacking else _LEFT_OUT, names(graph, op)) for graph, op in left
        )
        partitions = sum(len(graph.ops) for graph in compiled.graphs) - len(left)
        facts = (("partitions", str(partitions)), ("ops on the NPU", f"{len(ops) - len(left):,} of {len(ops):,}"))
        answer = Answer(software(), takes=partitions > 0, refusals=refused, facts=facts)
        return self._run(question._replace(model=str(made)), answer, announce) if answer.takes else answer

    def _compile(self, model: str, made: Path) -> str:
        """Compiles a file; returns what the compiler prints."""
        from litefuse.litert.cpp.watched import run_watched

        plug_in = self._compiler_plug_in()
        assert plug_in is not None
        options = {"cmd": "apply", "model": model, "o": made, "libs": plug_in.parent}
        options |= {"soc_manufacturer": self.manufacturer, "soc_model": self.chip, **self.flags}
        command = [str(file_of_package([_COMPILER])), *(f"--{name}={value}" for name, value in options.items())]
        path = [str(self.libraries), *filter(None, [os.environ.get("LD_LIBRARY_PATH")])]
        ended = run_watched(command, {**os.environ, "LD_LIBRARY_PATH": os.pathsep.join(path)}, self.seconds)
        end = f"\nERROR: it ends with exit code {ended.returncode}" if ended.returncode else ""
        return ended.stdout + ended.stderr + end

    def _run(self, question: Question, answer: Answer, announce: Callable[[str], None]) -> Answer:
        """Runs the compiled file, where this machine can."""
        del question, announce
        return answer._replace(not_run="compiled; not run: this machine has no such NPU")


class IntelNpu(Npu):
    """Intel's plug-in, which has OpenVINO compile for a CPU what it takes, so that it runs anywhere."""

    traits = Npu.traits._replace(
        avoided=OpenVINO.traits.avoided
        | {"ADD_N", "ARG_MIN", "CEIL", "ELU", "FLOOR", "LOG_SOFTMAX", "NEG", "REDUCE_ANY", "REDUCE_MIN", "RELU6"}
        | {"SPLIT_V"},
        keeps_masks=OpenVINO.traits.keeps_masks,
    )
    table = OPENVINO_OPS._replace(
        source="the list in Intel's plug-in of ai-edge-litert 2.3",
        ops={name: limits for name, limits in (OPENVINO_OPS.ops or {}).items() if name not in _NOT_INTEL.split()},
        variables=False,
    )
    hints = (*Npu.hints, Hint("|".join(traits.avoided), "no such op", "convert with --target intel-npu"))
    only_named = False

    def __init__(self) -> None:
        plug_in = "intel_openvino/compiler/libLiteRtCompilerPlugin_IntelOpenvino.so"
        super().__init__("intel-npu", "IntelOpenVINO", plug_in, "openvino", intel_openvino_graph_backends="cpu")

    def missing(self) -> str:
        if why := super().missing():
            return why
        lacking = [name for name in self._needed() if not (self.libraries / name).is_file()]
        return f"{self.libraries} has no {lacking[0]}: {self._how()}" if lacking else ""

    def _needed(self) -> dict[str, str]:
        """Returns the libraries that the plug-in loads, with the release that has them."""
        plug_in = self._compiler_plug_in()
        names = () if plug_in is None else _OPENVINO.finditer(plug_in.read_bytes())
        return {name[0].decode(): "20" + ".".join(part.decode() for part in name.groups()) for name in names}

    def _how(self) -> str:
        release = next(iter(self._needed().values()), "")
        return super()._how().replace(self.package, f"{self.package}=={release}", 1)

    @property
    def libraries(self) -> Path:
        spec = importlib.util.find_spec(self.package)
        folders = list(spec.submodule_search_locations or ()) if spec is not None else []
        return self.sdk or Path(*folders[:1], "libs")

    def _run(self, question: Question, answer: Answer, announce: Callable[[str], None]) -> Answer:
        from litefuse.litert.targets.compiled_model import compile_model, not_callable, run_rounds

        answer = answer._replace(facts=(*answer.facts, ("compiled for", "OpenVINO on the CPU, in place of an NPU")))
        if why := not_callable(question):
            return answer._replace(not_run=why)
        announce("run the model")
        # OpenVINO computes in bfloat16 where a processor has it, and the vendor's library passes no options on.
        if "avx512_bf16" in Path("/proc/cpuinfo").read_text():
            os.environ["ONEDNN_MAX_CPU_ISA"] = "AVX512_CORE_VNNI"
        for name in self._needed():  # what the vendor's library finds under these names, whatever the environment
            ctypes.CDLL(str(self.libraries / name), ctypes.RTLD_GLOBAL)
        with logged(question.log) as log:
            try:
                model = compile_model(question, _ACCELERATORS)
                return answer._replace(outputs=run_rounds(question, _ACCELERATORS, model))
            except (RuntimeError, ValueError) as error:
                why = _told(log.read_text(errors="replace")) or str(error).strip()
                return answer._replace(takes=False, refusals=(*answer.refusals, Refusal("", why)))


Qualcomm = partial(Npu, "qualcomm", "Qualcomm", "qualcomm/compiler/libLiteRtCompilerPlugin_Qualcomm.so")
MediaTek = partial(Npu, "mediatek", "MediaTek", "mediatek/compiler/libLiteRtCompilerPlugin_MediaTek.so")
Samsung = partial(Npu, "samsung", "Samsung", "samsung/compiler/libLiteRtCompilerPlugin_Samsung.so")
GoogleTensor = partial(
    Npu, "google-tensor", "Google", "google_tensor/compiler/libLiteRtCompilerPlugin_google_tensor.so"
)


def _told(log: str) -> str:
    """Returns the last line of the first error that is printed: those before it say where it comes from."""
    error = _ERROR.search(log)
    return "" if error is None else error["lines"].splitlines()[-1].strip()
