"""List the course's x-programs of every game."""

from collections.abc import Mapping

from fairplay.harness import fish, q, tsuro
from fairplay.harness.cases import Harness
from fairplay.harness.over_network import xserver_xclients

HARNESSES: Mapping[str, Mapping[str, Harness]] = {
    "fish": fish.HARNESSES,
    "tsuro": tsuro.HARNESSES,
    "q": {**q.HARNESSES, "xserver-xclients": xserver_xclients},
}
