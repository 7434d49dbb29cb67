"""The command line, `python -m cujit`: what there is, what is kept on disk, code of a kernel, and foreign programs."""
