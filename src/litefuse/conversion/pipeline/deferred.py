"""The passes that few models need, and the ops without which they do nothing."""

from __future__ import annotations

from litefuse.ir.attributes import COMPOSITE, INITIAL_STATE
from litefuse.ir.call_graph import all_operations
from litefuse.ir.constants import PLACEHOLDER
from litefuse.ir.mlir import ir
from litefuse.ir.passes import deferred
from litefuse.passes.legalize.lacking_ops import has_left_over

_COMPOSITE = f"tfl.custom {COMPOSITE}"

WithholdChosenOps = deferred("passes.legalize.chosen_ops:WithholdChosenOps")
LowerFor = deferred("passes.control_flow.lower_for:lower_for", "tf.For")
LowerXlaCallModule = deferred("passes.stablehlo.xla_call_module:lower_xla_call_module", "tf.XlaCallModule")
LowerCase = deferred("passes.control_flow.branches:lower_case", "tf.Case")
LowerConditions = deferred("passes.control_flow.branches:lower_conditions", "tf.If", "tf.While")
LowerInplaceOps = deferred("passes.legalize.inplace_ops:lower_inplace_ops", "tf.DeepCopy", "tf.Empty", "tf.Inplace")
DecomposeResourceOps = deferred(
    "passes.variables.resource_ops:decompose_resource_ops",
    "tf.AssignAddVariableOp",
    "tf.AssignSubVariableOp",
    "tf.Resource",
    "tf.RngReadAndSkip",
    "tf.VarIsInitializedOp",
    "tf.VariableShape",
)
InferLoopTypes = deferred("ir.shapes.result_types:infer_loop_types", "tf.While")
ExpandBlockCells = deferred(
    "fusions.recognizers.recurrent.block_cells:expand_block_cells",
    "tf.BlockLSTM",
    "tf.GRUBlockCell",
    "tf.LSTMBlockCell",
)
InitializeTables = deferred("passes.variables.hash_tables:InitializeTables", "tf.HashTableV2")
LowerTensorLists = deferred(
    "passes.tensor_lists.dense_lists:lower_tensor_lists",
    "tf.EmptyTensorList",
    "tf.Optional",
    "tf.TensorList",
)
MarkBranches = deferred("passes.control_flow.branches:mark_branches", "tf.If")
KeepGenerators = deferred(
    "passes.variables.random_generators:KeepGenerators",
    "tf.RandomShuffle",
    "tf.RandomUniformInt",
    "tf.TruncatedNormal",
)
FoldFloat64 = deferred(
    "passes.weights.fold_float64:fold_float64",
    when=lambda module: any(
        op.name in {"tf.Cast", "tf.Const"} and str(ir.ShapedType(op.results[0].type).element_type) in {"f64", "ui64"}
        for op in all_operations(module)
    ),
)
NarrowFloat64 = deferred("passes.legalize.narrow_float64:NarrowFloat64", "tf.Cast")
HoistProjections = deferred("passes.control_flow.hoist_projections:HoistProjections", "tf.While")
NameLayers = deferred("fusions.recognizers.layers.name_layers:NameLayers")
UnrollLoops = deferred("passes.control_flow.unroll_loops:UnrollLoops", "tf.While")
KeepZeroOperands = deferred(
    "passes.legalize.zero_operands:keep_zero_operands", "tf.Add", "tf.FusedBatchNorm", "tf.Mul", "tf.Sub"
)
CutConstants = deferred(
    "passes.weights.cut_constants:CutConstants",
    *("tf.Gather", "tf.Slice", "tf.Split", "tf.StridedSlice", "tf.Unpack"),
    *("tfl.gather", "tfl.slice", "tfl.split", "tfl.strided_slice", "tfl.unpack"),
)
FoldWeights = deferred("passes.weights.fold_weights:FoldWeights", PLACEHOLDER)
ReadReversed = deferred("passes.control_flow.reversed_items:read_reversed", "tf.ReverseV2")
PairFakeQuantization = deferred("passes.fake_quantization.pairs:PairFakeQuantization")
CheckPairs = deferred("passes.fake_quantization.pairs:CheckPairs")
ExpandPowers = deferred("passes.legalize.products:expand_powers", "tfl.pow")
MultiplyMatrices = deferred("passes.legalize.products:multiply_matrices", "tfl.fully_connected")
CancelLayoutChanges = deferred(
    "passes.finishing.sequence_layouts:cancel_layout_changes",
    "tfl.reshape",
    "tfl.strided_slice",
    "tfl.transpose",
    "tfl.unidirectional_sequence_",
)
CopyBranchResults = deferred("passes.control_flow.branches:copy_branch_results", "tf.If", _COMPOSITE)
EmitCompositeOps = deferred("passes.legalize.composite_ops:emit_composite_ops", _COMPOSITE)
PrepareShapes = deferred("passes.finishing.prepared_shapes:prepare_shapes", "tfl.pack")
InitializeStates = deferred("passes.finishing.initialize_states:initialize_states", f"tfl.custom {INITIAL_STATE}")
DeferBranches = deferred("passes.control_flow.branches:defer_branches", "tf.If")
# Where shapes are known only in the call, or in functions that ops call.
KeepCopies = deferred(
    "passes.finishing.kept_copies:keep_copies",
    *("func.call", "tf.If", "tfl.broadcast_to", "tfl.fill", "tfl.if", "tfl.non_max", "tfl.one_hot", "tfl.reshape"),
    *("tfl.scatter_nd", "tfl.segment_sum", "tfl.tile", "tfl.topk", "tfl.unique", "tfl.unsorted_segment", "tfl.where"),
    *("tfl.while", "vhlo.composite"),
)
FillBuffers = deferred("passes.control_flow.litert_loops:fill_buffers", "tfl.while")
DropLoopVariables = deferred("passes.control_flow.litert_loops:drop_loop_variables", "tfl.while")
OutlineLoops = deferred("passes.control_flow.litert_loops:outline_loops", "tfl.while")
DecomposeOps = deferred("passes.legalize.left_over:DecomposeOps", when=has_left_over)
EmitCustomOps = deferred("passes.legalize.custom_ops:EmitCustomOps", when=has_left_over)
MergeHandles = deferred("passes.variables.handles_and_reads:merge_handles", "tfl.var_handle")
CenterFirst = deferred("passes.finishing.normalizations:center_first", "tfl.mean")
DropNegations = deferred("passes.finishing.linear_ops:drop_negations", "tfl.neg")
NegateFactors = deferred("passes.finishing.linear_ops:negate_factors", "tfl.neg")
ScaleWeights = deferred("passes.finishing.linear_ops:scale_weights", "tfl.batch_matmul")
AddMasks = deferred("passes.finishing.added_masks:add_masks", "tfl.select_v2")
SeparateActivations = deferred("passes.finishing.separate_activations:separate_activations", "tfl.transpose_conv")
SeparateReads = deferred("passes.variables.handles_and_reads:separate_reads", "tfl.read_variable")
ComplexPairs = deferred("passes.plain_forms.complex_pairs:complex_pairs")
TypeStaticShapes = deferred("passes.finishing.static_shapes:type_static_shapes")
FoldBranches = deferred("passes.control_flow.branches:fold_branches", "tf.If")
