"""A place to run the commands of a page: a folder that looks like a fresh clone, and a cluster that kubectl would find.

The cluster is the API server of the tests, with the objects of the shop; evictions there are harmless. `git clone` of
the address that pages show copies the folder.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile, TemporaryDirectory, TemporaryFile
from typing import TYPE_CHECKING

from docs.generator.sessions import Ended

if TYPE_CHECKING:
    from tests.integration.fake_api import FakeApi

_ROOT = Path(__file__).parents[2]
_LINKED = ("config", "cronjob", "Makefile", "pyproject.toml", "requirements-dev.lock")
_SAMPLE = _ROOT / "config" / "samples" / "shop.jsonl.gz"
_PORT = re.compile(r"\b(8080|8090)\b")
_MOST_SECONDS = 600
_LOG_LINE = re.compile(r"^[IWEF]\d{4} .*\n", re.MULTILINE)


@contextmanager
def workshop() -> Iterator[Callable[[str], Ended]]:
    """Gives a function that runs shell commands in the folder; what they leave there is there for the next."""
    from tests.integration.fake_api import FakeApi

    with TemporaryDirectory() as name, FakeApi() as api:
        _fill(api)
        with workshop_on(api.write_kubeconfig(Path(name) / "kubeconfig")) as run:
            yield run


@contextmanager
def workshop_on(kubeconfig: Path, *program_folders: Path) -> Iterator[Callable[[str], Ended]]:
    """The same on the cluster of this kubeconfig, with the programs of more folders."""
    with TemporaryDirectory() as name:
        folder = Path(name) / "descheduler"
        _furnish(folder)
        programs = os.pathsep.join(map(str, [folder / ".venv" / "bin", *program_folders, os.environ["PATH"]]))
        environ = {
            **os.environ,
            "PATH": programs,
            "PYTHONPATH": str(_ROOT),
            "KUBECONFIG": str(kubeconfig),
            "MAKEFLAGS": "",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            **_as_origin(folder),
        }
        shell = _Shell(folder, environ)
        yield shell.run


def _furnish(folder: Path) -> None:
    """What a clone has once `make setup` has run: that the lock can be installed is for `make setup` itself to show."""
    folder.mkdir()
    for name in _LINKED:
        (folder / name).symlink_to(_ROOT / name)
    programs = folder / ".venv" / "bin"
    programs.mkdir(parents=True)
    (programs / "activate").touch()
    program = programs / "descheduler"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m descheduler "$@"\n')
    program.chmod(0o755)
    (folder / ".venv" / ".installed").touch()


def _fill(api: FakeApi) -> None:
    from tests.integration.live_runs import serve

    serve(api)
    by_list = {f"{kind.name}List": kind for kind in api.kinds.values() if not kind.is_optional}
    with gzip.open(_SAMPLE, "rt", encoding="utf-8") as lines:
        for line in lines:
            page = json.loads(line)
            if page["kind"] in by_list:
                api.add(by_list[page["kind"]].path, *page["items"])


def _as_origin(folder: Path) -> dict[str, str]:
    """Makes the folder a repository, and gives the environment in which git takes it for the one that pages show."""
    config = {
        f"url.{folder}.insteadOf": "https://git.example/descheduler.git",
        "user.name": "tester",
        "user.email": "tester@git.example",
    }
    environ = {"GIT_CONFIG_COUNT": str(len(config)), "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    for number, (key, value) in enumerate(config.items()):
        environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    for arguments in (["init", "--quiet"], ["add", "--all", "--force"], ["commit", "--quiet", "--message=All"]):
        subprocess.run(["git", *arguments], cwd=folder, env={**os.environ, **environ}, check=True)  # noqa: S603, S607
    return environ


class _Shell:
    """Runs blocks of commands one after the other, each where the one before has changed to.

    What a block leaves running in the background ends with the block. The ports that pages name are replaced by free
    ones, as several tests may run at once.
    """

    def __init__(self, folder: Path, environ: Mapping[str, str]) -> None:
        self._folder = folder
        self._environ = environ
        self._ports: dict[str, str] = {}

    def run(self, commands: str) -> Ended:
        """Raises subprocess.TimeoutExpired for commands that do not end."""
        shell = shutil.which("bash") or "sh"
        with TemporaryFile("w+") as output, TemporaryFile("w+") as messages, NamedTemporaryFile("r") as place:
            last = f"trap 'pwd > {place.name}' EXIT\n"
            process = subprocess.Popen(  # noqa: S603 - the commands of our own pages
                [shell, "-e", "-c", last + _PORT.sub(self._free_port, commands)],
                cwd=self._folder,
                env=self._environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=messages,
                start_new_session=True,
            )
            try:
                code = process.wait(_MOST_SECONDS)
            finally:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
            self._folder = Path(place.read().strip())
            output.seek(0)
            messages.seek(0)
            return Ended(code, output.read() + _LOG_LINE.sub("", messages.read()))

    def _free_port(self, named: re.Match[str]) -> str:
        from tests.e2e.processes import free_port

        return self._ports.setdefault(named[0], str(free_port()))
