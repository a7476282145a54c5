"""Selection of the signatures that are converted by default."""

from __future__ import annotations

from collections.abc import Collection

from litefuse.errors import SignatureError
from litefuse.frontends.saved_model import SavedModel, Signature

__all__ = ["default_signatures", "left_out_signatures"]

_KERAS_ENDPOINT = "serve"
_DEFAULT = "serving_default"


def default_signatures(saved_model: SavedModel) -> tuple[str, ...]:
    """Returns all signatures of a model without duplicates.

    ``model.export()`` of Keras writes its endpoint both as ``serve`` and as ``serving_default``. Then only the second
    is converted, as by TFLiteConverter, since each signature is a separate subgraph in the file.

    Raises:
        SignatureError: The model has no signatures.
    """
    signatures = saved_model.signatures
    if not signatures:
        raise SignatureError(
            "the SavedModel has no signatures",
            where=str(saved_model.path),
            hint="Save it with tf.saved_model.save(module, path, signatures=module.function).",
        )
    keys = list(signatures)
    if set(keys) == {_DEFAULT, _KERAS_ENDPOINT} and _same(saved_model, *signatures.values()):
        keys.remove(_KERAS_ENDPOINT)
    return tuple(keys)


def left_out_signatures(saved_model: SavedModel, converted: Collection[str], *, chosen: bool) -> dict[str, str]:
    """Returns why each of the other signatures is not converted, and how to convert it.

    Args:
        saved_model: The model.
        converted: The keys of the signatures that are converted.
        chosen: Whether the user chose these; otherwise they are ``default_signatures``.
    """
    why = "it was not selected" if chosen else f"it computes the same as {_DEFAULT}"
    left_out = {
        key: f"{why}; signatures=[{key!r}] (--signature={key}) converts it"
        for key in saved_model.signatures
        if key not in converted
    }
    return left_out | {
        key: f"it cannot be used: {error.message}" for key, error in saved_model.unusable_signatures.items()
    }


def _same(saved_model: SavedModel, one: Signature, other: Signature) -> bool:
    """Whether two signatures are wrappers around the same function."""
    if (one.inputs, one.input_indices, one.outputs, one.output_indices, one.captures) != (
        other.inputs,
        other.input_indices,
        other.outputs,
        other.output_indices,
        other.captures,
    ):
        return False
    a, b = saved_model.functions[one.function], saved_model.functions[other.function]
    return list(a.node_def) == list(b.node_def) and dict(a.ret) == dict(b.ret)
