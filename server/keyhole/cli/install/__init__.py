"""Registration of Keyhole with the clients of this machine, in the files that are theirs. No tools here."""
