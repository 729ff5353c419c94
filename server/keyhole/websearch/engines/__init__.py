"""The search engines, one module each."""
