"""Hold the kernels: what games are asked most often, in C, with the answers that their own functions in Python give.

Each game chooses in one place: the kernels if they are here, its own functions if not.
"""

import os
from importlib import import_module
from types import ModuleType

kernels: ModuleType | None = None
unavailable_reason = ""  # why there are none

if os.environ.get("FAIRPLAY_PURE"):
    unavailable_reason = "FAIRPLAY_PURE is set"
else:
    try:
        kernels = import_module("fairplay._kernels")
    except ImportError as error:
        unavailable_reason = f"they were not built: {error}"
