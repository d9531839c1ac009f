"""The image: who runs in it, what starts, and that everything in it is pinned."""

from __future__ import annotations

import json
import operator
import os
import re
import shutil
import subprocess
import tomllib
from functools import reduce
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.cronjob.manifests import CRONJOB, REPOSITORY


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments, continued lines joined."""
    lines = [line for line in (CRONJOB / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined if line)]


def last_stage() -> dict[str, str]:
    """Instruction → its last argument in the stage that becomes the image."""
    found: dict[str, str] = {}
    for word, rest in instructions():
        found = {word: rest} if word == "FROM" else found | {word: rest}
    return found


def locked(name: str) -> dict[str, str]:
    """Package → version in a lock."""
    return dict(re.findall(r"^(\S+)==(\S+) \\$", (CRONJOB / name).read_text(), re.MULTILINE))


def test_image_is_built_in_one_stage_and_starts_from_nothing_in_another() -> None:
    bases = [rest for word, rest in instructions() if word == "FROM"]

    assert bases == ["${PYTHON_IMAGE} AS builder", "scratch"]


def test_base_image_is_a_slim_python_named_by_tag_and_digest() -> None:
    argument = dict(instructions()[:1])["ARG"]

    assert re.fullmatch(r"PYTHON_IMAGE=python:3\.\d+[\w.-]*-slim[\w.-]*@sha256:[0-9a-f]{64}", argument)


def test_program_runs_as_nobody_without_a_shell() -> None:
    stage = last_stage()

    assert stage["USER"] == "65532:65532"
    assert json.loads(stage["ENTRYPOINT"]) == ["/bin/descheduler"]
    assert json.loads(stage["CMD"]) == ["--help"]


def test_build_context_holds_what_is_copied() -> None:
    ignored = (CRONJOB / "Dockerfile.dockerignore").read_text().splitlines()
    copied = [
        source
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]

    assert [source for source in copied if not (REPOSITORY / source).exists()] == []
    assert sorted(f"!{source}" for source in copied) == sorted(line for line in ignored if line.startswith("!"))


@pytest.mark.parametrize(
    ("lock", "keys"),
    [
        pytest.param("requirements.txt", ("project", "dependencies"), id="what the program needs"),
        pytest.param("requirements.txt", ("project", "optional-dependencies", "otlp"), id="what traces need"),
        pytest.param("requirements-build.txt", ("build-system", "requires"), id="what building it needs"),
    ],
)
def test_lock_holds_a_fitting_version_of(lock: str, keys: tuple[str, ...]) -> None:
    wanted = reduce(operator.getitem, keys, tomllib.loads((REPOSITORY / "pyproject.toml").read_text()))
    versions = locked(lock)

    unmet = [
        text
        for text in wanted
        if not (need := Requirement(text)).specifier.contains(versions.get(canonicalize_name(need.name), "0"))
    ]

    assert unmet == []


@pytest.mark.parametrize(
    "lock",
    [CRONJOB / "requirements.txt", CRONJOB / "requirements-build.txt", REPOSITORY / "requirements-dev.lock"],
    ids=["image", "build", "development"],
)
def test_every_package_of_a_lock_has_a_version_and_a_hash(lock: Path) -> None:
    entries = [entry for entry in re.split(r"\n(?=\S)", lock.read_text()) if not entry.startswith("#")]

    loose = [entry for entry in entries if not re.match(r"\S+==\S+ \\\n +--hash=sha256:[0-9a-f]{64}\b", entry)]

    assert entries
    assert loose == []


def test_whatever_is_installed_is_checked_against_its_hash() -> None:
    """Our own package apart, which is no download."""
    commands = [rest for word, rest in instructions() if word == "RUN"] + (
        REPOSITORY / "Makefile"
    ).read_text().splitlines()

    installs = [part for line in commands for part in line.split("&&") if re.search(r"\bpip\b.* install\b", part)]

    assert [part for part in installs if "--require-hashes" not in part and "--no-deps" not in part] == []
    assert sum("--require-hashes" in part for part in installs) == 3


def renew(folder: Path, answer: str) -> tuple[int, str]:
    """The exit code of `make base-image` where the registry gives `answer`, and the Dockerfile that it leaves."""
    (folder / "cronjob").mkdir()
    for name in ("Makefile", "cronjob/Dockerfile"):
        shutil.copy(REPOSITORY / name, folder / name)
    docker = folder / "docker"
    docker.write_text(f'#!/bin/sh\ntest "$4" = python:3.11-slim-bookworm && {answer}\n')
    docker.chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    done = subprocess.run(["make", "base-image"], cwd=folder, env={"PATH": path}, capture_output=True, check=False)
    assert sorted(file.name for file in (folder / "cronjob").iterdir()) == ["Dockerfile"]
    return done.returncode, (folder / "cronjob" / "Dockerfile").read_text()


def test_digest_of_the_base_image_is_renewed_by_make(tmp_path: Path) -> None:
    code, renewed = renew(tmp_path, f"echo sha256:{'0' * 64}")

    before = (CRONJOB / "Dockerfile").read_text()
    assert (code, renewed) == (0, re.sub(r"(?<=@sha256:)[0-9a-f]{64}", "0" * 64, before))
    assert renewed != before


@pytest.mark.parametrize("answer", [pytest.param("exit 1", id="no answer"), pytest.param("echo none", id="another")])
def test_digest_stays_where_the_registry_does_not_tell_it(tmp_path: Path, answer: str) -> None:
    code, left = renew(tmp_path, answer)

    assert (code != 0, left) == (True, (CRONJOB / "Dockerfile").read_text())


def test_page_of_the_image_says_how_to_renew_the_base_image() -> None:
    page = (CRONJOB / "README.md").read_text()

    assert "make base-image" in page
    assert "--build-arg PYTHON_IMAGE=" in page
