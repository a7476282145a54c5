"""Pages: what they have, and what names in a model cannot do to them."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

import litefuse
from litefuse.conversion.verify.layers.layers import Layer, Layers
from litefuse.conversion.verify.targets.target_check import RefusedOps, TargetCheck, TargetReport
from litefuse.conversion.verify.verification import OutputVerdict, Verification
from litefuse.errors import LitefuseError
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.page import treemap
from litefuse.tools.page.content import Content
from litefuse.tools.page.converted import Converted, read_converted
from litefuse.tools.page.document import document
from litefuse.tools.page.links import links
from litefuse.tools.page.original import OriginalJob, read_original
from litefuse.tools.page.tables import milliseconds
from tests.every import every
from tests.litert.runtime.models import Graph, model

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e\"'&\x1b"


class Page(HTMLParser):
    """The elements, attributes and data of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._text: dict[str, list[str]] = {}
        self._within: list[str] = []
        self.feed(html)
        self.data: dict[str, Any] = json.loads("".join(self._text.get("data", [])))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._within.append(dict(attrs).get("id") or tag)

    def handle_endtag(self, tag: str) -> None:
        self._within = self._within[:-1]

    def handle_data(self, data: str) -> None:
        self.texts.append(data.strip())
        if self._within:
            self._text.setdefault(self._within[-1], []).append(data)

    def values(self, attribute: str) -> list[str]:
        return [attributes[attribute] or "" for _, attributes in self.tags if attribute in attributes]


def written(path: Path, *graphs: Graph) -> Converted:
    path.write_bytes(model(*graphs))
    return read_converted(path)


def small(name: str = "net/dense/MatMul") -> Graph:
    graph = Graph()
    x, y, z = graph.input("x", (2, 3)), graph.tensor(name, (2, 4)), graph.output("z", (2, 4))
    weights = graph.tensor("net/dense/kernel", (4, 3), value=np.ones((4, 3)))
    graph.builtin("FULLY_CONNECTED", [x, weights, -1], [y])
    graph.custom("Mine", [y], [z], {"name": HOSTILE, "sizes": [1, 2]})
    return graph


@pytest.fixture(scope="module")
def demo_page(demo_model: Path) -> Page:
    converted = read_converted(demo_model)
    original = read_original(OriginalJob(SAVED_MODEL), lambda _: None)
    report = litefuse.convert(SAVED_MODEL).report
    content = Content(converted, "0" * 64, original, "demo", links(original, converted.model), report)
    return Page(document(content))


def node_named(page: Page, side: int, name: str) -> tuple[int, int]:
    for graph_number, graph in enumerate(page.data["sides"][side]["graphs"]):
        for number, node in enumerate(graph["nodes"]):
            if name in node[1].split(";"):
                return graph_number, number
    raise AssertionError(name)


def test_ops_are_linked_to_the_nodes_that_they_compute(demo_page: Page) -> None:
    linked = {(graph, node): [*map(tuple, others)] for graph, node, others in demo_page.data["links"]}
    graphs = demo_page.data["sides"][1]["graphs"]
    found = {
        graphs[graph]["nodes"][node][0]: [demo_page.data["sides"][0]["graphs"][g]["nodes"][n][0] for g, n in others]
        for (graph, node), others in linked.items()
        if graphs[graph]["nodes"][node][3] != "input"
    }
    assert "my_custom_fused_op" in found["my_custom_fused_op"]
    assert "embedding_matmul" in found["EMBEDDING_LOOKUP"]
    assert "Conv2D" in found["CONV_2D"]


def test_composites_say_what_became_of_them(demo_page: Page) -> None:
    facts = {
        node[0]: dict(node[5])
        for graph in demo_page.data["sides"][0]["graphs"]
        for node in graph["nodes"]
        if node[3] == "composite"
    }
    assert facts["embedding_matmul"]["became"] == "EMBEDDING_LOOKUP"
    assert facts["embedding_matmul"]["its body"].startswith("checked: error ")
    assert facts["my_custom_fused_op"]["became"] == "my_custom_fused_op"


def test_a_page_says_how_many_composites_are_fused(demo_model: Path) -> None:
    converted = read_converted(demo_model)
    report = litefuse.convert(SAVED_MODEL).report
    first, *others = (replace(each, outcome="fused", call_sites=3) for each in report.composites)
    for outcome, fused in (("fused", 3), ("inlined", 0)):
        changed = replace(report, composites=(replace(first, outcome=outcome), *others))
        content = Content(converted, "0" * 64, None, "demo", report=changed)
        texts = [text for text in Page(document(content)).texts if text]
        count = 3 * len(others)
        assert texts[texts.index("composites fused") - 1] == f"{fused + count} of {3 + count}"
        # What is wrong stands first, here that the file was not called, or that one is not fused.
        ahead = texts[: texts.index("size of the file")]
        assert {"composites fused", "in LiteRT; not verified"} <= {*ahead}


def test_tables_have_every_op_without_a_script(demo_page: Page, demo_model: Path) -> None:
    layers = demo_page.values("data-layer")
    for graph in read_converted(demo_model).model.graphs:
        for node in graph.nodes:
            assert node.name.split(";")[0] in layers


def test_a_page_loads_nothing(demo_page: Page) -> None:
    assert not [tag for tag, _ in demo_page.tags if tag in {"link", "img", "iframe", "base", "form"} - {"form"}]
    assert demo_page.values("src") == []
    assert every(each.startswith("#") for each in demo_page.values("href"))
    (policy,) = [each for each in demo_page.values("content") if "default-src" in each]
    assert "default-src 'none'" in policy
    assert re.search(r"script-src 'sha256-[A-Za-z0-9+/]{43}='", policy)


def test_names_are_text_and_nothing_else(tmp_path: Path) -> None:
    graph = small(f"{HOSTILE}/dense/MatMul")
    html = document(
        Content(written(tmp_path / f"a<b>{'x' * 9}.tflite", graph), "0" * 64, options=((HOSTILE, HOSTILE),))
    )
    page = Page(html)
    clean = Page(document(Content(written(tmp_path / "clean.tflite", small()), "0" * 64, options=(("a", "b"),))))
    assert [tag for tag, _ in page.tags if tag in {"script", "img"}] == ["script", "script"]
    assert len(page.tags) == len(clean.tags)
    assert not [each for _, attributes in page.tags for each in attributes if each.startswith("on")]
    assert "\u202e" not in html.partition('<script type="application/json"')[0]
    assert "\x1b" not in html


def test_bytes_times_errors_and_refusals_are_those_of_the_ops(tmp_path: Path) -> None:
    converted = written(tmp_path / "m.tflite", small())
    layers = Layers("s", 1, (Layer("net/dense/MatMul", "FULLY_CONNECTED", error=float("inf")), Layer("z", "Mine")))
    verification = Verification("m", "o", 1e-4, 1, (), layers=layers)
    refused = RefusedOps("Mine", "no such op", places=("z",))
    check = TargetCheck("m", (TargetReport("gpu", "refused", "v1", refused=(refused,)),))
    page = Page(document(Content(converted, "0" * 64, verification=verification, check=check)))
    matmul, mine = node_named(page, 0, "net/dense/MatMul"), node_named(page, 0, "z")
    measures = {each["name"]: each["values"] for each in page.data["measures"]}
    assert measures == {"bytes": [[*matmul, 48]], "error": [[*matmul, None]]}
    (kind,) = page.data["kinds"]
    assert (kind["name"], kind["classes"]) == ("refused by gpu", ["no such op"])
    assert kind["values"] == [[*mine, 0]]


@pytest.mark.parametrize(("error", "judgement"), [(0.009, "good"), (0.09, "bad")])
def test_what_quantization_makes_is_not_red(error: float, judgement: str, tmp_path: Path) -> None:
    verdict = "equal" if judgement == "good" else "differs"
    output = OutputVerdict("s", "y", "float32", (1, 5), error, 3, verdict=verdict, explained=0.0094)
    verification = Verification("m", "o", 1e-4, 4, (output,))
    html = document(Content(written(tmp_path / "m.tflite", small()), "0" * 64, verification=verification))
    direction = {"equal": "to", "differs": "from"}[verdict]
    told = f"{direction} the original, error {error}; quantization explains 0.0094"
    assert f'<li class="{judgement}"><b>{verdict}</b><span>{told}</span></li>' in html


def test_results_of_one_name_are_told_apart_by_their_subgraphs(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(model(small(), small(), signatures={"a": 0, "b": 1}))
    layers = Layers("a", 1, (Layer("net/dense/MatMul", "FULLY_CONNECTED", error=0.5),))
    verification = Verification("m", "o", 1e-4, 1, (), layers=layers)
    refused = RefusedOps("FULLY_CONNECTED", "why", places=("net/dense/MatMul",))
    check = TargetCheck("m", (TargetReport("gpu", "refused", refused=(refused,)),))
    page = Page(document(Content(read_converted(path), "0" * 64, verification=verification, check=check)))
    measures = {each["name"]: each["values"] for each in page.data["measures"]}
    assert measures["error"] == [[0, 1, 0.5]]
    assert page.data["kinds"][0]["values"] == [[0, 1, 0], [1, 1, 0]]


def test_links_of_tables_are_addresses(tmp_path: Path) -> None:
    name = "net/50%/a b#c;d&e\u00e9/MatMul"
    page = Page(document(Content(written(tmp_path / "m.tflite", small(name)), "0" * 64)))
    first = name.partition(";")[0]
    assert f"#after={quote(first)}" in page.values("href")
    assert first in page.values("data-layer")


def test_files_without_anything(tmp_path: Path) -> None:
    page = Page(document(Content(written(tmp_path / "empty.tflite", Graph()), "0" * 64)))
    assert page.data["sides"][0]["graphs"][0]["nodes"] == []
    assert treemap.treemap([]) == ""


def test_graphs_that_are_empty_or_missing(tmp_path: Path) -> None:
    file = tmp_path / "none.tflite"
    file.write_bytes(model())
    with pytest.raises(LitefuseError, match="the model has no subgraph"):
        litefuse.save_report(tmp_path / "page.html", file)
    file.write_bytes(model(small()))
    text = litefuse.save_report(tmp_path / "page.html", file, SAVED_MODEL, signatures=[]).read_text(encoding="utf-8")
    assert [each["title"] for each in Page(text).data["sides"]] == ["LiteRT"]
    assert "The original has no signature that could be shown." in text


def test_a_page_is_written_whole_or_not_at_all(tmp_path: Path, demo_model: Path) -> None:
    damaged = tmp_path / "damaged.tflite"
    damaged.write_bytes(demo_model.read_bytes()[:-900])
    with pytest.raises(LitefuseError):
        litefuse.save_report(tmp_path / "page.html", damaged)
    with pytest.raises(LitefuseError, match="no such file"):
        litefuse.save_report(tmp_path / "page.html", demo_model, tmp_path / "none")
    assert [each.name for each in tmp_path.iterdir()] == ["damaged.tflite"]


@pytest.mark.parametrize("name", ["verification", "check", "benchmark"])
def test_findings_of_another_kind_are_refused_by_name(name: str, tmp_path: Path, demo_model: Path) -> None:
    findings: dict[str, Any] = {name: True}
    with pytest.raises(LitefuseError, match=f"{name} is True; it must be a result of litefuse"):
        litefuse.save_report(tmp_path / "page.html", demo_model, **findings)
    content: Any = demo_model.read_bytes()
    with pytest.raises(LitefuseError, match="model is of the type bytes"):
        litefuse.save_report(tmp_path / "page.html", content)


def test_a_page_does_not_replace_its_model(tmp_path: Path, demo_model: Path) -> None:
    file = tmp_path / "model.tflite"
    file.write_bytes(demo_model.read_bytes())
    (tmp_path / "link.html").symlink_to(file)
    for target, *models in ((file, file), (tmp_path / "link.html", file), (file, demo_model, file)):
        with pytest.raises(LitefuseError, match="it would replace what it is made from"):
            litefuse.save_report(target, *models)
    assert file.read_bytes() == demo_model.read_bytes()


def test_the_progress_of_a_page(tmp_path: Path, demo_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    steps: list[str] = []
    litefuse.save_report(tmp_path / "page.html", demo_model, demo_model, progress=True, on_step=steps.append)
    assert steps == ["read", "write"]
    assert [each.split(",")[0] for each in capsys.readouterr().err.splitlines()] == [
        f"Reporting on {demo_model}: Reading",
        f"Reporting on {demo_model}: Writing",
    ]


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, demo_model: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "squarify", None)
    with pytest.raises(LitefuseError, match="needs the package squarify"):
        litefuse.save_report(tmp_path / "page.html", demo_model)


def test_results_know_their_original(tmp_path: Path) -> None:
    result = litefuse.convert(SAVED_MODEL)
    page = Page(litefuse.save_report(tmp_path / "page.html", result, options={"batch": "3"}).read_text())
    assert [each["title"] for each in page.data["sides"]] == ["Before: TensorFlow", "After: LiteRT"]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0.0, "0.000"), (1.0, "1,000.000"), (2e-4, "0.200"), (5.674e-5, "0.057"), (1.234e-8, "0.000012")],
)
def test_times_below_a_microsecond_are_not_shown_as_none(seconds: float, shown: str) -> None:
    assert milliseconds(seconds).html == shown
