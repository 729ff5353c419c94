"""Parts of benchmarks/store/durability.py: disk failures, and checks of the data that survives them."""
