"""A place to run the commands of a page: a folder that looks like a fresh clone, and a cluster that kubectl would find.

The cluster is the API server of the tests, with the objects of the shop; evictions there are harmless.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from docs.generator.sessions import Ended

if TYPE_CHECKING:
    from tests.integration.fake_api import FakeApi

__all__ = ["workshop"]

_ROOT = Path(__file__).parents[2]
_LINKED = ("config", "cronjob", "Makefile", "pyproject.toml", "requirements-dev.lock")
_SAMPLE = _ROOT / "config" / "samples" / "shop.jsonl.gz"
_LOG_LINE = re.compile(r"^[IWEF]\d{4} .*\n", re.MULTILINE)


@contextmanager
def workshop() -> Iterator[Callable[[str], Ended]]:
    """Gives a function that runs shell commands in the folder; what they leave there is there for the next."""
    from tests.integration.fake_api import FakeApi

    with TemporaryDirectory() as name, FakeApi() as api:
        folder = Path(name)
        _furnish(folder)
        _fill(api)
        environ = {
            **os.environ,
            "PATH": f"{folder / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(_ROOT),
            "KUBECONFIG": str(api.write_kubeconfig(folder / ".kubeconfig")),
            "MAKEFLAGS": "",
        }
        yield lambda commands: _run(commands, folder, environ)


def _furnish(folder: Path) -> None:
    """What a clone has once `make setup` has run: that the lock can be installed is for `make setup` itself to show."""
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


def _run(commands: str, folder: Path, environ: dict[str, str]) -> Ended:
    shell = shutil.which("bash") or "sh"
    ended = subprocess.run(  # noqa: S603 - the commands of our own pages
        [shell, "-e", "-c", commands], cwd=folder, env=environ, capture_output=True, text=True, check=False
    )
    return Ended(ended.returncode, ended.stdout + _LOG_LINE.sub("", ended.stderr))
