"""Tide gauge readings: collecting, keeping, comparing."""

__version__ = "0.7.2"
