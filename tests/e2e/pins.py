"""Which programs the end-to-end tests run, and from which pinned module each one comes.

The versions themselves stand in the `go.mod` files under `components/` and nowhere else. The environment variable
`E2E_KUBERNETES` chooses the minor version of Kubernetes.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

COMPONENTS_FOLDER = Path(__file__).parent / "components"
BUILD_FLAGS = ("-trimpath", "-buildvcs=false")


@dataclass(frozen=True, slots=True)
class Program:
    """One binary: its file name in the cache and on `PATH`, and the package it is built from."""

    name: str
    package: str
    module: str
    """The module whose pinned version is this program's version."""
    asks_version: tuple[str, ...] = ()
    """Arguments that print the version; empty when the program cannot tell, so that only our own build is trusted."""


@dataclass(frozen=True, slots=True)
class Pins:
    """One Go module of `components/`: programs that are built from the same dependencies."""

    name: str
    programs: tuple[Program, ...]
    stamps: Mapping[str, str] = field(default_factory=dict)
    """Go variable → module whose version it must hold: an unstamped API server calls itself v0.0.0."""
    definitions: tuple[str, ...] = ()
    """Folders of custom resource definitions inside the programs' module."""
    components: Path = COMPONENTS_FOLDER
    """Where the folder with this name is."""

    @property
    def folder(self) -> Path:
        """The folder with `go.mod` and `go.sum`."""
        return self.components / self.name

    @property
    def link_flags(self) -> str:
        """The value of `-ldflags`: no debug tables, and the versions stamped in."""
        return " ".join(["-s -w", *(f"-X {stamp}" for stamp in self._stamp_values())])

    def version(self, module: str) -> str:
        """The pinned version of `module` with its leading `v`; raises KeyError for a module that is not required."""
        return _required_versions(self.folder)[module]

    def digest(self) -> str:
        """Names the cache folder: changes with every pin, build flag and machine type."""
        facts = hashlib.sha256()
        for file in ("go.mod", "go.sum"):
            facts.update((self.folder / file).read_bytes())
        build = (BUILD_FLAGS, self.link_flags, self.programs, platform.system(), platform.machine())
        facts.update(repr(build).encode())
        return facts.hexdigest()[:16]

    def _stamp_values(self) -> list[str]:
        values = []
        for variable, module in self.stamps.items():
            version = self.version(module)
            major, minor = version.removeprefix("v").split(".")[:2]
            part = {"gitMajor": major, "gitMinor": minor}.get(variable.rpartition(".")[2], version)
            values.append(f"{variable}={part}")
        return values


@cache
def _required_versions(folder: Path) -> dict[str, str]:
    lines = re.findall(r"^\s*(?:require )?(\S+) (v\S+)", (folder / "go.mod").read_text(), re.MULTILINE)
    return dict(lines)


_KUBERNETES = "k8s.io/kubernetes"
_ETCD = "go.etcd.io/etcd/server/v3"
_KWOK = "sigs.k8s.io/kwok"
_DESCHEDULER = "sigs.k8s.io/descheduler"
_KOORDINATOR = "github.com/koordinator-sh/koordinator"
_VOLCANO = "volcano.sh/volcano"


def _kubernetes_program(name: str) -> Program:
    return Program(name, f"{_KUBERNETES}/cmd/{name}", _KUBERNETES, ("--version",))


def _control_plane(name: str) -> Pins:
    programs = (
        Program("etcd", _ETCD, _ETCD, ("--version",)),
        _kubernetes_program("kube-apiserver"),
        _kubernetes_program("kube-controller-manager"),
        _kubernetes_program("kube-scheduler"),
        Program("kwok", f"{_KWOK}/cmd/kwok", _KWOK, ("--version",)),
    )
    stamped = ("gitVersion", "gitMajor", "gitMinor")
    return Pins(name, programs, stamps={f"k8s.io/component-base/version.{each}": _KUBERNETES for each in stamped})


CONTROL_PLANES = {"1.36": _control_plane("control-plane"), "1.37": _control_plane("control-plane-1.37")}
"""Minor version of Kubernetes → its control plane."""


def control_plane(environment: Mapping[str, str]) -> Pins:
    """The control plane that `E2E_KUBERNETES` names, the first of the table without it.

    Raises ValueError for a version that is not pinned.
    """
    version = environment.get("E2E_KUBERNETES") or next(iter(CONTROL_PLANES))
    if version not in CONTROL_PLANES:
        raise ValueError(f"E2E_KUBERNETES={version}: pinned are {', '.join(CONTROL_PLANES)}")
    return CONTROL_PLANES[version]


CONTROL_PLANE = control_plane(os.environ)
PEERS = (
    Pins(
        "descheduler",
        (Program("descheduler", f"{_DESCHEDULER}/cmd/descheduler", _DESCHEDULER),),
        stamps={f"{_DESCHEDULER}/pkg/version.version": _DESCHEDULER},
    ),
    Pins(
        "koordinator",
        (
            Program("koord-scheduler", f"{_KOORDINATOR}/cmd/koord-scheduler", _KOORDINATOR),
            Program("koord-descheduler", f"{_KOORDINATOR}/cmd/koord-descheduler", _KOORDINATOR),
        ),
        definitions=("config/crd/bases",),
    ),
    Pins(
        "volcano",
        (
            Program("volcano-scheduler", f"{_VOLCANO}/cmd/scheduler", _VOLCANO),
            Program("volcano-controller-manager", f"{_VOLCANO}/cmd/controller-manager", _VOLCANO),
        ),
        # Without the job flow definitions the controllers wait for their caches for ever.
        definitions=("config/crd/volcano/bases", "config/crd/jobflow/bases"),
    ),
)
