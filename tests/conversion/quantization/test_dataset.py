"""What callers give as a representative dataset."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from litefuse.conversion.quantization import dataset as module
from litefuse.conversion.quantization.dataset import (
    DatasetJob,
    RecordedSamples,
    Sample,
    SampleProgress,
    images_in,
    obtain_samples,
    record,
    record_dataset,
    samples_in,
)
from litefuse.errors import EngineCrashError, LitefuseError
from litefuse.support.options.quantization import Quantization

X = np.arange(3, dtype=np.float32)


def taken(dataset: Any) -> tuple[Sample, ...]:
    return tuple(samples_in(dataset))


def generated() -> Iterator[Any]:
    yield {"x": X}
    yield ("other", {"y": [1, 2]})


def test_an_archive_is_a_path_that_another_process_can_open(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples.npz").touch()
    assert obtain_samples(Quantization(samples="samples.npz"), tmp_path) == tmp_path / "samples.npz"
    assert obtain_samples(Quantization(samples=Path("samples.npz")), tmp_path) == tmp_path / "samples.npz"


def test_a_generator_function_is_called_and_read_to_its_end() -> None:
    first, second = taken(generated)
    assert (first.signature, [*first.inputs]) == (None, ["x"])
    assert (second.signature, [*second.inputs]) == ("other", ["y"])
    assert isinstance(second.inputs["y"], np.ndarray)


def test_one_array_and_a_list_of_one_are_for_the_only_input() -> None:
    for (signature, inputs), expected in zip(taken([X, [X], ("f", [X])]), (None, None, "f"), strict=True):
        assert signature == expected
        assert [*inputs] == [None]
        np.testing.assert_array_equal(inputs[None], X)


@pytest.mark.parametrize(
    ("dataset", "message"),
    [
        ([], "no samples were given"),
        (lambda: iter(()), "no samples were given"),
        ({"x": X}, "samples is a dict, not a sequence of samples"),
        (3, "samples is a int, not a sequence of samples"),
        ([{"x": X}, [X, X]], "sample 2 is a list of 2 arrays"),
        ([(X, X)], "sample 1 is a list of 2 arrays"),
        ([("serve", X, X)], "sample 1 is a list of 3 arrays"),
        ([()], "sample 1 is a list of 0 arrays"),
    ],
)
def test_refused(dataset: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(LitefuseError) as raised:
        obtain_samples(Quantization(samples=dataset), tmp_path)
    assert message in str(raised.value)


def test_a_sample_that_is_no_array() -> None:
    with pytest.raises(LitefuseError, match=r"sample 1 is not an array: .*inhomogeneous"):
        taken([{"x": [[1, 2], [3]]}])


def test_names_are_texts() -> None:
    (sample,) = taken([{1: X}])
    assert [*sample.inputs] == ["1"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full disk")
@pytest.mark.parametrize("count", [3, 1 << 20])
def test_a_disk_that_is_full(count: int) -> None:
    with pytest.raises(LitefuseError, match="the samples cannot be written: No space left on device") as raised:
        record([Sample(None, {None: np.zeros(count)})], Path("/dev/full"))
    assert raised.value.where == "/dev"


# Progress.


@pytest.mark.parametrize(
    ("times", "total", "texts"),
    [
        ([0.1, 0.19, 0.2, 0.3, 0.4], None, ["s: sample 3", "s: sample 5"]),
        ([1.0, 3.0], 5, ["s: sample 1 of 5, 4 s left", "s: sample 2 of 5, 4 s left"]),
        ([1.0, 3.0], 1000, ["s: sample 1 of 1,000, 16 min 39 s left", "s: sample 2 of 1,000, 24 min 57 s left"]),
        ([60.0], 2, ["s: sample 1 of 2, 1 min 0 s left"]),
        ([59.4], 2, ["s: sample 1 of 2, 59 s left"]),
        ([3600.0], 2, ["s: sample 1 of 2, 1 h 0 min left"]),
        ([3725.0], 3, ["s: sample 1 of 3, 2 h 4 min left"]),
    ],
)
def test_progress(monkeypatch: pytest.MonkeyPatch, times: list[float], total: int | None, texts: list[str]) -> None:
    """It is told at most five times a second, with the time that the rest takes at the mean pace."""
    now, told = [0.0], list[Any]()
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now[0]))
    progress = SampleProgress(told.append, "s", total)
    for time in times:
        now[0] = time
        progress.advance()
    assert [*map(str, told)] == texts
    assert {(step.total, step.done <= len(times)) for step in told} == {(total or 0, True)}


def test_each_sample_counts(tmp_path: Path) -> None:
    counted: list[None] = []
    record(samples_in([X, X]), tmp_path / "samples", lambda: counted.append(None))
    assert len(counted) == 2


# Files.


def test_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the order of their paths, turned as the camera was held; hidden files and others are none."""
    (tmp_path / "a").mkdir()
    (tmp_path / "text.txt").write_text("no image")
    turned = Image.Exif()
    turned[0x0112] = 6
    for name in ("b.png", "c.JPG", "a/z.bmp", ".hidden.png"):
        options: dict[str, Any] = {"exif": turned} if name == "c.JPG" else {}
        Image.new("L" if name == "b.png" else "RGB", (4, 2)).save(tmp_path / name, **options)
    sizes = [(image.size, image.mode) for image in images_in(tmp_path, lambda image: image)]
    assert sizes == [((4, 2), "RGB"), ((4, 2), "RGB"), ((2, 4), "RGB")]

    def absent(_: str) -> None:
        return None

    monkeypatch.setattr("importlib.util.find_spec", absent)
    with pytest.raises(LitefuseError, match="needs the package Pillow"):
        next(images_in(tmp_path, lambda image: image))


FUNCTIONS = """
from pathlib import Path

def none():
    raise ValueError("it has none")

def later():
    yield [1]
    yield [2]
    raise KeyError("more")

def told():
    from litefuse.errors import LitefuseError
    yield [1]
    raise LitefuseError("as it is")

def number():
    return 3

def mapping():
    return {"x": [1]}

def good():
    return [[1], ("other", {"x": [2]})]

def size(image):
    return [image.size]
"""


@pytest.fixture
def function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Records what a function of a file returns, in this process."""
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "given.py").write_text(FUNCTIONS)

    def recorded(name: str, images: Path | None = None) -> tuple[RecordedSamples, list[str]]:
        steps: list[str] = []
        job = DatasetJob(f"{tmp_path / 'given.py'}:{name}", tmp_path / "samples", images)
        return record_dataset(job, steps.append), steps

    return recorded


def test_functions_of_files(function: Any, tmp_path: Path) -> None:
    samples, steps = function("good")
    assert steps == ["samples"]
    assert [samples.read(index).signature for index in range(2)] == [None, "other"]
    assert samples.read(0).inputs[None].item() == 1
    assert str(tmp_path) == sys.path[0]
    Image.new("RGB", (4, 2)).save(tmp_path / "a.png")
    assert function("size", tmp_path)[0].read(0).inputs[None].tolist() == [4, 2]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("none", "the function fails: ValueError: it has none"),
        ("later", "the function fails after sample 2: KeyError: 'more'"),
        ("told", "as it is"),
        ("number", "the function returns a int, not a sequence of samples"),
        ("mapping", "the function returns a dict, not a sequence of samples"),
        ("absent", "the file has no function 'absent'"),
        ("Path.x", "this is not FILE.py:FUNCTION"),
    ],
)
def test_functions_of_files_that_fail(function: Any, name: str, message: str) -> None:
    with pytest.raises(LitefuseError) as raised:
        function(name)
    assert raised.value.message.partition(" (/")[0] == message


def test_where_samples_are_recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions of files are called in a process; those of this program here."""
    given: list[Any] = []

    def run_alone(target: str, job: Any, **options: Any) -> Any:
        given.append((target.rpartition(":")[2], job, options["environment"]))
        options["announce"]("samples")
        if len(given) > 4:
            raise EngineCrashError("it died", step="samples", death="exit code 9")
        return "recorded"

    monkeypatch.setattr("litefuse.support.processes.process.run_alone", run_alone)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "given.py").touch()
    (tmp_path / "images").mkdir()
    Image.new("RGB", (1, 1)).save(tmp_path / "images" / "a.png")
    steps: list[str] = []
    for dataset, preprocess in (
        *(("given.py:good", None), (Path("given.py:good"), None)),
        *(("images", "given.py:size"), (Path("images"), Path("given.py:size"))),
    ):
        found: Any = obtain_samples(Quantization(samples=dataset, preprocess=preprocess), tmp_path, steps.append)
        assert found == "recorded"
    target = tmp_path / "samples"
    of_files, of_images = DatasetJob("given.py:good", target), DatasetJob("given.py:size", target, tmp_path / "images")
    assert given == [("record_dataset", job, {}) for job in (of_files, of_files, of_images, of_images)]
    assert steps == ["samples"] * 4
    with pytest.raises(LitefuseError) as raised:
        obtain_samples(Quantization(samples="given.py:good"), tmp_path)
    assert raised.value.message == "the process of the dataset died (exit code 9) in the step 'samples'"
    assert raised.value.where == "given.py:good"
    here = obtain_samples(
        Quantization(samples=tmp_path / "images", preprocess=lambda image: [np.asarray(image)]), tmp_path
    )
    assert isinstance(here, RecordedSamples)
    assert len(here.entries) == 1
    assert len(given) == 5


@pytest.mark.parametrize("dataset", ["samples.npz", "given.py:good", [X]])
def test_a_function_of_images_without_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, dataset: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples.npz").touch()
    with pytest.raises(LitefuseError, match="preprocess is for a folder of images"):
        obtain_samples(Quantization(samples=dataset, preprocess=lambda image: image), tmp_path)
