"""The code of docs/guides/hugging-face.md is valid, and calls what litefuse has.

``python -m suites.huggingface.page`` runs it, which takes transformers.
"""

from __future__ import annotations

import ast
import inspect
import shlex
from pathlib import Path

import click

import litefuse
from litefuse.tools.cli.convert import convert
from tests.docs.blocks import blocks_of

PAGE = Path(__file__).parents[1] / "docs" / "guides" / "hugging-face.md"


def code(language: str) -> str:
    """The page's code in a language."""
    return "".join(block.code for block in blocks_of(PAGE.read_text(encoding="utf-8")) if block.language == language)


def calls(program: str) -> list[tuple[str, ast.Call]]:
    """The calls of litefuse's functions in a program, with their names."""
    return [
        (node.func.attr, node)
        for node in ast.walk(ast.parse(program))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "litefuse"
    ]


def test_litefuse_has_what_the_page_calls() -> None:
    found = calls(code("python"))
    assert {name for name, _ in found} == {"convert", "verify_model", "Interpreter", "Quantization"}
    for name, call in found:
        keywords = {each.arg: None for each in call.keywords if each.arg is not None}
        inspect.signature(getattr(litefuse, name)).bind(*call.args, **keywords)


def test_the_command_line_has_the_options_of_the_page() -> None:
    commands = [shlex.split(line) for line in code("sh").splitlines() if line.startswith("litefuse")]
    assert commands
    for _, name, *arguments in commands:
        assert name == "convert"
        with click.Context(convert) as context:
            convert.parse_args(context, arguments)
