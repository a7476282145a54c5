"""The scripts that build, check and weigh releases."""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from scripts import release, try_wheel
from scripts.build_wheels import MACHINES, check_native, check_windows, run
from scripts.installed_size import Size, check_limit, installed_sizes, table
from scripts.release import changelog_problem, checksums, differing, packed, unlike_repository
from scripts.try_wheel import run as run_outside

from tests.projects import project, pyproject

LOG = """# Changelog

## Unreleased

## 0.2.0 - 2026-11-26

### Added

- Wheels.

## 0.1.0 - 2026-01-01

- All.
"""


@pytest.mark.parametrize(
    "text",
    [
        LOG,
        LOG.replace("## 0.2.0 - 2026-11-26", "## [0.2.0] - 2026-11-26"),
        LOG.replace("## 0.2.0 - 2026-11-26", "## 0.2.0 (2026-11-26)"),
        LOG.replace("## Unreleased\n\n", ""),
    ],
    ids=["plain", "link", "parentheses", "nothing unreleased"],
)
def test_a_changelog_that_is_ready(text: str) -> None:
    assert changelog_problem(text, "0.2.0") is None


@pytest.mark.parametrize(
    ("text", "version", "problem"),
    [
        (LOG.replace("## Unreleased\n", "## Unreleased\n\n- More.\n"), "0.2.0", "move them under ## 0.2.0"),
        (LOG, "0.3.0", "has ## 0.2.0 - 2026-11-26 first; version.py says 0.3.0"),
        (LOG.replace(" - 2026-11-26", ""), "0.2.0", "has no date"),
        (LOG.replace("2026-11-26", "2026-11-31"), "0.2.0", "2026-11-31 is no date"),
        (LOG.replace("- 2026-11-26", "of late"), "0.2.0", "is no heading of a version"),
        (LOG.replace("### Added\n\n- Wheels.\n", ""), "0.2.0", "has no changes under ## 0.2.0"),
        ("# Changelog\n", "0.2.0", "has no heading ## 0.2.0"),
        ("", "0.2.0", "has no heading ## 0.2.0"),
    ],
    ids=["unreleased", "version", "no date", "no such date", "heading", "empty section", "no section", "empty"],
)
def test_a_changelog_that_is_not(text: str, version: str, problem: str) -> None:
    found = changelog_problem(text, version)
    assert found is not None
    assert problem in found


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository that is ready to be released."""
    (tmp_path / "src" / "litefuse").mkdir(parents=True)
    (tmp_path / "src" / "litefuse" / "version.py").write_text('__version__ = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL"):
        monkeypatch.setenv(name, "somebody@example.com")
    release.git("init", "--quiet")
    release.git("add", "--all")
    release.git("commit", "--quiet", "--message", "All")
    return tmp_path


def packages(arguments: list[str]) -> None:
    """Stands for the script that builds packages."""
    folder = Path(arguments[1])
    folder.mkdir()
    (folder / f"{folder.name}.whl").touch()


def test_a_repository_with_changes(repository: Path) -> None:
    (repository / "new.py").touch()
    with pytest.raises(SystemExit, match=r"not committed:\n\?\? new\.py"):
        release.main(["--dry-run"])


def test_a_repository_with_another_version(repository: Path) -> None:
    (repository / "CHANGELOG.md").write_text(LOG.replace("0.2.0", "0.1.9"))
    release.git("commit", "--quiet", "--all", "--message", "Changed")
    with pytest.raises(SystemExit, match=r"0\.1\.9 - 2026-11-26 first; version\.py says 0\.2\.0"):
        release.main(["--dry-run"])


def test_a_repository_that_has_the_tag(repository: Path) -> None:
    release.git("tag", "v0.2.0")
    with pytest.raises(SystemExit, match=r"there is a tag v0\.2\.0 already"):
        release.main(["--dry-run"])


def test_packages_that_differ_are_not_tagged(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(release, "build", packages)
    with pytest.raises(SystemExit, match=r"not built reproducibly: first\.whl, second\.whl"):
        release.main([])
    assert release.git("tag", "--list") == ""


def test_packages_whose_bytes_differ(tmp_path: Path) -> None:
    for name, second in (("first", b"2"), ("second", b"3")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "same").write_bytes(b"1")
        (folder / "other").write_bytes(second)
    (tmp_path / "second" / "alone").touch()
    first, second = (checksums(tmp_path / name) for name in ("first", "second"))
    assert differing(first, first) == []
    assert differing(first, second) == ["alone", "other"]


def test_a_source_distribution_and_the_repository(tmp_path: Path) -> None:
    sdist = tmp_path / "litefuse-1.tar.gz"
    names = ["PKG-INFO", "README.md", "src/litefuse/ä.py", "src/litefuse/secret"]
    with tarfile.open(sdist, "w:gz") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(f"litefuse-1/{name}"))
    assert unlike_repository(names[1:], packed(sdist)) == []
    assert unlike_repository(["README.md", "src/litefuse/ä.py", "LICENSE"], packed(sdist)) == [
        "the source distribution lacks LICENSE",
        "the source distribution has src/litefuse/secret too",
    ]


def wheel(path: Path, file: str, content: bytes = b"") -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(file, content)
    return path


@pytest.mark.parametrize("machine", MACHINES)
def test_a_wheel_without_kernels(machine: str, tmp_path: Path) -> None:
    library = MACHINES[machine].library
    check_native(wheel(tmp_path / "with.whl", library), library)
    without = wheel(tmp_path / "without.whl", f"{library}.a")
    with pytest.raises(SystemExit, match=r"without\.whl has no litefuse/kernels"):
        check_native(without, library)


def windows_library(*needed: str, machine: int = 0x8664) -> bytes:
    """A library for Windows that needs others: headers, and a section with a table of these."""
    names = b"".join(name.encode() + b"\0" for name in needed)
    # A descriptor of 20 bytes for each and an empty one, then one list of what is imported for all of them.
    imported = 0x1000 + 20 * (len(needed) + 1)
    table, at = b"", imported + 16
    for name in needed:
        table += struct.pack("<5I", imported, 0, 0, at, imported)
        at += len(name) + 1
    table += bytes(20) + struct.pack("<2Q", 1 << 63 | 1, 0) + names
    file = struct.pack("<2H3I2H", machine, 1, 0, 0, 0, 240, 0x2022)
    file += struct.pack("<H2B5IQ2I", 0x20B, 14, 0, 0, 0x200, 0, 0, 0x1000, 0x180000000, 0x1000, 0x200)
    file += struct.pack("<6H4I2H4Q2I", 6, 0, 0, 0, 6, 0, 0, 0x2000, 0x200, 0, 2, 0x160, 1, 1, 1, 1, 0, 16)
    file += struct.pack("<8x2I112x", 0x1000, 20 * (len(needed) + 1))
    file += struct.pack("<8s6I2HI", b".rdata", 0x200, 0x1000, 0x200, 0x200, 0, 0, 0, 0, 0x40000040)
    header = b"MZ".ljust(60, b"\0") + struct.pack("<I", 64) + b"PE\0\0" + file
    return header.ljust(0x200, b"\0") + table.ljust(0x200, b"\0")


def test_what_libraries_for_windows_need(tmp_path: Path) -> None:
    system = ("KERNEL32.dll", "api-ms-win-crt-heap-l1-1-0.dll")
    name = MACHINES["win_amd64"].library
    check_windows(wheel(tmp_path / "right.whl", name, windows_library(*system)))
    for content, problem in (
        (
            windows_library(*system, "libstdc++-6.dll"),
            r"litefuse_kernels\.dll needs libstdc\+\+-6\.dll, which",
        ),
        (windows_library(*system, machine=0xAA64), "is for another processor, 0xaa64"),
        (b"\x7fELF", r"litefuse_kernels\.dll is no library for Windows"),
    ):
        wrong = wheel(tmp_path / "wrong.whl", name, content)
        with pytest.raises(SystemExit, match=problem):
            check_windows(wrong)


def installed(folder: Path, name: str, size: int, bytecode: int) -> None:
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (folder / f"{name}.bin").write_bytes(b"0" * size)
    cached = f"__pycache__/{name}.{sys.implementation.cache_tag}.pyc"
    (folder / "__pycache__").mkdir(exist_ok=True)
    (folder / cached).write_bytes(b"0" * bytecode)
    (folder / f"{name}.py").touch()
    (info / "RECORD").write_text(f"{name}.bin,,\n{name}.py,,\n{info.name}/METADATA,,\nnowhere.py,,\n")


def test_sizes(tmp_path: Path) -> None:
    installed(tmp_path, "large_Package", 3_000_000, 200_000)
    installed(tmp_path, "small", 400_000, 0)
    installed(tmp_path, "pip", 9_000_000, 0)
    sizes = installed_sizes([tmp_path])
    assert [*sizes] == ["large-package", "small"]
    assert sizes["large-package"] == Size(
        3_000_000 + len("Metadata-Version: 2.1\nName: large_Package\nVersion: 1\n"), 200_000
    )
    assert table(sizes).splitlines() == [
        "| package | MB | bytecode |",
        "| --- | ---: | ---: |",
        "| large-package | 3.0 | 0.2 |",
        "| 1 others | 0.4 | 0.0 |",
        "| together | 3.4 | 0.2 |",
    ]
    check_limit(sizes, 3.5)
    with pytest.raises(SystemExit, match=r"3\.4 MB are installed, which is more than 3\.3 MB"):
        check_limit(sizes, 3.3)


def test_packages_and_interpreters_that_are_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        try_wheel.main([str(tmp_path / "none.whl")])
    assert "none.whl: there is no such file" in capsys.readouterr().err
    (tmp_path / "some.whl").touch()
    with pytest.raises(SystemExit, match=r"no-such-python is no interpreter"):
        try_wheel.main([str(tmp_path / "some.whl"), "no-such-python"])


def test_commands_that_fail(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="seen\n\nfailed: "):
        run(sys.executable, "-c", "print('seen'); raise SystemExit(3)")
    assert run_outside(sys.executable, "-c", "raise SystemExit(3)", code=3) == ""
    with pytest.raises(SystemExit, match="ended with 0, not 1"):
        run_outside(sys.executable, "-c", "", code=1)


@pytest.mark.parametrize("script", ["build_wheels", "try_wheel", "installed_size", "release"])
def test_scripts_say_what_they_take(script: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", f"scripts.{script}", "--help"], capture_output=True, text=True, check=True
    )
    assert "usage: " in done.stdout


def test_readme_has_absolute_links_in_the_description() -> None:
    hook = pyproject()["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]
    text = Path(__file__).parents[1].joinpath("README.md").read_text(encoding="utf-8")
    for each in hook["substitutions"]:
        text = re.sub(each["pattern"], each["replacement"].replace("$HFPR_VERSION", "1.2"), text)
    code = re.compile(r"^```.*?^```", flags=re.MULTILINE | re.DOTALL)
    found = re.findall(r"\]\(([^)\s]+)\)", code.sub("", text))
    assert len(found) > 20
    assert [link for link in found if not link.startswith("https://")] == []
    assert "![litefuse convert in a terminal" in text
    assert "https://raw.githubusercontent.com/litefuse/litefuse/v1.2/docs/demo.svg" in found
    assert "https://github.com/litefuse/litefuse/blob/v1.2/docs/guides/installing.md" in found


def test_python_versions_are_the_same_everywhere() -> None:
    prefix = "Programming Language :: Python :: 3."
    versions = [f"3.{each.removeprefix(prefix)}" for each in project()["classifiers"] if each.startswith(prefix)]
    assert versions == ["3.10", "3.11", "3.12", "3.13", "3.14"]
    assert project()["requires-python"] == f">={versions[0]}"
    workflows = Path(__file__).parents[1] / ".github" / "workflows"
    quoted = ", ".join(f'"{each}"' for each in versions)
    for name in ("ci.yml", "release.yml"):
        assert f"python: [{quoted}]" in (workflows / name).read_text(encoding="utf-8")


def test_the_page_lists_the_extras() -> None:
    text = (Path(__file__).parents[1] / "docs" / "guides" / "installing.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`[^|]*`) \|", text.partition("## Extras")[2], flags=re.MULTILINE)
    listed = {name for row in rows for name in re.findall(r"`([\w-]+)`", row)}
    assert listed == {*project()["optional-dependencies"]} - {"test", "bench"}
