"""Representation of a SavedModel on disk."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from litefuse.errors import SavedModelError, SignatureError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from litefuse.frontends.saved_model.captures import Asset, Capture, Constant, ResourceObject, Table, Variable
    from litefuse.frontends.saved_model.messages import FunctionDef, OpDef
    from litefuse.frontends.saved_model.signatures import Signature

IMPLEMENTS = "_implements"
"""The attribute that ``experimental_implements`` gives a function: it is a composite."""

KERAS_IMPLEMENTS = "api_implements"
"""The one that Keras 2 gives to the implementations of a layer: those of the same value may replace each other."""

ANNOTATIONS = (IMPLEMENTS, KERAS_IMPLEMENTS)
"""The attributes of functions that are composites."""


@dataclass(frozen=True, eq=False)
class SavedModel:
    """A SavedModel read from disk; the values of its variables stay there until they are read.

    Attributes:
        path: The folder.
        tags: The tags of the meta graph that was loaded.
        tensorflow_version: The TensorFlow release that saved it.
        functions: The function library by name.
        op_definitions: The definitions of the ops that it uses, as the process that saved it had them; also those of
            libraries other than TensorFlow.
        signatures: The usable signatures by key, in alphabetical order.
        variables: The variables by their node in the object graph.
        constants: The captured constants by node.
        assets: The assets by node.
        tables: The hash tables by node.
        resources: Other resources by node.
        unusable_signatures: The reason why each of the remaining signatures cannot be used.
        bound_inputs: The nodes that each function captures, by its name.
    """

    path: Path
    tags: frozenset[str]
    tensorflow_version: str
    functions: Mapping[str, FunctionDef] = field(repr=False)
    op_definitions: Sequence[OpDef] = field(repr=False)
    signatures: Mapping[str, Signature]
    variables: Mapping[int, Variable] = field(repr=False)
    constants: Mapping[int, Constant] = field(repr=False)
    assets: Mapping[int, Asset] = field(repr=False)
    tables: Mapping[int, Table] = field(repr=False)
    resources: Mapping[int, ResourceObject] = field(repr=False)
    unusable_signatures: Mapping[str, SavedModelError]
    bound_inputs: Mapping[str, tuple[int, ...]] = field(repr=False)

    def signature(self, key: str) -> Signature:
        """Returns a signature.

        Raises:
            SignatureError: There is none of that name; the error lists the available ones.
            SavedModelError: It exists, but cannot be used.
        """
        signature = self.signatures.get(key)
        if signature is not None:
            return signature
        if key in self.unusable_signatures:
            raise self.unusable_signatures[key]
        if not self.signatures:
            raise SignatureError(
                f"no signature {key!r}: the SavedModel has no signatures",
                where=str(self.path),
                hint="Save it with tf.saved_model.save(module, path, signatures=module.function).",
            )
        import difflib  # it takes longer than most of what reads a model

        close = difflib.get_close_matches(key, self.signatures, n=1)
        guess = f" Did you mean {close[0]!r}?" if close else ""
        listed = ", ".join(repr(name) for name in self.signatures)
        raise SignatureError(
            f"no signature {key!r}.{guess}", where=str(self.path), hint=f"The signatures are {listed}."
        )

    def captures(self, function: str) -> tuple[Capture, ...]:
        """Returns the objects behind the last arguments of a function of the object graph.

        The object graph has every traced function, but not the callees inside the library.

        Raises:
            SavedModelError: The object graph lacks the function, or it captures something that is not a tensor.
        """
        bound = self.bound_inputs.get(function)
        if bound is None:
            message = f"function {function!r} is not in the object graph, so what it captures is not known"
            raise SavedModelError(message, where=str(self.path))
        captures: list[Capture] = []
        for node in bound:
            sources = (self.variables, self.constants, self.assets, self.tables, self.resources)
            capture = next((source[node] for source in sources if node in source), None)
            if capture is None:
                message = f"function {function!r} captures object {node}, not a variable, constant, asset or resource"
                raise SavedModelError(message, where=str(self.path))
            captures.append(capture)
        return tuple(captures)
