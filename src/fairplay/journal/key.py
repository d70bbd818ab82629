"""Keep the secret key of our journals: 32 bytes in a file that only its owner may read."""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from fairplay.core.errors import BadRequest, HostFault

KEY_BYTES = 32


class NoKey(HostFault):
    """There is no place for a key file."""


def user_key_file() -> Path:
    """The path of the user's key. Its directory holds nothing else, and no sandboxed program sees it."""
    directory = Path(os.environ.get("XDG_STATE_HOME", ""))
    if not directory.is_absolute():
        directory = Path(os.path.expanduser("~"), ".local", "state")  # noqa: PTH111  # without a home directory it returns "~"
    if not directory.is_absolute():  # a relative path may lead to a key that another user made
        raise NoKey("cannot store a journal key: there is no home directory; set XDG_STATE_HOME")
    return directory / "fairplay" / "key"


def load_key(path: Path | str) -> bytes:
    """Read the key in this file, or create it. Raises BadRequest if other users may know or have chosen it."""
    path = Path(path)
    try:
        with suppress(FileNotFoundError):
            return read_key(path)
        create_key(path)
        return read_key(path)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise BadRequest(f"{path} cannot be used as a key: it is a link") from None
        raise NoKey(f"cannot store a journal key in {path}: {error.strerror}") from None
    except ValueError as error:  # no file can have this name
        raise BadRequest(f"cannot store a journal key in {str(path)!r}: {error}") from None


def read_key(path: Path) -> bytes:
    """Read a key file."""
    file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if why := key_file_problem(os.fstat(file)):
            raise BadRequest(f"{path} cannot be used as a key: {why}")
        return os.read(file, KEY_BYTES)
    finally:
        os.close(file)


def key_file_problem(status: os.stat_result) -> str:
    """Why a file cannot be trusted as a key; "" if it can."""
    if not stat.S_ISREG(status.st_mode):
        return "it is not a file"
    if status.st_uid != os.geteuid():
        return "it belongs to another user"
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return f"other users may access it (mode {stat.S_IMODE(status.st_mode):04o}); set its mode to 0600"
    return "" if status.st_size == KEY_BYTES else f"it has {status.st_size} bytes, not {KEY_BYTES}"


def create_key(path: Path) -> None:
    """Create a random key atomically, unless another process is faster."""
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
