"""The sources of an application for microcontrollers."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy.typing as npt

from litefuse.litert.cpp.folders import filled
from litefuse.tools.scaffold.micro.cpp import (
    KNOWN_CUSTOM_OPS,
    byte_lines,
    float_text,
    kernel_function,
    number_lines,
    registration,
)
from litefuse.tools.scaffold.micro.tensors import Port
from litefuse.version import __version__

_TEMPLATES = Path(__file__).parents[1] / "templates" / "micro"
_STEPS, _TOLERANCE = 2, "1e-4"


@dataclass(frozen=True)
class Application:
    """Contents of an application.

    Attributes:
        source: The name of the model's file.
        name: The C++ namespace, which is also the name of the program.
        content: The model.
        inputs: Its inputs.
        outputs: Its outputs.
        ops: The builtin ops that it has.
        custom_ops: The custom ops.
        variables: How many resource variables it has.
        remembers: Whether it keeps a state between calls.
        arena: The bytes of the arena.
        arena_text: Where this number is from, in sentences.
        given: The elements of each input in each call; no calls without samples.
        expected: The elements of each output in each call.
        notes: What users should know, in sentences.
    """

    source: str
    name: str
    content: bytes
    inputs: Sequence[Port]
    outputs: Sequence[Port]
    ops: Sequence[str]
    custom_ops: Sequence[str]
    variables: int
    remembers: bool
    arena: int
    arena_text: str
    given: Sequence[Sequence[npt.NDArray[Any]]]
    expected: Sequence[Sequence[npt.NDArray[Any]]]
    notes: Sequence[str]

    @property
    def foreign_ops(self) -> tuple[str, ...]:
        """The custom ops that tflite-micro has no kernels for."""
        return tuple(op for op in self.custom_ops if op not in KNOWN_CUSTOM_OPS)


def application_files(application: Application) -> dict[str, bytes]:
    """Returns the files of an application, by their names."""
    names = {
        "SOURCE": json.dumps(application.source)[1:-1],
        "VERSION": __version__,
        "NAMESPACE": application.name,
        "BYTES": str(len(application.content)),
        **_model_names(application),
        **_main_names(application),
        **_readme_names(application),
    }
    files: dict[str, bytes] = {}
    for name in ("CMakeLists.txt", "main.cc", "model.cc", "model.h", "model_data.h", "README.md"):
        guard = f"{application.name}_{name.replace('.', '_')}_".upper()
        template = (_TEMPLATES / f"{name.replace('README', 'readme')}.in").read_text(encoding="utf-8")
        files[name] = filled(template, names | {"GUARD": guard}).encode()
    files["model_data.cc"] = _model_data(application)
    if application.given:
        files["samples.h"], files["samples.cc"] = _samples(application)
    return files


def _model_data(application: Application) -> bytes:
    begin = f"""#include "model_data.h"

namespace {application.name} {{

// tflite-micro reads it in place, and what it reads must be aligned.
alignas(16) const unsigned char kModelData[kModelBytes] = {{
"""
    end = f"""}};

}}  // namespace {application.name}
"""
    return begin.encode() + byte_lines(application.content) + end.encode()


def _model_names(application: Application) -> dict[str, str]:
    methods = [f"{registration(op)}()" for op in application.ops]
    for op in application.custom_ops:
        custom = f"AddCustom({json.dumps(op)}, {kernel_function(op)}())"
        methods.append(f"{KNOWN_CUSTOM_OPS[op]}()" if op in KNOWN_CUSTOM_OPS else custom)
    declarations = [f"TFLMRegistration* {kernel_function(op)}();" for op in application.foreign_ops]
    if declarations:
        declarations = ["", "// The kernels of custom ops, which you write: README.md says how.", *declarations, ""]
    state = "the variables of the model their values before the first call"
    return {
        "ARENA": str(application.arena),
        "ARENA_COMMENT": _comment(application.arena_text),
        "TENSORS": "\n".join(map(_constants, [*application.inputs, *application.outputs])),
        "STATE": state if application.remembers else "the ops their first state; this model has no variables",
        "VARIABLE_INCLUDES": _VARIABLE_INCLUDES if application.variables else "",
        "CUSTOM_DECLARATIONS": "\n".join(declarations),
        "OP_COUNT": str(max(len(methods), 1)),
        "RESOLVER_PARAMETER": "OpResolver& resolver" if methods else "OpResolver&",
        "REGISTRATIONS": "".join(f"  TF_LITE_ENSURE_STATUS(resolver.{method});\n" for method in methods),
        "INTERPRETER": _WITH_VARIABLES.replace("@COUNT@", str(application.variables))
        if application.variables
        else "  auto* made = ::new (place) tflite::MicroInterpreter(model, resolver, arena, kArenaBytes);",
        "RESET": _RESET_VARIABLES if application.variables else _RESET,
        "CHECKS": "".join(_check(port) for port in (*application.inputs, *application.outputs)),
        "ACCESS": "".join(
            f"{line}\n" for port in (*application.inputs, *application.outputs) for line in _access(port)
        ),
    }


_VARIABLE_INCLUDES = '#include "tensorflow/lite/micro/micro_resource_variable.h"\n'
_WITH_VARIABLES = """  tflite::MicroAllocator* allocator = tflite::MicroAllocator::Create(arena, kArenaBytes);
  if (allocator == nullptr) return kTfLiteError;
  auto* made = ::new (place) tflite::MicroInterpreter(
      model, resolver, allocator, tflite::MicroResourceVariables::Create(allocator, @COUNT@));"""
_RESET = """TfLiteStatus Reset() { return interpreter == nullptr ? kTfLiteError : interpreter->Reset(); }"""
_RESET_VARIABLES = """// The interpreter's own Reset() would make zeros of the variables.
TfLiteStatus Reset() { return Setup(); }"""


def _constants(port: Port) -> str:
    integers = "; a number is kScale * (element - kZeroPoint)" if port.scale else ""
    constants = [
        f"// {_kind(port).capitalize()} {port.index}, {port}{integers}.",
        f"namespace {port.space} {{",
        f"using Element = {port.element};",
        f"constexpr size_t kElements = {port.elements};",
        f"constexpr int kRank = {len(port.shape)};",
    ]
    if port.shape:
        constants.append(f"constexpr int kShape[kRank] = {{{', '.join(map(str, port.shape))}}};")
    constants += [
        f"constexpr float kScale = {float_text(port.scale)};",
        f"constexpr int kZeroPoint = {port.zero};",
        "// Valid after Setup().",
        "Element* Data();",
        f"}}  // namespace {port.space}",
        "",
    ]
    return "\n".join(constants)


def _kind(port: Port) -> str:
    return port.space.partition("_")[0]


def _check(port: Port) -> str:
    return (
        f"  TF_LITE_ENSURE_STATUS(CheckTensor(made->{_kind(port)}({port.index}), {port.type},\n"
        f"                                    sizeof({port.space}::Element) * {port.space}::kElements, "
        f'"{port.space}"));\n'
    )


def _access(port: Port) -> Iterator[str]:
    yield (
        f"{port.space}::Element* {port.space}::Data() "
        f"{{ return static_cast<Element*>(interpreter->{_kind(port)}({port.index})->data.data); }}"
    )


def _main_names(application: Application) -> dict[str, str]:
    calls = len(application.given)
    fill = [
        f"    std::memcpy({data}, samples::{port.space}[call], sizeof(samples::{port.space}[call]));"
        if calls
        else f"    std::memset({data}, 0, sizeof(model::{port.space}::Element) * model::{port.space}::kElements);"
        for port in application.inputs
        for data in [f"model::{port.space}::Data()"]
    ]
    prints = list[str]()
    for port in application.outputs:
        space = f"model::{port.space}"
        prints.append(
            f'    Print("{port.space}", {space}::Data(), {space}::kElements, {space}::kScale, {space}::kZeroPoint);'
        )
        if calls:
            steps = _STEPS if port.scale else 0
            prints.append(
                f'    equal &= Compare("{port.space}", {space}::Data(), samples::{port.space}[call], '
                f"{space}::kElements, {steps});"
            )
    return {
        "RUNS": "with samples, and compares its outputs with those of tflite-micro elsewhere"
        if calls
        else "on zeros, twice in a row",
        "SAMPLES_INCLUDE": '#include "samples.h"\n' if calls else "",
        "SAMPLES_SOURCE": " samples.cc" if calls else "",
        "COMPARE": _COMPARE.replace("@TOLERANCE@", _TOLERANCE) if calls else "",
        "BEGIN": f"  namespace samples = {application.name}::samples;\n  bool equal = true;\n" if calls else "",
        "CALLS": "samples::kCalls" if calls else "2",
        # After a reset, all calls must be as before.
        "NUMBER": f"{2 if application.remembers else 1} * {'samples::kCalls' if calls else '2'}",
        "RESET_CALL": "    if (call == 0 && number > 0 && model::Reset() != kTfLiteOk) return 1;\n"
        if application.remembers
        else "",
        "FILL": "".join(f"{line}\n" for line in fill),
        "PRINT": "".join(f"{line}\n" for line in prints),
        "END": '  MicroPrintf("%s", equal ? "all outputs are as expected" : "there are other outputs than expected");\n'
        "  return equal ? 0 : 1;\n"
        if calls
        else "  return 0;\n",
    }


_COMPARE = """
// Prints how far an output is from what is expected, and returns whether that is near enough: so many steps of
// integers, or @TOLERANCE@ of the largest number in floating point. Kernels of vendors round in their own ways.
template <class Element>
bool Compare(const char* name, const Element* data, const Element* expected, size_t elements, int steps) {
  double largest = 0.0;
  double difference = 0.0;
  bool comparable = true;
  for (size_t index = 0; index < elements; ++index) {
    const double given = static_cast<double>(data[index]);
    const double wanted = static_cast<double>(expected[index]);
    if (std::isfinite(wanted)) largest = std::fmax(largest, std::fabs(wanted));
    if (given == wanted || (std::isnan(given) && std::isnan(wanted))) continue;
    comparable = comparable && std::isfinite(given) && std::isfinite(wanted);
    difference = std::fmax(difference, std::fabs(given - wanted));
  }
  const double allowed = std::is_floating_point<Element>::value ? largest * @TOLERANCE@ : steps;
  const bool near = comparable && difference <= allowed;
  MicroPrintf("%s differs by %.3g: %s", name, difference, near ? "equal" : "NOT EQUAL");
  return near;
}
"""


def _samples(application: Application) -> tuple[bytes, bytes]:
    calls = len(application.given)
    declared = list[str]()
    defined = list[str]()
    columns = [
        *((port, [call[position] for call in application.given]) for position, port in enumerate(application.inputs)),
        *(
            (port, [call[position] for call in application.expected])
            for position, port in enumerate(application.outputs)
        ),
    ]
    for port, values in columns:
        kind = f"const {port.element} {port.space}[kCalls][{port.elements}]"
        declared.append(f"extern {kind};")
        rows = "\n".join(f"  {{\n{number_lines(value)}\n  }}," for value in values)
        defined.append(f"{kind} = {{\n{rows}\n}};\n")
    space = f"{application.name}::samples"
    guard = f"{application.name}_samples_h_".upper()
    header = f"""// Inputs of two calls in a row, and the outputs that tflite-micro's Python package gives.
#ifndef {guard}
#define {guard}

#include <cstdint>

namespace {space} {{

constexpr int kCalls = {calls};
{chr(10).join(declared)}

}}  // namespace {space}

#endif  // {guard}
"""
    source = f"""#include "samples.h"

#include <cmath>

namespace {space} {{

{chr(10).join(defined)}
}}  // namespace {space}
"""
    return header.encode(), source.encode()


def _readme_names(application: Application) -> Mapping[str, str]:
    calls = bool(application.given)
    rows = [f"- `{op}`: `{registration(op)}()`" for op in application.ops]
    for op in application.custom_ops:
        if op in KNOWN_CUSTOM_OPS:
            rows.append(f"- `{op}`, a custom op: `{KNOWN_CUSTOM_OPS[op]}()`")
        else:
            rows.append(
                f"- `{op}`, a custom op that tflite-micro has no kernel for: write the function "
                f"`TFLMRegistration* {application.name}::{kernel_function(op)}()`, which returns its `Init`, `Prepare` "
                "and `Eval` by `tflite::micro::RegisterOp`, and add its source to `CMakeLists.txt`. `model.cc` "
                "registers it with `AddCustom`."
            )
    return {
        "SAMPLES_FILES": ", `samples.h`, `samples.cc`" if calls else "",
        "MAIN": "a program that calls it twice in a row and compares the outputs with those of tflite-micro's Python "
        "package; its exit code is 1 if they differ"
        if calls
        else "a program that calls it twice, with zeros, and prints the outputs",
        "ARENA_TEXT": application.arena_text,
        "OPS": "\n".join(rows) or "It has none.",
        "NOTES": "\n## Notes\n\n" + "\n".join(f"- {note}" for note in application.notes) if application.notes else "",
    }


def _comment(text: str) -> str:
    import textwrap

    return "\n".join(f"// {line}" for line in textwrap.wrap(text, 116))
