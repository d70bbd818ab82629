"""Count the connections of strangers, in all and from each address, and say when there are too many."""

import socket
from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network

LOOKS = 0.1  # seconds between two looks at who has left, if there are too many


class Crowd:
    """All connections that are open, whoever closes them; a socket tells by itself that it is closed."""

    def __init__(self, most: int, each: int) -> None:
        self._most = most
        self._each = each
        self._from: dict[socket.socket, str] = {}
        self._counts: Counter[str] = Counter()
        self._looked = -LOOKS

    def add(self, connection: socket.socket, address: str, now: float) -> str:
        """Let one in; or say why not."""
        if why := self._too_many(address):
            if now - self._looked < LOOKS:
                return why
            self._looked = now
            for gone in [each for each in self._from if each.fileno() < 0]:
                self._counts[self._from.pop(gone)] -= 1
            self._counts = +self._counts
            if why := self._too_many(address):
                return why
        self._from[connection] = address
        self._counts[address] += 1
        return ""

    def _too_many(self, address: str) -> str:
        if self._counts[address] >= self._each:
            return f"there are {self._each} connections from your address already"
        return f"there are {self._most} connections already" if len(self._from) >= self._most else ""


def neighbourhood(place: str) -> str:
    """The address in a place; of IPv6, the network that one subscriber has.

    >>> neighbourhood("192.0.2.1:4000"), neighbourhood("[::ffff:192.0.2.1]:4000"), neighbourhood("[2001:db8::1]:4000")
    ('192.0.2.1', '192.0.2.1', '2001:db8::/64')
    >>> neighbourhood("[fe80::1%eth0]:4000")
    'fe80::/64'
    """
    address = ip_address(place.rpartition(":")[0].strip("[]"))
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return str(address)
