"""Collect all escape attempts."""

from fairplay.testing.escapes.channels import CHANNEL_ATTEMPTS
from fairplay.testing.escapes.connection import CONNECTION_ATTEMPTS
from fairplay.testing.escapes.files import FILE_ATTEMPTS
from fairplay.testing.escapes.kernel import KERNEL_ATTEMPTS
from fairplay.testing.escapes.memory import MEMORY_ATTEMPTS
from fairplay.testing.escapes.processes import PROCESS_ATTEMPTS
from fairplay.testing.escapes.shared_resources import SHARED_RESOURCE_ATTEMPTS
from fairplay.testing.escapes.signals import SIGNAL_ATTEMPTS

ESCAPE_SUITE = (
    *CONNECTION_ATTEMPTS,
    *FILE_ATTEMPTS,
    *MEMORY_ATTEMPTS,
    *PROCESS_ATTEMPTS,
    *SIGNAL_ATTEMPTS,
    *CHANNEL_ATTEMPTS,
    *SHARED_RESOURCE_ATTEMPTS,
    *KERNEL_ATTEMPTS,
)
