"""``litefuse run``."""

from __future__ import annotations

import os
import stat
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.errors import InterpreterError
from litefuse.litert.runtime.input_specs import load_arrays
from litefuse.tools.cli.execution import save_outputs
from litefuse.tools.demo import SAVED_MODEL
from tests.every import every
from tests.litert.runtime.models import Graph, model
from tests.tools.cli.test_cli import Outcome, refused, run, spawn


@pytest.fixture
def table_model(tmp_path: Path) -> Path:
    """``y = x + x`` for float32 ``x [?, 3]``, and the untouched int32 ``n []``, with the signature ``double``."""
    graph = Graph()
    x = graph.input("x", (1, 3), signature=(-1, 3))
    n = graph.input("n", (), np.int32)
    y = graph.output("y", (1, 3), signature=(-1, 3))
    graph.builtin("ADD", [x, x], [y])
    graph.outputs.append(n)
    path = tmp_path / "double.tflite"
    path.write_bytes(model(graph, signatures={"double": 0}))
    return path


def test_run_with_random_inputs(table_model: Path) -> None:
    first = run("run", table_model)
    assert first.code == 0
    assert "Random inputs, seed 0\n" in first.out
    assert run("run", table_model, "--seed", "0").out == first.out
    assert run("run", table_model, "--seed", "1").out != first.out


def test_run_saves_what_the_inputs_give(table_model: Path, tmp_path: Path) -> None:
    x = np.arange(6, dtype=np.float64).reshape(2, 3)
    np.savez(tmp_path / "in.npz", x=x, n=7)
    outcome = run("run", table_model, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz")
    assert outcome == Outcome(0, f"Outputs written to {tmp_path / 'out.npz'}\n", outcome.err)
    with np.load(tmp_path / "out.npz") as outputs:
        assert set(outputs) == {"y", "n"}
        assert outputs["y"].dtype == np.float32
        assert outputs["y"].tolist() == (2 * x).tolist()
        assert outputs["n"].item() == 7


def test_run_writes_through_no_planted_link(table_model: Path, tmp_path: Path) -> None:
    """Whoever may write to the folder may know what the outputs will be called, but not what is written first."""
    folder, other = tmp_path / "shared", tmp_path / "other.txt"
    folder.mkdir()
    other.write_text("kept")
    for name in (".out.npz.part", "out.npz.part", ".out.npz", "out.npz.tmp"):
        (folder / name).symlink_to(other)
    planted = set(folder.iterdir())
    assert run("run", table_model, "-o", folder / "out.npz").code == 0
    assert other.read_text() == "kept"
    assert set(folder.iterdir()) - planted == {folder / "out.npz"}
    assert not (folder / "out.npz").is_symlink()


def test_run_replaces_no_device(table_model: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    outcome = run("run", table_model, "-o", tmp_path / "pipe")
    refused(outcome, "the outputs cannot be written: a device, pipe or the like is not a file")
    assert stat.S_ISFIFO((tmp_path / "pipe").stat().st_mode)


def test_run_prints_a_summary_of_the_outputs(table_model: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=np.array([[1, 2, 3], [4, 5, 6]], np.float32), n=np.int32(7))
    lines = run("run", table_model, "--inputs", tmp_path / "in.npz").out.splitlines()
    rows = [line.split() for line in lines]
    assert ["y", "float32", "[2,", "3]", "2", "12", "7", "2", "4", "6", "8", "10", "..."] in rows
    assert ["n", "int32", "[]", "7", "7", "7", "7"] in rows


def test_run_takes_shapes_for_unknown_sizes(table_model: Path) -> None:
    assert "[4, 3]" in run("run", table_model, "--shape", "x=4,3").out
    refused(run("run", table_model, "--shape", "x=4,5"), "[4, 5]", "float32 [?, 3]")
    refused(run("run", table_model, "--shape", "z=4"), "no input 'z'", "x (float32 [?, 3])")
    for size in ("9" * 12, "9" * 24):
        refused(
            run("run", table_model, "--shape", f"x={size},3"), f"no memory for the input 'x' of the shape [{size}, 3]"
        )
    for text in ("x", "x=a", "=3", "x=-1,3"):
        outcome = run("run", table_model, "--shape", text)
        assert outcome.code == 2
        assert "--shape takes NAME= and sizes" in outcome.err


@pytest.mark.parametrize(
    ("arrays", "words"),
    [
        ({"x": np.zeros((1, 3), np.float32)}, "lacks 'n'"),
        ({"x": np.zeros((1, 3), np.float32), "n": 1, "m": 1}, "no input 'm'"),
        ({"x": np.zeros((1, 4), np.float32), "n": 1}, "is float32 [1, 4]; the model takes float32 [?, 3]"),
        ({"x": np.zeros((1, 3), np.complex64), "n": 1}, "is complex64"),
        ({"x": np.zeros((1, 3), np.float32), "n": 2**40}, "cannot hold its values"),
        ({"x": np.zeros((1, 3), np.float32), "n": np.array("a")}, "the model takes int32"),
    ],
)
def test_inputs_that_do_not_fit(table_model: Path, tmp_path: Path, arrays: Any, words: str) -> None:
    np.savez(tmp_path / "in.npz", **arrays)
    refused(run("run", table_model, "--inputs", tmp_path / "in.npz"), words)


def test_inputs_that_cannot_be_read(table_model: Path, tmp_path: Path) -> None:
    refused(run("run", table_model, "--inputs", tmp_path / "in.npz"), "no such file")
    os.mkfifo(tmp_path / "pipe.npz")
    refused(run("run", table_model, "--inputs", tmp_path / "pipe.npz"), "a device, pipe or the like")
    (tmp_path / "in.npz").write_bytes(b"text")
    refused(run("run", table_model, "--inputs", tmp_path / "in.npz"), "cannot be read")
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive, archive.open("x.npy", "w") as member:
        header = {"descr": "<f4", "fortran_order": False, "shape": (10**15, 3)}
        np.lib.format.write_array_header_1_0(member, header)
    refused(run("run", table_model, "--inputs", tmp_path / "in.npz"), "in.npz: there is not enough memory")
    np.save(tmp_path / "in.npy", np.zeros(3))
    refused(run("run", table_model, "--inputs", tmp_path / "in.npy"), "cannot be read")


def test_run_repeatedly_keeps_state_and_says_what_changed(tmp_path: Path) -> None:
    path = tmp_path / "embed.tflite"
    assert run("convert", SAVED_MODEL, "--signature", "embed", "-o", path, "-q").code == 0
    outcome = run("run", path, "--repeat", "3", "--shape", "ids=2")
    assert ["calls", "int32", "[]", "3", "3", "3", "3"] in [line.split() for line in outcome.out.splitlines()]
    assert outcome.out.endswith("The outputs changed from the first run to the last: calls\n")


def test_run_a_model_without_signatures(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    np.savez(tmp_path / "in.npz", x=np.array([1.5, -2], np.float32))
    outcome = run("run", path, "--inputs", tmp_path / "in.npz")
    assert ["y", "float32", "[2]", "-4", "3", "-0.5", "3", "-4"] in [line.split() for line in outcome.out.splitlines()]


def test_run_bad_input(demo_model: Path, table_model: Path, tmp_path: Path) -> None:
    refused(run("run", tmp_path / "nothing.tflite"), "no such file")
    refused(run("run", SAVED_MODEL), "is a folder", "litefuse convert")
    refused(run("run", SAVED_MODEL / "saved_model.pb"), "litefuse convert")
    refused(run("run", demo_model), "a signature must be named", "embed, serving_default")
    refused(run("run", demo_model, "--signature", "x"), "no signature 'x'")
    refused(run("run", table_model, "-o", tmp_path / "missing" / "o.npz"), "no such folder")
    before = table_model.read_bytes()
    refused(run("run", table_model, "-o", table_model), "it would replace what it is made from")
    assert table_model.read_bytes() == before
    assert run("run", table_model, "--inputs", tmp_path / "i.npz", "--seed", "1").code == 2
    assert run("run", table_model, "--repeat", "0").code == 2


def test_the_only_output_may_go_to_a_file_of_one_array(tmp_path: Path) -> None:
    graph = Graph()
    x, y, z = graph.input("x", (2,)), graph.output("y", (2,)), graph.output("z", (2,))
    graph.builtin("ADD", [x, x], [y])
    graph.builtin("MUL", [x, x], [z])
    two, one = tmp_path / "two.tflite", tmp_path / "one.tflite"
    two.write_bytes(model(graph, signatures={"serve": 0}))
    refused(run("run", two, "-o", tmp_path / "out.npy"), "the outputs are 2: y, z", "an .npz file")
    assert not (tmp_path / "out.npy").exists()
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    one.write_bytes(model(graph, signatures={"serve": 0}))
    np.savez(tmp_path / "in.npz", x=np.array([1, 2], np.float32))
    assert run("run", one, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.NPY").code == 0
    assert np.load(tmp_path / "out.NPY").tolist() == [2, 4]


def test_names_that_runners_and_archives_do_not_take(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("x", (2,)), graph.output("y" * 70_000, (2,))
    graph.builtin("ADD", [x, x], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph))
    refused(run("run", path, "-o", tmp_path / "out.npz"), "a .npz file has no such names")
    path.write_bytes(model(graph, signatures={"": 0}))
    refused(run("run", path), "the signature has the key ''")
    assert [*tmp_path.iterdir()] == [path]


def test_run_a_file_whose_name_is_no_text(table_model: Path, tmp_path: Path) -> None:
    strange = tmp_path / os.fsdecode(b"\xff.tflite")
    strange.write_bytes(table_model.read_bytes())
    assert run("run", strange).out == run("run", table_model).out


def test_run_a_model_with_a_name_that_is_no_text(tmp_path: Path) -> None:
    graph = Graph()
    x, y = graph.input("a_name", (2,)), graph.output("y", (2,))
    graph.builtin("ADD", [x, x], [y])
    path = tmp_path / "m.tflite"
    path.write_bytes(model(graph).replace(b"a_name", b"a\xffname"))
    refused(run("run", path), "is not UTF-8", "damaged")


def test_run_without_the_kernel_of_a_custom_op(demo_model: Path) -> None:
    # In a process of its own, where no test has registered a kernel of that name.
    outcome = spawn("run", demo_model, "--signature", "serving_default")
    assert outcome.code == 1
    assert "no kernel for the custom ops my_custom_fused_op" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize("shape", [(), (1,), (2, 3), (0, 2)])
@pytest.mark.parametrize("texts", [[b"Ab"], [b""], [b"a\0\0", b"", b"\0"], [b"\xff\xfe", "ö€".encode()]])
def test_strings_are_saved_as_their_bytes(tmp_path: Path, shape: tuple[int, ...], texts: list[bytes]) -> None:
    graph = Graph()
    graph.custom("StringUpper", [graph.input("x", shape, object)], [graph.output("y", shape, object)], {"encoding": ""})
    path = tmp_path / "upper.tflite"
    path.write_bytes(model(graph, signatures={"upper": 0}))
    given: Any = np.empty(shape, object)
    given.reshape(-1)[:] = [texts[place % len(texts)] for place in range(given.size)]
    save_outputs({"x": given}, tmp_path / "in.npz")

    assert run("run", path, "--inputs", tmp_path / "in.npz", "-o", tmp_path / "out.npz").code == 0
    saved = load_arrays(tmp_path / "out.npz")
    assert saved.keys() == {"y"}
    assert saved["y"].shape == shape
    assert saved["y"].reshape(-1).tolist() == [text.upper() for text in given.reshape(-1)]
    with np.load(tmp_path / "out.npz") as plain:  # which would refuse a pickle
        assert every(plain[name].dtype.kind in "Si" for name in plain.files)


def test_lengths_that_are_not_those_of_the_strings(tmp_path: Path) -> None:
    for lengths in ([1, 1], [2, 4], [2.0, 2.0]):
        arrays: Any = {"x": np.array([b"ab", b"abc"]), "x (lengths)": np.array(lengths)}
        np.savez(tmp_path / "in.npz", **arrays)
        with pytest.raises(InterpreterError, match=r"cannot be read"):
            load_arrays(tmp_path / "in.npz")
