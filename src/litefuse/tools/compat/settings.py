"""The attributes of converters: their defaults, and what becomes of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from litefuse.errors import SettingError
from litefuse.support.options.names import closest
from litefuse.support.options.names_elsewhere import name_elsewhere

#: Attributes that :func:`litefuse.convert` has an argument for; those of collections begin as new ones.
MAPPED: Mapping[str, Any] = {
    "optimizations": (),
    "representative_dataset": None,
    "target_spec": None,
    "inference_input_type": "float32",
    "inference_output_type": "float32",
    "allow_custom_ops": False,
    "ir_dump_dir": None,
    "_experimental_disable_per_channel": False,
}

#: Attributes that may have any value: litefuse does what they ask for, or what they choose between is one here.
NEEDLESS: Mapping[str, Any] = {
    "canonicalizing_inf_as_min_max_float": True,
    "elide_elementsattrs_if_larger": None,
    "enable_timing": None,
    "exclude_conversion_metadata": False,
    "experimental_enable_resource_variables": True,
    "experimental_lower_to_saved_model": True,
    "experimental_new_converter": True,
    "experimental_new_dynamic_range_quantizer": True,
    "experimental_new_quantizer": True,
    "legalize_custom_tensor_list_ops": False,
    "model_origin_framework": "UNSET",
    "unfold_batchmatmul": False,
    "_experimental_allow_all_select_tf_ops": False,
    "_experimental_default_to_single_batch_in_tensor_list_ops": False,
    "_experimental_enable_composite_direct_lowering": True,
    "_experimental_enable_dynamic_update_slice": False,
    "_experimental_guarantee_all_funcs_one_use": False,
    "_experimental_low_bit_qat": False,
    "_experimental_lower_tensor_list_ops": True,
    "_experimental_unfold_large_splat_constant": False,
    "_experimental_unsafe_fuse_dynamic_shaped_broadcast": False,
    "_experimental_use_buffer_offset": False,
    "_experimental_variable_quantization": False,
}

#: Attributes that only have their default: the table of names says what to do instead.
REFUSED: Mapping[str, Any] = {
    "experimental_stablehlo_quantizer_config": None,
    "experimental_use_stablehlo_quantizer": False,
    "ir_dump_func_regex": None,
    "ir_dump_pass_regex": None,
    "print_ir_after": None,
    "print_ir_before": None,
    "print_ir_module_scope": None,
    "serialize_debug_metadata": False,
    "_experimental_calibrate_only": False,
    "_experimental_disable_fuse_mul_and_fc": False,
    "_experimental_disable_per_channel_quantization_for_dense_layers": False,
    "_experimental_full_integer_quantization_bias_type": None,
    "_experimental_preserve_assert_op": False,
    "_experimental_qdq_conversion_mode": None,
    "_experimental_quantization_options": None,
    "_experimental_reduce_type_precision": False,
    "_experimental_sparsify_model": False,
    "_experimental_strict_qdq": False,
    "_experimental_tf_quantization_mode": None,
}

#: The attributes of TensorFlow 1 besides, of the latter two kinds.
NEEDLESS_1: Mapping[str, Any] = {"drop_control_dependency": True, "change_concat_input_ranges": False}
REFUSED_1: Mapping[str, Any] = {
    "conversion_summary_dir": None,
    "default_ranges_stats": None,
    "dump_graphviz_dir": None,
    "dump_graphviz_video": False,
    "inference_type": "float32",
    "output_format": "TFLITE",
    "quantized_input_stats": {},
    "reorder_across_fake_quant": False,
}


def refuse_changed(name: str, value: object) -> SettingError:
    """Returns the error for an attribute that has another value than its default."""
    entry = name_elsewhere(name)
    assert entry is not None, name  # a test holds that each is in the table
    return SettingError(
        f"{name} is {value!r}, for which this class of litefuse has no equivalent",
        hint=f"Equivalent for litefuse.convert and convert_options: {entry.python}.",
    )


def unknown_setting(name: str, known: Iterable[str]) -> SettingError:
    """Returns the error for an attribute that the class does not have."""
    entry = name_elsewhere(name)
    if entry is not None:
        hint = f"Equivalent of {name} ({entry.of[0]}) for litefuse.convert: {entry.python}."
    else:
        hint = closest([name], [*known]) + "Put arguments of litefuse.convert into convert_options, by name."
    return SettingError(f"the converter has no attribute {name!r}", hint=hint)
