"""Limit the number of connections, in all and from each address."""

import socket
from collections import Counter
from ipaddress import IPv6Address, ip_address, ip_network

CLEANUP_INTERVAL_S = 0.1  # between two counts of closed connections, while a limit is reached


class ConnectionLimiter:
    """Counts open connections; a socket shows by itself that it is closed."""

    def __init__(self, max_connections: int, max_per_address: int) -> None:
        self._max_connections = max_connections
        self._max_per_address = max_per_address
        self._addresses: dict[socket.socket, str] = {}
        self._counts: Counter[str] = Counter()
        self._cleaned_at = -CLEANUP_INTERVAL_S

    def add(self, connection: socket.socket, address: str, now: float) -> str:
        """Count a new connection; why it is refused, or empty."""
        if why := self._refusal(address):
            if now - self._cleaned_at < CLEANUP_INTERVAL_S:
                return why
            self._cleaned_at = now
            for closed in [each for each in self._addresses if each.fileno() < 0]:
                self._counts[self._addresses.pop(closed)] -= 1
            self._counts = +self._counts
            if why := self._refusal(address):
                return why
        self._addresses[connection] = address
        self._counts[address] += 1
        return ""

    def _refusal(self, address: str) -> str:
        if self._counts[address] >= self._max_per_address:
            return f"too many connections from your address: {self._max_per_address} are allowed"
        if len(self._addresses) >= self._max_connections:
            return f"too many connections: {self._max_connections} are allowed"
        return ""


def client_network(endpoint: str) -> str:
    """The address of an endpoint; for IPv6, the network of one subscriber.

    >>> client_network("192.0.2.1:4000"), client_network("[::ffff:192.0.2.1]:4000")
    ('192.0.2.1', '192.0.2.1')
    >>> client_network("[2001:db8::1]:4000")
    '2001:db8::/64'
    >>> client_network("[fe80::1%eth0]:4000")
    'fe80::/64'
    """
    address = ip_address(endpoint.rpartition(":")[0].strip("[]"))
    if isinstance(address, IPv6Address):
        return str(address.ipv4_mapped or ip_network((address, 64), strict=False))
    return str(address)
