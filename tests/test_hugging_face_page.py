"""The code of docs/guides/hugging-face.md is valid, and calls what litefuse has.

``python -m suites.huggingface.page`` runs it, which takes transformers.
"""

from __future__ import annotations

import ast
import inspect
import shlex

import click

import litefuse
from litefuse.cli.convert import convert
from tests.tensorflow.pages import blocks

PAGE = "hugging-face.md"


def calls(code: str) -> list[tuple[str, ast.Call]]:
    """The calls of litefuse's functions in a program, with their names."""
    return [
        (node.func.attr, node)
        for node in ast.walk(ast.parse(code))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "litefuse"
    ]


def test_litefuse_has_what_the_page_calls() -> None:
    found = calls("\n".join(blocks(PAGE, "python")))
    assert {name for name, _ in found} == {"convert", "verify_model", "Interpreter"}
    for name, call in found:
        keywords = {each.arg: None for each in call.keywords if each.arg is not None}
        inspect.signature(getattr(litefuse, name)).bind(*call.args, **keywords)


def test_the_command_line_has_the_options_of_the_page() -> None:
    commands = [shlex.split(line) for line in "".join(blocks(PAGE, "sh")).splitlines() if line.startswith("litefuse")]
    assert commands
    for _, name, *arguments in commands:
        assert name == "convert"
        with click.Context(convert) as context:
            convert.parse_args(context, arguments)
