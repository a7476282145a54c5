"""Which of TensorFlow's ops do more than compute: none of the registry is forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from google.protobuf import text_format

from litefuse.conversion.verify.side_effects import EFFECTS, effect_of, refuse_side_effects
from litefuse.errors import LitefuseError
from litefuse.frontends.saved_model.messages import NodeDef, SavedModel
from litefuse.frontends.saved_model.op_registry import op_registry

# What an op that writes, reads, runs or connects may be called after.
SUSPECT = re.compile(
    r"Write|Save|Print|File|Dump|Export|Rpc|PyFunc|Summary|Merge|Restore|Load(?!TPU)|Checkpoint|Snapshot|Service"
    r"|Server|Record|Sql|Lmdb|LMDB|Csv|CSV|Text|Remote|Library|Session|Debug|Disk|Cache|ImportEvent|Register"
    r"|Deserialize|FromGraph|Reader|Graph|Http|Gcs|Python"
)

# Those of them that only compute, or keep what they write in memory.
HARMLESS = frozenset(
    """
    AnonymousMemoryCache AudioSummary AudioSummaryV2 BoostedTreesExampleDebugOutputs BoostedTreesMakeStatsSummary
    DebugGradientIdentity DebugGradientRefIdentity DeleteMemoryCache DeleteRpcFutureResource DeleteSessionTensor
    DummyMemoryCache ExperimentalStatsAggregatorSummary GetSessionHandle GetSessionHandleV2 GetSessionTensor
    HistogramSummary ImageSummary LookupTableExport LookupTableExportV2 MergeSummary Print ScalarSummary
    ShardedFilename ShardedFilespec Snapshot StatsAggregatorSummary TensorArrayWrite TensorArrayWriteV2
    TensorArrayWriteV3 TensorSummary TensorSummaryV2 Merge RefMerge MergeDedupData BoostedTreesDeserializeEnsemble
    BoostedTreesQuantileStreamResourceDeserialize DeserializeManySparse DeserializeSparse DatasetToGraph
    DatasetToGraphV2 GraphDefVersion RequiresOlderGraphVersion IdentityReader IdentityReaderV2 ReaderNumRecordsProduced
    ReaderNumRecordsProducedV2 ReaderNumWorkUnitsCompleted ReaderNumWorkUnitsCompletedV2 ReaderRead ReaderReadUpTo
    ReaderReadUpToV2 ReaderReadV2 ReaderReset ReaderResetV2 ReaderRestoreState ReaderRestoreStateV2
    ReaderSerializeState ReaderSerializeStateV2 DecodeCSV
    DebugNumericSummaryV2 LoadAllTPUEmbeddingParameters _XlaMerge SplitMergeTokenizeWithOffsets
    TFText>BoiseTagsToOffsets TFText>ByteSplitByOffsets TFText>ByteSplitWithOffsets TFText>FastSentencepieceDetokenize
    TFText>FastSentencepieceTokenize TFText>FastWordpieceDetokenize TFText>NgramsStringJoin TFText>OffsetsToBoiseTags
    TFText>PhraseDetokenize TFText>RoundRobinGenerateMasks TFText>RoundRobinTrim TFText>Utf8Binarize
    TFText>WhitespaceTokenizeWithOffsetsV2
    """.split()  # noqa: SIM905 - a list of so many names is read as a text
)
# What is looked at in its place: where it prints to, and where its file's name comes from.
BY_ARGUMENT = {"PrintV2", "InitializeTableFromTextFile", "InitializeTableFromTextFileV2"}


def suspects() -> set[str]:
    return {op for op in op_registry() if SUSPECT.search(op)}


def test_every_op_with_such_a_name_is_judged() -> None:
    assert suspects() - EFFECTS.keys() - HARMLESS - BY_ARGUMENT == set()


def test_what_is_judged_harmless_is_not_refused() -> None:
    assert HARMLESS & EFFECTS.keys() == set()


def test_the_effects_are_those_of_ops_that_there_are() -> None:
    assert EFFECTS.keys() - set(op_registry()) == set()


@pytest.mark.parametrize("op", ["WriteFile", "SaveV2", "PyFunc", "RpcCall", "ReadFile", "DatasetFromGraph"])
def test_ops_that_do_more_than_compute(op: str) -> None:
    assert effect_of(NodeDef(op=op))


@pytest.mark.parametrize("op", ["MatMul", "Print", "Assert", "StatefulPartitionedCall", "LookupTableFindV2"])
def test_ops_that_compute(op: str) -> None:
    assert effect_of(NodeDef(op=op)) == ""


@pytest.mark.parametrize(
    ("stream", "effect"),
    [
        (b"", ""),
        (b"stderr", ""),
        (b"stdout", ""),
        (b"log(info)", ""),
        (b"file:///tmp/x", "writes files"),
        (b"FILE://x", "writes files"),
        (b"x", "writes files"),
    ],
)
def test_where_an_op_prints_to(stream: bytes, effect: str) -> None:
    node = NodeDef(op="PrintV2")
    if stream:
        node.attr["output_stream"].s = stream
    assert effect_of(node) == effect


GRAPH_OF_1 = """
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node { name: "x" op: "Placeholder" }
    node { name: "v" op: "VariableV2" }
    node { name: "value" op: "%s" input: "x" }
    node { name: "v/Assign" op: "%s" input: "v" input: "value" }
    node { name: "y" op: "Mul" input: "x" input: "v" }
  }
  signature_def { key: "serve" value { outputs { key: "y" value { name: "y:0" } } } }
}
"""


@pytest.mark.parametrize("assigns", ["Assign", "AssignVariableOp", "Identity"])
def test_initial_values_of_variables(tmp_path: Path, assigns: str) -> None:
    """TensorFlow runs them, whether or not a signature or an initializer needs the op; there it may read files."""
    for op in ("PyFunc", "ReadFile", "Neg"):
        content = text_format.Parse(GRAPH_OF_1 % (op, assigns), SavedModel()).SerializeToString()
        (tmp_path / "saved_model.pb").write_bytes(content)
        if op != "PyFunc" or assigns == "Identity":
            refuse_side_effects(tmp_path, None, {"serve": ["y"]}, "model")
            continue
        with pytest.raises(LitefuseError, match="the op PyFunc, node 'value'"):
            refuse_side_effects(tmp_path, None, {"serve": ["y"]}, "model")
