"""Finds or builds the programs of the end-to-end tests: `python -m tests.e2e.binaries [--peers]`.

A program of the pinned version in `KUBEBUILDER_ASSETS` or on `PATH` is taken as it is. The others are built once by the
Go tool chain and kept in `$XDG_CACHE_HOME/descheduler-e2e/<pins>-<digest>`, outside the tree.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.e2e.pins import BUILD_FLAGS, CONTROL_PLANE, PEERS, Pins, Program

_NICENESS = 10
_LOG_LINES_SHOWN = 15


class BinariesMissingError(Exception):
    """A program is neither there nor can it be built; the message is one line."""


@dataclass(frozen=True, slots=True)
class Binaries:
    """Where the programs of one or more pins are."""

    paths: Mapping[str, Path]
    definitions: Mapping[str, Path]
    """Pins name → folder with its custom resource definitions as YAML files."""

    def __getitem__(self, program: str) -> Path:
        return self.paths[program]


def resolve(pins: Sequence[Pins], say: Callable[[str], None] = lambda _line: None) -> Binaries:
    """Paths of all programs of `pins`, after building what is missing; `say` hears what was done and how long it took.

    Raises BinariesMissingError when something must be built and there is no Go, or the build fails.
    """
    paths: dict[str, Path] = {}
    definitions: dict[str, Path] = {}
    for group in pins:
        folder = cache_root() / f"{group.name}-{group.digest()}"
        for program in group.programs:
            paths[program.name] = _installed(program, group) or _cached(program, group, folder, say)
        if group.definitions:
            definitions[group.name] = _cached_definitions(group, folder)
    return Binaries(paths, definitions)


def cache_root() -> Path:
    """The folder that outlives checkouts: `$XDG_CACHE_HOME/descheduler-e2e`, or below `~/.cache`."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "descheduler-e2e"


def _installed(program: Program, pins: Pins) -> Path | None:
    if not program.asks_version:
        return None
    places = os.pathsep.join(filter(None, (os.environ.get("KUBEBUILDER_ASSETS"), os.environ.get("PATH"))))
    found = shutil.which(program.name, path=places)
    if found is None:
        return None
    wanted = pins.version(program.module).removeprefix("v")
    answer = subprocess.run([found, *program.asks_version], capture_output=True, text=True, timeout=60, check=False)
    words = (answer.stdout + answer.stderr).replace("(", " ").replace(",", " ").split()
    return Path(found) if wanted in {word.removeprefix("v") for word in words} else None


def _cached(program: Program, pins: Pins, folder: Path, say: Callable[[str], None]) -> Path:
    binary = folder / "bin" / program.name
    if binary.exists():
        return binary
    with _locked(folder):
        if not binary.exists():  # another run may have built it while this one waited for the lock
            started = time.monotonic()
            _build(program, pins, binary)
            say(f"built {program.name} {pins.version(program.module)} in {time.monotonic() - started:.0f} s")
    return binary


def _build(program: Program, pins: Pins, binary: Path) -> None:
    go = _go(program, pins)
    binary.parent.mkdir(parents=True, exist_ok=True)
    unfinished = binary.with_suffix(".unfinished")
    command = [go, "build", *BUILD_FLAGS, "-ldflags", pins.link_flags, "-o", str(unfinished), program.package]
    done = subprocess.run(
        ["nice", "-n", str(_NICENESS), *command],
        cwd=pins.folder,
        env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        tail = " | ".join(done.stderr.strip().splitlines()[-_LOG_LINES_SHOWN:])
        raise BinariesMissingError(f"e2e: go build of {program.package} failed: {tail}")
    unfinished.replace(binary)


def _cached_definitions(pins: Pins, folder: Path) -> Path:
    target = folder / "definitions"
    if target.exists():
        return target
    with _locked(folder):
        if not target.exists():
            _copy_definitions(pins, target)
    return target


def _copy_definitions(pins: Pins, target: Path) -> None:
    first = pins.programs[0]
    command = [_go(first, pins), "mod", "download", first.module]
    subprocess.run(command, cwd=pins.folder, check=True)
    listed = subprocess.run(
        [command[0], "list", "-m", "-f", "{{.Dir}}", first.module],
        cwd=pins.folder,
        capture_output=True,
        text=True,
        check=True,
    )
    unfinished = target.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    for part in pins.definitions:
        for file in sorted((Path(listed.stdout.strip()) / part).glob("*.yaml")):
            (unfinished / file.name).write_bytes(file.read_bytes())  # not copied: the module cache is read only
    unfinished.replace(target)


def _go(program: Program, pins: Pins) -> str:
    go = shutil.which("go")
    if go is None:
        wanted = f"{program.name} {pins.version(program.module)}"
        raise BinariesMissingError(
            f"e2e: {wanted} is not in KUBEBUILDER_ASSETS, PATH or {cache_root()}, and there is no go to build it: "
            "install Go 1.26 or newer"
        )
    return go


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def main() -> None:
    """Builds what is missing and prints one line for each program; exits 1 with one line when that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.binaries", description=main.__doc__)
    parser.add_argument("--peers", action="store_true", help="also koordinator, volcano and the upstream descheduler")
    pins = (CONTROL_PLANE, *PEERS) if parser.parse_args().peers else (CONTROL_PLANE,)
    try:
        binaries = resolve(pins, say=lambda line: print(line, flush=True))
    except BinariesMissingError as error:
        sys.exit(str(error))
    for name, path in binaries.paths.items():
        print(f"{name}: {path}")


if __name__ == "__main__":
    main()
