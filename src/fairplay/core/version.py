"""Say which fairplay this is; journals carry it."""

VERSION = "0.2.0"
