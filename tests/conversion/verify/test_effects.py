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


MODEL_OF_2 = """
meta_graphs {
  meta_info_def { tags: "serve" }
  graph_def {
    node { name: "x" op: "Placeholder" }
    node { name: "call" op: "StatefulPartitionedCall" input: "x" %(attribute)s }
    node { name: "y" op: "Identity" input: "call" }
    node { name: "other" op: "PyFunc" input: "x" }
    library {
      function { signature { name: "f" input_arg { name: "a" } output_arg { name: "r" } }
        node_def { name: "inner" op: "%(inner)s" input: "a" } ret { key: "r" value: "inner:output:0" } }
      function { signature { name: "g" input_arg { name: "a" } }
        node_def { name: "effect" op: "%(op)s" input: "a" input: "a" } }
      function { signature { name: "alone" } node_def { name: "never" op: "PyFunc" } }
    }
  }
  signature_def { key: "serve" value { outputs { key: "y" value { name: "y:0" } } } }
  signature_def { key: "train" value { outputs { key: "y" value { name: "other:0" } } } }
  %(more)s
}
"""
FUNC = 'attr { key: "f" value { func { name: "%s" } } }'
LISTED = 'attr { key: "branches" value { list { func { name: "f" } func { name: "g" } } } }'
NESTED = 'attr { key: "f" value { func { name: "f" attr { key: "h" value { func { name: "g" } } } } } }'
NAMED = 'attr { key: "body" value { s: "g" } }'


def refusal(
    folder: Path,
    *,
    keys: tuple[str, ...] = ("serve",),
    more: str = "",
    inner: str = "Neg",
    op: str = "PyFunc",
    attribute: str = "",
) -> str:
    """What is refused of a model; empty if nothing is."""
    text = MODEL_OF_2 % {"more": more, "inner": inner, "op": op, "attribute": attribute}
    (folder / "saved_model.pb").write_bytes(text_format.Parse(text, SavedModel()).SerializeToString())
    try:
        refuse_side_effects(folder, None, dict.fromkeys(keys, ("y",)), "model")
    except LitefuseError as error:
        return error.message.partition("run: ")[2]
    return ""


EFFECT = "the op PyFunc, node 'effect' of function 'g', runs code"


@pytest.mark.parametrize(
    ("attribute", "inner", "refused"),
    [
        (FUNC % "f", "Neg", ""),
        (FUNC % "f", "g", EFFECT),
        (FUNC % "g", "Neg", EFFECT),
        (FUNC % "nothing", "Neg", ""),
        (LISTED, "Neg", EFFECT),
        (NESTED, "Neg", EFFECT),
        (NAMED, "Neg", EFFECT),
        (FUNC % "f", "f", ""),
    ],
)
def test_functions_that_nodes_call(tmp_path: Path, attribute: str, inner: str, refused: str) -> None:
    assert refusal(tmp_path, attribute=attribute, inner=inner) == refused


def test_only_signatures_that_are_called(tmp_path: Path) -> None:
    assert refusal(tmp_path) == ""
    assert refusal(tmp_path, keys=("train",)) == "the op PyFunc, node 'other', runs code"


@pytest.mark.parametrize(
    ("collection", "refused"),
    [
        ('signature_def { key: "__saved_model_init_op" value { outputs { key: "" value { name: "other" } } } }', True),
        ('saver_def { restore_op_name: "other" }', True),
        ('collection_def { key: "saved_model_main_op" value: "\\n\\007\\n\\005other" }', True),
        ('signature_def { key: "other_init_op" value { outputs { key: "" value { name: "other" } } } }', False),
    ],
)
def test_what_runs_when_a_model_is_loaded(tmp_path: Path, collection: str, refused: bool) -> None:
    assert bool(refusal(tmp_path, more=collection)) is refused


RESTORED = """
object_graph_def {
  nodes { children { node_id: 1 local_name: "%s" } user_object { identifier: "_generic_user_object" } }
  nodes { function { concrete_functions: "g" } }
}
"""


@pytest.mark.parametrize("name", ["_initialize", "_create_resource", "initializer", "_destroy_resource", "call"])
def test_functions_that_initialize_objects(tmp_path: Path, name: str) -> None:
    assert refusal(tmp_path, more=RESTORED % name) == ("" if name == "call" else EFFECT)


TABLE = """
node_def { name: "file" op: "%s" %s }
node_def { name: "table" op: "HashTableV2" }
node_def { name: "fill" op: "InitializeTableFromTextFileV2" input: "table" input: "file" }
"""


@pytest.mark.parametrize(
    ("op", "inputs", "refused"),
    [
        ("Const", "", False),
        ("Identity", 'input: "given"', False),
        ("Identity", 'input: "joined"', True),
        ("StringJoin", 'input: "given"', True),
        ("Identity", 'input: "file"', True),
        ("ReadVariableOp", 'input: "v"', False),
        ("ReadVariableOp", 'input: "w"', True),
        ("VariableV2", "", True),
    ],
)
def test_names_of_files_that_tables_are_filled_from(tmp_path: Path, op: str, inputs: str, refused: bool) -> None:
    """They are given with the model, and not computed, even behind variables."""
    nodes = (
        TABLE % (op, inputs)
        + """
    node_def { name: "given" op: "Const" }
    node_def { name: "joined" op: "StringJoin" input: "given" input: "given" }
    node_def { name: "v" op: "VarHandleOp" }
    node_def { name: "v/Assign" op: "AssignVariableOp" input: "v" input: "given" }
    node_def { name: "w" op: "VarHandleOp" }
    node_def { name: "w/Assign" op: "AssignVariableOp" input: "w" input: "joined" }
    node_def { name: "file/Assign" op: "Assign" input: "file" input: "joined" }
    """
    )
    text = """meta_graphs { meta_info_def { tags: "serve" } graph_def {
        node { name: "y" op: "init" } library { function { signature { name: "init" } %s } } }
      signature_def { key: "serve" value { outputs { key: "y" value { name: "y:0" } } } } }"""
    (tmp_path / "saved_model.pb").write_bytes(text_format.Parse(text % nodes, SavedModel()).SerializeToString())
    if not refused:
        refuse_side_effects(tmp_path, None, {"serve": ["y"]}, "model")
        return
    with pytest.raises(
        LitefuseError, match="InitializeTableFromTextFileV2, node 'fill' of function 'init', reads files"
    ):
        refuse_side_effects(tmp_path, None, {"serve": ["y"]}, "model")


@pytest.mark.parametrize(("count", "more"), [(5, ""), (7, "; and 2 more")])
def test_no_more_than_five_are_told(tmp_path: Path, count: int, more: str) -> None:
    nodes = "".join(f'node {{ name: "n{index}" op: "PyFunc" }}' for index in range(count))
    inputs = "".join(f'input: "^n{index}" ' for index in range(count))
    text = """meta_graphs { meta_info_def { tags: "serve" } graph_def { %s node { name: "y" op: "NoOp" %s } }
      signature_def { key: "serve" value { outputs { key: "y" value { name: "y" } } } } }"""
    content = text_format.Parse(text % (nodes, inputs), SavedModel()).SerializeToString()
    (tmp_path / "saved_model.pb").write_bytes(content)
    with pytest.raises(LitefuseError) as caught:
        refuse_side_effects(tmp_path, None, {"serve": ["y"]}, "model")
    assert caught.value.message.count("runs code") == 5
    assert caught.value.message.endswith(f"runs code{more}")
