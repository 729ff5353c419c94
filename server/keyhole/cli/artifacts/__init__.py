"""`keyhole artifacts`: the stored pages from a terminal, and from one installation to another. No tool uses it."""
