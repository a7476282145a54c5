"""Template of a kernel in Python."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from litefuse.kernels.generator.op_calls import Call, CallTensor
from litefuse.tools.scaffold.calls import Size, output_sizes, whole_input

_WIDTH = 100

#: The prefix of errors about parts that are still to be written; the generated test checks for it.
UNWRITTEN = "still to be written"


def class_name(op: str) -> str:
    """Returns the op's name in camel case."""
    words = "".join(letter if letter.isalnum() and letter.isascii() else " " for letter in op).split()
    name = "".join(word[0].upper() + word[1:] for word in words)
    return name if name.isidentifier() else f"Op{name}"


def tensor_names(calls: Sequence[Call]) -> tuple[list[str], list[str]]:
    """Returns the names of inputs and outputs from the call with the most; numbered if an option has the name."""
    fullest = max(calls, key=lambda call: (len(call.inputs), sum(input_ is not None for input_ in call.inputs)))
    taken = _options(calls).keys()

    def name(role: str, index: int, tensor: CallTensor | None) -> str:
        choices = (tensor.name if tensor is not None else "", f"{role}_{index}", f"{role}_tensor_{index}")
        return next((choice for choice in choices if choice and choice not in taken), f"{role}_tensor_{index}_")

    inputs = [name("input", index, tensor) for index, tensor in enumerate(fullest.inputs)]
    outputs = [name("output", index, tensor) for index, tensor in enumerate(fullest.outputs)]
    return inputs, outputs


def types_seen(calls: Sequence[Call], role: str, index: int) -> list[str]:
    """Returns the types of an input or output in the calls, such as ``float32 [?, 3]``."""
    rows = [call.inputs if role == "in" else call.outputs for call in calls]
    tensors = [row[index] if index < len(row) else None for row in rows]
    return list(dict.fromkeys("absent" if tensor is None else str(tensor) for tensor in tensors))


def python_kernel(op: str, calls: Sequence[Call], source: str) -> str:
    """Returns the source of a module with a kernel that returns zeros of the right shapes."""
    inputs, outputs = tensor_names(calls)
    return "\n".join(
        [
            f'"""The kernel of {_doc(op)}, in Python."""',
            "",
            "from __future__ import annotations",
            "",
            "from typing import Any",
            "",
            "import litefuse",
            *(["from litefuse.errors import KernelError"] if _unknown_shape(calls) is not None else []),
            "",
            "",
            f"@litefuse.custom_op({json.dumps(op)})",
            f"class {class_name(op)}(litefuse.CustomOp):",
            *_docstring(op, calls, source, inputs, outputs),
            "",
            *_prepare(calls, inputs, outputs),
            "",
            *_invoke(calls, inputs, outputs),
            "",
        ]
    )


def _doc(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _docstring(op: str, calls: Sequence[Call], source: str, inputs: list[str], outputs: list[str]) -> Iterator[str]:
    yield f'    """Kernel of {_doc(op)}.'
    yield ""
    yield f"    In {_doc(source)}:"
    yield ""
    for role, title, names in (("in", "Input", inputs), ("out", "Output", outputs)):
        for index, name in enumerate(names):
            yield f"    {title} ``{name}``: {', or '.join(types_seen(calls, role, index))}."
    for name, values in _options(calls).items():
        yield f"    Option ``{name}``: {_doc(', or '.join(dict.fromkeys(map(repr, values))))}."
    if any(call.options is None for call in calls):
        yield "    Its options are not a flexbuffer map: override ``decode_options`` to read them."
    yield '    """'


def _options(calls: Sequence[Call]) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {}
    for call in calls:
        for name, value in (call.options or {}).items():
            values.setdefault(name, []).append(value)
    return values


def _parameters(calls: Sequence[Call]) -> list[str]:
    """Returns the options as keyword parameters, with the default None if some calls lack it."""
    parts = ["*"]
    for name, values in _options(calls).items():
        if not name.isidentifier() or _is_keyword(name):
            return ["**attributes: Any"]
        parts.append(f"{name}: {_annotation(values)}" + (" | None = None" if len(values) < len(calls) else ""))
    return parts if len(parts) > 1 else []


def _definition(name: str, parameters: Sequence[str], result: str) -> Iterator[str]:
    """Yields the lines of a method's signature: one, or several if it is long."""
    line = f"    def {name}({', '.join(parameters)}) -> {result}:"
    if len(line) <= _WIDTH:
        yield line
        return
    yield f"    def {name}("
    for parameter in parameters:
        yield f"        {parameter},"
    yield f"    ) -> {result}:"


def _is_keyword(name: str) -> bool:
    import keyword

    return keyword.iskeyword(name) or name in {"self", "inputs", "outputs"}


def _annotation(values: Sequence[Any]) -> str:
    kinds = {_kind(value) for value in values}
    return next(iter(kinds)) if len(kinds) == 1 else "Any"


def _kind(value: Any) -> str:
    if isinstance(value, list):
        inner = {_kind(item) for item in value}  # pyright: ignore[reportUnknownVariableType]
        return f"list[{next(iter(inner))}]" if len(inner) == 1 else "list[Any]"
    return "Any" if value is None or isinstance(value, Mapping) else type(value).__name__


def _prepare(calls: Sequence[Call], inputs: list[str], outputs: list[str]) -> Iterator[str]:
    fewest = min(len(call.inputs) for call in calls)
    arguments: list[str] = []
    optional_before = False
    for index, name in enumerate(inputs):
        absent = any(index >= len(call.inputs) or call.inputs[index] is None for call in calls)
        optional_before = optional_before or index >= fewest
        kind = "litefuse.TensorSpec | None" if absent else "litefuse.TensorSpec"
        arguments.append(f"{name}: {kind}" + (" = None" if optional_before else ""))
    yield from _definition("prepare", ["self", *arguments, *_parameters(calls)], "Any")
    unknown = _unknown_shape(calls)
    if unknown is not None:
        index, what = unknown
        name, seen = outputs[index], " or ".join(types_seen(calls, "out", index))
        yield f"        # EDIT: the {what} of {name} is not an input's, nor the same in all calls: {seen}."
        yield "        raise KernelError("
        yield f'            "{UNWRITTEN}: the {what} of output {index} ({name}), which is {seen} in the model",'
        yield '            hint="Compute it in prepare, or return the shape None and assign the array in invoke.",'
        yield "        )"
        return
    shapes = [_shape(calls, output_sizes(calls, index) or (), inputs) for index, _ in enumerate(outputs)]
    specs = [f"litefuse.TensorSpec({shape}, {_dtype(calls, index, inputs)})" for index, shape in enumerate(shapes)]
    yield "        # EDIT: is this how the shapes follow? Where no input had the size, it is a number."
    for index, spec in enumerate(specs):
        yield f"        {outputs[index]} = {spec}"
    yield f"        return [{', '.join(outputs)}]"


def _unknown_shape(calls: Sequence[Call]) -> tuple[int, str] | None:
    """Returns the first output whose shape cannot be inferred, and the part: its rank or a dimension."""
    for index, _ in enumerate(calls[0].outputs):
        sizes = output_sizes(calls, index)
        if sizes is None:
            return index, "rank"
        if Size() in sizes:
            return index, f"size {sizes.index(Size())}"
    return None


def _shape(calls: Sequence[Call], sizes: Sequence[Size], inputs: list[str]) -> str:
    whole = whole_input(calls, sizes)
    if whole is not None:
        return f"{inputs[whole]}.shape"
    parts = [
        f"{inputs[size.input]}.shape[{size.axis}]" if size.input is not None else f"{size.constant}" for size in sizes
    ]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def _dtype(calls: Sequence[Call], index: int, inputs: list[str]) -> str:
    dtypes = {call.outputs[index].dtype for call in calls}
    if len(dtypes) > 1:
        for place, name in enumerate(inputs):
            if all(
                place < len(call.inputs)
                and (tensor := call.inputs[place]) is not None
                and tensor.dtype == call.outputs[index].dtype
                for call in calls
            ):
                return f"{name}.dtype"
    dtype = calls[0].outputs[index].dtype
    for place, name in enumerate(inputs):
        if dtype == "bfloat16" and (tensor := calls[0].inputs[place]) is not None and tensor.dtype == dtype:
            return f"{name}.dtype"
    return '"object"' if dtype == "string" else f'"{dtype}"'


def _invoke(calls: Sequence[Call], inputs: list[str], outputs: list[str]) -> Iterator[str]:
    yield from _definition("invoke", ["self", "inputs: Any", "outputs: Any", *_parameters(calls)], "None")
    if len({len(call.inputs) for call in calls}) == 1 and inputs:
        trailing = "," if len(inputs) == 1 else ""
        opening, closing = ("(", ")") if trailing else ("", "")
        yield f"        {opening}{', '.join(inputs)}{trailing}{closing} = inputs"
    yield "        # EDIT: compute the outputs from the inputs; these are zeros."
    for index, _ in enumerate(outputs):
        zero = 'b""' if calls[0].outputs[index].dtype == "string" else "0"
        yield f"        outputs[{index}][...] = {zero}"
