"""List the measured ratings of the built-in players; `make ratings` rewrites this file.

Measured on 2026-11-17; docs/built_in_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "foresight": Rated(rating=442, low=361, high=524, matches=200),
    "best:500": Rated(rating=275, low=202, high=349, matches=200),
    "best:150": Rated(rating=100, low=30, high=170, matches=200),
    "dag": Rated(rating=-226, low=-296, high=-157, matches=200),
    "random": Rated(rating=-591, low=-720, high=-461, matches=200),
}
