"""`keyhole doctor`: check the installation and say how to fix problems."""
