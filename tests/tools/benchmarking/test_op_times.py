"""How the time of a partition is split among its ops."""

from __future__ import annotations

import pytest

from litefuse.tools.benchmarking.file_ops import FileOps, ops_of_file
from litefuse.tools.benchmarking.jobs import ProfiledNode
from litefuse.tools.benchmarking.op_times import Alone, op_times
from litefuse.tools.benchmarking.operators_alone import OpAlone
from tests.tools.benchmarking.models import composed, loop

US = 1e-6


def file() -> FileOps:
    return ops_of_file(composed())


def node(*operators: tuple[str, float], seconds: float, kernel: str = "XNNPACK", runs: float = 1.0) -> ProfiledNode:
    return ProfiledNode(0, (0, 1), kernel, seconds, runs, operators)


def alone(*seconds: float) -> Alone:
    names = ("Multiply", "Add")
    return Alone({(0, op): OpAlone((names[op],), each) for op, each in enumerate(seconds)})


def split(timed: ProfiledNode, known: Alone) -> list[float | None]:
    ops, _ = op_times(file(), "serve", [timed], known)
    return [op.seconds for op in ops[:2]]


def test_what_xnnpack_cuts_off_is_that_of_the_op_alone() -> None:
    timed = node(("Multiply", 5 * US), ("Add", 0.0), seconds=6.5 * US)
    ops, (partition,) = op_times(file(), "serve", [timed], alone(5.5 * US, 0.25 * US))
    assert [op.seconds for op in ops[:2]] == pytest.approx([5.5 * US, 0.25 * US])
    assert partition.split
    assert [(each.name, each.ops) for each in partition.operators] == [("Multiply", (0,)), ("Add", (1,))]
    assert [op.operators for op in ops[:2]] == [("Multiply",), ("Add",)]


def test_it_is_less_than_a_microsecond_for_each_run() -> None:
    timed = node(("Multiply", 5 * US), ("Add", 0.0), seconds=8 * US)
    assert split(timed, alone(20 * US, 20 * US)) == pytest.approx([6 * US, 1 * US])  # alone, they wait for their data
    timed = node(("Multiply", 5 * US), ("Add", 0.0), seconds=12 * US, runs=3.0)
    assert split(timed, alone(20 * US, 20 * US)) == pytest.approx([8 * US, 3 * US])


def test_the_ops_take_no_longer_than_their_partition() -> None:
    timed = node(("Multiply", 5 * US), ("Add", 0.0), seconds=5.5 * US)
    assert split(timed, alone(5.5 * US, 0.5 * US)) == pytest.approx([5.25 * US, 0.25 * US])


def test_times_of_slower_and_faster_calls_are_scaled_to_the_partition() -> None:
    timed = node(("Multiply", 6 * US), ("Add", 2 * US), seconds=4 * US)
    assert split(timed, alone(6 * US, 2 * US)) == pytest.approx([3 * US, 1 * US])
    timed = node(("Multiply", 6 * US), ("Add", 2 * US), seconds=17.2 * US)  # 1.2 for the delegate
    assert split(timed, alone(6 * US, 2 * US)) == pytest.approx([12 * US, 4 * US])


@pytest.mark.parametrize(
    ("timed", "known", "reason"),
    [
        (node(("Other", US), ("Others", US), seconds=3 * US), alone(US, US), "operators are those of the ops"),
        (node(("Multiply", US), ("Add", US), seconds=3 * US), Alone({}, "it died"), "it died"),
        (node(seconds=3 * US), alone(US, US), "XNNPACK did not report"),
        (node(seconds=3 * US, kernel="Neural"), alone(), "Neural does not report"),
    ],
)
def test_a_partition_that_is_not_split_says_why(timed: ProfiledNode, known: Alone, reason: str) -> None:
    ops, (partition,) = op_times(file(), "serve", [timed], known)
    assert not partition.split
    assert reason in partition.reason
    assert partition.ops == ((0, 0), (0, 1))
    assert partition.seconds == 3 * US
    assert [(op.seconds, op.partition, op.kernel) for op in ops[:2]] == [(None, 0, timed.kernel)] * 2
    assert [(op.seconds, op.partition, op.kernel) for op in ops[2:]] == [(0.0, None, "none")] * 3


def test_a_partition_that_is_split_in_part() -> None:
    timed = node(("Other", 2 * US), ("Add", US), seconds=4 * US)
    ops, (partition,) = op_times(file(), "serve", [timed], alone(US, US))
    assert not partition.split
    assert partition.reason == "it is not certain which of XNNPACK's operators are those of 1 of 2 ops"
    assert [op.seconds for op in ops[:2]] == [None, pytest.approx(US)]
    assert [each.ops for each in partition.operators] == [(), (1,)]


def test_a_partition_in_a_branch_that_was_not_taken() -> None:
    ops, (partition,) = op_times(file(), "serve", [node(seconds=0.0, runs=0.0)], Alone({}))
    assert (partition.split, partition.reason) == (True, "")
    assert [(op.seconds, op.runs, op.partition) for op in ops[:2]] == [(0.0, 0.0, 0)] * 2


def test_a_node_that_stands_for_one_op_has_its_time() -> None:
    nodes = [
        ProfiledNode(0, (0,), "XNNPACK", 3 * US, 1.0, (("Multiply", US), ("Reshape", 0.0))),
        ProfiledNode(0, (2,), "Python", 5 * US, 1.0),
        ProfiledNode(0, (3,), "LiteRT", 7 * US, 1.0),
    ]
    ops, (partition,) = op_times(file(), "serve", nodes, Alone({}))
    assert partition.split
    assert [op.seconds for op in ops] == [3 * US, 0.0, 5 * US, 7 * US, 0.0]
    assert [op.partition for op in ops] == [0, None, None, None, None]
    assert ops[0].operators == ("Multiply", "Reshape")
    assert [(op.kind, op.name, op.layer) for op in ops[:3]] == [
        ("MUL", "net/one/mul", "net/one"),
        ("ADD", "net/one/add", "net/one"),
        ("Double", "net/two/op", "net/two"),
    ]


def test_the_subgraphs_that_a_signature_calls_belong_to_it() -> None:
    ops, _ = op_times(ops_of_file(loop()), "serve", [ProfiledNode(2, (1,), "LiteRT", US, 5.0)], Alone({}))
    assert [(op.subgraph, op.op, op.runs) for op in ops] == [(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 5)]
