"""Lays out the file system of the final image: `python image_root.py VENV ROOT`, run in the stage that builds.

It holds the virtual environment, the interpreter with its standard library, the shared libraries that these load, the
certificate authorities, and one user. Nothing else of the base image goes in: no shell, no package manager, no pip.
Like the distroless images it keeps the licence of every Debian package it took files from, and its entry of dpkg's
database, so that scanners find what is in the image.
"""

from __future__ import annotations

import compileall
import py_compile
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

PROGRAMS = ("descheduler", "kubectl-deschedule")
USER_ID = 65532

_MERGED = ("bin", "sbin", "lib", "lib32", "lib64")
"""Folders of / that are links into /usr, as in every current release of Debian."""

_NOT_AT_RUN_TIME = shutil.ignore_patterns(
    *("__pycache__", "site-packages", "dist-packages", "ensurepip", "config-3.*"),
    *("test", "idlelib", "lib2to3", "pydoc_data", "tkinter", "_tkinter.*", "turtledemo"),
)
_CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")
_LINKER_CACHE = Path("/etc/ld.so.cache")
_LOADED_BY_NAME = "libgcc_s.so.1"
"""glibc opens it when a thread is cancelled; no file says that it needs it."""

_DPKG = Path("/var/lib/dpkg")


def main() -> None:
    """The command."""
    venv, root = map(Path, sys.argv[1:])
    make_folders(root)
    copy_venv(venv, root)
    taken = [*copy_interpreter(venv, root), *copy_standard_library(root)]
    taken += copy_libraries(libraries([*binaries(root, venv), *map(Path, taken)]), root, venv)
    taken += copy_files([_CERTIFICATES, _LINKER_CACHE], root)
    record_packages(taken, root)
    compile_all(root)


def make_folders(root: Path) -> None:
    """An empty root with the links that every path through them needs, and the user that the image runs as."""
    for name in _MERGED:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")
    (root / "etc").mkdir()
    (root / "etc/passwd").write_text(
        f"root:x:0:0:root:/:/nonexistent\nnonroot:x:{USER_ID}:{USER_ID}:nonroot:/:/nonexistent\n"
    )
    (root / "etc/group").write_text(f"root:x:0:\nnonroot:x:{USER_ID}:\n")
    (root / "tmp").mkdir()
    (root / "tmp").chmod(0o1777)


def copy_venv(venv: Path, root: Path) -> None:
    """The packages, and of the scripts only the program's own."""
    target = inside(root, venv)
    shutil.copytree(venv, target, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for script in (target / "bin").iterdir():
        if script.name not in PROGRAMS and not script.name.startswith("python"):
            script.unlink()
    for name in PROGRAMS:
        # Where the manifests of kubernetes-sigs/descheduler look for the program.
        (root / "usr/bin" / name).symlink_to(venv / "bin" / name)


def copy_interpreter(venv: Path, root: Path) -> list[Path]:
    """The file at the end of the links in the environment, and those links outside of it; returns the file's path."""
    step = venv / "bin" / "python"
    while step.is_symlink():
        following = step.parent / step.readlink()
        if not step.is_relative_to(venv):
            inside(root, step).parent.mkdir(parents=True, exist_ok=True)
            inside(root, step).symlink_to(step.readlink())
        step = following
    return copy_files([step], root)


def copy_standard_library(root: Path) -> list[Path]:
    """What programs import; returns the paths of its files."""
    source = Path(sysconfig.get_path("stdlib"))
    target = inside(root, source)
    # Links lead out of the folder (Debian keeps sitecustomize.py in /etc), so files are copied in their place.
    shutil.copytree(source, target, ignore=_NOT_AT_RUN_TIME, ignore_dangling_symlinks=True, dirs_exist_ok=True)
    return [source / file.relative_to(target) for file in target.rglob("*") if file.is_file()]


def binaries(root: Path, venv: Path) -> Iterator[Path]:
    """The compiled modules of the environment."""
    yield from (venv / file.relative_to(inside(root, venv)) for file in inside(root, venv).rglob("*.so*"))


def libraries(files: Sequence[Path]) -> set[Path]:
    """The shared libraries that the dynamic linker would load for any of the files, and the linker itself."""
    compiled = [file for file in files if file.open("rb").read(4) == b"\x7fELF"]
    done = subprocess.run(["ldd", *map(str, compiled)], capture_output=True, text=True, check=False)
    found = {Path(path) for path in re.findall(r"^\t(?:\S+ => )?(/\S+) \(0x", done.stdout, re.MULTILINE)}
    folder = next(path.parent for path in found if path.name.startswith("libc.so"))
    return found | {folder / _LOADED_BY_NAME}


def copy_libraries(found: Iterable[Path], root: Path, venv: Path) -> list[Path]:
    """Those that do not come with a package of the environment; returns their paths."""
    return copy_files(sorted(path for path in found if not path.is_relative_to(venv)), root)


def copy_files(files: Iterable[Path], root: Path) -> list[Path]:
    """Each file at its own path, whatever links lead to it; returns the paths of those that are there."""
    there = [file for file in files if file.exists()]
    for file in there:
        inside(root, file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(file, inside(root, file))
    return there


def record_packages(files: Iterable[Path], root: Path) -> None:
    """The licence and the database entry of each Debian package that one of the files belongs to."""
    owners = {line: listing.stem for listing in _DPKG.glob("info/*.list") for line in listing.read_text().split("\n")}
    names = {owner for file in files for path in spellings(file) if (owner := owners.get(path))}
    entries = (_DPKG / "status").read_text().split("\n\n") if names else []
    for name in {name.partition(":")[0] for name in names}:
        entry = next(entry for entry in entries if entry.startswith(f"Package: {name}\n"))
        (root / "var/lib/dpkg/status.d").mkdir(parents=True, exist_ok=True)
        (root / "var/lib/dpkg/status.d" / name).write_text(entry + "\n")
        copy_files([Path("/usr/share/doc", name, "copyright")], root)


def spellings(file: Path) -> Iterator[str]:
    """The paths by which dpkg may know a file: with or without links, in / or in /usr."""
    for path in (str(file), str(file.resolve())):
        yield path
        yield path.removeprefix("/usr") if path.startswith("/usr/") else f"/usr{path}"


def compile_all(root: Path) -> None:
    """Bytecode of everything: the image runs with a read-only root, so nothing can be compiled later.

    It is marked as not to be compared with its source, whose time a copy may change.
    """
    for folder in (root / "usr", root / "opt"):
        compileall.compile_dir(
            folder, quiet=2, stripdir=str(root), invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
        )


def inside(root: Path, path: Path) -> Path:
    """Where an absolute path of the base image is below the new root."""
    return root / path.relative_to("/")


if __name__ == "__main__":
    main()
