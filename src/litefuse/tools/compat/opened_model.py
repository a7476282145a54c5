"""Facts about a model that a converter needs before the conversion."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from litefuse.frontends.saved_model import TensorSpec, is_graph_file, load

# The ops by which TFLiteConverter takes a model for one that was trained with quantization.
_FAKE_QUANTIZATION = frozenset(
    {
        "FakeQuantWithMinMaxArgs",
        "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxVarsPerChannel",
        "QuantizeAndDequantizeV2",
        "QuantizeAndDequantizeV3",
    }
)


class OpenedModel(NamedTuple):
    """Facts about a model.

    Attributes:
        trained: Whether it has fake-quantization nodes.
        inputs: The inputs of each signature that is converted.
        order: Whose order the inputs have: that of the caller, who named the inputs of a frozen graph; of the model,
            which is in memory or a Keras file; or, for a SavedModel, of a hash in TFLiteConverter, which programs may
            follow.
    """

    trained: bool
    inputs: Mapping[str, Sequence[TensorSpec]]
    order: Literal["caller", "model", "hash"]


def open_model(
    path: Path,
    *,
    tags: Collection[str] | None = None,
    signatures: Collection[str] | None = None,
    input_arrays: Sequence[str] | None = None,
    output_arrays: Sequence[str] | None = None,
    has_order: bool = False,
) -> OpenedModel:
    """Reads the graph of a model.

    Args:
        path: A SavedModel's folder, or the file of a frozen graph.
        tags: The tags of the graph; None for the one for serving.
        signatures: The keys of the signatures that are converted; None for all.
        input_arrays: The inputs of a frozen graph; None for its placeholders.
        output_arrays: Its outputs; None for the only one that nothing reads.
        has_order: Whether the SavedModel was made of a model whose inputs have an order.

    Raises:
        SavedModelError: It cannot be read.
    """
    is_graph = is_graph_file(path)
    model = load(path, input_arrays=input_arrays, output_arrays=output_arrays) if is_graph else load(path, tags)
    trained = any(node.op in _FAKE_QUANTIZATION for function in model.functions.values() for node in function.node_def)
    chosen = {
        key: signature.inputs for key, signature in model.signatures.items() if signatures is None or key in signatures
    }
    return OpenedModel(trained, chosen, "caller" if is_graph else "model" if has_order else "hash")
