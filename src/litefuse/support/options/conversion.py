"""The options of conversions, and of all that writes files."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from litefuse.errors import LitefuseError
from litefuse.support.options.declared import Options, declared_options, documented, option
from litefuse.support.options.forms import (
    DTYPES,
    RNN_FORMS,
    CompositeForms,
    Dtypes,
    RequiredComposites,
    RnnForm,
)
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import Limits, local_folder
from litefuse.support.options.names import all_names, chosen_names, listed_names, names_in
from litefuse.support.options.quantization import Quantization

_READING = "What is read"
_FILE = "The written file"
_OPS = "Ops"
_CHECKS = "Checks"
_DEBUGGING = "Debugging"


@documented
class Checks(Options):
    """The checks of a conversion. ``True`` stands for the defaults, ``False`` for none."""

    fusions: bool | Literal["thorough"] = option(
        default=True,
        help="Apply a fusion only if fused op and composite agree on random inputs (yes); thorough: on all kinds of "
        "inputs, however long it takes; no: without comparing them.",
        python="In Python, yes is True and no is False.",
        flag="--check-fusions",
        group=_CHECKS,
        choices=("yes", "no", "thorough"),
    )
    custom_ops: bool = option(
        default=False,
        help="Compare kernels of composites even with bodies that look like placeholders.",
        flag="--check-custom-ops",
        group=_CHECKS,
    )
    targets: bool | Literal["required"] = option(
        default=True,
        help="Compile and run the file with the software of each target other than cpu, if installed (yes); required: "
        "fail with exit code 5 if it is not installed, refuses an op or computes other numbers.",
        python="In Python, yes is True and no is False.",
        flag="--check-target",
        group=_CHECKS,
        choices=("yes", "no", "required"),
    )

    file: bool = option(
        default=True,
        help="Call each signature of the file in LiteRT, and keep the file only if it runs.",
        flag="--check-file/--no-check-file",
        group=_CHECKS,
    )

    @classmethod
    def of(cls, value: bool | Literal["thorough"] | Checks | Mapping[str, Any] | None, argument: str = "it") -> Checks:
        """Makes the checks of what a user gave."""
        if value is False:
            return cls(**{known.name: False for known in declared_options(cls) if known.default is True})
        return cls() if value is True else cls._of(value, argument)


@documented
class Graph(Options):
    """The part of a SavedModel's or a frozen graph that is converted."""

    tags: tuple[str, ...] | None = option(
        default=None,
        help="The tags of the graph to convert.",
        metavar="A,B",
        group=_READING,
        otherwise="serve",
        converter=chosen_names,
    )
    inputs: tuple[str, ...] | None = option(
        default=None,
        converter=chosen_names,
        help="The tensors that are a frozen graph's inputs, node or node:index, and their names.",
        flag="--input-arrays",
        metavar="A,B",
        group=_READING,
        otherwise="its placeholders",
    )
    outputs: tuple[str, ...] | None = option(
        default=None,
        converter=chosen_names,
        help="The tensors that are a frozen graph's outputs.",
        flag="--output-arrays",
        metavar="A,B",
        group=_READING,
        otherwise="the one that nothing reads",
    )

    @classmethod
    def of(cls, value: Graph | Mapping[str, Any] | None, argument: str = "it") -> Graph:
        """Makes it of what a user gave."""
        return cls._of(value, argument)


@documented
class Debugging(Options):
    """Ways to look into a conversion."""

    dump_ir: Path | None = option(
        default=None,
        kw_only=False,
        converter=local_folder,
        help="Write the MLIR module as text after each pass that changes it, and index.txt with the time of every "
        "pass, to this folder. It must be new, empty or from an earlier conversion.",
        group=_DEBUGGING,
        metavar="DIR",
        path="written",
    )
    dump_ir_after: tuple[str, ...] = option(
        default=(),
        converter=all_names,
        help="With {dump_ir}, write the module only after these passes.",
        group=_DEBUGGING,
        metavar="PASS",
        is_repeated=True,
    )
    tensor_names: bool = option(
        default=False,
        help="Also write the names of tensors inside the model to a file for tflite-micro, which needs none.",
        group=_DEBUGGING,
    )
    in_process: bool = option(
        default=False,
        help="Convert in this process, so that breakpoint() works in plug-ins. TensorFlow must not be loaded.",
        group=_DEBUGGING,
    )

    @classmethod
    def of(
        cls, value: Debugging | Mapping[str, Any] | str | os.PathLike[str] | None, argument: str = "it"
    ) -> Debugging:
        """Makes it of what a user gave: an object, a mapping, or the folder."""
        return cls._of(value, argument)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dump_ir_after and self.dump_ir is None:
            raise LitefuseError(
                "dump_ir_after is given without dump_ir",
                hint="Pass dump_ir as well (on the command line, --dump-ir DIR).",
            )


class Writing(Options):
    """The options of files that are written, with or without a conversion."""

    quantize: Quantization = option(
        default=None,
        kw_only=False,
        converter=Quantization.of,
        help="The form of a quantization, or a ``litefuse.Quantization`` with more of it.",
    )
    min_runtime: str | None = option(
        default=None,
        help="The oldest release of TensorFlow Lite, such as 2.14, or of LiteRT, such as litert:1.2, that must run the "
        "file. Weights take a type that it supports; an op that it lacks is an error.",
        metavar="[litert:]VERSION",
        group=_FILE,
    )
    metadata: Mapping[str, Any] | str | os.PathLike[str] | None = option(
        default=None,
        help="TensorFlow Lite Metadata to add to the file: descriptions, labels and other associated files.",
        python='``{"labels": path}`` is a file with a line for each class, for the output that has as many elements.',
        metavar="FILE.json",
        path="read",
        group=_FILE,
    )
    rename: Mapping[str, str] | None = option(
        default=None,
        help="New names of inputs and outputs. Samples, and shapes that are set, have the old ones.",
        metavar="[SIGNATURE:]OLD=NEW",
        is_repeated=True,
        group=_FILE,
    )


def _silent(step: str) -> None:
    del step


class OnSteps(Options):
    """Announcements of the steps of a conversion."""

    progress: bool = option(
        default=False,
        help="Show the stages and their times: in a terminal while they last, in a notebook below the cell, elsewhere "
        "as lines on standard error.",
        flag="-",
    )
    on_step: Callable[[str], None] = option(
        default=_silent,
        help="Called with the name of each step at its start, and where samples are run, with the number of those that "
        "are done and the time that is left.",
        flag="-",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not callable(self.on_step):
            raise LitefuseError(f"on_step must be a function, not {self.on_step!r}")


def _allowed(value: bool | str | Collection[str], argument: str = "it") -> bool | Literal["never"] | frozenset[str]:
    if isinstance(value, bool) or value == "all":
        return bool(value)
    return "never" if value == "never" else frozenset(names_in(value, argument))


class Conversion(OnSteps, Writing):
    """The options of :func:`litefuse.convert`."""

    signatures: tuple[str, ...] | None = option(
        default=None,
        converter=listed_names,
        help="The signatures to convert.",
        flag="--signature",
        metavar="KEY",
        is_repeated=True,
        otherwise="all",
    )
    graph: Graph = option(
        default=None,
        help="The tags of a SavedModel, inputs and outputs of a frozen graph: ``litefuse.Graph``.",
        converter=Graph.of,
    )
    shapes: Mapping[str, Sequence[int | None]] | None = option(
        default=None,
        help="Shapes of inputs; ? keeps a size of the model.",
        python="None is ?.",
        flag="--shape",
        metavar="[SIGNATURE:]NAME=1,2,3",
        is_repeated=True,
    )
    batch: int | None = option(
        default=None, help="The batch size: the first size of every input whose first size is not fixed.", metavar="N"
    )
    target: tuple[str, ...] = option(
        default="cpu",
        converter=all_names,
        help="Where the model will run: LiteRT's interpreter (cpu), its CompiledModel on the CPU (litert) or GPU "
        "(gpu), tflite-micro (micro), an Arm Ethos-U NPU (ethos-u), OpenVINO (openvino), LiteRT.js in a browser (web), "
        "or an NPU of Intel (intel-npu) or another vendor. For gpu and NPUs, recurrent layers become one op or are "
        "unrolled; for micro, these or a loop, whichever is smallest; for litert, openvino and web, loops. For gpu, "
        "micro, web and NPUs, all sizes are fixed: the batch is 1 unless {batch} or {shapes} sets it.",
        is_repeated=True,
    )
    composites: CompositeForms = option(
        default="fuse",
        converter=CompositeForms.of,
        help="What composites become, all or the named one: fuse (apply their fusion), builtin (the same, but never a "
        "custom op), custom (a custom op), keep (a STABLEHLO_COMPOSITE, which carries its body), generate (the same, "
        "with a C++ kernel generated from the body, in a folder beside the model), inline (their body). For recognized "
        "layers: 'odml.*=keep'.",
        metavar="[NAME=]FORM",
        is_repeated=True,
    )
    rnn: RnnForm = option(
        default="auto",
        help="What recurrent layers become: one op, a loop (unless annotated), or whichever is faster.",
        choices=RNN_FORMS,
    )
    require_fused: RequiredComposites = option(
        default=False,
        converter=RequiredComposites.of,
        help="Fail unless composites are fused: all, or those with these names or patterns. With 'checked', also fail "
        "unless each was compared with its body.",
        python="True is all.",
        metavar="all|[checked,]NAME,...",
    )
    allow_custom_ops: bool | Literal["never"] | frozenset[str] = option(
        default=False,
        converter=_allowed,
        help="Which TensorFlow ops become custom ops: all that LiteRT lacks (all), none (never), or the named ones in "
        "any case. Otherwise those that LiteRT lacks and litefuse has a kernel for.",
        python="True is all.",
        metavar="all|never|OP,...",
        group=_OPS,
    )
    dtypes: Dtypes = option(
        default="keep",
        help="narrow: convert float64 to float32 and complex128 to complex64, inputs and outputs included, and compute "
        "int64 ops that LiteRT lacks in int32; widen: convert float16 and bfloat16 to float32, inputs and outputs "
        "included, such as in a mixed-precision model.",
        choices=DTYPES,
        group=_OPS,
    )
    generate_kernels: bool = option(
        default=False,
        help="Also generate C++ kernels for chains of other ops that make the whole model faster.",
        group=_OPS,
    )
    checks: Checks = option(
        default=True, help="What is checked: True, False, ``thorough``, or ``litefuse.Checks``.", converter=Checks.of
    )
    limits: Limits = option(
        default=None, help="What the conversion may take: seconds, or ``litefuse.Limits``.", converter=Limits.of
    )
    debug: Debugging = option(
        default=None,
        help="A folder for the modules of the conversion, or ``litefuse.Debugging``.",
        converter=Debugging.of,
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        self.input_shapes  # noqa: B018  it checks them

    @property
    def input_shapes(self) -> InputShapes:
        """The shapes to set for the inputs."""
        return InputShapes.of(self.shapes, self.batch)

    @property
    def chosen_ops(self) -> frozenset[str]:
        """The ops that become custom ops in any case."""
        return self.allow_custom_ops if isinstance(self.allow_custom_ops, frozenset) else frozenset()

    @property
    def to_send(self) -> Conversion:
        """These options for another process, without what runs in this one."""
        return replace(self, on_step=_silent, quantize=replace(self.quantize, samples=None, preprocess=None))


class FileQuantization(OnSteps, Writing):
    """The options of :func:`litefuse.quantize`."""

    checks: Checks = option(
        default=True,
        help="Whether the written file is checked, or ``litefuse.Checks(file=...)``.",
        converter=Checks.of,
        only=("file",),
    )
    limits: Limits = option(
        default=None,
        help="What the quantization may take: seconds, or ``litefuse.Limits``.",
        converter=Limits.of,
        only=("timeout", "memory", "temporary_folder"),
    )
