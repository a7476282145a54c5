"""Measuring on a device, by LiteRT's own tool; adb and the device are a script."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import litefuse
from litefuse.errors import LimitError
from litefuse.tools.benchmarking.file_ops import ops_of_file
from litefuse.tools.benchmarking.job import ModelJob
from litefuse.tools.benchmarking.operators_alone import AloneJob, operators_alone
from litefuse.tools.benchmarking.tool_output import profiled_nodes, tool_run
from tests.every import every
from tests.tools.benchmarking import fake_adb
from tests.tools.benchmarking.models import activated, loop, several_signatures
from tests.tools.cli.test_cli import refused, run

PROFILES: Any = importlib.import_module("ai_edge_litert.profiling_info_pb2")
DETAILS: Any = importlib.import_module("ai_edge_litert.model_runtime_info_pb2")


@pytest.fixture
def device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the device; the command adb is in the path."""
    command, folder = tmp_path / "bin" / "adb", tmp_path / "device"
    command.parent.mkdir()
    folder.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -S {fake_adb.__file__} "$@"\n')
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{command.parent}:/usr/bin:/bin")
    monkeypatch.setenv("FAKE_DEVICE", str(folder))
    return folder


@pytest.fixture
def tool(tmp_path: Path) -> Path:
    """The file of benchmark_model."""
    path = tmp_path / "android benchmark_model"
    path.write_bytes(b"\x7fELF")
    return path


def profile(*graphs: list[tuple[str, str, int, int]]) -> bytes:
    """The times of nodes in one of 10 runs: name, type, microseconds of a run, and how often it ran."""
    data = PROFILES.BenchmarkProfilingData()
    for index, nodes in enumerate(graphs):
        graph = data.runtime_profile.subgraph_profiles.add(subgraph_index=index)
        for order, (name, kind, each, times) in enumerate(nodes):
            made = graph.per_op_profiles.add(name=name, node_type=kind, times_called=times, run_order=order)
            made.inference_microseconds.sum = each * times * 10
            made.inference_microseconds.count = times * 10
            made.inference_microseconds.avg = each
    return data.SerializeToString()


def runtime_info(*delegated: tuple[int, int, str, list[int]]) -> bytes:
    """The nodes of delegates: subgraph, index, delegate and the nodes that it replaced."""
    data = DETAILS.ModelRuntimeDetails()
    for subgraph, index, name, replaced in delegated:
        graph = data.subgraphs.add(subgraph_id=subgraph)
        for each in replaced:
            graph.nodes.add(id=each, delegated_to_node_id=index)
        node = graph.nodes.add(id=index, name=name)
        node.delegate_node_details.delegate_name = name
        node.delegate_node_details.tflite_node_ids_replaced.extend(replaced)
    return data.SerializeToString()


XNNPACK = "TfLiteXNNPackDelegate"


def test_a_partition_and_its_operators() -> None:
    times = profile(
        [
            ("AllocateTensors/0", "AllocateTensors", 900, 1),
            ("[y]:3", XNNPACK, 100, 1),
            ("Delegate/TanH (NC):1", "TanH (NC)", 60, 1),
            ("Delegate/Add (ND):0", "Add (ND)", 30, 1),
        ]
    )
    (node,) = profiled_nodes(times, runtime_info((0, 3, XNNPACK, [0, 1, 2])), ops_of_file(activated()))
    assert (node.subgraph, node.ops, node.kernel, node.runs) == (0, (0, 1, 2), "XNNPACK", 1)
    assert node.seconds == pytest.approx(100e-6)
    assert node.operators == (("Add (ND)", pytest.approx(30e-6)), ("TanH (NC)", pytest.approx(60e-6)))


def test_the_operators_of_several_partitions_are_not_told_apart() -> None:
    times = profile([("[a]:3", XNNPACK, 100, 1), ("[b]:4", XNNPACK, 50, 1), ("Delegate/Add (ND):0", "Add (ND)", 30, 2)])
    info = runtime_info((0, 3, XNNPACK, [0]), (0, 4, XNNPACK, [1, 2]))
    nodes = profiled_nodes(times, info, ops_of_file(activated()))
    assert [(node.ops, node.operators) for node in nodes] == [((0,), ()), ((1, 2), ())]


def test_a_delegate_that_took_nodes_of_another_and_hostile_names() -> None:
    times = profile([("[]:7, [x\n]:4", "Neural", 100, 1), ("[:2]:2", "TANH", 50, 1), ("nonsense:1", "ADD", 1, 1)])
    info = runtime_info((0, 3, XNNPACK, [0]), (0, 4, "Neural", [3, 1, 9]))
    nodes = profiled_nodes(times, info, ops_of_file(activated()))
    assert [(node.ops, node.kernel) for node in nodes] == [((2,), "LiteRT"), ((0, 1), "Neural")]


def test_the_time_of_a_loop_is_without_that_of_its_body() -> None:
    times = profile([("[end, y]:0", "WHILE", 100, 1)], [("[more]:0", "LESS", 2, 6)], [("[next]:0", "ADD", 10, 5)])
    nodes = profiled_nodes(times, runtime_info(), ops_of_file(loop()))
    assert [node.runs for node in nodes] == [1, 6, 5]
    assert [node.seconds for node in nodes] == pytest.approx([38e-6, 12e-6, 50e-6])


def test_damaged_files_of_the_tool() -> None:
    with pytest.raises(ValueError, match="pars"):
        profiled_nodes(b"\xff" * 9, b"", ops_of_file(activated()))


def test_the_output_of_older_tools() -> None:
    text = """count=50 first=249042 curr=250889 min=247067 max=274454 avg=249684 std=1442
    Inference timings in us: Init: 16242, First inference: 360262, Warmup (avg): 304586, Inference (avg): 249684"""
    found = tool_run(text)
    assert found is not None
    assert not found.has_median
    assert (found.load, found.first, found.memory) == (pytest.approx(0.016242), pytest.approx(0.360262), None)
    assert (found.warm.count, found.warm.p50, found.warm.p95) == (50, pytest.approx(0.249684), None)
    assert tool_run("Inference timings in us: Init: x") is None
    assert tool_run("count=0 avg=.") is None


def test_a_model_on_a_device(device: Path, tool: Path, tmp_path: Path) -> None:
    path = tmp_path / "model 'x'.tflite"
    path.write_bytes(activated())
    alone = operators_alone(AloneJob(ModelJob(activated(), "serve", calls=1), {0: (0, 1, 2)}), lambda _: None)
    names = [alone[0, op].operators[0] for op in range(3)]
    operators = [(f"Delegate/{name}:{index}", name, 20 + index, 1) for index, name in enumerate(names)]
    (device / "times").write_bytes(profile([("[y]:3", XNNPACK, 65, 1), *operators]))
    (device / "info").write_bytes(runtime_info((0, 3, XNNPACK, [0, 1, 2])))
    found = litefuse.benchmark(path, adb=fake_adb.SERIAL, benchmark_binary=tool, calls=40, warm_up=2, seconds=1)
    (measurement,) = found.measurements
    assert (found.device, found.cpu, found.cores) == ("Pixel 9", "Tensor G4", 0)
    assert (measurement.warm.count, measurement.seconds) == (40, pytest.approx(2e-3))
    assert (measurement.warm.p90, measurement.warm.p95) == (None, pytest.approx(2.6e-3))
    assert (measurement.load, measurement.cold) == (pytest.approx(1.5e-3), pytest.approx(4e-3))
    assert measurement.memory.peak == int(2.25 * 2**20)
    assert measurement.inputs[0].shape == (4, 8)
    (partition,) = measurement.partitions
    assert partition.split
    for index, op in enumerate(measurement.ops):
        assert (op.partition, op.operators) == (0, (names[index],))
        assert op.seconds == pytest.approx(20.5e-6 + index * 1e-6)  # XNNPACK has cut off half a microsecond
    assert "2 ms a call (p95 2.6 ms)" in str(found)
    assert "Pixel 9" in str(found)
    assert sorted(each.name for each in device.iterdir()) == ["calls", "info", "times"]  # nothing is left there
    tools = [line for line in (device / "calls").read_text().splitlines() if "--graph=" in line]
    assert every("--signature_to_run_for=serve" in line and "--warmup_runs=3" in line for line in tools)
    assert "--input_layer_shape=4,8" in tools[0]


def test_two_models_in_turn_and_a_tool_that_does_not_profile(device: Path, tool: Path) -> None:
    found = litefuse.benchmark(activated(), loop(), adb="", benchmark_binary=tool, calls=4, seconds=1)
    assert found.ratio == 1.0
    assert found.ratios["serve"].pairs == 5
    assert ["The tool could not time the ops" in each.notes[-1] for each in found.measurements] == [True, True]
    assert any("does not take scalars" in note for note in found.measurements[1].notes)
    assert sorted(each.name for each in device.iterdir()) == ["calls"]


def test_strings_and_signatures_are_handed_on(device: Path, tool: Path) -> None:
    found = litefuse.benchmark(
        several_signatures(), adb="", benchmark_binary=tool, signatures=["tanh"], inputs={"x": np.zeros(2)}, ops=False
    )
    assert [each.signature for each in found.measurements] == ["tanh"]
    assert "--signature_to_run_for=tanh" in (device / "calls").read_text()


def test_what_is_missing(device: Path, tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(activated())
    refused(run("benchmark", path, "--adb"), "benchmark_model, is not named", "--benchmark-binary FILE")
    refused(run("benchmark", path, "--adb", "--benchmark-binary", tmp_path / "no"), "no such file or folder")
    refused(
        run("benchmark", path, "--adb=other", "--benchmark-binary", tool), "device 'other' not found", "adb devices"
    )
    assert run("benchmark", path, "--benchmark-binary", tool).code == 2
    (device / "fails").touch()
    told = run("benchmark", path, "--adb", "--benchmark-binary", tool, "--ops", "0")
    refused(told, "adb shell failed (exit code 1)", "unresolved custom op: \\x1b[31mNowhere")
    (device / "fails").rename(device / "silent")
    refused(run("benchmark", path, "--adb", "--benchmark-binary", tool), "did not tell how long calls take")
    assert sorted(each.name for each in device.iterdir()) == ["calls", "silent"]
    monkeypatch.setenv("PATH", "/nowhere")
    refused(run("benchmark", path, "--adb", "--benchmark-binary", tool), "the command adb, which", "platform tools")


def test_a_device_that_does_not_answer(tool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = tmp_path / "adb"
    command.write_text("#!/bin/sh\nexec sleep 60\n")
    command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(LimitError, match="adb shell"):
        litefuse.benchmark(activated(), adb="", benchmark_binary=tool, timeout=0.5)


def test_as_json(device: Path, tool: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(activated())
    outcome = run("benchmark", path, "--adb", "--benchmark-binary", tool, "--ops", "0", "--json", "--calls", "3")
    assert outcome.code == 0
    assert json.loads(outcome.out)["device"] == "Pixel 9"
