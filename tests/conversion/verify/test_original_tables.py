"""What is read of the original's tables."""

from __future__ import annotations

from pathlib import Path

from litefuse.conversion.verify.reference import original_tables
from litefuse.litert.inputs.model_inputs import Tables
from tests.frontends.saved_model.model_writer import write


def test_the_shapes_of_variables_and_constants(tmp_path: Path) -> None:
    """Scalars are no tables, and what cannot be read has none."""
    assert original_tables(write(tmp_path / "model"), None).shapes == {(2, 3), (2,)}
    assert original_tables(tmp_path, None) == original_tables(tmp_path / "none", None) == Tables()
