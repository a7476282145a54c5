"""What models as the schema's objects say of their ops and tensors."""

from __future__ import annotations

from typing import Any

__all__ = ["op_code", "op_codes", "tensor_name"]


def op_code(code: Any) -> int:
    """Returns the builtin operator of an operator code: older files have it in another field."""
    return max(code.builtinCode, code.deprecatedBuiltinCode)


def op_codes(model: Any) -> list[int]:
    """Returns the builtin operators of a model's operator codes, to which ops refer by their index."""
    return [op_code(each) for each in model.operatorCodes]


def tensor_name(tensor: Any) -> str:
    """Returns the name of a tensor."""
    return tensor.name.decode()
