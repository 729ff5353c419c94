"""Settings: schema, parsers, defaults, and loading from the environment and the settings file."""
