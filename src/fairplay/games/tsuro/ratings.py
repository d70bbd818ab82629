"""List the measured ratings of the built-in players; `make ratings` rewrites this file.

Measured on 2026-11-17; docs/built_in_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "foresight": Rated(rating=186, low=158, high=214, matches=400),
    "survivor": Rated(rating=84, low=62, high=106, matches=400),
    "careless:44": Rated(rating=-17, low=-41, high=7, matches=400),
    "careless:78": Rated(rating=-114, low=-138, high=-90, matches=400),
    "third": Rated(rating=-138, low=-163, high=-114, matches=400),
}
