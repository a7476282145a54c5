"""Each block of code in the documentation does what the page says, from the top of the page down."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of, left_alone, pages, steps_of
from tests.docs.running import run_page

REPOSITORY = Path(__file__).parents[2]
PAGES = pages()
BLOCKS = {name: blocks_of(path.read_text(encoding="utf-8")) for name, path in PAGES.items()}
LEFT_ALONE = {
    "CONTRIBUTING.md": 4,
    "README.md": 3,
    "docs/explanation/architecture.md": 4,
    "docs/guides/adding.md": 2,
    "docs/guides/checking.md": 2,
    "docs/guides/ci.md": 1,
    "docs/guides/cloud.md": 2,
    "docs/guides/custom-ops.md": 3,
    "docs/guides/hugging-face.md": 11,
    "docs/guides/installing.md": 4,
    "docs/guides/quantization.md": 3,
    "docs/guides/recurrent.md": 2,
    "docs/guides/seeing.md": 1,
    "docs/guides/targets.md": 9,
    "docs/reference/cli.md": 1,
    "docs/reference/json.md": 2,
    "docs/reference/logging.md": 1,
    "docs/tutorials/from-litert-torch.md": 1,
    "docs/tutorials/language-models.md": 2,
    "examples/cpp_kernel/README.md": 1,
    "examples/litert_tools/README.md": 6,
    "examples/pre-commit/README.md": 1,
}
"""How many blocks of each page are not run."""


@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks])
def test_page(name: str, tmp_path: Path) -> None:
    folder, work = tmp_path / "reader", tmp_path / "work"
    if name.startswith("examples/"):
        shutil.copytree(PAGES[name].parent, folder)
    else:
        folder.mkdir()
    work.mkdir()
    run_page(name, steps_of(BLOCKS[name]), folder, work)


def test_blocks_that_are_not_run() -> None:
    reasons = {name: [reason for each in blocks if (reason := left_alone(each))] for name, blocks in BLOCKS.items()}
    assert {name: len(found) for name, found in reasons.items() if found} == LEFT_ALONE, reasons
