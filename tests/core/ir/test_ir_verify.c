/* Every rule of the verifier refuses what breaks it. */
#include "check.h"
#include "core/ir/ir.h"
#include "core_tests.h"

static void check_refused(const char *text, const char *message)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    IrModule *module = ir_parse(text, arena, &diag);
    if (!CHECK(module))
        fprintf(stderr, "%s\n%s\n", diag.message, text);
    else if (!CHECK(!ir_verify(module, &diag) && diag.id == DIAG_IR_INVALID && strstr(diag.message, message)))
        fprintf(stderr, "found '%s', expected '%s' for\n%s\n", diag.message, message, text);
    arena_destroy(arena);
}

static void test_shape(void)
{
    check_refused("kernel k()\nblock 0:\n  %0: i64 = const 1\n", "does not end in a terminator");
    check_refused("kernel k()\nblock 0:\n  return\n  return\n", "not the last of its block");
    check_refused("kernel k() -> i64\nblock 0:\n  %0: i64 = const 1\n  return %0\n", "a kernel has a result");
    check_refused("kernel k()\nblock 0:\n  jump block 0\n", "the first block has a predecessor");
    check_refused("kernel k()\nblock 0 !unroll:\n  return\n", "block 0 is no header of a loop");
}

static void test_dominance(void)
{
    check_refused("kernel k()\nblock 0:\n  %1: i64 = neg %0\n  %0: i64 = const 1\n  return\n", "does not dominate");
    check_refused("kernel k()\nblock 0:\n  %0: i64 = neg %0\n  return\n", "does not dominate");
    check_refused("kernel k(c: bool)\nblock 0:\n  branch c, block 1, block 2\n"
                  "block 1:\n  %0: i64 = const 1\n  jump block 2\nblock 2:\n  %1: i64 = neg %0\n  return\n",
                  "does not dominate");
    check_refused(
        "kernel k(c: bool)\nblock 0:\n  %0: i64 = const 1\n  jump block 1\n"
        "block 1:\n  %1: i64 = phi block 0: %2, block 1: %0\n  %2: i64 = neg %1\n  branch c, block 1, block 2\n"
        "block 2:\n  return\n",
        "does not dominate");
    check_refused("kernel k(c: bool)\nblock 0:\n  return\nblock 1:\n  %0: i64 = const 1\n  jump block 2\n"
                  "block 2:\n  %1: bool = phi block 1: c, block 2: c\n  %2: bool = phi block 1: c\n  jump block 2\n",
                  "1 operands for 2 predecessors");
    check_refused("kernel k(c: bool)\nblock 0:\n  jump block 1\nblock 1:\n  %0: bool = not c\n"
                  "  %1: bool = phi block 0: c\n  return\n",
                  "behind other values");
    check_refused("kernel k(c: bool)\nblock 0:\n  %0: bool = not ?\n  return\n", "operand 0 is missing");
}

static IrFunc *small_kernel(Arena *arena)
{
    const Type *types[] = {TYPE_OF(INT64)};
    static const char *names[] = {"n"};
    IrFunc *kernel = ir_function(ir_module(arena), "k", NULL, true, &type_none, 1, types, names);
    ir_const_int(kernel->first, TYPE_OF(INT64), 1, NULL);
    ir_append(kernel->first, IR_RETURN, &type_none, NULL, 0, NULL);
    ir_link_blocks(kernel);
    return kernel;
}

/* Damage that no text can show. */
static void break_terminator_target(IrFunc *k)
{
    k->first->last->op = IR_JUMP;
    k->first->last->targets[0] = NULL;
}
static void break_number(IrFunc *k) { k->parameters[0]->next->id = 0; }
static void break_value_count(IrFunc *k) { k->value_count = 1; }
static void break_block_count(IrFunc *k) { k->block_count = 0; }
static void break_block_number(IrFunc *k) { ir_block(k)->id = 0; }
static void break_block_owner(IrFunc *k) { k->first->function = NULL; }
static void break_owner(IrFunc *k) { k->first->last->block = NULL; }
static void break_type(IrFunc *k) { k->first->last->type = NULL; }
static void break_op(IrFunc *k) { k->first->last->op = IR_OP_COUNT; }
static void break_parameter(IrFunc *k) { k->first->first->index = 1; }
static void break_parameter_type(IrFunc *k) { k->parameters[0]->type = TYPE_OF(INT32); }
static void break_parameter_order(IrFunc *k)
{
    k->parameters[0]->next->op = IR_PARAM;
    k->parameters[0]->next->index = 0;
}
static void break_predecessors(IrFunc *k)
{
    IrBlock *end = ir_block(k);
    k->first->last->op = IR_JUMP;
    k->first->last->targets[0] = end;
    ir_append(end, IR_RETURN, &type_none, NULL, 0, NULL);
}
static void break_stale_predecessor(IrFunc *k)
{
    break_predecessors(k);
    ir_link_blocks(k);
    k->first->last->op = IR_RETURN;
}
static void break_foreign_operand(IrFunc *k)
{
    IrFunc *other = ir_function(k->module, "f", NULL, false, &type_none, 0, NULL, NULL);
    IrValue *foreign = ir_const_int(other->first, TYPE_OF(INT64), 1, NULL);
    ir_append(other->first, IR_RETURN, &type_none, NULL, 0, NULL);
    ir_link_blocks(other);
    k->first->last->op = IR_TRAP;
    k->first->last = k->parameters[0]->next;
    k->first->last->next = NULL;
    ir_append(k->first, IR_NEG, TYPE_OF(INT64), NULL, 1, &foreign);
    ir_append(k->first, IR_RETURN, &type_none, NULL, 0, NULL);
}
static void break_silent_operand(IrFunc *k)
{
    k->first->last = k->parameters[0]->next;
    k->first->last->next = NULL;
    IrValue *sync = ir_append(k->first, IR_INTRINSIC, &type_none, NULL, 0, NULL);
    sync->intrinsic = INTRINSIC_CUDA_SYNCTHREADS;
    ir_append(k->first, IR_NEG, TYPE_OF(INT64), NULL, 1, &sync);
    ir_append(k->first, IR_RETURN, &type_none, NULL, 0, NULL);
}
static void break_last(IrFunc *k)
{
    k->first->last = arena_copy(k->module->arena, k->first->last, sizeof *k->first->last);
}
static void break_name(IrFunc *k) { ir_function(k->module, "k", NULL, false, &type_none, 0, NULL, NULL); }

static void test_damage(void)
{
    static const struct {
        void (*damage)(IrFunc *);
        const char *message;
    } rows[] = {
        {break_terminator_target, "target 0 is not a block"},
        {break_number, "%0 occurs twice"},
        {break_value_count, "not below value_count"},
        {break_block_count, "not below block_count"},
        {break_block_number, "number of block 0 occurs twice"},
        {break_block_owner, "belongs to another function"},
        {break_owner, "belongs to another block"},
        {break_type, "has no type"},
        {break_op, "unknown operation"},
        {break_parameter, "parameter 0 is not at its place"},
        {break_parameter_type, "type of parameter 0"},
        {break_parameter_order, "not one of the function's parameters"},
        {break_predecessors, "call ir_link_blocks"},
        {break_stale_predecessor, "has a predecessor that does not go there"},
        {break_foreign_operand, "not a value of this function"},
        {break_silent_operand, "has no result"},
        {break_last, "last is not its last value"},
        {break_name, "two functions have this name"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Arena *arena = arena_create();
        Diag diag = {0};
        IrFunc *kernel = small_kernel(arena);
        CHECK(ir_verify(kernel->module, &diag));
        rows[i].damage(kernel);
        if (!CHECK(!ir_verify(kernel->module, &diag) && strstr(diag.message, rows[i].message)))
            fprintf(stderr, "found '%s', expected '%s'\n", diag.message, rows[i].message);
        arena_destroy(arena);
    }
    Arena *arena = arena_create();
    Diag diag = {0};
    CHECK(!ir_verify(ir_module(arena), &diag));
    arena_destroy(arena);
}

void test_ir_verify(void)
{
    test_shape();
    test_dominance();
    test_damage();
}

/* A kernel of one block around the lines. */
static void check_line_refused(const char *lines, const char *message)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "kernel k(a: f64, b: f32, n: i64, c: bool, x: f32[2 C], r: f32[1 C ro], w: c64[1 C], t: (i64, f64), z: c64)\n"
        "block 0:\n%s\n  return\n\n"
        "device f(v: i64) -> f64\nblock 0:\n  %%0: f64 = const 0.0\n  return %%0\n\n"
        "device g(v: i64)\nblock 0:\n  return\n",
        lines);
    check_refused(text, message);
}

/* A loop over threads, and operations between two of them. */
static void check_threads_refused(const char *loop, const char *body, const char *behind, const char *message)
{
    char text[1024];
    snprintf(
        text, sizeof text,
        "kernel k(n: i64)\nblock 0:\n  %%0: u64 = slot\n  %%1: bool = slot\n  %%2: i32 = const 1\n"
        "  %%3: u8[0 C] = cell %%2\n  %%4: u64 = slot\n  jump block 1\nblock 1:\n%s\nblock 2:\n%s\n  jump block 1\n"
        "block 3:\n%s\n  return\n",
        loop, body, behind);
    check_refused(text, message);
}

static void test_thread_rules(void)
{
    static const char loop[] = "  thread_loop !independent !begin block 3, block 2, %1, %3";
    check_threads_refused(loop, "  %9: i64 = slot_load %0", "", "operand 0 has type u64, which is not i64");
    check_threads_refused(loop, "  %9: u64 = slot_load n", "", "which is not a slot");
    check_threads_refused(loop, "  slot_store %0, n", "", "operand 0 has type u64, which is not i64");
    check_threads_refused(loop, "  %9: u64 = slot_load %0", "  %8: u64 = neg %9", "does not dominate its use");
    check_threads_refused("  thread_loop block 3, block 2, %1", "", "", "1 operands instead of 2");
    check_threads_refused("  thread_loop block 3, block 2, %0, %3", "", "",
                          "operand 0 has type u64, which is not bool");
    check_threads_refused("  thread_loop !begin block 3, block 2", "", "", "nobody asks who takes part");
    check_threads_refused("  thread_loop !up !down block 3, block 2", "", "", "threads run upwards or downwards");
    check_threads_refused("  %9: i32 = neg %2\n  thread_loop block 3, block 2", "", "",
                          "the only operation of its block");
    check_threads_refused(loop, "", "  exchange cuda.threadIdx.x %0, %4", "is no exchange between threads");
    check_threads_refused(loop, "", "  exchange cuda.ballot_sync %0", "1 operands instead of 2");
    check_threads_refused(loop, "", "  exchange cuda.shfl_sync %0, %1, %4",
                          "operand 1 has type bool, which is not u32");
    check_threads_refused(loop, "", "  exchange cuda.syncthreads_or %0", "the result has type none");
    check_threads_refused(loop, "", "  additions %0", "additions are pairs of slots");
    check_threads_refused(loop, "", "  additions %0, %4", "operand 1 has type u64, which is not a slot of f32 or f64");
}

static void test_value_rules(void)
{
    check_line_refused("  %0: f64 = add a, b", "operand 1 has type f32, which is not f64");
    check_line_refused("  %0: f32 = add a, a", "the result has type f32, which is not f64");
    check_line_refused("  %0: f64 = add a", "1 operands instead of 2");
    check_line_refused("  %0: f64 = add !exact a, a", "what is exact has type f64, which is not an integer");
    check_line_refused("  %0: i32 = trip", "the result has type i32, which is not i64");
    check_line_refused("  %0: bool = add c, c", "not what this operation takes");
    check_line_refused("  %0: i64 = div n, n", "not what this operation takes");
    check_line_refused("  %0: f64 = shl a, a", "not what this operation takes");
    check_line_refused("  %0: c64 = abs z", "not what this operation takes");
    check_line_refused("  %0: bool = lt z, z", "not what this operation takes");
    check_line_refused("  %0: c64 = max z, z", "not what this operation takes");
    check_line_refused("  %0: f64 = not a", "not what this operation takes");
    check_line_refused("  %0: f64 = popcount a", "not what this operation takes");
    check_line_refused("  %0: i64 = fma n, n, n", "not what this operation takes");
    check_line_refused("  %0: f32[2 C] = add x, x", "not what this operation takes");
    check_line_refused("  %0: f64 = lt a, a", "which is not bool");
    check_line_refused("  %0: bool = lt a, n", "operand 1");
    check_line_refused("  %0: i8 = const 128", "does not fit");
    check_line_refused("  %0: u8 = const -1", "does not fit");
    check_line_refused("  %0: (i64) = const none", "a scalar or none");
    check_line_refused("  %0: f64 = select n, a, a", "which is not bool");
    check_line_refused("  %0: f64 = select c, a, b", "operand 2");
    check_line_refused("  %0: f64 = convert x", "a scalar");
    check_line_refused("  %0: f32[2 C] = convert a", "a scalar");
    check_line_refused("  %0: f32 = bitcast a", "of the operand's size");
    check_line_refused("  %0: i64 = tuple n", "not a tuple");
    check_line_refused("  %0: (i64, i64) = tuple n", "1 operands instead of 2");
    check_line_refused("  %0: (i64, i64) = tuple n, a", "operand 1");
    check_line_refused("  %0: i64 = get n, 0", "not a tuple");
    check_line_refused("  %0: i64 = get t, 2", "item 2 of 2");
    check_line_refused("  %0: i64 = get t, 1", "not f64");
    check_line_refused("  %0: i64 = pick t, n", "items of one type");
    check_line_refused("  %0: (i64) = tuple n\n  %1: i64 = pick %0, a", "not i64");
    check_line_refused("  %0: (i64) = tuple n\n  %1: f64 = pick %0, n", "not i64");
    check_line_refused("  %0: f64 = real a", "not complex");
    check_line_refused("  %0: f64 = imag z", "not f32");
    check_line_refused("  %0: f64 = complex a, a", "not complex");
    check_line_refused("  %0: c64 = complex b, a", "operand 1");
    check_line_refused("  broadcast n, n", "no array");
    check_line_refused("  broadcast x, n, n, n", "fewer axes than there are extents");
    check_line_refused("  broadcast x, a", "not i64");
    check_line_refused("  %0: f64 = powi c, n", "not a number");
    check_line_refused("  %0: f64 = powi a, a", "not an integer");
    check_line_refused("  %0: f32 = powi a, n", "not f64");
    check_line_refused("  %0: f64 = math.sin a, a", "2 operands instead of 1");
    check_line_refused("  %0: f64 = math.sin b", "operand 0");
    check_line_refused("  %0: i64 = math.sin n", "not a float");
    check_line_refused("  %0: i64 = cuda.threadIdx.x", "not i32");
    check_line_refused("  %0: i64 = builtins.len x", "LEN is not an IR intrinsic");
    check_line_refused("  intrinsic.NONE", "NONE is not an IR intrinsic");
}

static void test_array_rules(void)
{
    check_line_refused("  %0: i64 = extent n, 0", "not an array");
    check_line_refused("  %0: i64 = extent x, 2", "axis 2 of 2");
    check_line_refused("  %0: i32 = stride x, 0", "not i64");
    check_line_refused("  %0: i16 = const 0\n  %1: i16 = wrap %0, %0", "i32 or i64");
    check_line_refused("  %0: f32 = load n[]", "not an array");
    check_line_refused("  %0: f32 = load x[n]", "2 operands, too few for 2 axes");
    check_line_refused("  %0: f32 = load x[n, n, n]", "4 operands instead of 3");
    check_line_refused("  %0: f32 = load x[n, a]", "not i64");
    check_line_refused("  %0: f64 = load x[n, n]", "not f32");
    check_line_refused("  store x[n, n]", "3 operands instead of 4");
    check_line_refused("  store x[n, n], a", "not f32");
    check_line_refused("  store r[n], b", "not writable");
    check_line_refused("  %0: f32 = atomic add r[n], b", "not writable");
    check_line_refused("  %0: f32 = atomic add x[n, n]", "3 operands instead of 4");
    check_line_refused("  %0: f32 = atomic cas x[n, n], b", "4 operands instead of 5");
    check_line_refused("  %0: f32 = atomic and x[n, n], b", "what this atomic takes");
    check_line_refused("  %0: c64 = atomic add w[n], z", "what this atomic takes");
    check_line_refused("  %0: f32 = atomic add x[n, n], a", "operand 3");
    check_line_refused("  %0: f64 = atomic add x[n, n], b", "not f32");
    check_line_refused("  %0: i64 = subarray x[n, n], extents [], strides [], offset 0", "not an array");
    check_line_refused("  %0: f32[1 A] = subarray x[n, n], extents [n], strides [], offset 0",
                       "4 operands instead of 5");
    check_line_refused("  %0: f32[1 A] = subarray x[n, n], extents [a], strides [n], offset 0", "not i64");
    check_line_refused("  %0: f32[1 A] = subarray r[n], extents [n], strides [n], offset 0",
                       "read-only, as its source");
    check_line_refused("  %0: f32[1 F] = shared (3)", "C layout");
    check_line_refused("  %0: f32[1 C ro] = local (3)", "writable array");
    check_line_refused("  %0: f32[1 C] = shared (3) align 12", "power of two");
    check_line_refused("  %0: f32[1 C] = local (3) dynamic", "can be dynamic");
    check_line_refused("  %0: f32[2 C] = shared (3, 3) dynamic", "can be dynamic");
    check_line_refused("  %0: f32[1 C] = local (-3)", "extent -3");
    check_line_refused("  %0: f32[1 C] = cell n", "u8[0 C]");
    check_line_refused("  %0: i64 = cell_load n", "u8[0 C]");
    check_line_refused("  cell_store x, n", "u8[0 C]");
    check_line_refused("  %0: f32[1 C] = data f32[1 C] (1) strides (4) bytes 00000000", "not read-only");
    check_line_refused("  %0: f32[1 C ro] = data f32[1 F] (1) strides (4) bytes 00000000", "not the array's type");
}

static void test_control_rules(void)
{
    check_line_refused("  %0: f64 = call f(n, n)", "2 operands instead of 1");
    check_line_refused("  foreign c !into record p{8 4, x: f32 @0} f(n)", "not an array");
    check_line_refused("  %0: f32[2 C] = foreign c f()", "not a number or a tuple");
    check_line_refused("  %0: f64 = call f(a)", "operand 0");
    check_line_refused("  %0: i64 = call f(n)", "not f64");
    check_line_refused("  call f(n)", "not f64");
    check_line_refused("  call k(a, b, n, c, x, r, w, t, z)", "is a kernel");
    check_line_refused("  branch n, block 1, block 1\nblock 1:", "not bool");
    check_line_refused("  jump block 1\nblock 1:\n  %0: f64 = phi block 0: b\n", "operand 0");
    check_line_refused("  jump block 1\nblock 1:\n  return n\nblock 2:\n", "1 operands instead of 0");
    check_refused("kernel k()\nblock 0:\n  return\n\ndevice f() -> i64\nblock 0:\n  return\n",
                  "0 operands instead of 1");
    check_refused("kernel k()\nblock 0:\n  return\n\ndevice f(a: f64) -> i64\nblock 0:\n  return a\n", "not i64");
}

void test_ir_verify_op(void)
{
    test_value_rules();
    test_thread_rules();
    test_array_rules();
    test_control_rules();
}
