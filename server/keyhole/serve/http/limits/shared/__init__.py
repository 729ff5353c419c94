"""What servers that share one PostgreSQL tell each other of their load. No artifact and no page passes through."""
