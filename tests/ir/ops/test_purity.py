"""Which ops may be computed twice, merged or left out."""

from __future__ import annotations

import re

import pytest
from ai_edge_litert import schema_py_generated as schema

from litefuse.ir.mlir import mlir_context
from litefuse.ir.ops.rules import RULES
from litefuse.ir.purity import has_side_effects, is_erasable, is_pure, is_repeatable

# What an op of LiteRT is called after that has a state, draws random numbers or runs something.
SUSPECT = re.compile(r"VARIABLE|VAR_HANDLE|HASHTABLE|RANDOM|MULTINOMIAL|LSTM|RNN|SVDF|IF$|WHILE|CUSTOM|CALL|DELEGATE")


@pytest.mark.parametrize(
    ("name", "pure", "repeatable", "erasable"),
    [
        ("tf.AddV2", True, True, True),
        ("tf.StatelessRandomUniform", True, True, True),
        ("tf.StatelessMultinomial", True, True, True),
        ("tf.TensorListSetItem", True, True, True),  # a variant is a value
        ("tf.GuaranteeConst", True, True, True),  # stateful by its definition, and yet
        ("tf.CheckNumerics", True, True, True),
        ("tf.RandomUniform", False, False, True),
        ("tf.Multinomial", False, False, True),
        ("tf.TruncatedNormal", False, False, True),
        ("tf.ReadVariableOp", False, True, False),
        ("tf.LookupTableFindV2", False, True, False),  # stateful by its operand
        ("tf.LookupTableFind", False, True, False),  # which here is a reference
        ("tf.VarHandleOp", False, True, False),
        ("tf.AssignVariableOp", False, False, False),
        ("tf.Assign", False, False, False),  # not stateful by its definition: it writes through a reference
        ("tf.LookupTableInsertV2", False, False, False),
        ("tf.Print", False, False, False),
        ("tf.QueueDequeueV2", False, False, False),
        ("tf.PyFunc", False, False, False),
        ("tf.While", False, False, False),
        ("tf.StatelessWhile", False, False, False),  # passes change what it runs
        ("tf.PartitionedCall", False, False, False),
        ("tf.NobodyKnows", False, False, False),
        ("other.add", False, False, False),
        ("tfl.add", True, True, True),
        ("tfl.pseudo_const", True, True, True),
        ("arith.constant", True, True, True),
        ("tfl.random_uniform", False, False, True),
        ("tfl.unidirectional_sequence_lstm", False, True, True),  # a copy has states of its own
        ("tfl.read_variable", False, True, False),
        ("tfl.hashtable_find", False, True, False),
        ("tfl.assign_variable", False, False, False),
        ("tfl.custom", False, False, False),
        ("tfl.while", False, False, False),
    ],
)
def test_what_may_be_done_with_an_op(name: str, pure: bool, repeatable: bool, erasable: bool) -> None:
    assert (is_pure(name), is_repeatable(name), is_erasable(name)) == (pure, repeatable, erasable)
    assert has_side_effects(name) == (not repeatable and not erasable)


def test_every_op_of_litert_with_a_suspicious_name_is_judged() -> None:
    suspects = {f"tfl.{name.lower()}" for name in dir(schema.BuiltinOperator) if SUSPECT.search(name)}
    with mlir_context() as context:
        present = {name for name in suspects if context.is_registered_operation(name)}
    assert len(present) > 15
    assert {name for name in present if is_pure(name)} == set()


def test_ops_with_a_rule_of_their_shapes_are_pure_but_for_these() -> None:
    names = {name if "." in name else f"tf.{name}" for name in RULES}
    assert {name for name in names if name.startswith("tf.") and not is_pure(name)} == {
        *("tf.LookupTableFindV2", "tf.LookupTableSizeV2", "tf.Multinomial", "tf.ParameterizedTruncatedNormal"),
        *("tf.Print", "tf.RandomShuffle", "tf.RandomStandardNormal", "tf.RandomUniform", "tf.RandomUniformInt"),
        *("tf.TruncatedNormal", "tf.WordpieceTokenizeWithOffsets"),
    }
