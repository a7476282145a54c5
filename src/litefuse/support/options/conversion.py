"""The options of conversion and quantization."""

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
    QUANTIZATIONS,
    RNN_FORMS,
    CompositeForms,
    Dtypes,
    QuantizationForm,
    RequiredComposites,
    RnnForm,
)
from litefuse.support.options.input_shapes import InputShapes
from litefuse.support.options.limits import Limits, local_folder
from litefuse.support.options.names import all_names, chosen_names, listed_names, names_in
from litefuse.support.options.quantization import (
    GRANULARITIES,
    WEIGHT_BITS,
    Granularity,
    IntegerType,
    Preprocess,
    RecipeEntries,
    RepresentativeDataset,
    Rotation,
    WeightBits,
    recipe_entries,
    types_of_io,
)

_FORM = "Quantization"
_READING = "What is read"
_FILE = "The written file"
_OPS = "Ops"
_CHECKS = "Checks"
_DEBUGGING = "Debugging"


@documented
class Quantization(Options):
    """How a model is quantized, with litert-quantizer."""

    form: QuantizationForm | None = option(
        default=None,
        help="Shrink the weights: int8 for products in int8 (dynamic) or float32 (weights), or float16; or compute in "
        "integers: int8 or int16 with {samples}, qat (int8) with the ranges that the model's fake-quantization nodes "
        "learned; or use the smallest weight type per layer that stays within {max_error} (auto, which requires that), "
        "or with {io} or {require_integer} int8 activations, and int16 where they need it.",
        kw_only=False,
        flag="--quantize",
        choices=QUANTIZATIONS,
    )
    samples: RepresentativeDataset | None = option(
        default=None,
        help="Inputs like those that the model will get, for int8, int16 and auto: an .npz file with an array for each "
        "input, whose first axis counts samples or rows; a folder of images; or a function that returns or yields "
        "samples, as FILE.py:FUNCTION.",
        python="Or the samples themselves, or a function: each is a mapping from names of inputs to arrays, the array "
        "of the only input, or a pair of a signature's key and one of these.",
        metavar="FILE.npz|FOLDER|FILE.py:FUNCTION",
        path="read",
    )
    preprocess: Preprocess | None = option(
        default=None,
        help="The function that turns each image of the folder, a PIL.Image.Image, into an input of the model. "
        "Otherwise: RGB, resized, with values 0 to 255 if the model scales them or takes integers, else 0 to 1.",
        metavar="FILE.py:FUNCTION",
        group=_FORM,
        path="read",
    )
    io: tuple[IntegerType, IntegerType] = option(
        default=False,
        converter=types_of_io,
        help="With int8, int16, qat and auto, also make inputs and outputs integers: integer (the form's own type; "
        "int8 with auto) or, with int8 and auto, uint8; or two types, for inputs and outputs, one of which may be "
        "float32.",
        python="True is integer, False is float32.",
        flag="--quantized-io",
        metavar="TYPE[,TYPE]",
        group=_FORM,
    )
    require_integer: bool = option(
        default=False,
        help="With int8, int16, qat and auto, fail if an op does not compute in integers, and list such ops.",
        group=_FORM,
    )
    measure_layers: bool = option(
        default=False, help="Also measure the difference in every tensor of the model.", group=_FORM
    )
    weight_bits: WeightBits = option(
        default=8,
        help="4 for int4 weights where LiteRT has kernels: fully connected layers, convolutions, embeddings.",
        group=_FORM,
        choices=WEIGHT_BITS,
    )
    granularity: Granularity = option(
        default="channel",
        help="Weights that share a scale: those of an output channel, a tensor, or a block of a row (int4, dynamic).",
        group=_FORM,
        choices=GRANULARITIES,
    )
    rotate: Rotation | None = option(
        default=None,
        help="Rotate the weights of fully connected layers and embeddings by a Hadamard matrix before rounding "
        "(dynamic, weights).",
        group=_FORM,
        choices=("hadamard",),
    )
    min_weight_elements: int | None = option(
        default=None,
        help="Do not quantize weights with fewer elements.",
        group=_FORM,
        metavar="N",
        least=0,
        otherwise="1024 with dynamic, 0 with weights",
    )
    keep_float: tuple[str, ...] = option(
        default=(),
        converter=all_names,
        help="Keep in float the ops whose output name matches one of these regular expressions.",
        group=_FORM,
        metavar="REGEX",
        is_repeated=True,
    )
    keep_float_ops: tuple[str, ...] = option(
        default=(),
        converter=all_names,
        help="Keep all ops of these kinds in float, such as SOFTMAX.",
        group=_FORM,
        flag="--keep-float-op",
        metavar="OP",
        is_repeated=True,
    )
    recipe: RecipeEntries | None = option(
        default=None,
        help="A litert-quantizer recipe, which says how to quantize each op; replaces {form}.",
        group=_FORM,
        metavar="FILE.json",
        path="read",
    )
    max_error: float | None = option(
        default=None,
        help="Fail if an output changes by more than this, relative to its largest element.",
        group=_FORM,
        metavar="E",
        least=0,
    )

    @classmethod
    def of(
        cls, value: QuantizationForm | Quantization | Mapping[str, Any] | None, argument: str = "it"
    ) -> Quantization:
        """Makes it of what a user gave: an object, a mapping, or the form."""
        return cls._of(value, argument)

    @property
    def scheme(self) -> QuantizationForm | None:
        """The form, of which a recipe is one; None if nothing is quantized."""
        if self.recipe is not None:
            return "recipe"
        return "int8" if self.has_mixed_activations else self.form

    @property
    def has_mixed_activations(self) -> bool:
        """Whether layers have activations of int16 where the outputs need them, and of int8 elsewhere."""
        return self.form == "auto" and (self.require_integer or self.has_integer_ends)

    @property
    def has_integer_ends(self) -> bool:
        """Whether inputs or outputs are integers."""
        return any(self.io)

    @property
    def entries(self) -> tuple[Mapping[str, Any], ...]:
        """The entries of the recipe; none without a recipe."""
        return () if self.recipe is None else recipe_entries(self.recipe)

    @property
    def block_size(self) -> int:
        """How many weights in a row share a scale; 0 if they are not in blocks."""
        kind, _, size = self.granularity.partition(":")
        return int(size) if kind == "block" else 0

    def text(self) -> str:
        """Returns what differs from the form's own choices, for reports; empty if nothing does."""
        choices = [f"int{self.weight_bits} where LiteRT has kernels for it"] if self.weight_bits != 8 else []
        if self.block_size:
            choices.append(f"a scale for each {self.block_size}")
        elif self.granularity != "channel":
            choices.append("a scale for each tensor")
        if self.rotate:
            choices.append("rotated")
        return ", ".join(choices)


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
        "(gpu), tflite-micro (micro), an Arm Ethos-U NPU (ethos-u), or OpenVINO (openvino). For gpu and ethos-u, "
        "recurrent layers become one op or are unrolled; for micro, these or a loop, whichever is smallest; for litert "
        "and openvino, loops. For gpu, micro and ethos-u, all sizes are fixed: the batch is 1 unless {batch} or "
        "{shapes} sets it.",
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
