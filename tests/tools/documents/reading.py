"""Runs commands with ``--json``, and holds what they print against its schema."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, NoReturn

from click.testing import CliRunner
from jsonschema import Draft202012Validator

from litefuse.tools.cli.app import app
from litefuse.tools.documents.document import schema_text


def printed(*arguments: str | Path) -> dict[str, Any]:
    """Runs a command, and returns its document: all that is on the standard output, held against its schema."""
    result = CliRunner().invoke(app, [*map(str, arguments), "--json"])
    found = json.loads(result.stdout, parse_constant=_not_strict)
    assert found["exit_code"] == result.exit_code, result.stderr
    validator_of(found["schema"]).validate(found)
    return found


def is_described(found: Any, schema: str) -> bool:
    """Whether a document is as the schema of this address says."""
    return validator_of(schema).is_valid(found)


def validator_of(address: str) -> Draft202012Validator:
    name = address.rpartition("/")[2].rpartition("-")[0]
    name = re.sub("^(doctor|kernels)-", r"\1 ", name)
    schema = json.loads(schema_text("" if name == "failure" else name))
    assert schema["$id"] == address
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _not_strict(name: str) -> NoReturn:
    raise AssertionError(f"{name} is not JSON")
