"""Makes everything that a release consists of: `python cronjob/release/make_release.py VERSION URL`.

Into build/release/VERSION go the wheel and the source distribution, the chart as helm packages it, the list of what the
image holds (CycloneDX 1.5, from the image's lock), the manifest for krew with its launcher, the formula for Homebrew,
and SHA256SUMS. Krew's manifest and the formula load files from below the URL. Nothing is sent anywhere;
docs/how-to/release.md goes on from here.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from string import Template

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = Path(__file__).with_name("templates")

_ICON = "descheduler.svg"
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)")
_PACKAGE = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+) \\$")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_SAID_IN: Mapping[str, str] = {
    "descheduler/version.py": r'VERSION = "(.*)"',
    "cronjob/chart/Chart.yaml": r"^version: (.*)$",
    "cronjob/Dockerfile": r"^ARG VERSION=(.*)$",
    "cronjob/base/cronjob.yaml": r"image: descheduler:v(.*)",
    "CHANGELOG.md": r"^## \[(\d.*?)\]",
}
"""File → where it says the version, of several the first."""


class ReleaseError(Exception):
    """Why there is no release, with the way out."""


def main(arguments: Sequence[str]) -> int:
    """The command; the exit code."""
    try:
        version, url = arguments
    except ValueError:
        print("usage: make release VERSION=0.2.0 URL=https://downloads.example.com/descheduler", file=sys.stderr)
        return 2
    try:
        folder = make_release(version, url)
    except ReleaseError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{folder}:")
    print((folder / "SHA256SUMS").read_text(), end="")
    return 0


def make_release(version: str, url: str, root: Path = ROOT) -> Path:
    """The folder with everything, which is to be published at `url`, in a folder of the version's name.

    Raises ReleaseError before anything is made, or when a step fails.
    """
    _check(version, url, root)
    folder = root / "build" / "release" / version
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _build_package(root, folder)
    (wheel,) = (file.name for file in folder.glob("*.whl"))
    shutil.copy(root / "cronjob" / "release" / _ICON, folder)
    write_chart(root / "cronjob" / "chart", folder / f"descheduler-chart-{version}.tgz", url.rstrip("/"), version)
    lock = (root / "cronjob" / "requirements.txt").read_text()
    (folder / "descheduler.cdx.json").write_text(json.dumps(bill_of_materials(lock, version), indent=2) + "\n")
    _fill_templates(folder, version, wheel, url.rstrip("/"), root)
    sums = "".join(f"{_sha256(file)}  {file.name}\n" for file in sorted(folder.iterdir()))
    (folder / "SHA256SUMS").write_text(sums)
    return folder


def _check(version: str, url: str, root: Path) -> None:
    if not re.fullmatch(r"https://[^\s\"']+", url):
        raise ReleaseError(f"{url!r} is not a URL such as https://downloads.example.com/descheduler")
    if not _VERSION.fullmatch(version):
        raise ReleaseError(f"{version!r} is not a version such as 0.2.0")
    others = []
    for name, pattern in _SAID_IN.items():
        found = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        said = found[1] if found else "no version"
        if said != version:
            others.append(f"{name} has {said}")
    if others:
        raise ReleaseError(f"write {version} into these files first: {'; '.join(others)}")


def _build_package(root: Path, folder: Path) -> None:
    """Wheel and source distribution, with the build backend that the image's lock pins."""
    with tempfile.TemporaryDirectory() as scratch:
        venv.create(scratch, with_pip=True)
        python = Path(scratch) / "bin" / "python"
        lock = root / "cronjob" / "requirements-build.txt"
        _run([str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "-r", str(lock)], root)
        for kind in ("wheel", "sdist"):
            make = f"from setuptools import build_meta; build_meta.build_{kind}({str(folder)!r})"
            _run([str(python), "-c", make], root)


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ReleaseError(f"{command[0]} {command[1]} failed: {done.stderr.strip()[-2000:]}")


def write_chart(chart: Path, archive: Path, url: str, version: str) -> None:
    """The chart as `helm package` makes it: all files below the name of the chart, which says where it is from."""
    addresses = f"home: {url}\nsources: [{url}/{version}/descheduler-{version}.tar.gz]\nicon: {url}/{version}/{_ICON}\n"
    files = sorted(file for file in chart.rglob("*") if file.is_file())
    contents = {file.relative_to(chart).as_posix(): file.read_bytes() for file in files}
    contents["Chart.yaml"] += addresses.encode()
    _write_archive(archive, [(f"descheduler/{name}", content) for name, content in contents.items()])


def bill_of_materials(lock: str, version: str) -> Mapping[str, object]:
    """What the image holds of Python's packages, in CycloneDX 1.5; `lock` is the image's lock."""
    program = {
        "type": "application",
        "bom-ref": f"pkg:pypi/descheduler@{version}",
        "name": "descheduler",
        "version": version,
        "purl": f"pkg:pypi/descheduler@{version}",
        "licenses": [{"license": {"id": "Apache-2.0"}}],
    }
    components = [
        {
            "type": "library",
            "bom-ref": f"pkg:pypi/{name}@{locked}",
            "name": name,
            "version": locked,
            "purl": f"pkg:pypi/{name}@{locked}",
            "hashes": [{"alg": "SHA-256", "content": each} for each in hashes],
        }
        for name, locked, hashes in _locked(lock)
    ]
    references = [component["bom-ref"] for component in components]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": program},
        "components": components,
        "dependencies": [{"ref": program["bom-ref"], "dependsOn": references}],
    }


def _locked(lock: str) -> Iterator[tuple[str, str, list[str]]]:
    """Name, version and hashes of each package of a lock."""
    name, version, hashes = "", "", list[str]()
    for line in lock.splitlines():
        found = _PACKAGE.match(line)
        if found:
            if name:
                yield name, version, hashes
            name, version, hashes = found["name"].lower(), found["version"], []
        hashes += _HASH.findall(line)
    if name:
        yield name, version, hashes


def _fill_templates(folder: Path, version: str, wheel: str, url: str, root: Path) -> None:
    values = {
        "version": version,
        "home": url,
        "downloads": f"{url}/{version}",
        "wheel": wheel,
        "wheel_sha256": _sha256(folder / wheel),
        "launcher": f"kubectl-deschedule-{version}.tar.gz",
    }

    def filled(name: str) -> bytes:
        return Template((TEMPLATES / name).read_text()).substitute(values).encode()

    launcher = [("kubectl-deschedule", filled("kubectl-deschedule")), ("LICENSE", (root / "LICENSE").read_bytes())]
    _write_archive(folder / values["launcher"], launcher, mode_of=lambda name: 0o644 if name == "LICENSE" else 0o755)
    values["launcher_sha256"] = _sha256(folder / values["launcher"])
    (folder / "deschedule.yaml").write_bytes(filled("krew.yaml"))
    (folder / "descheduler.rb").write_bytes(filled("descheduler.rb"))


def _write_archive(
    archive: Path, files: Sequence[tuple[str, bytes]], mode_of: Callable[[str], int] = lambda name: 0o644
) -> None:
    """A tar of these files, compressed, in which nothing depends on when and by whom it was made."""
    with (
        archive.open("wb") as out,
        gzip.GzipFile(fileobj=out, mode="wb", mtime=0, filename="") as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name, content in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(content), mode_of(name)
            tar.addfile(entry, io.BytesIO(content))


def _sha256(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
