"""Measure the source tree of the package: its size, its imports, and the modules that a fetch loads."""
