"""The schemas of documents: JSON Schema, 2020-12, a file for each command and version.

``python -m scripts.write_schemas`` writes them from the data classes that the documents are made of.
"""

from __future__ import annotations

from pathlib import Path

#: The version of each command's schema. It is raised with every change of what a document has, or means: a field that
#: is added, removed or renamed, another type or another value. Schemas of earlier versions stay.
VERSIONS = {
    "batch": 1,
    "benchmark": 1,
    "cache": 1,
    "check": 2,
    "convert": 2,
    "diff": 1,
    "doctor": 1,
    "export-micro": 1,
    "fusions": 1,
    "inspect": 2,
    "kernels list": 1,
    "kernels test": 2,
    "quantize": 2,
    "run": 1,
    "verify": 2,
    # What is printed when a command fails that is not known, or does not come so far.
    "": 1,
}
#: The commands that print documents.
COMMANDS = tuple(name for name in VERSIONS if name)
#: The folder with the schemas.
FOLDER = Path(__file__).parent / "schemas"

_SITE = "https://litefuse.github.io/litefuse/schemas"


def address(command: str) -> str:
    """Returns the address of a command's schema; of one that is unknown, that of any command's failure."""
    return f"{_SITE}/{file_name(command)}"


def file_name(command: str) -> str:
    """Returns the name of the file with a command's schema."""
    known = command if command in VERSIONS else ""
    return f"{known.replace(' ', '-') or 'failure'}-{VERSIONS[known]}.json"


def schema_text(command: str) -> str:
    """Returns the schema of a command's documents.

    Args:
        command: One of :data:`COMMANDS`, or empty for a failure of any command.
    """
    return (FOLDER / file_name(command)).read_text(encoding="utf-8")
