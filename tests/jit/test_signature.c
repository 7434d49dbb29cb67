/* Signature text in every accepted form, every refusal, and the keys of type lists. */
#include "check.h"
#include "jit/jit.h"
#include "jit_tests.h"

/* "result (arguments)" as type_print writes them, or the message of the failure. */
static const char *parsed(const char *text, Arena *arena)
{
    Diag diag = {.id = DIAG_NONE};
    JitSignature signature;
    if (!jit_parse_signature(text, arena, &signature, &diag))
        return arena_string(arena, diag.message);
    Buf out = {0};
    if (signature.result)
        type_print(&out, signature.result);
    else
        buf_add(&out, "?");
    for (uint32_t i = 0; i < signature.count; i++) {
        buf_add(&out, i ? ", " : " <- ");
        type_print(&out, signature.arguments[i]);
    }
    const char *result = arena_string(arena, buf_text(&out));
    buf_free(&out);
    return result;
}

void test_signature_text(void)
{
    static const struct {
        const char *text, *expected;
    } cases[] = {
        {"void()", "none"},
        {"()", "?"},
        {"void(float32[:], int32)", "none <- f32[1 A], i32"},
        {"f4(f4)", "f32 <- f32"},
        {"f8(i8, u8, i4, u4, i2, u2, i1, u1)", "f64 <- i64, u64, i32, u32, i16, u16, i8, u8"},
        {"(int64, int64)", "? <- i64, i64"},
        {"(int64,)", "? <- i64"},
        {"float32[:], int32", "? <- f32[1 A], i32"},
        {" int64, ", "? <- i64"},
        {"float32[:,:], (int8, int8)", "? <- f32[2 A], (i8, i8)"},
        {"int32[:,::1](int32[:, ::1])", "i32[2 C] <- i32[2 C]"},
        {"void(float64[::1,:], boolean)", "none <- f64[2 F], bool"},
        {"void(float64[::1], float64[:,:,:])", "none <- f64[1 C], f64[3 A]"},
        {"void(c8, c16, complex64[:], b1)", "none <- c64, c128, c64[1 A], bool"},
        {"void(types.float16, types.intp)", "none <- f16, i64"},
        {"  void ( float32 [ : ] , int32 ) ", "none <- f32[1 A], i32"},
        {"void(UniTuple(int64, 2))", "none <- (i64, i64)"},
        {"void(UniTuple(int64 x 3))", "none <- (i64, i64, i64)"},
        {"void(Tuple((int64, float64)))", "none <- (i64, f64)"},
        {"void(Tuple(int64, float64))", "none <- (i64, f64)"},
        {"void((int64, (float32[:], int8)))", "none <- (i64, (f32[1 A], i8))"},
        {"void(Array(float32, 2, 'C'), Array(int8, 1, \"F\"))", "none <- f32[2 C], i8[1 F]"},
        {"void(Array(types.float32, 1, 'C', readonly=True, aligned=False))", "none <- f32[1 C ro]"},
        {"void(Array(float32, 1, 'A', False), Array(int8, 1, 'C', True))", "none <- f32[1 A], i8[1 C ro]"},
        {"void(NPDatetime('D'), types.NPTimedelta(\"10ms\")[:])", "none <- datetime(D), timedelta(10ms)[1 A]"},
        {"void(array(float32, 2d, A))", "none <- f32[2 A]"},
        {"void(readonly array(float32, 1d, C))", "none <- f32[1 C ro]"},
        {"void(none, float_, double, size_t, intc)", "none <- none, f32, f64, u64, i32"},
    };
    Arena *arena = arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_TEXT(parsed(cases[i].text, arena), cases[i].expected);
    arena_destroy(arena);
}

void test_signature_errors(void)
{
    static const struct {
        const char *text, *part;
    } cases[] = {
        {"", "expected a type"},
        {"float32", "in parentheses"},
        {"float99(int32)", "unknown type 'float99'"},
        {"void(float32", "expected ','"},
        {"void(float32,,)", "expected a type"},
        {"void(float32) junk", "unexpected 'junk'"},
        {"void(float32[)", "expected ':'"},
        {"void(float32[:)", "expected ']'"},
        {"void(float32[:, ::1, :])", "first or the last"},
        {"void(float32[::1, ::1])", "only one axis"},
        {"void(float32[::2])", "expected '1'"},
        {"void(float32[:,:,:,:,:,:,:,:,:])", "at most 8 dimensions"},
        {"void(void[:])", "numbers or records"},
        {"void(UniTuple(int64, 9999))", "up to 8192"},
        {"void(UniTuple(int64 2))", "expected ','"},
        {"void(Array(float32, 2, 'Z'))", "layout is C, F or A"},
        {"void(Array(float32, 2, 'C\"))", "layout is C, F or A"},
        {"void(Array(float32, 2, 'C', readonly=3))", "True or False"},
        {"void(Array(float32, 2, 'C', mutable=True))", "no 'mutable'"},
        {"void(NPDatetime('x'))", "unit of time"},
        {"void(NPDatetime())", "unit of time"},
        {"void(readonly float32)", "after 'readonly'"},
        {"readonly", "expected"},
        {"void(((((((((((((((((((((((((((((((((((((((((int32)", "too deeply"},
    };
    Arena *arena = arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_CONTAINS(parsed(cases[i].text, arena), cases[i].part);
    arena_destroy(arena);
}

void test_type_descriptions(void)
{
    const Type *pair[] = {TYPE_OF(INT64), TYPE_OF(INT32)};
    Buf text = {0};
    jit_describe_types(&text, pair, 2);
    CHECK_TEXT(buf_text(&text), "int64, int32");
    buf_free(&text);
}
