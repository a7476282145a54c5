"""Each block of code in the documentation does what the page says, from the top of the page down."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import pytest

from tests.docs.blocks import blocks_of, left_alone, pages, steps_of
from tests.docs.running import run_page

REPOSITORY = Path(__file__).parents[2]
PAGES = pages(REPOSITORY)
BLOCKS = {name: blocks_of(path.read_text(encoding="utf-8")) for name, path in PAGES.items()}
LEFT_ALONE = 20
"""How many blocks may not be run, on all pages together. It may become less."""
# Pages that are not brought up to this test yet.
PENDING = {
    *("CONTRIBUTING.md", "examples/cpp_kernel/README.md"),
    *(f"docs/explanation/{name}.md" for name in ("architecture", "benchmarks", "differences")),
    *(f"docs/guides/{name}.md" for name in ("adding", "hugging-face", "recurrent")),
    *(f"docs/guides/{name}.md" for name in ("seeing", "targets", "training")),
    *(f"docs/reference/{name}.md" for name in ("fusions",)),
    *(f"docs/tutorials/{name}.md" for name in ("writing-a-fusion", "writing-a-recognizer")),
}


@pytest.mark.parametrize("name", [name for name, blocks in BLOCKS.items() if blocks and name not in PENDING])
def test_page(name: str, tmp_path: Path) -> None:
    folder, work = tmp_path / "reader", tmp_path / "work"
    if name.startswith("examples/"):
        shutil.copytree(PAGES[name].parent, folder)
    else:
        folder.mkdir()
    work.mkdir()
    run_page(name, steps_of(BLOCKS[name]), folder, work)


def test_blocks_that_are_not_run() -> None:
    found = Counter(
        f"{name}: {reason}" for name, blocks in BLOCKS.items() for each in blocks if (reason := left_alone(each))
    )
    assert found.total() <= LEFT_ALONE, "\n".join(f"{count} {each}" for each, count in sorted(found.items()))
