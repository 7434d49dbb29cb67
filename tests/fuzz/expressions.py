"""Random typed expressions. An expression is a pair (text, type); a type is a scalar's name or a tuple of types."""
from typed_values import BINARY, FLOATS, INTEGERS, PARTS, UNARY, lift

INPUT_KINDS = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
               "complex64", "complex128"]
WEIGHTS = [2, 2, 2, 4, 6, 2, 2, 3, 3, 5, 6, 1, 1]
INPUTS = 4      # numbers of each type that a thread reads
MATH1 = {"sqrt": "MATH", "floor": "MATH", "ceil": "MATH", "trunc": "MATH", "fabs": "MATH", "sin": "MATH", "cos": "MATH",
         "exp": "MATH", "atan": "MATH_WIDE", "expm1": "MATH_WIDE"}
MATH2 = {"copysign": "COPYSIGN", "fmod": "COPYSIGN", "atan2": "ATAN2", "hypot": "ATAN2", "remainder": "COPYSIGN"}
LITERALS = [0, 1, 2, 3, 5, 7, 8, 10, 31, 63, 64, 100, 127, 128, 255, 256, 1000, 32767, 65535, 65536, 2**31 - 1, 2**31,
            2**32 - 1, 2**32, 2**53 + 1, 2**62, 2**63 - 1, 2**63, 2**64 - 1]
REALS = ["0.0", "0.5", "1.0", "1.5", "2.0", "0.1", "3.25", "100.0", "1e-3", "1e10", "1e300", "16777217.0"]


def unify(*kinds):
    """The type of a value that has one of these types, or None."""
    result = kinds[0]
    for kind in kinds[1:]:
        if isinstance(result, tuple) or isinstance(kind, tuple):
            if not (isinstance(result, tuple) and isinstance(kind, tuple) and len(result) == len(kind)):
                return None
            items = [unify(a, b) for a, b in zip(result, kind, strict=True)]
            result = None if None in items else tuple(items)
        else:
            result = BINARY["UNIFY"][result, kind]
        if result is None:
            return None
    return result


def is_literal(text):
    """Whether CPython computes it while compiling."""
    return not set(text.replace("True", "1").replace("False", "0")) - set("0123456789+-*/%()<>=&|^~. ej")


class Expressions:
    """Makes expressions of what is in sight: self.variables {name: type}, self.helpers, self.arrays, self.random."""

    def pick(self, *choices):
        return self.random.choice(choices)

    def chance(self, probability):
        return self.random.random() < probability

    def scalar_kind(self):
        return self.random.choices(INPUT_KINDS, WEIGHTS)[0]

    # --- leaves ---

    def literal(self):
        roll = self.random.random()
        if roll < 0.55:
            number = self.random.choice(LITERALS) if self.chance(0.25) else self.random.randrange(12)
            if self.chance(0.25) and number < 2**63:
                number = -number
            return f"({number})" if number < 0 else str(number), lift(number).kind
        if roll < 0.9:
            return self.random.choice(REALS), "float64"
        if roll < 0.97:
            return self.pick("True", "False"), "bool"
        return self.pick("1j", "(2-0.5j)", "0j"), "complex128"

    def read_input(self, kind=None):
        """A number that only the run knows."""
        kind = kind or self.scalar_kind()
        place = self.pick(*map(str, range(INPUTS)), "-1", f"-{INPUTS}")
        if self.chance(0.1):
            place = f"({self.integer(1)[0]}) % {INPUTS}"
        self.used.add(kind)
        return self.pick(f"in_{kind}[t, {place}]", f"row_{kind}[{place}]"), kind

    def open_input(self, kind=None):
        """A number that no compiler can know."""
        return self.read_input(kind)

    def leaf(self):
        names = [name for name, kind in self.variables.items() if not isinstance(kind, tuple)]
        roll = self.random.random()
        if names and roll < 0.55:
            name = self.random.choice(names)
            return name, self.variables[name]
        tuples = [name for name, kind in self.variables.items() if isinstance(kind, tuple) and kind]
        if tuples and roll < 0.65:
            return self.tuple_item(self.random.choice(tuples))
        if roll < 0.75:
            return self.literal()
        if self.arrays and roll < 0.82:
            return self.array_item(self.random.choice(list(self.arrays)))
        return self.read_input()

    def tuple_item(self, text):
        kind, path = self.variables[text], text
        while isinstance(kind, tuple):
            if not kind:
                return self.literal()
            if self.chance(0.2) and len(set(kind)) == 1:
                path += f"[({self.integer(1)[0]}) % {len(kind)}]"
                kind = kind[0]
            else:
                i = self.random.randrange(len(kind))
                path += f"[{i - len(kind) if self.chance(0.3) else i}]"
                kind = kind[i]
        return path, kind

    def index_below(self, size):
        roll = self.random.random()
        if roll < 0.4:
            return str(self.random.randrange(size))
        if roll < 0.6:
            return str(-1 - self.random.randrange(size))
        return f"({self.integer(1)[0]}) % {size}"

    def array_item(self, name):
        kind, size = self.arrays[name]
        return f"{name}[{self.index_below(size)}]", kind

    # --- of a wanted kind ---

    def coerce(self, expression, kind):
        """The expression as one of exactly this type."""
        text, source = expression
        if source == kind:
            return text
        if isinstance(kind, tuple) or isinstance(source, tuple):
            return self.value_of(kind, 1)
        if source in PARTS and kind not in PARTS and kind != "bool":
            text, source = f"({text}).real", PARTS[source]
        return text if source == kind else f"{kind if kind != 'bool' else 'bool'}({text})"

    def value_of(self, kind, depth):
        if isinstance(kind, tuple):
            items = ", ".join(self.value_of(k, depth) for k in kind)
            return f"({items},)" if len(kind) == 1 else f"({items})"
        same = [name for name, k in self.variables.items() if k == kind]
        if same and self.chance(0.2):
            return self.random.choice(same)
        return self.coerce(self.expression(depth), kind)

    def integer(self, depth):
        text, kind = self.expression(depth)
        if kind in INTEGERS:
            return text, kind
        if kind in PARTS:
            text, kind = f"({text}).imag", PARTS[kind]
        target = self.pick("int64", "int32", "uint8", "int") if kind != "bool" else "int64"
        return f"{target}({text})", "int64" if target == "int" else target

    def real(self, depth):
        text, kind = self.expression(depth)
        return (f"({text}).real", PARTS[kind]) if kind in PARTS else (text, kind)

    def condition(self, depth):
        """Any truth value."""
        roll = self.random.random()
        if roll < 0.5:
            return self.comparison(depth)[0]
        if roll < 0.65:
            return f"({self.condition(depth - 1)} {self.pick('and', 'or')} {self.condition(depth - 1)})" if depth > 0 \
                else self.expression(0)[0]
        if roll < 0.75:
            return f"(not {self.expression(depth - 1)[0]})"
        return self.expression(depth - 1)[0]

    def open_condition(self):
        """One that no compiler can decide: paths of both outcomes exist."""
        kind = self.pick("int32", "int64", "float64", "uint8")
        return f"{self.open_input(kind)[0]} {self.pick('<', '>', '<=', '!=')} {self.pick('3', '0', '-1', '2.5', '100')}"

    # --- inner nodes ---

    def expression(self, depth):
        if depth <= 0 or self.chance(0.12):
            return self.leaf()
        makers = [(self.arithmetic, 10), (self.division, 3), (self.bits, 3), (self.shift, 2), (self.comparison, 3),
                  (self.unary, 3), (self.function, 4), (self.cast, 3), (self.ternary, 3), (self.and_or, 2),
                  (self.power, 1), (self.extreme, 2), (self.helper_call, 3), (self.membership, 1),
                  (self.complex_part, 1)]
        maker = self.random.choices([m for m, _ in makers], [w for _, w in makers])[0]
        made = maker(depth - 1)
        if not made or is_literal(made[0]):    # an int that CPython folds may be too large for a kernel
            return self.leaf()
        return made

    def arithmetic(self, depth):
        (a, x), (b, y) = self.expression(depth), self.expression(depth)
        return f"({a} {self.pick('+', '-', '*')} {b})", BINARY["ARITHMETIC"][x, y]

    def division(self, depth):
        if self.chance(0.1):
            (a, x), (b, y) = self.expression(depth), self.expression(depth)
            return f"({a} / {b})", BINARY["TRUE_DIVIDE"][x, y]
        (a, x), (b, y) = self.real(depth), self.real(depth)
        operator = self.pick("/", "//", "%", "//", "%")
        return f"({a} {operator} {b})", BINARY["TRUE_DIVIDE" if operator == "/" else "FLOOR_DIVIDE"][x, y]

    def bits(self, depth):
        (a, x), (b, y) = self.integer(depth), self.integer(depth)
        return f"({a} {self.pick('&', '|', '^')} {b})", BINARY["BITWISE"][x, y]

    def shift(self, depth):
        (a, x), (b, y) = self.integer(depth), self.integer(depth)
        count, y = (str(self.random.randrange(64)), "int64") if self.chance(0.6) else (b, y)
        return f"({a} {self.pick('<<', '>>')} {count})", BINARY["SHIFT"][x, y]

    def comparison(self, depth):
        items = [self.real(depth) for _ in range(3 if self.chance(0.25) else 2)]
        text = items[0][0]
        for item, _ in items[1:]:
            text += f" {self.pick('<', '<=', '==', '!=', '>', '>=')} {item}"
        return f"({text})", "bool"

    def unary(self, depth):
        operator = self.pick("-", "-", "+", "~", "not ", "abs")
        if operator == "abs":
            text, kind = self.expression(depth)
            return f"abs({text})", UNARY["ABS"][kind]
        if operator == "~":
            text, kind = self.integer(depth)
            return f"(~{text})", UNARY["INVERT"][kind]
        text, kind = self.expression(depth)
        return f"({operator}{text})", "bool" if operator == "not " else UNARY["NEGATE"][kind]

    def function(self, depth):
        roll = self.random.random()
        if roll < 0.35:
            name = self.random.choice(list(MATH1))
            text, kind = self.real(depth)
            return f"math.{name}({text})", UNARY[MATH1[name]][kind]
        if roll < 0.55:
            name = self.random.choice(list(MATH2))
            (a, x), (b, y) = self.real(depth), self.real(depth)
            return f"math.{name}({a}, {b})", BINARY[MATH2[name]][x, y]
        text, kind = self.real(depth)
        if roll < 0.75:
            return f"round({text})", "int64"
        if roll < 0.9:
            return f"math.{self.pick('isnan', 'isinf', 'isfinite')}({text})", "bool"
        other, kind_of_other = self.real(depth)
        return f"divmod({text}, {other})[{self.pick(0, 1)}]", BINARY["DIVMOD"][kind, kind_of_other]

    def cast(self, depth):
        name = self.pick("int", "float", "bool", *INPUT_KINDS[1:])
        text, kind = self.expression(depth)
        if kind in PARTS and name not in PARTS and name != "bool":
            text, kind = f"({text}).real", PARTS[kind]
        if name == "int":
            return f"int({text})", UNARY["INT"][kind] or "int64"
        if name == "float":
            return f"float({text})", UNARY["FLOAT"][kind] or "float64"
        return f"{name}({text})", name

    def path(self, depth):
        """A value that paths meet with. Those of a choice in it would meet all at once, and the type of three is not
        always that of two and one: float32, int8 and uint16 are float32; int8 and uint16 int32, which with float32 is
        float64."""
        text, kind = self.expression(depth)
        return (f"{kind}({text})" if text.startswith("_join(") else text), kind

    def ternary(self, depth):
        (a, x), (b, y) = self.path(depth), self.path(depth)
        condition = self.condition(depth) if x == y else self.open_condition()
        text = f"({a} if {condition} else {b})"
        kind = unify(x, y)
        return (text, x) if x == y else (f"_join({kind!r}, {text})", kind)

    def and_or(self, depth):
        (a, x), (b, y) = self.open_input(), self.path(depth)
        kind = unify(x, y)
        text = f"({a} {self.pick('and', 'or')} {b})"
        return (text, x) if x == y else (f"_join({kind!r}, {text})", kind)

    def power(self, depth):
        text, kind = self.expression(depth)
        exponent = self.pick(0, 1, 2, 2, 3, 4, 5, 10, 33, -1, -2)
        text = f"pow({text}, {exponent})" if self.chance(0.2) else f"({text} ** {exponent})"
        return text, kind if kind in FLOATS else BINARY["POWER"][kind, "int64"]

    def extreme(self, depth):
        items = [self.real(depth) for _ in range(3 if self.chance(0.2) else 2)]
        items = [(f"int64({text})", "int64") if kind == "bool" else (text, kind) for text, kind in items]
        kind = items[0][1]
        for _, other in items[1:]:
            kind = BINARY["MIN_MAX"][kind, other]
        return f"{self.pick('min', 'max')}({', '.join(text for text, _ in items)})", kind

    def membership(self, depth):
        text, _ = self.integer(depth)
        if self.chance(0.5):
            items = ", ".join(self.coerce(self.leaf(), "int64") for _ in range(3))
            return f"({text} {self.pick('in', 'not in')} ({items}))", "bool"
        start, stop = self.random.randrange(-5, 5), self.random.randrange(0, 100)
        return f"(int64({text}) in range({start}, {stop}, {self.pick(1, 2, 3)}))", "bool"

    def complex_part(self, depth):
        text, kind = self.expression(depth)
        if kind not in PARTS:
            other, kind_of_other = self.real(depth)
            if kind == "bool" or kind_of_other == "bool":
                return None
            both = kind == kind_of_other == "float32"
            return f"complex({text}, {other})", "complex64" if both else "complex128"
        part = self.pick("real", "imag", "conjugate()")
        return f"({text}).{part}", kind if part == "conjugate()" else PARTS[kind]

    def helper_call(self, depth):
        if not self.helpers:
            return None
        helper = self.random.choice(self.helpers)
        given, keywords = [], []
        for name, kind, has_default in helper.parameters:
            if has_default and self.chance(0.5):
                keywords.append(name)
                continue
            value = self.value_of(kind, min(depth, 1))
            given.append(f"{name}={value}" if keywords or self.chance(0.15) else value)
            if "=" in given[-1] and given[-1].startswith(f"{name}="):
                keywords.append(name)
        text, kind = f"{helper.name}({', '.join(given)})", helper.result
        while isinstance(kind, tuple):
            i = self.random.randrange(len(kind))
            text, kind = f"{text}[{i}]", kind[i]
        return text, kind

