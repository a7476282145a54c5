"""Pages in a real browser, which LITEFUSE_BROWSER names: run by .ci/browser.

With LITEFUSE_SCREENSHOTS, a folder, the pages are drawn there, to be looked at.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

import litefuse
from litefuse.tools.demo import SAVED_MODEL
from litefuse.tools.demo.check import MyCustomFusedOp
from tests.litert.runtime.models import Graph, model
from tests.tools.page.test_document import HOSTILE, small


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=os.environ["LITEFUSE_BROWSER"], args=["--no-sandbox"])


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of the demo, with times."""
    folder = tmp_path_factory.mktemp("page")
    result = litefuse.convert(SAVED_MODEL)
    file = result.save(folder / "demo.tflite")
    return litefuse.save_report(
        folder / "demo.html",
        result,
        benchmark=litefuse.benchmark(file, repeat=3, custom_ops=[MyCustomFusedOp]),
    )


@pytest.fixture
def opened(browser: Browser, report: Path) -> Iterator[Page]:
    yield from visited(browser, report)


def visited(browser: Browser, path: Path, **options: Any) -> Iterator[Page]:
    """A page, in which nothing may go wrong."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000}, **options)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("dialog", lambda dialog: wrong.append(dialog.message))
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("file:") else None)
    page.goto(path.as_uri())
    yield page
    context.close()
    assert wrong == []


def drawn(page: Page, name: str) -> None:
    if folder := os.environ.get("LITEFUSE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def find(page: Page, text: str) -> None:
    page.keyboard.press("/")
    page.locator("#search input").fill(text)
    page.keyboard.press("Enter")


def labels(pane: Any, kind: str = "") -> list[str]:
    """Returns the labels of boxes."""
    boxes = pane.locator(f".box{kind}")
    boxes.first.wait_for(state="attached")
    return boxes.evaluate_all("all => all.map(each => each.getAttribute('aria-label'))")


def before(page: Page) -> Any:
    return page.locator(".pane").nth(0)


def after(page: Page) -> Any:
    return page.locator(".pane").nth(1)


def test_a_layer_is_found_by_name_with_its_before_and_after_and_time(opened: Page) -> None:
    find(opened, "Conv2D_1")
    assert labels(after(opened), ".selected") == ["CONV_2D, BiasAdd_1"]
    assert labels(before(opened), ".linked") == ["Conv2D, Conv2D_1", "BiasAdd, BiasAdd_1"]
    card = opened.locator("#details > div").nth(1).locator("article").first
    told = dict(zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts(), strict=False))
    assert told["time"].endswith(("µs", "ms"))
    assert told["bytes"] == "448 bytes"
    assert told["result"].startswith("float32")
    drawn(opened, "found")


def test_a_composite_shows_its_fused_op_its_check_and_its_body(opened: Page) -> None:
    find(opened, "embedding_matmul")
    card = opened.locator("#details > div").nth(0).locator("article").first
    assert "EMBEDDING_LOOKUP" in card.inner_text()
    assert "checked: error" in card.inner_text()
    card.get_by_role("button", name="Open").click()
    assert any(each.startswith("OneHot") for each in labels(before(opened)))
    drawn(opened, "composite")


def test_keys_move_along_edges_and_open_layers(opened: Page) -> None:
    find(opened, "image")
    seen = labels(after(opened), ".selected")
    after(opened).locator("svg").focus()
    for _ in range(2):
        opened.keyboard.press("ArrowDown")
        seen += labels(after(opened), ".selected")
    assert [each.partition(",")[0] for each in seen] == ["image", "CONV_2D", "my_custom_fused_op"]
    opened.keyboard.press("Escape")
    assert after(opened).locator(".box.selected").count() == 0


def test_texts_stay_within_their_boxes(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "model.tflite"
    file.write_bytes(model(small("WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW")))
    for page in visited(browser, litefuse.save_report(tmp_path / "page.html", file)):
        wide = page.locator(".pane .box text").evaluate_all("all => all.map(each => each.getComputedTextLength())")
        assert 0 < max(wide) <= 150


def test_the_header_hides_no_heading(browser: Browser, report: Path) -> None:
    for page in visited(browser, report):
        page.set_viewport_size({"width": 420, "height": 700})
        find(page, "Conv2D_1")
        header, heading = page.locator("header").bounding_box(), page.locator("#graph h2").bounding_box()
        assert header is not None
        assert heading is not None
        assert heading["y"] >= header["y"] + header["height"]


def test_what_is_not_there_is_said(opened: Page) -> None:
    opened.locator("#search input").fill("nothing has this name")
    assert opened.locator("#found").inner_text() == "No layer, node or op has this name."


def test_layers_whose_names_have_a_number_are_found_before_those_that_begin_alike(
    browser: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "model.tflite"
    graph = Graph()
    x, y, z = graph.input("x", (2,)), graph.tensor("net/conv_bn/Relu", (2,)), graph.output("net/conv_1/Relu", (2,))
    graph.builtin("RELU", [x], [y])
    graph.builtin("RELU", [y], [z])
    file.write_bytes(model(graph))
    for page in visited(browser, litefuse.save_report(tmp_path / "page.html", file)):
        page.locator("#search input").fill("conv")
        assert "net/conv_1/Relu" in page.locator("#found li").first.inner_text()


def test_graphs_are_found_by_name(opened: Page) -> None:
    title = opened.locator(".pane select option").last.inner_text().strip()
    find(opened, title)
    assert opened.locator(".pane select").last.evaluate("each => each.selectedOptions[0].textContent.trim()") == title


def test_zoom_and_drag(opened: Page) -> None:
    svg = after(opened).locator("svg")
    width = float(svg.get_attribute("viewBox").split()[2])
    after(opened).get_by_role("button", name="Zoom in").click()
    x, _, zoomed, _ = map(float, svg.get_attribute("viewBox").split())
    assert zoomed == pytest.approx(width / 1.3)
    box = svg.bounding_box()
    opened.mouse.move(box["x"] + 20, box["y"] + 300)
    opened.mouse.down()
    opened.mouse.move(box["x"] + 120, box["y"] + 300)
    opened.mouse.up()
    assert float(svg.get_attribute("viewBox").split()[0]) < x


def test_colours_and_theme(opened: Page) -> None:
    plain = after(opened).locator(".box rect").evaluate_all("all => all.map(each => getComputedStyle(each).fill)")
    opened.locator("#colours").select_option("time")
    heat = after(opened).locator(".box rect").evaluate_all("all => all.map(each => getComputedStyle(each).fill)")
    assert plain != heat
    background = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(background)
    opened.locator("#theme").click()
    assert opened.evaluate(background) != light
    drawn(opened, "dark")


CONTRAST = """() => {
  const channel = (value) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
  const light = (color) => {
    const numbers = color.match(/[\\d.]+/g).map(Number).slice(0, 3);
    const [r, g, b] = numbers.map((each) => channel(color.startsWith("color(") ? each : each / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  for (const box of document.querySelectorAll(".box")) {
    const back = light(getComputedStyle(box.querySelector("rect")).fill);
    for (const text of box.querySelectorAll("text")) {
      const [dark, bright] = [back, light(getComputedStyle(text).fill)].sort((one, other) => one - other);
      found.push((bright + 0.05) / (dark + 0.05));
    }
  }
  return Math.min(...found);
}"""


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_texts_of_boxes_can_be_read_in_every_color(browser: Browser, report: Path, theme: Any) -> None:
    for page in visited(browser, report, color_scheme=theme):
        for choice in page.locator("#colours option").evaluate_all("all => all.map(each => each.value)"):
            page.locator("#colours").select_option(choice)
            assert page.evaluate(CONTRAST) >= 4.5, choice
        find(page, "my_custom_fused_op")
        assert page.locator(".box.selected").count() == 1
        assert page.evaluate(CONTRAST) >= 4.5


def test_the_search_says_what_is_open_and_active(opened: Page) -> None:
    field = opened.locator("#search input")
    for text, state, active in (("Conv2D", "true", "found-0"), ("no such thing", "false", None)):
        field.fill(text)
        assert (field.get_attribute("aria-expanded"), field.get_attribute("aria-activedescendant")) == (state, active)
    field.fill("Conv2D")
    opened.keyboard.press("ArrowDown")
    assert field.get_attribute("aria-activedescendant") == "found-1"
    field.blur()
    assert field.get_attribute("aria-expanded") == "false"


def test_tables_lead_to_the_graph(opened: Page) -> None:
    opened.locator("#ops summary").click()
    opened.locator("#ops a", has_text="embedding_matmul").click()
    assert labels(after(opened), ".selected") == ["EMBEDDING_LOOKUP, embedding_matmul"]


def test_a_link_to_a_layer_opens_it(browser: Browser, report: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{report.as_uri()}#after=my_custom_fused_op")
    page.goto(f"{report.as_uri()}#before=Conv2D_1")
    page.reload()
    assert labels(before(page), ".selected") == ["Conv2D, Conv2D_1"]
    context.close()


def test_without_a_script_it_is_tables(browser: Browser, report: Path) -> None:
    for page in visited(browser, report, java_script_enabled=False):
        assert page.locator("#panes").is_hidden()
        assert page.locator(".unscripted").is_visible()
        assert page.locator("#layers td", has_text="CONV_2D").first.is_visible()
        assert page.locator("#time table").first.is_visible()
        page.locator("#ops summary").click()
        assert page.locator("#ops td", has_text="my_custom_fused_op").first.is_visible()
        drawn(page, "no-script")


def test_hostile_names_are_shown_and_do_nothing(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "hostile.tflite"
    file.write_bytes(model(small(f"{HOSTILE}/dense/MatMul")))
    page_file = litefuse.save_report(tmp_path / "hostile.html", file, options={HOSTILE: HOSTILE})
    for page in visited(browser, page_file):
        find(page, "alert(1)")
        assert "alert(1)" in page.locator("#details").inner_text()
        assert page.evaluate("document.querySelectorAll('img').length") == 0
