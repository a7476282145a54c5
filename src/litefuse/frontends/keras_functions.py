"""Allowlists of what a Keras model's configuration may name: Keras's own parts, and functions that only compute.

Everything else reads or writes files, loads programs, changes how Keras works, or is not a part of a model.
"""

from __future__ import annotations

import re

# The Keras packages with functions of models: activations and the like, and ops on tensors.
_WITH_FUNCTIONS = frozenset(
    {"activations", "constraints", "initializers", "losses", "metrics", "ops", "random", "regularizers"}
)
# The packages with classes of models. ``engine`` has some in Keras 2.
_WITH_CLASSES = _WITH_FUNCTIONS | {
    "dtype_policies",
    "engine",
    "experimental",
    "layers",
    "mixed_precision",
    "models",
    "optimizers",
    "premade_models",
    "quantizers",
}
_KERAS = frozenset({"keras", "tf_keras"})
_PRIVATE = frozenset({"api", "src"})
# Classes of other modules in models of ``keras.applications``.
_OTHERS = frozenset({"keras.src.applications.convnext.LayerScale", "tf_keras.src.applications.convnext.LayerScale"})
_INITIALIZERS = "tensorflow.python.ops.init_ops_v2"
_CLASS = re.compile(r"_?[A-Z][A-Za-z0-9_]*")
_FUNCTION = re.compile(r"[a-z][A-Za-z0-9_]*", re.IGNORECASE)

# The parts of TensorFlow's API in which every function computes.
_COMPUTING = frozenset(
    {
        "__operators__",
        "audio",
        "bitwise",
        "dtypes",
        "image",
        "linalg",
        "math",
        "nn",
        "quantization",
        "ragged",
        "random",
        "sets",
        "signal",
        "sparse",
        "strings",
    }
)
# The functions of ``io`` and ``debugging`` that compute; others open files.
_PARTLY_COMPUTING = {
    "io": re.compile(r"(de|en)code_(?!proto)\w+|parse_\w+|(de)?serialize_\w+|extract_jpeg_shape"),
    "debugging": re.compile(r"[Aa]ssert(_\w+)?|check_numerics"),
}
_READING = frozenset({"fixed_unigram_candidate_sampler"})  # words and their counts, from a file
# The top-level functions that compute; layers are made from functions that are dispatched on their arguments.
_AT_THE_TOP = """
    abs accumulate_n acos acosh add add_n angle approx_top_k argmax argmin argsort as_string asin asinh atan atan2
    atanh batch_gather batch_to_space batch_to_space_nd betainc bitcast boolean_mask broadcast_dynamic_shape
    broadcast_static_shape broadcast_to case cast ceil check_numerics check_pinned cholesky cholesky_solve
    clip_by_average_norm clip_by_global_norm clip_by_norm clip_by_value complex concat cond confusion_matrix conj
    constant conv conv2d_backprop_filter_v2 conv2d_backprop_input_v2 convert_to_tensor cos cosh count_nonzero cross
    cumprod cumsum depth_to_space dequantize diag diag_part digamma div div_no_nan divide dynamic_partition
    dynamic_stitch edit_distance eig eigvals einsum ensure_shape equal erf erfc exp expand_dims expm1
    extract_image_patches extract_volume_patches eye fake_quant_with_min_max_args
    fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
    fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient fft fft2d fft3d fftnd
    fill fingerprint floor floor_div floordiv floormod foldl foldr gather gather_nd global_norm greater
    greater_equal guarantee_const histogram_fixed_width histogram_fixed_width_bins identity identity_n ifft ifft2d
    ifft3d ifftnd igamma igammac imag invert_permutation irfftnd is_finite is_inf is_nan is_non_decreasing
    is_strictly_increasing is_tensor lbeta less less_equal lgamma lin_space linspace log log1p log_sigmoid
    logical_and logical_not logical_or logical_xor map_fn matmul matrix_band_part matrix_determinant matrix_diag
    matrix_diag_part matrix_inverse matrix_set_diag matrix_solve matrix_solve_ls matrix_square_root matrix_transpose
    matrix_triangular_solve maximum meshgrid minimum mod multinomial multiply negative no_op norm not_equal one_hot
    ones ones_like pad parallel_stack polygamma pow qr quantize quantize_v2 quantized_concat ragged_fill_empty_rows
    ragged_fill_empty_rows_grad random_crop random_gamma random_index_shuffle random_normal random_poisson
    random_shuffle random_uniform range rank real realdiv reciprocal reduce_all reduce_any reduce_join
    reduce_logsumexp reduce_max reduce_mean reduce_min reduce_prod reduce_sum regex_replace repeat
    required_space_to_batch_paddings reshape reverse reverse_sequence reverse_v2 rfftnd rint roll round rsqrt
    saturate_cast scalar_mul scan scatter_nd searchsorted segment_max segment_mean segment_min segment_prod
    segment_sum self_adjoint_eig self_adjoint_eigvals sequence_mask setdiff1d shape shape_n sigmoid sign sin sinh
    size slice sort space_to_batch space_to_batch_nd space_to_depth sparse_reshape sparse_to_dense split sqrt square
    squared_difference squeeze stack stop_gradient strided_slice string_join string_split string_strip
    string_to_hash_bucket string_to_hash_bucket_fast string_to_hash_bucket_strong string_to_number substr subtract
    svd switch_case tan tanh tensor_scatter_add tensor_scatter_nd_add tensor_scatter_nd_max tensor_scatter_nd_min
    tensor_scatter_nd_sub tensor_scatter_nd_update tensor_scatter_sub tensor_scatter_update tensordot tile timestamp
    to_bfloat16 to_complex128 to_complex64 to_double to_float to_int32 to_int64 trace transpose truediv
    truncated_normal truncatediv truncatemod tuple unique unique_with_counts unravel_index unsorted_segment_max
    unsorted_segment_mean unsorted_segment_min unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
    unstack vectorized_map verify_tensor_all_finite where where_v2 while_loop zeros zeros_like zeta
"""
_AT_THE_TOP_NAMES = frozenset(_AT_THE_TOP.split())


def is_own_class(module: str, name: str) -> bool:
    """Whether a class is one of Keras's own building blocks of models.

    Args:
        module: The module that a configuration names, such as ``keras.layers`` or ``keras.src.models.functional``.
        name: The name of the class in it.
    """
    if _CLASS.fullmatch(name) is None:
        return False
    is_part = module in _KERAS or module == _INITIALIZERS or _part(module) in _WITH_CLASSES
    return is_part or f"{module}.{name}" in _OTHERS


def is_own_function(module: str, name: str) -> bool:
    """Whether a function is one of Keras's own that only compute; see :func:`is_own_class` for the arguments.

    Keras writes ``builtins`` if the name alone identifies the function; or it is a function of the program that saved
    the model, which Keras then does not find.
    """
    return _FUNCTION.fullmatch(name) is not None and (module == "builtins" or _part(module) in _WITH_FUNCTIONS)


def is_harmless_function(symbol: str) -> bool:
    """Whether a function of the TensorFlow API only computes.

    Args:
        symbol: Its name without ``tf``, such as ``nn.relu``, ``compat.v1.gather`` or ``keras.backend.mean``.
    """
    head, _, name = symbol.removeprefix("compat.v1.").rpartition(".")
    part = head.partition(".")[0]
    if part == "keras":
        return head == "keras.backend" or is_own_function(head, name)
    if part in _PARTLY_COMPUTING:
        return head == part and _PARTLY_COMPUTING[part].fullmatch(name) is not None
    if head:
        return part in _COMPUTING and name not in _READING
    return name in _AT_THE_TOP_NAMES or _PARTLY_COMPUTING["debugging"].fullmatch(name) is not None


def _part(module: str) -> str:
    """Returns the part of Keras that a module belongs to; empty for other modules and the package itself."""
    package, *rest = module.split(".")
    if package not in _KERAS:
        return ""
    rest = rest[1:] if rest and rest[0] in _PRIVATE else rest
    return rest[0] if rest else ""
