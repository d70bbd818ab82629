"""Make and check tokens: of named players, stored as hashes, and reconnect tokens of guests, not stored at all."""

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

TOKENS_FILE = "tokens"  # in the directory of a server
TOKEN_BYTES = 16
TOKENS_LOCK_TIMEOUT_S = 5.0  # for another process that changes tokens
GUEST_PREFIX = "~"  # of the ids of guests; no name begins so
TOKEN_LINE = re.compile(rf"([A-Za-z0-9_-]{{1,{wire.MAX_NAME_CHARS}}}) ([0-9a-f]{{64}})")

Hashes = Mapping[str, str]  # by name


class Tokens:
    """The tokens of named players, as the file has them at the moment.

    A damaged file raises once; then the tokens from before it count until it is repaired.
    """

    def __init__(self, directory: Path | str) -> None:
        self.path = Path(directory, TOKENS_FILE)
        self._file_version: tuple[int, ...] | None = None  # of the file that was read last
        self._hashes: Hashes = {}
        self._look_alike_keys: frozenset[str] = frozenset()

    def has(self, name: str) -> bool:
        """Has this name a token?"""
        self.reload()
        return name in self._hashes

    def is_valid(self, name: str, token: str) -> bool:
        """Is this the token of this name?"""
        self.reload()
        return hmac.compare_digest(self._hashes.get(name, ""), hash_token(token))

    @property
    def look_alike_keys(self) -> frozenset[str]:
        """The look-alike keys of all names that have a token."""
        self.reload()
        return self._look_alike_keys

    def reload(self) -> None:
        """Read the file again, if it has changed."""
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
    """Read the hashes from a file; a missing file has none."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise BadRequest(f"{path}: cannot read the tokens: {describe_os_error(error)}") from None
    hashes: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        found = TOKEN_LINE.fullmatch(line)
        if found is None or found[1] in hashes:
            raise BadRequest(f"{path}: line {number}: expected a name and the hash of its token, each name once")
        hashes[found[1]] = found[2]
    return hashes


def make_token(directory: Path, name: str) -> str:
    """Make a token for a name that has none; it cannot be read again later."""
    wire.check_name(name)
    token = secrets.token_hex(TOKEN_BYTES)
    with edit_hashes(directory) as hashes:
        if name in hashes:
            raise BadRequest(f"{name} has a token already: revoke it if it is lost")
        for other in hashes:
            if look_alike_key(other) == look_alike_key(name):
                raise BadRequest(f"{name} looks like {other}, which has a token: choose another name")
        hashes[name] = hash_token(token)
    return token


def revoke_token(directory: Path, name: str) -> None:
    """Delete the token of a name."""
    wire.check_name(name)
    with edit_hashes(directory) as hashes:
        if hashes.pop(name, None) is None:
            raise BadRequest(f"{name} has no token")


@contextmanager
def edit_hashes(directory: Path) -> Iterator[dict[str, str]]:
    """The hashes, for one process at a time to change; the file is replaced as a whole."""
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
                    later = max(time.time_ns(), modified_at_ns(path) + 1)  # so that no two versions have the same time
                    os.utime(made.fileno(), ns=(later, later))
                    os.fsync(made.fileno())
                new.replace(path)
                os.fsync(held)
            finally:
                new.unlink(missing_ok=True)
    except (OSError, ValueError) as error:  # ValueError: not a name of a directory
        raise BadRequest(f"cannot write tokens to {directory}: {describe_os_error(error)}") from None


def modified_at_ns(path: Path) -> int:
    """When a file was modified last, in nanoseconds; 0 if it is missing."""
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        return 0


def hash_token(token: str) -> str:
    """The stored hash of a token. A token is too long to guess, so its hash needs no salt and no stretching."""
    return sha256(token.encode()).hexdigest()


class ReconnectTokens:
    """Reconnect tokens for guests: an id and its MAC."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def new_id(self) -> str:
        """Draw an id for a new guest."""
        return GUEST_PREFIX + secrets.token_hex(8)

    def create(self, id: str) -> str:
        """The reconnect token of a guest."""
        mac = hmac.digest(self._key, b"reconnect token " + id.encode(), "sha256")[:TOKEN_BYTES]
        return f"{id}.{mac.hex()}"

    def client_id(self, text: str) -> str | None:
        """The id in a reconnect token, or None if it is invalid."""
        id = text.partition(".")[0]
        return id if hmac.compare_digest(self.create(id).encode(), text.encode()) else None
