"""What every layer uses: extensions, the owner of a call, fair slots, deferred imports."""
