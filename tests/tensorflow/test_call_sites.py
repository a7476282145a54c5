"""Fused ops, loops and recognized layers stand in the layers that call them, as far as the names of nodes tell."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

import litefuse
from litefuse.frontends.saved_model import SavedModel, load
from litefuse.litert.inspection.facts import OperatorFacts
from litefuse.litert.inspection.layer_names import layer_of
from litefuse.litert.inspection.operators import operators_of
from tests.tensorflow import device_models, recurrent_models
from tests.tensorflow.saved_models import serving
from tests.tensorflow.test_transformers import BACKBONES, backbone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.tensorflow.process import TensorFlow

_RECURRENT = {"UNIDIRECTIONAL_SEQUENCE_LSTM", "UNIDIRECTIONAL_SEQUENCE_RNN", "WHILE"}
_KEPT = {"composites": {"odml.*": "keep", "litefuse.*": "keep"}}
_FUSED = {"rnn": "fused"}


def marked(tf: Any, framework: str, shared: bool) -> Any:
    """Layers that call marked functions: in layers, in a model that is called twice, in a loop, as the last op."""
    keras: Any = importlib.import_module(framework)
    layers = keras.layers

    def normalized(x: Any) -> Any:
        return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-6)

    def mark(name: str) -> Any:
        annotation = litefuse.annotation(name, tfl_fusable_op=True)
        return tf.function(normalized, experimental_implements=annotation, autograph=False)

    of_all = mark("RmsNorm")

    class RmsNorm(layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self, name: str = "") -> None:
            super().__init__()
            self.norm = mark(name) if name else of_all if shared else mark("RmsNorm")

        def call(self, x: Any) -> Any:
            return self.norm(x)

    class Block(layers.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = RmsNorm(), RmsNorm()

        def call(self, x: Any) -> Any:
            def again(number: Any, value: Any) -> Any:
                return number + 1, tf.ensure_shape(self.second(value), x.shape)

            def goes_on(number: Any, value: Any) -> Any:
                return tf.reduce_sum(value) > number

            return tf.while_loop(goes_on, again, [0.0, self.first(x)])[1]

    inner = keras.Sequential([layers.Dense(4), RmsNorm()])
    x = keras.Input((4,), name="x")
    model = keras.Model(x, RmsNorm("my.norm")(Block()(inner(inner(RmsNorm()(x))))))
    module, signatures = serving(tf, model, ("x", [None, 4], "float32"))
    module.model = model
    return module, signatures


def call_sites(model: SavedModel, function: str, scope: str = "") -> Iterator[tuple[str, str]]:
    """Yields the name of each composite and the layer of its call, and of each loop, without a name."""
    for node in model.functions[function].node_def:
        name = node.name if node.name.startswith(scope) else scope + node.name
        inner = name.rpartition("/")[0]
        called = node.attr["f"].func.name or node.attr["body"].func.name
        if called:
            attributes = model.functions[called].attr
            marks = [attributes[key] for key in ("_implements", "api_implements") if key in attributes]
            if marks or "body" in node.attr:
                yield next((mark.func.name or mark.s.decode() for mark in marks), ""), layer_of(f"{inner}/op")
            yield from call_sites(model, called, f"{inner}/" if inner else "")


def missing(wanted: Sequence[tuple[set[str], str]], ops: Sequence[OperatorFacts]) -> list[tuple[set[str], str]]:
    """Returns the kinds of ops and their layers for which there is no op."""
    left = [({op.name, op.composite}, op.layer) for op in ops]
    absent: list[tuple[set[str], str]] = []
    for kinds, layer in wanted:
        place = next((place for place, (names, of) in enumerate(left) if kinds & names and of == layer), None)
        if place is None:
            absent.append((kinds, layer))
        else:
            del left[place]
    return absent


def test_an_op_stands_for_one_call() -> None:
    one = OperatorFacts(0, 0, "RmsNorm", "custom", "", (), (), {}, (), "net/norm", 1)
    assert missing([({"RmsNorm"}, "net/norm")], [one]) == []
    assert missing([({"RmsNorm"}, "net/norm")] * 2, [one]) == [({"RmsNorm"}, "net/norm")]
    assert missing([({"RmsNorm"}, "net")], [one]) == [({"RmsNorm"}, "net")]


_MODELS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    *((marked, (framework, shared), {}) for framework in ("keras", "tf_keras") for shared in (False, True)),
    *(
        (device_models.build, (kind, framework), _FUSED)
        for kind in ("bidirectional_lstm", "stacked_lstm", "stacked_gru", "simple_rnn")
        for framework in ("keras", "tf_keras")
    ),
    *((recurrent_models.build, ("v1", f"{kind}", None, None), {}) for kind in ("dynamic GRU", "bidirectional LSTM")),
    *((device_models.build, (kind, "keras"), _KEPT) for kind in ("attention", "gelu_mixer")),
    *((backbone, (case.name, dict(case.options), case.length), _KEPT) for case in BACKBONES[:2]),
]


@pytest.mark.parametrize(
    ("builder", "arguments", "options"), _MODELS, ids=lambda given: str(getattr(given, "__name__", given))
)
def test_layers(
    tensorflow: TensorFlow, builder: Callable[..., Any], arguments: tuple[Any, ...], options: dict[str, Any]
) -> None:
    path = tensorflow.save(builder, *arguments)
    result = litefuse.convert(path, signatures=["serving_default"], **options)
    ops, model = operators_of(result.model_bytes), load(path)
    became = {item.name: {*(item.fused_into or "").split(", ")} for item in result.report.composites}
    within = {item.name for item in result.report.composites if item.outcome == "fused"}
    wanted = [
        (became[name] if name else _RECURRENT, layer)
        for name, layer in call_sites(model, model.signatures["serving_default"].function)
        if name in within or not name
    ]
    wanted += [({layer.name}, layer_of(f"{layer.layer}/op")) for layer in result.report.layers]
    fused = {layer for kinds, layer in wanted if kinds != _RECURRENT and kinds & _RECURRENT}
    # The loop of a fused layer is in the op.
    wanted = [(kinds, layer) for kinds, layer in wanted if kinds != _RECURRENT or layer not in fused]
    assert wanted
    assert not missing(wanted, ops)
    loops = {callee: op.layer for op in ops if op.name == "WHILE" for callee in op.callees}
    outside = [op for op in ops if op.subgraph in loops and not f"{op.layer}/".startswith(f"{loops[op.subgraph]}/")]
    assert not outside
