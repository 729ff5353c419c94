"""`keyhole artifacts`: lists, shows, searches, checks and removes the stored artifacts."""
