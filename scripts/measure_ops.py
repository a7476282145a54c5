"""Run the op suite and write down what becomes of each case: ``python -m scripts.measure_ops --side litefuse``.

Verdicts go to ``tests/tensorflow/op_suite/litefuse.json`` and ``stock.json``. The stock converter takes a while and
does not change with litefuse: ask it with ``--side stock --new`` when there are new cases. With ``--work DIR`` the
SavedModels stay there for the next run.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.tensorflow.op_suite.case import Case
from tests.tensorflow.op_suite.suite import CASES, SIDES, chunks, record, recorded
from tests.tensorflow.op_suite.verdict import Built, build_cases, verdict_of_litefuse, verdicts_of_stock
from tests.tensorflow.process import TensorFlow


class _Restarted:
    """A TensorFlow process that is started again when it has died."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.process = TensorFlow(directory)

    def __call__(self) -> TensorFlow:
        if self.process.died:
            self.process.close()
            self.process = TensorFlow(self.directory)
        return self.process


def _built(tensorflow: _Restarted, work: Path, cases: Sequence[Case]) -> list[Built]:
    folder = work / f"{zlib.crc32(repr(list(map(str, cases))).encode()):08x}"
    answers = folder / "answers.pickle"
    if answers.exists():
        stored = pickle.loads(answers.read_bytes())
        return [
            Built(case, folder, f"c{n}", expected) for n, (case, expected) in enumerate(zip(cases, stored, strict=True))
        ]
    built = build_cases(tensorflow(), folder, cases)
    answers.write_bytes(pickle.dumps([each.expected for each in built]))
    return built


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--side", choices=SIDES, required=True, help="who is to convert")
    parser.add_argument("--ops", help="only these ops, separated by commas")
    parser.add_argument("--new", action="store_true", help="only cases that have no verdict yet")
    parser.add_argument("--failing", action="store_true", help="only cases that did not convert")
    parser.add_argument("--work", type=Path, help="where SavedModels stay")
    arguments = parser.parse_args()
    verdicts = recorded(arguments.side)
    names = set(arguments.ops.split(",")) if arguments.ops else None

    def wanted(case: Case) -> bool:
        before = verdicts.get(str(case), "")
        if (arguments.new and before) or (arguments.failing and before.startswith("converts")):
            return False
        return names is None or case.op in names

    with tempfile.TemporaryDirectory() as folder:
        work = arguments.work or Path(folder)
        work.mkdir(parents=True, exist_ok=True)
        tensorflow = _Restarted(Path(folder))
        for chunk in chunks(CASES):
            if not any(map(wanted, chunk)):
                continue
            built = [each for each in _built(tensorflow, work, chunk) if wanted(each.case)]
            if arguments.side == "stock":
                found = verdicts_of_stock(tensorflow, built)
            else:
                found = map(verdict_of_litefuse, built)
            for each, verdict in zip(built, found, strict=True):
                before = verdicts.get(str(each.case), "")
                if before != str(verdict):
                    print(f"{each.case}: {before} -> {verdict}", flush=True)
                verdicts[str(each.case)] = str(verdict)
            record(arguments.side, verdicts)
    print(dict(Counter(verdict.partition(":")[0] for verdict in recorded(arguments.side).values())))


if __name__ == "__main__":
    main()
