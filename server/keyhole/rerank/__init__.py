"""Optional reranking of passages by HTTP services; off by default."""
