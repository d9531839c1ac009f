"""Builds the image with what is there of docker, podman and buildah, and runs it as the manifests would have it run."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from subprocess import CompletedProcess
from typing import Protocol

from tests.cronjob.manifests import CRONJOB, REPOSITORY
from tests.e2e.image.container import Container

DOCKERFILE = CRONJOB / "Dockerfile"
IMAGE = "localhost/descheduler:image-test"

_BUILD_SECONDS = 1200.0
_PULL_SECONDS = 300.0
_RUN_SECONDS = 300.0

_SANDBOX = ("unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation=private")


class Engine(Protocol):
    """One way to build, look into and run `IMAGE`."""

    def has(self, image: str) -> bool:
        """Whether the image is in the engine's store, or can be got from a registry."""

    def import_root(self, folder: Path, image: str) -> None:
        """Makes an image of a file system."""

    def build(self, base: str, secrets: Mapping[str, Path]) -> None:
        """Builds `IMAGE` by the Dockerfile, on top of `base`. Raises CalledProcessError."""

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """The file system of `IMAGE` as a folder; runs are started while it is open."""

    def run(self, container: Container) -> CompletedProcess[str]:
        """A run from its start to its end, on this machine's own network."""


def find_engine(store: Path) -> Engine | None:
    """The first that works here; None when there is none. Buildah keeps its images in `store`."""
    if shutil.which("docker") and _succeeds("docker", "info"):
        return CommandLineEngine("docker")
    if shutil.which("buildah") and os.geteuid() == 0:
        return Buildah(store)
    if shutil.which("podman") and _succeeds("podman", "info"):
        return CommandLineEngine("podman")
    return None


class CommandLineEngine:
    """docker or podman, whose command lines are alike."""

    def __init__(self, program: str) -> None:
        self._program = program

    def has(self, image: str) -> bool:
        """See `Engine`."""
        return _succeeds(self._program, "image", "inspect", image) or _succeeds(self._program, "pull", image)

    def import_root(self, folder: Path, image: str) -> None:
        """See `Engine`."""
        with subprocess.Popen(["tar", "-C", str(folder), "-c", "."], stdout=subprocess.PIPE) as packed:
            subprocess.run([self._program, "import", "-", image], stdin=packed.stdout, check=True)

    def build(self, base: str, secrets: Mapping[str, Path]) -> None:
        """See `Engine`."""
        command = [self._program, "build", "--network=host", *_build_flags(base, secrets)]
        subprocess.run(
            command, cwd=REPOSITORY, env={**os.environ, "DOCKER_BUILDKIT": "1"}, timeout=_BUILD_SECONDS, check=True
        )

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """See `Engine`."""
        name = self._output("create", IMAGE)
        try:
            with tempfile.TemporaryDirectory() as folder:
                with subprocess.Popen([self._program, "export", name], stdout=subprocess.PIPE) as packed:
                    subprocess.run(["tar", "-C", folder, "-x"], stdin=packed.stdout, check=True)
                yield Path(folder)
        finally:
            self._output("rm", name)

    def run(self, container: Container) -> CompletedProcess[str]:
        """See `Engine`."""
        flags = ["--rm", "--network=host", "--read-only", f"--user={container.user}", "--cap-drop=ALL"]
        flags += ["--security-opt=no-new-privileges"]
        flags += ["--read-only-tmpfs=false"] * (self._program == "podman")  # else /tmp can be written, unlike in a pod
        flags += [f"--env={name}={value}" for name, value in container.environment.items()]
        flags += [f"--volume={source}:{target}:ro" for target, source in container.mounts.items()]
        if container.command is None:
            return _ran([self._program, "run", *flags, IMAGE, *container.arguments])
        first, *rest = container.command
        return _ran([self._program, "run", *flags, f"--entrypoint={first}", IMAGE, *rest, *container.arguments])

    def _output(self, *arguments: str) -> str:
        return subprocess.run([self._program, *arguments], capture_output=True, text=True, check=True).stdout.strip()


class Buildah:
    """buildah without a daemon or an OCI runtime, as root: isolation `chroot`, storage driver `vfs`.

    That isolation has no read-only root, so a run is started here the way runc starts one: in namespaces of mounts and
    processes of its own the root is bound over itself, /proc, /dev and the volumes are put into it, and it is made
    read-only; then the program becomes user and group of the pod, without supplementary groups, which takes all
    capabilities from it, and without a way to new ones.
    """

    def __init__(self, store: Path) -> None:
        state = ["--root", str(store / "storage"), "--runroot", str(store / "run")]
        self._command = ["buildah", "--storage-driver=vfs", *state]
        self._root = Path()

    def has(self, image: str) -> bool:
        """See `Engine`."""
        return _succeeds(*self._command, "inspect", "--type=image", image) or _succeeds(*self._command, "pull", image)

    def import_root(self, folder: Path, image: str) -> None:
        """See `Engine`."""
        name = self._output("from", "scratch")
        mounted = Path(self._output("mount", name))
        subprocess.run(["cp", "--archive", f"{folder}/.", str(mounted)], check=True)
        self._output("commit", "--quiet", "--rm", name, image)

    def build(self, base: str, secrets: Mapping[str, Path]) -> None:
        """See `Engine`."""
        flags = ["--isolation=chroot", "--layers=false", f"--ignorefile={DOCKERFILE}.dockerignore"]
        command = [*self._command, "build", *flags, *_build_flags(base, secrets)]
        subprocess.run(command, cwd=REPOSITORY, timeout=_BUILD_SECONDS, check=True)
        self._output("rmi", "--prune")  # what the tag stood for before

    @contextmanager
    def opened(self) -> Iterator[Path]:
        """See `Engine`."""
        name = self._output("from", IMAGE)
        try:
            self._root = Path(self._output("mount", name))
            yield self._root
        finally:
            self._output("rm", name)

    def run(self, container: Container) -> CompletedProcess[str]:
        """See `Engine`."""
        config = json.loads(self._output("inspect", "--type=image", IMAGE))["OCIv1"]["config"]
        started = [*(container.command or config["Entrypoint"]), *container.arguments]
        environment = [*config["Env"], *(f"{name}={value}" for name, value in container.environment.items())]
        return _ran([*_SANDBOX, "sh", "-euc", _start_script(self._root, container, environment, started)])

    def _output(self, *arguments: str) -> str:
        return subprocess.run([*self._command, *arguments], capture_output=True, text=True, check=True).stdout.strip()


def _start_script(root: Path, container: Container, environment: Sequence[str], started: Sequence[str]) -> str:
    """Shell commands that end in the program itself."""
    commands: list[list[str]] = [["mount", "--bind", str(root), str(root)]]
    commands += [["mkdir", "-p", f"{root}/{name}"] for name in ("proc", "dev")]
    commands += [["mount", "-t", "proc", "proc", f"{root}/proc"], ["mount", "--rbind", "/dev", f"{root}/dev"]]
    for place, source in container.mounts.items():
        commands += [["mkdir", "-p", f"{root}{place}"], ["mount", "--bind", str(source), f"{root}{place}"]]
        commands += [["mount", "-o", "remount,bind,ro", f"{root}{place}"]]
    commands += [["mount", "-o", "remount,bind,ro", str(root)]]
    privileges = [_tool("setpriv"), "--no-new-privs", _tool("chroot"), f"--userspec={container.user}", "--groups="]
    commands += [["exec", "env", "-i", *environment, *privileges, str(root), *started]]
    return "\n".join(map(shlex.join, commands))


def _tool(name: str) -> str:
    """The path of a program of this machine, for an environment without its PATH."""
    found = shutil.which(name)
    assert found is not None, f"{name} is not in PATH"
    return found


def _build_flags(base: str, secrets: Mapping[str, Path]) -> list[str]:
    given = [f"--secret=id={name},src={file}" for name, file in secrets.items()]
    return [f"--file={DOCKERFILE}", f"--build-arg=PYTHON_IMAGE={base}", *given, f"--tag={IMAGE}", "."]


def _ran(command: Sequence[str]) -> CompletedProcess[str]:
    return subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_RUN_SECONDS, check=False
    )


def _succeeds(*command: str) -> bool:
    try:
        return subprocess.run(command, capture_output=True, timeout=_PULL_SECONDS, check=False).returncode == 0
    except subprocess.TimeoutExpired:
        return False
