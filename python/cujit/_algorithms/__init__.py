"""Functions over whole arrays that take functions: elementwise, reduction, map, scan, sort and their kin."""
