"""Where the programs come from: what is installed, the cache, or a build."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.e2e.binaries import BinariesMissingError, cache_root, resolve
from tests.e2e.pins import CONTROL_PLANES, Pins, control_plane

_ETCD = Pins("control-plane", control_plane({}).programs[:1])


@pytest.fixture
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no Go, and a `PATH` that is the returned, empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("KUBEBUILDER_ASSETS", raising=False)
    return folder


def test_installed_program_of_the_pinned_version_is_taken(bare_machine: Path) -> None:
    etcd = _install(bare_machine, "etcd", _ETCD.version("go.etcd.io/etcd/server/v3").removeprefix("v"))

    binaries = resolve([_ETCD])

    assert binaries["etcd"] == etcd


def test_assets_folder_comes_before_the_path(
    bare_machine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = _ETCD.version("go.etcd.io/etcd/server/v3").removeprefix("v")
    _install(bare_machine, "etcd", version)
    assets = tmp_path / "assets"
    assets.mkdir()
    etcd = _install(assets, "etcd", version)
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(assets))

    binaries = resolve([_ETCD])

    assert binaries["etcd"] == etcd


def test_installed_program_of_another_version_is_passed_over_and_the_way_out_is_one_line(bare_machine: Path) -> None:
    _install(bare_machine, "etcd", "3.4.30")

    with pytest.raises(BinariesMissingError) as missing:
        resolve([_ETCD])

    assert str(missing.value) == (
        f"e2e: etcd {_ETCD.version('go.etcd.io/etcd/server/v3')} is not in KUBEBUILDER_ASSETS, PATH or {cache_root()}, "
        "and there is no go to build it: install Go 1.26 or newer"
    )


def test_cached_program_needs_no_go(bare_machine: Path) -> None:
    cached = cache_root() / f"{_ETCD.name}-{_ETCD.digest()}" / "bin"
    cached.mkdir(parents=True)
    etcd = _install(cached, "etcd", "irrelevant")

    binaries = resolve([_ETCD])

    assert binaries["etcd"] == etcd


@pytest.mark.parametrize("minor", CONTROL_PLANES)
def test_all_modules_of_kubernetes_are_of_the_version_that_is_chosen(minor: str) -> None:
    pins = control_plane({"E2E_KUBERNETES": minor})

    parts = re.findall(r"^\tk8s.io/\S+ => k8s.io/\S+ (v\S+)$", (pins.folder / "go.mod").read_text(), re.MULTILINE)
    assert {*parts} == {pins.version("k8s.io/kubernetes").replace("v1.", "v0.", 1)}
    assert pins.version("k8s.io/kubernetes").startswith(f"v{minor}.")


def test_version_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(ValueError, match=re.escape("E2E_KUBERNETES=1.30: pinned are 1.36, 1.37")):
        control_plane({"E2E_KUBERNETES": "1.30"})


def _install(folder: Path, name: str, version: str) -> Path:
    program = folder / name
    program.write_text(f"#!/bin/sh\necho '{name} Version: {version}'\n")
    program.chmod(0o755)
    return program
