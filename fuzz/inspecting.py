"""Looking into mutants, as ``litefuse inspect``, ``litefuse check`` and ``litefuse report`` do."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from litefuse.conversion.verify.targets.check import located
from litefuse.litert.differences.compare import diff
from litefuse.litert.export.edited_file import sign_file
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.inspection.litert_model_facts import litert_model_sections
from litefuse.litert.inspection.saved_model_facts import InspectionJob, saved_model_sections
from litefuse.litert.metadata.description import Finish
from litefuse.litert.metadata.finish import finish_file
from litefuse.litert.runtime.model_reader import Model
from litefuse.litert.targets import OWN, find_target
from litefuse.litert.targets.op_table import refused_by_table
from litefuse.support.processes.process import run_in_worker
from litefuse.support.report.text import sections_text
from litefuse.tools.page.content import Content
from litefuse.tools.page.converted import read_converted
from litefuse.tools.page.document import document
from litefuse.tools.page.folding import folded
from litefuse.tools.page.graph import Model as OriginalModel
from litefuse.tools.page.links import links
from litefuse.tools.page.original import OriginalJob


def inspect_saved_model(folder: Path) -> None:
    """Looks into a SavedModel, and says what is there in both ways."""
    facts = run_in_worker("litefuse.tools.saved_models.inspection:inspect_model", InspectionJob(folder))
    json.dumps(facts.to_json())
    saved_model_sections(facts, everything=True)
    original: OriginalModel = run_in_worker("litefuse.tools.page.original:read_original", OriginalJob(folder))
    for graph in original.graphs:
        folded(graph)
    links(original, original)


def inspect_model(content: bytes) -> None:
    """Looks into a LiteRT model, asks the tables of targets about it, gives it metadata, and compares both files."""
    with tempfile.NamedTemporaryFile(suffix=".tflite") as file:
        file.write(content)
        file.flush()
        facts = inspect_litert_model(Path(file.name))
        sign_file(Path(file.name))
        model = Model(Path(file.name).read_bytes())
        for target in map(find_target, OWN):
            located(model, [*refused_by_table(model, target.table)], (), target.hints)
        document(Content(read_converted(Path(file.name)), ""))
        finish_file(Path(file.name), Finish.of({"name": "mutant"}, None))
        difference = diff(content, Path(file.name))
    json.dumps([facts.to_json(), difference.to_json()], allow_nan=False)
    sections_text([*litert_model_sections(facts), *litert_model_sections(facts, ("ops", "tensors", "sizes"))])
    str(difference)
