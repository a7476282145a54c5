"""Whether the faults that litefuse works around are still there: a test that fails says that a workaround may go."""

from __future__ import annotations

import functools
import importlib.metadata
import json
import pkgutil
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

from litefuse.ir.mlir import mlir_context
from tests.every import every
from tests.ir.engine.fault_table import FAULTS, Fault
from tests.ir.engine.faults import REPRODUCERS

_CHECKED = [fault for fault in FAULTS if not fault.unchecked]
_ROOT = Path(__file__).parents[3]


@functools.cache
def _found_alone() -> Mapping[str, str]:
    """What was found out of the faults that need processes of their own, by their ids."""
    faults = [fault.id for fault in _CHECKED if fault.id in REPRODUCERS and REPRODUCERS[fault.id].alone]
    command = [sys.executable, "-m", "tests.ir.engine.faults.alone", *faults]
    done = subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def _found(fault: Fault) -> str:
    reproducer = REPRODUCERS[fault.id]
    if reproducer.alone:
        return _found_alone()[fault.id]
    with mlir_context():
        return "there" if reproducer.run() is True else "gone"


@pytest.mark.parametrize("fault", _CHECKED, ids=lambda fault: fault.id)
def test_the_fault_is_still_there(fault: Fault) -> None:
    distribution = fault.component.distribution
    found = _found(fault)
    assert found in {"there", "gone"}, f"the reproducer of {fault.id} failed: {found}"
    assert found == "there", (
        f"{fault.id} is gone in {distribution} {importlib.metadata.version(distribution)} (it was in {fault.seen}): "
        f"{fault.what} See whether the workaround may go: {', '.join(fault.places)}. Then drop the fault from "
        "tests/ir/engine/fault_table, and its reproducer."
    )


def test_ids_are_unique() -> None:
    assert [fault for fault, count in Counter(fault.id for fault in FAULTS).items() if count > 1] == []


def test_each_fault_has_a_reproducer_or_a_reason_why_not() -> None:
    assert {fault.id for fault in _CHECKED} == REPRODUCERS.keys()


@pytest.mark.parametrize("place", sorted({place for fault in FAULTS for place in fault.places}))
def test_places_exist(place: str) -> None:
    pkgutil.resolve_name(place)


_NAMED = re.compile(r"\b[Ff]aults? ((?:`+[\w-]+`+(?:, and |, | and |; )?)+)")


def test_faults_that_comments_name_are_in_the_table() -> None:
    named: dict[str, str] = {}
    for path in (_ROOT / "src" / "litefuse").rglob("*.py"):
        text = " ".join(path.read_text().replace("#", " ").split())
        for names in _NAMED.findall(text):
            named |= dict.fromkeys(re.findall(r"`([\w-]+)`", names), path.name)
    assert len(named) > 30
    assert {name: path for name, path in named.items() if name not in {fault.id for fault in FAULTS}} == {}


def test_each_fault_says_where_and_what() -> None:
    for fault in FAULTS:
        assert fault.places, fault.id
        assert every(place.startswith("litefuse.") for place in fault.places), fault.id
        assert fault.what.endswith("."), fault.id
        assert fault.seen, fault.id
