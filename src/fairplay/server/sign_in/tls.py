"""Load the TLS certificate of a server."""

import ssl

from fairplay.core.errors import BadRequest
from fairplay.transport.endpoint import describe_os_error


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """The TLS context for these files. Raises BadRequest if they cannot be used."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def no_password() -> str:
        raise ValueError("it is protected by a password")

    try:
        context.load_cert_chain(certificate, key, no_password)
    except (OSError, ValueError) as error:
        raise BadRequest(f"cannot use {certificate} and {key} for TLS: {describe_os_error(error)}") from None
    return context
