/* intrinsic.def's rows, and kernel parameter layouts. */
#include "check.h"
#include "core/intrinsic/intrinsic.h"
#include "core/kernel/kernel_abi.h"
#include "core_tests.h"

static void check_row(IntrinsicId id)
{
    const IntrinsicInfo *info = &intrinsic_info[id];
    bool ok = info->kind != INTRINSIC_KIND_NONE && *info->id && *info->doc;
    char path[64];
    for (const char *at = info->path; *at && ok; at += strcspn(at, " "), at += strspn(at, " ")) {
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at, " "), at);
        ok = intrinsic_by_path(path) == id && strchr(path, '.');
    }
    switch (info->kind) {
    case INTRINSIC_KIND_REGISTER:
        ok = ok && info->type && info->nvptx && info->low <= info->high && !info->arity;
        break;
    case INTRINSIC_KIND_MATH:
        ok = ok && info->libdevice64 && info->libdevice32 && info->host64 && info->host32 && info->arity >= 1;
        break;
    case INTRINSIC_KIND_LIBDEVICE:
        ok = ok && strspn(info->signature, "vhilfd:") == strlen(info->signature) &&
             intrinsic_signature(id).result_count && intrinsic_signature(id).argument_count;
        break;
    default: break;
    }
    if (!check_that(ok, __FILE__, __LINE__, "a row holds together"))
        fprintf(stderr, "row %s\n", info->id);
}

void test_intrinsic(void)
{
    for (int id = INTRINSIC_NONE + 1; id < INTRINSIC_COUNT; id++)
        check_row((IntrinsicId)id);
    CHECK(intrinsic_by_path("math.sin") == INTRINSIC_SIN);
    CHECK(intrinsic_by_path("cuda.threadIdx.x") == INTRINSIC_CUDA_THREAD_IDX_X);
    CHECK(intrinsic_by_path("math.cbrt") == INTRINSIC_CBRT && intrinsic_by_path("cuda.cbrt") == INTRINSIC_CBRT);
    CHECK(intrinsic_by_path("cuda.threadIdx.w") == INTRINSIC_NONE && intrinsic_by_path("") == INTRINSIC_NONE);
    CHECK(intrinsic_by_path("math.si") == INTRINSIC_NONE && intrinsic_by_path("cuda.cbrt math.cbrt") == INTRINSIC_NONE);
    CHECK(intrinsic_info[INTRINSIC_CUDA_SYNCTHREADS].effects & EFFECT_BLOCK_SYNC);
    CHECK(intrinsic_info[INTRINSIC_CUDA_THREAD_IDX_X].type == TYPE_OF(INT32));
}

/* The layout as text: a letter for the kind and the offset of every field, then the size. */
static void check_passing_layout(const char *tuple, const uint8_t *passed, bool reports, const char *expected)
{
    Arena *arena = arena_create();
    const char *at = tuple;
    const Type *type = type_parse(arena, &at);
    const KernelAbi *abi =
        kernel_abi_with_values(type->items, type->count, passed, passed ? type->count : 0, reports, arena);
    Buf buf = {0};
    for (uint32_t i = 0; i < abi->field_count; i++)
        buf_printf(&buf, "%u%c%u ", abi->fields[i].parameter, "spxtveg"[abi->fields[i].kind], abi->fields[i].offset);
    buf_printf(&buf, "%u", abi->size);
    CHECK_TEXT(buf_text(&buf), expected);
    buf_free(&buf);
    arena_destroy(arena);
}

static void check_reporting_layout(const char *tuple, bool reports, const char *expected)
{
    check_passing_layout(tuple, NULL, reports, expected);
}

static void check_layout(const char *tuple, const char *expected) { check_reporting_layout(tuple, false, expected); }

void test_kernel_abi(void)
{
    check_layout("()", "0");
    check_layout("(f64, f32[1 C])", "0s0 1p8 1x16 24");
    check_layout("(i8, i64, bool, i32, i16)", "0s0 1s8 2s16 3s20 4s24 26");
    check_layout("(bool, c64, c128)", "0s0 1s4 1s8 2s16 2s24 32");
    check_layout("(f32[2 A], f32[2 F])", "0p0 0x8 0x16 0t24 0t32 1p40 1x48 1x56 64");
    check_layout("((i8, (i32, none)), none, range(i64, i64, i64))", "0s0 0s4 2s8 2s16 2s24 32");
    check_layout("(f32[0 C])", "0p0 8");
    check_reporting_layout("(i8)", true, "0s0 1e8 1g16 24");
    static const char records[] = "(record p{8 4, a: f32 @0, b: i32 @4}[0 C], i8, record q{1 1, c: u8 @0}[0 C])";
    check_layout(records, "0p0 1s8 2p16 24");
    check_passing_layout(records, (const uint8_t[]){PASSED_BY_VALUE, PASSED_BY_POINTER, PASSED_BESIDE_VALUE}, true,
                         "0p0 1s8 2p16 0v32 2v48 3e56 3g64 72");
    Arena *arena = arena_create();
    const Type *array = type_array(arena, TYPE_OF(FLOAT32), 2, LAYOUT_ANY, false);
    const KernelAbi *abi = kernel_abi_layout(&array, 1, false, arena);
    CHECK(abi->field_count == 5 && abi->fields[0].type == array && abi->fields[2].axis == 1 &&
          abi->fields[4].axis == 1);
    CHECK(abi->fields[3].kind == ABI_STRIDE && abi->fields[3].type == TYPE_OF(INT64) && abi->fields[3].size == 8);
    const Type *complex64 = TYPE_OF(COMPLEX64);
    const Type *mixed[] = {TYPE_OF(INT8), array, TYPE_OF(FLOAT32), TYPE_OF(COMPLEX128)};
    const KernelAbi *pointers = kernel_abi_pointers(mixed, 4, arena);
    CHECK(pointers->only_pointers && pointers->field_count == 5 && pointers->size == 48);
    CHECK(pointers->fields[1].kind == ABI_POINTER && pointers->fields[1].offset == 8 &&
          pointers->fields[2].offset == 16);
    CHECK(pointers->fields[3].offset == 32 && pointers->fields[4].offset == 40);
    CHECK(kernel_abi_layout(&complex64, 1, false, arena)->fields[1].type == TYPE_OF(FLOAT32));
    arena_destroy(arena);
}
