# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false
"""Usual ways to call TFLiteConverter, written once for it and for litefuse's class of its name."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

__all__ = ["SCENARIOS", "Outcome", "Scenario", "convert_both"]

Outcome: TypeAlias = Literal["equal", "random", "near", "custom", "refused", "here", "there"]
"""Both give the same numbers; the same shapes of random ones; quantized ones, as near to those of floats; the same
custom ops; both refuse; only litefuse converts it; only TFLiteConverter does."""

_Make: TypeAlias = Callable[[Any, Any], Any]
_Tune: TypeAlias = Callable[[Any, Any, Any], None]


class Scenario(NamedTuple):
    """A way to call a converter.

    Attributes:
        make: Makes the converter of a model, of ``tf`` and the names of a converter (``tf.lite``).
        tune: Sets its attributes, of these and the converter.
        outcome: What comes of it.
        why: Why one of the two refuses it, or both.
        words: Part of litefuse's error where litefuse refuses it.
    """

    make: _Make
    tune: _Tune | None
    outcome: Outcome
    why: str
    words: str


SCENARIOS: dict[str, Scenario] = {}


def scenario(
    outcome: Outcome, tune: _Tune | None = None, *, name: str = "", why: str = "", words: str = ""
) -> Callable[[_Make], _Make]:
    """Adds a scenario of a function's name, or of another one."""

    def add(make: _Make) -> _Make:
        SCENARIOS[name or make.__name__] = Scenario(make, tune, outcome, why, words)
        return make

    return add


def convert_both(tf: Any, name: str) -> tuple[bytes | str, bytes | str, bytes | None]:
    """What both converters make of a scenario, or their errors; and the reference's model before quantization."""
    from litefuse.tools import compat

    stock = SimpleNamespace(**{each: getattr(tf.lite, each) for each in compat.lite.__all__}, v1=tf.compat.v1.lite)
    own = SimpleNamespace(**{each: getattr(compat.lite, each) for each in compat.lite.__all__}, v1=compat.v1)
    made = SCENARIOS[name]
    floats = _converted(tf, stock, made._replace(tune=None)) if made.outcome == "near" else None
    assert not isinstance(floats, str), floats
    return _converted(tf, stock, made), _converted(tf, own, made), floats


def _converted(tf: Any, lite: Any, made: Scenario) -> bytes | str:
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(0)
    try:
        converter = made.make(tf, lite)
        if made.tune is not None:
            made.tune(tf, lite, converter)
        return bytes(converter.convert())
    except Exception as error:  # noqa: BLE001  its error is the answer
        return f"{type(error).__name__}: {error}"


# --- attributes ---


def dynamic(_tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]


def tensorflows_enum(tf: Any, _lite: Any, converter: Any) -> None:
    converter.optimizations = {tf.lite.Optimize.DEFAULT}
    converter.target_spec = tf.lite.TargetSpec(supported_ops=[tf.lite.OpsSet.TFLITE_BUILTINS])


def float16(tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.target_spec.supported_types = [tf.float16]


def images(count: int = 16) -> Callable[[], Any]:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(count):
            yield [drawn.normal(size=[1, 6, 6, 3]).astype(np.float32)]

    return samples


def int8(_tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = images()


def int8_by_class(_tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = lite.RepresentativeDataset(images())


def int8_with_named_samples(_tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: ({"x": sample[0]} for sample in images()())


def int8_per_tensor(tf: Any, lite: Any, converter: Any) -> None:
    int8(tf, lite, converter)
    converter._experimental_disable_per_channel = True  # noqa: SLF001  the reference's name


def only_int8(tf: Any, lite: Any, converter: Any) -> None:
    int8(tf, lite, converter)
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS_INT8]
    converter.inference_input_type = tf.int8
    converter.inference_output_type = tf.int8


def only_uint8_inputs(tf: Any, lite: Any, converter: Any) -> None:
    only_int8(tf, lite, converter)
    converter.inference_input_type = converter.inference_output_type = tf.uint8


def only_int8_type(tf: Any, lite: Any, converter: Any) -> None:
    int8(tf, lite, converter)
    converter.target_spec.supported_types = [tf.int8]


def int16(_tf: Any, lite: Any, converter: Any) -> None:
    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = images()
    converter.target_spec.supported_ops = [
        lite.OpsSet.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8,
        lite.OpsSet.TFLITE_BUILTINS,
    ]


def int16_inputs(tf: Any, lite: Any, converter: Any) -> None:
    int16(tf, lite, converter)
    converter.target_spec.supported_ops = list(converter.target_spec.supported_ops)[:1]
    converter.inference_input_type = converter.inference_output_type = tf.int16


def int16_without_samples(tf: Any, lite: Any, converter: Any) -> None:
    int16(tf, lite, converter)
    converter.representative_dataset = None


def int8_without_samples(tf: Any, lite: Any, converter: Any) -> None:
    only_int8(tf, lite, converter)
    converter.representative_dataset = None


def int8_inputs_alone(tf: Any, _lite: Any, converter: Any) -> None:
    converter.inference_input_type = converter.inference_output_type = tf.int8


def dynamic_with_int8_inputs(tf: Any, lite: Any, converter: Any) -> None:
    dynamic(tf, lite, converter)
    int8_inputs_alone(tf, lite, converter)


def int8_inputs_float_outputs(tf: Any, lite: Any, converter: Any) -> None:
    only_int8(tf, lite, converter)
    converter.inference_output_type = tf.float32


def select(_tf: Any, lite: Any, converter: Any) -> None:
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS, lite.OpsSet.SELECT_TF_OPS]


def custom(_tf: Any, _lite: Any, converter: Any) -> None:
    converter.allow_custom_ops = True


def flags(_tf: Any, _lite: Any, converter: Any) -> None:
    converter.exclude_conversion_metadata = True
    converter.experimental_new_converter = True
    converter.experimental_new_quantizer = True
    converter.experimental_enable_resource_variables = True
    converter._experimental_lower_tensor_list_ops = True  # noqa: SLF001  the reference's name


# --- concrete functions ---


def concrete(tf: Any, lite: Any, function: Any, *specs: Any) -> Any:
    """A converter of one function."""
    traced = tf.function(function).get_concrete_function(*specs)
    root = tf.Module()
    root.function = traced
    return lite.TFLiteConverter.from_concrete_functions([traced], root)


@scenario("equal", name="function_of_variables")
@scenario("equal", flags, name="function_with_flags")
@scenario(
    "refused",
    int8_inputs_alone,
    name="float_function_with_int8_inputs",
    why="a floating-point model has floating-point inputs and outputs",
    words="must be float32",
)
@scenario(
    "refused",
    dynamic_with_int8_inputs,
    name="dynamic_function_with_int8_inputs",
    why="with only quantized weights, inputs and outputs stay in floating point",
    words="must be float32",
)
@scenario(
    "refused",
    int8_without_samples,
    name="int8_function_without_samples",
    why="int8 activations need ranges, from samples or from training",
    words="needs a representative_dataset",
)
def variables(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.v1, root.v2 = tf.Variable(3.0), tf.Variable(2.0)
    root.f = tf.function(lambda x: root.v1 * root.v2 * x)
    return lite.TFLiteConverter.from_concrete_functions([root.f.get_concrete_function(tf.TensorSpec([1]))], root)


@scenario("equal")
def function_of_a_scalar(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: x * 2.0 + 1.0, tf.TensorSpec([]))


@scenario("equal")
def function_of_strings(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, tf.identity, tf.TensorSpec([11], tf.string))


@scenario("equal")
def function_without_inputs(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda: tf.range(3.0) * 2.0)


@scenario("random")
def function_of_random_numbers(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda: tf.random.uniform([3]))


@scenario("equal")
def function_of_dictionaries(tf: Any, lite: Any) -> Any:
    spec = {"left": tf.TensorSpec([2], name="left"), "right": tf.TensorSpec([2], name="right")}
    return concrete(tf, lite, lambda d: {"sum": d["left"] + d["right"], "difference": d["left"] - d["right"]}, spec)


@scenario("equal")
def several_functions(tf: Any, lite: Any) -> Any:
    class Two(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            self.y, self.z = tf.Variable(2.0), tf.Variable(3.0)

        @tf.function
        def add(self, x: Any) -> Any:
            return x + self.y

        @tf.function
        def sub(self, x: Any) -> Any:
            return x - self.z

    root = Two()
    spec = tf.TensorSpec([1])
    functions = [root.add.get_concrete_function(spec), root.sub.get_concrete_function(spec)]
    return lite.TFLiteConverter.from_concrete_functions(functions, root)


@scenario("refused", why="a `tf.function` may have any number of traces", words="not a concrete function")
def function_that_is_not_concrete(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_concrete_functions([tf.function(lambda x: x)], tf.Module())


@scenario("refused", why="there is nothing to convert", words="no concrete function")
def no_functions(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_concrete_functions([], tf.Module())


@scenario("equal")
def variable_that_is_written(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.v = tf.Variable([1.0, 2.0])
    root.f = tf.function(root.v.assign_add)
    return lite.TFLiteConverter.from_concrete_functions([root.f.get_concrete_function(tf.TensorSpec([2]))], root)


@scenario("equal", name="convolution")
@scenario("equal", select, name="convolution_with_select_ops_allowed")
@scenario("near", dynamic, name="convolution_dynamic")
@scenario("near", tensorflows_enum, name="convolution_with_tensorflows_enums")
@scenario("near", float16, name="convolution_float16")
@scenario("near", int8, name="convolution_int8")
@scenario("near", int8_by_class, name="convolution_int8_by_class")
@scenario("near", int8_with_named_samples, name="convolution_int8_with_named_samples")
@scenario("near", int8_per_tensor, name="convolution_int8_per_tensor")
@scenario("near", only_int8, name="convolution_only_int8")
@scenario("near", only_uint8_inputs, name="convolution_only_uint8_inputs")
@scenario("near", only_int8_type, name="convolution_only_int8_type")
@scenario("near", int16, name="convolution_16x8")
@scenario("near", int16_inputs, name="convolution_16x8_with_int16_inputs")
@scenario(
    "there",
    int16_without_samples,
    name="convolution_16x8_without_samples",
    why="int16 ranges come from samples; TFLiteConverter silently quantizes the weights alone",
    words="need a representative_dataset",
)
@scenario("near", int8_inputs_float_outputs, name="convolution_int8_inputs_float_outputs")
def conv(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.filters = tf.Variable(tf.random.stateless_normal([3, 3, 3, 40], [1, 2]))
    root.bias = tf.Variable(tf.random.stateless_normal([40], [3, 4]))

    @tf.function(input_signature=[tf.TensorSpec([1, 6, 6, 3], name="x")])
    def f(x: Any) -> Any:
        return tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, root.filters, 1, "SAME"), root.bias))

    root.f = f
    return lite.TFLiteConverter.from_concrete_functions([f.get_concrete_function()], root)


@scenario(
    "there",
    only_int8,
    name="an_op_without_integers_only_int8",
    why="LiteRT has no integer ATAN2, which TFLiteConverter silently leaves in floating point. Add `TFLITE_BUILTINS`",
    words="integers",
)
@scenario("near", int8, name="an_op_without_integers_int8")
def erf(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: tf.math.atan2(x, 2.0 * x * x + 1.0), tf.TensorSpec([1, 6, 6, 3], name="x"))


@scenario("near", dynamic)
def embedding(tf: Any, lite: Any) -> Any:
    table = tf.constant(np.random.default_rng(0).normal(size=[200, 128]).astype(np.float32))
    return concrete(tf, lite, lambda ids: tf.gather(table, ids), tf.TensorSpec([None], tf.int32, name="ids"))


@scenario("equal", name="trained_with_fake_quantization")
@scenario("near", dynamic, name="trained_with_fake_quantization_quantized")
def trained(tf: Any, lite: Any) -> Any:
    fake = tf.quantization.fake_quant_with_min_max_args
    filters = tf.constant(np.random.default_rng(0).uniform(-1, 1, [3, 3, 3, 8]).astype(np.float32))

    def f(x: Any) -> Any:
        kernel = fake(filters, -1.0, 1.0, narrow_range=True)
        return fake(tf.nn.relu(tf.nn.conv2d(fake(x, -3.0, 3.0), kernel, 1, "SAME")), 0.0, 6.0)

    return concrete(tf, lite, f, tf.TensorSpec([1, 6, 6, 3], name="x"))


# --- unknown shapes, slices, control flow, variants ---


@scenario("equal")
def product_of_unknown_sizes(tf: Any, lite: Any) -> Any:
    factor = tf.constant(np.random.default_rng(0).normal(size=[4, 5]).astype(np.float32))
    return concrete(tf, lite, lambda x: tf.matmul(x, factor), tf.TensorSpec([None, 4], name="x"))


@scenario("equal")
def batch_of_products(tf: Any, lite: Any) -> Any:
    spec = tf.TensorSpec([None, 2, 3], name="a"), tf.TensorSpec([None, 3, 4], name="b")
    return concrete(tf, lite, tf.matmul, *spec)


@scenario("equal")
def slices(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: x[1:3, ..., ::2, tf.newaxis], tf.TensorSpec([4, 5, 6], name="x"))


@scenario("equal")
def condition(tf: Any, lite: Any) -> Any:
    def f(x: Any, c: Any) -> Any:
        return tf.cond(c, lambda: x * 2.0, lambda: x - 1.0)

    return concrete(tf, lite, f, tf.TensorSpec([3], name="x"), tf.TensorSpec([], tf.bool, name="c"))


@scenario("equal")
def while_loop(tf: Any, lite: Any) -> Any:
    def f(x: Any) -> Any:
        return tf.while_loop(lambda i, _: i < 5, lambda i, y: (i + 1, y * 1.5 + 1.0), [0, x])[1]

    return concrete(tf, lite, f, tf.TensorSpec([3], name="x"))


@scenario("here", why="TFLiteConverter's model is invalid: it reorders writes to the array")
def tensor_array(tf: Any, lite: Any) -> Any:
    def f(x: Any) -> Any:
        array = tf.TensorArray(tf.float32, 4)
        for index in range(4):
            array = array.write(index, x[index] * float(index + 1))
        return array.stack()

    return concrete(tf, lite, f, tf.TensorSpec([4, 3], name="x"))


@scenario("equal")
def map_of_a_function(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: tf.map_fn(lambda row: row * row, x), tf.TensorSpec([4, 3], name="x"))


@scenario("equal")
def hash_table(tf: Any, lite: Any) -> Any:
    initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], tf.constant([1, 2], tf.int64))
    root = tf.Module()
    root.table = tf.lookup.StaticHashTable(initializer, -1)
    root.f = tf.function(root.table.lookup)
    concrete_function = root.f.get_concrete_function(tf.TensorSpec([3], tf.string, name="words"))
    return lite.TFLiteConverter.from_concrete_functions([concrete_function], root)


@scenario("here", why="litefuse builds acosh from builtin ops; TFLiteConverter needs Select TF ops")
def an_op_of_select_ops(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: tf.math.acosh(2.0 + x * x), tf.TensorSpec([4], name="x"))


@scenario(
    "refused",
    name="an_op_of_strings",
    why="LiteRT has no StringJoin. With `allow_custom_ops`, it is a custom op, with a kernel in litefuse",
    words="allow_custom_ops = True",
)
@scenario(
    "there",
    select,
    name="an_op_of_strings_with_select_ops",
    why="litefuse makes no Select TF ops. With `allow_custom_ops`, it is a custom op, with a kernel in litefuse",
    words="SELECT_TF_OPS is not supported",
)
@scenario("custom", custom, name="an_op_of_strings_with_custom_ops")
def join(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: tf.strings.join([x, "!"]), tf.TensorSpec([4], tf.string, name="x"))


@scenario("refused", name="an_op_that_litert_lacks", why="LiteRT has no Igamma", words="allow_custom_ops = True")
@scenario("custom", custom, name="an_op_that_litert_lacks_with_custom_ops")
def igamma(tf: Any, lite: Any) -> Any:
    return concrete(tf, lite, lambda x: tf.math.igamma(1.0 + x * x, 2.0), tf.TensorSpec([4], name="x"))


def int8_of(*batches: int, size: int) -> _Tune:
    """Integers with samples of these batches."""

    def tune(_tf: Any, lite: Any, converter: Any) -> None:
        def samples() -> Any:
            drawn = np.random.default_rng(1)
            for batch in batches * 4:
                yield [drawn.uniform(-1, 1, [batch, size]).astype(np.float32)]

        converter.optimizations = [lite.Optimize.DEFAULT]
        converter.representative_dataset = samples

    return tune


@scenario("equal", name="products_of_a_computed_shape")
@scenario("near", dynamic, name="products_of_a_computed_shape_dynamic")
@scenario("near", int8_of(5, 10, 15, size=33), name="products_of_a_computed_shape_int8")
def computed_shape(tf: Any, lite: Any) -> Any:
    weights = tf.constant(np.random.default_rng(0).uniform(-10, 10, [33, 33]).astype(np.float32))

    def f(x: Any) -> Any:
        ones = tf.transpose(tf.fill(tf.shape(x), 1.0))
        return tf.matmul(tf.matmul(ones, x), weights)

    return concrete(tf, lite, f, tf.TensorSpec([None, 33], name="x"))


@scenario("equal")
def batch_of_int8_products(tf: Any, lite: Any) -> Any:
    spec = tf.TensorSpec([None, 4, 6], tf.int8, "a"), tf.TensorSpec([None, 6, 3], tf.int8, "b")
    return concrete(tf, lite, lambda a, b: tf.matmul(a, b, output_type=tf.int32), *spec)


@scenario("near", dynamic)
def batch_of_products_with_a_constant(tf: Any, lite: Any) -> Any:
    right = tf.constant(np.random.default_rng(0).uniform(0, 1, [1, 32, 64]).astype(np.float32))
    return concrete(tf, lite, lambda x: tf.matmul(x, right), tf.TensorSpec([None, 64, 32], name="x"))


@scenario("equal")
def slice_from_a_computed_position(tf: Any, lite: Any) -> Any:
    spec = tf.TensorSpec([16], name="x"), tf.TensorSpec([1], tf.int32, "begin")
    return concrete(tf, lite, lambda x, begin: tf.strided_slice(x, begin, begin + 3), *spec)


@scenario("equal")
def constants_that_are_folded(tf: Any, lite: Any) -> Any:
    def f(x: Any) -> Any:
        return tf.matmul(x, tf.broadcast_to(tf.constant([1.0, 2.0, 3.0]), [3, 3]))

    return concrete(tf, lite, f, tf.TensorSpec([3, 3], name="x"))


def branches(tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for number in range(10):
            yield {"x": drawn.uniform(-1, 1, [1, 2]).astype(np.float32), "b": np.array(number % 2 == 0)}

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    converter.inference_input_type = converter.inference_output_type = tf.int8


def branches_by_lists(tf: Any, lite: Any, converter: Any) -> None:
    branches(tf, lite, converter)
    by_name = converter.representative_dataset
    converter.representative_dataset = lambda: ([each["x"], tf.constant(each["b"])] for each in by_name())


@scenario("near", branches, name="condition_int8")
@scenario(
    "here",
    branches_by_lists,
    name="condition_int8_with_samples_in_lists",
    why="TFLiteConverter passes the float array to the condition: a hash decides the order of inputs",
)
def condition_that_is_quantized(tf: Any, lite: Any) -> Any:
    def f(x: Any, b: Any) -> Any:
        doubled = x + x
        taken = tf.cond(b, lambda: doubled * 1.0, lambda: doubled + 0.0)
        return taken + taken

    return concrete(tf, lite, f, tf.TensorSpec([1, 2], name="x"), tf.TensorSpec([], tf.bool, name="b"))


def lists_of_one_shape(tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(8):
            yield [(scale * drawn.uniform(-1, 1, [1, 3])).astype(np.float32) for scale in (4, 1)]

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    converter.inference_input_type = tf.int8


def keras_with_two_inputs(tf: Any, lite: Any) -> Any:
    """Inputs whose names are in another order than they are."""
    inputs = [tf.keras.Input((3,), 1, name=name) for name in ("zeta", "alpha")]
    added = tf.keras.layers.Add()([tf.keras.layers.Dense(3)(each) for each in inputs])
    return lite.TFLiteConverter.from_keras_model(tf.keras.Model(inputs, added))


@scenario(
    "there",
    lists_of_one_shape,
    why="the samples are lists of arrays of the same shape, whose order a hash decides. Yield mappings",
    words="in several ways",
)
def samples_in_an_order_that_is_not_known(tf: Any, lite: Any) -> Any:
    root, spec = tf.Module(), [tf.TensorSpec([1, 3], name=name) for name in "ab"]
    root.f = tf.function(lambda a, b: a + tf.tanh(b), input_signature=spec)
    return lite.TFLiteConverter.from_saved_model(saved(tf, root, serving_default=root.f))


def volumes(_tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(5):
            yield [drawn.uniform(-1, 1, [2, 3, 3, 3, 3]).astype(np.float32)]

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples
    converter.target_spec.supported_ops = [lite.OpsSet.TFLITE_BUILTINS, lite.OpsSet.SELECT_TF_OPS]


@scenario("here", volumes, why="TFLiteConverter's model needs the Select TF ops delegate for erf")
def volumes_int8_with_select_ops(tf: Any, lite: Any) -> Any:
    filters = tf.constant(np.random.default_rng(0).normal(size=[3, 3, 3, 3, 3]).astype(np.float32))

    def f(x: Any) -> Any:
        return tf.tanh(tf.math.erf(tf.nn.conv3d(tf.tanh(x), filters, [1] * 5, "SAME")))

    return concrete(tf, lite, f, tf.TensorSpec([2, 3, 3, 3, 3], name="x"))


def refused_flag(name: str, value: object) -> _Tune:
    def tune(tf: Any, lite: Any, converter: Any) -> None:
        only_int8(tf, lite, converter)
        setattr(converter, name, value)

    return tune


scenario(
    "there",
    refused_flag("_experimental_calibrate_only", True),
    name="calibration_alone",
    why="litefuse calibrates and quantizes in one step",
    words="calibration and quantization are one step",
)(conv)


# --- SavedModels ---


def saved(tf: Any, root: Any, **signatures: Any) -> str:
    """The folder of a SavedModel that is there until the process ends."""
    folder = tempfile.mkdtemp()
    tf.saved_model.save(root, folder, signatures=signatures or None)
    return folder


def two_signatures(tf: Any) -> str:
    root = tf.Module()
    root.v = tf.Variable(tf.random.stateless_normal([8, 40], [5, 6]))
    spec = tf.TensorSpec([1, 8], name="x")
    root.double = tf.function(lambda x: {"y": tf.matmul(x, root.v) * 2.0}, input_signature=[spec])
    root.triple = tf.function(lambda x: {"z": tf.matmul(x, root.v) * 3.0}, input_signature=[spec])
    return saved(tf, root, double=root.double, triple=root.triple)


def pairs(_tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(8):
            for key in ("double", "triple"):
                yield key, {"x": drawn.normal(size=[1, 8]).astype(np.float32)}

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples


@scenario("equal")
@scenario("near", pairs, name="all_signatures_int8")
def all_signatures(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_saved_model(two_signatures(tf))


@scenario("equal")
def one_signature(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_saved_model(two_signatures(tf), signature_keys=["triple"])


@scenario("equal")
def tags(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_saved_model(two_signatures(tf), ["double"], tags={"serve"})


@scenario("refused", why="no such signature", words="no signature 'quadruple'")
def unknown_signature(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_saved_model(two_signatures(tf), signature_keys=["quadruple"])


@scenario("refused", why="no such graph", words="no graph is tagged train")
def unknown_tags(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_saved_model(two_signatures(tf), tags={"train"})


@scenario("refused", why="no signature", words="no signature")
def saved_model_without_functions(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.v = tf.Variable(1.0)
    return lite.TFLiteConverter.from_saved_model(saved(tf, root))


@scenario("equal")
def saved_model_of_tensorflow_1(tf: Any, lite: Any) -> Any:
    folder = str(Path(tempfile.mkdtemp(), "model"))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        a = tf.compat.v1.placeholder(tf.float32, [1, 4, 4, 3], "a")
        b = tf.compat.v1.placeholder(tf.float32, [1, 4, 4, 3], "b")
        session.run(tf.compat.v1.global_variables_initializer())
        tf.compat.v1.saved_model.simple_save(session, folder, {"a": a, "b": b}, {"sum": a + 2.0 * b})
    return lite.TFLiteConverter.from_saved_model(folder)


@scenario("equal")
def saved_model_of_constants(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.f = tf.function(lambda x: 2.0 * x, input_signature=[tf.TensorSpec([1], name="x")])
    return lite.TFLiteConverter.from_saved_model(saved(tf, root, serving_default=root.f))


@scenario("equal")
def saved_model_of_keras(tf: Any, lite: Any) -> Any:
    folder = str(Path(tempfile.mkdtemp(), "model"))
    dense(tf).export(folder, verbose=False)
    return lite.TFLiteConverter.from_saved_model(folder)


@scenario("equal")
def saved_model_of_unknown_rank(tf: Any, lite: Any) -> Any:
    folder = str(Path(tempfile.mkdtemp(), "model"))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.compat.v1.placeholder(tf.float32, None, "x")
        tf.compat.v1.saved_model.simple_save(session, folder, {"x": x}, {"y": x + x})
    return lite.TFLiteConverter.from_saved_model(folder)


@scenario("equal")
def hash_table_of_tensorflow_1(tf: Any, lite: Any) -> Any:
    folder, v1 = str(Path(tempfile.mkdtemp(), "model")), tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        initializer = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64)
        table = tf.lookup.StaticHashTable(initializer, -1)
        x = v1.placeholder(tf.string, [3], "x")
        utils = v1.saved_model.utils
        signature = v1.saved_model.build_signature_def(
            {"x": utils.build_tensor_info(x)}, {"y": utils.build_tensor_info(table.lookup(x))}, "some_function"
        )
        builder = v1.saved_model.Builder(folder)
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"serving_default": signature}, main_op=v1.tables_initializer()
        )
        builder.save()
    return lite.TFLiteConverter.from_saved_model(folder)


@scenario("equal")
def signatures_that_share_a_weight(tf: Any, lite: Any) -> Any:
    root = tf.Module()
    root.v = tf.Variable(tf.random.stateless_normal([100, 100], [5, 6]))
    spec = [tf.TensorSpec([2, 100], name="x")]
    root.once = tf.function(lambda x: tf.matmul(x, root.v), input_signature=spec)
    root.twice = tf.function(lambda x: tf.matmul(tf.matmul(x, root.v), root.v), input_signature=spec)
    return lite.TFLiteConverter.from_saved_model(saved(tf, root, once=root.once, twice=root.twice))


# --- Keras models ---


def dense(tf: Any) -> Any:
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Input((8,)), layers.Dense(40, "relu"), layers.Dense(40), layers.Softmax()])


def rows(_tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(16):
            yield [drawn.normal(size=[1, 8]).astype(np.float32)]

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples


@scenario("equal", name="keras_sequential")
@scenario("near", dynamic, name="keras_sequential_dynamic")
@scenario("near", float16, name="keras_sequential_float16")
@scenario("near", rows, name="keras_sequential_int8")
def keras_sequential_model(tf: Any, lite: Any) -> Any:
    return lite.TFLiteConverter.from_keras_model(dense(tf))


def named_rows(_tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(16):
            yield {"left": drawn.normal(size=[1, 8]), "right": drawn.normal(size=[1, 5])}

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = lambda: (
        {name: value.astype(np.float32) for name, value in each.items()} for each in samples()
    )


@scenario("equal", name="keras_several_inputs_and_outputs")
@scenario("near", named_rows, name="keras_several_inputs_and_outputs_int8")
def keras_several(tf: Any, lite: Any) -> Any:
    layers = tf.keras.layers
    left, right = layers.Input((8,), name="left"), layers.Input((5,), name="right")
    both = layers.Concatenate()([left, layers.Dense(6)(right)])
    model = tf.keras.Model([left, right], [layers.Dense(40, name="a")(both), layers.Dense(40, name="b")(right)])
    return lite.TFLiteConverter.from_keras_model(model)


def named_squares(tf: Any, lite: Any, converter: Any) -> None:
    int16_inputs(tf, lite, converter)
    samples = np.random.default_rng(1).normal(size=[8, 3, 3, 3]).astype(np.float32)
    converter.representative_dataset = lambda: [{"x": sample} for sample in samples]


@scenario("near", named_squares)
def keras_sum_16x8(tf: Any, lite: Any) -> Any:
    x = tf.keras.Input([3, 3], 3, name="x")
    return lite.TFLiteConverter.from_keras_model(tf.keras.Model(x, tf.keras.ops.sum(x, axis=-1)))


def keras_layers(*names: str) -> None:
    for name in names:

        def make(tf: Any, lite: Any, name: str = name) -> Any:
            shape, layer = _layers(tf)[name]
            model = tf.keras.Sequential([tf.keras.layers.Input(shape, batch_size=1), layer()])
            return lite.TFLiteConverter.from_keras_model(model)

        scenario("equal", name=f"keras_{name}")(make)


def _layers(tf: Any) -> dict[str, tuple[tuple[int, ...], Any]]:
    layers = tf.keras.layers
    return {
        "lstm": ((5, 4), lambda: layers.LSTM(6)),
        "lstm_sequences": ((5, 4), lambda: layers.LSTM(6, return_sequences=True)),
        "gru": ((5, 4), lambda: layers.GRU(6)),
        "simple_rnn": ((5, 4), lambda: layers.SimpleRNN(6)),
        "bidirectional_lstm": ((5, 4), lambda: layers.Bidirectional(layers.LSTM(6, return_sequences=True))),
        "conv_lstm": ((3, 6, 6, 2), lambda: layers.ConvLSTM2D(4, 3)),
        "dense_of_three_dimensions": ((5, 4), lambda: layers.Dense(6)),
        "conv_transpose": ((5, 5, 3), lambda: layers.Conv2DTranspose(4, 3, strides=2)),
        "depthwise": ((6, 6, 3), lambda: layers.DepthwiseConv2D(3)),
    }


keras_layers(
    "lstm",
    "lstm_sequences",
    "gru",
    "simple_rnn",
    "bidirectional_lstm",
    "conv_lstm",
    "dense_of_three_dimensions",
    "conv_transpose",
    "depthwise",
)


@scenario("here", why="TFLiteConverter's model fails when it is called: it reads variables that it does not fill")
def lstm_of_fixed_sizes(tf: Any, lite: Any) -> Any:
    """The way of the guide for recurrent layers: a concrete function with a fixed batch."""
    model = tf.keras.Sequential([tf.keras.layers.Input((6, 4)), tf.keras.layers.LSTM(8), tf.keras.layers.Dense(3)])
    traced = tf.function(model).get_concrete_function(tf.TensorSpec([1, 6, 4], name="x"))
    return lite.TFLiteConverter.from_saved_model(saved(tf, model, serving_default=traced))


# --- TensorFlow 1 ---


def frozen(tf: Any, shape: list[int | None]) -> str:
    path = Path(tempfile.mkdtemp(), "graph.pb")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session():
        a = tf.compat.v1.placeholder(tf.float32, shape, "a")
        b = tf.compat.v1.placeholder(tf.float32, shape, "b")
        tf.subtract(a, 2.0 * b, name="difference")
        tf.multiply(a, b, name="product")
        path.write_bytes(graph.as_graph_def().SerializeToString())
    return str(path)


def lists_in_order(_tf: Any, lite: Any, converter: Any) -> None:
    def samples() -> Any:
        drawn = np.random.default_rng(1)
        for _ in range(16):
            yield [drawn.normal(size=[1, 4]).astype(np.float32), 9.0 * drawn.normal(size=[1, 4]).astype(np.float32)]

    converter.optimizations = [lite.Optimize.DEFAULT]
    converter.representative_dataset = samples


@scenario("equal", name="frozen_graph")
@scenario("near", lists_in_order, name="frozen_graph_int8")
def frozen_graph_of_given_order(tf: Any, lite: Any) -> Any:
    return lite.v1.TFLiteConverter.from_frozen_graph(frozen(tf, [1, 4]), ["b", "a"], ["difference", "product"])


@scenario("equal")
def frozen_graph_with_shapes(tf: Any, lite: Any) -> Any:
    shapes = {"a": [2, 4], "b": [2, 4]}
    path = frozen(tf, [None, 4])
    return lite.v1.TFLiteConverter.from_frozen_graph(path, ["a", "b"], ["difference"], input_shapes=shapes)


@scenario("refused", why="no such node", words="unknown node 'c'")
def frozen_graph_with_an_unknown_input(tf: Any, lite: Any) -> Any:
    return lite.v1.TFLiteConverter.from_frozen_graph(frozen(tf, [1, 4]), ["a", "c"], ["difference"])


@scenario("refused", why="no such node", words="unknown node 'quotient'")
def frozen_graph_with_an_unknown_output(tf: Any, lite: Any) -> Any:
    return lite.v1.TFLiteConverter.from_frozen_graph(frozen(tf, [1, 4]), ["a", "b"], ["quotient"])


@scenario("refused", why="no such file", words="is not there")
def frozen_graph_that_is_not_there(_tf: Any, lite: Any) -> Any:
    return lite.v1.TFLiteConverter.from_frozen_graph(tempfile.mkdtemp() + "/graph.pb", ["a"], ["b"])


@scenario("equal")
def session(tf: Any, lite: Any) -> Any:
    with tf.Graph().as_default(), tf.compat.v1.Session() as running:
        x = tf.compat.v1.placeholder(tf.float32, [1, 4], "x")
        v = tf.compat.v1.get_variable("v", initializer=np.arange(4, dtype=np.float32))
        y = tf.add(x, v, name="y")
        running.run(tf.compat.v1.global_variables_initializer())
        return lite.v1.TFLiteConverter.from_session(running, [x], [y])


@scenario("here", why="TFLiteConverter's Keras 2 reader is not available with Keras 3")
def keras_file(tf: Any, lite: Any) -> Any:
    path = str(Path(tempfile.mkdtemp(), "model.h5"))
    dense(tf).save(path)
    return lite.v1.TFLiteConverter.from_keras_model_file(path)


@scenario("equal")
def one_signature_by_its_tensorflow_1_name(tf: Any, lite: Any) -> Any:
    return lite.v1.TFLiteConverter.from_saved_model(two_signatures(tf), signature_key="double", tag_set={"serve"})
