"""Code apart from Python's: sources and binaries of other compilers, what links and shows them."""
