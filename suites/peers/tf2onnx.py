"""The tests of tf2onnx: ``run_test_case`` of their base class gets a function and its inputs."""

from __future__ import annotations

import os
import sys
import types
import unittest.mock
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from suites.peers.exporting import Exporter

SELECTION = ""
"""Which tests, as an expression for pytest's -k."""

CASES = 0
"""How many tests to run: all of them."""

# Some tests loop over hundreds of shapes.
_CASES_OF_TEST = 2

_MODULES = (
    "test_backend",
    "test_cond",
    "test_const_fold",
    "test_cudnn",
    "test_cudnn_compatible_gru",
    "test_custom_rnncell",
    "test_einsum_ml",
    "test_gru",
    "test_grublock",
    "test_loops",
    "test_lstm",
    "test_lstmblock",
    "test_seq2seq",
    "test_stacked_lstm",
    "test_string_ops",
    "test_tflite_postprocess",
)


def prepare(peer: Path) -> list[str]:
    """Makes the peer's tests importable, before TensorFlow is, and gives their files."""
    os.environ.update(TF_USE_LEGACY_KERAS="1", TF2ONNX_TEST_OPSET="18", TF2ONNX_SKIP_TFJS_TESTS="TRUE")
    # The tests ask for its version; nothing is run in it.
    for name in ("onnxruntime", "onnxruntime_extensions"):
        module = types.ModuleType(name)
        module.__dict__.update(__version__="1.99.0", get_library_path=lambda: "", get_device=lambda: "CPU")
        sys.modules[name] = module
    sys.path[:0] = [str(peer), str(peer / "tests")]
    return [str(peer / "tests" / f"{name}.py") for name in _MODULES]


def replace(tf: Any, exporter: Exporter) -> None:
    """Replaces the comparison of all tests by an export."""
    import backend_test_base  # pyright: ignore[reportMissingImports]

    def run_test_case(
        test: Any,  # noqa: ARG001
        func: Any,
        feed_dict: Mapping[str, Any],
        input_names_with_port: Sequence[str],  # noqa: ARG001
        output_names_with_port: Sequence[str],
        rtol: float = 1e-07,
        atol: float = 1e-5,
        **options: Any,
    ) -> Any:
        if exporter.count == _CASES_OF_TEST:
            return unittest.mock.MagicMock()
        rtol = max(rtol, 1e-5)
        if options.get("check_value") is False:
            atol = float("inf")
        if options.get("as_session"):
            _export_graph(tf, exporter, func, feed_dict, output_names_with_port, options, rtol, atol)
        else:
            tf.random.set_seed(1)
            # The outputs behind those that the test names are not compared.
            named = len(output_names_with_port)
            specs = [tf.TensorSpec(value.shape, tf.as_dtype(value.dtype)) for value in feed_dict.values()]
            try:
                exporter.export(
                    lambda *args: tf.nest.flatten(func(*args))[:named],
                    specs,
                    [list(feed_dict.values())],
                    rtol=rtol,
                    atol=atol,
                )
            except AttributeError:  # cells of TensorFlow 1 work in its graphs alone
                _export_graph(tf, exporter, func, feed_dict, output_names_with_port, options, rtol, atol)
        return unittest.mock.MagicMock()

    backend_test_base.Tf2OnnxBackendTestBase.run_test_case = run_test_case  # pyright: ignore[reportUnknownMemberType]


def _export_graph(
    tf: Any,
    exporter: Exporter,
    func: Any,
    feed_dict: Mapping[str, Any],
    outputs: Sequence[str],
    options: Mapping[str, Any],
    rtol: float,
    atol: float,
) -> None:
    """Exports a graph of TensorFlow 1, which ``func`` adds to the default graph."""
    v1 = tf.compat.v1
    v1.reset_default_graph()
    with v1.Session(graph=tf.Graph()) as session, session.graph.as_default():
        v1.set_random_seed(1)
        names = [key.partition(":")[0] for key in feed_dict]
        if options.get("premade_placeholders"):
            func()
        else:
            func(*(v1.placeholder(v.dtype, v.shape, name=n) for n, v in zip(names, feed_dict.values(), strict=True)))
        session.run(v1.global_variables_initializer())
        session.run(v1.tables_initializer())
        places = {name: session.graph.get_tensor_by_name(f"{name}:0") for name in names}
        results = {f"output_{n}": session.graph.get_tensor_by_name(output) for n, output in enumerate(outputs)}
        feeds = dict(zip(names, feed_dict.values(), strict=True))

        def run() -> dict[str, Any]:
            return session.run(results, {places[name]: value for name, value in feeds.items()})

        def save(path: str) -> None:
            v1.saved_model.simple_save(session, path, places, results, legacy_init_op=v1.tables_initializer())

        exporter.write(save, [run], [feeds], rtol, atol)
