# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false
"""Loops over the items of tensors: which become lists, and what all of them compute."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from litefuse.ir.mlir import ir, mlir_context
from litefuse.ir.passes import run_passes
from litefuse.passes.stablehlo.xla_call_module import lower_xla_call_module
from tests.mlir.setup_passes import WrapProgram
from tests.passes.stablehlo.running import run_program

X: npt.NDArray[np.float32] = np.random.default_rng(0).normal(size=(6, 2)).astype("f4")


def loop(reads: str = "", writes: str = "", count: str = "", first: int = 0) -> str:
    """Reads items of %x0 at %r, and writes the sums of all so far into %x1 at %w.

    Args:
        reads: The ops that make %r; %i if there are none.
        writes: The ops that make %w; %i if there are none.
        count: The ops that make %n, before the loop; 6 if there are none.
        first: The first value of the counter.
    """
    numbers = "\n".join(f"%c{number} = stablehlo.constant dense<{number}> : tensor<i32>" for number in range(7))
    return f"""
        func.func public @main(%x0: tensor<6x2xf32>, %x1: tensor<6x2xf32>) -> tensor<6x2xf32> {{
          {numbers}
          %first = stablehlo.constant dense<{first}> : tensor<i32>
          %zeros = stablehlo.constant dense<0.0> : tensor<2xf32>
          {count or "%n = stablehlo.constant dense<6> : tensor<i32>"}
          %0:4 = stablehlo.while(%xs = %x0, %i = %first, %s = %zeros, %ys = %x1)
            : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>, tensor<6x2xf32>
          cond {{
            %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
            stablehlo.return %p : tensor<i1>
          }} do {{
            {reads}
            {writes}
            %a = stablehlo.dynamic_slice %xs, {"%r" if reads else "%i"}, %c0, sizes = [1, 2]
              : (tensor<6x2xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
            %b = stablehlo.reshape %a : (tensor<1x2xf32>) -> tensor<2xf32>
            %c = stablehlo.add %b, %s : tensor<2xf32>
            %d = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
            %e = stablehlo.dynamic_update_slice %ys, %d, {"%w" if writes else "%i"}, %c0
              : (tensor<6x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<6x2xf32>
            %j = stablehlo.add %i, %c1 : tensor<i32>
            stablehlo.return %xs, %j, %c, %e : tensor<6x2xf32>, tensor<i32>, tensor<2xf32>, tensor<6x2xf32>
          }}
          return %0#3 : tensor<6x2xf32>
        }}
    """


def lists(program: str) -> tuple[int, int]:
    """Returns how many tensors are read, and how many are written, as lists."""
    with mlir_context():
        module = ir.Module.parse(program)
        run_passes(module, [WrapProgram(), lower_xla_call_module])
        return str(module).count("tf.TensorListFromTensor"), str(module).count("tf.TensorListStack")


def with_constant(program: str) -> str:
    """Returns a program whose loop has its bound in its condition."""
    constant = "%m = stablehlo.constant dense<6> : tensor<i32>"
    return program.replace("%p = stablehlo.compare LT, %i, %n", f"{constant}\n%p = stablehlo.compare LT, %i, %m")


def negated(program: str) -> str:
    """Returns a program that goes on while the count is not reached."""
    compared = "%q = stablehlo.compare GE, %i, %n"
    program = program.replace("%p = stablehlo.compare LT, %i, %n", compared)
    return program.replace("stablehlo.return %p", "%p = stablehlo.not %q : tensor<i1>\nstablehlo.return %p")


def at_a_vector(program: str, vector: str, number: int) -> str:
    """Returns a program that reads the items at a vector of positions, whose first one is clamped."""
    ops = f"""
        %v = stablehlo.reshape %i : (tensor<i32>) -> tensor<1xi32>
        %z = stablehlo.reshape %c0 : (tensor<i32>) -> tensor<1xi32>
        %u = stablehlo.concatenate {vector}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
        %most = stablehlo.constant dense<{number}> : tensor<2xi32>
        %least = stablehlo.constant dense<0> : tensor<2xi32>
        %start = stablehlo.clamp %least, %u, %most : tensor<2xi32>
        %size = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
        %step = stablehlo.constant dense<1> : tensor<2xi32>
        %end = stablehlo.add %start, %size : tensor<2xi32>
        %a = stablehlo.real_dynamic_slice %xs, %start, %end, %step
          : (tensor<6x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<1x2xf32>
    """
    before, rest = program.split("%a = ")
    return f"{before}{ops}%b = {rest.split('%b = ', 1)[1]}"


def from_the_end(name: str, value: str, size: int, *, limit: int = 0, chosen: str = "") -> str:
    """Returns a position that counts from the end if it is negative, as JAX writes it."""
    return f"""
        %{name}n = stablehlo.compare LT, {value}, %c{limit}, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %{name}e = stablehlo.add {value}, %c{size} : tensor<i32>
        %{name} = stablehlo.select %{name}n, %{name}e, {chosen or value} : tensor<i1>, tensor<i32>
    """


BACKWARD = "%w = stablehlo.subtract %c5, %i : tensor<i32>"
TWICE = "%t = stablehlo.subtract %c6, %i : tensor<i32>\n%w = stablehlo.subtract %t, %c1 : tensor<i32>"
FROM_FOUR = "%t = stablehlo.subtract %c5, %i : tensor<i32>\n%w = stablehlo.subtract %t, %c1 : tensor<i32>"
FROM_THE_END = from_the_end("r", "%i", 6), from_the_end("w", "%i", 6)
FROM_NEXT = "%t = stablehlo.add %i, %c1 : tensor<i32>\n%w = stablehlo.subtract %c5, %t : tensor<i32>"
SUM = "%n = stablehlo.add %c3, %c{} : tensor<i32>"

# A program, the items that it reads and writes in this order, and how many lists it has for the two.
SCANS = {
    "forward": (loop(), range(6), range(6), (1, 1)),
    "backward": (loop(writes=BACKWARD), range(6), range(5, -1, -1), (1, 1)),
    "backward in two steps": (loop(writes=TWICE), range(6), range(5, -1, -1), (1, 1)),
    "backward from the last but one": (loop(writes=FROM_FOUR), range(6), [4, 3, 2, 1, 0, 0], (1, 0)),
    "backward from the next": (loop(writes=FROM_NEXT), range(6), [4, 3, 2, 1, 0, 0], (1, 0)),
    "a count that is computed": (loop(count=SUM.format(3)), range(6), range(6), (1, 1)),
    "a count in the condition": (with_constant(loop(count=SUM.format(2))), range(6), range(6), (1, 1)),
    "at a vector": (at_a_vector(loop(), "%v, %z", 9), range(6), range(6), (1, 1)),
    "less than all items": (loop(count=SUM.format(2)), range(5), range(5), (0, 0)),
    "up to the last": (loop(count=SUM.format(2)).replace("LT, %i", "LE, %i"), range(6), range(6), (0, 0)),
    "every second": (loop().replace("add %i, %c1", "add %i, %c2"), [0, 2, 4], [0, 2, 4], (0, 0)),
    "a negated condition": (negated(loop()), range(6), range(6), (0, 0)),
    "not from 0": (loop(first=1), range(1, 6), range(1, 6), (0, 0)),
    "from the end if negative": (loop(*FROM_THE_END), range(6), range(6), (1, 1)),
    "from the end below 3": (loop(from_the_end("r", "%i", 3, limit=3)), [3, 4, 5, 3, 4, 5], range(6), (0, 1)),
    "another one if not negative": (loop(from_the_end("r", "%i", 6, chosen="%c4")), [4] * 6, range(6), (0, 1)),
}


@pytest.mark.parametrize("name", SCANS)
def test_loops_over_items(name: str) -> None:
    program, read, written, listed = SCANS[name]
    assert lists(program) == listed
    initial = np.full((6, 2), 7, np.float32)
    expected = initial.copy()
    for number, place in enumerate(written):
        expected[place] = X[list(read)[: number + 1]].sum(0)
    np.testing.assert_allclose(run_program(program, X, initial)[0], expected, rtol=1e-6)
