"""The blocks of code on a page of the documentation, and what is to become of each.

A block is fenced, and says its language. ``python`` and ``sh`` are run, in the order of the page; ``console`` has
commands behind ``$`` with what they print; ``text`` is what the block before it prints, with ``...`` for what is left
out; ``toml``, ``json`` and ``yaml`` are parsed. A comment before a block, which a rendered page does not show, says
what else it is::

    <!-- not run: REASON -->     it is shown alone, for one of the reasons in `REASONS`
    <!-- file: PATH -->          it is the content of a file, which the next blocks use
    <!-- in PATH, for: TEXT -->  it takes the place of the only line in a file that has the text,
    <!-- in PATH, for: TEXT ... END -->  and of the lines behind it up to the next one that has another text
    <!-- numbers vary -->        numbers in an output are other ones in each run
    <!-- exit code 1 -->         the block, or the last command of a session, ends with it

Several remarks about one block stand behind one another, with ``;`` between them. And anywhere on a page::

    <!-- no block of this page is run: REASON -->
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markdown_it import MarkdownIt

from tests.repository import ROOT, tracked

REASONS = (
    "needs a device",
    "needs another compiler",
    "needs an account",
    "installs from an index",
    "opens a window",
    "runs for minutes",
    "needs packages that the tests have not",
    "works on a checkout",
    "a placeholder",
    "a part of a file",
    "an outline",
    "of another model",
)
"""Why a block is not run: what a marker's reason begins with."""

RUN = ("python", "sh", "console")
PARSED = ("json", "toml", "yaml")
SHOWN = "text"

_COMMENT = re.compile(r"<!--\s*(.*?)\s*-->", flags=re.DOTALL)
_IN_FILE = re.compile(r"in (\S+), for: (.+?)(?: \.\.\. (.+))?")
_EXIT_CODE = re.compile(r"exit code (\d+)")
_NO_BLOCK = re.compile(r"<!-- no block of this page is run: (.*?) -->", flags=re.DOTALL)
_NUMBERS_VARY = "numbers vary"


@dataclass(frozen=True)
class Block:
    """A block of code.

    Attributes:
        line: The number of its first line on the page, that of the code, not of the fence.
        language: What its fence says it is in; empty for an indented block.
        code: Its text, without the indentation that a list around it has.
        remark: The comment before it, without its brackets; empty if there is none.
    """

    line: int
    language: str
    code: str
    remark: str = ""


@dataclass
class Step:
    """One thing to do on the way down a page.

    Attributes:
        kind: ``python``, ``sh``, ``write`` (a file), ``edit`` (some of its lines), ``json``, ``toml`` or ``yaml``.
        line: The number of its first line on the page.
        code: What is run, written or parsed.
        file: The file that is written; with ``edit`` also what the first and the last line have that go.
        shown: What the page says that it prints, and whether the numbers in it vary.
        exit_code: What a command ends with.
    """

    kind: str
    line: int
    code: str
    file: tuple[str, ...] = ()
    shown: list[tuple[str, bool]] = field(default_factory=list[tuple[str, bool]])
    exit_code: int = 0


def blocks_of(text: str) -> list[Block]:
    """The blocks of a page, indented ones too, in their order.

    Args:
        text: The page, as Markdown.
    """
    tokens = MarkdownIt("commonmark").parse(text)
    of_all = _NO_BLOCK.search(text)
    found: list[Block] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type not in ("fence", "code_block"):
            continue
        assert token.map is not None
        comments = _COMMENT.findall(before.content) if before is not None and before.type == "html_block" else []
        fenced = token.type == "fence"
        language = token.info.split()[0] if token.info.strip() else ""
        remark = f"not run: {of_all[1]}" if of_all else comments[-1] if comments else ""
        found.append(Block(token.map[0] + 1 + fenced, language, token.content, remark))
    return found


def left_alone(block: Block) -> str | None:
    """The reason why a block is not run, or None if it is.

    Raises:
        ValueError: It is a reason that there is not.
    """
    head, colon, reason = block.remark.partition(": ")
    if head.rstrip(":") != "not run":
        return None
    if not colon or not reason.startswith(REASONS):
        raise ValueError(f"line {block.line}: {reason!r} is no reason not to run a block: see tests/docs/blocks.py")
    return reason


def steps_of(page: Sequence[Block]) -> list[Step]:
    """What is to be done with the blocks of a page, in order.

    Raises:
        ValueError: A block has no language, or one that nothing is done with, or a comment that says nothing known.
    """
    found: list[Step] = []
    for block in page:
        if left_alone(block) is None:
            found += _steps(block, found)
    return found


def _steps(block: Block, before: Sequence[Step]) -> list[Step]:
    """The steps of a block; none if it is the output of a step before."""
    found: list[Step] = []
    vary, left = False, list(filter(None, block.remark.split("; ")))
    exit_code = next((int(code[1]) for each in left if (code := _EXIT_CODE.fullmatch(each))), 0)
    language = block.language
    if block.remark.startswith("file: "):
        found.append(Step("write", block.line, block.code, (block.remark.removeprefix("file: "),)))
        left = []
    elif matched := _IN_FILE.fullmatch(block.remark):
        found.append(Step("edit", block.line, block.code, (matched[1], matched[2], matched[3] or matched[2])))
        left = []
    elif language in ("console", SHOWN):
        vary = _NUMBERS_VARY in left
        left = [each for each in left if each != _NUMBERS_VARY]
        if language == "console":
            found += _commands(block, vary=vary)
        else:
            runs = [step for step in before if step.kind in RUN]
            if not runs:
                raise ValueError(f"line {block.line}: there is no block before this output")
            runs[-1].shown.append((block.code, vary))
    elif language in (*RUN, *PARSED):
        found.append(Step(language, block.line, block.code))
    else:
        raise ValueError(f"line {block.line}: nothing is known to do with {language or 'a block without a language'}")
    if found and found[-1].kind == "sh":
        found[-1].exit_code = exit_code
        left = [each for each in left if not _EXIT_CODE.fullmatch(each)]
    if left:
        raise ValueError(f"line {block.line}: {left[0]!r} is no remark that says something of a block")
    return found


def _commands(block: Block, *, vary: bool) -> Iterator[Step]:
    """The commands of a session at a terminal; a line that ends in a backslash goes on in the next."""
    step: Step | None = None
    open_command = False
    output: list[str] = []
    for number, line in enumerate(block.code.splitlines(keepends=True), block.line):
        if open_command and step is not None:
            step.code += line
        elif line.startswith("$ "):
            if step is not None:
                yield _with_output(step, output, vary=vary)
            step, output = Step("sh", number, line[2:]), []
        elif step is None:
            raise ValueError(f"line {number}: a session begins with $ and a command")
        else:
            output.append(line)
            continue
        open_command = line.rstrip("\n").endswith("\\")
    if step is not None:
        yield _with_output(step, output, vary=vary)


def _with_output(step: Step, output: Sequence[str], *, vary: bool) -> Step:
    if output:
        step.shown.append(("".join(output), vary))
    return step


def pages() -> dict[str, Path]:
    """The pages whose blocks are run, by their paths in the repository, in order."""
    paths = tracked("README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/*.md", "examples/*.md")
    return {path.relative_to(ROOT).as_posix(): path for path in paths}
