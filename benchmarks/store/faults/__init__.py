"""The parts of benchmarks/store/durability.py: ways in which a disk fails, and what is left afterwards."""
