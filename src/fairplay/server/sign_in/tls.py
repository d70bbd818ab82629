"""Read the certificate with which a server proves what it is."""

import ssl

from fairplay.core.errors import BadRequest
from fairplay.transport.endpoint import describe_os_error


def tls_context(certificate: str, key: str) -> ssl.SSLContext:
    """What encrypts lines with these files. Raises BadRequest if they are not what they should be."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2

    def no_password() -> str:
        raise ValueError("it is locked with a password")

    try:
        context.load_cert_chain(certificate, key, no_password)
    except (OSError, ValueError) as error:
        raise BadRequest(f"no TLS with {certificate} and {key}: {describe_os_error(error)}") from None
    return context
