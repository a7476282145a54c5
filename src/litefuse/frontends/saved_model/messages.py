"""Protobuf messages of SavedModels and checkpoints, without TensorFlow.

The classes are built when this module is imported, from the descriptors that ``scripts/compile_protos.py`` compiles
from ``proto/*.proto``. They have their own descriptor pool and package (``litefuse.proto``), so that TensorFlow may be
imported in the same process: the wire format depends on field numbers and types only.
``messages.pyi`` lists them with their fields. Fields that are not declared are kept as unknown fields, and ignored.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from google.protobuf import descriptor_pool, message_factory

if TYPE_CHECKING:
    from google.protobuf.descriptor import Descriptor
    from google.protobuf.message import Message


def _build_class(descriptor: Descriptor) -> type[Message]:
    """Returns the class of a message, with the classes of its nested messages as attributes."""
    message_class = message_factory.GetMessageClass(descriptor)
    for nested in descriptor.nested_types:
        # The pure Python implementation of protobuf does not set them.
        if not hasattr(message_class, nested.name):
            setattr(message_class, nested.name, _build_class(nested))
    return message_class


def _build_classes() -> dict[str, type[Message]]:
    """Returns the class of each top-level message by its name."""
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(Path(__file__).with_name("messages.binpb").read_bytes())
    descriptors = pool.FindFileByName("litefuse.proto").message_types_by_name
    return {name: _build_class(descriptor) for name, descriptor in descriptors.items()}


_CLASSES = _build_classes()
globals().update(_CLASSES)

__all__ = [*_CLASSES]  # noqa: PLE0604  (messages.pyi spells the names out)  # pyright: ignore[reportUnsupportedDunderAll]
