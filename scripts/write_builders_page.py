"""Write ``docs/reference/builders.md`` from the table of builtin ops: ``python -m scripts.write_builders_page``."""

from __future__ import annotations

import inspect
from pathlib import Path

from litefuse.fusions.builder import Builder
from litefuse.fusions.builtin_ops import CHOICES, UNAVAILABLE
from litefuse.fusions.builtins import BUILTINS, REQUIRED

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "builders.md"

_HEAD = """\
# Builders of LiteRT's ops

The builder `b` of [conversion code](../tutorials/writing-a-fusion.md) has a method for each builtin op of LiteRT, named
in lower case. `b.builtin("SOFTMAX", ...)` does the same, and returns a list. `help(b.softmax)` shows what is here.

- Operands go by position or by name, attributes by name. An operand is a value, an array, a number, a text, or a list
  of numbers or texts. All but values become constants. Numbers get the dtype of the values beside them where the op
  wants one dtype; else they are int32 or float32. None leaves out an operand whose default it is.
- An attribute without a default must be given. One whose default is None follows from the operands.
- **Constant** operands must be constants: the result's shape follows from them. **States** are memory that the op
  updates; give the value that it has when a call begins.
- A single result is returned as it is, several as a list.
- For LSTMs, [helpers](../guides/recurrent.md#your-own-fusion) sort the weights.

`python -m scripts.write_builders_page` writes this page.

"""


def page() -> str:
    """Returns the page."""
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
    return _HEAD + "\n".join(lines) + "\n"


def _signature(name: str) -> inspect.Signature:
    """Returns the signature of a builder, without annotations."""
    signature = inspect.signature(getattr(Builder(), name.lower()))
    plain = [parameter.replace(annotation=REQUIRED) for parameter in signature.parameters.values()]
    return signature.replace(parameters=plain, return_annotation=REQUIRED)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
