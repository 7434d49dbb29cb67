"""Kernels that nobody tuned a compiler for, one file for each family; importing this fills entry.ENTRIES."""

from collection import (
    bits,
    dense,
    dynamic_programming,
    functions,
    gathers,
    graph_search,
    images,
    loops_items,
    loops_parts,
    loops_planes,
    monte_carlo,
    number_kinds,
    particles,
    scans,
    sorting,
    sparse,
    stencils,
    transforms,
)

FAMILIES = (stencils, sparse, gathers, dense, sorting, scans, bits, monte_carlo, dynamic_programming, graph_search,
            particles, images, number_kinds, functions, transforms)
LOOPS = (loops_items, loops_parts, loops_planes)
