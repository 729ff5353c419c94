"""Parts of benchmarks/extraction/extraction.py: peers, environments, runners, scores, tables, and large pages.

The server imports none of these modules.
"""
