"""Plots for `--explain`: which parts of a page were returned, and why."""
