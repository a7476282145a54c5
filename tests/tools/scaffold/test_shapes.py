from __future__ import annotations

import pytest

from litefuse.ir.ops.dims import Shape
from litefuse.kernels.generator.op_calls import Call, CallTensor
from litefuse.tools.scaffold.calls import Size, output_sizes, whole_input


def call(*inputs: Shape | None, output: Shape | None) -> Call:
    tensors = tuple(CallTensor(f"x{index}", "float32", shape) for index, shape in enumerate(inputs))
    return Call(tensors, (CallTensor("y", "float32", output),), {}, b"")


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([call((None, 3), output=(None, 3))], (Size(0, 0), Size(0, 1))),
        ([call((None, 3), output=(None, 9))], (Size(0, 0), Size(constant=9))),
        ([call((3,), (None, 5), output=(None, 4))], (Size(1, 0), Size(constant=4))),
        ([call((2, 2), output=(None,))], (Size(),)),
        ([call((None,), output=(None, 2))], (Size(0, 0), Size(constant=2))),
        ([call((4, 3), output=(4, 3)), call((2, 3), output=(2, 3))], (Size(0, 0), Size(0, 1))),
        ([call((4, 3), output=(4, 8)), call((2, 3), output=(2, 9))], (Size(0, 0), Size())),
        ([call((4, 3), output=(4, 3)), call((2, 5), output=(2, 3))], (Size(0, 0), Size(constant=3))),
        ([call((4,), output=())], ()),
        ([call((4,), output=None)], None),
        ([call((4,), output=(4,)), call((4,), output=(4, 1))], None),
    ],
)
def test_where_sizes_come_from(calls: list[Call], expected: tuple[Size, ...] | None) -> None:
    assert output_sizes(calls, 0) == expected


def test_a_whole_shape() -> None:
    same = [call((None, 3), output=(None, 3))]
    assert whole_input(same, output_sizes(same, 0) or ()) == 0
    longer = [call((None, 3, 5), output=(None, 3))]
    assert whole_input(longer, output_sizes(longer, 0) or ()) is None
    assert whole_input([call((), output=())], ()) is None
