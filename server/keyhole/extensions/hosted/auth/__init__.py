"""Authentication of HTTP requests: bearer tokens from a file, and OAuth."""
