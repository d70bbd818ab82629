"""Define the version of fairplay, which journals carry."""

VERSION = "0.2.0"
