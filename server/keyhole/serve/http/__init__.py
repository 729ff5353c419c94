"""The server on streamable HTTP: who is let in, how many at once, and what is told of it. No tools and no retrieval."""
