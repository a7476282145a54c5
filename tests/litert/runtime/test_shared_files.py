"""Files that are read again and again are mapped once."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from litefuse.litert.export.edited_file import edit_file
from litefuse.litert.runtime.flatbuffer import content_of, mapped, release, shared_files
from tests.litert.targets.models import dense

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="what is mapped cannot be replaced there")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "model.tflite"
    made.write_bytes(b"first")
    return made


def test_a_file_is_mapped_once(path: Path) -> None:
    with shared_files(), content_of(path) as content, content_of(path) as again:
        assert content is again is mapped(path)
        with shared_files():
            assert mapped(path) is content
        assert content[:] == b"first"
    assert content.closed


def test_without_sharing_each_reader_has_a_map_of_its_own(path: Path) -> None:
    with content_of(path) as content, content_of(path) as again:
        assert content is not again
    assert content.closed


def test_a_renamed_file_is_the_same(path: Path) -> None:
    with shared_files():
        content = mapped(path)
        assert mapped(path.rename(path.with_name("other"))) is content


@pytest.mark.parametrize("grows", [False, True])
def test_a_file_that_was_replaced_or_grew_is_mapped_again(path: Path, grows: bool) -> None:
    with shared_files():
        assert mapped(path)[:] == b"first"
        if grows:
            with path.open("ab") as file:
                file.write(b", second")
        else:
            path.with_name("new").write_bytes(b"other")
            path.with_name("new").replace(path)
        assert mapped(path)[:] == (b"first, second" if grows else b"other")


def test_what_is_released_stays_readable_for_others(path: Path) -> None:
    with shared_files():
        content = mapped(path)
        release(content)
        assert not content.closed
        assert mapped(path) is not content
    release(content)
    assert content.closed


def test_an_edited_file_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(dense())

    def rename(model: Any) -> bool:
        model.description = b"edited"
        return True

    with shared_files(), content_of(path) as before:
        assert b"edited" not in before[:]
        edit_file(path, rename)
        with content_of(path) as after:
            assert b"edited" in after[:]


def test_arrays_outlive_the_files(path: Path) -> None:
    with shared_files():
        array = np.frombuffer(mapped(path), np.uint8)
    assert array.tobytes() == b"first"


@pytest.mark.skipif(sys.platform != "linux", reason="Linux says which pages are resident")
def test_pages_that_nobody_reads_are_given_back(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 4096)

    def resident() -> int:
        """The kilobytes of the file that are resident."""
        _, _, after = Path("/proc/self/smaps").read_text().partition(str(path))
        return int(re.findall(r"Rss:\s+(\d+) kB", after)[0])

    with shared_files():
        with content_of(path) as content:
            assert content[:] == path.read_bytes()
            assert resident() == 1024
        assert resident() == 0
        assert mapped(path) is content
        assert content[:] == path.read_bytes()


_CONVERT = """
import os
import sys
from pathlib import Path

opened = []

def note(event, arguments):
    if event == "open" and str(arguments[0]).startswith(sys.argv[1]):
        path, mode, flags = arguments
        if mode == "r" or mode is None and not flags & (os.O_WRONLY | os.O_RDWR):
            opened.append(path)

sys.addaudithook(note)

from litefuse.conversion.job import ConversionJob
from litefuse.conversion.run import run_conversion
from litefuse.conversion.verify.file_check import FileCheckJob
from litefuse.conversion.verify.written_file import check_job
from litefuse.demo import SAVED_MODEL
from litefuse.support.options.conversion import Conversion

target = Path(sys.argv[1], "model.tflite")
options = Conversion("int8", composites="inline", signatures=["serving_default"])
run_conversion(ConversionJob(SAVED_MODEL, target, options, Path(sys.argv[2])))
check_job(FileCheckJob(target, {}, ()), print)
print(*opened, sep="\\n")
"""


def test_a_conversion_to_int8_reads_its_file_four_times(tmp_path: Path) -> None:
    """What was written, what litert-quantizer made of it, that completed, and the result in the process that checks."""
    folder, samples = tmp_path / "made", tmp_path / "samples.npz"
    folder.mkdir()
    np.savez(samples, image=np.random.default_rng(0).standard_normal((2, 8, 8, 3)).astype(np.float32))
    command = [sys.executable, "-c", _CONVERT, str(folder), str(samples)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    names = [Path(line).name for line in done.stdout.splitlines() if line.startswith(str(folder))]
    assert names == [
        "model.tflite.part",
        "model.tflite.part.quantized",
        "model.tflite.part.quantized",
        "model.tflite",
    ]
