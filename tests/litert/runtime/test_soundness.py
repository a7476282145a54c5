"""Damaged models: refused before the runtime dies of them."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flatbuffers
import numpy as np
import pytest
from ai_edge_litert import schema_py_generated as schema
from flatbuffers import flexbuffers

from litefuse.errors import InterpreterError
from litefuse.litert.inspection.litert_model import inspect_litert_model
from litefuse.litert.runtime.interpreter import Interpreter
from litefuse.litert.runtime.soundness import check_soundness
from tests.litert.runtime.models import Graph, model, unary


def loop() -> bytes:
    """A loop that counts to ten and adds a split constant, and a branch; with a signature."""
    main, cond, body = Graph(), Graph(), Graph()
    n, x = main.input("n", (), np.int32), main.input("x", (4,))
    outputs = main.output("m", (), np.int32), main.output("y", (4,))
    counted = main.tensor("counted", (), np.int32), main.tensor("added", (4,))
    main.builtin("WHILE", [n, x], counted, condSubgraphIndex=1, bodySubgraphIndex=2)
    main.builtin("ADD", [counted[1], x], [outputs[1]])
    main.builtin("ADD", [counted[0], n], [outputs[0]])
    cond.builtin(
        "LESS",
        [cond.input("n", (), np.int32), cond.tensor("ten", (), np.int32, value=10)],
        [cond.output("less", (), "BOOL")],
    )
    cond.input("x", (4,))
    n, x = body.input("n", (), np.int32), body.input("x", (4,))
    body.builtin("ADD", [n, body.tensor("one", (), np.int32, value=1)], [body.output("more", (), np.int32)])
    halves = body.tensor("front", (2,)), body.tensor("back", (2,))
    axis, weights = body.tensor("axis", (), np.int32, value=0), body.tensor("weights", (4,), value=[1, 2, 3, 4])
    body.builtin("SPLIT", [axis, weights], halves, numSplits=2)
    both = body.tensor("both", (4,))
    body.builtin("CONCATENATION", halves, [both])
    body.builtin("ADD", [x, both], [body.output("sum", (4,))])
    return model(main, cond, body, signatures={"serve": 0})


def strings() -> bytes:
    graph = Graph()
    i = graph.input("i", (1,), np.int32)
    graph.builtin(
        "GATHER",
        [graph.tensor("words", (2,), "STRING", value=["one", "two"]), i],
        [graph.output("word", (1,), "STRING")],
    )
    return model(graph, signatures={"serve": 0})


def changed(content: bytes, change: Callable[[Any], object]) -> bytes:
    read = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    change(read)
    return packed(read)


def packed(read: Any) -> bytes:
    builder = flatbuffers.Builder(1024)
    builder.Finish(read.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def op(graph: int, position: int, **values: Any) -> Callable[[Any], None]:
    def change(read: Any) -> None:
        for name, value in values.items():
            setattr(read.subgraphs[graph].operators[position], name, value)

    return change


def tensor(graph: int, index: int, **values: Any) -> Callable[[Any], None]:
    def change(read: Any) -> None:
        for name, value in values.items():
            setattr(read.subgraphs[graph].tensors[index], name, value)

    return change


def call(**values: int) -> Callable[[Any], None]:
    def change(read: Any) -> None:
        for name, value in values.items():
            setattr(read.subgraphs[0].operators[0].builtinOptions, name, value)

    return change


def test_whole_models_are_sound() -> None:
    runner = Interpreter(model_content=loop()).get_signature_runner()
    outputs = runner(n=np.array(7, np.int32), x=np.ones(4, np.float32))
    assert outputs["m"] == 17
    assert outputs["y"].tolist() == [5, 8, 11, 14]
    assert Interpreter(model_content=strings()).get_signature_runner()(i=np.array([1], np.int32))["word"] == [b"two"]


DAMAGES: dict[str, tuple[Callable[[Any], object], str]] = {
    "no inputs": (op(2, 0, inputs=[]), r"op 0 \(ADD\) of subgraph 2 has 0 inputs of at least 2"),
    "an input that is left out": (op(2, 0, inputs=[0, -1]), r"op 0 \(ADD\) of subgraph 2 lacks its input 1"),
    "no outputs": (op(2, 0, outputs=[]), r"op 0 \(ADD\) of subgraph 2 has 0 outputs of at least 1"),
    "an output that is left out": (op(2, 0, outputs=[-1]), "lacks its output 0"),
    "a tensor that is missing": (op(0, 1, inputs=[77, 1]), "subgraph 0 has no tensor 77"),
    "an output that is missing": (op(0, 1, outputs=[77]), "subgraph 0 has no tensor 77"),
    "a value of later": (
        op(0, 1, inputs=[2, 1]),
        r"op 1 \(ADD\) of subgraph 0 takes tensor 2 \(m\), which nothing has",
    ),
    "an output that is a constant": (op(2, 0, outputs=[2]), r"computes tensor 2 \(one\), which is a constant"),
    "a result of none": (lambda read: read.subgraphs[2].operators.pop(), r"subgraph 2 returns tensor 9 \(sum\), which"),
    "an op code that is missing": (op(0, 1, opcodeIndex=50), "op 1 of subgraph 0 is of code 50, which is missing"),
    "another number of outputs": (op(2, 1, outputs=[4]), r"\(SPLIT\) of subgraph 2 has 1 outputs, but is of 2"),
    "a buffer that is missing": (tensor(2, 2, buffer=99), r"tensor 2 \(one\) of subgraph 2 is in buffer 99"),
    "a constant of nothing": (tensor(2, 2, buffer=0), r"takes tensor 2 \(one\), which nothing has computed"),
    "no options": (op(0, 0, builtinOptions=None, builtinOptionsType=0), "does not say what it calls"),
    "a subgraph that is missing": (
        call(bodySubgraphIndex=3),
        r"op 0 \(WHILE\) of subgraph 0 calls subgraph 3, which is",
    ),
    "a subgraph of other results": (
        call(bodySubgraphIndex=1),
        "passes 2 and gets 2 values of subgraph 1, which takes 2 and",
    ),
    "a value of another type": (
        tensor(0, 5, type=schema.TensorType.INT32),
        "values of other types than subgraph 2 takes",
    ),
    "a subgraph that calls itself": (call(bodySubgraphIndex=0), "subgraph 0 calls itself"),
    "an input of the graph": (
        lambda read: setattr(read.subgraphs[0], "inputs", [0, -1]),
        "subgraph 0 has no tensor -1",
    ),
    "an output of the graph": (lambda read: setattr(read.subgraphs[1], "outputs", [-1]), "subgraph 1 has no tensor -1"),
    "a signature of none": (
        lambda read: setattr(read.signatureDefs[0], "subgraphIndex", 9),
        "'serve' is of subgraph 9",
    ),
    "an input of a signature": (
        lambda read: setattr(read.signatureDefs[0].inputs[0], "tensorIndex", 2),
        "the input 'n' of signature 'serve' is tensor 2, which is not an input of subgraph 0",
    ),
    "texts of numbers": (tensor(2, 8, type=schema.TensorType.STRING), "computes texts, and takes none"),
    "a resource of numbers": (tensor(2, 8, type=schema.TensorType.RESOURCE), "computes a resource, and takes none"),
    "a key that ends early": (
        lambda read: setattr(read.signatureDefs[0], "signatureKey", "a\0b"),
        "the key of signature .* has a null character",
    ),
    "an input whose name ends early": (
        lambda read: setattr(read.signatureDefs[0].inputs[0], "name", "a\0b"),
        "the name of an input of signature 'serve' has a null character",
    ),
    "a tensor whose name ends early": (tensor(0, 0, name="a\0b"), "the name of tensor 0 of subgraph 0 has a null"),
    "an output of a signature": (
        lambda read: setattr(read.signatureDefs[0].outputs[1], "tensorIndex", 0),
        "the output 'y' of signature 'serve' is tensor 0, which is not an output of subgraph 0",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_named(damage: str, tmp_path: Path) -> None:
    change, message = DAMAGES[damage]
    content = changed(loop(), change)
    with pytest.raises(InterpreterError, match=message) as raised:
        Interpreter(model_content=content)
    assert str(raised.value).startswith("model content: the model is damaged: ")
    assert raised.value.hint == "Is it complete? Convert or download it again."
    path = tmp_path / "m.tflite"
    path.write_bytes(content)
    for load in (Interpreter, inspect_litert_model):
        with pytest.raises(InterpreterError, match=message) as raised:
            load(path)
        assert raised.value.where == str(path)


@pytest.mark.parametrize("position", [0, 4, 8, 12])
def test_strings_lie_in_their_tensor(position: int) -> None:
    def damage(read: Any) -> None:
        data = bytearray(read.buffers[1].data)
        data[position : position + 4] = b"\xff\xff\xff\x7f"
        read.buffers[1].data = list(data)

    with pytest.raises(InterpreterError, match=r"tensor 1 \(words\) of subgraph 0 does not hold 2 strings"):
        Interpreter(model_content=changed(strings(), damage))


def test_what_may_be_missing_may_be_missing() -> None:
    """Biases, values of variables, empty tensors, and the subgraphs of composites that a kernel runs."""
    graph = Graph()
    x, y = graph.input("x", (2, 3)), graph.output("y", (2, 1))
    graph.builtin("FULLY_CONNECTED", [x, graph.tensor("w", (1, 3), value=[[1, 2, 3]]), -1], [y])
    empty, joined = graph.tensor("empty", (2, 0)), graph.output("joined", (2, 3))
    graph.builtin("CONCATENATION", [x, empty], [joined], axis=1)
    graph.composite("mine", [x], [graph.output("z", (2, 3))], {}, 7)
    check_soundness(model(graph), "m")


@pytest.mark.parametrize("op", ["AudioSpectrogram", "Mfcc", "NumericVerify", "TFLite_Detection_PostProcess"])
@pytest.mark.parametrize("options", [b"", b"\x00", b"\xff\x28\x01", bytes(flexbuffers.Dumps([1, 2]))])
def test_the_runtimes_custom_ops_need_options_that_they_can_read(op: str, options: bytes) -> None:
    with pytest.raises(InterpreterError, match=f"{op}.* has no options that are a flexbuffer map"):
        Interpreter(unary(op, options))

    check_soundness(unary(op, {"anything": 1}), "m")
    check_soundness(unary("Own" + op, options), "m")


def test_a_constant_is_no_input(tmp_path: Path) -> None:
    """Setting it would write into the pages of the file."""
    graph = Graph()
    graph.inputs.append(graph.tensor("x", (4,), value=[1, 2, 3, 4]))
    graph.builtin("ADD", [0, 0], [graph.output("y", (4,))])
    path = tmp_path / "model.tflite"
    path.write_bytes(model(graph))

    with pytest.raises(InterpreterError, match=r"tensor 0 \(x\) is an input of subgraph 0, and a constant"):
        Interpreter(path)


@pytest.mark.parametrize("name", ["builtin", "custom", "composite"])
def test_outputs_of_every_kind_of_op_are_there_and_no_constants(name: str) -> None:
    for output, message in ((-1, "lacks its output 0"), (2, "which is a constant"), (9, "has no tensor 9")):
        graph = Graph()
        x, _, _ = graph.input("x", (4,)), graph.output("y", (4,)), graph.tensor("c", (4,), value=[1, 2, 3, 4])
        if name == "builtin":
            graph.builtin("ABS", [x], [output])
        elif name == "custom":
            graph.custom("Mine", [x], [output])
        else:
            graph.composite("mine", [x], [output], {}, 0)
        graph.builtin("ABS", [x], [1])
        with pytest.raises(InterpreterError, match=message):
            check_soundness(model(graph), "m")


RUN = """
import sys
from pathlib import Path
import numpy as np
from litefuse.errors import InterpreterError
from litefuse.litert.inputs.model_inputs import Manner, ModelInputs
from litefuse.litert.runtime.interpreter import Interpreter

for path in sorted(Path(sys.argv[1]).iterdir()):
    print(path.name, flush=True)
    try:
        interpreter = Interpreter(path)
        for key, inputs in ModelInputs.of_file(path).calls(manner=Manner(limit=10)).items():
            interpreter.get_signature_runner(key)(**inputs)
    except (InterpreterError, RuntimeError, ValueError):
        pass
"""


def test_the_process_survives(tmp_path: Path) -> None:
    """Operands, results and indices of all kinds are replaced by others; bytes are, too."""
    dice = random.Random(5)
    for number in range(300):
        content = dice.choice((loop, strings))()
        if number % 3 == 0:
            damaged = bytearray(content)
            damaged[dice.randrange(len(damaged))] = dice.randrange(256)
            content = bytes(damaged)
        else:
            content = changed(content, lambda read: _replace_index(read, dice))
        (tmp_path / f"{number:03}.tflite").write_bytes(content)
    done = subprocess.run([sys.executable, "-c", RUN, tmp_path], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.stdout.split()[-1], done.stderr[-500:])


def _replace_index(read: Any, dice: random.Random) -> None:
    graph = dice.choice(read.subgraphs)
    holder = dice.choice([graph, *graph.operators])
    role = dice.choice(["inputs", "outputs"])
    indices = [int(index) for index in getattr(holder, role)]
    if not indices or dice.random() < 0.3:
        setattr(holder, role, indices[1:])
        return
    indices[dice.randrange(len(indices))] = dice.choice(
        [-1, -2, len(graph.tensors), dice.randrange(len(graph.tensors))]
    )
    setattr(holder, role, indices)


@pytest.mark.parametrize("name", ["what", "given"])
def test_names_that_cannot_be_read(name: str) -> None:
    graph = Graph()
    x = graph.input("given", (2,))
    graph.builtin("ADD", [x, x], [graph.output("sum", (2,))])
    content = model(graph, signatures={"what": 0})

    with pytest.raises(InterpreterError, match="is not UTF-8"):
        Interpreter(content.replace(name.encode(), b"\xff" * len(name)))


def test_an_error_of_the_runtimes_with_a_name_that_cannot_be_read() -> None:
    graph = Graph()
    graph.custom("NoSuchOp", [graph.input("x", (2,))], [graph.output("y", (2,))])
    interpreter = Interpreter(model(graph).replace(b"NoSuchOp", b"NoSuch\xffp"))

    with pytest.raises(InterpreterError, match=r"NoSuch\\xffp"):
        interpreter.allocate_tensors()


def test_an_input_that_is_called_self() -> None:
    graph = Graph()
    x = graph.input("self", (2,))
    graph.builtin("ADD", [x, x], [graph.output("sum", (2,))])
    runner = Interpreter(model(graph, signatures={"serve": 0})).get_signature_runner()

    with pytest.raises(InterpreterError, match="'self'"):
        runner(self=np.ones(2, np.float32))
