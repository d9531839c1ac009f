"""Where output goes: whole files or none, through links, into devices and pipes."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from unittest import mock

import pytest

from descheduler.output_file import check_writable, written_file


def write(path: Path | None, text: bytes = b"new", *, mode: int = 0o600, waits_for_reader: bool = True) -> None:
    with written_file(path, mode=mode, waits_for_reader=waits_for_reader) as out:
        out.write(text)


def write_in_half(path: Path) -> None:
    """Fails between two writes."""
    with suppress(KeyboardInterrupt), written_file(path, mode=0o600) as out:
        out.write(b"half")
        out.flush()
        raise KeyboardInterrupt


def test_what_cannot_be_written_is_told_before_anything_is_created(tmp_path: Path) -> None:
    file, pipe = tmp_path / "file", tmp_path / "pipe"
    file.touch()
    os.mkfifo(pipe)

    for path in (tmp_path / "new", file, pipe, Path("/dev/null"), Path("/dev/stdout")):
        check_writable(path)
    with pytest.raises(IsADirectoryError):
        check_writable(tmp_path)
    with pytest.raises(FileNotFoundError):
        check_writable(tmp_path / "none" / "new")
    assert sorted(os.listdir(tmp_path)) == ["file", "pipe"]


@pytest.mark.parametrize("path", ["new", "file"])
def test_folder_that_takes_no_files_is_told_before_as_well(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with mock.patch("os.access", lambda path, mode: mode == os.W_OK), pytest.raises(PermissionError):
        check_writable(tmp_path / path)


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_new_file_has_the_mode_that_was_asked_for(mode: int, tmp_path: Path) -> None:
    file = tmp_path / "out"

    write(file, mode=mode)

    assert file.read_bytes() == b"new"
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert os.listdir(tmp_path) == ["out"]


def test_file_stays_as_it_was_when_writing_ends_halfway(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.write_bytes(b"old")

    write_in_half(file)
    write_in_half(tmp_path / "other")

    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]


def test_link_stays_and_what_it_names_is_written(tmp_path: Path) -> None:
    target, link = tmp_path / "folder" / "target", tmp_path / "link"
    target.parent.mkdir()
    link.symlink_to(Path("folder", "target"))

    for text in (b"first", b"second"):
        write(link, text)

    assert link.is_symlink()
    assert target.read_bytes() == b"second"
    assert os.listdir(target.parent) == ["target"]


@pytest.mark.parametrize("is_linked", [False, True], ids=["named", "behind a link"])
def test_device_is_written_to_and_not_replaced(is_linked: bool, tmp_path: Path) -> None:
    """A terminal, in whose folder nothing can be replaced: a test that fails must not take /dev/null away."""
    controller, terminal = os.openpty()
    device = Path(os.ttyname(terminal))
    link = tmp_path / "link"
    link.symlink_to(device)

    write(link if is_linked else device)

    with os.fdopen(controller, "rb", buffering=0) as screen, os.fdopen(terminal):
        assert screen.read(3) == b"new"
    assert os.readlink(link) == str(device)


def test_pipe_gets_the_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()

    write(pipe)

    reader.join(timeout=30)
    assert found == [b"new"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_pipe_without_reader_is_refused_by_those_that_do_not_wait(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="No such device or address"):
        write(pipe, waits_for_reader=False)


@pytest.mark.parametrize("target", ["None", "Path('/proc/self/fd/1')", "Path('/dev/fd/1')", "Path('link')"])
def test_standard_output_is_written_to_where_it_stands(target: str, tmp_path: Path) -> None:
    """A shell's `>>` file keeps what is in it, before and behind."""
    (tmp_path / "link").symlink_to("/dev/fd/1")
    (tmp_path / "log").write_bytes(b"before ")
    program = (
        "from pathlib import Path; from descheduler.output_file import written_file\n"
        f"with written_file({target}, mode=0o600) as out: out.write(b'new')\nprint(' behind', end='')"
    )

    with (tmp_path / "log").open("ab") as log:
        subprocess.run([sys.executable, "-c", program], stdout=log, cwd=tmp_path, env=_environment(), check=True)

    assert (tmp_path / "log").read_bytes() == b"before new behind"
    assert sorted(os.listdir(tmp_path)) == ["link", "log"]


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}


def test_standard_output_that_is_closed_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)

    with pytest.raises(OSError, match="it is closed"):
        write(None)


@pytest.mark.parametrize(
    ("path", "error"),
    [
        pytest.param(".", IsADirectoryError, id="a folder"),
        pytest.param("none/out", FileNotFoundError, id="in a folder that is missing"),
        pytest.param("loop", OSError, id="a link to itself"),
    ],
)
def test_what_cannot_be_written_is_an_error_and_stays(path: str, error: type[OSError], tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")

    with pytest.raises(error):
        write(tmp_path / path)

    assert os.listdir(tmp_path) == ["loop"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_file_that_is_read_only_is_not_replaced(tmp_path: Path) -> None:
    file = tmp_path / "out"
    file.touch(mode=0o400)

    with pytest.raises(PermissionError):
        write(file)

    assert file.read_bytes() == b""


def test_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """Stands for it: a limit on the size of files."""
    (tmp_path / "out").write_bytes(b"old")
    program = (
        "import resource; from pathlib import Path; from descheduler.output_file import written_file\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "with written_file(Path('out'), mode=0o600) as out: out.write(bytes(2000))"
    )

    ended = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=_environment(), capture_output=True)

    assert b"File too large" in ended.stderr
    assert (tmp_path / "out").read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["out"]
