# pyright: reportUnknownLambdaType=false
"""GRUs written by hand: each is named, keeps its numbers, and has its input projections before the loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from tests.in_part import in_part
from tests.tensorflow.checking import check, custom_options, normal, op_histogram

if TYPE_CHECKING:
    from tests.tensorflow.process import TensorFlow

FEATURES, UNITS = 3, 4

# Ways to write a GRU: what the composite says of it.
WAYS: dict[str, dict[str, Any]] = {
    "after order=rzh biases=2": {
        "reset_after": True,
        "input_bias": True,
        "recurrent_bias": True,
        "gates": "rzh",
    },
    "after order=rzh biases=2 outputs_first": {
        "reset_after": True,
        "outputs_first": True,
        "input_bias": True,
        "recurrent_bias": True,
        "gates": "rzh",
    },
    "after order=hzr biases=1 swapped": {
        "reset_after": True,
        "input_bias": True,
        "updates_candidate": True,
        "gates": "hzr",
    },
    "after biases=0 difference": {"reset_after": True},
    "before order=rzh biases=1": {"reset_after": False, "gates": "rzh"},
    "before biases=1 swapped difference": {"reset_after": False, "updates_candidate": True},
    "before by_gate biases=1": {"reset_after": False, "matrix_per_gate": True},
    "before by_gate biases=0 swapped": {"reset_after": False, "matrix_per_gate": True, "updates_candidate": True},
    "after by_gate biases=2": {
        "reset_after": True,
        "matrix_per_gate": True,
        "recurrent_bias": True,
        "candidate_recurrent_bias": True,
    },
    "after by_gate biases=1 flax": {"reset_after": True, "matrix_per_gate": True, "candidate_recurrent_bias": True},
    "joint by_gate biases=1": {"reset_after": False, "matrix_per_gate": True, "joint_kernel": True},
    "joint by_gate biases=0 h_first": {
        "reset_after": False,
        "matrix_per_gate": True,
        "joint_kernel": True,
        "h_first": True,
    },
    "joint order=zrh biases=1 h_first": {
        "reset_after": False,
        "joint_kernel": True,
        "h_first": True,
        "gates": "zr",
    },
    "joint order=rzh biases=0 swapped": {"reset_after": False, "joint_kernel": True, "updates_candidate": True},
    "before apart biases=1": {"reset_after": False, "candidate_apart": True},
    "after apart order=rzh biases=1 flax": {
        "reset_after": True,
        "candidate_apart": True,
        "candidate_recurrent_bias": True,
        "gates": "rz",
    },
}


def ways(tf: Any, names: list[str], unrolled: bool) -> Any:
    """GRUs in some of these ways: each a loop of its own, or two steps."""
    random = np.random.default_rng(6)
    weights: list[Any] = []

    def weight(*shape: int) -> Any:
        weights.append(tf.Variable((random.standard_normal(shape) * 0.5).astype(np.float32)))
        return weights[-1]

    def cell(way: str) -> Any:
        options = {name: value for name, _, value in (part.partition("=") for part in way.split())}
        order, biases = options.get("order", "zrh"), int(options["biases"])
        groups = [*order] if "by_gate" in options else [order]  # the gates whose weights are one matrix
        if "apart" in options or ("joint" in options and "by_gate" not in options):
            groups = [order.replace("h", ""), "h"]
        joint, rows = "joint" in options, "outputs_first" in options
        sizes = [FEATURES + UNITS] if joint else [FEATURES, UNITS]
        kernels = {
            group: [weight(*((UNITS * len(group), size) if rows else (size, UNITS * len(group)))) for size in sizes]
            for group in groups
        }
        of_x = {group: weight(UNITS * len(group)) for group in groups} if biases else {}
        of_h = {group: weight(UNITS * len(group)) for group in groups} if biases == 2 else {}
        if "flax" in options:
            of_h = {"h": weight(UNITS)}

        def parts(value: Any, group: str) -> dict[str, Any]:
            return dict(zip(group, tf.split(value, len(group), 1) if len(group) > 1 else [value], strict=True))

        def product(value: Any, number: int, bias: dict[str, Any]) -> dict[str, Any]:
            found: dict[str, Any] = {}
            for group in groups:
                made = tf.matmul(value, kernels[group][number], transpose_b=rows)
                found |= parts(made + bias[group] if group in bias else made, group)
            return found

        def step(x: Any, h: Any) -> Any:
            if joint:

                def pair(state: Any) -> Any:
                    return tf.concat([state, x] if "h_first" in options else [x, state], 1)

                gates = product(pair(h), 0, of_x)
                z, r = tf.sigmoid(gates["z"]), tf.sigmoid(gates["r"])
                g = tf.tanh(product(pair(r * h), 0, of_x)["h"])
            else:
                own = product(x, 0, of_x)
                if "after" in options:
                    last = product(h, 1, of_h)
                    z, r = tf.sigmoid(own["z"] + last["z"]), tf.sigmoid(own["r"] + last["r"])
                    g = tf.tanh(own["h"] + r * last["h"])
                elif len(groups) == 1:
                    kernel = kernels[order][1]
                    last = parts(h @ kernel[:, : 2 * UNITS], order[:2])
                    z, r = tf.sigmoid(own["z"] + last["z"]), tf.sigmoid(own["r"] + last["r"])
                    g = tf.tanh(own["h"] + (r * h) @ kernel[:, 2 * UNITS :])
                else:
                    last = {g: y for group in groups[:-1] for g, y in parts(h @ kernels[group][1], group).items()}
                    z, r = tf.sigmoid(own["z"] + last["z"]), tf.sigmoid(own["r"] + last["r"])
                    g = tf.tanh(own["h"] + (r * h) @ kernels["h"][1])
            if "swapped" in options:
                h, g = g, h
            return g + z * (h - g) if "difference" in options else (1.0 - z) * g + z * h

        return step

    cells = [cell(name) for name in names]

    def run(step: Any, x: Any) -> dict[str, Any]:
        batch, steps = tf.shape(x)[0], tf.shape(x)[1]
        h = tf.fill([batch, UNITS], 0.3)
        if unrolled:
            for index in range(2):
                h = step(x[:, index], h)
            return {"h": h}
        items = tf.TensorArray(tf.float32, size=steps).unstack(tf.transpose(x, [1, 0, 2]))
        array = tf.TensorArray(tf.float32, size=steps, element_shape=[None, UNITS])

        def body(t: Any, h: Any, array: Any) -> Any:
            h = step(items.read(t), h)
            return t + 1, h, array.write(t, h)

        _, h, array = tf.while_loop(lambda t, *_: t < steps, body, [0, h, array])
        return {"y": array.stack(), "h": h}

    def serve(x: Any) -> dict[str, Any]:
        found = [run(step, x) for step in cells]
        return {f"{name}{number}": y for number, each in enumerate(found) for name, y in each.items()}

    module = tf.Module()
    module.weights = weights
    spec = tf.TensorSpec([None, None, FEATURES], name="x")
    module.serve = tf.function(serve, input_signature=[spec], autograph=False)
    return module, {"serving_default": module.serve}


def text(attributes: dict[str, Any]) -> str:
    return str(sorted(attributes.items()))


@pytest.mark.parametrize("unrolled", [False, True])
def test_ways_to_write_it(tensorflow: TensorFlow, unrolled: bool) -> None:
    inputs = [normal({"x": (batch, time, FEATURES)})[0] for batch, time in ((1, 5), (3, 5), (2, 2))]
    chosen = {way: WAYS[way] for way in (in_part(WAYS, 3) if unrolled else WAYS)}
    path = tensorflow.save(ways, [*chosen], unrolled)
    result = check(tensorflow, path, inputs)
    kind, form = ("an unrolled GRU", "") if unrolled else ("a GRU", "; a loop with its input projection hoisted")
    expected = f"{kind} of {UNITS} units: LiteRT has no op for it{form}"
    assert [loop.reason for loop in result.report.loops] == [expected] * len(chosen)
    custom = litefuse.convert(path, composites={"gru_loop": "custom"}, allow_custom_ops=True)
    attributes = custom_options(custom.model_bytes)["gru_loop"]
    assert sorted(map(text, attributes)) == sorted(map(text, chosen.values()))


@pytest.mark.parametrize("way", WAYS)
def test_input_projections_are_before_the_loop(tensorflow: TensorFlow, way: str) -> None:
    """As many products within a step as there are recurrent ones, and none of the inputs."""
    path = tensorflow.save(ways, [way], False)
    histogram = op_histogram(litefuse.convert(path).model_bytes)
    (main,) = {graph for graph, op in histogram if op == "WHILE"}
    within = {op: count for (graph, op), count in histogram.items() if graph != main}
    recurrent = 3 if "by_gate" in way else 1 if way.startswith("after") and "apart" not in way else 2
    outside = 3 if "by_gate" in way else 2 if "joint" in way or "apart" in way else 1
    assert within["FULLY_CONNECTED"] == recurrent
    assert histogram[main, "FULLY_CONNECTED"] == outside
    assert within["GATHER"] == outside
    assert not {"TRANSPOSE", "CAST", "CONCATENATION"} & within.keys()
