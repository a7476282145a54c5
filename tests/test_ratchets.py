"""Numbers that may only fall: what grew while nobody looked. Each says where to look.

Lower a limit where you made a number smaller. Raise one in the commit that needs it, with the reason in its message.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCES = Path(__file__).parents[1] / "src" / "litefuse"

#: The names of MLIR's and TensorFlow's constants; ``litefuse.ir`` is to say which there are.
CONSTANTS = {"arith.constant", "tf.Const", "tfl.external_const", "tfl.pseudo_const", "tfl.pseudo_qconst"}


def lines(_: Path, text: str) -> int:
    return text.count("\n")


def small_files(_: Path, text: str) -> int:
    return text.count("\n") < 60


def raw_creations(path: Path, text: str) -> int:
    return 0 if path.parts[0] == "ir" else text.count("Operation.create(")


def sets_of_constants(path: Path, text: str) -> int:
    """Collections of the names of constants that a module gives a name of its own."""
    if path.parts[0] == "ir":
        return 0
    literals: list[set[str]] = []
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign):
            strings = (part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant))
            literals.append({value for value in strings if isinstance(value, str)})
    return sum(len(names & CONSTANTS) > 1 for names in literals)


def imports_of_the_schema(_: Path, text: str) -> int:
    return "schema_py_generated" in text


def readers_and_writers(_: Path, text: str) -> int:
    return re.search(r"InitFromObj|InitFromPackedBuf|\.Pack\(builder", text) is not None


def names_that_say_nothing(_: Path, text: str) -> int:
    """Variables called ``each`` and ``found``."""
    nodes = ast.walk(ast.parse(text))
    stored = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return sum(node.id in {"each", "found"} for node in stored)


def negations(_: Path, text: str) -> int:
    """Sentences such as "there is no", which English says otherwise."""
    return len(re.findall(r"\b(?:is|are) no\b", text))


def docstrings_of_what(_: Path, text: str) -> int:
    return len(re.findall(r'"""What\b', text))


class Ratchet(NamedTuple):
    count: Callable[[Path, str], int]
    limit: int
    slack: int
    advice: str


RATCHETS = {
    "lines": Ratchet(lines, 135_450, 800, "Who adds takes away."),
    "files under 60 lines": Ratchet(small_files, 119, 3, "Join them with what changes together with them."),
    "raw Operation.create outside of ir": Ratchet(raw_creations, 10, 3, "See ir/op_creation.py."),
    "private sets of constants": Ratchet(sets_of_constants, 0, 0, "See ir/constants.py and ir/defining_ops.py."),
    "modules that import the schema": Ratchet(imports_of_the_schema, 2, 0, "Files are edited in litert."),
    "modules that pack or unpack a file": Ratchet(readers_and_writers, 1, 0, "See litert/export/edited_file.py."),
    "variables called each or found": Ratchet(names_that_say_nothing, 96, 20, "Say what they hold."),
    "is no, are no": Ratchet(negations, 4, 5, "There is a word for it: missing, without, lacks, none, not."),
    "docstrings that begin with What": Ratchet(docstrings_of_what, 0, 0, "Say what it is: a noun."),
}


def texts() -> Iterator[tuple[Path, str]]:
    for path in SOURCES.rglob("*.py"):
        yield path.relative_to(SOURCES), path.read_text("utf-8")


@pytest.mark.parametrize("name", RATCHETS)
def test_it_only_falls(name: str) -> None:
    ratchet = RATCHETS[name]
    counts = Counter({path.as_posix(): int(ratchet.count(path, text)) for path, text in texts()})
    total = counts.total()
    most = ", ".join(f"{path}: {count}" for path, count in counts.most_common(5))
    assert total <= ratchet.limit, f"{name}: {total}, at most {ratchet.limit}. {ratchet.advice} Most are in {most}."
    assert total >= ratchet.limit - ratchet.slack, f"{name}: {total}. Lower the limit, {ratchet.limit}, to that."


def test_a_conversion_imports_few_modules() -> None:
    program = """
import sys, tempfile
from pathlib import Path
from litefuse.conversion.job import ConversionJob
from litefuse.conversion.run import run_conversion
from litefuse.demo import SAVED_MODEL
with tempfile.TemporaryDirectory() as folder:
    run_conversion(ConversionJob(SAVED_MODEL, Path(folder, "model.tflite")))
print(*sorted(name for name in sys.modules if name.startswith("litefuse.")))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    modules = done.stdout.splitlines()[-1].split()
    limit = 186
    assert len(modules) <= limit, f"{len(modules)} modules: import later what few models need. They are {modules}"
    assert len(modules) >= limit - 5, f"lower the limit to {len(modules)}"


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("lines", "a\nb\n", 2),
        ("files under 60 lines", "a\n", 1),
        ("files under 60 lines", "a\n" * 60, 0),
        ("raw Operation.create outside of ir", "op = ir.Operation.create('tf.Add', [], [])", 1),
        ("private sets of constants", "_C = frozenset({'arith.constant', 'tfl.pseudo_const'})", 1),
        ("private sets of constants", "_C = ('arith.constant', 'func.call')", 0),
        ("modules that import the schema", "from ai_edge_litert import schema_py_generated as schema", 1),
        ("modules that pack or unpack a file", "model = schema.ModelT.InitFromObj(root)", 1),
        ("variables called each or found", "for each in [found for found in x]: each += 1", 3),
        ("is no, are no", "'there is no op; there are nodes'", 1),
        ("docstrings that begin with What", '"""What it does."""', 1),
    ],
)
def test_each_is_counted(name: str, text: str, count: int) -> None:
    assert RATCHETS[name].count(Path("passes/some.py"), text) == count
