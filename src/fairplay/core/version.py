"""Say which fairplay this is; journals carry it."""

VERSION = "0.1.0"
