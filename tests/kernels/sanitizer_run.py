"""Run the kernels of a library that was built with sanitizers.

python -m tests.kernels.sanitizer_run LIBRARY SEED START STOP STEP

For each number a line of JSON says what was wrong, or nothing. Whatever the sanitizers find ends the process.
"""

import json
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location


def main() -> None:
    """Take the kernels from the library, before anybody asks for them, and try them."""
    library, drawn_from, *numbers = sys.argv[1:]
    seed = bytes.fromhex(drawn_from)
    spec = spec_from_file_location("fairplay._kernels", library)
    assert spec is not None
    sys.modules["fairplay._kernels"] = module_from_spec(spec)
    comparing, fuzz = import_module("tests.kernels.comparing"), import_module("tests.kernels.fuzz")
    for number in range(*map(int, numbers)):
        one = range(number, number + 1)
        failures = [*fuzz.run_hostile_calls(one, seed)]
        failures += (failure for game in comparing.TRIALS for failure in comparing.run_trials(game, one, seed))
        print(json.dumps("".join(failures)), flush=True)


if __name__ == "__main__":
    main()
