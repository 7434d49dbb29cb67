/* Every row of op.def and of intrinsic.def compiles for every architecture and for the host. */
#include <stdlib.h>

#include "codegen_tests.h"

typedef struct Sample {
    IrOp op;
    const char *body, *types;   /* NULL: another test compiles it for all targets */
} Sample;

static const Sample samples[] = {
    {IR_PARAM, "  %9: i64 = convert %1", "i64 i64"},
    {IR_CONST, "  %2: c64 = const (1.0, 2.0)\n  %9: c64 = add %1, %2", "c64 c64"},
    {IR_UNDEFINED, "  %9: i64 = undefined", "i64 i64"},
    {IR_DATA,
     "  %2: f64[1 C ro] = data f64[1 C] (1) strides (8) bytes 000000000000f03f\n  %3: i64 = const 0\n"
     "  %9: f64 = load %2[%1]",
     "i64 f64"},
    {IR_PHI,
     "  branch %1, block 1, block 2\nblock 1:\n  jump block 2\nblock 2:\n"
     "  %9: i64 = phi block 0: %0, block 1: %2",
     "bool i64 i64"},
    {IR_SELECT, "  %9: f32 = select %1, %2, %2", "bool f32 f32"},
    {IR_CONVERT, "  %3: i8 = convert %1\n  %4: f16 = convert %3\n  %5: u64 = convert %4\n  %9: f64 = convert %5",
     "f32 f64"},
    {IR_BITCAST, "  %9: i64 = bitcast %1", "c64 i64"},
    {IR_TUPLE, "  %3: (f32, f32) = tuple %1, %1\n  %9: f32 = get %3, 1", "f32 f32"},
    {IR_GET, "  %3: (f32, i64) = tuple %1, %0\n  %9: i64 = get %3, 1", "f32 i64"},
    {IR_PICK, "  %3: (f32, f32) = tuple %1, %1\n  %9: f32 = pick %3, %0", "f32 f32"},
    {IR_REAL, "  %9: f32 = real %1", "c64 f32"},
    {IR_IMAG, "  %9: f64 = imag %1", "c128 f64"},
    {IR_COMPLEX, "  %9: c64 = complex %1, %1", "f32 c64"},
    {IR_ADD, "  %9: f16 = add %1, %2", "f16 f16 f16"},
    {IR_SUB, "  %9: f32 = sub %1, %2", "f32 f32 f32"},
    {IR_MUL, "  %9: c128 = mul %1, %2", "c128 c128 c128"},
    {IR_DIV, "  %3: c128 = div %1, %2\n  %4: c64 = convert %3\n  %9: c64 = div %4, %4", "c128 c128 c64"},
    {IR_FLOORDIV, "  %3: f64 = floordiv %2, %2\n  %4: i64 = convert %3\n  %9: i64 = floordiv %1, %4", "i64 f64 i64"},
    {IR_MOD, "  %3: f32 = mod %2, %2\n  %4: u64 = convert %3\n  %9: u64 = mod %1, %4", "u64 f32 u64"},
    {IR_POW, "  %9: c64 = pow %1, %2", "c64 c64 c64"},
    {IR_POWI, "  %3: f64 = powi %2, %1\n  %4: i64 = powi %1, %1\n  %5: f64 = convert %4\n  %9: f64 = add %3, %5",
     "i64 f64 f64"},
    {IR_SHL, "  %9: i64 = shl %1, %2", "i64 i64 i64"},
    {IR_SHR, "  %9: u64 = shr %1, %2", "u64 u64 u64"},
    {IR_AND, "  %9: i8 = and %1, %2", "i8 i8 i8"},
    {IR_OR, "  %9: bool = or %1, %2", "bool bool bool"},
    {IR_XOR, "  %9: u16 = xor %1, %2", "u16 u16 u16"},
    {IR_MIN, "  %9: f16 = min %1, %2", "f16 f16 f16"},
    {IR_MAX, "  %9: f64 = max %1, %2", "f64 f64 f64"},
    {IR_NEG, "  %9: c64 = neg %1", "c64 c64"},
    {IR_NOT, "  %9: i64 = not %1", "i64 i64"},
    {IR_ABS, "  %9: f16 = abs %1", "f16 f16"},
    {IR_EQ, "  %9: bool = eq %1, %2", "c64 c64 bool"},
    {IR_NE, "  %9: bool = ne %1, %2", "f16 f16 bool"},
    {IR_LT, "  %9: bool = lt %1, %2", "u8 u8 bool"},
    {IR_LE, "  %9: bool = le %1, %2", "f32 f32 bool"},
    {IR_GT, "  %9: bool = gt %1, %2", "bool bool bool"},
    {IR_GE, "  %9: bool = ge %1, %2", "i64 i64 bool"},
    {IR_POPCOUNT, "  %9: i8 = popcount %1", "i8 i8"},
    {IR_LEADZEROS, "  %9: i16 = leadzeros %1", "i16 i16"},
    {IR_TRAILZEROS, "  %9: u64 = trailzeros %1", "u64 u64"},
    {IR_BITREVERSE, "  %9: u64 = bitreverse %1", "u64 u64"},
    {IR_FMA, "  %9: f64 = fma %1, %1, %1", "f64 f64"},
    {IR_INTRINSIC, NULL, NULL},
    {IR_EXTENT, "  %9: i64 = extent p1, 0", "f32 i64"},
    {IR_STRIDE, "  %9: i64 = stride p1, 0", "f32 i64"},
    {IR_ADDRESS, "  %9: i64 = address p1", "f32 i64"},
    {IR_WRAP, "  %9: i64 = wrap %1, %2", "i64 i64 i64"},
    {IR_LOAD, "  %9: c128 = load p1[%0]", "c128 c128"},
    {IR_STORE, "  store p1[%0], %2\n  %9: bool = not %2", "bool bool bool"},
    {IR_ATOMIC, NULL, NULL},
    {IR_SUBARRAY, "  %3: f32[1 A] = subarray p1[%0], extents [%0], strides [%0], offset 4\n  %9: f32 = load %3[%0]",
     "f32 f32"},
    {IR_SHARED, NULL, NULL},
    {IR_LOCAL, "  %3: f32[1 C] = local (64)\n  store %3[%0], %1\n  %9: f32 = load %3[%2]", "f32 i64 f32"},
    {IR_CELL,
     "  %3: bool = lt %0, %2\n  %4: (bool, f32, i64, f32[1 C]) = tuple %3, %1, %0, p1\n  %5: u8[0 C] = cell %4\n"
     "  %6: (bool, f32, i64, f32[1 C]) = cell_load %5\n  %7: f32 = get %6, 1\n  %8: f32[1 C] = get %6, 3\n"
     "  %10: f32 = load %8[%0]\n  %9: f32 = add %7, %10",
     "f32 i64 f32"},
    {IR_CELL_LOAD, "  %3: u8[0 C] = cell %1\n  cell_store %3, %2\n  %9: f32 = cell_load %3", "f32 f32 f32"},
    {IR_CELL_STORE, "  %3: u8[0 C] = cell %1\n  cell_store %3, %2\n  %9: f32 = cell_load %3", "f32 f32 f32"},
    {IR_CALL, NULL, NULL},
    {IR_JUMP, "  jump block 1\nblock 1:\n  %9: f32 = add %1, %1", "f32 f32"},
    {IR_BRANCH, NULL, NULL},
    {IR_RETURN, NULL, NULL},
    {IR_FOREIGN, NULL, NULL}, /* links with nothing here: tests/python/cuda/test_foreign.py */
    {IR_PRINT,
     "  %3: bool = lt %1, %2\n  %4: f64 = convert %1\n  print \"%s %lld %8.3f%%\", %3, %1, %4\n  print \"only text\"\n"
     "  %9: i64 = add %1, %2",
     "i64 i64 i64"},
    {IR_LINE, "  line %1, 2\n  line %1, 0\n  %9: i64 = add %1, %1", "i64 i64"},
    {IR_OBSERVE, NULL, NULL}, /* the CPU device's: tests/python/kernel/test_profile.py */
    {IR_RAISE, "  branch %1, block 1, block 2\nblock 1:\n  raise 0, %1\nblock 2:\n  %9: bool = not %1", "bool bool"},
    {IR_THREAD_LOOP, NULL, NULL},
    {IR_TRIP, NULL, NULL},
    {IR_NEXT_TRIP, NULL, NULL},
    {IR_WARP_START, NULL, NULL}, /* the CPU device's: tests/codegen/host/regions/test_whole_warps.py */
    {IR_SLOT, NULL, NULL},
    {IR_SLOT_LOAD, NULL, NULL},
    {IR_SLOT_STORE, NULL, NULL},
    {IR_EXCHANGE, NULL, NULL},
    {IR_ADDITIONS, NULL, NULL}, /* the CPU device's: tests/codegen/host/regions/test_late_additions.py */
    {IR_BROADCAST, "  broadcast p1, %0\n  %9: f32 = load p1[%0]", "f32 f32"},
    {IR_WATCH, NULL, NULL}, /* the CPU device alone: tests/codegen/check/test_race.py */
    {IR_NOTE, NULL, NULL}, /* the CPU device alone, a call on GPUs: tests/codegen/check/test_overflow.py */
    {IR_TRAP, "  branch %1, block 1, block 2\nblock 1:\n  trap\nblock 2:\n  %9: bool = not %1", "bool bool"},
};

void test_every_operation(void)
{
    bool seen[IR_OP_COUNT] = {false};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        seen[samples[i].op] = true;
        if (samples[i].body)
            check_compiles(ir_op_info[samples[i].op].text, operation_kernel(samples[i].body, samples[i].types), 0);
    }
    for (int op = 0; op < IR_OP_COUNT; op++)
        if (!CHECK(seen[op]))
            fprintf(stderr, "no sample of %s\n", ir_op_info[op].text);
}

/* --- intrinsics ---------------------------------------------------------------------------------------------------------- */

static void name_of(IntrinsicId id, char *out, size_t size)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    int length = (int)strcspn(row->path, " ");
    if (length)
        snprintf(out, size, "%.*s", length, row->path);
    else
        snprintf(out, size, "intrinsic.%s", row->id);
}

static void check_math_row(IntrinsicId id)
{
    static const char *const all_types[] = {"f32", "f64", "f16", "bf16"};
    const IntrinsicInfo *row = &intrinsic_info[id];
    char name[64], body[256], types[64];
    name_of(id, name, sizeof name);
    for (size_t i = 0; i < sizeof all_types / sizeof *all_types; i++) {
        const char *type = all_types[i];
        snprintf(types, sizeof types, "%s %s %s", type, type, type);
        snprintf(body, sizeof body, "  %%9: %s = %s %%1%s", type, name, row->arity == 2 ? ", %2" : "");
        check_compiles(name, operation_kernel(body, types), 0);
    }
    const char *symbols[] = {row->host64, row->host32};
    for (int i = 0; i < 2; i++)
        if (!CHECK(!strncmp(symbols[i], "llvm.", 5) || !strncmp(symbols[i], "__nv_", 5) ||
                   codegen_host_has_symbol(symbols[i])))
            fprintf(stderr, "host_symbol.def lacks %s\n", symbols[i]);
}

static void check_register_row(IntrinsicId id)
{
    char name[64], body[256];
    name_of(id, name, sizeof name);
    snprintf(body, sizeof body, "  %%3: i32 = %s\n  %%9: i64 = convert %%3", name);
    check_compiles(name, operation_kernel(body, "i64 i64"), 0);
}

/* How DEVICE rows are called that do not say so themselves; a row without a sample fails the test. */
typedef struct DeviceSample {
    IntrinsicId id;
    const char *body, *types;
} DeviceSample;

/* A reference into shared memory, %5. */
#define PLACE(element)                                           \
    "  %%4: " element "[1 C] = shared (64)\n  %%5: " element     \
    "[0 C] = subarray %%4[%%0], extents [], strides [], offset " \
    "0\n"

/* The place of a tile, %5, 0, %6, and a barrier, %7. */
#define TILE                                                                                                       \
    "  %4: f16[2 C swizzle 128] = shared (64, 64) align 1024\n  %6: i32 = const 0\n  %20: u64[1 C] = shared (1)\n" \
    "  %5: f16[0 C swizzle 128] = subarray %4[%0, %0], extents [], strides [], offset 0\n"                         \
    "  %7: u64[0 C] = subarray %20[%0], extents [], strides [], offset 0\n"

static const DeviceSample device_samples[] = {
    {INTRINSIC_CUDA_WIDE_LOAD, "  %3: (f32, f32) = cuda.wide.load p1, %0\n  %9: f32 = get %3, 1", "f32 f32"},
    {INTRINSIC_CUDA_WIDE_LOAD, "  %3: (bool, bool) = cuda.wide.load p1, %0\n  %9: bool = get %3, 1", "bool bool"},
    {INTRINSIC_CUDA_WIDE_STORE, "  %3: (c64, c64) = tuple %1, %1\n  cuda.wide.store out, %0, %3\n  %9: c64 = neg %1",
     "c64 c64"},
    {INTRINSIC_CLUSTER_MAP_SHARED,
     "  %4: f32[1 C] = shared (64)\n  %6: i32 = const 0\n  %5: f32[1 C] = cuda._cluster.map_shared %4, %6\n"
     "  %9: f32 = load %5[%0]",
     "f32 f32"},
    {INTRINSIC_TMA_LOAD, TILE "  cuda.tma.load %5, p1, %7, %6, %6, %6\n  %9: u64 = load p1[%0]", "u64 u64"},
    {INTRINSIC_TMA_LOAD, TILE "  cuda.tma.load %5, p1, %7, %6, %6, %6, %6, %6, %6\n  %9: u64 = load p1[%0]", "u64 u64"},
    {INTRINSIC_TMA_LOAD_MULTICAST,
     TILE "  intrinsic.TMA_LOAD_MULTICAST %5, p1, %7, %6, %6, %6\n  %9: u64 = load p1[%0]", "u64 u64"},
    {INTRINSIC_TMA_STORE, TILE "  cuda.tma.store %5, p1, %6, %6\n  %9: u64 = load p1[%0]", "u64 u64"},
    {INTRINSIC_TMA_PREFETCH, "  cuda.tma.prefetch p1\n  %9: u64 = load p1[%0]", "u64 u64"},
    {INTRINSIC_WGMMA_FENCE,
     "  %3: f32[1 C] = local (4)\n  %6: i32 = const 4\n  store %3[%2], %1\n  cuda.wgmma.fence %3, %6\n"
     "  %9: f32 = load %3[%2]",
     "f32 i64 f32"},
    {INTRINSIC_WGMMA_WAIT,
     "  %3: i32[1 C] = local (4)\n  %6: i32 = const 4\n  store %3[%2], %1\n  cuda.wgmma.wait %6, %3, %6\n"
     "  %9: i32 = load %3[%2]",
     "i32 i64 i32"},
    {INTRINSIC_WGMMA_MMA,
     TILE "  %3: f32[1 C] = local (4)\n  %8: i32 = const 8\n  %10: bool = const true\n  store %3[%0], %1\n"
          "  cuda.wgmma.mma %3, %5, %6, %5, %6, %10, %6, %8, %6\n  %9: f32 = load %3[%0]",
     "f32 f32"},
    {INTRINSIC_LDEXP_SCALE, "  %9: f32 = intrinsic.LDEXP_SCALE %1, %2", "f32 i32 f32"},
    {INTRINSIC_LDEXP_SCALE, "  %9: f64 = intrinsic.LDEXP_SCALE %1, %2", "f64 i32 f64"},
    {INTRINSIC_FREXP_FRACTION, "  %9: f64 = intrinsic.FREXP_FRACTION %1", "f64 f64"},
    {INTRINSIC_FREXP_EXPONENT, "  %9: i32 = intrinsic.FREXP_EXPONENT %1", "f32 i32"},
};

static const char *scalar_text(const Type *type, char *out, size_t size)
{
    Buf text = {0};
    type_print(&text, type);
    snprintf(out, size, "%s", buf_text(&text));
    buf_free(&text);
    return out;
}

static void add_fragment(Buf *body, int id, const char *type, int count, int operand)
{
    buf_printf(body, "  %%%d: (", id);
    for (int i = 0; i < count; i++)
        buf_printf(body, "%s%s", i ? ", " : "", type);
    buf_add(body, ") = tuple ");
    for (int i = 0; i < count; i++)
        buf_printf(body, "%s%%%d", i ? ", " : "", operand);
    buf_add(body, "\n");
}

/* Fragments of one number; for all architectures that have the row, and refused before. */
static void check_mma_row(IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    const MmaShape *mma = &row->mma;
    int results = mma->m * mma->n / 32;
    char types[32], names[2][8];
    const char *input = scalar_text(mma->input, names[0], 8), *output = scalar_text(mma->output, names[1], 8);
    Buf body = {0};
    snprintf(types, sizeof types, "%s %s %s", input, output, output);
    add_fragment(&body, 20, input, mma->m * mma->k / 32, 1);
    add_fragment(&body, 21, input, mma->k * mma->n / 32, 1);
    add_fragment(&body, 22, output, results, 2);
    buf_add(&body, "  %23: (");
    for (int i = 0; i < results; i++)
        buf_printf(&body, "%s%s", i ? ", " : "", output);
    buf_printf(&body, ") = %s %%20, %%21, %%22\n  %%9: %s = get %%23, 0", row->path, output);
    const char *ir = operation_kernel(buf_text(&body), types);
    check_compiles(row->id, ir, row->sm);
    buf_free(&body);
}

/* The type that a letter of a CALL row's shape stands for, in one of two ways where it stands for several. */
static const char *shape_type(char letter, int way)
{
    switch (letter) {
    case 'b': return "bool";
    case 'i': return "i32";
    case 'u': return "u32";
    case 'l': return "i64";
    case 'q': return "u64";
    case 'f': return "f32";
    case 'd': return "f64";
    case 'x': return way ? "u64" : "i32";
    default: return way ? "u32" : "i32";
    }
}

/* A call with an operand for each parameter, and another one that a call without a result leaves as the kernel's. */
static void check_call_row(IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    char name[64];
    name_of(id, name, sizeof name);
    for (int way = 0; way <= (strpbrk(row->shape, "vwx") != NULL); way++) {
        Buf body = {0}, types = {0};
        bool has_result = row->shape[0] != 'n';
        const char *result = has_result ? shape_type(row->shape[0], way) : "f32";
        if (has_result)
            buf_printf(&body, "  %%9: %s = %s", result, name);
        else
            buf_printf(&body, "  %s", name);
        for (int i = 0; i < row->arity; i++) {
            buf_printf(&body, "%s %%%d", i ? "," : "", i + 1);
            buf_printf(&types, "%s ", shape_type(row->shape[i + 1], way));
        }
        if (!has_result)
            buf_printf(&body, "\n  %%9: f32 = neg %%%d", row->arity + 1);
        buf_printf(&types, "f32 %s", result);
        check_compiles(row->id, operation_kernel(buf_text(&body), buf_text(&types)), row->sm);
        buf_free(&body);
        buf_free(&types);
    }
}

/* As check_compiles takes it: below 0 where no other architecture has it. */
static int sm_of(const IntrinsicInfo *row) { return row->effects & EFFECT_SPECIFIC ? -row->sm : row->sm; }

/* A row of intrinsic_bulk.def that has a text: places are of a shared array, constants 64. */
static void check_tile_row(IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    Buf body = {0};
    buf_printf(&body, PLACE("u64") "  %%6: i32 = const 64\n");
    buf_printf(&body, row->shape[0] == 'n' ? "  %s" : "  %%9: bool = %s", row->path);
    for (int i = 0; i < row->arity; i++)
        buf_printf(&body, "%s %s", i ? "," : "",
                   row->shape[1 + i] == 'p'   ? "%5"
                   : row->shape[1 + i] == 'c' ? "%6"
                                              : "%1");
    buf_add(&body, row->shape[0] == 'n' ? "\n  %9: i32 = neg %1" : "");
    check_compiles(row->id, operation_kernel(buf_text(&body), row->shape[0] == 'n' ? "i32 i32" : "i32 bool"),
                   sm_of(row));
    buf_free(&body);
}

static void check_ldmatrix_row(IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    Buf body = {0};
    buf_printf(&body, PLACE("f16") "  %%6: (f16");
    for (uint32_t i = 1; i < 2 * row->matrices; i++)
        buf_add(&body, ", f16");
    buf_printf(&body, ") = %s %%5\n  %%9: f16 = get %%6, 0", row->path);
    check_compiles(row->id, operation_kernel(buf_text(&body), "f16 f16"), row->sm);
    buf_free(&body);
}

static void check_copy_row(IntrinsicId id)
{
    char name[64];
    Buf body = {0};
    name_of(id, name, sizeof name);
    buf_printf(&body,
               PLACE("f32") "  %%6: f32[0 C] = subarray p1[%%0], extents [], strides [], offset 0\n"
                            "  %s %%5, %%6\n  %%9: f32 = load %%5[]",
               name);
    check_compiles(name, operation_kernel(buf_text(&body), "f32 f32"), intrinsic_info[id].sm);
    buf_free(&body);
}

static void check_copy_group_row(IntrinsicId id)
{
    const IntrinsicInfo *row = &intrinsic_info[id];
    char body[128];
    snprintf(body, sizeof body, "  %%3: i32 = const 1\n  %s%s\n  %%9: f32 = neg %%1", row->path,
             row->arity ? " %3" : "");
    check_compiles(row->id, operation_kernel(body, "f32 f32"), row->sm);
}

static void check_sampled_row(IntrinsicId id)
{
    bool found = false;
    for (size_t i = 0; i < sizeof device_samples / sizeof device_samples[0]; i++)
        if (device_samples[i].id == id) {
            check_compiles(intrinsic_info[id].id, operation_kernel(device_samples[i].body, device_samples[i].types),
                           sm_of(&intrinsic_info[id]));
            found = true;
        }
    if (!CHECK(found))
        fprintf(stderr, "no sample of %s\n", intrinsic_info[id].id);
}

static void check_device_row(IntrinsicId id)
{
    switch (intrinsic_info[id].family) {
    case FAMILY_MMA: check_mma_row(id); return;
    case FAMILY_LDMATRIX: check_ldmatrix_row(id); return;
    case FAMILY_COPY: check_copy_row(id); return;
    case FAMILY_COPY_GROUP: check_copy_group_row(id); return;
    default: break;
    }
    if (intrinsic_info[id].assembly)
        check_tile_row(id);
    else if (intrinsic_info[id].shape)
        check_call_row(id);
    else
        check_sampled_row(id);
}

static void check_device_values(void)
{
    check_values("  %9: f64 = intrinsic.LDEXP_SCALE %1, %2", "f64 i32 f64", "0.75 3 6  1 -1074 5e-324  1 2000 inf", 0);
    check_values("  %9: f16 = intrinsic.LDEXP_SCALE %1, %2", "f16 i32 f16", "0.75 3 6", 0);
    check_values("  %9: f64 = intrinsic.FREXP_FRACTION %1", "f64 f64",
                 "6 0.75  -0.0 -0.0  inf inf  nan nan  5e-324 0.5  -3 -0.75", 0);
    check_values("  %9: i32 = intrinsic.FREXP_EXPONENT %1", "f64 i32", "6 3  0 0  inf 0  5e-324 -1073  -3 2", 0);
    check_values("  %9: f32 = intrinsic.FREXP_FRACTION %1", "f32 f32", "6 0.75  1e-45 0.5", 0);
    check_values("  %9: i32 = intrinsic.FREXP_EXPONENT %1", "f32 i32", "6 3  1e-45 -148", 0);
    check_values("  %9: f32 = math.sin %1", "f32 f32", "1 0.841470985", 1);
    check_values("  %9: f16 = math.exp %1", "f16 f16", "1 2.71828183", 1);
    check_values("  %9: f64 = math.floor %1", "f64 f64", "-1.5 -2", 0);
    check_values("  %3: (f64, i32) = cuda.libdevice.frexp %1\n  %9: f64 = get %3, 0", "f64 f64", "6 0.75", 0);
    check_values("  %3: (f64, f64) = cuda.libdevice.sincospi %1\n  %9: f64 = get %3, 1", "f64 f64", "1 -1  0.5 0", 0);
    check_values("  %9: f64 = cuda.libdevice.ddiv_ru %1, %2", "f64 f64 f64", "1 3 0.33333333333333337", 0);
    check_values("  %9: i32 = cuda.libdevice.double2int_rn %1", "f64 i32", "2.5 2  1e99 2147483647  nan -2147483648",
                 0);
    check_values("  %9: i32 = cuda.libdevice.float2int_rd %1", "f32 i32", "-2.5 -3  -1e30 -2147483648  nan 0", 0);
    check_values("  %9: f64 = cuda.libdevice.sin %1", "f64 f64", "1e22 -0.8522008497671888", 0);
    check_values("  %9: f64 = math.atan2 %1, %2", "f64 f64 f64", "1 -1 2.3561944901923448", 1);
}

/* Lines of a kernel that calls functions of libdevice with %1: i16, %2: i32, %3: i64, %4: f32, %5: f64. */
typedef struct LibdeviceCalls {
    Buf body;
    int count;
} LibdeviceCalls;

static void check_libdevice(LibdeviceCalls *calls)
{
    buf_printf(&calls->body, "  %%9: f64 = neg %%5");
    check_compiles("libdevice", operation_kernel(buf_text(&calls->body), "i16 i32 i64 f32 f64 f64"), 0);
    buf_free(&calls->body);
    *calls = (LibdeviceCalls){0};
}

static void add_libdevice_row(IntrinsicId id, LibdeviceCalls *calls)
{
    static const char letters[] = "hilfd", *const types[] = {"i16", "i32", "i64", "f32", "f64"};
    const char *signature = intrinsic_info[id].signature, *arguments = strchr(signature, ':') + 1;
    bool is_tuple = intrinsic_signature(id).result_count > 1;
    buf_printf(&calls->body, "  %%%d: %s", 200 + calls->count++, is_tuple ? "(" : "");
    for (const char *at = signature + (*signature == 'v'), *comma = ""; *at != ':'; at++, comma = ", ")
        buf_printf(&calls->body, "%s%s", comma, types[strchr(letters, *at) - letters]);
    buf_printf(&calls->body, "%s = %s", is_tuple ? ")" : "", intrinsic_info[id].path);
    for (const char *at = arguments; *at; at++)
        buf_printf(&calls->body, "%s %%%d", at == arguments ? "" : ",", (int)(strchr(letters, *at) - letters) + 1);
    buf_printf(&calls->body, "\n");
    if (calls->count == 50)
        check_libdevice(calls);
}

void test_every_intrinsic(void)
{
    LibdeviceCalls libdevice = {0};
    for (int id = 1; id < INTRINSIC_COUNT; id++)
        switch (intrinsic_info[id].kind) {
        case INTRINSIC_KIND_MATH: check_math_row((IntrinsicId)id); break;
        case INTRINSIC_KIND_REGISTER: check_register_row((IntrinsicId)id); break;
        case INTRINSIC_KIND_DEVICE: check_device_row((IntrinsicId)id); break;
        case INTRINSIC_KIND_LIBDEVICE: add_libdevice_row((IntrinsicId)id, &libdevice); break;
        case INTRINSIC_KIND_BUILTIN:
        case INTRINSIC_KIND_NONE: break;
        }
    check_libdevice(&libdevice);
    check_device_values();
}
