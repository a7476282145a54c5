"""LiteRT's kernels, its runtime and its Python bindings."""

from __future__ import annotations

from litefuse.engine.faults.fault import RUNTIME_VERSION, Component, Fault

__all__ = ["RUNTIME"]

_LEGALIZE = "litefuse.legalize"
_FINISHING = "litefuse.finishing"
_BRANCH_RESULTS = "litefuse.control_flow.branch_results.CopyBranchResults"
_OUTLINE = "litefuse.control_flow.outline_loops.OutlineLoops"
_STATES = f"{_FINISHING}.initialize_states.InitializeStates"
_SHAPES = f"{_FINISHING}.prepared_shapes.PrepareShapes"
_REVERSE = f"{_LEGALIZE}.arrays.moved_elements.Reverse"
_TRANSFORM = f"{_LEGALIZE}.arithmetic.fourier.RealFourierTransform"
_SOUNDNESS = "litefuse.runtime.soundness.check_soundness"
_INTERPRETER = "litefuse.runtime.interpreter.Interpreter"


def _fault(name: str, what: str, *places: str, unchecked: str = "", upstream: str = "") -> Fault:
    return Fault(name, Component.KERNELS, what, RUNTIME_VERSION, places, unchecked, upstream)


def _of_bindings(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.RUNTIME_BINDINGS, what, RUNTIME_VERSION, places)


RUNTIME: tuple[Fault, ...] = (
    _fault(
        "masked-place",
        "STRIDED_SLICE takes the first place of a dimension that it drops if the begin mask has the bit of it, where "
        "TensorFlow takes the place that is named.",
        f"{_LEGALIZE}.arrays.strided_slice.PlaceDespiteMask",
    ),
    _fault(
        "equality-of-bytes",
        "EQUAL of uint8 ends the process.",
        f"{_LEGALIZE}.dtypes.widened.Widened",
    ),
    _fault(
        "mean-of-bytes",
        "MEAN of uint8 is that of quantized numbers: 0 without a scale.",
        f"{_LEGALIZE}.arithmetic.mean.IntegerMean",
    ),
    _fault(
        "reversal-of-nothing",
        "REVERSE_V2 along no dimension ends the process.",
        _REVERSE,
    ),
    _fault(
        "reversal-of-dimensions-apart",
        "REVERSE_V2 fails along dimensions that are not side by side.",
        _REVERSE,
        "litefuse.ir.builder.Builder.reverse",
    ),
    _fault(
        "segment-without-elements",
        "SEGMENT_SUM fails if a segment is left out.",
        f"{_LEGALIZE}.arrays.segments.Segment",
    ),
    _fault(
        "transform-of-other-lengths",
        "RFFT2D refuses lengths that are no powers of two.",
        _TRANSFORM,
        upstream="https://github.com/tensorflow/tensorflow/issues/84171",
    ),
    _fault(
        "transform-of-one",
        "RFFT2D of the length 1 is wrong.",
        _TRANSFORM,
    ),
    _fault(
        "extreme-of-nothing",
        "REDUCE_MAX and REDUCE_MIN of no elements are the least and the largest finite float, in XNNPACK infinities.",
        f"{_LEGALIZE}.arrays.many_dimensions.ExtremeOfNone",
    ),
    _fault(
        "volumes-in-groups",
        "CONV_3D takes one group of channels only; the engine writes those of several.",
        f"{_LEGALIZE}.windows.grouped_volumes.GroupedVolumes",
    ),
    _fault(
        "blocks-of-some-dimensions",
        "SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND take blocks of all dimensions between the batch and the channels "
        "only; the engine writes others.",
        f"{_LEGALIZE}.windows.blocks.Blocks",
    ),
    _fault(
        "quantized-to-a-narrow-range",
        "QUANTIZE gives the first number too, which a narrow range leaves out.",
        f"{_LEGALIZE}.dtypes.quantization.FakeQuantize",
    ),
    _fault(
        "branch-result-twice",
        "IF takes each result out of the branch, and finds nothing where a value is returned for the second time "
        "(tflite/kernels/if.cc).",
        _BRANCH_RESULTS,
    ),
    _fault(
        "composite-result-twice",
        "STABLEHLO_COMPOSITE takes each result out of its body, as IF does.",
        _BRANCH_RESULTS,
    ),
    _fault(
        "variable-in-a-later-place",
        "WHILE writes the next values over the present ones one after the other: a variable that becomes a later one "
        "has been overwritten by then.",
        _OUTLINE,
    ),
    _fault(
        "loop-that-grows-from-nothing",
        "WHILE takes a first size of 0 and one of 1 for equal, keeps the memory, and fails (tflite/kernels/while.cc).",
        _OUTLINE,
    ),
    _fault(
        "packed-shape",
        "PACK of sizes is computed in each call, though they are known when the model is prepared: so what is "
        "reshaped to them is prepared in the middle of a call.",
        _SHAPES,
    ),
    _fault(
        "slice-of-known-sizes",
        "SLICE with computed sizes gets its shape in each call, though they are known when the model is prepared.",
        _SHAPES,
    ),
    _fault(
        "range-of-floats",
        "RANGE of floats gets its shape in each call, though its limits are known when the model is prepared.",
        "litefuse.simplify.neutral_ops",
    ),
    _fault(
        "constant-state",
        "The state of an LSTM op that is a constant is not in the file, begins with zeros, and is kept between calls.",
        _STATES,
    ),
    _fault(
        "state-that-is-prepared-in-a-call",
        "The state of an LSTM op that is prepared in the middle of a call has no memory, which ends the process.",
        _STATES,
    ),
    _fault(
        "state-of-the-first-batch",
        "The state of an LSTM op of a size that is known before the call keeps the memory of the first batch: larger "
        "ones are written beyond it.",
        _STATES,
        unchecked="What lies beyond that memory is another thing each time; most often nothing that matters.",
    ),
    _fault(
        "merged-directions",
        "BIDIRECTIONAL_SEQUENCE_LSTM that concatenates both directions is wrong for batches of more than one, unless "
        "time comes first.",
        "litefuse.fusions.lstm.bidirectional_sequence_lstm",
    ),
    _fault(
        "outputs-behind-two-gigabytes",
        "The list of a subgraph's outputs is looked for within the first 2 GB of a file only.",
        "litefuse.verify.layers.observed.ObservedCopy",
        unchecked="It takes a file of more than 2 GB.",
    ),
    _fault(
        "unread-output",
        "An output of a custom op that nothing reads gets no memory.",
        "litefuse.runtime.outputs.Outputs",
    ),
    _fault(
        "op-without-its-operand",
        "An op that lacks an operand that its kernel reads ends the process.",
        _SOUNDNESS,
        "litefuse.runtime.builtin_ops",
    ),
    _fault(
        "value-of-a-later-op",
        "An op that takes a value that is computed later, or by no op, runs nevertheless.",
        _SOUNDNESS,
    ),
    _fault(
        "subgraph-that-calls-itself",
        "A subgraph that calls itself ends the process.",
        _SOUNDNESS,
    ),
    _fault(
        "strings-beyond-their-tensor",
        "Strings whose offsets point out of their tensor are read there, which ends the process.",
        _SOUNDNESS,
    ),
    _of_bindings(
        "name-that-is-no-text",
        "A signature with names that are no UTF-8 cannot be asked for: a UnicodeDecodeError is raised.",
        _SOUNDNESS,
    ),
    _of_bindings(
        "message-that-is-no-text",
        "An error whose message is no UTF-8 becomes a UnicodeDecodeError.",
        _INTERPRETER,
    ),
    _of_bindings(
        "repeated-messages",
        "An error repeats the messages of all errors before it.",
        _INTERPRETER,
    ),
    _of_bindings(
        "scalar-object",
        "Of an input that is a scalar object, its address is taken for the bytes of the string.",
        _INTERPRETER,
    ),
    _of_bindings(
        "scalar-characters",
        "Of an input that is a scalar of characters, each is taken for four bytes.",
        _INTERPRETER,
    ),
    _of_bindings(
        "result-without-elements",
        "A result without elements cannot be read: a ValueError is raised.",
        f"{_INTERPRETER}.get_tensor",
    ),
    _of_bindings(
        "input-that-is-called-self",
        "The runner of a signature cannot be given an input of the name self.",
        "litefuse.runtime.interpreter.SignatureRunner",
    ),
)
"""In the order of what they are about."""
