"""The lists of docs/reference/builders.md, from the table of builtin ops."""

from __future__ import annotations

import inspect

from litefuse.fusions.builder import Builder
from litefuse.fusions.builtin_ops import CHOICES, UNAVAILABLE
from litefuse.fusions.builtins import BUILTINS, REQUIRED


def made() -> str:
    """The sections of the page."""
    lines = ["## Ops", ""]
    for name, known in sorted(BUILTINS.items()):
        call = f"`b.{name.lower()}{_signature(name)}`"
        if str(_signature(name)) != str(known.signature):
            call += f" or `b.builtin({name!r}, {str(known.signature)[1:]}`"
        notes = [known.about.replace("*", r"\*").replace("|", r"\|")]
        for title, mark in {"Constant": "constant", "State": "state"}.items():
            if named := [f"`{operand.name}`" for operand in known.operands if getattr(operand, mark)]:
                notes.append(f"{title}{'s' * (len(named) > 1)}: {', '.join(named)}.")
        lines.append(f"- {call}: {' '.join(notes)}")
    lines += ["", "## Values of attributes", "", "| attribute | values |", "| --- | --- |"]
    for name, choices in CHOICES.items():
        lines.append(f"| `{name}` | {', '.join(f'`{choice}`' for choice in choices if choice)} |")
    lines += ["", "## What cannot be built", "", "| op | why, and what to use |", "| --- | --- |"]
    lines += [f"| {name} | {reason[0].upper()}{reason[1:]}. |" for name, reason in sorted(UNAVAILABLE.items())]
    return "\n".join(lines)


def _signature(name: str) -> inspect.Signature:
    """Returns the signature of a builder, without annotations."""
    signature = inspect.signature(getattr(Builder(), name.lower()))
    plain = [parameter.replace(annotation=REQUIRED) for parameter in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=REQUIRED)
