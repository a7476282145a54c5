"""What ``litefuse doctor`` finds: where all is well, and where it is not."""

from __future__ import annotations

import importlib.util
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner

from litefuse.support.plug_ins.entry_points import PlugIn, take_plug_ins
from litefuse.tools.cli.app import app
from litefuse.tools.environment import software
from litefuse.tools.environment.doctor import CHECKS, diagnose, diagnosis_sections
from litefuse.tools.environment.finding import Area, Diagnosis, Finding
from litefuse.tools.environment.machine import memory_limit, resources, version_of, versions
from litefuse.tools.environment.packages import ALIASES, DEVELOPERS, EXTRAS, conflicts, dependencies, extras
from tests.tools.documents.reading import printed

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def found(check: Callable[[], Iterator[Finding]]) -> dict[str, Finding]:
    return {each.name: each for each in check()}


def install(folder: Path, name: str, version: str, *lines: str) -> None:
    """Writes the metadata of a distribution."""
    place = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    place.mkdir(parents=True)
    text = "\n".join((f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *lines))
    (place / "METADATA").write_text(text + "\n")


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder before all others on the import path."""
    folder = tmp_path / "site"
    folder.mkdir()
    monkeypatch.syspath_prepend(str(folder))
    return folder


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(software, "_PROBES", "tests.tools.environment.broken_probes")


def without(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    find = importlib.util.find_spec

    def find_others(name: str, *arguments: Any) -> Any:
        return None if name in names else find(name, *arguments)

    monkeypatch.setattr(importlib.util, "find_spec", find_others)


def test_all_is_well_here() -> None:
    told = printed("doctor")
    assert (told["ok"], told["can_convert"], told["can_run"], told["exit_code"]) == (True, True, True, 0)
    states = {each["name"]: each["state"] for each in told["findings"]}
    assert (states["engine"], states["runtime"], states["in Python"], states["Python"]) == ("works",) * 4


def test_the_report_begins_with_the_verdict_and_has_all_with_v() -> None:
    def titles(*options: str) -> list[str]:
        result = CliRunner().invoke(app, ["doctor", *options])
        assert result.exit_code == 0, result.stderr
        return [line for line in result.stdout.splitlines() if line and not line.startswith(" ")]

    assert titles()[0].startswith("litefuse works here")
    assert {*titles()[1:]} <= {"What is missing or broken"}
    assert titles("-v")[1:4] == ["System", "Packages", "Converting and running"]


def test_what_does_not_work_is_told_first() -> None:
    findings = [
        Finding("system", "memory", "works", "enough"),
        Finding("extras", "micro", "missing", "not installed", "pip install it"),
        Finding("packages", "keras", "warning", "old"),
        Finding("core", "engine", "broken", "it dies", needed=True),
    ]
    verdict, faults = diagnosis_sections(Diagnosis.of(findings, 0))
    assert verdict.judgement == "bad"
    assert [row[0] for row in faults.rows] == ["engine", "keras", "micro"]
    assert len(diagnosis_sections(Diagnosis.of(findings[:1], 0))) == 1


@pytest.mark.parametrize(
    ("installed", "extra", "hint"),
    [
        ("tensorflow-cpu", "keras2", "pip install --no-deps 'tf_keras==2.21.*'"),
        ("tensorflow", "keras2", "pip install 'litefuse[keras2]'"),
        ("tensorflow", "keras", "pip install --no-deps 'no-keras>=3'"),
        ("", "keras2", "pip install 'litefuse[keras2]'"),
    ],
)
def test_no_extra_brings_a_second_tensorflow(
    monkeypatch: pytest.MonkeyPatch, site: Path, installed: str, extra: str, hint: str
) -> None:
    packages = {installed: "2.21.0"} if installed else {}
    monkeypatch.setattr("litefuse.tools.environment.packages.tensorflow_packages", lambda: packages)
    monkeypatch.setattr("litefuse.tools.environment.packages.version_of", packages.get)
    install(
        site,
        "litefuse",
        "9.0",
        *(f"Provides-Extra: {name}" for name in ("keras", "keras2")),
        "Requires-Dist: tensorflow-cpu; extra == 'keras'",
        "Requires-Dist: no-keras>=3; extra == 'keras'",
        "Requires-Dist: tensorflow; extra == 'keras2'",
        "Requires-Dist: tf-keras; extra == 'keras2'",
    )
    assert found(extras)[extra].hint == hint


def test_an_engine_that_dies_is_told(broken: None) -> None:
    finding = found(software.engine)["engine"]
    assert (finding.state, finding.is_fatal) == ("broken", True)
    assert "SIGABRT" in finding.text
    assert "convert is not possible" in finding.hint


def test_a_runtime_that_computes_something_wrong_is_told(broken: None) -> None:
    finding = found(software.runtime)["runtime"]
    assert (finding.state, finding.is_fatal) == ("broken", True)
    assert finding.text == "it computes 2 x + 1 wrong"


def test_what_hangs_is_ended(broken: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    monkeypatch.setattr("litefuse.kernels.native_library", lambda: library)
    monkeypatch.setattr(software, "_SECONDS", 1.0)
    finding = found(software.native_kernels)["in C++"]
    assert (finding.state, finding.is_fatal) == ("broken", False)
    assert "longer than the limit" in finding.text


def test_a_broken_core_is_an_exit_code(broken: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.kernels.native_library", lambda: None)
    told = printed("doctor")
    assert (told["ok"], told["can_convert"], told["can_run"], told["exit_code"]) == (False, False, False, 1)


def test_a_broken_library_of_kernels_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = tmp_path / "lib.so"
    library.write_bytes(b"no library")
    monkeypatch.setenv("LITEFUSE_KERNELS_LIBRARY", str(library))
    monkeypatch.setattr("litefuse.kernels.native_library", lambda: library)
    finding = found(software.native_kernels)["in C++"]
    assert (finding.state, finding.is_fatal) == ("broken", False)
    assert "not a shared library" in finding.text


def test_kernels_in_python_alone_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litefuse.kernels.native_library", lambda: None)
    finding = found(software.native_kernels)["in C++"]
    assert (finding.state, finding.needed) == ("missing", False)


def test_without_the_engine_where_there_are_packages_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "litert_converter")
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    finding = found(software.engine)["engine"]
    assert (finding.state, finding.is_fatal) == ("missing", True)
    assert "convert is not possible" in finding.text
    assert "pip install" in finding.hint


def test_without_the_engine_where_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "litert_converter")
    monkeypatch.setattr(platform, "machine", lambda: "abacus")
    finding = found(software.engine)["engine"]
    assert (finding.state, finding.is_fatal) == ("missing", False)
    assert "no package for" in finding.text
    told = Diagnosis.of([finding], 0.1)
    assert (told.ok, told.can_convert) == (True, False)


def test_requirements_that_are_not_met(site: Path) -> None:
    install(
        site,
        "litefuse",
        "9.0",
        "Requires-Dist: numpy>=1",
        "Requires-Dist: click>=9999",
        "Requires-Dist: no-such-package-at-all>=1",
        "Requires-Dist: other-system; platform_system == 'Abacus'",
        "Requires-Dist: litefuse[nothing]; extra == 'all'",
        "Requires-Dist: not a requirement",
    )
    states = {name: each.state for name, each in found(dependencies).items() if each.needed}
    assert states == {"numpy": "works", "click": "warning", "no-such-package-at-all": "missing"}
    assert not Diagnosis.of(dependencies(), 0).ok


def test_what_others_require_is_looked_at(site: Path) -> None:
    install(site, "ai-edge-litert", "2.3.0", "Requires-Dist: numpy<1", "Requires-Dist: tensorflow")
    finding = found(dependencies)["ai-edge-litert"]
    assert finding.state == "warning"
    assert f"numpy<1 ({version_of('numpy')})" in finding.text
    assert "tensorflow" not in finding.text  # tensorflow-cpu is there, which has the same files


def test_extras_that_are_missing_are_no_failure(site: Path) -> None:
    install(
        site,
        "litefuse",
        "9.0",
        *(f"Provides-Extra: {name}" for name in ("quantize", "cloud", "all", "test", "micro", "later")),
        "Requires-Dist: numpy>9999; extra == 'quantize'",
        "Requires-Dist: no-such-package-at-all; extra == 'cloud'",
        "Requires-Dist: litefuse[cloud]; extra == 'all'",
        "Requires-Dist: tflite-micro; extra == 'micro' and platform_system == 'Abacus'",
        "Requires-Dist: click; extra == 'later'",
    )
    findings = found(extras)
    states = {name: each.state for name, each in findings.items()}
    assert states == {
        "cloud": "missing",
        "later": "works",
        "micro": "missing",
        "quantize": "warning",
    }
    assert findings["cloud"].hint == "pip install 'litefuse[cloud]'"
    assert "no packages for this system" in findings["micro"].text
    assert Diagnosis.of(findings.values(), 0).ok


def test_two_distributions_of_tensorflow(site: Path) -> None:
    install(site, "tensorflow", "2.21.0")
    finding = found(conflicts)["tensorflow"]
    assert finding.state == "warning"
    assert "tensorflow and tensorflow-cpu are installed" in finding.text
    assert "pip uninstall -y tensorflow tensorflow-cpu" in finding.hint


@pytest.mark.parametrize(
    ("version", "warned"), [("3.13.0", True), ("3.12.4", False), ("3.15.0", True), ("3.15.1", False)], ids=str
)
def test_releases_of_keras_that_are_not_safe(version: str, warned: bool, site: Path) -> None:
    install(site, "keras", version)
    assert ("keras" in found(conflicts)) == warned


def test_keras_without_a_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "tensorflow", "jax", "torch")
    assert "no backend" in found(conflicts)["keras"].text


def test_keras_2_for_another_tensorflow(site: Path) -> None:
    install(site, "tf_keras", "2.15.1")
    assert "for another TensorFlow" in found(conflicts)["tf_keras"].text


def test_plug_ins_that_do_not_load_do_not_hide_others() -> None:
    values = {"a": "fine", "b": "absent", "c": "dies", "d": "exits", "e": "dies", "f": "fine"}
    module = "tests.tools.environment.plug_ins"
    take_plug_ins([PlugIn("litefuse.kernels", name, f"{module}:{value}", "mine") for name, value in values.items()])
    try:
        findings = found(software.plug_ins)
    finally:
        take_plug_ins(None)
    states = {name[0]: each.state for name, each in findings.items()}
    assert states == {"a": "works", "b": "broken", "c": "broken", "d": "broken", "e": "broken", "f": "works"}
    assert "SIGABRT" in findings["c (kernels) of mine"].text
    assert "AttributeError" in findings["b (kernels) of mine"].text
    assert Diagnosis.of(findings.values(), 0).ok


def test_no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert found(software.compiler)["C++ compiler"].state == "missing"
    monkeypatch.setenv("CXX", "false")
    assert found(software.compiler)["C++ compiler"].state == "broken"


def test_a_check_that_fails_is_a_finding() -> None:
    def half() -> Iterator[Finding]:
        yield Finding("system", "first", "works", "fine")
        raise ZeroDivisionError("by zero")

    told = diagnose({"half": ("system", half), "whole": ("core", half)})
    assert [each.state for each in told.findings] == ["works", "unknown", "works", "unknown"]
    assert "ZeroDivisionError: by zero" in told.findings[1].text
    assert not told.ok  # nothing is known of the core
    assert diagnose({"half": ("extras", half)}).ok


def test_every_check_has_an_area_with_a_title() -> None:
    areas: set[Area] = {area for area, _ in CHECKS.values()}
    told = Diagnosis.of((Finding(area, "it", "works", "") for area in areas), 0)
    assert len(diagnosis_sections(told, details=True)) == len(areas) + 1


def test_temporary_files_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc/nowhere")
    finding = found(resources)["temporary files"]
    assert (finding.state, finding.is_fatal) == ("broken", True)


def test_a_full_disk_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(_: str) -> SimpleNamespace:
        return SimpleNamespace(free=1000)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    finding = found(resources)["temporary files"]
    assert (finding.state, finding.is_fatal) == ("warning", False)


@pytest.mark.parametrize(
    ("listing", "files", "expected"),
    [
        ("0::/a/b\n", {"a/memory.max": "1000", "a/b/memory.max": "max"}, 1000),
        ("0::/a/b\n", {"a/memory.max": "5000", "a/b/memory.max": "2000"}, 2000),
        ("0::/../../a\n", {"memory.max": "3000"}, 3000),
        ("5:cpu,memory:/a\n0::/\n", {"memory/a/memory.limit_in_bytes": "4000"}, 4000),
        ("5:memory:/a\n", {"memory/a/memory.limit_in_bytes": "9223372036854771712"}, 8192),
        ("nonsense", {}, 8192),
    ],
    ids=["parent", "own", "outside", "version 1", "no limit", "nonsense"],
)
def test_limits_of_control_groups(listing: str, files: dict[str, str], expected: int, tmp_path: Path) -> None:
    own, info = tmp_path / "cgroup", tmp_path / "meminfo"
    own.write_text(listing)
    info.write_text("MemFree: 1 kB\nMemTotal:       8 kB\n")
    for name, text in files.items():
        path = tmp_path / "groups" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text + "\n")
    limit = memory_limit(tmp_path / "groups", own, info)
    assert limit is not None
    assert limit[0] == expected


def test_versions_are_of_what_is_installed(site: Path) -> None:
    install(site, "jax", "99.9")
    told = versions()
    assert (told["jax"], next(iter(told)), "python" in told) == ("99.9", "litefuse", True)
    assert version_of("no-such-package-at-all") is None


def test_damaged_metadata_is_no_fault_of_litefuse(site: Path) -> None:
    install(site, "jax", "1")
    install(site, "keras", "not.a.version")
    install(site, "litefuse", "9", "Requires-Dist: keras>=3", "Requires-Dist: jax")
    (site / "jax-1.dist-info" / "METADATA").write_bytes(b"Name: \xff\xfe\0")
    told = printed("doctor")
    assert told["exit_code"] == 1  # two requirements are not known to be met
    states = {(each["area"], each["name"]): each["state"] for each in told["findings"]}
    assert [states["packages", name] for name in ("keras", "jax")] == ["warning", "missing"]
    assert states["core", "engine"] == "works"
    assert "jax" not in told["versions"]


def test_metadata_without_a_version_is_none(site: Path) -> None:
    place = site / "tf_keras-1.dist-info"
    place.mkdir()
    (place / "METADATA").write_text("Metadata-Version: 2.1\nName: tf_keras\n")
    assert version_of("tf_keras") is None
    list(conflicts())


def test_each_extra_that_is_not_for_developers_is_told_what_it_is_for() -> None:
    declared = tomllib.loads((Path(__file__).parents[3] / "pyproject.toml").read_text())["project"]
    assert {*EXTRAS} == {*declared["optional-dependencies"]} - DEVELOPERS - ALIASES
