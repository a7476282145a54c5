"""Control flow, state, and what the engine writes beside the ops; its Python bindings."""

from __future__ import annotations

from litefuse.engine.faults.fault import ENGINE_VERSION, Component, Fault

__all__ = ["MODULES"]

_LOWERING = "litefuse.engine.lowering"
_IMPORTED = "litefuse.importer.constants"


def _fault(name: str, what: str, *places: str, unchecked: str = "") -> Fault:
    return Fault(name, Component.ENGINE, what, ENGINE_VERSION, places, unchecked)


def _of_bindings(name: str, what: str, *places: str) -> Fault:
    return Fault(name, Component.ENGINE_BINDINGS, what, ENGINE_VERSION, places)


MODULES: tuple[Fault, ...] = (
    _fault(
        "decided-branch",
        "Of an If whose condition is computed of constants, a call of the branch is left.",
        f"{_LOWERING}.lower",
    ),
    _fault(
        "loops-in-regions",
        "The bodies of loops stay regions, which the exporter refuses without saying why.",
        "litefuse.control_flow.outline_loops.OutlineLoops",
    ),
    _fault(
        "stateless-loop",
        "StatelessWhile and StatelessIf are unknown, unlike While and If.",
        "litefuse.importer.control_flow.dialect_op_name",
    ),
    _fault(
        "several-branches",
        "Case is left.",
        "litefuse.control_flow.lower_case.LowerCase",
    ),
    _fault(
        "lists-of-open-shape",
        "Tensor lists of elements of a dynamic shape are refused.",
        "litefuse.tensor_lists.lower.LowerTensorLists",
    ),
    _fault(
        "table-of-other-dtypes",
        "Hash tables are left, but for those of strings to int64 and of int64 to strings.",
        "litefuse.variables.hash_tables.InitializeTables",
    ),
    _fault(
        "initializers-of-a-saved-model",
        "The process ends at ops of the dialect tf_saved_model, so a model's initializers cannot be given as such.",
        "litefuse.variables.call_once.CallOnce",
    ),
    _fault(
        "private-initializer",
        "A private function that only CALL_ONCE names is erased before the exporter looks for it.",
        "litefuse.variables.freeze_variables.InitializeVariables",
    ),
    _fault(
        "unused-constants",
        "The exporter writes constants that nothing uses.",
        "litefuse.weights.drop_constants.DropConstants",
    ),
    _fault(
        "operands-of-different-dtypes",
        "Some ops whose operands are not of one dtype are taken as if they were, such as ConcatV2.",
        "litefuse.importer.functions",
    ),
    _fault(
        "composite-without-a-namespace",
        "Composites whose names have no namespace are refused.",
        "litefuse.ir.marks",
        "litefuse.legalize.composite_ops.create_composite_op",
    ),
    _fault(
        "composite-with-a-name-of-the-engine",
        "A composite with a name that the engine knows becomes one of its ops; the process ends if it lacks the "
        "attributes of that.",
        "litefuse.ir.marks",
        "litefuse.legalize.composite_ops.create_composite_op",
    ),
    _fault(
        "lists-in-composites",
        "Lists in the attributes of STABLEHLO_COMPOSITE are written without the type of their elements.",
        "litefuse.engine.composite_attributes.type_vectors",
    ),
    _fault(
        "bidirectional-lstm-without-peepholes",
        "The process ends when BIDIRECTIONAL_SEQUENCE_LSTM without peephole connections or projections is verified.",
        "litefuse.fusions.lstm.bidirectional_sequence_lstm",
    ),
    _fault(
        "full-disk",
        "The exporter ends the process when there is no room for the file.",
        "litefuse.api",
    ),
    _fault(
        "tensorflow-beside-it",
        "The engine and TensorFlow cannot be loaded in one process.",
        "litefuse.api",
        "litefuse.processes.process",
        unchecked="It takes TensorFlow, without which these tests run.",
    ),
    _of_bindings(
        "paths-of-bytes",
        "A file whose name is no UTF-8 cannot be named.",
        f"{_LOWERING}.write_flatbuffer",
    ),
    _of_bindings(
        "too-few-names",
        "A signature is accepted with fewer names than the function has arguments.",
        f"{_LOWERING}.set_signature",
    ),
    _of_bindings(
        "too-many-names",
        "A signature with more names than the function has arguments is refused with a message about a vector.",
        f"{_LOWERING}.set_signature",
    ),
    _of_bindings(
        "complex-constants",
        "Constants of complex numbers cannot be made of arrays.",
        f"{_IMPORTED}.complex_of_parts",
    ),
    _of_bindings(
        "complex-attributes",
        "The value of a constant of complex numbers cannot be read: a TypeError is raised.",
        "litefuse.engine.constant_sizes",
        "litefuse.weights.check_constants.CheckConstants",
    ),
    _of_bindings(
        "unsigned-arrays",
        "An array of unsigned integers becomes a constant of signless ones, unless its type is given.",
        f"{_IMPORTED}.elements_attribute",
    ),
)
"""In the order of what they are about."""
