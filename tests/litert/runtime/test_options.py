"""The options of a node as keyword arguments of its kernel."""

# Kernels take what they are given.

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from flatbuffers import flexbuffers
from flatbuffers.flexbuffers import Type
from hypothesis import given
from hypothesis import strategies as st

from litefuse.errors import KernelError
from litefuse.litert.runtime.custom_op import CustomOp, TensorSpec
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.options import decode_map
from tests.litert.runtime.models import unary

if TYPE_CHECKING:
    from collections.abc import Mapping

    from litefuse.litert.runtime.outputs import Outputs

EVERYTHING = {
    "integer": 41,
    "large": 2**40,
    "negative": -(2**40),
    "number": 0.1,
    "yes": True,
    "no": False,
    "text": "grün",
    "nothing": "",
    "integers": [1, 2, 300],
    "three": [1, 2, 3],
    "numbers": [0.5, -1.25],
    "texts": ["a", "", "bc"],
    "flags": [True, False],
    "empty": [],
    "mixed": [1, 2.5, "x"],
    "nested": {"a": [1]},
    "raw": b"\x00\x01",
}


class Record(CustomOp):
    op_name = "Record"
    seen: Any = None

    def prepare(self, x: TensorSpec, **attributes: Any) -> TensorSpec:
        type(self).seen = attributes
        return TensorSpec(x.shape, x.dtype)

    def invoke(self, inputs: Any, outputs: Outputs, **attributes: Any) -> None:
        assert attributes == type(self).seen


def options_of(options: Mapping[str, Any] | bytes, op: type[Record] = Record) -> Any:
    interpreter = Interpreter(unary("Record", options), custom_ops=[op])
    interpreter.allocate_tensors()
    interpreter.invoke()
    return op.seen


def test_every_kind_of_option() -> None:
    seen = options_of(EVERYTHING)

    assert seen == EVERYTHING
    assert seen["yes"] is True
    assert isinstance(seen["integers"], list)
    assert type(seen["text"]) is str


@pytest.mark.parametrize(
    "data", [b"", b"\0", bytes(40), b"not a flexbuffer", bytes(flexbuffers.Dumps([1, 2])), bytes(flexbuffers.Dumps(7))]
)
def test_what_is_no_map_gives_no_options(data: bytes) -> None:
    assert options_of(data) == {}


@given(st.binary(max_size=64))
def test_no_bytes_break_the_decoder(data: bytes) -> None:
    assert isinstance(decode_map(data), dict | None)


def doubled(levels: int) -> bytes:
    """``{"a": x}``, where x is a vector that holds one vector twice, which holds another twice, down to [7]."""
    vector, integer, of_map = (int(kind) << 2 for kind in (Type.VECTOR, Type.INT, Type.MAP))
    data, held = bytearray([1, 7, integer]), 1
    for _ in range(levels):
        here = len(data) + 1
        data += bytes([2, here - held, here + 1 - held, vector, vector])
        held = here
    key = len(data)
    data += bytes([*b"a\0", 1, 3])  # the key, and the vector of keys
    entries = len(data) + 3
    data += bytes([entries - 3 - (key + 3), 1, 1, entries - held, vector])
    return bytes(data) + bytes([len(data) - entries, of_map, 1])


def test_vectors_that_hold_one_vector_again_and_again() -> None:
    assert decode_map(doubled(0)) == {"a": [7]}
    assert decode_map(doubled(1)) == {"a": [[7], [7]]}
    assert decode_map(doubled(40)) is None  # 2**40 numbers in 215 bytes, which are not waited for


@given(
    st.dictionaries(
        st.text("abcdefg_", min_size=1),
        st.one_of(
            st.integers(-(2**63), 2**63 - 1),
            st.floats(-1e38, 1e38),
            st.text("a\0ä€😀"),
            st.booleans(),
            st.lists(st.integers(-(2**31), 2**31 - 1)),
        ),
    )
)
def test_maps_survive(options: dict[str, Any]) -> None:
    assert decode_map(bytes(flexbuffers.Dumps(options))) == options


def test_only_the_options_that_are_named() -> None:
    class Named(CustomOp):
        op_name = "Named"

        def prepare(self, x: TensorSpec, *, a: int, b: int = 7) -> TensorSpec:
            assert (a, b) == (1, 7)
            return TensorSpec(x.shape, x.dtype)

        def invoke(self, inputs: Any, outputs: Outputs, *, c: str) -> None:
            assert c == "c"
            outputs[0].fill(1)

    interpreter = Interpreter(unary("Named", {"a": 1, "c": "c", "T": 1}), custom_ops=[Named])
    interpreter.allocate_tensors()
    interpreter.invoke()
    assert (interpreter.get_tensor(1) == 1).all()

    with pytest.raises(KernelError, match=r"does not give the option 'c'\nThe node has a"):
        Interpreter(unary("Named", {"a": 1}), custom_ops=[Named])
    with pytest.raises(KernelError, match=r"does not give the option 'a'\nThe node has no options"):
        Interpreter(unary("Named", b"raw"), custom_ops=[Named])


def test_a_form_of_its_own() -> None:
    class Raw(Record):
        @classmethod
        def decode_options(cls, data: bytes) -> dict[str, Any]:
            padding, stride = np.frombuffer(data, "<i4", 2).tolist()
            return {"padding": padding, "stride": stride}

    assert options_of(np.array([2, 5, 0], "<i4").tobytes(), Raw) == {"padding": 2, "stride": 5}


def test_a_decoder_that_fails() -> None:
    class Raw(Record):
        @classmethod
        def decode_options(cls, data: bytes) -> dict[str, Any]:
            raise LookupError("no such format")

    with pytest.raises(LookupError, match="no such format"):
        options_of(b"123", Raw)
