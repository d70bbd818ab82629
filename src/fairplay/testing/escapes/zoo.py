"""Keep all beasts together."""

from fairplay.testing.escapes.channels import CHANNELS
from fairplay.testing.escapes.files import FILES
from fairplay.testing.escapes.kernel import KERNEL
from fairplay.testing.escapes.line import LINE
from fairplay.testing.escapes.memory import MEMORY
from fairplay.testing.escapes.processes import PROCESSES
from fairplay.testing.escapes.shared import SHARED
from fairplay.testing.escapes.signals import SIGNALS

ZOO = (*LINE, *FILES, *MEMORY, *PROCESSES, *SIGNALS, *CHANNELS, *SHARED, *KERNEL)
