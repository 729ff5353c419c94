"""The server over streamable HTTP: middleware, authentication, limits and telemetry."""
