"""Functions of kernels that are written in the kernel language itself. The compiler puts them in the place of what
stands_for() says (cmath.sin, ...); nobody calls them on the host."""
