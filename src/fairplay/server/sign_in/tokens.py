"""Know players again: named ones by tokens, of which hashes are kept, and guests by passes, of which nothing is."""

import hmac
import os
import re
import secrets
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from fairplay.core.errors import BadRequest
from fairplay.journal.files import lock_directory
from fairplay.protocol import wire
from fairplay.server.sign_in.labels import look_alike_key
from fairplay.transport.endpoint import describe_os_error

TOKENS_FILE = "tokens"  # the file in the directory of a server
TOKEN_BYTES = 16  # that nobody can guess
TOKENS_LOCK_TIMEOUT_S = 5.0  # seconds to wait for another process that changes tokens
GUEST_PREFIX = "~"  # with which the ids of guests begin, and no name does
TOKEN_LINE = re.compile(rf"([A-Za-z0-9_-]{{1,{wire.MAX_NAME_CHARS}}}) ([0-9a-f]{{64}})")

Hashes = Mapping[str, str]  # by name


class Tokens:
    """The tokens of named players, as they are in the file at the moment.

    If somebody has spoilt the file, that is raised once, and then what stood there before counts until it is whole.
    """

    def __init__(self, directory: Path | str) -> None:
        self.path = Path(directory, TOKENS_FILE)
        self._file_version: tuple[int, ...] | None = None  # the file that was read last
        self._hashes: Hashes = {}
        self._look_alike_keys: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Does somebody own this name?"""
        self.reload()
        return name in self._hashes

    def is_valid(self, name: str, token: str) -> bool:
        """Is this the token of this name?"""
        self.reload()
        return hmac.compare_digest(self._hashes.get(name, ""), hash_token(token))

    @property
    def look_alike_keys(self) -> frozenset[str]:
        """What the names look like that somebody owns."""
        self.reload()
        return self._look_alike_keys

    def reload(self) -> None:
        """Read the file again, if it is another one than before."""
        try:
            status = self.path.stat()
            found = status.st_ino, status.st_size, status.st_mtime_ns
        except OSError:
            found = None
        if found != self._file_version:
            self._file_version = found
            self._hashes = read_hashes(self.path)
            self._look_alike_keys = frozenset(map(look_alike_key, self._hashes))


def read_hashes(path: Path) -> Hashes:
    """The hashes in a file; there are none, if there is no file."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path}: the tokens cannot be read: {describe_os_error(error)}") from None
    hashes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        found = TOKEN_LINE.fullmatch(line)
        if found is None or found[1] in hashes:
            raise BadRequest(f"{path}: line {number}: a name and the hash of its token are due, and every name once")
        hashes[found[1]] = found[2]
    return hashes


def make_token(directory: Path, name: str) -> str:
    """A token for a name that has none; nobody can find it out afterwards."""
    wire.check_name(name)
    token = secrets.token_hex(TOKEN_BYTES)
    with edit_hashes(directory) as hashes:
        if name in hashes:
            raise BadRequest(f"{name} has a token already; revoke it, if it is lost")
        for other in hashes:
            if look_alike_key(other) == look_alike_key(name):
                raise BadRequest(f"{name} is too much like {other}, who has a token")
        hashes[name] = hash_token(token)
    return token


def revoke_token(directory: Path, name: str) -> None:
    """Forget the token of a name."""
    wire.check_name(name)
    with edit_hashes(directory) as hashes:
        if hashes.pop(name, None) is None:
            raise BadRequest(f"{name} has no token")


@contextmanager
def edit_hashes(directory: Path) -> Iterator[dict[str, str]]:
    """The hashes, to be changed by one process at a time; what is in the file is always whole."""
    path, new = directory / TOKENS_FILE, directory / f"{TOKENS_FILE}.{secrets.token_hex(8)}"
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with lock_directory(directory, TOKENS_LOCK_TIMEOUT_S) as held:
            hashes = dict(read_hashes(path))
            yield hashes
            try:
                file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                with os.fdopen(file, "w") as made:
                    made.writelines(f"{name} {digest}\n" for name, digest in sorted(hashes.items()))
                    made.flush()
                    later = max(time.time_ns(), modified_at_ns(path) + 1)  # so that no two files have one time
                    os.utime(made.fileno(), ns=(later, later))
                    os.fsync(made.fileno())
                new.replace(path)
                os.fsync(held)
            finally:
                new.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: no directory can be called like that
        raise BadRequest(f"no token can be kept in {directory}: {describe_os_error(error)}") from None


def modified_at_ns(path: Path) -> int:
    """When a file was changed last, in nanoseconds; 0: there is none."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def hash_token(token: str) -> str:
    """What is kept of a token. It is too long to be guessed, so that it takes no salt, and no time."""
    return sha256(token.encode()).hexdigest()


class ReconnectTokens:
    """Passes for guests: an id, and what only whoever has the key can put behind it."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def new_id(self) -> str:
        """An id that nobody has."""
        return GUEST_PREFIX + secrets.token_hex(8)

    def create(self, id: str) -> str:
        """The pass of a guest."""
        mark = hmac.digest(self._key, b"reconnect token " + id.encode(), "sha256")[:TOKEN_BYTES]
        return f"{id}.{mark.hex()}"

    def client_id(self, text: str) -> str | None:
        """The id on a pass; None: it is none of ours."""
        id = text.partition(".")[0]
        return id if hmac.compare_digest(self.create(id).encode(), text.encode()) else None
