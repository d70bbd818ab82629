"""Parse and format endpoints: a host and a port."""

from fairplay.core.errors import BadRequest

LOOPBACK = "127.0.0.1"


def parse_endpoint(place: str) -> tuple[str, int]:
    """Parse HOST:PORT or PORT; the default host is this machine.

    >>> parse_endpoint("4000"), parse_endpoint("example.org:4000"), parse_endpoint("[::1]:4000")
    (('127.0.0.1', 4000), ('example.org', 4000), ('::1', 4000))
    """
    host, colon, port = place.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    is_valid = (bool(host) or not colon) and (bracketed or ":" not in host)
    if not (is_valid and port.isascii() and port.isdigit() and len(port) <= 5 and int(port) < 65536):
        raise BadRequest(f"{place!r} is not an endpoint; write PORT or HOST:PORT")
    return host or LOOPBACK, int(port)


def format_endpoint(host: str, port: int) -> str:
    """Format an endpoint as text.

    >>> format_endpoint("::1", 4000)
    '[::1]:4000'
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def describe_os_error(error: Exception) -> str:
    """The text of an error of the operating system."""
    default = "timed out" if isinstance(error, TimeoutError) else type(error).__name__
    return getattr(error, "strerror", None) or str(error) or default
