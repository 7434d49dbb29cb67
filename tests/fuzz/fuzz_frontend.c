/* Damaged bytecode through the frontend: decoder, control flow graph, SSA, inference and emission must end, with a
 * module that ir_verify takes or with a Diag. Constants, globals and argument types are drawn anew for every input. */
#include "core/intrinsic/intrinsic.h"
#include "core/ir/ir.h"
#include "frontend/frontend.h"
#include "frontend/ssa/ssa.h"
#include "fuzz_tools.h"
#include "tests/frontend/bytecode/bytecode_sample.h"

enum { INPUTS = 20000, ROOM = 4096, ARGUMENTS = 4 };

typedef struct Figures {
    uint64_t decoded, in_ssa, lowered, refused;
} Figures;

static const Constant *random_constant(Arena *arena, int depth)
{
    static const int64_t integers[] = {0, 1, -1, 2, 3, 31, 64, 1 << 20, INT64_MAX, INT64_MIN};
    Constant *constant = ARENA_NEW(arena, Constant);
    switch (fuzz_below(12)) {
    case 0: constant->kind = CONSTANT_NONE; break;
    case 1:
        constant->kind = CONSTANT_BOOL;
        constant->integer = fuzz_below(2);
        break;
    case 2:
        constant->kind = CONSTANT_FLOAT;
        constant->real = (double)fuzz_below(1000) / 8;
        break;
    case 3:
        constant->kind = CONSTANT_COMPLEX;
        constant->real = fuzz_below(3);
        constant->imaginary = fuzz_below(3);
        break;
    case 4:
        constant->kind = CONSTANT_STRING;
        constant->text = fuzz_below(2) ? "dtype" : "";
        break;
    case 5:
        constant->kind = CONSTANT_TYPE;
        constant->type = &type_scalars[fuzz_below(SCALAR_COUNT)];
        constant->text = "a type";
        break;
    case 6:
        constant->kind = CONSTANT_TUPLE;
        constant->count = depth > 2 ? 0 : fuzz_below(4);
        const Constant **items = ARENA_ARRAY(arena, const Constant *, constant->count);
        for (uint32_t i = 0; i < constant->count; i++)
            items[i] = random_constant(arena, depth + 1);
        constant->items = items;
        break;
    case 7:
    case 8:
        constant->kind = CONSTANT_INTRINSIC;
        constant->intrinsic = 1 + fuzz_below(INTRINSIC_COUNT - 1);
        break;
    default:
        constant->kind = CONSTANT_INT;
        constant->integer = integers[fuzz_below(sizeof integers / sizeof integers[0])];
    }
    return constant;
}

static const Type *random_type(Arena *arena)
{
    static const ScalarId common[] = {SCALAR_INT64, SCALAR_FLOAT32, SCALAR_FLOAT64, SCALAR_INT32};
    const Type *scalar = &type_scalars[fuzz_below(2) ? common[fuzz_below(4)] : (ScalarId)fuzz_below(SCALAR_COUNT)];
    if (fuzz_below(4) == 0)
        return scalar;
    if (fuzz_below(6) == 0) {
        const Type *items[] = {scalar, fuzz_below(2) ? scalar : random_type(arena)};
        return type_tuple(arena, arena_copy(arena, items, sizeof items), 2, TUPLE_PLAIN);
    }
    static const ArrayLayout layouts[] = {LAYOUT_C, LAYOUT_F, LAYOUT_ANY};
    return type_array(arena, scalar, fuzz_below(3) ? 1 : 1 + (int)fuzz_below(3), layouts[fuzz_below(3)],
                      fuzz_below(8) == 0);
}

static const Constant *const *mixed_constants(Arena *arena, uint32_t count, const Constant *const *known)
{
    const Constant **constants = ARENA_ARRAY(arena, const Constant *, count);
    for (uint32_t i = 0; i < count; i++)
        constants[i] = fuzz_below(8) ? known[i] : random_constant(arena, 0);
    return constants;
}

static const Constant *intrinsic_named(Arena *arena, const char *space, const char *name)
{
    Constant *constant = ARENA_NEW(arena, Constant);
    constant->kind = CONSTANT_INTRINSIC;
    constant->intrinsic = intrinsic_by_path(arena_format(arena, "%s.%s", space, name));
    return constant->intrinsic != INTRINSIC_NONE ? constant : NULL;
}

/* A builtin by its name; cuda and other modules have all that the code names; the rest is anything. */
static const Constant *global_named(Arena *arena, const CodeSnapshot *code, const char *name)
{
    const Constant *builtin = intrinsic_named(arena, "builtins", name);
    if (builtin || fuzz_below(4) == 0)
        return builtin ? builtin : random_constant(arena, 0);
    Constant *module = ARENA_NEW(arena, Constant);
    module->kind = CONSTANT_NAMESPACE;
    module->count = code->name_count;
    module->names = code->names;
    const Constant **items = ARENA_ARRAY(arena, const Constant *, code->name_count);
    for (uint32_t i = 0; i < code->name_count; i++) {
        items[i] = intrinsic_named(arena, fuzz_below(3) ? "cuda" : "math", code->names[i]);
        if (!items[i])
            items[i] = random_constant(arena, 0);
    }
    module->items = items;
    return module;
}

/* Mostly arguments and the order of whole instructions: unknown opcodes are refused at once. */
static void damage_code(uint8_t *bytes, size_t *size)
{
    if (fuzz_below(2) && *size)
        bytes[fuzz_below(*size) | 1] = (uint8_t)fuzz_below(fuzz_below(4) ? 12 : 256);
    else
        fuzz_damage(bytes, size, ROOM, fuzz_below(8) ? 2 : 1);
}

static CodeSnapshot *damaged_sample(Arena *arena)
{
    CodeSnapshot *code = sample_code((int)fuzz_below((uint64_t)sample_count),
                                     SAMPLE_FIRST_MINOR + (int)fuzz_below(SAMPLE_VERSIONS), arena);
    uint8_t *bytes = arena_alloc(arena, ROOM);
    size_t size = code->size < ROOM - 2 ? code->size : ROOM - 2;
    memcpy(bytes, code->bytes, size);
    for (uint32_t changes = fuzz_below(2) ? 0 : 1 + fuzz_below(3); changes; changes--)
        damage_code(bytes, &size);
    code->bytes = memcpy(malloc(size ? size : 1), bytes, size); /* exactly as long: reads behind its end are found */
    code->size = (uint32_t)size;
    code->constants = mixed_constants(arena, code->constant_count, code->constants);
    const Constant **globals = ARENA_ARRAY(arena, const Constant *, code->name_count);
    for (uint32_t i = 0; i < code->name_count; i++)
        globals[i] = global_named(arena, code, code->names[i]);
    code->globals = globals;
    code->argument_count = code->local_count < ARGUMENTS ? code->local_count : ARGUMENTS;
    if (code->argument_count && fuzz_below(8) == 0)
        code->argument_count = fuzz_below(code->argument_count);
    return code;
}

static void lower(const CodeSnapshot *code, Arena *arena, Figures *figures)
{
    Snapshot function = {.code = code};
    const Type *types[ARGUMENTS];
    for (uint32_t i = 0; i < code->argument_count; i++)
        types[i] = random_type(arena);
    Buf printed = {0};
    FrontendRequest request = {.function = &function,
                               .argument_count = code->argument_count,
                               .argument_types = types,
                               .is_kernel = fuzz_below(4) == 0,
                               .dump_bytecode = &printed,
                               .dump_cfg = &printed,
                               .annotated = &printed};
    Diag diag = {0};
    IrModule *module = frontend_lower(&request, arena, &diag);
    if (!module && !diag_failed(&diag)) {
        fprintf(stderr, "seed %llu: no module and no Diag\n", (unsigned long long)fuzz_seed);
        abort();
    }
    diag_clear(&diag);
    if (module && !ir_verify(module, &diag)) {
        fprintf(stderr, "seed %llu: %s\n", (unsigned long long)fuzz_seed, diag.message);
        abort();
    }
    figures->lowered += module != NULL;
    figures->refused += module == NULL;
    buf_free(&printed);
}

static void one_input(uint64_t seed, Figures *figures)
{
    fuzz_start(seed);
    Arena *arena = arena_create();
    CodeSnapshot *code = damaged_sample(arena);
    Diag diag = {0};
    Instructions *instructions = decode(code, arena, &diag);
    Cfg *cfg = instructions ? cfg_build(code, instructions, arena, &diag) : NULL;
    SsaFunction *ssa = cfg ? ssa_build(code, instructions, cfg, NULL, arena, &diag) : NULL;
    if (!ssa && !diag_failed(&diag)) {
        fprintf(stderr, "seed %llu: no SSA and no Diag\n", (unsigned long long)seed);
        abort();
    }
    figures->decoded += instructions != NULL;
    figures->in_ssa += ssa != NULL;
    lower(code, arena, figures);
    free((void *)code->bytes);
    arena_destroy(arena);
}

int main(int count, char **arguments)
{
    FuzzRun run = fuzz_arguments(count, arguments, INPUTS);
    Figures figures = {0};
    for (uint64_t i = 0; i < run.inputs; i++) {
        alarm(run.seconds);
        one_input(run.seed + i, &figures);
    }
    printf("%llu inputs: %llu decoded, %llu in SSA, %llu lowered and verified, %llu refused\n",
           (unsigned long long)run.inputs, (unsigned long long)figures.decoded, (unsigned long long)figures.in_ssa,
           (unsigned long long)figures.lowered, (unsigned long long)figures.refused);
    return 0;
}
