"""Access log, metrics and traces of a hosted server."""
