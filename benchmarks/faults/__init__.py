"""The parts of benchmarks/durability.py: ways in which a disk fails, and what is left afterwards."""
