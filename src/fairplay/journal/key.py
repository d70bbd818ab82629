"""Keep the secret by which we know our own journals again: 32 bytes in a file that nobody else may read."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from fairplay.core.errors import BadRequest, HostFault

KEY_BYTES = 32


class NoKey(HostFault):
    """There is no place where a key could be kept."""


def user_key_file() -> Path:
    """Where the key of whoever runs us is kept. The directory is there for nothing else, and for no program to see."""
    directory = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not directory.is_absolute():
        directory = Path(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111  # which stays as it is without a home
    if not directory.is_absolute():  # a directory of others, perhaps, with a key that they have put there
        raise NoKey("no key can be kept: there is no home directory")
    return directory / "fairplay" / "key"


def load_key(path: Path | str) -> bytes:
    """The key in this file, which is made if it is not there. Raises BadRequest if others may know it, or chose it."""
    path = Path(path)
    try:
        with suppress(FileNotFoundError):
            return read_key(path)
        create_key(path)
        return read_key(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadRequest(f"{path} cannot be our key: it is a link") from None
        raise NoKey(f"no key can be kept in {path}: {error.strerror}") from None
    except ValueError as error:  # no file can be called like that
        raise BadRequest(f"no key can be kept in {str(path)!r}: {error}") from None


def read_key(path: Path) -> bytes:
    """What is in the file of a key."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if why := key_file_problem(os.fstat(file)):
            raise BadRequest(f"{path} cannot be our key: {why}")
        return os.read(file, KEY_BYTES)
    finally:
        os.close(file)


def key_file_problem(status: os.stat_result) -> str:
    """Why a file is not to be relied on; "" if it is."""
    if not stat.S_ISREG(status.st_mode):
        return "it is no file"
    if status.st_uid != os.geteuid():
        return "it belongs to somebody else"
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"others may use it (mode {stat.S_IMODE(status.st_mode):04o}); it has to be 0600"
    return "" if status.st_size == KEY_BYTES else f"it has {status.st_size} bytes, and not {KEY_BYTES}"


def create_key(path: Path) -> None:
    """Draw a key, unless another process is quicker; nobody ever sees half of one."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.urandom(8).hex()}")
    file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "wb") as made:
            made.write(os.urandom(KEY_BYTES))
            made.flush()
            os.fsync(made.fileno())
        with suppress(FileExistsError):
            os.link(new, path)
    finally:
        new.unlink()
