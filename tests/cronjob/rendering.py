"""kustomize and helm, of the versions pinned in `tools/go.mod`, as functions from the tree to documents."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from tests.cronjob.manifests import CHART, Manifest, documents
from tests.e2e.binaries import resolve
from tests.e2e.pins import Pins, Program

RELEASE = "descheduler"
RELEASE_NAMESPACE = "descheduling"

# A helm that was not built by its own makefile takes itself for one of Kubernetes 1.20.
_KUBERNETES_VERSION = "1.36.0"
_HELM, _KUSTOMIZE = "helm.sh/helm/v3", "sigs.k8s.io/kustomize/kustomize/v5"

TOOLS = Pins(
    "tools",
    (
        Program("helm", f"{_HELM}/cmd/helm", _HELM, ("version", "--template={{.Version}}")),
        Program("kustomize", _KUSTOMIZE, _KUSTOMIZE, ("version",)),
    ),
    components=Path(__file__).parent,
)


class RenderError(Exception):
    """The tool refused; the message is what it said."""


@dataclass(frozen=True, slots=True)
class Kustomize:
    """`kustomize build`."""

    binary: Path

    def build(self, folder: Path) -> list[Manifest]:
        """The manifests of a kustomization."""
        return documents(_run(self.binary, "build", str(folder)))


@dataclass(frozen=True, slots=True)
class Helm:
    """`helm` on the chart; `home` is an empty folder that stands for the user's own settings."""

    binary: Path
    home: Path

    def template(self, values: str = "", *flags: str, release: str = RELEASE) -> list[Manifest]:
        """The manifests of a release with these values, in YAML. Raises RenderError when the chart refuses them."""
        return documents(self._run("template", *_release(CHART, release), *self._values(values), *flags))

    def notes(self, values: str = "") -> str:
        """What the user reads after an installation with these values.

        Only an installation shows notes, and even a dry one asks a cluster first: so a copy of the chart has them as
        the one manifest that it renders.
        """
        copy = self.home / "chart"
        shutil.copytree(CHART, copy, dirs_exist_ok=True)
        notes = (copy / "templates" / "NOTES.txt").read_text()
        (copy / "templates" / "_notes.tpl").write_text(f'{{{{ define "notes" }}}}{notes}{{{{ end }}}}')
        (copy / "templates" / "notes.yaml").write_text('notes: {{ include "notes" . | toJson }}')
        answer = self._run("template", *_release(copy), *self._values(values), "--show-only=templates/notes.yaml")
        found: str = yaml.safe_load(answer)["notes"]
        return found

    def lint(self) -> str:
        """What helm has to say of the chart. Raises RenderError for an error or a warning."""
        return self._run("lint", str(CHART), "--strict", f"--kube-version={_KUBERNETES_VERSION}")

    def _values(self, values: str) -> list[str]:
        file = self.home / "values.yaml"
        file.write_text(values)
        return [f"--values={file}"]

    def _run(self, *arguments: str) -> str:
        return _run(self.binary, *arguments, home=self.home)


def _release(chart: Path, name: str = RELEASE) -> list[str]:
    return [name, str(chart), f"--namespace={RELEASE_NAMESPACE}", f"--kube-version={_KUBERNETES_VERSION}"]


def _run(binary: Path, *arguments: str, home: Path | None = None) -> str:
    environment = {"HOME": str(home)} if home else {}
    done = subprocess.run(
        [str(binary), *arguments], env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode != 0:
        raise RenderError(done.stderr + done.stdout)
    return done.stdout


@pytest.fixture(scope="session")
def kustomize() -> Kustomize:
    """The pinned kustomize, built when it is needed for the first time."""
    return Kustomize(resolve([TOOLS])["kustomize"])


@pytest.fixture(scope="session")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    """The pinned helm, built when it is needed for the first time."""
    return Helm(resolve([TOOLS])["helm"], tmp_path_factory.mktemp("helm"))
