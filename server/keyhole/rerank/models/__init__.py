"""Local models that rerank passages: their folders, manifests, downloads and inference; off without a model."""
