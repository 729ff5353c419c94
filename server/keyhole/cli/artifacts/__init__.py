"""`keyhole artifacts`: lists, shows, searches, removes, exports and imports the stored pages."""
