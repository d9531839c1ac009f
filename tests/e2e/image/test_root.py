"""What is in the image, and what is not: its file system, looked at from outside."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

SHELLS = r"sh|[a-z]{0,2}[akz]sh|bash|rbash|dash|fish|busybox|toybox"
PACKAGE_MANAGERS = r"apt|apt-.*|dpkg|dpkg-.*|apk|rpm|dnf|microdnf|yum"
PIP = r"pip|pip[0-9.]+|pip-.*|ensurepip|_?pip_vendor|easy_install.*|setuptools|wheel|uv"
COMPILERS = r"cc|gcc|gcc-.*|g\+\+|ld|make|perl.*"


def files(root: Path) -> Iterator[Path]:
    """Every path in the image, links not followed."""
    for folder, folders, names in os.walk(root):
        yield from (Path(folder, name) for name in (*folders, *names))


def startable(root: Path) -> set[str]:
    """What execve(2) takes there: compiled programs and scripts with the mode for it, libraries aside."""
    found = set()
    for file in files(root):
        if file.is_symlink() or not file.is_file() or not file.stat().st_mode & 0o111:
            continue
        head = file.read_bytes()[:2048]
        is_program = head.startswith(b"\x7fELF") and ".so" not in file.name
        # A script of the standard library starts with what is not there: /usr/bin/env.
        is_script = head.startswith(b"#!") and (root / interpreter(head).lstrip("/")).is_symlink()
        if is_program or is_script:
            found.add(file.name)
    return found


def interpreter(head: bytes) -> str:
    """The program that a script names in its first line."""
    return head[2:].split()[0].decode()


def test_nothing_can_be_started_but_the_program_and_its_interpreter(root: Path) -> None:
    programs = {name for name in startable(root) if not re.fullmatch(r"python3\.\d+", name)}

    assert programs == {"descheduler", "kubectl-deschedule"}


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(SHELLS, id="of a shell"),
        pytest.param(PACKAGE_MANAGERS, id="of a package manager"),
        pytest.param(PIP, id="of pip"),
        pytest.param(COMPILERS, id="of a compiler"),
    ],
)
def test_no_path_has_the_name(root: Path, names: str) -> None:
    lists_of_packages = root / "var" / "lib" / "dpkg"
    documents = root / "usr" / "share" / "doc"

    found = [
        path.relative_to(root)
        for path in files(root)
        if re.fullmatch(names, path.name) and path != lists_of_packages and documents not in path.parents
    ]

    assert found == []


def test_no_file_gives_rights_and_none_can_be_changed(root: Path) -> None:
    """No set-user-id or set-group-id, no owner but root, and nothing that others may write but /tmp."""
    modes = {path: path.lstat() for path in files(root) if not path.is_symlink()}

    assert [path for path, mode in modes.items() if mode.st_mode & (stat.S_ISUID | stat.S_ISGID)] == []
    assert [path for path, mode in modes.items() if (mode.st_uid, mode.st_gid) != (0, 0)] == []
    assert [path for path, mode in modes.items() if mode.st_mode & stat.S_IWOTH] == [root / "tmp"]


def test_all_modules_are_compiled(root: Path) -> None:
    """With a read-only root they could not be later, and every run would compile them again."""
    uncompiled = [
        source.relative_to(root)
        for folder in ("opt", "usr")
        for source in (root / folder).rglob("*.py")
        if not list((source.parent / "__pycache__").glob(f"{source.stem}.cpython-*.pyc"))
    ]

    assert uncompiled == []


def test_every_debian_package_is_named_with_its_licence(root: Path) -> None:
    packages = [file.name for file in (root / "var/lib/dpkg/status.d").iterdir()]

    assert {"libc6", "libssl3" if "libssl3" in packages else "libssl3t64"} <= set(packages)
    assert [name for name in packages if not (root / "usr/share/doc" / name / "copyright").is_file()] == []
