"""Faults in control flow, state, composites, signatures and the exporter; and in the engine's Python bindings."""

from __future__ import annotations

from tests.ir.engine.fault_table.fault import ENGINE_VERSION, Component, Fault

_LOWERING = "litefuse.ir.engine.lowering"
_IMPORTED = "litefuse.ir.importer.constants"


def _fault(name: str, what: str, *places: str, unchecked: str = "") -> Fault:
    return Fault(name, Component.ENGINE, what, ENGINE_VERSION, places, unchecked)


def _of_bindings(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.ENGINE_BINDINGS, what, ENGINE_VERSION, places)


MODULES: tuple[Fault, ...] = (
    _fault(
        "decided-branch",
        "An If whose condition is computed from constants becomes a call of its branch, which is not inlined.",
        f"{_LOWERING}.lower",
    ),
    _fault(
        "loops-in-regions",
        "The bodies of loops remain regions, which the exporter refuses without a reason.",
        "litefuse.passes.control_flow.litert_loops.outline_loops",
    ),
    _fault(
        "stateless-loop",
        "StatelessWhile and StatelessIf are not supported, unlike While and If.",
        "litefuse.ir.importer.attributes.dialect_op_name",
    ),
    _fault(
        "several-branches",
        "Case is not lowered.",
        "litefuse.passes.control_flow.branches.lower_case",
    ),
    _fault(
        "lists-of-open-shape",
        "Tensor lists whose elements have a dynamic shape are refused.",
        "litefuse.passes.tensor_lists.dense_lists.lower_tensor_lists",
    ),
    _fault(
        "table-of-other-dtypes",
        "Hash tables are not lowered, except from strings to int64 and from int64 to strings.",
        "litefuse.passes.variables.hash_tables.InitializeTables",
    ),
    _fault(
        "initializers-of-a-saved-model",
        "The process crashes at ops of the dialect tf_saved_model, so a model's initializers cannot be expressed in "
        "it.",
        "litefuse.passes.variables.freeze_variables.CallOnce",
    ),
    _fault(
        "private-initializer",
        "A private function that only CALL_ONCE refers to is erased before the exporter looks it up.",
        "litefuse.passes.variables.freeze_variables.InitializeVariables",
    ),
    _fault(
        "unused-constants",
        "The exporter writes unused constants.",
        "litefuse.passes.weights.lowered_constants.drop_constants",
    ),
    _fault(
        "operands-of-different-dtypes",
        "Some ops whose operands have different dtypes, such as ConcatV2, are treated as if they had one.",
        "litefuse.ir.importer.functions",
    ),
    _fault(
        "composite-without-a-namespace",
        "Composites whose names have no namespace are refused.",
        "litefuse.ir.attributes",
        "litefuse.passes.legalize.composite_ops.create_composite_op",
    ),
    _fault(
        "composite-with-a-name-of-the-engine",
        "A composite with a name that the engine knows becomes one of its ops; the process crashes if it lacks the "
        "attributes of that op.",
        "litefuse.ir.attributes",
        "litefuse.passes.legalize.composite_ops.create_composite_op",
    ),
    _fault(
        "lists-in-composites",
        "Lists in the attributes of STABLEHLO_COMPOSITE are written without their element type.",
        "litefuse.ir.engine.composite_attributes.type_vectors",
    ),
    _fault(
        "bidirectional-lstm-without-peepholes",
        "The process crashes when BIDIRECTIONAL_SEQUENCE_LSTM without peephole connections or projections is verified.",
        "litefuse.fusions.lstm.bidirectional_sequence_lstm",
    ),
    _fault(
        "full-disk",
        "The exporter terminates the process when the disk is full.",
        "litefuse.conversion.api",
    ),
    _fault(
        "tensorflow-beside-it",
        "The engine and TensorFlow cannot be loaded in one process.",
        "litefuse.conversion.api",
        "litefuse.support.processes.process",
        unchecked="It needs TensorFlow, and these tests run without it.",
    ),
    _of_bindings(
        "paths-of-bytes",
        "A path that is not valid UTF-8 is not accepted.",
        f"{_LOWERING}.write_flatbuffer",
    ),
    _of_bindings(
        "too-few-names",
        "A signature is accepted with fewer names than the function has arguments.",
        f"{_LOWERING}.set_signature",
    ),
    _of_bindings(
        "too-many-names",
        "A signature with more names than the function has arguments is refused with a message about a C++ vector.",
        f"{_LOWERING}.set_signature",
    ),
    _of_bindings(
        "complex-constants",
        "Complex constants cannot be created from arrays.",
        f"{_IMPORTED}.complex_of_parts",
    ),
    _of_bindings(
        "complex-attributes",
        "The value of a complex constant cannot be read: a TypeError is raised.",
        "litefuse.ir.engine.constant_sizes",
        "litefuse.passes.weights.lowered_constants.check_constants",
    ),
    _of_bindings(
        "unsigned-arrays",
        "An array of unsigned integers becomes a constant of signless integers, unless its type is given.",
        f"{_IMPORTED}.elements_attribute",
    ),
)
"""The faults, grouped by subject."""
