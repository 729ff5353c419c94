"""Settings: their schema, parsers and defaults, and where they are read from."""
