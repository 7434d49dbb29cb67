"""Loads and stores with a hint for the caches, by numba's module of them."""
from cujit.cuda import ldca, ldcg, ldcs, ldcv, ldlu, stcg, stcs, stwb, stwt  # noqa: F401
