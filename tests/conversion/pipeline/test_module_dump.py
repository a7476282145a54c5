"""The modules of a conversion as text: ``--dump-ir``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import litefuse
from litefuse.conversion.pipeline.module_dump import ModuleDump
from litefuse.conversion.pipeline.step_names import check_step_names, module_steps
from litefuse.conversion.pipeline.steps import SELF_CHECK, Steps
from litefuse.errors import LitefuseError, NotFusedError
from litefuse.ir.mlir import ir, mlir_context
from litefuse.tools.demo import SAVED_MODEL
from tests.mlir.test_every_pass import passes
from tests.tools.cli.test_cli import refused, run

MODULE = """
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "tf.Neg"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %1 = "tf.Const"() {value = dense<[1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5, 12.5, 13.5, 14.5, 15.5,
    16.5, 17.5]> : tensor<17xf32>} : () -> tensor<17xf32>
  return %0 : tensor<2xf32>
}
"""


@pytest.fixture
def module() -> Iterator[ir.Module]:
    with mlir_context():
        yield ir.Module.parse(MODULE)


def index(folder: Path) -> list[list[str]]:
    """The lines of the index: number, step, and what became of the module."""
    lines = [line.split(maxsplit=4) for line in (folder / "index.txt").read_text().splitlines()[2:]]
    return [[line[0], line[1], *line[4:]] for line in lines]


def erase_negation(module: ir.Module) -> None:
    function = module.body.operations[0]
    block = function.regions[0].blocks[0]
    negation = block.operations[0]
    negation.results[0].replace_all_uses_with(block.arguments[0])
    negation.operation.erase()


def test_only_what_changed_is_written(module: ir.Module, tmp_path: Path) -> None:
    steps = Steps(lambda _: None, dump=ModuleDump(tmp_path / "ir"))
    with steps.failing():
        steps.begin("read")
        steps.begin("import")
        steps.module = module
        steps.begin("first-pass")
        steps.begin("second-pass")
        erase_negation(module)
        steps.begin("")
    assert index(tmp_path / "ir") == [
        ["001", "read", "no module yet"],
        ["002", "import", "002-import.mlir"],
        ["003", "first-pass", "unchanged"],
        ["004", "second-pass", "004-second-pass.mlir"],
    ]
    assert sorted(each.name for each in (tmp_path / "ir").iterdir()) == [
        "002-import.mlir",
        "004-second-pass.mlir",
        "index.txt",
    ]
    text = (tmp_path / "ir" / "002-import.mlir").read_text()
    assert '"tf.Neg"' in text
    # The constant is larger than what is written.
    assert "__elided__" in text
    assert "17.5" not in text
    assert '"tf.Neg"' not in (tmp_path / "ir" / "004-second-pass.mlir").read_text()


def test_what_is_asked_for_is_written_though_it_changed_nothing(module: ir.Module, tmp_path: Path) -> None:
    steps = Steps(lambda _: None, dump=ModuleDump(tmp_path / "ir", after=("first-pass", "write")))
    steps.module = module
    for step in ("import", "first-pass", "second-pass", "first-pass", "write", ""):
        steps.begin(step)
    assert [line[2] for line in index(tmp_path / "ir")] == [
        *("changed", "002-first-pass.mlir", "unchanged", "unchanged", "unchanged")
    ]


def test_the_self_check_is_a_part_of_its_pass(module: ir.Module, tmp_path: Path) -> None:
    steps = Steps(lambda _: None, dump=ModuleDump(tmp_path / "ir"))
    steps.module = module
    for step in (
        "import",
        "fuse-composites",
        SELF_CHECK,
        "fuse-composites",
        SELF_CHECK,
        "fuse-composites",
        "write",
        "",
    ):
        steps.begin(step)
    assert [line[1] for line in index(tmp_path / "ir")] == ["import", "fuse-composites", "write"]


def test_the_last_file_is_the_state_in_which_a_step_failed(module: ir.Module, tmp_path: Path) -> None:
    steps = Steps(lambda _: None, dump=ModuleDump(tmp_path / "ir", after=("import",)))
    steps.begin("import")
    steps.module = module
    steps.begin("bad-pass")
    erase_negation(module)
    with pytest.raises(LitefuseError, match="no such thing"), steps.failing():
        raise LitefuseError("no such thing\nand more")
    assert index(tmp_path / "ir")[-1] == ["002", "bad-pass", "002-bad-pass.mlir; failed: no such thing"]
    assert '"tf.Neg"' not in (tmp_path / "ir" / "002-bad-pass.mlir").read_text()


def test_the_index_ends_with_the_step_in_which_a_process_died(module: ir.Module, tmp_path: Path) -> None:
    steps = Steps(lambda _: None, dump=ModuleDump(tmp_path / "ir"))
    steps.begin("import")
    steps.module = module
    steps.begin("lower")
    # Nothing more is called; the files are there already.
    assert (tmp_path / "ir" / "index.txt").read_text().splitlines()[-1].split() == ["002", "lower"]
    assert (tmp_path / "ir" / "001-import.mlir").exists()


def test_a_module_that_is_not_valid_is_written_too(module: ir.Module, tmp_path: Path) -> None:
    dump = ModuleDump(tmp_path / "ir")
    dump.begin("bad")
    block = module.body.operations[0].regions[0].blocks[0]
    block.operations[2].operation.erase()  # the return
    dump.end(module, 0.0, "it has no terminator")
    assert "tf.Neg" in (tmp_path / "ir" / "001-bad.mlir").read_text()


def test_a_folder_of_the_users_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "001-import.mlir").write_text("mine")
    with pytest.raises(LitefuseError, match=r"the folder has files that litefuse did not write, such as '001-import"):
        litefuse.convert(SAVED_MODEL, debug=tmp_path)
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {
        "notes.txt": "mine",
        "001-import.mlir": "mine",
    }
    # A link to an index elsewhere does not make it litefuse's.
    own = tmp_path / "own"
    ModuleDump(own).close()
    (tmp_path / "index.txt").symlink_to(own / "index.txt")
    with pytest.raises(LitefuseError, match="did not write"):
        ModuleDump(tmp_path)


def test_an_earlier_dump_is_replaced_and_other_files_in_it_stay(tmp_path: Path) -> None:
    ModuleDump(tmp_path / "ir").close()
    (tmp_path / "ir" / "044-old.mlir").write_text("old")
    (tmp_path / "ir" / "notes.txt").write_text("mine")
    ModuleDump(tmp_path / "ir").close()
    assert sorted(each.name for each in (tmp_path / "ir").iterdir()) == ["index.txt", "notes.txt"]


@pytest.mark.parametrize("place", ["file", "missing/folder"])
def test_a_folder_that_cannot_be(tmp_path: Path, place: str) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LitefuseError, match="the modules cannot be written: N") as caught:
        ModuleDump(tmp_path / place)
    assert caught.value.where == str(tmp_path / place)


def test_names_of_passes() -> None:
    names = module_steps()
    assert [names.index(each) for each in ("import", "fuse-composites", "lower", "name-tensors")] == sorted(
        names.index(each) for each in ("import", "fuse-composites", "lower", "name-tensors")
    )
    check_step_names(["lower", "fold-branches"])
    with pytest.raises(LitefuseError, match="unknown pass 'fold-branch'") as caught:
        check_step_names(["lower", "fold-branch"])
    assert "set-input-shapes, withhold-chosen-ops, lower-for" in caught.value.hint


#: The passes that run outside of a conversion's steps: in the self-check and within the step ``quantize``.
ELSEWHERE = {"integer-boundary", "integer-ops", "load-weights"}


def test_every_pass_is_among_the_names() -> None:
    sources = Path(litefuse.__file__).parent
    found = {
        name
        for path in sources.rglob("*.py")
        if path.parent.name != "demo"
        for _, name in passes(path.read_text("utf-8"))
        if name is not None
    }
    assert len(found) > 60
    assert found - {*module_steps()} == ELSEWHERE


def test_the_modules_of_a_conversion(tmp_path: Path) -> None:
    folder = tmp_path / "ir"
    outcome = run("convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "-q", "--dump-ir", folder)
    assert outcome.code == 0, outcome
    lines = index(folder)
    written = [line[2] for line in lines if line[2].endswith(".mlir")]
    assert sorted(written) == sorted(each.name for each in folder.glob("*.mlir"))
    steps = [line[1] for line in lines]
    assert steps[:3] == ["read", "import", "set-input-shapes"]
    assert steps[-2:] == ["name-tensors", "write"]
    assert {*steps} <= {*module_steps()}
    lowered = next((folder / line[2]).read_text() for line in lines if line[1] == "lower")
    assert "tfl.conv_2d" in lowered
    assert '"tf.Conv2D"' not in lowered
    before = (folder / written[written.index(f"{steps.index('lower') + 1:03}-lower.mlir") - 1]).read_text()
    assert '"tf.Conv2D"' in before

    again = run(
        "convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "-q", "--dump-ir", folder, "--dump-ir-after", "lower",
        "--dump-ir-after", "import", "--in-process",
    )  # fmt: skip
    assert again.code == 0, again
    assert sorted(each.name.partition("-")[2] for each in folder.glob("*.mlir")) == ["import.mlir", "lower.mlir"]
    assert any(line[2] == "changed" for line in index(folder))


def test_what_a_failed_conversion_leaves(tmp_path: Path) -> None:
    with pytest.raises(NotFusedError):
        litefuse.convert(SAVED_MODEL, debug=tmp_path / "ir", require_fused=["nothing"])
    last = index(tmp_path / "ir")[-1]
    assert last[1] == "fuse-composites"
    assert "; failed: composites that had to be fused were not:" in last[2]
    assert (tmp_path / "ir" / last[2].partition(";")[0]).exists()


def test_wrong_requests(tmp_path: Path) -> None:
    with pytest.raises(LitefuseError, match="without dump_ir"):
        litefuse.convert(SAVED_MODEL, debug=litefuse.Debugging(dump_ir_after=["lower"]))
    with pytest.raises(LitefuseError, match="which are strings"):
        litefuse.convert(SAVED_MODEL, debug=litefuse.Debugging(dump_ir=tmp_path / "ir", dump_ir_after=[1]))  # pyright: ignore[reportArgumentType]
    outcome = run(
        "convert", SAVED_MODEL, "-o", tmp_path / "m.tflite", "--dump-ir", tmp_path / "ir", "--dump-ir-after", "lowr"
    )
    refused(outcome, "unknown pass 'lowr'", "The passes, in order: read, import, set-input-shapes")
    refused(run("convert", SAVED_MODEL, "--dump-ir-after", "lower"), "without dump_ir", "--dump-ir DIR")
