# pyright: reportUnknownLambdaType=false
"""Composites whose results' shapes follow from arguments' values: the caller knows more of them than the function."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec, custom_op
from tests.tensorflow.checking import check, difference, normal, op_counts, run_calls
from tests.tensorflow.saved_models import serving
from tests.tensorflow.test_composites import implements

if TYPE_CHECKING:
    from litefuse.support.options.forms import CompositeForm
    from tests.tensorflow.process import TensorFlow

FORMS: tuple[CompositeForm, ...] = ("fuse", "custom", "keep", "builtin", "inline")
SHAPES = {"x": (None, 9)}


class Kernel(CustomOp):
    """What the composite of its name computes; sizes are known only when it runs."""

    results: tuple[Any, ...] = (np.float32,)

    def prepare(self, x: TensorSpec, *_: TensorSpec) -> list[TensorSpec]:
        del x
        return [TensorSpec(None, dtype) for dtype in self.results]

    def invoke(self, inputs: Any, outputs: Any) -> None:
        for index, value in enumerate(self.compute(*inputs)):
            outputs[index] = value

    def compute(self, x: Any, argument: Any) -> list[Any]:
        raise NotImplementedError


@custom_op("TopK")
class TopK(Kernel):
    results = (np.float32, np.int32)

    def compute(self, x: Any, argument: Any) -> list[Any]:
        order = np.argsort(-x, 1, "stable")[:, : int(argument)].astype(np.int32)
        return [np.take_along_axis(x, order, 1), order]


@custom_op("Enlarge")
class Enlarge(Kernel):
    def compute(self, x: Any, argument: Any) -> list[Any]:
        return [x.repeat(argument[0] // x.shape[1], 1).repeat(argument[1] // x.shape[2], 2)]


@custom_op("Arrange")
class Arrange(Kernel):
    def compute(self, x: Any, argument: Any) -> list[Any]:
        return [x.reshape(argument) * np.float32(2)]


@custom_op("Total")
class Total(Kernel):
    def compute(self, x: Any, argument: Any) -> list[Any]:
        return [x.sum(tuple(argument))]


@custom_op("Square")
class Square(Kernel):
    def compute(self, x: Any, argument: Any) -> list[Any]:
        return [np.full([int(argument)] * 2, x.max())]


@custom_op("best_of_all")
class BestOfAll(Kernel):
    results = (np.float32, np.float32)

    def compute(self, x: Any, argument: Any) -> list[Any]:
        best = -np.sort(-x, 1)[:, : int(argument)]
        return [best, best.max()]


KERNELS = (TopK, Enlarge, Arrange, Total, Square)


def top_k(tf: Any) -> Any:
    @tf.function(experimental_implements=implements("TopK"), autograph=False)
    def top_k(x: Any, k: Any = 5) -> Any:  # TensorFlow passes the default as a tensor
        found = tf.math.top_k(x, k)
        return found.values, found.indices

    return top_k


def returned(tf: Any) -> Any:
    top = top_k(tf)
    return serving(tf, lambda x: dict(zip(("values", "indices"), top(x), strict=True)), ("x", [None, 9], "float32"))


def returned_of_one_size(tf: Any) -> Any:
    top = top_k(tf)
    return serving(tf, lambda x: {"y": top(x, 3)[0]}, ("x", [2, 9], "float32"))


def used_and_returned(tf: Any) -> Any:
    top = top_k(tf)

    def serve(x: Any) -> Any:
        values, indices = top(x)
        kernel = tf.reshape(tf.range(10.0), [5, 2])
        again, _ = top(values, 2)
        return {"values": values, "product": values @ kernel, "again": again, "relu": tf.nn.relu(values), "i": indices}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def asserted(tf: Any) -> Any:
    """What follows changes no value, and says what is known anyway."""
    top = top_k(tf)

    def serve(x: Any) -> Any:
        values, indices = top(x)
        return {
            "a": tf.stop_gradient(tf.ensure_shape(values, [None, 5])),
            "b": tf.reshape(values, [-1, 5]),
            "c": tf.raw_ops.Snapshot(input=tf.identity_n([values, indices])[0]),
            "d": tf.raw_ops.PreventGradient(input=tf.cast(values, tf.float32)),
            "e": tf.debugging.check_numerics(values, "no number"),
            "f": tf.raw_ops.Cast(x=indices, DstT=tf.int32),
        }

    return serving(tf, serve, ("x", [None, 9], "float32"))


def in_branches(tf: Any) -> Any:
    top = top_k(tf)

    def serve(x: Any) -> Any:
        return {"y": tf.cond(tf.reduce_sum(x) > 0.0, lambda: top(x)[0], lambda: top(-x, 5)[0] * 2.0)}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def in_a_loop(tf: Any) -> Any:
    top = top_k(tf)

    def serve(x: Any) -> Any:
        loop = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, top(x + tf.reduce_sum(y))[0]),
            [tf.constant(0), tf.zeros([2, 5])],
        )
        return {"y": loop[1]}

    return serving(tf, serve, ("x", [2, 9], "float32"))


def in_a_composite(tf: Any) -> Any:
    top = top_k(tf)

    @tf.function(experimental_implements="best_of_all", autograph=False)
    def best_of_all(x: Any, k: Any) -> Any:  # no fusion is registered for it
        return top(x, k)[0], tf.reduce_max(top(x, k)[0])

    return serving(tf, lambda x: dict(zip("ab", best_of_all(x, 4), strict=True)), ("x", [None, 9], "float32"))


def of_an_image(tf: Any) -> Any:
    @tf.function(experimental_implements=implements("Enlarge"), autograph=False)
    def enlarge(x: Any, size: Any) -> Any:
        return tf.image.resize(x, size, "nearest")

    def serve(x: Any) -> Any:
        image = tf.reshape(x, [-1, 3, 3, 1])
        return {"y": enlarge(image, tf.constant([6, 9])), "z": tf.nn.avg_pool2d(enlarge(image, (6, 6)), 2, 2, "SAME")}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def of_shape_and_size(tf: Any) -> Any:
    @tf.function(experimental_implements=implements("Arrange"), autograph=False)
    def arrange(x: Any, shape: Any) -> Any:
        return tf.reshape(x, shape) * 2.0

    @tf.function(experimental_implements=implements("Square"), autograph=False)
    def square(x: Any, size: Any = 4) -> Any:
        return tf.fill([size, size], tf.reduce_max(x))

    def serve(x: Any) -> Any:
        return {"cube": arrange(x, tf.constant([-1, 3, 3])), "square": square(x)}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def of_axes(tf: Any) -> Any:
    @tf.function(experimental_implements=implements("Total"), autograph=False)
    def total(x: Any, axis: Any) -> Any:  # even the rank is unknown inside
        return tf.reduce_sum(x, axis)

    return serving(
        tf, lambda x: {"rows": total(x, tf.constant([1])), "all": total(x, [0, 1])}, ("x", [None, 9], "float32")
    )


def of_two_values(tf: Any) -> Any:
    """One function, whose results have another size at each call; some are not read."""
    top = top_k(tf)
    return serving(tf, lambda x: {"a": top(x, 5)[0], "b": top(x, 3)[0], "c": top(x, 3)[1]}, ("x", [None, 9], "float32"))


def asserted_of_a_branch(tf: Any) -> Any:
    """Neither branch knows what is said of the result."""
    top = top_k(tf)

    def serve(x: Any) -> Any:
        k = tf.cast(tf.reduce_sum(x) * 0.0, tf.int32) + 5
        y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: top(x, k)[0], lambda: top(-x, k)[0])
        return {"y": tf.ensure_shape(y, [None, 5]), "z": tf.identity(y) * 2.0}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def asserted_of_a_loop(tf: Any) -> Any:
    """A loop's variable has other sizes in other turns; more is said of it after the loop."""
    top = top_k(tf)

    def serve(x: Any) -> Any:
        loop = tf.while_loop(
            lambda i, y: i < 3,
            lambda i, y: (i + 1, top(y, 8 - i)[0]),
            [tf.constant(0), x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])],
        )
        return {"y": tf.ensure_shape(loop[1], [None, 6]) @ tf.ones([6, 2]), "z": loop[1]}

    return serving(tf, serve, ("x", [None, 9], "float32"))


def asserted_of_an_input(tf: Any) -> Any:
    top = top_k(tf)

    def serve(x: Any) -> Any:
        y = tf.ensure_shape(x, [None, 9])
        return {"y": top(y, 2)[0], "z": tf.stop_gradient(y), "w": x}

    return serving(tf, serve, ("x", [None, None], "float32"))


def read_by_all_kinds(tf: Any) -> Any:
    top = top_k(tf)

    def serve(x: Any) -> Any:
        values, indices = top(x)
        return {
            "a": tf.transpose(values),
            "b": tf.concat([values, values], 1),
            "c": tf.stack(tf.unstack(values, 5, 1)),
            "d": tf.one_hot(indices, 9),
            "e": tf.nn.softmax(values),
            "f": tf.gather(x, indices, batch_dims=1),
            "g": tf.reshape(values, [-1]),
            "h": tf.cast(values * 10.0, tf.int32),
            "i": tf.math.erf(values),
            "j": tf.split(values, 5, 1)[2],
            "k": tf.matmul(values, values, transpose_b=True),
        }

    return serving(tf, serve, ("x", [None, 9], "float32"))


BUILDERS = (
    asserted_of_a_branch,
    asserted_of_a_loop,
    asserted_of_an_input,
    of_two_values,
    read_by_all_kinds,
    returned,
    returned_of_one_size,
    used_and_returned,
    asserted,
    in_branches,
    in_a_loop,
    in_a_composite,
    of_an_image,
    of_shape_and_size,
    of_axes,
)


def check_kept_axes(tensorflow: TensorFlow, inputs: Any) -> None:
    """As ``check``, which wants all ranks to be known: the body's is not."""
    path, calls = tensorflow.save(of_axes), [("serving_default", each) for each in inputs for _ in range(2)]
    model = litefuse.convert(path, composites="keep").model_bytes
    assert op_counts(model)["STABLEHLO_COMPOSITE"] == 2
    for ours, theirs in zip(run_calls(model, calls), tensorflow.run_calls(path, calls), strict=True):
        assert ours.keys() == theirs.keys()
        assert not any(difference(ours[name], theirs[name], rtol=1e-5) for name in ours)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("builder", BUILDERS, ids=lambda builder: builder.__name__)
def test_forms(tensorflow: TensorFlow, builder: Any, form: CompositeForm) -> None:
    fixed = builder in {returned_of_one_size, in_a_loop}
    custom = form in {"fuse", "custom"}
    inputs = normal({"x": (2, 9)} if fixed else SHAPES, batches=(2,) if fixed else (1, 3, 1))
    if builder is of_axes and form == "keep":
        check_kept_axes(tensorflow, inputs)
        return
    path, kernels = tensorflow.save(builder), (*KERNELS, BestOfAll) if custom else ()
    result = check(tensorflow, path, inputs, composites=form, custom_ops=kernels)
    counts = op_counts(result.model_bytes)
    names = {kernel.op_name for kernel in KERNELS}
    expected = names | {"best_of_all"} if form == "custom" else names
    assert bool(expected & counts.keys()) == custom
    assert ("STABLEHLO_COMPOSITE" in counts) == (form == "keep")
    # Where the value is known, so is the size, in the file too.
    if builder is returned:
        interpreter = litefuse.Interpreter(model_content=result.model_bytes)
        details = interpreter.get_signature_runner().get_output_details()
        assert {name: list(each["shape_signature"]) for name, each in details.items()} == {
            "values": [-1, 5],
            "indices": [-1, 5],
        }
