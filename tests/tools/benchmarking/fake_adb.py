"""Behaves like adb with one device, whose folder is another one here, and on which LiteRT's benchmark_model runs.

It prints what that prints, in the same form, and writes the files that it is asked to write.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

DEVICE = Path(os.environ.get("FAKE_DEVICE", "device"))
SERIAL = "emulator-5554"


def main(arguments: list[str]) -> int:
    with (DEVICE / "calls").open("a") as calls:
        calls.write(shlex.join(arguments) + "\n")
    if arguments[:1] == ["-s"]:
        if arguments[1] != SERIAL:
            print(f"adb: device '{arguments[1]}' not found", file=sys.stderr)
            return 1
        arguments = arguments[2:]
    if arguments[0] == "push":
        shutil.copyfile(arguments[1], here(arguments[2]))
    elif arguments[0] == "pull":
        if not here(arguments[1]).is_file():
            print(f"adb: error: failed to stat remote object '{arguments[1]}': No such file", file=sys.stderr)
            return 1
        shutil.copyfile(here(arguments[1]), arguments[2])
    else:
        return max(shell(shlex.split(each)) for part in arguments[1].split(" && ") for each in part.split("; "))
    return 0


def here(path: str) -> Path:
    assert path.startswith("/data/local/tmp/"), path
    return DEVICE / path.removeprefix("/data/local/tmp/")


def shell(words: list[str]) -> int:
    match words[0]:
        case "getprop":
            print({"ro.product.model": "Pixel 9", "ro.soc.model": "Tensor G4"}.get(words[1], ""))
        case "mkdir":
            here(words[1]).mkdir()
        case "chmod":
            here(words[2]).chmod(0o755)
        case "rm":
            shutil.rmtree(here(words[2]))
        case tool:
            assert here(tool).name == "benchmark_model"
            return benchmark(dict(word.removeprefix("--").split("=", 1) for word in words[1:]))
    return 0


def benchmark(options: dict[str, str]) -> int:
    assert here(options["graph"]).is_file()
    for each in filter(None, options.get("input_layer_value_files", "").split(",")):
        assert here(each.split(":", 1)[1]).is_file()
    print("INFO: STARTING!\nINFO: Log parameter values verbosely: [0]\nINFO: Graph: [" + options["graph"] + "]")
    if (DEVICE / "fails").exists():
        print("ERROR: Encountered unresolved custom op: \x1b[31mNowhere.", file=sys.stderr)
        return 1
    if (DEVICE / "silent").exists():
        return 0
    if options.get("enable_op_profiling") == "true":
        for option, name in (("op_profiling_output_file", "times"), ("model_runtime_info_output_file", "info")):
            if (DEVICE / name).exists():
                shutil.copyfile(DEVICE / name, here(options[option]))
    runs = [int(options["warmup_runs"]), int(options["num_runs"])]
    for count in runs:
        print(f"INFO: Running benchmark for at least {count} iterations and at least 0 seconds but terminate if")
        more = "first=4000 curr=2100 min=1900 max=4000 avg=2.05e+03 std=120 p5=1900 median=2000 p95=2600"
        print(
            "INFO: count=1 curr=2000 p5=2000 median=2000 p95=2000\n" if count == 1 else f"INFO: count={count} {more}\n"
        )
    timings = "Init: 1500, First inference: 4000, Warmup (avg): 2100, Inference (avg): 2.05e+03"
    print(f"INFO: Inference timings in us: {timings}")
    print("INFO: Memory footprint delta from the start of the tool (MB): init=1.5 overall=2.25")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
