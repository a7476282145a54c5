"""Template of a kernel in C++."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from litefuse.kernels.generator.op_calls import Call
from litefuse.tools.scaffold.calls import Size, output_sizes, whole_input
from litefuse.tools.scaffold.python_kernel import UNWRITTEN, class_name, tensor_names, types_seen

_TYPES = {
    "bool": "Bool",
    "string": "String",
    "bfloat16": "BFloat16",
    "float16": "Float16",
    "float32": "Float32",
    "float64": "Float64",
    "complex64": "Complex64",
    "complex128": "Complex128",
    **{f"int{bits}": f"Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"UInt{bits}" for bits in (8, 16, 32, 64)},
}

# Names that options of a model may have, but fields in C++ cannot.
_KEYWORDS = frozenset(
    {
        *("alignas", "auto", "bool", "break", "case", "catch", "char", "class", "const", "continue", "default"),
        *("delete", "do", "double", "else", "enum", "explicit", "export", "extern", "false", "float", "for"),
        *("friend", "goto", "if", "inline", "int", "long", "mutable", "namespace", "new", "operator", "private"),
        *("protected", "public", "register", "return", "short", "signed", "sizeof", "static", "struct", "switch"),
        *("template", "this", "throw", "true", "try", "typedef", "typename", "union", "unsigned", "using", "virtual"),
        *("void", "volatile", "while", "and", "or", "not", "xor", "asm", "concept", "requires", "NULL"),
    }
)


def cpp_types(calls: Sequence[Call]) -> bool:
    """Whether kernels in C++ support all the types: no strings, and none smaller than a byte."""
    tensors = [tensor for call in calls for tensor in (*call.inputs, *call.outputs) if tensor is not None]
    return all(tensor.dtype in _TYPES and tensor.dtype != "string" for tensor in tensors)


_INVOKE = (
    "  bool Invoke(Node& node) override {",
    "    // EDIT: compute the outputs from node.input(0).data<float>() and so on; these are zeros.",
    "    // In a quantized model, node.input(0).quantization() has the scale and the zero point of its integers:",
    "    // Dequantize(integer) gives the number, and that of an output's Quantize<int8_t>(number) the integer.",
    "    for (int index = 0; index < node.outputs(); ++index) {",
    "      const Tensor output = node.output(index);",
    "      const size_t bytes = static_cast<size_t>(output.size()) * litefuse::ElementSize(output.type());",
    "      if (bytes > 0) std::memset(output.mutable_data<char>(), 0, bytes);",
    "    }",
    "    return true;",
    "  }",
)


def known_types(calls: Sequence[Call]) -> bool:
    """Whether kernels of some form support all the types."""
    tensors = [tensor for call in calls for tensor in (*call.inputs, *call.outputs) if tensor is not None]
    return all(tensor.dtype in _TYPES for tensor in tensors)


def cpp_kernel(op: str, calls: Sequence[Call], source: str) -> str:
    """Returns the source of a kernel that returns zeros of the right shapes."""
    name = class_name(op)
    options = list(_options(calls))
    return "\n".join(
        [
            *_comment(op, calls, source),
            "",
            "#include <cstring>",
            "#include <string>",
            "#include <vector>",
            "",
            '#include "litefuse/kernel.h"',
            "",
            "namespace {",
            "",
            "using litefuse::Node;",
            "using litefuse::Options;",
            "using litefuse::Tensor;",
            "",
            f"struct {name}Options {{",
            *(f"  {kind} {field}{{}};" for field, _, kind, _ in options),
            "};",
            "",
            f"class {name} : public litefuse::Kernel {{",
            " public:",
            "  // What init does in LiteRT's C interface; the destructor is its free.",
            *_configure(options),
            "",
            *_prepare(calls),
            "",
            *_INVOKE,
            "",
            " private:",
            f"  {name}Options options_;",
            "};",
            "",
            "}  // namespace",
            "",
            f"LITEFUSE_DEFINE_KERNEL({name}, {name})",
            "",
        ]
    )


def _comment(op: str, calls: Sequence[Call], source: str) -> Iterator[str]:
    inputs, outputs = tensor_names(calls)
    yield f"// The kernel of {_line(op)}. In {_line(source)}:"
    yield "//"
    for role, title, names in (("in", "input", inputs), ("out", "output", outputs)):
        for index, name in enumerate(names):
            yield f"//   {title} {index}, {name}: {', or '.join(types_seen(calls, role, index))}"
    seen = dict.fromkeys((name, repr(value)) for call in calls for name, value in (call.options or {}).items())
    for name, value in seen:
        yield f"//   option {_line(name)}: {_line(value)}"


def _line(text: str) -> str:
    """Returns text for a line comment, which a backslash at its end would continue."""
    return " ".join(text.split()).replace("\\", "/")


_Option = tuple[str, str, str, bool]


def _options(calls: Sequence[Call]) -> Iterator[_Option]:
    """Yields for each option the field, the name in the model, the C++ type, and whether all calls have it."""
    values: dict[str, list[Any]] = {}
    for call in calls:
        for name, value in (call.options or {}).items():
            values.setdefault(name, []).append(value)
    used: set[str] = set()
    for name, seen in values.items():
        kind = _cpp_type(seen)
        field = "".join(letter if letter.isalnum() and letter.isascii() else "_" for letter in name)
        field = f"option_{field}" if not field or field[0].isdigit() or field in _KEYWORDS or field in used else field
        if kind is not None:
            used.add(field)
            yield field, name, kind, len(seen) == len(calls)


def _cpp_type(values: Sequence[Any]) -> str | None:
    """Returns a type for all the values; None for a map or a mixed list, which the kit does not read."""
    if all(isinstance(value, list) for value in values):
        items = [item for value in values for item in value]
        inner = _cpp_type(items) if items else "int64_t"
        kinds = {"bool": "int64_t", "int64_t": "int64_t", "double": "float", "std::string": "std::string"}
        return f"std::vector<{kinds[inner]}>" if inner in kinds else None
    for kind, name in ((bool, "bool"), (int, "int64_t"), ((int, float), "double"), ((str, bytes), "std::string")):
        if all(isinstance(value, kind) for value in values):
            return name
    return None


def _configure(options: Sequence[_Option]) -> Iterator[str]:
    if not options:
        yield "  bool Configure(Node&, const Options&) override { return true; }"
        return
    yield "  bool Configure(Node& node, const Options& options) override {"
    optional = all(not required for *_, required in options)
    if optional:
        yield "    (void)node;"
    for field, name, kind, required in options:
        literal = json.dumps(name)
        if required:
            yield f"    LITEFUSE_REQUIRE(node, options.Get({literal}, &options_.{field}),"
            yield f'                     "the option %s is missing, or is not a {kind}", {literal});'
        else:
            yield f"    options.Get({literal}, &options_.{field});  // not all calls have it"
    yield "    return true;"
    yield "  }"


def _prepare(calls: Sequence[Call]) -> Iterator[str]:
    inputs, outputs = tensor_names(calls)
    counts = sorted({len(call.inputs) for call in calls})
    always = [
        all(index < len(call.inputs) and call.inputs[index] is not None for call in calls)
        for index, _ in enumerate(inputs)
    ]
    yield "  bool Prepare(Node& node) override {"
    if all(always):
        yield f"    if (!node.CheckCounts({len(inputs)}, {len(outputs)})) return false;"
    else:
        yield f"    LITEFUSE_REQUIRE(node, node.inputs() >= {counts[0]} && node.inputs() <= {counts[-1]} &&"
        yield f'                     node.outputs() == {len(outputs)}, "wrong number of inputs or outputs");'
    for index, name in enumerate(inputs):
        check = f'node.CheckType("{name}", node.input({index}), {{{_type_list(calls, "in", index)}}})'
        if always[index]:
            yield f"    if (!{check}) return false;"
            ranks = {None if (t := call.inputs[index]) is None or t.shape is None else len(t.shape) for call in calls}
            if len(ranks) == 1 and (rank := next(iter(ranks))) is not None:
                yield f'    if (!node.CheckRank("{name}", node.input({index}), {rank})) return false;'
        else:
            yield f"    if (node.has_input({index}) && !{check}) return false;"
    for index, name in enumerate(outputs):
        types = _type_list(calls, "out", index)
        yield f'    if (!node.CheckType("{name}", node.output({index}), {{{types}}})) return false;'
    yield from _resizes(calls, outputs)
    yield "  }"


def _resizes(calls: Sequence[Call], outputs: list[str]) -> Iterator[str]:
    resizes: list[str] = []
    for index, name in enumerate(outputs):
        sizes = output_sizes(calls, index)
        if sizes is None or Size() in sizes:
            yield f"    // EDIT: the shape of {name} is not an input's, nor the same in all calls."
            yield f'    return node.Fail("{UNWRITTEN}: the shape of output {index} ({name})");'
            return
        whole = whole_input(calls, sizes)
        parts = [
            f"node.input({size.input}).dim({size.axis})" if size.input is not None else f"{size.constant}"
            for size in sizes
        ]
        shape = f"{{{', '.join(parts)}}}" if whole is None else f"node.input({whole}).shape()"
        resizes.append(f"node.Resize({index}, {shape})")
    yield "    // EDIT: is this how the shapes follow? Where no input had the size, it is a number."
    joined = " &&\n           ".join(resizes)
    yield f"    return {joined};"


def _type_list(calls: Sequence[Call], role: str, index: int) -> str:
    rows = [call.inputs if role == "in" else call.outputs for call in calls]
    dtypes = dict.fromkeys(row[index].dtype for row in rows if index < len(row) and row[index] is not None)  # pyright: ignore[reportOptionalMemberAccess]
    return ", ".join(f"kTfLite{_TYPES[dtype]}" for dtype in dtypes)
