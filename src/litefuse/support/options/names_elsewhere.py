"""litefuse's names for the arguments, attributes and flags of other converters.

Users who come from another converter try its names. One table has an answer for each, which the Python functions,
the command line, :mod:`litefuse.compat` and the documentation share.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from litefuse.support.options.names import closest

TFLITE = "TFLiteConverter"
TFLITE_1 = "TensorFlow 1's TFLiteConverter"
TFLITE_CONVERT = "tflite_convert"
COREML = "coremltools"
FORMER = "earlier releases"
_CLASSES = re.compile(r"(Quantization|Graph|Checks|Debugging)\(")


class NameElsewhere(NamedTuple):
    """A name of other converters.

    Attributes:
        name: The name, without dashes.
        of: The converters that have it.
        python: What it is for the functions of ``litefuse``.
        command: What it is on the command line.
    """

    name: str
    of: tuple[str, ...]
    python: str
    command: str

    def owner(self, *, command: bool) -> str:
        """Returns the converter to name with it: the program, for a flag on the command line."""
        return TFLITE_CONVERT if command and TFLITE_CONVERT in self.of else self.of[0]


def name_elsewhere(name: str) -> NameElsewhere | None:
    """Returns the entry of a name or flag of another converter, in any case; None if none has it."""
    return _BY_NAME.get(name.lstrip("-").replace("-", "_").casefold())


def answers_elsewhere(
    unknown: Iterable[str], known: Collection[str], grouped: Mapping[str, str] = MappingProxyType({})
) -> str:
    """Returns what to use instead of unknown arguments, if other converters have them or litefuse had; or similar ones.

    Args:
        unknown: The names.
        known: The names of the arguments that there are.
        grouped: What is written for those that are part of an argument.
    """
    hints: dict[str, None] = {}
    of = set[str]()
    for name in unknown:
        entry = name_elsewhere(name)
        is_former = entry is not None and FORMER in entry.of
        now = entry.command.lstrip("-").replace("-", "_") if entry is not None and is_former else name
        if now in known or (now in grouped and (entry is None or is_former)):
            hints[f"Write {now if now in known else grouped[now]}."] = None
        elif entry is not None:
            of.update(entry.of)
            python = _CLASSES.sub(r"litefuse.\g<0>", entry.python)
            hints[f"Equivalent of {name} ({entry.owner(command=False)}): {python}"] = None
        else:
            hints[closest([name], known).strip()] = None
    if of & {TFLITE, TFLITE_1}:
        hints["litefuse.compat.TFLiteConverter takes TFLiteConverter's names."] = None
    return "\n".join(filter(None, hints))


def _of(converters: str | tuple[str, ...], *rows: tuple[str, ...]) -> list[NameElsewhere]:
    of = (converters,) if isinstance(converters, str) else converters
    return [NameElsewhere(name, of, python, rest[0] if rest else python) for name, python, *rest in rows]


_QAT = 'quantize="qat", which takes ranges from the model\'s own nodes'
_ONE_CONVERTER = "leave it out (there is one converter and one quantizer)"
_ALWAYS = "leave it out (this is always done)"
_SELECT = "not available (LiteRT runs no TensorFlow ops; allow_custom_ops turns those that it lacks into custom ops)"
_IO = (
    'quantize=Quantization("int8", io=True), or int16; or io="uint8"; or a pair, such as ("uint8", False)',
    "--quantized-io integer, uint8, or uint8,float32, with --quantize int8 or int16",
)
_GPU = ('target="gpu" for ["GPU"]', "--target gpu")
_RECIPE = ("Quantization(recipe=file) says it by op", "--recipe FILE.json")
_RANGES = ('quantize="int8" with samples, or "qat"', "--quantize int8 or --quantize qat")
_LOADED = "load a Keras file with classes of yours by keras.models.load_model(file, {name: class}), and pass that"
_PLUG_IN = (f"import the module that registers fusions or kernels; {_LOADED}", "--plug-in FILE.py")
_FIXED = "not available (litert-quantizer fixes it for each form)"

#: The names, in the order in which the documentation lists them.
NAMES: tuple[NameElsewhere, ...] = (
    *_of(
        TFLITE,
        (
            "optimizations",
            (
                '[tf.lite.Optimize.DEFAULT] is quantize="dynamic"; with a dataset, '
                'quantize=Quantization("int8", samples=...)'
            ),
            "--quantize dynamic; with samples, --quantize int8 --samples FILE.npz",
        ),
        (
            "target_spec",
            (
                'Quantization("int8", require_integer=True) for TFLITE_BUILTINS_INT8; quantize="float16" for float16; '
                'quantize="int16" for int16 activations; target="gpu" for the backend GPU'
            ),
            "--quantize int8 --require-integer, --quantize float16, --quantize int16, --target gpu",
        ),
        (
            "supported_ops",
            (
                'Quantization("int8", require_integer=True) for TFLITE_BUILTINS_INT8; quantize="int16" for 16x8; '
                "nothing for TFLITE_BUILTINS; allow_custom_ops for ops that LiteRT lacks, instead of SELECT_TF_OPS"
            ),
            "--quantize int8 --require-integer, --quantize int16, nothing, --allow-custom-ops all",
        ),
        (
            "supported_types",
            'quantize="float16" for [tf.float16]; quantize=Quantization("int8", require_integer=True) for [tf.int8]',
            "--quantize float16, --quantize int8 --require-integer",
        ),
        ("supported_backends", *_GPU),
        ("experimental_supported_backends", *_GPU),
    ),
    *_of((TFLITE, TFLITE_1, TFLITE_CONVERT), ("inference_input_type", *_IO)),
    *_of((TFLITE, TFLITE_1), ("inference_output_type", *_IO)),
    *_of(
        (TFLITE, TFLITE_CONVERT),
        (
            "experimental_select_user_tf_ops",
            "allow_custom_ops=[names]: they become custom ops, and need kernels",
            "--allow-custom-ops NAMES",
        ),
    ),
    *_of(
        (TFLITE, TFLITE_1, TFLITE_CONVERT),
        ("saved_model_dir", "the first argument", "the argument MODEL"),
        ("experimental_new_converter", _ONE_CONVERTER),
        ("experimental_new_quantizer", _ONE_CONVERTER),
    ),
    *_of(
        TFLITE,
        ("signature_keys", "signatures=[keys]", "--signature KEY, repeated"),
        ("keras_model", "the first argument", "the argument MODEL, a .keras or .h5 file"),
        ("funcs", "the first argument: a function, or a tf.Module for several", "the argument MODEL, a SavedModel"),
        ("trackable_obj", "leave it out (variables are found in the functions)", "leave it out"),
        (
            "serving_funcs",
            "the first argument: jax.export.export(jax.jit(f))(shapes)",
            "not available: export the function in Python, and pass it to litefuse.convert",
        ),
        ("exclude_conversion_metadata", "leave it out (files have no conversion metadata)"),
        ("experimental_new_dynamic_range_quantizer", _ONE_CONVERTER),
        ("experimental_enable_resource_variables", "leave it out (variables that are written keep their state)"),
        ("experimental_lower_to_saved_model", _ALWAYS),
        ("experimental_use_stablehlo_quantizer", *_RECIPE),
        ("experimental_stablehlo_quantizer_config", *_RECIPE),
        ("legalize_custom_tensor_list_ops", "leave it out (tensor lists become builtin ops)"),
        ("unfold_batchmatmul", "leave it out (a product becomes FULLY_CONNECTED where that is faster)"),
        ("canonicalizing_inf_as_min_max_float", "leave it out (infinite constants stay infinite)"),
        ("model_origin_framework", "metadata", "--metadata FILE.json"),
        ("serialize_debug_metadata", "not available (see result.report)", "not available (see --json)"),
        ("enable_timing", "result.report.timings", "-v"),
        ("ir_dump_dir", "debug=folder", "--dump-ir DIR"),
        ("ir_dump_pass_regex", "Debugging(folder, dump_ir_after=[passes])", "--dump-ir-after PASS, repeated"),
        ("ir_dump_func_regex", "debug=folder, for all functions", "--dump-ir DIR"),
        ("print_ir_before", "Debugging(folder, dump_ir_after=[the pass before])", "--dump-ir DIR --dump-ir-after PASS"),
        ("print_ir_after", "Debugging(folder, dump_ir_after=[passes])", "--dump-ir DIR --dump-ir-after PASS"),
        ("print_ir_module_scope", "debug=folder, for the whole module", "--dump-ir DIR"),
        ("elide_elementsattrs_if_larger", "debug=folder, without large constants", "--dump-ir DIR"),
        ("_experimental_allow_all_select_tf_ops", _SELECT),
        ("_experimental_calibrate_only", "not available (calibration and quantization are one step)"),
        ("_experimental_custom_op_registerers", "litefuse.custom_op, or a library of kernels", "--kernels LIB.so"),
        ("_experimental_default_to_single_batch_in_tensor_list_ops", "batch=1", "--batch 1"),
        ("_experimental_disable_fuse_mul_and_fc", "not available (a product with constant factors is one op)"),
        ("_experimental_disable_per_channel", 'Quantization(form, granularity="tensor")', "--granularity tensor"),
        (
            "_experimental_disable_per_channel_quantization_for_dense_layers",
            "quantize=Quantization(recipe=file), with an entry for FULLY_CONNECTED",
            "--recipe FILE.json",
        ),
        ("_experimental_enable_composite_direct_lowering", 'composites={NAME: "fuse"}', "--composites NAME=fuse"),
        ("_experimental_enable_dynamic_update_slice", _ALWAYS),
        ("_experimental_full_integer_quantization_bias_type", _FIXED),
        ("_experimental_guarantee_all_funcs_one_use", "leave it out (calls are inlined)"),
        ("_experimental_low_bit_qat", _QAT, "--quantize qat"),
        ("_experimental_lower_tensor_list_ops", _ALWAYS),
        ("_experimental_preserve_assert_op", "not available (LiteRT has no op for assertions)"),
        ("_experimental_qdq_conversion_mode", _QAT, "--quantize qat"),
        ("_experimental_quantization_options", *_RECIPE),
        ("_experimental_reduce_type_precision", 'quantize=Quantization("dynamic", weight_bits=4)', "--weight-bits 4"),
        ("_experimental_sparsify_model", "not available (weights are stored densely)"),
        ("_experimental_strict_qdq", _QAT, "--quantize qat"),
        ("_experimental_supported_accumulation_type", "not available (the runtime chooses the accumulators)"),
        ("_experimental_tf_quantization_mode", _FIXED),
        ("_experimental_unfold_large_splat_constant", "leave it out (large constants of one number become FILL)"),
        ("_experimental_unsafe_fuse_dynamic_shaped_broadcast", "leave it out (broadcasts are inferred)"),
        ("_experimental_use_buffer_offset", "leave it out (in files above 2 GB, weights are behind the flatbuffer)"),
        ("_experimental_variable_quantization", "leave it out (int8 and int16 forms have integer variables)"),
    ),
    *_of(
        (TFLITE_1, TFLITE_CONVERT),
        ("graph_def_file", "the first argument, a .pb file", "the argument MODEL, a .pb file"),
        ("input_shapes", "shapes={name: sizes}", "--shape NAME=SIZES, repeated"),
        ("inference_type", 'quantize="int8", with samples, or "qat"', "--quantize int8 or --quantize qat"),
        ("output_format", "leave it out (it is a .tflite file; litefuse.save_report draws it)", "litefuse report FILE"),
        ("post_training_quantize", 'quantize="dynamic"', "--quantize dynamic"),
        ("target_ops", "see supported_ops: nothing for TFLITE_BUILTINS", "leave it out for TFLITE_BUILTINS"),
        ("drop_control_dependency", _ALWAYS),
        ("reorder_across_fake_quant", "leave it out (fake quantization stays where it is)"),
        (
            "change_concat_input_ranges",
            "leave it out (operands of a concatenation share a range where that costs little)",
        ),
        ("dump_graphviz_dir", "litefuse.save_report draws the model, debug=folder writes it as text", "--html FILE"),
        ("dump_graphviz_video", "debug=folder", "--dump-ir DIR"),
        ("conversion_summary_dir", "litefuse.save_report", "--html FILE"),
    ),
    *_of(
        TFLITE_1,
        ("graph_def", "the first argument, as a .pb file", "the argument MODEL, as a .pb file"),
        ("model_file", "the first argument", "the argument MODEL"),
        ("custom_objects", _LOADED, "--plug-in FILE.py"),
        ("tag_set", "graph=Graph(tags=[names])", "--tags A,B"),
        ("signature_key", "signatures=[key]", "--signature KEY"),
        ("sess", "a SavedModel, or the frozen graph as a .pb file", "the argument MODEL"),
        ("input_tensors", "graph=Graph(inputs=[names])", "--input-arrays A,B"),
        ("output_tensors", "graph=Graph(outputs=[names])", "--output-arrays A,B"),
        ("input_arrays_with_shape", "graph=Graph(inputs=[names]), shapes={name: sizes}", "--input-arrays, --shape"),
        *((name, *_RANGES) for name in ("quantized_input_stats", "default_ranges_stats")),
        ("experimental_debug_info_func", "leave it out (errors name the nodes)"),
    ),
    *_of(
        TFLITE_CONVERT,
        ("keras_model_file", "the first argument", "the argument MODEL, a .keras or .h5 file"),
        ("output_file", "result.save(path)", "-o FILE"),
        ("saved_model_tag_set", "graph=Graph(tags=[names])", "--tags A,B"),
        ("saved_model_signature_key", "signatures=[key]", "--signature KEY"),
        ("enable_v1_converter", _ONE_CONVERTER),
        *((name, *_RANGES) for name in ("mean_values", "std_dev_values", "default_ranges_min", "default_ranges_max")),
        ("quantize_weights", 'quantize="dynamic"', "--quantize dynamic"),
        ("quantize_to_float16", 'quantize="float16"', "--quantize float16"),
        ("custom_opdefs", "allow_custom_ops=[names]", "--allow-custom-ops NAMES"),
    ),
    *_of(
        (COREML, TFLITE),
        (
            "inputs",
            "shapes={name: sizes}; for a JAX function, the shapes with which it is exported",
            "--shape NAME=SIZES",
        ),
    ),
    *_of(
        COREML,
        (
            "outputs",
            "graph=Graph(outputs=[names]) for a frozen graph; rename for new names",
            "--output-arrays A,B, --rename OLD=NEW",
        ),
        ("minimum_deployment_target", "target", "--target"),
        ("compute_units", "target", "--target"),
        ("compute_precision", 'quantize="float16" ; dtypes="widen" for float32', "--quantize float16"),
        ("convert_to", "leave it out (the output is a .tflite file)"),
        ("source", "leave it out (the source is detected)"),
        ("classifier_config", "metadata, with a file of labels", "--metadata FILE.json"),
        ("package_dir", "result.save(path)", "-o FILE"),
        ("skip_model_load", "checks=Checks(file=False)", "--no-check-file"),
        ("pass_pipeline", "leave it out (passes that find nothing to do change nothing)"),
        ("states", "leave it out (variables that are written keep their state)"),
    ),
    *_of(
        "the command line",
        ("labels", 'metadata={"labels": path}', "--labels FILE.txt"),
        ("plug_ins", *_PLUG_IN),
        ("plug_in", *_PLUG_IN),
        ("output", "result.save(path)", "--output FILE"),
    ),
    *_of(
        FORMER,
        ("builtins_only", 'allow_custom_ops="never"', "--allow-custom-ops never"),
        ("narrow", 'dtypes="narrow"', "--dtypes narrow"),
        ("widen", 'dtypes="widen"', "--dtypes widen"),
        ("representative_dataset", "quantize=Quantization(form, samples=...)", "--samples"),
        ("tolerance", "max_error", "--max-error"),
        ("kernel_modules", "kernels", "--kernels"),
        ("calls", "repeat", "--repeat"),
        ("coverage_seconds", "coverage", "--coverage"),
        ("random", "seed", "--seed"),
        ("to", "output", "--output"),
        ("variant", "quantize", "--quantize"),
        ("quantization_layers", "quantize=Quantization(form, measure_layers=True)", "--measure-layers"),
        ("form", "quantize", "--quantize"),
        ("no_check_fusions", "checks=Checks(fusions=False)", "--check-fusions no"),
        ("check", "checks=Checks(targets=...)", "--check-target yes"),
        ("no_check", "checks=Checks(targets=False)", "--check-target no"),
        ("require_accelerated", 'checks=Checks(targets="required")', "--check-target required"),
        ("timings", "result.report.timings", "-v"),
        ("after", "debug=Debugging(folder, dump_ir_after=...)", "--dump-ir-after PASS"),
    ),
)

#: Former flags of single commands, and what they are now.
FORMER_FLAGS = {
    "batch --check": "--target",
    "batch --html": "--save FILE.html",
    "batch --junit": "--save FILE.xml",
    "batch --retries": "retries under [batch] in models.toml",
    "benchmark --html": "litefuse report MODEL.tflite",
    "benchmark --ops": "--top",
    "check --html": "litefuse report MODEL.tflite --target NAME",
    "doctor cache --unused-for": "--keep DAYSd, such as --keep 30d",
    "kernels build --compiler": "the environment variable CXX",
    "kernels build --std": "the environment variable CXXFLAGS, such as CXXFLAGS=-std=c++20",
    "report --bytes": "part of --explorer",
    "report --no-open": "--port N",
    "report --write-node-data": "--explorer --output FOLDER",
    "verify --html": "litefuse report MODEL.tflite ORIGINAL",
}

_BY_NAME = {entry.name: entry for entry in NAMES}


def former_flag(command: str, flag: str, own: Collection[str]) -> str:
    """Returns what a former flag of a command is now; empty for another.

    Args:
        command: The command.
        flag: The flag.
        own: The flags that the command has.
    """
    if now := FORMER_FLAGS.get(f"{command} {flag}"):
        return now
    entry = name_elsewhere(flag)
    return entry.command if entry is not None and FORMER in entry.of and entry.command in own else ""
