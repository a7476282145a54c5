"""Which of XNNPACK's operators belongs to which op."""

from __future__ import annotations

from litefuse.tools.benchmarking.operators import assigned

CONV, CLAMP, MUL, RESHAPE = "Convolution", "Clamp", "Multiply", "Static Reshape"


def test_the_operators_of_ops_in_a_row() -> None:
    assert assigned([CONV, RESHAPE, MUL], [(CONV,), (RESHAPE, MUL)]) == [range(1), range(1, 3)]


def test_an_op_without_operators() -> None:
    assert assigned([CONV, MUL], [(CONV,), (), (MUL,)]) == [range(1), range(1, 1), range(1, 2)]


def test_an_op_that_was_fused_into_another() -> None:
    assert assigned([CONV, MUL], [(CONV,), (CLAMP,), (MUL,)]) == [range(1), range(1, 1), range(1, 2)]
    assert assigned([CONV, MUL], [("Pad",), (CONV,), (MUL,)]) == [range(0), range(1), range(1, 2)]


def test_which_of_two_equal_ops_was_fused_is_not_certain() -> None:
    found = assigned([CONV, MUL, CONV], [(CONV,), (MUL,), (MUL,), (CONV,)])
    assert found == [range(1), None, None, range(2, 3)]


def test_an_op_of_which_nothing_is_known_has_what_the_others_leave() -> None:
    alone: list[tuple[str, ...] | None] = [(MUL,), (CONV,), None, (MUL,)]
    assert assigned([MUL, CONV, "Other", MUL], alone) == [range(1), range(1, 2), range(2, 3), range(3, 4)]
    assert assigned([MUL, CONV, MUL, MUL], alone)[:2] == [range(1), range(1, 2)]


def test_ops_that_have_other_operators_there_are_not_certain_and_the_others_are() -> None:
    alone: list[tuple[str, ...] | None] = [(CONV,), ("Maximum",), ("Minimum",), (MUL,), (MUL,), (RESHAPE,)]
    found = assigned([CONV, CLAMP, "Square", MUL, RESHAPE], alone)
    assert found[0] == range(1)
    assert found[1:5] == [None] * 4  # either product may be the square, or gone
    assert found[5] == range(4, 5)


def test_operators_of_no_op() -> None:
    assert assigned([CONV, "Other"], [(CONV,), (MUL,)]) == [range(1), None]
    assert assigned([MUL, CONV], [(CONV,), (MUL,)]) == [None, None]
    assert assigned([CONV, "Other", "Other", "Other"], [(CONV,)]) == [None]


def test_a_long_partition_with_a_fused_op() -> None:
    names = [CONV, CLAMP, MUL] * 300
    alone: list[tuple[str, ...] | None] = [(name,) for name in names]
    alone.insert(450, ("Pad",))
    found = assigned(names, alone)
    assert found[450] == range(450, 450)
    assert found[-1] == range(899, 900)


def test_partitions_of_which_little_is_left_are_given_up() -> None:
    assert set(assigned([MUL] * 1200, [(MUL,)] * 2400)) == {None}
