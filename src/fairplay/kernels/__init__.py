"""Load the kernels: the hottest functions of the games in C, with the same results as the functions in Python.

The module `kernel` of each game uses them if they are available, and the Python functions if not.
"""

import os
from importlib import import_module
from types import ModuleType

kernels: ModuleType | None = None
unavailable_reason = ""  # why they are not available

if os.environ.get("FAIRPLAY_PURE"):
    unavailable_reason = "FAIRPLAY_PURE is set"
else:
    try:
        kernels = import_module("fairplay._kernels")
    except ImportError as error:
        unavailable_reason = f"they were not built: {error}"
