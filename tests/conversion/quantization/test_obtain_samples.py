"""Samples from files, functions in files, and folders of images."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import litefuse
from litefuse.conversion.quantization.dataset import RecordedSamples, Sample, obtain_samples
from litefuse.conversion.quantization.image_samples import scales_itself
from litefuse.conversion.quantization.samples import calls_of, kind_of_calls
from litefuse.errors import LitefuseError
from litefuse.litert.runtime.model_reader import Model
from litefuse.support.options.quantization import Quantization
from litefuse.tools.demo import SAVED_MODEL
from tests.conversion.quantization.models import saved, scaled
from tests.litert.runtime.models import Graph, model


def obtained(dataset: Any, folder: Path, **options: Any) -> list[Sample]:
    found = obtain_samples(Quantization(samples=dataset, **options), folder)
    assert isinstance(found, RecordedSamples)
    return [found.read(index) for index in range(len(found.entries))]


def refusal(dataset: Any, folder: Path, **options: Any) -> LitefuseError:
    with pytest.raises(LitefuseError) as raised:
        obtain_samples(Quantization(samples=dataset, **options), folder)
    return raised.value


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "bilder äöü"
    (folder / "inner").mkdir(parents=True)
    Image.new("RGB", (4, 2), (255, 0, 0)).save(folder / "a.png")
    Image.new("L", (3, 3), 51).save(folder / "inner" / "b.PNG")
    (folder / "labels.txt").write_text("no image")
    return folder


def halved(image: Any) -> Any:
    return {"x": np.asarray(image.resize((2, 2)), np.float32)[np.newaxis] / 255}


def test_samples_are_in_a_file_and_read_one_by_one(tmp_path: Path) -> None:
    alive: list[int] = []

    def samples() -> Iterator[Any]:
        for number in range(5):
            alive.append(number)
            yield ("other", {"x": np.full(3, number)}) if number % 2 else np.full(3, number)

    found = obtained(samples, tmp_path)
    assert alive == [0, 1, 2, 3, 4]
    assert [(each.signature, [*each.inputs]) for each in found[:2]] == [(None, [None]), ("other", ["x"])]
    assert [next(iter(each.inputs.values()))[0] for each in found] == [0, 1, 2, 3, 4]


def test_an_archive_is_left_where_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    Path("samples.npz").touch()
    assert obtain_samples(Quantization(samples="samples.npz"), tmp_path) == tmp_path / "samples.npz"


@pytest.mark.parametrize("dataset", [[], lambda: iter(())])
def test_there_must_be_samples(tmp_path: Path, dataset: Any) -> None:
    assert "no samples were given" in refusal(dataset, tmp_path).message


FUNCTIONS = """
import sys
import beside

def samples():
    for number in range(3):
        yield {"x": [[number] * 3], "loaded": "tensorflow" in sys.modules}

def listed():
    import numpy as np
    return [np.ones(3), np.zeros(3)]

def failing():
    yield {"x": [1]}
    raise ValueError("no more")

def wrong():
    return {"x": 1}

def dying():
    import os
    yield {"x": [1]}
    os._exit(9)

def brighter(image):
    import numpy as np
    return {"x": np.asarray(image.resize((1, 1)), "float32") + beside.BRIGHTNESS}

number = 3
"""


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    (tmp_path / "beside.py").write_text("BRIGHTNESS = 1")
    path = tmp_path / "my_samples.py"
    path.write_text(FUNCTIONS)
    return path


def test_a_function_in_a_file_runs_in_its_own_process(tmp_path: Path, functions: Path) -> None:
    found = obtained(f"{functions}:samples", tmp_path)
    assert [each.inputs["x"].tolist() for each in found] == [[[number] * 3] for number in range(3)]
    assert "my_samples" not in sys.modules
    assert "beside" not in sys.modules
    assert len(obtained(Path(f"{functions}:listed"), tmp_path)) == 2  # as the command line gives it


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("failing", "the function fails after sample 1: ValueError: no more"),
        ("wrong", "the function returns a dict, not a sequence of samples"),
        ("absent", "the file has no function 'absent'"),
        ("number", "the file has no function 'number'"),
        ("dying", "the process of the dataset died (exit code 9)"),
    ],
)
def test_what_is_wrong_with_a_function(tmp_path: Path, functions: Path, name: str, message: str) -> None:
    assert message in refusal(f"{functions}:{name}", tmp_path).message


def test_files_without_functions(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "none.py:samples", tmp_path).message
    (tmp_path / "broken.py").write_text("import nobody_has_this_module")
    assert "cannot be imported: ModuleNotFoundError" in refusal(f"{tmp_path / 'broken.py'}:samples", tmp_path).message


def test_images_in_the_order_of_their_names(tmp_path: Path, images: Path) -> None:
    first, second = obtained(images, tmp_path, preprocess=halved)
    np.testing.assert_array_equal(first.inputs["x"], np.array([[[[1, 0, 0]] * 2] * 2], np.float32))
    np.testing.assert_allclose(second.inputs["x"], np.full((1, 2, 2, 3), 0.2, np.float32), rtol=1e-6)


def test_images_and_a_function_in_a_file(tmp_path: Path, images: Path, functions: Path) -> None:
    found = obtained(str(images), tmp_path, preprocess=f"{functions}:brighter")
    assert [each.inputs["x"].tolist() for each in found] == [[[[256, 1, 1]]], [[[52, 52, 52]]]]


def failing(image: Any) -> Any:
    return image.no_such_method()


def test_what_is_wrong_with_images(tmp_path: Path, images: Path) -> None:
    no_function = f"{images / 'a.png'}"
    assert "this is not FILE.py:FUNCTION" in refusal(images, tmp_path, preprocess=no_function).message
    assert "no such file" in refusal(images, tmp_path, preprocess="absent.py:f").message
    assert "preprocess is for a folder of images" in refusal([np.ones(3)], tmp_path, preprocess=halved).message
    (tmp_path / "empty").mkdir()
    assert "the folder has no images" in refusal(tmp_path / "empty", tmp_path, preprocess=halved).message

    error = refusal(images, tmp_path, preprocess=failing)
    assert "preprocess fails: AttributeError" in error.message
    assert error.where == str(images / "a.png")
    (images / "c.jpg").write_bytes(b"\xff\xd8\xff no jpeg")
    error = refusal(images, tmp_path, preprocess=halved)
    assert "the image cannot be read" in error.message
    assert error.where == str(images / "c.jpg")


def test_an_example_without_a_batch_is_a_batch_of_one(tmp_path: Path) -> None:
    model = saved(tmp_path / "model.tflite", scaled(1.0, rows=1, open_rows=True))
    samples = obtain_samples(
        Quantization(samples=[{"x": [1, 2, 3]}, {"x": [[1, 2, 3], [4, 5, 6]]}, np.ones(3)]), tmp_path
    )
    calls = calls_of(samples, model)["serve"]
    assert [each["x"].shape for each in calls] == [(1, 3), (2, 3), (1, 3)]
    assert [each["x"].shape for each in calls[1:]] == [(2, 3), (1, 3)]
    assert calls[-1]["x"].dtype == np.float32
    with pytest.raises(IndexError):
        calls[3]


@pytest.mark.parametrize("compressed", [False, True])
def test_archives_are_mapped_where_they_can_be(tmp_path: Path, compressed: bool) -> None:
    from litefuse.conversion.quantization.samples import mapped_arrays

    x = np.arange(12.0).reshape(4, 3)
    (np.savez_compressed if compressed else np.savez)(tmp_path / "s.npz", x=np.asfortranarray(x), y=x[:, 0])
    arrays = mapped_arrays(tmp_path / "s.npz")
    np.testing.assert_array_equal(arrays["x"], x)
    np.testing.assert_array_equal(arrays["y"], x[:, 0])
    assert isinstance(arrays["x"], np.memmap) != compressed


def test_a_damaged_archive_is_refused(tmp_path: Path) -> None:
    from litefuse.conversion.quantization.samples import mapped_arrays

    path = tmp_path / "s.npz"
    np.savez(path, x=np.arange(1000.0))
    content = path.read_bytes()
    # A header that promises more than there is, and a file that ends early.
    for damaged in (content.replace(b"(1000,)", b"(9000,)"), content[:600]):
        path.write_bytes(damaged)
        with pytest.raises(LitefuseError, match="the inputs cannot be read"):
            mapped_arrays(path)


def image_model(shape: tuple[int, ...], op: str = "", constant: float = 0.0) -> bytes:
    """A model of an image that it scales by an op, or does not scale."""
    graph = Graph()
    x, y = graph.input("image", shape), graph.output("y", shape)
    if op:
        operands = [x, graph.tensor("by", (1,), value=[constant])]
        graph.builtin(op, operands, [y])
    else:
        graph.builtin("ABS", [x], [y])
    return model(graph, signatures={"serve": 0})


@pytest.mark.parametrize(
    ("op", "constant", "largest"),
    [("", 0, 1), ("MUL", 1 / 255, 255), ("DIV", 127.5, 255), ("SUB", 123.7, 255), ("SUB", 0.485, 1), ("MUL", 2, 1)],
)
def test_images_without_a_function(tmp_path: Path, images: Path, op: str, constant: float, largest: int) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(image_model((1, 4, 3, 3), op, constant))
    samples = obtain_samples(Quantization(samples=images), tmp_path)
    calls = calls_of(samples, path)
    (red, gray) = calls["serve"]
    why = "as the model scales them" if largest == 255 else "as the model does not scale them"
    assert kind_of_calls(calls) == f"images with values 0 to {largest}, {why}"
    np.testing.assert_allclose(red["image"], np.full((1, 4, 3, 3), [largest, 0, 0], np.float32), rtol=1e-6)
    np.testing.assert_allclose(gray["image"], np.full((1, 4, 3, 3), 51 / 255 * largest, np.float32), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 3, 5, 4), (1, 5, 4, 1)])
def test_layouts_of_images(tmp_path: Path, images: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(image_model(shape))
    calls = calls_of(obtain_samples(Quantization(samples=images), tmp_path), path)["serve"]
    assert [call["image"].shape for call in calls] == [shape, shape]
    np.testing.assert_allclose(calls[1]["image"], np.full(shape, 0.2, np.float32), rtol=1e-6)


@pytest.mark.parametrize("shape", [(1, 4), (1, 4, 3, 7)])
def test_a_model_of_something_else_than_images(tmp_path: Path, images: Path, shape: tuple[int, ...]) -> None:
    path = tmp_path / "model.tflite"
    path.write_bytes(image_model(shape))
    with pytest.raises(LitefuseError, match="images do not fit the input 'image'") as caught:
        calls_of(obtain_samples(Quantization(samples=images), tmp_path), path)
    assert "--preprocess" in caught.value.hint


def test_a_dataset_is_checked_before_the_model_is_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()

    def opened(*_: Any) -> None:
        pytest.fail("the model is loaded")

    monkeypatch.setattr("litefuse.frontends.source.Source.opened", opened)
    for dataset, message in ((tmp_path / "empty", "no images"), ("absent.npz", "no such file"), ("a.py:f", "no such")):
        with pytest.raises(LitefuseError, match=message):
            litefuse.convert(SAVED_MODEL, quantize=litefuse.Quantization("int8", samples=dataset))


@pytest.mark.parametrize(("scale", "divisor"), [(1.0, 255.0), (1 / 255, 1.0), (1 / 127.5, 1.0)])
@pytest.mark.parametrize("kind", ["CONV_2D", "FULLY_CONNECTED"])
def test_scaling_that_became_part_of_the_first_weights(kind: str, scale: float, divisor: float) -> None:
    random, graph = np.random.default_rng(0), Graph()
    shape = (8, 3, 3, 3) if kind == "CONV_2D" else (8, 300)
    weights = (random.normal(size=shape) * scale / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
    x = graph.input("x", [1, 10, 10, 3] if kind == "CONV_2D" else [1, 300])
    operands = [x, graph.tensor("w", shape, value=weights), -1]
    graph.builtin(kind, operands, [graph.output("y", [1, 8, 8, 8] if kind == "CONV_2D" else [1, 8])])
    assert scales_itself(Model(model(graph)), "serving_default") == (divisor == 1.0)
