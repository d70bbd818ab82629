"""Count the connections of strangers, in all and from each address, and say when there are too many."""

import socket
from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network

CLEANUP_INTERVAL_S = 0.1  # seconds between two looks at who has left, if there are too many


class ConnectionLimiter:
    """All connections that are open, whoever closes them; a socket tells by itself that it is closed."""

    def __init__(self, most: int, each: int) -> None:
        self._max_connections = most
        self._max_per_address = each
        self._addresses: dict[socket.socket, str] = {}
        self._counts: Counter[str] = Counter()
        self._cleaned_at = -CLEANUP_INTERVAL_S

    def add(self, connection: socket.socket, address: str, now: float) -> str:
        """Let one in; or say why not."""
        if why := self._refusal(address):
            if now - self._cleaned_at < CLEANUP_INTERVAL_S:
                return why
            self._cleaned_at = now
            for gone in [each for each in self._addresses if each.fileno() < 0]:
                self._counts[self._addresses.pop(gone)] -= 1
            self._counts = +self._counts
            if why := self._refusal(address):
                return why
        self._addresses[connection] = address
        self._counts[address] += 1
        return ""

    def _refusal(self, address: str) -> str:
        if self._counts[address] >= self._max_per_address:
            return f"there are {self._max_per_address} connections from your address already"
        return (
            f"there are {self._max_connections} connections already"
            if len(self._addresses) >= self._max_connections
            else ""
        )


def client_network(place: str) -> str:
    """The address in a place; of IPv6, the network that one subscriber has.

    >>> client_network("192.0.2.1:4000"), client_network("[::ffff:192.0.2.1]:4000")
    ('192.0.2.1', '192.0.2.1')
    >>> client_network("[2001:db8::1]:4000")
    '2001:db8::/64'
    >>> client_network("[fe80::1%eth0]:4000")
    'fe80::/64'
    """
    address = ip_address(place.rpartition(":")[0].strip("[]"))
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return str(address)
