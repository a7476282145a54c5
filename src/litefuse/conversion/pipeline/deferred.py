"""The passes that few models need, and the ops without which they do nothing."""

from __future__ import annotations

from litefuse.ir.passes import deferred

__all__ = [
    "CancelLayoutChanges",
    "CheckPairs",
    "CopyBranchResults",
    "DecomposeResourceOps",
    "DeferBranches",
    "DropLoopVariables",
    "EmbeddingLookups",
    "ExpandBlockCells",
    "ExpandPowers",
    "FillBuffers",
    "FoldBranches",
    "HoistProjections",
    "InferLoopTypes",
    "InitializeStates",
    "InitializeTables",
    "KeepGenerators",
    "LowerCase",
    "LowerConditions",
    "LowerFor",
    "LowerInplaceOps",
    "LowerTensorLists",
    "LowerXlaCallModule",
    "MarkBranches",
    "MergeHandles",
    "MultiplyMatrices",
    "NarrowFloat64",
    "OutlineLoops",
    "PairFakeQuantization",
    "ReadReversed",
    "SeparateActivations",
    "SeparateReads",
    "TypeStaticShapes",
    "UnrollLoops",
]

LowerFor = deferred("lower-for", "passes.control_flow.lower_for:LowerFor", "tf.For")
LowerXlaCallModule = deferred(
    "lower-xla-call-module", "passes.stablehlo.xla_call_module:LowerXlaCallModule", "tf.XlaCallModule"
)
LowerCase = deferred("lower-case", "passes.control_flow.branches:LowerCase", "tf.Case")
LowerConditions = deferred("lower-conditions", "passes.control_flow.branches:LowerConditions", "tf.If", "tf.While")
LowerInplaceOps = deferred(
    "lower-inplace-ops", "passes.legalize.inplace_ops:LowerInplaceOps", "tf.DeepCopy", "tf.Empty", "tf.Inplace"
)
DecomposeResourceOps = deferred(
    "decompose-resource-ops",
    "passes.variables.resource_ops:DecomposeResourceOps",
    "tf.AssignAddVariableOp",
    "tf.AssignSubVariableOp",
    "tf.Resource",
    "tf.RngReadAndSkip",
    "tf.VarIsInitializedOp",
    "tf.VariableShape",
)
InferLoopTypes = deferred("infer-loop-types", "ir.shapes.infer_loop_types:InferLoopTypes", "tf.While")
ExpandBlockCells = deferred(
    "expand-block-cells",
    "fusions.recognizers.recurrent.block_cells:ExpandBlockCells",
    "tf.BlockLSTM",
    "tf.GRUBlockCell",
    "tf.LSTMBlockCell",
)
InitializeTables = deferred("initialize-tables", "passes.variables.hash_tables:InitializeTables", "tf.HashTableV2")
LowerTensorLists = deferred(
    "lower-tensor-lists",
    "passes.tensor_lists.dense_lists:LowerTensorLists",
    "tf.EmptyTensorList",
    "tf.Optional",
    "tf.TensorList",
)
MarkBranches = deferred("mark-branches", "passes.control_flow.deferred_branches:MarkBranches", "tf.If")
KeepGenerators = deferred(
    "keep-generators",
    "passes.variables.random_generators:KeepGenerators",
    "tf.RandomShuffle",
    "tf.RandomUniformInt",
    "tf.TruncatedNormal",
)
NarrowFloat64 = deferred("narrow-float64", "passes.legalize.narrow_float64:NarrowFloat64", "tf.Cast")
HoistProjections = deferred("hoist-projections", "passes.control_flow.hoist_projections:HoistProjections", "tf.While")
UnrollLoops = deferred("unroll-loops", "passes.control_flow.unroll_loops:UnrollLoops", "tf.While")
ReadReversed = deferred("read-reversed", "passes.control_flow.reversed_items:ReadReversed", "tf.ReverseV2")
PairFakeQuantization = deferred("pair-fake-quantization", "passes.fake_quantization.pairs:PairFakeQuantization")
CheckPairs = deferred("check-pairs", "passes.fake_quantization.pairs:CheckPairs")
ExpandPowers = deferred("expand-powers", "passes.legalize.expand_powers:ExpandPowers", "tfl.pow")
MultiplyMatrices = deferred(
    "multiply-matrices", "passes.legalize.matrix_products:MultiplyMatrices", "tfl.fully_connected"
)
CancelLayoutChanges = deferred(
    "cancel-layout-changes",
    "passes.finishing.sequence_layouts:CancelLayoutChanges",
    "tfl.reshape",
    "tfl.strided_slice",
    "tfl.transpose",
    "tfl.unidirectional_sequence_",
)
EmbeddingLookups = deferred("embedding-lookups", "passes.finishing.embedding_lookups:EmbeddingLookups", "tfl.gather")
CopyBranchResults = deferred(
    "copy-branch-results", "passes.control_flow.branches:CopyBranchResults", "tf.If", "tfl.custom"
)
InitializeStates = deferred("initialize-states", "passes.finishing.initialize_states:InitializeStates", "tfl.custom")
DeferBranches = deferred("defer-branches", "passes.control_flow.deferred_branches:DeferBranches", "tf.If")
FillBuffers = deferred("fill-buffers", "passes.control_flow.litert_loops:FillBuffers", "tfl.while")
DropLoopVariables = deferred("drop-loop-variables", "passes.control_flow.litert_loops:DropLoopVariables", "tfl.while")
OutlineLoops = deferred("outline-loops", "passes.control_flow.litert_loops:OutlineLoops", "tfl.while")
MergeHandles = deferred("merge-handles", "passes.variables.handles_and_reads:MergeHandles", "tfl.var_handle")
SeparateActivations = deferred(
    "separate-activations", "passes.finishing.separate_activations:SeparateActivations", "tfl.transpose_conv"
)
SeparateReads = deferred("separate-reads", "passes.variables.handles_and_reads:SeparateReads", "tfl.read_variable")
TypeStaticShapes = deferred("type-static-shapes", "passes.finishing.static_shapes:TypeStaticShapes")
FoldBranches = deferred("fold-branches", "passes.control_flow.branches:FoldBranches", "tf.If")
