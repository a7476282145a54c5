"""TensorFlow ops with side effects, chosen by name from the registry of all ops.

A model whose signature has one of them can do whatever TensorFlow can with the user's files and connections.
Ops of accelerators and of TensorFlow's plumbing between devices are left out: they do nothing on a CPU alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from litefuse.frontends.saved_model.messages import NodeDef

__all__ = ["EFFECTS", "READS", "effect_of"]

READS = "reads files"
_WRITES = "writes files"
_RUNS = "runs code"
_CONNECTS = "opens connections"

_BY_EFFECT = {
    _WRITES: """
        CacheDataset CacheDatasetV2 CalibrationStatisticsSaver CloseSummaryWriter CreateSummaryDbWriter
        CreateSummaryFileWriter DatasetToTFRecord DebugIdentity DebugIdentityV2 DebugIdentityV3 DebugNanCount
        DebugNumericSummary DistributedSave DumpTensor ExperimentalDatasetToTFRecord ExperimentalSqlDataset
        FlushSummaryWriter ImportEvent LMDBDataset LMDBReader ExperimentalLMDBDataset MergeV2Checkpoints Save
        SaveDataset SaveDatasetV2 SaveSlices SaveV2 SnapshotDataset SnapshotDatasetV2 SqlDataset
        StatsAggregatorSetSummaryWriter SummaryWriter WriteAudioSummary WriteFile WriteGraphSummary
        WriteHistogramSummary WriteImageSummary WriteRawProtoSummary WriteScalarSummary WriteSummary
    """,
    # These include ops that run a graph that is in a tensor, where nobody can see it.
    _RUNS: """
        DatasetFromGraph DeserializeIterator EagerPyFunc PyFunc PyFuncStateless
    """,
    _CONNECTS: """
        ConfigureDistributedTPU DataServiceDataset DataServiceDatasetV2 DataServiceDatasetV3 DataServiceDatasetV4
        FileSystemSetConfiguration RegisterDataset RegisterDatasetV2 RemoteCall RpcCall RpcCheckStatus RpcClient
        RpcGetValue RpcServer RpcServerRegister RpcServerStart
    """,
    # A read of a computed name can send a message to anybody: TensorFlow's file systems reach the network.
    READS: """
        CSVDataset CSVDatasetV2 DTensorRestoreV2 ExperimentalCSVDataset ExperimentalMatchingFilesDataset
        FixedLengthRecordDataset FixedLengthRecordDatasetV2 FixedLengthRecordReader FixedLengthRecordReaderV2
        ListSnapshotChunksDataset LoadAndRemapMatrix LoadDataset MatchingFiles MatchingFilesDataset ReadFile RecordInput
        Restore RestoreSlice RestoreV2 SnapshotChunkDataset SnapshotDatasetReader SnapshotNestedDatasetReader
        TFRecordDataset TFRecordDatasetV2 TFRecordReader TFRecordReaderV2 TextLineDataset TextLineReader
        TextLineReaderV2 WholeFileReader WholeFileReaderV2
    """,
}
EFFECTS = {op: effect for effect, ops in _BY_EFFECT.items() for op in ops.split()}
"""The side effect of each op."""

_PRINTS = "PrintV2"  # to the standard error, or to a file
_STREAMS = frozenset({b"stderr", b"stdout", b"log(info)", b"log(warning)", b"log(error)"})


def effect_of(node: NodeDef) -> str:
    """Returns the side effect of a node; empty if it only computes."""
    if node.op == _PRINTS and node.attr["output_stream"].s.lower() not in _STREAMS | {b""}:
        return _WRITES
    return EFFECTS.get(node.op, "")
