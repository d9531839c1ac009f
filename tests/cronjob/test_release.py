"""The files of a release: what is in them, that they fit together, and when there are none."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from descheduler.version import VERSION
from tests.cronjob.manifests import CRONJOB, REPOSITORY

URL = "https://downloads.example.com/descheduler"
SCRIPT = CRONJOB / "release" / "make_release.py"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The program that makes releases, which is no package."""
    spec = importlib.util.spec_from_file_location("make_release", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def locked() -> dict[str, str]:
    """Package → version in the image's lock."""
    return dict(re.findall(r"^(\S+)==(\S+) \\$", (CRONJOB / "requirements.txt").read_text(), re.MULTILINE))


def test_bill_of_materials_has_every_package_of_the_image_with_its_hashes(program: ModuleType) -> None:
    bill: Any = program.bill_of_materials((CRONJOB / "requirements.txt").read_text(), VERSION)

    assert {each["name"]: each["version"] for each in bill["components"]} == locked()
    assert all(each["hashes"] for each in bill["components"])
    (numpy,) = (each for each in bill["components"] if each["name"] == "numpy")
    assert numpy["purl"] == f"pkg:pypi/numpy@{locked()['numpy']}"
    assert bill["dependencies"][0]["dependsOn"] == [each["bom-ref"] for each in bill["components"]]


def test_chart_is_packed_as_it_is_and_twice_the_same(program: ModuleType, tmp_path: Path) -> None:
    chart = CRONJOB / "chart"
    for name in ("a.tgz", "b.tgz"):
        program.write_chart(chart, tmp_path / name, URL, VERSION)

    with tarfile.open(tmp_path / "a.tgz") as archive:
        packed = {entry.name: extracted.read() for entry in archive if (extracted := archive.extractfile(entry))}
    about = packed.pop("descheduler/Chart.yaml")
    assert about.startswith((chart / "Chart.yaml").read_bytes())
    assert packed == {
        f"descheduler/{file.relative_to(chart)}": file.read_bytes()
        for file in chart.rglob("*")
        if file.is_file() and file.name != "Chart.yaml"
    }
    addresses = {key: value for key, value in yaml.safe_load(about).items() if key in ("home", "sources", "icon")}
    assert addresses == {
        "home": URL,
        "sources": [f"{URL}/{VERSION}/descheduler-{VERSION}.tar.gz"],
        "icon": f"{URL}/{VERSION}/descheduler.svg",
    }
    assert (tmp_path / "a.tgz").read_bytes() == (tmp_path / "b.tgz").read_bytes()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the files that say the version."""
    for name in (
        "descheduler/version.py",
        "cronjob/chart/Chart.yaml",
        "cronjob/Dockerfile",
        "cronjob/base/cronjob.yaml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(REPOSITORY / name, tmp_path / name)
    (tmp_path / "CHANGELOG.md").write_text(f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}]\n")
    return tmp_path


@pytest.mark.parametrize(
    ("version", "url", "message"),
    [
        ("0.1", URL, "'0.1' is not a version such as 0.2.0"),
        ("v0.1.0", URL, "'v0.1.0' is not a version such as 0.2.0"),
        (VERSION, "http://x", "'http://x' is not a URL such as https://"),
        (VERSION, 'https://x/"; rm', "is not a URL such as https://"),
    ],
)
def test_wrong_arguments_are_named(program: ModuleType, copy: Path, version: str, url: str, message: str) -> None:
    with pytest.raises(program.ReleaseError, match=re.escape(message)):
        program.make_release(version, url, copy)


def test_each_file_with_another_version_is_named_before_anything_is_made(program: ModuleType, copy: Path) -> None:
    chart = copy / "cronjob" / "chart" / "Chart.yaml"
    chart.write_text(chart.read_text().replace(VERSION, "9.9.9"))
    (copy / "CHANGELOG.md").write_text("# Changelog\n\n## [Unreleased]\n")

    with pytest.raises(program.ReleaseError) as raised:
        program.make_release(VERSION, URL, copy)

    assert str(raised.value) == (
        f"write {VERSION} into these files first: cronjob/chart/Chart.yaml has 9.9.9; CHANGELOG.md has no version"
    )
    assert not (copy / "build").exists()


@pytest.fixture(scope="module")
def release(program: ModuleType) -> Iterator[Path]:
    """The files of a release of this tree."""
    folder = program.make_release(VERSION, URL)
    yield folder
    shutil.rmtree(folder)


@pytest.mark.render
def test_manifests_and_sums_name_the_files_that_are_there(release: Path) -> None:
    lines = [line.split("  ") for line in (release / "SHA256SUMS").read_text().splitlines()]
    sums = {name: digest for digest, name in lines}
    assert sums == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in release.iterdir()
        if file.name != "SHA256SUMS"
    }

    (platform,) = yaml.safe_load((release / "deschedule.yaml").read_text())["spec"]["platforms"]
    launcher = platform["uri"].removeprefix(f"{URL}/{VERSION}/")
    assert platform["sha256"] == sums[launcher]

    formula = (release / "descheduler.rb").read_text()
    (wheel,) = re.findall(rf'url "{re.escape(URL)}/{VERSION}/([^"]+)"', formula)
    assert f'sha256 "{sums[wheel]}"' in formula
    assert "$" not in re.sub(r"#\{[^}]*\}", "", formula)


@pytest.mark.render
def test_wheel_runs_in_a_clean_environment_and_the_launcher_starts_it(release: Path, tmp_path: Path) -> None:
    (wheel,) = release.glob("*.whl")
    venv.create(tmp_path / "venv", with_pip=True)
    programs, clean = tmp_path / "venv" / "bin", {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    # Most modules of the packages are never loaded, and to compile all of them takes as long as to install them.
    pip = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-compile", "--only-binary", ":all:"]
    subprocess.run([*pip, "--constraint", _constraints(tmp_path), str(wheel)], check=True, env=clean)
    with tarfile.open(next(release.glob("kubectl-deschedule-*.tar.gz"))) as archive:
        archive.extractall(tmp_path, filter="data")
    started = [str(tmp_path / "kubectl-deschedule"), "version"]

    without = subprocess.run(started, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=False)
    ended = subprocess.run(
        started, env={"PATH": f"{programs}:/usr/bin:/bin"}, capture_output=True, text=True, check=True
    )

    assert (without.returncode, f"pipx install {wheel.name}" in without.stderr) == (127, True)
    assert VERSION in ended.stdout
    sample = REPOSITORY / "config"
    flags = ["--config", str(sample / "policy.yaml"), "--snapshot", str(sample / "samples" / "shop.jsonl.gz")]
    run = [str(programs / "descheduler"), "run", *flags, "-o", "html"]
    shown = subprocess.run(run, env=clean, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert shown.stdout.startswith("<!doctype html>")


def _constraints(folder: Path) -> str:
    file = folder / "constraints.txt"
    file.write_text("".join(f"{name}=={version}\n" for name, version in locked().items()))
    return str(file)


def test_command_without_arguments_shows_its_usage() -> None:
    ended = subprocess.run([sys.executable, SCRIPT], capture_output=True, text=True, check=False)

    assert (ended.returncode, ended.stderr.startswith("usage: make release VERSION=")) == (2, True)
