"""Files that the program writes: whole or not at all, and through links and into devices as a shell redirects."""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from descheduler.process_end import bound_to_process

_STDOUT = 1
_MOST_LINKS = 40


@contextmanager
def written_file(path: Path | None, *, mode: int, waits_for_reader: bool = True) -> Iterator[BinaryIO]:
    """A stream to the file at `path`, None for standard output; a regular file appears only when all went well.

    A link stays, and what it names is written. Devices, pipes and streams that are open already, such as
    `/dev/stdout`, are written to as they are. A pipe without a reader is waited for, unless `waits_for_reader` is
    false. A new file gets `mode`, less the umask. Raises OSError.
    """
    handle = _standard_output() if path is None else _open_in_place(path, waits_for_reader=waits_for_reader)
    if path is not None and handle is None:
        with _replaced(Path(os.path.realpath(path)), mode) as out:
            yield out
    elif handle is not None:
        with os.fdopen(handle, "wb") as out:
            yield out


def check_writable(path: Path) -> None:
    """Raises OSError where `written_file` cannot write to `path` as things are now; creates and opens nothing."""
    if _own_stream(path) is not None:
        return
    if _is_in_place(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    os.stat(folder)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))


def _standard_output() -> int:
    if sys.stdout is None:  # its descriptor may be that of another file by now
        raise OSError(errno.EBADF, "it is closed")
    return os.dup(_STDOUT)


def _open_in_place(path: Path, *, waits_for_reader: bool) -> int | None:
    """A descriptor of what must not be replaced; None for a regular file and for one that is not there yet."""
    own = _own_stream(path)
    if own is not None:
        return os.dup(own)
    if not _is_in_place(path):
        return None
    handle = os.open(path, os.O_WRONLY | os.O_NOCTTY | (0 if waits_for_reader else os.O_NONBLOCK))
    os.set_blocking(handle, True)
    return handle


def _is_in_place(path: Path) -> bool:
    """Whether what is at `path` must not be replaced, unlike a regular file. Raises OSError where it takes nothing."""
    try:
        file_type = os.stat(path).st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(file_type):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    return not stat.S_ISREG(file_type)


def _own_stream(path: Path) -> int | None:
    """The descriptor of this process that `path` leads to, as /dev/stdout does.

    Opening it by its name would start at the beginning of a file to which a shell appends, and fails for a socket.
    """
    step = str(path.absolute())
    folders = (f"/proc/{os.getpid()}/fd", "/dev/fd")
    for _ in range(_MOST_LINKS):
        folder, name = os.path.split(step)
        if os.path.realpath(folder) in folders and name.isdecimal():
            return int(name)
        if not os.path.islink(step):
            return None
        step = os.path.join(folder, os.readlink(step))
    return None


@contextmanager
def _replaced(path: Path, mode: int) -> Iterator[BinaryIO]:
    """A new file that takes the place of `path` when all went well."""
    name = path.parent / f".descheduler-{secrets.token_hex(8)}"

    def remove(_handle: int) -> None:
        with suppress(OSError):
            os.unlink(name)

    with bound_to_process(lambda: os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), remove) as handle:
        try:
            with os.fdopen(handle, "wb") as out:
                yield out
                out.flush()
                os.fsync(out.fileno())
            os.replace(name, path)
        except BaseException:
            remove(handle)
            raise
