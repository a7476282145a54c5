"""``python run_steps.py STEPS.json PAGE``: runs the steps of a page, as a reader who copies its blocks would.

All Python is one program, the ``__main__`` of this process, so that a block has what the blocks before it defined. All
commands are those of one terminal: the folder and the exported variables of one are those of the next. Before each
step, a line that begins with `MARK` is printed. The first step that fails ends the process; a traceback has the
lines of the page.
"""

from __future__ import annotations

import importlib
import json
import linecache
import subprocess
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

MARK = "\x1e"
"""What begins the line before each step."""

# A block that leaves the shell, as by an error, leaves its state too.
_SHELL = """set -euo pipefail
if [ -e {state} ]; then . {state}; fi
trap 'code=$?; {{ declare -px; printf "cd -- %q\\n" "$PWD"; }} >{state}; exit $code' EXIT
"""


def main() -> None:
    """Runs the steps that a file lists, in the folder that this process is in."""
    steps: list[dict[str, Any]] = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    page = sys.argv[2]
    program = ModuleType("__main__")
    sys.modules["__main__"] = program
    sys.argv = [page]
    sys.path[0] = ""  # as in an interactive interpreter: modules are looked for in the reader's folder
    lines: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, step in enumerate(steps):
            print(f"{MARK}{number}", flush=True)
            importlib.invalidate_caches()  # of what the last step wrote
            if step["kind"] == "python":
                lines += [""] * (step["line"] - 1 - len(lines)) + step["code"].splitlines()
                _run_python(page, lines, step["line"], step["code"], vars(program))
            elif step["kind"] == "sh":
                _run_shell(step["code"], Path(folder, "state"), step["exit_code"])
            elif step["kind"] == "write":
                path = Path(step["file"][0])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(step["code"], encoding="utf-8")
            else:
                name, first, last = step["file"]
                _edit(Path(name), first, last, step["code"])
            sys.stdout.flush()


def _run_python(page: str, lines: list[str], line: int, code: str, names: dict[str, Any]) -> None:
    """Runs a block, whose lines are found under the numbers that they have on the page."""
    linecache.cache[page] = (1, None, [f"{each}\n" for each in lines], page)
    exec(compile("\n" * (line - 1) + code, page, "exec"), names)


def _run_shell(code: str, state: Path, exit_code: int) -> None:
    begin = _SHELL.format(state=f"'{state}'")
    done = subprocess.run(["bash", "-c", begin + code], check=False, stdin=subprocess.DEVNULL)
    if done.returncode != exit_code:
        sys.exit(f"exit code {done.returncode}, not {exit_code}")


def _edit(path: Path, first: str, last: str, code: str) -> None:
    """Puts a block in the place of some lines: from the only one that has a text to the next that has another."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    (begin,) = [index for index, line in enumerate(lines) if first in line]
    end = next(index for index, line in enumerate(lines[begin:], begin) if last in line)
    lines[begin : end + 1] = [code]
    path.write_text("".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
