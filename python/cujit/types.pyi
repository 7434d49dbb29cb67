from typing import Any

from cujit._core import Signature as Signature
from cujit._core import Type as Type

boolean: Type
bool_: Type
b1: Type
int8: Type
i1: Type
char: Type
int16: Type
i2: Type
short: Type
int32: Type
i4: Type
intc: Type
int64: Type
i8: Type
int_: Type
intp: Type
long_: Type
longlong: Type
ssize_t: Type
uint8: Type
u1: Type
byte: Type
uchar: Type
uint16: Type
u2: Type
ushort: Type
uint32: Type
u4: Type
uintc: Type
uint64: Type
u8: Type
uint: Type
uintp: Type
ulong: Type
ulonglong: Type
size_t: Type
float16: Type
f2: Type
bfloat16: Type
float32: Type
f4: Type
float64: Type
f8: Type
float_: Type
double: Type
complex64: Type
c8: Type
complex128: Type
c16: Type
none: Type
void: Type

def typeof(value: Any) -> Type: ...
def from_dtype(dtype: Any) -> Type: ...

signed_domain: frozenset[Type]
unsigned_domain: frozenset[Type]
integer_domain: frozenset[Type]
real_domain: frozenset[Type]
complex_domain: frozenset[Type]
number_domain: frozenset[Type]

# For isinstance(a_type, Integer); those that are called make a type.
class NoneType: ...
class Boolean: ...
class Integer: ...
class Float: ...
class Complex: ...
class Number: ...
class BaseTuple: ...
class Record: ...

class Array:
    def __new__(cls, dtype: Type, ndim: int, layout: str, readonly: bool = False) -> Type: ...  # type: ignore[misc]

class Tuple:
    def __new__(cls, items: Any) -> Type: ...  # type: ignore[misc]

class UniTuple:
    def __new__(cls, dtype: Type, count: int) -> Type: ...  # type: ignore[misc]

class NPDatetime:
    def __new__(cls, unit: str) -> Type: ...  # type: ignore[misc]

class NPTimedelta:
    def __new__(cls, unit: str) -> Type: ...  # type: ignore[misc]
