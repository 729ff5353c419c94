"""Optional reranking of passages by the scorers of an extension; off by default."""
