"""Measure whether the bounded form of what a program printed still contains the answer."""
