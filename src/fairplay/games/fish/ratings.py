"""Know how strong the house players are; `make ratings` writes this anew.

Measured on 2026-11-17; docs/house_players.md says how.
"""

from fairplay.core.roles import Rated

RATINGS = {
    "greedy": Rated(rating=453, low=396, high=510, matches=600),
    "lookahead:2": Rated(rating=24, low=-6, high=54, matches=600),
    "random": Rated(rating=-145, low=-179, high=-112, matches=600),
    "lookahead:1": Rated(rating=-332, low=-370, high=-293, matches=600),
}
