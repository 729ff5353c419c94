"""`keyhole doctor`: checks the installation and says how to fix what is wrong."""
