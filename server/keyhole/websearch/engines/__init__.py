"""The search engines, one module for each."""
