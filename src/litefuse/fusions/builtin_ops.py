"""LiteRT's builtin ops, as texts: operands, attributes with their defaults, result dtypes, and what they compute.

Source: the operators of https://www.tensorflow.org/mlir/tfl_ops, the options in LiteRT's schema, and its kernels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# Each op: NAME(operands; attributes) -> result dtypes: what it computes.
#
# An operand has ~ behind it if a number becomes a constant of the dtype of the others that are so marked, # or @ if
# integers become constants of int32 or int64, ! if it must be a constant, of int32, because the result's shape follows
# from it, ? if it may be left out, * if there may be any number of them, & if it is a state: memory that the op
# updates, and that has the operand's value when a call begins.
# An attribute has a default, or is one of the groups below, or must be given. A result dtype is that of an operand, the
# value of an attribute, or a dtype; without any, there is one result of the first operand's dtype.
OPS = """
ABS(x): |x|.
CEIL(x): The least integer that is at least x.
COS(x): cos(x).
ELU(x): x if it is positive, else e^x - 1.
EXP(x): e^x.
FLOOR(x): The largest integer that is at most x.
GELU(x; approximate=False): x * P(X <= x) of a normal X, or its approximation by tanh.
HARD_SWISH(x): x * relu6(x + 3) / 6.
LEAKY_RELU(x; alpha=0.2): x if it is positive, else alpha * x.
LOG(x): The natural logarithm.
LOGICAL_NOT(x): Whether x is false.
LOGISTIC(x): 1 / (1 + e^-x).
NEG(x): -x.
RELU(x): max(x, 0).
RELU6(x): x, limited to 0 and 6.
RELU_0_TO_1(x): x, limited to 0 and 1.
RELU_N1_TO_1(x): x, limited to -1 and 1.
ROUND(x): The nearest integer, the even one of two.
RSQRT(x): 1 / sqrt(x).
SIGN(x): -1, 0 or 1.
SIN(x): sin(x).
SQRT(x): The square root.
SQUARE(x): x * x.
TANH(x): tanh(x).
ZEROS_LIKE(x): Zeros of the shape of x.
COMPLEX_ABS(x) -> real: The absolute value of complex numbers.
REAL(x) -> real: The real part of complex numbers.
IMAG(x) -> real: The imaginary part of complex numbers.
ADD(x~ y~; activation): x + y.
SUB(x~ y~; activation): x - y.
MUL(x~ y~; activation): x * y.
DIV(x~ y~; activation): x / y.
ADD_N(values~*): The sum of tensors of one shape.
ATAN2(y~ x~): The angle of the point (x, y), from -pi to pi.
BITWISE_XOR(x~ y~): x ^ y of integers.
FLOOR_DIV(x~ y~): The largest integer that is at most x / y.
FLOOR_MOD(x~ y~): x - y * floor(x / y).
LOGICAL_AND(x~ y~): x and y.
LOGICAL_OR(x~ y~): x or y.
MAXIMUM(x~ y~): The larger one.
MINIMUM(x~ y~): The smaller one.
POW(x~ y~): x to the power of y.
PRELU(x~ slope~): x if it is positive, else slope * x.
RIGHT_SHIFT(x~ y~): x shifted to the right by y bits.
SQUARED_DIFFERENCE(x~ y~): (x - y) ** 2.
EQUAL(x~ y~) -> bool: Whether x == y.
NOT_EQUAL(x~ y~) -> bool: Whether x != y.
GREATER(x~ y~) -> bool: Whether x > y.
GREATER_EQUAL(x~ y~) -> bool: Whether x >= y.
LESS(x~ y~) -> bool: Whether x < y.
LESS_EQUAL(x~ y~) -> bool: Whether x <= y.
SELECT(condition x~ y~) -> x: x where the condition holds, else y; a condition [n] chooses rows.
SELECT_V2(condition x~ y~) -> x: x where the condition holds, else y; all three broadcast.
SOFTMAX(x; beta=1.0): e^(beta * x), divided by its sum along the last axis.
LOG_SOFTMAX(x): log(softmax(x)) along the last axis.
L2_NORMALIZATION(x; activation): x divided by its Euclidean norm along the last axis.
LOCAL_RESPONSE_NORMALIZATION(x; radius=5 bias=1.0 alpha=1.0 beta=0.5): x / (bias + alpha * s) ** beta, where s is the
    sum of the squares of the 2 * radius + 1 channels around an element.
MEAN(x axes!; keep_dims=False): The mean along axes.
SUM(x axes!; keep_dims=False): The sum along axes.
REDUCE_ALL(x axes!; keep_dims=False): Whether all along axes are true.
REDUCE_ANY(x axes!; keep_dims=False): Whether any along axes is true.
REDUCE_MAX(x axes!; keep_dims=False): The maximum along axes.
REDUCE_MIN(x axes!; keep_dims=False): The minimum along axes.
REDUCE_PROD(x axes!; keep_dims=False): The product along axes.
REDUCE_WINDOW(x~ init~ window_shape@! window_strides@! window_dilations@!; reduce_function): Reduces each window of x,
    which has all of its axes, to one element, beginning with init.
ARG_MAX(x axis!; output_type='int32') -> output_type: The index of the maximum along an axis, the first of equal ones.
ARG_MIN(x axis!; output_type='int32') -> output_type: The index of the minimum along an axis, the first of equal ones.
CUMSUM(x axis#; exclusive=False reverse=False): The sums up to each element along an axis.
TOPK_V2(x k!) -> x int32: The k largest along the last axis, and their indices.
SEGMENT_SUM(x segment_ids#): The sums of the rows of each segment; the ids ascend by 0 or 1.
UNSORTED_SEGMENT_MAX(x segment_ids# num_segments#): The maximum of the rows of each segment.
UNSORTED_SEGMENT_MIN(x segment_ids# num_segments#): The minimum of the rows of each segment.
UNSORTED_SEGMENT_PROD(x segment_ids# num_segments#): The product of the rows of each segment.
UNSORTED_SEGMENT_SUM(x segment_ids# num_segments#): The sum of the rows of each segment.
UNIQUE(x; idx_out_type='int32') -> x idx_out_type: The different elements of a vector, and the index among them of each.
WHERE(condition) -> int64: The indices [n, rank] of the elements that are true, or not 0.
BUCKETIZE(x; boundaries) -> int32: The number of the boundaries, ascending floats, that are at most x.
BATCH_MATMUL(x~ y~; adj_x=False adj_y=False): The products of matrices [..., m, k] and [..., k, n].
FULLY_CONNECTED(x~ weights~ bias~?; activation weights_format='DEFAULT' keep_num_dims=False): x [..., n] times the
    transposition of weights [m, n], plus bias [m].
CONV_2D(x~ filters~ bias~?; strides activation dilations): Convolution of x [batch, height, width, n] with filters
    [m, rows, columns, n].
DEPTHWISE_CONV_2D(x~ filters~ bias~?; strides activation dilations depth_multiplier=1): Convolution of each channel of x
    [batch, height, width, n] with filters [1, rows, columns, n * depth_multiplier].
TRANSPOSE_CONV(output_shape# filters~ x~ bias~?; strides activation) -> x: The transposition of CONV_2D: x [batch,
    height, width, n], filters [m, rows, columns, n].
CONV_3D(x~ filters~ bias~?; strides_3d): Convolution of x [batch, depth, height, width, n] with filters [planes, rows,
    columns, n, m].
CONV_3D_TRANSPOSE(output_shape# filters~ x~ bias~?; strides_3d) -> x: The transposition of CONV_3D: x [batch, depth,
    height, width, n], filters [planes, rows, columns, m, n].
AVERAGE_POOL_2D(x; strides activation filter_height filter_width): The mean of each window of x [batch, height, width,
    channels].
MAX_POOL_2D(x; strides activation filter_height filter_width): The maximum of each window of x [batch, height, width,
    channels].
L2_POOL_2D(x; strides activation filter_height filter_width): The root of the mean square of each window of x [batch,
    height, width, channels].
DILATE(x~ dilations! padding_value~): x with dilations - 1 padding values between the elements along each axis.
RFFT2D(x fft_length!) -> complex64: The Fourier transform of real numbers along the last two axes.
RESHAPE(x shape!): x in another shape; one size may be -1.
TRANSPOSE(x permutation!): x with its axes in another order.
SLICE(x begin! size!): A part of x; a size of -1 takes all that follows.
STRIDED_SLICE(x begin! end! strides!; begin_mask=0 end_mask=0 ellipsis_mask=0 new_axis_mask=0 shrink_axis_mask=0):
    x[begin:end:strides]; a mask has a bit for each position, as in TensorFlow.
DYNAMIC_UPDATE_SLICE(x~ update~ start_indices#): x with a part replaced by the update.
REVERSE_V2(x axes#): x in reverse order along axes.
REVERSE_SEQUENCE(x seq_lengths; seq_dim batch_dim=0): The first elements along seq_dim in reverse order: as many as the
    length of each index along batch_dim says.
CONCATENATION(values~*; axis=0 activation): Joins tensors along an axis.
PACK(values~*; axis=0 values_count=DERIVED): Joins tensors along a new axis.
UNPACK(x; axis=0 num=DERIVED) -> num*x: The parts along an axis, without that axis.
SPLIT(axis! x; num_splits) -> num_splits*x: Parts of equal size along an axis.
SPLIT_V(x sizes! axis!; num_splits=DERIVED) -> num_splits*x: Parts of the given sizes along an axis.
GATHER(x indices; axis=0 batch_dims=0): The slices of x at indices along an axis.
GATHER_ND(x indices): The slices of x at indices [..., k] of its first k axes.
SCATTER_ND(indices# updates shape#) -> updates: Zeros of a shape, with updates added at indices [..., k].
SPARSE_TO_DENSE(indices output_shape# values~ default~) -> values: The default, but values at indices [n, rank].
MATRIX_DIAG(x): Matrices [..., n, n] with the diagonals x [..., n], and zeros elsewhere.
MATRIX_SET_DIAG(x~ diagonal~): Matrices x [..., m, n] with other diagonals.
EXPAND_DIMS(x axis!): x with a new axis of size 1.
SQUEEZE(x; squeeze_dims=[]): x without these axes of size 1, or without all.
PAD(x paddings!): x with zeros around it; paddings [rank, 2].
PADV2(x~ paddings! value~): x with a value around it; paddings [rank, 2].
MIRROR_PAD(x paddings!; mode='REFLECT'): x with its reflection around it, without the border itself, or with it.
TILE(x multiples!): x repeated along each axis.
BROADCAST_TO(x shape!): x broadcast to a shape.
BROADCAST_ARGS(x~ y~): The shape to which two shapes broadcast.
SHAPE(x; out_type='int32') -> out_type: The shape of x.
RANK(x) -> int32: The rank of x.
CAST(x; to='float32') -> to: x in another dtype.
BITCAST(x; to) -> to: The bits of x as another dtype.
QUANTIZE(x; scale zero_point=0 dtype='int8') -> quantized: round(x / scale) + zero_point, a quantized tensor.
DEQUANTIZE(x) -> float32: A quantized tensor, or one of float16, as float32.
FAKE_QUANT(x; min max num_bits=8): x, limited to a range and rounded to one of the numbers that num_bits bits have.
FILL(shape# value) -> value: A tensor of a shape with one value.
RANGE(start~ limit~ delta~): The numbers from start to before limit.
ONE_HOT(indices depth# on_value~ off_value~; axis=-1) -> on_value: The on value at indices along a new axis, else the
    off value.
RANDOM_STANDARD_NORMAL(shape#; seeds) -> float32: Normal random numbers, others in each run where both seeds are 0.
RANDOM_UNIFORM(shape#; seeds) -> float32: Random numbers from 0 to before 1, others in each run where both seeds are 0.
MULTINOMIAL(logits num_samples#; seeds output_type='int64') -> output_type: Random classes [batch, num_samples] of
    logits [batch, classes].
SPACE_TO_DEPTH(x; block_size): Blocks of x [batch, height, width, channels] as channels.
DEPTH_TO_SPACE(x; block_size): Channels of x [batch, height, width, channels] as blocks.
SPACE_TO_BATCH_ND(x block_shape! paddings!): Blocks of padded spatial axes as batches.
BATCH_TO_SPACE_ND(x block_shape! crops!): Batches as blocks of spatial axes, which are then cropped.
RESIZE_BILINEAR(x size!; resize): Images [batch, height, width, channels] in another size, interpolated.
RESIZE_NEAREST_NEIGHBOR(x size!; resize): Images [batch, height, width, channels] in another size, of nearest pixels.
NON_MAX_SUPPRESSION_V4(boxes~ scores~ max_output_size# iou_threshold~ score_threshold~) -> int32 int32: The indices of
    the boxes [n, 4] with the best scores, of which none overlap more than the threshold, and their number.
NON_MAX_SUPPRESSION_V5(boxes~ scores~ max_output_size# iou_threshold~ score_threshold~ soft_nms_sigma~) -> int32 boxes
    int32: The same with scores, which overlaps decrease: indices, scores, and their number.
EMBEDDING_LOOKUP(ids# table) -> table: The rows of a table [vocabulary, ...] at ids [n] int32.
EMBEDDING_LOOKUP_SPARSE(ids# indices# dense_shape# weights table; combiner='SUM') -> table: Weighted sums of rows of a
    table, one for each row of a sparse tensor of a dense shape [rows, n]: ids [k] int32, their places [k, 2], weights
    [k].
HASHTABLE_LOOKUP(lookup# keys# values) -> values uint8: The rows of values [m, ...] at the places of lookup [n] among
    keys [m], which ascend, or zeros; and whether each is there.
LSH_PROJECTION(hash x weights?; type='DENSE') -> int32: Signatures of x by hashes [functions, bits]: all bits, or one
    integer for each function.
SKIP_GRAM(text; ngram_size max_skip_size=0 include_all_ngrams=False): The n-grams of the words of a text, with up to
    max_skip_size words left out between two; with include_all_ngrams, shorter ones as well.
HASHTABLE(; table_id key_dtype value_dtype) -> resource: The handle of the table of an id, empty until it is filled.
HASHTABLE_IMPORT(table keys@ values) -> none: Fills a table, unless it is filled.
HASHTABLE_FIND(table keys@ default) -> default: The values at keys, or the default.
HASHTABLE_SIZE(table) -> int64: The number of keys.
VAR_HANDLE(; shared_name container='') -> resource: The handle of the variable of a name.
READ_VARIABLE(handle; dtype shape) -> dtype: The value of a variable, whose sizes must be known.
ASSIGN_VARIABLE(handle value) -> none: Gives a variable a value.
LSTM(x lstm activation_state& cell_state& layer_norm; clips): One step of an LSTM: x [batch, inputs], sizes.
UNIDIRECTIONAL_SEQUENCE_LSTM(x lstm activation_state& cell_state& layer_norm; clips time_major=False
    diagonal_recurrent_tensors=False): An LSTM over all steps: x [batch, time, inputs], sizes.
BIDIRECTIONAL_SEQUENCE_LSTM(x fw_lstm bw_lstm fw_activation_state& fw_cell_state& bw_activation_state& bw_cell_state&
    aux_input? fw_aux bw_aux; clips time_major=False) -> x x: Two LSTMs, from the first step to the last and from the
    last to the first: x [batch, time, inputs], sizes.
RNN(x weights recurrent_weights bias hidden_state&; fused_activation_function='TANH'): One step h = activation(x W' +
    h R' + bias): x [batch, inputs], weights [units, inputs] and [units, units], state [batch, units].
UNIDIRECTIONAL_SEQUENCE_RNN(x weights recurrent_weights bias hidden_state&; fused_activation_function='TANH'
    time_major=False): RNN over all steps: x [batch, time, inputs].
BIDIRECTIONAL_SEQUENCE_RNN(x fw_weights fw_recurrent_weights fw_bias fw_hidden_state& bw_weights bw_recurrent_weights
    bw_bias bw_hidden_state& aux_input? fw_aux_weights? bw_aux_weights?; fused_activation_function='TANH'
    time_major=False) -> x x: Two RNNs, from the first step to the last and from the last to the first.
SVDF(x feature_weights time_weights bias? activation_state&; rank activation): Filters of a rank over time: x [batch,
    n], feature_weights [units * rank, n], time_weights [units * rank, memory], state [batch, memory * units * rank].
"""
GROUPS = {
    "activation": "fused_activation_function='NONE'",
    "clips": "fused_activation_function='TANH' cell_clip=0.0 proj_clip=0.0",
    "dilations": "dilation_h_factor=1 dilation_w_factor=1",
    "resize": "align_corners=False half_pixel_centers=False",
    "seeds": "seed=0 seed2=0",
    "strides": "padding='SAME' stride_h=1 stride_w=1",
}
GROUPS["strides_3d"] = f"{GROUPS['strides']} stride_d=1 activation dilations dilation_d_factor=1"
_GATES = ("input", "forget", "cell", "output")
# The weights of the input gate may be missing: it is then 1 minus the forget gate.
_LSTM = " ".join(
    (
        *(f"%{of}_to_{gate}_weights{'?' * (gate == 'input')}" for of in ("input", "recurrent") for gate in _GATES),
        *(f"%cell_to_{gate}_weights?" for gate in _GATES if gate != "cell"),
        *("%input_gate_bias?", "%forget_gate_bias", "%cell_bias", "%output_gate_bias"),
        *("%projection_weights?", "%projection_bias?"),
    )
)
OPERANDS = {
    "lstm": _LSTM.replace("%", ""),
    "layer_norm": " ".join(f"{gate}_layer_norm_coefficients?" for gate in _GATES),
    **{f"{way}_lstm": _LSTM.replace("%", f"{way}_") for way in ("fw", "bw")},
    **{f"{way}_aux": " ".join(f"{way}_aux_input_to_{gate}_weights?" for gate in _GATES) for way in ("fw", "bw")},
}
SIZES = (
    "kernels [units, inputs], recurrent kernels [units, n], peepholes, biases and norms [units], "
    "projection [n, units], states [batch, n] and [batch, units]"
)
# Attributes that have one value in all ops that are built.
FIXED: Mapping[str, Mapping[str, Any]] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": {"merge_outputs": False},
    "BIDIRECTIONAL_SEQUENCE_RNN": {"merge_outputs": False},
    "FAKE_QUANT": {"narrow_range": False},
    "LSTM": {"kernel_type": "FULL"},
    "STRIDED_SLICE": {"offset": False},
}

LACKING: Mapping[str, str] = {
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNNOptions",
    "EMBEDDING_LOOKUP_SPARSE": "EmbeddingLookupSparseOptions",
    "HASHTABLE_LOOKUP": "",
    "L2_POOL_2D": "Pool2DOptions",
    "LSH_PROJECTION": "LSHProjectionOptions",
    "REDUCE_WINDOW": "ReduceWindowOptions",
    "RNN": "RNNOptions",
    "SKIP_GRAM": "SkipGramOptions",
}
"""The ops that the engine's dialect lacks, with the table of their options in the schema."""

FLOATS = frozenset({"boundaries", "max", "min", "scale"})
"""The attributes without a default that are floats, or lists of them."""

CHOICES: Mapping[str, Sequence[str]] = {
    "combiner": ("SUM", "MEAN", "SQRTN"),
    "fused_activation_function": ("NONE", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"),
    "mode": ("REFLECT", "SYMMETRIC"),
    "padding": ("SAME", "VALID"),
    "reduce_function": ("", "ADD", "MUL", "MINIMUM", "MAXIMUM", "ALL", "ANY"),
    "type": ("", "SPARSE", "DENSE"),
    "weights_format": ("DEFAULT", "SHUFFLED4x16INT8"),
}
"""The values of the attributes that are one of a few, in the order of their numbers in the schema."""

_STABLEHLO = """
    ABS ADD AND=LOGICAL_AND BROADCAST_IN_DIM=BROADCAST_TO CBRT=POW CLAMP=MINIMUM COMPARE=LESS CONCATENATE=CONCATENATION
    CONVERT=CAST CONVOLUTION=CONV_2D COSINE=COS DIVIDE=DIV DOT_GENERAL=BATCH_MATMUL DYNAMIC_SLICE=SLICE
    DYNAMIC_UPDATE_SLICE EXPONENTIAL=EXP FLOOR GATHER=GATHER_ND IOTA=RANGE LOG LOGISTIC MAXIMUM MINIMUM MULTIPLY=MUL
    NEGATE=NEG OR=LOGICAL_OR PAD POWER=POW REDUCE=SUM REDUCE_WINDOW REMAINDER=FLOOR_MOD RESHAPE
    RNG_BIT_GENERATOR=RANDOM_UNIFORM RSQRT SCATTER=SCATTER_ND SELECT=SELECT_V2 SHIFT_LEFT=MUL SLICE SORT=TOPK_V2
    SUBTRACT=SUB TANH TRANSPOSE
"""
_BODIES = "it runs subgraphs, which a replacement cannot have: leave the composite as it is, its body may have them"

UNAVAILABLE: Mapping[str, str] = {
    "CALL": "LiteRT has no kernel for it: build the ops that it would call",
    "CALL_ONCE": "it runs a subgraph, which a replacement cannot have: use ASSIGN_VARIABLE or HASHTABLE_IMPORT",
    "CONCAT_EMBEDDINGS": "LiteRT has no kernel for it: use EMBEDDING_LOOKUP and CONCATENATION",
    "CUSTOM": "custom() builds custom ops",
    "DELEGATE": "the runtime puts it in place of what a delegate takes, files do not have it: use the ops themselves",
    "DENSIFY": "it reads a sparse constant, which fusions cannot write: use constant()",
    "PLACEHOLDER_FOR_GREATER_OP_CODES": "it stands for codes above 127 in the schema: use the op itself",
    "STABLEHLO_COMPOSITE": "composite() builds it",
    "STABLEHLO_CUSTOM_CALL": "LiteRT has no kernel for it: custom() builds custom ops",
    **dict.fromkeys(("IF", "STABLEHLO_CASE", "STABLEHLO_WHILE", "WHILE"), _BODIES),
    **{
        f"STABLEHLO_{name}": f"the engine cannot write it: use {other or name}"
        for name, _, other in (entry.partition("=") for entry in _STABLEHLO.split())
    },
}
"""Why the other ops of the schema cannot be built, and what to use instead."""

# What TensorFlow and numpy call ops that have other names here.
OTHER_NAMES: Mapping[str, str] = {
    "clip": "minimum and b.maximum",
    "divide": "div",
    "matmul": "batch_matmul",
    "multiply": "mul",
    "reduce_mean": "mean",
    "reduce_sum": "sum",
    "sigmoid": "logistic",
    "stack": "pack",
    "subtract": "sub",
    "unstack": "unpack",
}
