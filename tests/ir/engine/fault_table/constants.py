"""Faults in the engine's constant folding, and in its rewrites of ops on constants."""

from __future__ import annotations

from tests.ir.engine.fault_table.fault import ENGINE_VERSION, Component, Fault

_HIDDEN = "litefuse.ir.engine.hidden_constants"
_QUOTIENT = "litefuse.passes.legalize.arithmetic.division.quotient"
_KEEP_ZEROS = "litefuse.passes.legalize.zero_operands.keep_zero_operands"
_CHECK = "litefuse.passes.weights.lowered_constants.check_constants"
_NEUTRAL = "litefuse.passes.simplify.neutral_ops"
_PROCESS = "litefuse.support.processes.process"
_STRINGS = "litefuse.passes.legalize.strings.strings"


def _fault(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.ENGINE, what, ENGINE_VERSION, places)


CONSTANTS: tuple[Fault, ...] = (
    _fault(
        "transposed-subtrahend",
        "If a transposition is subtracted from a constant of the same rank, the transposition is moved behind the "
        "difference, and the constant is subtracted instead.",
        _HIDDEN,
    ),
    _fault(
        "transposed-divisor",
        "If a constant of the same rank is divided by a transposition, the transposition is moved behind the "
        "quotient, and the constant becomes the divisor instead.",
        _HIDDEN,
    ),
    _fault(
        "transposed-negative",
        "The sum of a constant and a negated value becomes a difference, whose operands are swapped if a "
        "transposition is moved behind it.",
        _HIDDEN,
    ),
    _fault(
        "transposed-reciprocal",
        "A reciprocal becomes a division of 1, whose operands are swapped if a transposition is moved behind it.",
        _HIDDEN,
        "litefuse.passes.legalize.arithmetic.division.Reciprocal",
    ),
    _fault(
        "transposed-open-reshape",
        "If a transposition is moved behind a reshape, a dynamic dimension becomes -1 in the result type, which is "
        "then refused.",
        _HIDDEN,
        "litefuse.passes.simplify.transpositions.reshape_first",
    ),
    _fault(
        "norm-of-all",
        "A division by the norm of all elements becomes L2_NORMALIZATION, which divides by the norms of the rows.",
        _HIDDEN,
    ),
    _fault(
        "bound-of-norm",
        "A division by a norm with any small bound, such as sqrt(max(sum(x * x), 1e-24)) or sqrt(sum(x * x) + 1e-4), "
        "becomes L2_NORMALIZATION, whose bound is 1e-6; also if the bound is behind the root.",
        _HIDDEN,
    ),
    _fault(
        "largest-bound",
        "A minimum or maximum with the largest or the lowest finite float is dropped, by the exporter too, if both "
        "have one shape, though an infinity exceeds it.",
        "litefuse.passes.legalize.arithmetic.clip.LargestBound",
    ),
    _fault(
        "cancelled-addends",
        "Constants that are added one after the other are added up, whatever is rounded in between: (x + 1e8) + -1e8 "
        "becomes x, and x plus twice the largest float infinity or NaN.",
        _HIDDEN,
    ),
    _fault(
        "one-hot-of-int64",
        "A comparison of int64 with the numbers from 0 on becomes ONE_HOT, which only looks at the lower 32 bits.",
        _HIDDEN,
    ),
    _fault(
        "smallest-of-softmax",
        "The place of the smallest element of a softmax becomes that of its operand, though several may be 0.",
        _HIDDEN,
    ),
    _fault(
        "product-with-int8-constant",
        "A product with a constant int8 matrix becomes FULLY_CONNECTED, which supports int8 with quantization scales "
        "only; the module is refused.",
        _HIDDEN,
    ),
    _fault(
        "zero-factor",
        "A product with 0 becomes a constant of the result's type, which has no elements if a dimension is dynamic.",
        _HIDDEN,
        _KEEP_ZEROS,
        _CHECK,
    ),
    _fault(
        "zero-scale",
        "The scale 0 of a batch normalization becomes a factor, and the product a constant without elements.",
        _KEEP_ZEROS,
    ),
    _fault(
        "zero-times-infinity",
        "A product with 0 becomes 0, even if the other factor may be infinite.",
        _HIDDEN,
    ),
    _fault(
        "zero-logarithm",
        "Xlogy and similar ops become products and selections; with a constant 0, their zeros are constants without "
        "elements if a dimension is dynamic, and scalars in halves.",
        _QUOTIENT,
        "litefuse.passes.legalize.dtypes.widened.Widened",
    ),
    _fault(
        "zeros-of-another-shape",
        "A sum with ZerosLike becomes the other operand if both types are the same, though a dynamic dimension of that "
        "operand may be 1 and be broadcast.",
        _KEEP_ZEROS,
    ),
    _fault(
        "constants-of-open-shape",
        "The constants in the decomposition of Lgamma get the operand's type; they have no elements if a dimension is "
        "dynamic.",
        "litefuse.passes.legalize.arithmetic.special_functions.gamma",
        _CHECK,
    ),
    _fault(
        "reshape-to-open-shape",
        "A constant that is reshaped to a dynamic shape becomes a constant of that shape, which has no elements.",
        _HIDDEN,
    ),
    _fault(
        "infinite-constants",
        "By default, infinite constants become the largest finite float.",
        "litefuse.ir.engine.lowering.lower",
        "litefuse.passes.legalize.arithmetic.comparison.classification",
        "litefuse.passes.legalize.training.losses.CumulativeLogsumexp",
    ),
    _fault(
        "constants-in-resources",
        "By default, the search for infinite constants crashes at a constant that refers to a dialect resource.",
        "litefuse.passes.weights.place_weights.PlaceWeights",
        "litefuse.ir.importer.constants.mapped_attribute",
    ),
    _fault(
        "constant-divisor",
        "A division by a constant becomes a product with its reciprocal, which adds a rounding.",
        "litefuse.passes.legalize.dtypes.quantization.FakeQuantize",
        "litefuse.passes.legalize.images.sampled_images.crop_and_resize",
    ),
    _fault(
        "sum-over-the-last",
        "A constant is not summed over negative axes.",
        _NEUTRAL,
    ),
    _fault(
        "reversal-of-the-last",
        "A constant is not reversed along negative axes.",
        _NEUTRAL,
    ),
    _fault(
        "transposition-from-the-last",
        "A constant that is transposed with negative axes is written with too few bytes, if the process does not "
        "crash.",
        _NEUTRAL,
    ),
    _fault(
        "one-element-between-products",
        "A constant of one element behind a product is treated as a bias with an element for each channel, and moved "
        "into the next product, which is refused.",
        f"{_NEUTRAL}.scalar_operand",
    ),
    _fault(
        "one-element-before-a-product",
        "A constant of one element that is added before a product is multiplied by the matrix as if it had an element "
        "for each row; the product's bias is too short.",
        f"{_NEUTRAL}.scalar_operand",
    ),
    _fault(
        "one-element-behind-a-transposed-convolution",
        "A scalar that is added to a transposed convolution becomes a bias of one element, which is read out of "
        "bounds.",
        f"{_NEUTRAL}.scalar_operand",
    ),
    _fault(
        "unfolded-constants",
        "Pack, Prod, Split and Tile of constants are not folded, but computed in each call.",
        "litefuse.passes.weights.fold_constants.fold_constants",
        "litefuse.passes.weights.cut_constants.CutConstants",
    ),
    _fault(
        "folds-whatever-the-size",
        "Ranges, fills and ops on their results are folded into constants of any size.",
        "litefuse.ir.engine.constant_sizes.check_folding",
        "litefuse.passes.control_flow.litert_loops.fill_buffers",
    ),
    _fault(
        "running-sum-of-unsigned-constants",
        "The process crashes at Cumsum of constant unsigned integers.",
        "litefuse.passes.legalize.dtypes.widened.Widened",
        "litefuse.passes.legalize.dtypes.int64_bits.Uint64",
    ),
    _fault(
        "integer-division-by-zero",
        "The process crashes if a constant integer is divided by a constant 0.",
        _PROCESS,
    ),
    _fault(
        "range-without-step",
        "The process crashes if a constant range has the step 0.",
        _PROCESS,
    ),
    _fault(
        "reshaped-constant-strings",
        "The process crashes if constant strings are reshaped, expanded or squeezed.",
        f"{_STRINGS}.ConstantStrings",
        f"{_STRINGS}.MovedStrings",
        "litefuse.passes.legalize.arrays.searching.unique_counts",
    ),
)
"""The faults, grouped by subject."""
