"""Know how strong the house players are; `make ratings` writes this anew.

Measured on 2026-11-17; docs/house_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "best": Rated(rating=522, low=436, high=608, matches=300),
    "dag": Rated(rating=-30, low=-80, high=19, matches=300),
    "ldasg": Rated(rating=-50, low=-97, high=-3, matches=300),
    "random": Rated(rating=-441, low=-510, high=-373, matches=300),
}
