"""`python -m tests.mutants`: changes operators of the package one at a time and runs the tests that are near.

Near a module are the tests of the folder that mirrors its own, and all recorded cases. Prints each mutant that no test
noticed, and how many were noticed. Exits with 1 if these are less than the wanted share.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import SimpleQueue
from typing import NamedTuple

from tests.mutants.sites import Site, mutated, sites_of

ROOT = Path(__file__).parents[2]
_PACKAGE = "descheduler"
_RECORDED = "tests/conformance"
_NOTICED_AFTER_SECONDS = 300
"""A mutant that makes tests run for so long is noticed, too: near tests take a minute at most."""
_LEFT_OUT = shutil.ignore_patterns(".venv", ".git", "__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache")
_TESTS_FAILED = 1


class Mutant(NamedTuple):
    """A module, as a path from the root, with one operator changed."""

    module: Path
    site: Site
    code: str

    def __str__(self) -> str:
        return f"{self.module}:{self.site.line}: {self.site.written} → {self.site.instead}"


def draw(seed: int, count: int, within: str = _PACKAGE) -> list[Mutant]:
    """`count` mutants of the modules `within` a path; each operator there is as likely as any other."""
    path = ROOT / within
    modules = [path] if path.is_file() else sorted(path.rglob("*.py"))
    found = [mutant for module in modules for mutant in _mutants_of(module)]
    return random.Random(seed).sample(found, min(count, len(found)))


def _mutants_of(module: Path) -> Iterator[Mutant]:
    source = module.read_text()
    for site in sites_of(source):
        if (code := mutated(source, site)) is not None:
            yield Mutant(module.relative_to(ROOT), site, code)


def nearby_tests(module: Path) -> list[str]:
    """What to run for a module, nearest first: its own tests, those of its folder that import it, then the others
    there, and the recorded cases.
    """
    folder = ROOT / "tests" / module.parent.relative_to(_PACKAGE)
    while not folder.is_dir():
        folder = folder.parent
    own = folder / f"test_{module.stem}.py"
    near = [own] if own.is_file() else []
    if folder == ROOT / "tests":
        near.extend(sorted(folder.glob("test_*.py")))
    else:
        name = ".".join(module.with_suffix("").parts)
        near.extend(file for file in sorted(folder.rglob("test_*.py")) if file != own and name in file.read_text())
        near.append(folder)
    return [*(str(path.relative_to(ROOT)) for path in near), _RECORDED]


def is_noticed(mutant: Mutant, copy: Path) -> bool:
    """Whether a test near the mutant fails in `copy`, a copy of the repository, which is left as it was."""
    file = copy / mutant.module
    before, facts = file.read_text(), file.stat()
    file.write_text(mutant.code)
    try:
        *own, others, recorded = nearby_tests(mutant.module)
        return any(not _passes(tests, copy) for tests in (own, [others], [recorded]) if tests)
    finally:
        file.write_text(before)
        os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # what is compiled of it is valid again


def _passes(tests: Sequence[str], copy: Path) -> bool:
    # Of the recorded cases those that `make test` leaves out, too.
    arguments = [*tests, "-m", ""] if tests == [_RECORDED] else tests
    try:
        ended = _pytest(copy, "-x", *arguments, PYTHONDONTWRITEBYTECODE="1")
    except subprocess.TimeoutExpired:
        return False
    if ended.returncode > _TESTS_FAILED + 1:  # such as a folder without tests: nothing was noticed
        return True
    return ended.returncode == 0


def _pytest(copy: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """A run of pytest in `copy`, with these environment variables."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(copy), **variables}
    return subprocess.run(
        command, cwd=copy, env=environment, capture_output=True, timeout=_NOTICED_AFTER_SECONDS, check=False
    )


def _copy_to(copy: Path) -> Path:
    """A copy of the repository in which everything is compiled, which is what most short runs spend their time on."""
    shutil.copytree(ROOT, copy, ignore=_LEFT_OUT)
    subprocess.run([sys.executable, "-m", "compileall", "-q", _PACKAGE, "tests"], cwd=copy, check=True)
    _pytest(copy, "--collect-only", PYTHONDONTWRITEBYTECODE="")
    return copy


def _judged(mutants: Sequence[Mutant], num_jobs: int) -> Iterator[tuple[Mutant, bool]]:
    """Each mutant and whether it was noticed, as they are done."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(num_jobs) as pool:
        copies: SimpleQueue[Path] = SimpleQueue()
        for path in pool.map(_copy_to, [Path(folder) / str(job) for job in range(num_jobs)]):
            copies.put(path)

        def judge(mutant: Mutant) -> tuple[Mutant, bool]:
            copy = copies.get()
            try:
                return mutant, is_noticed(mutant, copy)
            finally:
                copies.put(copy)

        for each in as_completed([pool.submit(judge, mutant) for mutant in mutants]):
            yield each.result()


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__)
    parser.add_argument("--count", type=int, default=100, help="how many mutants (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="which ones (default: 1)")
    parser.add_argument("--within", default=_PACKAGE, help="folder or module to change (default: the package)")
    parser.add_argument("--share", type=float, default=0.92, help="how many must be noticed (default: 0.92)")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (default: 1)")
    arguments = parser.parse_args()
    mutants = draw(arguments.seed, arguments.count, arguments.within)
    num_noticed = 0
    for number, (mutant, noticed) in enumerate(_judged(mutants, arguments.jobs), start=1):
        num_noticed += noticed
        print(f"{number}/{len(mutants)} {'noticed' if noticed else 'SURVIVED'} {mutant}", flush=True)
    print(f"{num_noticed} of {len(mutants)} noticed")
    return 0 if num_noticed >= arguments.share * len(mutants) else 1


if __name__ == "__main__":
    sys.exit(main())
