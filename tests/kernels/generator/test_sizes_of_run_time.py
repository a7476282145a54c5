"""What a kernel reads by sizes that are known only at run time: it computes what the body computes, or refuses.

The kernels are compiled with sanitizers, and run in a process of their own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
from ai_edge_litert.interpreter import Interpreter, load_delegate

from litefuse.kernels.generator.body import body_model, composite_model, read_bodies
from litefuse.kernels.generator.generate import probing_shapes
from litefuse.kernels.generator.kernel import kernel_source
from litefuse.kernels.generator.project import registry_source
from litefuse.litert.cpp.compiler import sanitizer_environment
from tests.kernels.generator.bodies import BodyWriter, file_of
from tests.kernels.generator.builds import build_quickly

ROOT = Path(__file__).parents[3]
BODIES: dict[str, Callable[[BodyWriter, int, int], int]] = {}


def body(function: Callable[[BodyWriter, int, int], int]) -> Callable[[BodyWriter, int, int], int]:
    """Registers a body of ``x``, of open rows, and of a number of run time that is negative for many of them."""
    BODIES[function.__name__] = function
    return function


@body
def begin(b: BodyWriter, x: int, n: int) -> int:
    return strided(b, x, b.op("PACK", [n], "int32", valuesCount=1), b.constant([0], "int32"), endMask=1)


@body
def end(b: BodyWriter, x: int, n: int) -> int:
    return strided(b, x, b.constant([0], "int32"), b.op("PACK", [n], "int32", valuesCount=1), beginMask=1)


@body
def backwards(b: BodyWriter, x: int, n: int) -> int:
    return strided(b, x, b.op("PACK", [n], "int32", valuesCount=1), b.constant([0], "int32"), step=-3, endMask=1)


@body
def row(b: BodyWriter, x: int, n: int) -> int:
    one = b.constant([1], "int32")
    return strided(b, x, b.op("PACK", [n], "int32", valuesCount=1), one, shrinkAxisMask=1)


@body
def begin_of_slice(b: BodyWriter, x: int, n: int) -> int:
    place = b.op("PACK", [n, b.constant(0, "int32")], "int32", valuesCount=2)
    return b.op("SLICE", [x, place, b.constant([3, 2], "int32")], "float32")


@body
def size_of_slice(b: BodyWriter, x: int, n: int) -> int:
    size = b.op("PACK", [n, b.constant(-1, "int32")], "int32", valuesCount=2)
    return b.op("SLICE", [x, b.constant([1, 0], "int32"), size], "float32")


@body
def parts(b: BodyWriter, x: int, n: int) -> int:
    rest = b.op("SUB", [rows(b, x), n], "int32")
    sizes = b.op("PACK", [n, rest], "int32", valuesCount=2)
    return b.op("SPLIT_V", [x, sizes, b.constant(0, "int32")], "float32", "float32", numSplits=2)[1]


@body
def reshaped(b: BodyWriter, x: int, n: int) -> int:
    shape = b.op("PACK", [n, b.constant(-1, "int32")], "int32", valuesCount=2)
    return b.op("SUM", [b.op("RESHAPE", [x, shape], "float32"), b.constant([1], "int32")], "float32", kind="Reducer")


@body
def padded(b: BodyWriter, x: int, _: int) -> int:
    return b.op("MIRROR_PAD", [x, b.constant([[7, 9], [0, 1]], "int32")], "float32", mode=0)


@body
def tiled(b: BodyWriter, x: int, n: int) -> int:
    return b.op("TILE", [x, b.op("PACK", [n, b.constant(1, "int32")], "int32", valuesCount=2)], "float32")


@body
def filled(b: BodyWriter, _: int, n: int) -> int:
    return b.op("FILL", [b.op("PACK", [n], "int32", valuesCount=1), b.constant(2.5)], "float32")


@body
def gathered(b: BodyWriter, x: int, n: int) -> int:
    return b.op("GATHER", [x, b.op("PACK", [n], "int32", valuesCount=1)], "float32", axis=0)


@body
def counted(b: BodyWriter, _: int, n: int) -> int:
    return b.op("RANGE", [b.constant(2, "int32"), n, b.constant(3, "int32")], "int32")


@body
def quotients(b: BodyWriter, x: int, n: int) -> int:
    found = [b.op(op, [n, b.constant(3, "int32")], "int32") for op in ("DIV", "FLOOR_DIV", "FLOOR_MOD")]
    return b.op("ADD", [x, b.op("CAST", [b.op("PACK", found[:2], "int32", valuesCount=2)], "float32")], "float32")


@body
def image(b: BodyWriter, x: int, n: int) -> int:
    rows = b.op("EXPAND_DIMS", [x, b.constant(0, "int32")], "float32")
    flat = b.op("EXPAND_DIMS", [rows, b.constant(3, "int32")], "float32")
    return b.op("RESIZE_BILINEAR", [flat, b.op("PACK", [n, n], "int32", valuesCount=2)], "float32")


def rows(b: BodyWriter, x: int) -> int:
    shape = b.op("SHAPE", [x], "int32", outType=2)
    places = [b.constant(value, "int32") for value in ([0], [1], [1])]
    return b.op("STRIDED_SLICE", [shape, *places], "int32", shrinkAxisMask=1)


def strided(b: BodyWriter, x: int, first: int, last: int, step: int = 1, **masks: int) -> int:
    return b.op("STRIDED_SLICE", [x, first, last, b.constant([step], "int32")], "float32", **masks)


def content(name: str) -> bytes:
    """A model with a composite whose number is 20 less its rows, or 5 less than them."""
    b = BodyWriter(name)
    x = b.input("float32", None, 2)
    count = rows(b, x)
    minus = [b.constant(20, "int32"), count] if name in ("begin", "end") else [count, b.constant(5, "int32")]
    return file_of(b.give(BODIES[name](b, x, b.op("SUB", minus, "int32"))))


def run(folder: Path) -> None:
    """Runs the kernels and, where they do not refuse, the bodies; in a process with the sanitizer."""
    for name in BODIES:
        model = content(name)
        ((made,),) = read_bodies(model, name).values()
        kernel = Interpreter(
            model_content=composite_model(model, made),
            experimental_delegates=[load_delegate(str(folder / "kernels.so"))],
        )
        plain = Interpreter(model_content=body_model(model, made))
        ran = refused = 0
        probes = {shapes["x0"][0] for shapes in probing_shapes(made)}
        for size in [*range(31), 41, 60, *sorted(probes)]:
            x = np.random.default_rng(size).normal(size=(size, 2)).astype(np.float32)
            try:
                found = call(kernel, x)
            except RuntimeError as error:
                refused += "litefuse kernel" in str(error)
                continue
            ran += 1
            try:
                expected = call(plain, x)
            except (RuntimeError, ValueError):  # of no elements, which XNNPACK, say, does not take
                continue
            np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5, err_msg=f"{name} of {size} rows")
        both = name not in ("begin", "end") or (min(probes) < 20 < max(probes))
        print(name, ran > 0, refused > 0, both)


def call(interpreter: Interpreter, x: np.ndarray) -> np.ndarray:
    (given,), (made,) = interpreter.get_input_details(), interpreter.get_output_details()
    interpreter.resize_tensor_input(given["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(given["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(made["index"])


def test_kernels_compute_what_bodies_do_or_refuse(tmp_path: Path) -> None:
    sources: dict[str, str] = {}
    for name in BODIES:
        model = content(name)
        sources[name] = kernel_source(name, read_bodies(model, name)[name], name.capitalize().replace("_", ""), "m")
    (tmp_path / "kernels.cc").write_text("\n".join(sources.values()))
    names = {name: name.capitalize().replace("_", "") for name in BODIES}
    (tmp_path / "registry.cc").write_text(registry_source(names))
    build_quickly(tmp_path / "kernels.so", [tmp_path / "kernels.cc", tmp_path / "registry.cc"], sanitize=True)
    program = f"from pathlib import Path; from {__name__} import run; run(Path({str(tmp_path)!r}))"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **sanitizer_environment(), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr[:3000]
    # All that can refuse have refused, and all have run.
    never = {"begin", "end", "backwards", "counted", "quotients"}
    lines = [line for line in done.stdout.splitlines() if line.split()[0] in BODIES]
    assert lines == [f"{name} True {name not in never} True" for name in BODIES]
