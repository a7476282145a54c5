"""Writes docs/demo.svg, the picture in README: ``litefuse convert`` in a terminal, with the report that it prints.

    python -m scripts.write_demo_cast            # writes it
    python -m scripts.write_demo_cast --check    # fails if the command prints something else now

The command runs in a pseudo terminal, on the model of ``litefuse demo``. The picture is an SVG that needs nothing else,
no font either: each run of letters has its length. It is typed and printed line by line by CSS; where that does not
run, or the system asks for less motion, all of it is there at once. Times are not compared: they are of the machine
that it was written on.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET
from xml.sax.saxutils import escape

import click
from rich.console import Console
from rich.text import Text

from litefuse.tools.demo import SAVED_MODEL

PICTURE = Path(__file__).parents[1] / "docs" / "demo.svg"
COMMAND = ("convert", "my_saved_model", "--kernels", "my_kernels.py", "-o", "model.tflite")
_KERNELS = """
import litefuse
from litefuse.tools.demo.check import MyCustomFusedOp

litefuse.custom_op(MyCustomFusedOp.op_name)(MyCustomFusedOp)
"""

_COLUMNS, _ROWS = 80, 50
# In units of the picture: a letter of 14 in the usual fonts is 8.4 wide.
_LETTER, _LINE, _SIZE, _EDGE, _TOP = 8.4, 19, 14, 16, 44
_TYPED = 2.0  # seconds, from the first letter to the answer
_SHOWN = 0.06  # seconds between lines of the answer

# By their numbers in a terminal.
_NAMES = {1: "red", 2: "green", 3: "yellow", 5: "magenta", 6: "cyan"}
_COLORS = {"red": "#ff7b72", "green": "#3fb950", "yellow": "#e3b341", "magenta": "#bc8cff", "cyan": "#56d4dd"}
_STYLE = f"""
text{{font:{_SIZE}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace}}
text{{fill:#e6edf3;white-space:pre}}
.bold{{font-weight:700}}.dim{{fill:#8b949e}}
{"".join(f".{name}{{fill:{color}}}" for name, color in _COLORS.items())}
.line{{animation:shown .1s backwards}}
.typed{{animation:typed {_TYPED - 0.5}s steps({len("litefuse " + " ".join(COMMAND))}) both}}
@keyframes shown{{from{{opacity:0}}}}
@keyframes typed{{from{{clip-path:inset(0 100% 0 0)}}to{{clip-path:inset(0 0 0 0)}}}}
@media (prefers-reduced-motion:reduce){{.line,.typed{{animation:none}}}}
""".strip()


class Run(NamedTuple):
    """Letters of one style, in a line.

    Attributes:
        column: Where they begin.
        text: The letters.
        classes: The classes of the style.
    """

    column: int
    text: str
    classes: tuple[str, ...]


def printed() -> str:
    """Returns what the command writes to a terminal of 80 columns, with its escapes.

    Raises:
        RuntimeError: The command fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(SAVED_MODEL, Path(folder, "my_saved_model"))
        Path(folder, "my_kernels.py").write_text(_KERNELS)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", _ROWS, _COLUMNS, 0, 0))
        written = bytearray()
        reader = threading.Thread(target=_read, args=(ours, written))
        reader.start()
        environment = {
            key: value for key, value in os.environ.items() if key not in {"COLUMNS", "NO_COLOR", "FORCE_COLOR"}
        }
        try:
            done = subprocess.run(
                [sys.executable, "-m", "litefuse", *COMMAND],
                stdin=subprocess.DEVNULL,
                stdout=theirs,
                stderr=subprocess.PIPE,
                cwd=folder,
                env={**environment, "TERM": "xterm-256color", "PYTHONPATH": os.pathsep.join(sys.path)},
                check=False,
            )
        finally:
            os.close(theirs)
            reader.join()
            os.close(ours)
    if done.returncode:
        raise RuntimeError(f"litefuse {' '.join(COMMAND)} fails: {done.stderr.decode()}")
    return written.decode().replace("\r\n", "\n")


def _read(descriptor: int, into: bytearray) -> None:
    while True:
        try:
            found = os.read(descriptor, 65536)
        except OSError:  # the other end is closed, on Linux
            return
        if not found:
            return
        into += found


def lines_of(output: str) -> list[list[Run]]:
    """Returns the lines of a terminal's output, each as runs of letters of one style."""
    return [[*_runs(Text.from_ansi(line))] for line in output.rstrip("\n").split("\n")]


def _runs(line: Text) -> Iterator[Run]:
    column = 0
    for segment in line.render(Console(width=_COLUMNS, color_system="standard", force_terminal=True), end=""):
        style = segment.style
        classes: list[str] = []
        if style is not None:
            classes += ["bold"] if style.bold else []
            classes += ["dim"] if style.dim else []
            if style.color is not None and style.color.number in _NAMES:
                classes.append(_NAMES[style.color.number])
        if segment.text.strip():
            yield Run(column, segment.text.rstrip(), tuple(classes))
        column += len(segment.text)


def picture(lines: Sequence[Sequence[Run]]) -> str:
    """Returns the SVG of the command and its answer."""
    width = round(_COLUMNS * _LETTER + 2 * _EDGE)
    height = _TOP + _LINE * (len(lines) + 1) + _EDGE
    command = "litefuse " + " ".join(COMMAND)
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title">',
        f'<title id="title">{escape(command)} in a terminal, and the report that it prints</title>',
        f"<style>{_STYLE}</style>",
        f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
        *(f'<circle cx="{_EDGE + 4 + 18 * n}" cy="18" r="5.5" fill="#30363d"/>' for n in range(3)),
        _text(Run(0, "$", ("green",)), 0),
        f'<g class="typed">{_text(Run(2, command, ("bold",)), 0)}</g>',
    ]
    for number, line in enumerate(lines):
        if line:
            texts = "".join(_text(run, number + 1) for run in line)
            parts.append(f'<g class="line" style="animation-delay:{_TYPED + number * _SHOWN:.2f}s">{texts}</g>')
    return "\n".join([*parts, "</svg>", ""])


def _text(run: Run, line: int) -> str:
    x, y = _EDGE + run.column * _LETTER, _TOP + _LINE * line + _SIZE - 2
    length = len(run.text) * _LETTER
    classes = f' class="{" ".join(run.classes)}"' if run.classes else ""
    return (
        f'<text x="{x:.1f}" y="{y}" textLength="{length:.1f}" lengthAdjust="spacingAndGlyphs" '
        f'xml:space="preserve"{classes}>{escape(run.text)}</text>'
    )


def text_of(svg: str) -> list[str]:
    """Returns the lines of text in a picture."""
    lines: dict[str, str] = {}
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        column = round((float(element.attrib["x"]) - _EDGE) / _LETTER)
        line = lines.get(element.attrib["y"], "")
        lines[element.attrib["y"]] = line.ljust(column) + (element.text or "")
    return list(lines.values())


def untimed(lines: Sequence[str]) -> str:
    """Returns the words of lines without their times, on which it depends where a line ends."""
    return re.sub(r"\b\d+(\.\d+)? [mu]?s\b", "0 s", " ".join(" ".join(lines).split()))


def is_current(svg: str, output: str) -> bool:
    """Whether a picture shows what the command prints, but for times."""
    return untimed(text_of(svg)) == untimed(text_of(picture(lines_of(output))))


@click.command
@click.option("--check", is_flag=True, help="Write nothing; fail if the picture is out of date.")
def main(check: bool) -> None:
    """Write docs/demo.svg."""
    output = printed()
    if not check:
        PICTURE.write_text(picture(lines_of(output)))
        click.echo(f"Written to {PICTURE}")
    elif not is_current(PICTURE.read_text(), output):
        raise click.ClickException(f"{PICTURE} is out of date: run python -m scripts.write_demo_cast")


if __name__ == "__main__":
    main()
