"""`keyhole models`: install, list, verify and remove local models."""
