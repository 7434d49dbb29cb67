"""Memory apart from arrays: its owners, its managers, and other processes' memory."""
