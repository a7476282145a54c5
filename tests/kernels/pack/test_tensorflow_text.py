"""Kernels of TensorFlow Text's ops, and models of them, against what TensorFlow Text gave."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import KernelError, LitefuseError
from litefuse.frontends.saved_model.messages import SavedModel
from tests.kernels.pack.one_op import run
from tests.kernels.pack.tensorflow_text import MODELS, OpCall, model_calls, op_calls, saved_model

if TYPE_CHECKING:
    from pathlib import Path

CALLS = op_calls()


def strings(*values: bytes) -> Any:
    """Strings as a vector."""
    return np.array(values, object)


def text(value: bytes) -> Any:
    """A string as the interpreter takes it: an array of numpy's own bytes."""
    return np.array(value)


def given(array: Any) -> Any:
    """An array as the interpreter takes it: a scalar string as numpy's own bytes."""
    return np.array(array.item()) if array.shape == () and array.dtype == object else array


@pytest.mark.parametrize("call", CALLS, ids=[f"{place}-{call.op}" for place, call in enumerate(CALLS)])
def test_ops(call: OpCall) -> None:
    outputs = run(call.op, [given(each) for each in call.inputs], [each.dtype for each in call.outputs], call.options)
    for place, (found, expected) in enumerate(zip(outputs, call.outputs, strict=True)):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected, err_msg=f"output {place}")


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str, tmp_path: Path) -> None:
    result = litefuse.convert(saved_model(name, tmp_path))
    serve = litefuse.Interpreter(result.path).get_signature_runner("serving_default")
    calls = model_calls(name)
    for inputs, expected in [*calls, *calls]:
        outputs = serve(**inputs)
        assert outputs.keys() == expected.keys()
        for key, value in expected.items():
            assert outputs[key].dtype == value.dtype, key
            np.testing.assert_array_equal(outputs[key], value, err_msg=key)


REFUSED: list[tuple[str, list[Any], dict[str, Any], str]] = [
    ("RegexSplitWithOffsets", [strings(b"ab"), text(b"(x*)"), text(b"")], {}, "at byte 0 is empty"),
    ("RegexSplitWithOffsets", [strings(b"ab"), text(b"(x)|b"), text(b"")], {}, "not part of its match"),
    ("RegexSplitWithOffsets", [strings(b"ab"), text(b"(x"), text(b"")], {}, "missing"),
    ("NormalizeUTF8", [strings(b"ab")], {"normalization_form": "NFX"}, "one of NFC, NFD, NFKC, NFKD"),
    ("TFText>NgramsStringJoin", [strings(b"ab")], {"width": 0, "axis": -1, "string_separator": ""}, "positive int"),
    ("UnicodeScriptTokenizeWithOffsets", [np.zeros(2, np.int32), np.array([0, 3])], {}, "ends with 3, not with 2"),
]


@pytest.mark.parametrize(("op", "inputs", "options", "message"), REFUSED)
def test_what_is_refused(op: str, inputs: list[Any], options: dict[str, Any], message: str) -> None:
    outputs: dict[str, list[Any]] = {
        "NormalizeUTF8": [object],
        "RegexSplitWithOffsets": [object, np.int64, np.int64, np.int64],
        "TFText>NgramsStringJoin": [object],
        "UnicodeScriptTokenizeWithOffsets": [np.int32, np.int64, np.int64, np.int64, np.int64],
    }
    with pytest.raises(KernelError, match=message):
        run(op, inputs, outputs[op], options)


def test_the_vocabulary_may_be_computed() -> None:
    call = next(each for each in CALLS if each.op == "WordpieceTokenizeWithOffsets")
    dtypes = [each.dtype for each in call.outputs]
    for constants in ((), (1,)):
        outputs = run(call.op, call.inputs, dtypes, call.options, constants=constants)
        np.testing.assert_array_equal(outputs[0], call.outputs[0])


def test_scripts() -> None:
    characters = np.array([[65, 0x416, 0x4E00], [0x20, -1, 0x110000]], np.int32)
    (scripts,) = run("UnicodeScript", [characters], [np.int32])
    assert scripts.tolist() == [[25, 8, 17], [0, -1, -1]]  # Latin, Cyrillic, Han; Common


@pytest.mark.parametrize("name", ["bert_lower"])
def test_a_table_with_values_of_another_kind(name: str, tmp_path: Path) -> None:
    """A vocabulary whose values the tokenizer cannot compare is an error that names the node."""
    path = saved_model(name, tmp_path) / "saved_model.pb"
    model = SavedModel.FromString(path.read_bytes())
    for function in model.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:
            if node.op == "WordpieceTokenizeWithOffsets":
                node.input[0], node.input[1] = node.input[1], node.input[0]
    path.write_bytes(model.SerializeToString())
    with pytest.raises(LitefuseError, match="WordpieceTokenizeWithOffsets"):
        litefuse.convert(path.parent)
