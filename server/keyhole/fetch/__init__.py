"""Fetch a URL as a Page. tests/test_architecture.py lists the files that do I/O."""
