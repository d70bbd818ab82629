"""Know how strong the house players are; `make ratings` writes this anew.

Measured on 2026-11-17; docs/house_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "survivor": Rated(rating=223, low=202, high=243, matches=900),
    "second": Rated(rating=-48, low=-63, high=-32, matches=900),
    "random": Rated(rating=-62, low=-78, high=-45, matches=900),
    "third": Rated(rating=-113, low=-131, high=-96, matches=900),
}
