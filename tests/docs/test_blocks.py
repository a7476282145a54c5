"""The test of the pages says no where a page says something that is not so."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.docs.blocks import Block, blocks_of, left_alone, steps_of
from tests.docs.running import PageError, run_page


def page(*blocks: str) -> str:
    """A page of blocks, each with its remark and its language before it: ``remark|language|code``."""
    texts: list[str] = []
    for block in blocks:
        remark, language, code = block.split("|", 2)
        texts.append((f"<!-- {remark} -->\n" if remark else "") + f"```{language}\n{code}\n```")
    return "Some prose.\n\n" + "\n\nAnd more.\n\n".join(texts) + "\n"


@pytest.fixture
def run(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


class Runner:
    """Runs a page of these blocks."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.work = folder / "a reader's", folder / "wörk"

    def __call__(self, *blocks: str, seconds: float = 100) -> None:
        self.folder.mkdir()
        self.work.mkdir()
        run_page("a/page.md", steps_of(blocks_of(page(*blocks))), self.folder, self.work, seconds=seconds)


def test_blocks_are_found_wherever_they_stand() -> None:
    text = """
<!-- not run: a placeholder -->
```sh
one
```

- in a list:

  <!-- numbers vary -->
  ```text
  two
    deeper
  ```

> ~~~~python
> three
> ```
> ~~~~

    four

<!-- of the prose -->

Prose.

```toml title="x"
five = 5
```
"""
    assert blocks_of(text) == [
        Block(4, "sh", "one\n", "not run: a placeholder"),
        Block(11, "text", "two\n  deeper\n", "numbers vary"),
        Block(16, "python", "three\n```\n"),
        Block(20, "", "four\n"),
        Block(27, "toml", "five = 5\n"),
    ]


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ("||x = 1", "line 4: nothing is known to do with a block without a language"),
        ("|pyhton|x = 1", "line 4: nothing is known to do with pyhton"),
        ("notrun: a placeholder|python|x = 1", "line 5: 'notrun: a placeholder' is no remark"),
        ("not run|python|x = 1", "'' is no reason not to run a block"),
        ("not run: it fails|python|x = 1", "'it fails' is no reason not to run a block"),
        ("numbers vary|python|x = 1", "'numbers vary' is no remark"),
        ("exit code 1|python|x = 1", "'exit code 1' is no remark"),
        ("exit code 1|text|x = 1", "there is no block before"),
        ("|text|1", "there is no block before this output"),
        ("|console|1", "a session begins with"),
    ],
)
def test_blocks_that_nothing_is_known_of(block: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        steps_of(blocks_of(page(block)))


def test_an_indented_block_has_no_language() -> None:
    with pytest.raises(ValueError, match="line 3: nothing is known to do with a block without a language"):
        steps_of(blocks_of("Prose.\n\n    x = 1\n"))


def test_a_block_that_is_left_alone_has_a_reason() -> None:
    (block,) = blocks_of(page("not run: needs a device, by adb|sh|false"))
    assert left_alone(block) == "needs a device, by adb"
    assert steps_of([block]) == []


def test_a_page_may_say_that_none_of_it_is_run() -> None:
    text = "<!-- no block of this page is run: needs a device -->\n" + page("|sh|false", "numbers vary|text|1")
    assert [left_alone(block) for block in blocks_of(text)] == ["needs a device"] * 2
    assert steps_of(blocks_of(text)) == []
    with pytest.raises(ValueError, match="'it fails' is no reason"):
        steps_of(blocks_of(text.replace("needs a device", "it fails")))


def test_a_page_is_one_program_and_one_terminal(run: Runner) -> None:
    run(
        "|python|import inspect, os\nx = [1, 2]\ndef function():\n    return 'of the page'",
        "|sh|mkdir 'a b' && cd 'a b'\nexport NAME='it'\"'s\"",
        "|python|assert __name__ == '__main__'\nprint(x, os.getcwd().endswith('reader\\'s'))",
        "|text|[1, 2] True",
        '|sh|echo "$NAME $(basename "$PWD")"',
        "|text|it's a b",
        "|python|print(inspect.getsource(function))",
        "|text|def function():\n    return 'of the page'",
    )


def test_files_and_places_in_them(run: Runner) -> None:
    run(
        "file: a/module.py|python|def f():\n    return 1  # EDIT\n",
        "in a/module.py, for: EDIT|python|    return 2",
        "file: a/b.cc|cpp|#include <x>",
        "|python|from a.module import f\nprint(f())",
        "|text|2",
        "|sh|cat a/b.cc",
        "|text|#include <x>",
        "file: lines|text|one\ntwo 1\nthree\ntwo 2\nfour",
        "in lines, for: two 1 ... two|text|2\n3",
        "in lines, for: two 2 ... four|text|...",
        "|sh|cat lines",
        "|text|one\n2\n3\nthree\n...",
    )


def test_sessions(run: Runner) -> None:
    run(
        "|console|$ echo one \\\n  two\none two\n$ cd /\n$ pwd\n/",
        "numbers vary|console|$ echo 17.5 ms of 1,234 and 2e-05\n3 ms of 12 and 1.5",
        "|console|$ printf 'a\\nb\\nc\\n'\na\n...\nc",
        "numbers vary; exit code 3|console|$ true\n$ sh -c 'echo 5; exit 3'\n6",
    )


WRONG: dict[str, tuple[list[str], str]] = {
    "exception": (
        ["|python|x = 1", "|python|\n\nassert x == 2"],
        r"a/page\.md:10 failed:(.|\n)*page.md\", line 12, in <module>",
    ),
    "syntax": (["|python|def f(:"], r"a/page\.md:4 failed:(.|\n)*SyntaxError"),
    "exit": (["|python|import sys\nsys.exit(3)"], r"a/page\.md:4 failed"),
    "exit with 0": (["|python|import sys\nsys.exit(0)", "|python|x = 1"], r"a/page\.md:4 failed"),
    "exit code": (["exit code 3|sh|exit 4"], r"a/page\.md:5 failed(.|\n)*exit code 4, not 3"),
    "exit code 0": (["exit code 3|sh|exit 0"], r"a/page\.md:5 failed(.|\n)*exit code 0, not 3"),
    "command in the middle": (["|sh|false\ntrue"], r"a/page\.md:4 failed"),
    "pipe": (["|sh|false | true"], r"a/page\.md:4 failed"),
    "variable": (["|sh|echo $unknown"], r"a/page\.md:4 failed(.|\n)*unbound variable"),
    "litefuse": (["|sh|litefuse convert nothing"], r"a/page\.md:4 failed(.|\n)*nothing"),
    "output": (["|python|print(1)", "|text|2"], r"a/page\.md:4 prints something else:\nExpected:\n    2\nGot:\n    1"),
    "output of another block": (["|python|print(1)", "|python|print(2)", "|text|1"], r"a/page\.md:10 prints"),
    "session": (["|console|$ echo 1\n2"], r"a/page\.md:4 prints something else"),
    "failure in a session": (["|console|$ false\n$ echo 1"], r"a/page\.md:4 failed"),
    "unit": (["numbers vary|console|$ echo 1 ms\n2 s"], r"a/page\.md:5 prints something else"),
    "json": (["|json|{'a': 1}"], r"a/page\.md:4: Expecting property name"),
    "toml": (["|toml|a = "], r"a/page\.md:4: Invalid value"),
    "yaml": (["|yaml|a: [1"], r"a/page\.md:4: (.|\n)*expected"),
    "file of toml": (["file: a.toml|toml|a = "], r"a/page\.md:5: Invalid value"),
    "place in no file": (["in a.py, for: x|python|y"], r"a/page\.md:5 failed(.|\n)*No such file"),
    "two places": (
        ["file: a.py|python|x\nx", "in a.py, for: x|python|y"],
        r"a/page\.md:13 failed(.|\n)*too many values",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_pages_that_are_wrong(run: Runner, name: str) -> None:
    blocks, message = WRONG[name]
    with pytest.raises(PageError, match=message):
        run(*blocks)


def test_what_a_page_installs_is_its_own(run: Runner) -> None:
    project = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
    project += (
        '[project]\nname = "of-a-page"\nversion = "1.0"\n[tool.hatch.build.targets.wheel]\ninclude = ["of_a_page.py"]'
    )
    run(
        "file: p/of_a_page.py|python|x = 1",
        f"file: p/pyproject.toml|toml|{project}",
        "|sh|pip install ./p",
        "|sh|rm -r p && python -c 'import of_a_page; print(of_a_page.__file__)'",
        "|text|...packages/of_a_page.py",
        "|python|import of_a_page",
    )


def test_a_page_that_hangs_is_ended_with_all_that_it_started(run: Runner) -> None:
    with pytest.raises(PageError, match=r"a/page\.md:4 took more than 5 s"):
        run("|sh|sleep 1000 & echo $! > pid\nsleep 1000", seconds=5)
    command = Path("/proc", (run.folder / "pid").read_text().strip(), "cmdline")
    ends = time.monotonic() + 10
    while command.exists() and command.read_bytes():  # of one that is only waited for, it is empty
        assert time.monotonic() < ends, "it goes on"
        time.sleep(0.05)
