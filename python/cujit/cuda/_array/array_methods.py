"""NumPy's methods of device arrays beyond operators and sums: where the largest element is, deviations, order, matrix
products. What they do is in _algorithms/array_methods.py and matrix_product.py, which load with the call."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cujit import _core

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from cujit._annotations import StreamLike
    from cujit.cuda.devicearray import DeviceNDArray


class ArrayMethods(_core.DeviceArrayBase):
    """What DeviceNDArray computes by algorithms."""

    def __matmul__(self, other: Any) -> Any:
        return _product(self, other, other)

    def __rmatmul__(self, other: Any) -> Any:
        return _product(other, self, other)

    def dot(self, b: Any, out: Any = None, stream: StreamLike = 0) -> Any:
        """The product of matrices, of a matrix and a vector, or of two vectors: array @ b.

        Parameters
        ----------
        b : array
            Of one axis or two.
        out : array, optional
            Where the result goes.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray

        Raises
        ------
        ValueError
            The lengths do not fit, or there are more axes: array @ b is of stacks of matrices.

        Examples
        --------
        >>> float(cuda.to_device([1.0, 2.0]).dot([3.0, 4.0]))
        11.0
        """
        from cujit._algorithms import matrix_product

        return matrix_product.dot(self, b, out, stream)

    # --- places ------------------------------------------------------------------------------------------------------

    def argmax(self, axis: int | None = None, out: Any = None, keepdims: bool = False, stream: StreamLike = 0) -> Any:
        """The place of the greatest element, the first one of equals; of a NaN where one is.

        Parameters
        ----------
        axis : int, optional
            Along which one; without it in the elements in C order.
        out : array, optional
            Where the result goes, of int64.
        keepdims : bool
            Whether the axis stays, with length one.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Of int64; without axes where all were reduced. Nothing waits for it.

        Raises
        ------
        ValueError
            There is no element.

        Examples
        --------
        >>> int(cuda.to_device([2, 7, 5]).argmax())
        1
        """
        from cujit._algorithms import array_methods

        return array_methods.place_of(self, "argmax", axis, out, keepdims, stream)

    def argmin(self, axis: int | None = None, out: Any = None, keepdims: bool = False, stream: StreamLike = 0) -> Any:
        """The place of the least element, the first one of equals; of a NaN where one is.

        Parameters
        ----------
        axis, out, keepdims, stream
            As for argmax.

        Returns
        -------
        DeviceNDArray
            Of int64.

        Examples
        --------
        >>> cuda.to_device([[2, 1], [0, 5]]).argmin(axis=1).copy_to_host()
        array([1, 0])
        """
        from cujit._algorithms import array_methods

        return array_methods.place_of(self, "argmin", axis, out, keepdims, stream)

    def nonzero(self, stream: StreamLike = 0) -> tuple[DeviceNDArray, ...]:
        """The places of the elements that are not zero, in C order. Waits for their number.

        Parameters
        ----------
        stream : Stream or int
            Orders the work.

        Returns
        -------
        tuple of DeviceNDArray
            An array of int64 for each axis.

        Examples
        --------
        >>> cuda.to_device([0, 3, 0, 5]).nonzero()[0].copy_to_host()
        array([1, 3])
        """
        from cujit._algorithms import array_methods

        return array_methods.nonzero(self, stream)

    # --- order -------------------------------------------------------------------------------------------------------

    def sort(self, axis: int = -1, kind: str | None = None, stream: StreamLike = 0) -> None:
        """Puts the elements in order, in place; NaN last. Equal elements keep their order.

        Parameters
        ----------
        axis : int
            Along which one.
        kind : str, optional
            One of NumPy's names, all of which mean the same: the order is stable.
        stream : Stream or int
            Orders the work.

        Examples
        --------
        >>> array = cuda.to_device([3, 1, 2])
        >>> array.sort()
        >>> array.copy_to_host()
        array([1, 2, 3])
        """
        from cujit._algorithms import sort

        _check_kind(kind)
        sort.sort(self, axis=axis, out=self, stream=stream)

    def argsort(self, axis: int = -1, kind: str | None = None, stream: StreamLike = 0) -> DeviceNDArray:
        """The places of the elements in their order; of equal ones in the order in which they are.

        Parameters
        ----------
        axis : int
            Along which one.
        kind : str, optional
            One of NumPy's names, all of which mean the same: the order is stable.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray
            Of int64.

        Examples
        --------
        >>> cuda.to_device([3, 1, 2]).argsort().copy_to_host()
        array([1, 2, 0])
        """
        from cujit._algorithms import sort

        _check_kind(kind)
        return sort.argsort(self, axis=axis, stream=stream)

    # --- deviations --------------------------------------------------------------------------------------------------

    def var(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
            keepdims: bool = False, where: Any = True, stream: StreamLike = 0) -> Any:
        """The mean of the squares of the elements' deviations from their mean.

        Parameters
        ----------
        axis, out, keepdims, where, stream
            As for sum.
        dtype : dtype_like, optional
            What is computed in; float64 for integers, float32 for float16 unless it is given.
        ddof : float
            The sum of the squares is divided by the number of the elements less this.

        Returns
        -------
        DeviceNDArray
            Of real numbers.

        Examples
        --------
        >>> float(cuda.to_device([1.0, 3.0]).var()), float(cuda.to_device([1.0, 3.0]).var(ddof=1))
        (1.0, 2.0)
        """
        from cujit._algorithms import array_methods

        return array_methods.variance(self, axis, dtype, out, ddof, keepdims, where, stream)

    def std(self, axis: Any = None, dtype: DTypeLike | None = None, out: Any = None, ddof: float = 0,
            keepdims: bool = False, where: Any = True, stream: StreamLike = 0) -> Any:
        """The standard deviation: the square root of var.

        Parameters
        ----------
        axis, dtype, out, ddof, keepdims, where, stream
            As for var.

        Returns
        -------
        DeviceNDArray
            Of real numbers.

        Examples
        --------
        >>> float(cuda.to_device([1.0, 3.0]).std())
        1.0
        """
        from cujit._algorithms import array_methods

        return array_methods.deviation(self, axis, dtype, out, ddof, keepdims, where, stream)

    def ptp(self, axis: Any = None, out: Any = None, keepdims: bool = False, stream: StreamLike = 0) -> Any:
        """The greatest element less the least one.

        Parameters
        ----------
        axis, out, keepdims, stream
            As for sum.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> int(cuda.to_device([2, 7, 5]).ptp())
        5
        """
        from cujit._algorithms import array_methods

        return array_methods.extent(self, axis, out, keepdims, stream)

    # --- each element ------------------------------------------------------------------------------------------------

    def cumprod(self, axis: int | None = None, dtype: DTypeLike | None = None, out: Any = None,
                stream: StreamLike = 0) -> Any:
        """Each element with all before it, as a product.

        Parameters
        ----------
        axis : int, optional
            Along which one; without it the elements in C order.
        dtype, out, stream
            As for sum.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> cuda.to_device([1, 2, 3]).cumprod().copy_to_host()
        array([1, 2, 6])
        """
        from cujit._algorithms import array_methods

        return array_methods.accumulated(self, "multiply", axis, dtype, out, stream)

    def round(self, decimals: int = 0, out: Any = None, stream: StreamLike = 0) -> Any:
        """The elements with so many decimals; what is halfway goes to the even neighbour.

        Parameters
        ----------
        decimals : int
            Below zero: places before the decimal point.
        out : array, optional
            Where the result goes.
        stream : Stream or int
            Orders the work.

        Returns
        -------
        DeviceNDArray

        Examples
        --------
        >>> cuda.to_device([1.25, 2.5]).round(1).copy_to_host(), cuda.to_device([15, 24]).round(-1).copy_to_host()
        (array([1.2, 2.5]), array([20, 20]))
        """
        from cujit._algorithms import array_methods

        return array_methods.rounded(self, decimals, out, stream)


def _check_kind(kind: str | None) -> None:
    if kind not in (None, "stable", "quicksort", "mergesort", "heapsort"):
        raise ValueError(f"there is no kind of sorting {kind!r}")


def _product(first: Any, second: Any, other: Any) -> Any:
    """The product of both; NotImplemented where `other`, one of them, is no array."""
    from cujit._algorithms import matrix_product

    return matrix_product.matmul(first, second) if matrix_product.is_operand(other) else NotImplemented
