"""List the measured ratings of the built-in players; `make ratings` rewrites this file.

Measured on 2026-11-17; docs/built_in_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "territory": Rated(rating=1218, low=1061, high=1376, matches=200),
    "territory:1000": Rated(rating=644, low=514, high=774, matches=200),
    "sampler": Rated(rating=48, low=-2, high=98, matches=200),
    "greedy": Rated(rating=-675, low=-764, high=-587, matches=200),
    "random": Rated(rating=-1235, low=-1619, high=-851, matches=200),
}
