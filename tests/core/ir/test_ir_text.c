/* IR is built, printed, read back and prints the same; damaged text is refused. */
#include <math.h>
#include <stdlib.h>

#include "check.h"
#include "core/ir/ir.h"
#include "core_tests.h"

void test_ir_build(void)
{
    Arena *arena = arena_create();
    IrModule *module = ir_module(arena);
    const Type *types[] = {TYPE_OF(INT64)};
    const char *names[] = {"n"};
    IrFunc *function = ir_function(module, "f", NULL, false, TYPE_OF(INT64), 1, types, names);
    IrBlock *loop = ir_block(function), *end = ir_block(function);
    CHECK(!ir_is_terminated(function->first));
    IrValue *one = ir_const_int(function->first, TYPE_OF(INT64), 1, NULL);
    ir_jump(function->first, loop, NULL);
    IrValue *next = ir_append(loop, IR_ADD, TYPE_OF(INT64), NULL, 2, (IrValue *[]){one, one});
    IrValue *less = ir_append(loop, IR_LT, TYPE_OF(BOOL), NULL, 2, (IrValue *[]){next, function->parameters[0]});
    IrValue *first = ir_phi(loop, TYPE_OF(INT64), NULL, 2), *second = ir_phi(loop, TYPE_OF(INT64), NULL, 2);
    ir_branch(loop, less, loop, end, NULL);
    ir_append(end, IR_RETURN, &type_none, NULL, 1, &next);
    CHECK(loop->first == first && first->next == second && second->next == next);
    first->operands[0] = second->operands[0] = one;
    first->operands[1] = second->operands[1] = next;
    next->operands[0] = first;
    next->operands[1] = second;
    ir_link_blocks(function);
    CHECK(loop->predecessor_count == 2 && loop->predecessors[0] == function->first && loop->predecessors[1] == loop);
    CHECK(end->predecessor_count == 1 && end->predecessors[0] == loop && !function->first->predecessor_count);
    CHECK(ir_is_terminated(loop) && ir_is_terminated(end));
    Diag diag = {0};
    CHECK(ir_verify(module, &diag));
    ir_renumber(function);
    CHECK(ir_verify(module, &diag));
    Buf buf = {0};
    ir_print(&buf, module, false);
    CHECK_TEXT(buf_text(&buf), "device f(n: i64) -> i64\n"
                               "block 0:\n"
                               "  %0: i64 = const 1\n"
                               "  jump block 1\n"
                               "block 1:\n"
                               "  %1: i64 = phi block 0: %0, block 1: %3\n"
                               "  %2: i64 = phi block 0: %0, block 1: %3\n"
                               "  %3: i64 = add %1, %2\n"
                               "  %4: bool = lt %3, n\n"
                               "  branch %4, block 1, block 2\n"
                               "block 2:\n"
                               "  return %3\n");
    buf_free(&buf);

    Buf one_target = {0};
    IrModule *both = ir_module(arena);
    IrFunc *kernel = ir_function(both, "k", NULL, true, &type_none, 0, NULL, NULL);
    IrBlock *last = ir_block(kernel);
    ir_branch(kernel->first, ir_const_int(kernel->first, TYPE_OF(BOOL), 1, NULL), last, last, NULL);
    ir_append(last, IR_RETURN, &type_none, NULL, 0, NULL);
    ir_link_blocks(kernel);
    CHECK(last->predecessor_count == 2 && ir_verify(both, &diag));
    buf_free(&one_target);
    arena_destroy(arena);
}

static void check_round_trip(const char *text, bool with_positions, bool is_valid)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    Buf buf = {0};
    IrModule *module = ir_parse(text, arena, &diag);
    if (CHECK(module)) {
        ir_print(&buf, module, with_positions);
        CHECK_TEXT(buf_text(&buf), text);
        CHECK(ir_verify(module, &diag) == is_valid);
    }
    if (diag_failed(&diag) && is_valid)
        fprintf(stderr, "%s\n", diag.message);
    buf_free(&buf);
    arena_destroy(arena);
}

static const char every_operation[] =
    "kernel k(a: f64, x: f32[1 C], m: i32[2 A ro], t: (i64, i64), z: c64, u: u32[1 C]) reports\n"
    "block 0:\n"
    "  %0: i64 = const -9223372036854775808\n"
    "  %1: u64 = const 18446744073709551615\n"
    "  %2: bool = const true\n"
    "  %3: none = const none\n"
    "  %4: f64 = const 0.1\n"
    "  %5: f32 = const nan\n"
    "  %6: c128 = const (-0.0, inf)\n"
    "  %7: f32[2 C ro] = data f32[2 C] (1, 2) strides (8, 4) bytes 0000803f00000040\n"
    "  %8: i8[1 A ro] = data i8[1 A] (4) strides (-2) device 0x7f0000000000\n"
    "  %9: f64 = select %2, a, %4\n"
    "  %10: i64 = convert a\n"
    "  %11: f64 = bitcast %10\n"
    "  %12: (i64, none) = tuple %0, %3\n"
    "  %13: i64 = get %12, 0\n"
    "  %14: i64 = pick t, %13\n"
    "  %15: f32 = real z\n"
    "  %16: f32 = imag z\n"
    "  %17: c64 = complex %15, %16\n"
    "  %18: i64 = add %0, %10\n"
    "  %19: i64 = sub %0, %10\n"
    "  %20: i64 = mul %0, %10\n"
    "  %21: f64 = div a, %4\n"
    "  %22: i64 = floordiv %0, %10\n"
    "  %23: f64 = mod a, %4\n"
    "  %24: f64 = pow a, %4\n"
    "  %25: f64 = powi a, %0\n"
    "  %26: i64 = shl %0, %10\n"
    "  %27: i64 = shr %0, %10\n"
    "  %28: bool = and %2, %2\n"
    "  %29: i64 = or %0, %10\n"
    "  %30: i64 = xor %0, %10\n"
    "  %31: f64 = min a, %4\n"
    "  %32: f64 = max a, %4\n"
    "  %33: f64 = neg a\n"
    "  %34: bool = not %2\n"
    "  %35: f64 = abs a\n"
    "  %36: bool = eq z, %17\n"
    "  %37: bool = ne %0, %10\n"
    "  %38: bool = lt %0, %10\n"
    "  %39: bool = le %0, %10\n"
    "  %40: bool = gt %0, %10\n"
    "  %41: bool = ge %0, %10\n"
    "  %42: i64 = popcount %0\n"
    "  %43: i64 = leadzeros %0\n"
    "  %44: i64 = trailzeros %0\n"
    "  %45: i64 = bitreverse %0\n"
    "  %46: f64 = fma a, a, %4\n"
    "  %47: i32 = cuda.threadIdx.x\n"
    "  %48: f64 = math.sin a\n"
    "  %49: f64 = math.atan2 a, %4\n"
    "  %50: f64 = intrinsic.RINT a\n"
    "  %97: f64 = foreign numba !cooperative scaled(*x, a, m)\n"
    "  foreign c \"odd name\"()\n"
    "  cuda.syncthreads\n"
    "  %51: i64 = extent x, 0\n"
    "  %52: i64 = stride m, 1\n"
    "  %53: i64 = wrap %0, %51\n"
    "  %54: f32 = load x[%53]\n"
    "  %55: i32 = load m[%53, %0]\n"
    "  store x[%53], %54\n"
    "  %56: f32 = atomic add x[%53], %54\n"
    "  %57: u32 = load !cg u[%53]\n"
    "  %58: u32 = atomic cas u[%53], %57, %57\n"
    "  %59: i32[1 A ro] = subarray m[%0, %0], extents [%51], strides [%52], offset -8\n"
    "  %60: f32[2 C] = shared (16, 16) align 128\n"
    "  %61: f32[1 C] = shared (0) dynamic\n"
    "  %62: c64[1 C] = local (4)\n"
    "  %63: f64 = call f(a, x)\n"
    "  call \"g 1\"()\n"
    "  %68: u8[0 C] = cell %54\n"
    "  cell_store %68, %54\n"
    "  %69: f32 = cell_load %68\n"
    "  branch %2, block 1, block 3\n"
    "block 1:\n"
    "  %64: i64 = phi block 0: %0, block 2: %65\n"
    "  %66: f32[1 C] = undefined\n"
    "  jump block 2\n"
    "block 2:\n"
    "  %65: i64 = add %64, %0\n"
    "  branch %38, block 1, block 3\n"
    "block 3:\n"
    "  %67: i64 = address x\n"
    "  return\n"
    "\n"
    "device f(a: f64, x: f32[1 C]) -> f64 noinline recursive\n"
    "block 0:\n"
    "  return a\n"
    "\n"
    "device \"g 1\"() forceinline\n"
    "block 0:\n"
    "  %0: i8 = const 3\n"
    "  %1: bool = const true\n"
    "  branch %1, block 1, block 2\n"
    "block 1:\n"
    "  print \"100%% %s\\x0a\", %1\n"
    "  raise 2, %0, %1\n"
    "block 2:\n"
    "  trap\n"
    "\n"
    "device trips(n: i64)\n"
    "block 0:\n"
    "  %0: i64 = trip\n"
    "  line %0, 3\n"
    "  observe !trip 4, %0\n"
    "  %1: i64 = mul !exact %0, n\n"
    "  %2: i64 = add !exact %1, n\n"
    "  %3: i32 = warp_start\n"
    "  %4: bool = lt %2, n\n"
    "  branch !in %4, block 1, block 2\n"
    "block 1:\n"
    "  next_trip\n"
    "block 2:\n"
    "  branch !out %4, block 1, block 3\n"
    "block 3:\n"
    "  return\n"
    "\n"
    "device h()\n"
    "block 0:\n"
    "  %0: u64 = slot\n"
    "  %1: bool = slot\n"
    "  %2: i32 = const 1\n"
    "  %3: u8[0 C] = cell %2\n"
    "  jump block 1\n"
    "block 1:\n"
    "  thread_loop !independent !begin block 3, block 2, %1, %3\n"
    "block 2:\n"
    "  %4: u64 = slot_load %0\n"
    "  slot_store %0, %4\n"
    "  jump block 1\n"
    "block 3:\n"
    "  exchange cuda.ballot_sync %0, %1, %0\n"
    "  %5: i32 = exchange cuda.syncthreads_or %0\n"
    "  watch !begin 0\n"
    "  watch !fence 0\n"
    "  %6: f32[1 C] = local (4)\n"
    "  watch !fresh 0, %6\n"
    "  %7: i64 = const 1\n"
    "  %8: f32 = const 2.5\n"
    "  watch 3, %6[%7]\n"
    "  watch !write 4, %6[%7], %8\n"
    "  broadcast %6, %7\n"
    "  %9: bool = lt %8, %8\n"
    "  %10: i64 = mul !checked %7, %7\n"
    "  note 5, %9, %10, %8\n"
    "  %11: i64 = slot\n"
    "  %12: f32 = slot\n"
    "  additions %11, %12\n"
    "  jump block 4\n"
    "block 4:\n"
    "  thread_loop block 6, block 5\n"
    "block 5:\n"
    "  jump block 4\n"
    "block 6:\n"
    "  return\n";

/* op.def's operations all occur above. */
static void check_coverage(void)
{
    for (int op = 0; op < IR_OP_COUNT; op++) {
        char word[40];
        if (op == IR_PARAM || op == IR_INTRINSIC)
            continue;
        snprintf(word, sizeof word, " %s", ir_op_info[op].text);
        if (!CHECK(strstr(every_operation, word)))
            fprintf(stderr, "%s\n", word);
    }
}

static void test_refused(void)
{
    static const char head[] = "kernel k(a: f64, x: f32[1 C])\nblock 0:\n";
    static const struct {
        const char *line, *message;
    } rows[] = {
        {"  frob a\n", "no operation is called 'frob'"},
        {"  math.frob a\n", "no intrinsic is called"},
        {"  param a\n", "no operation"},
        {"  %0: f64 = add a, b\n", "no parameter is called 'b'"},
        {"  %0: f64 = add a, %1\n", "no value %1"},
        {"  %0: f64 = add a a\n", "expected the line to end"},
        {"  %0: f99 = add a, a\n", "expected a type"},
        {"  add a, a\n", "needs a result"},
        {"  %0: f64 = return a\n", "has no result"},
        {"  %0: none = call k()\n", "has no number"},
        {"  call nobody()\n", "no function is called"},
        {"  %0: f64 = const x\n", "expected a number"},
        {"  %0: bool = const 1\n", "expected true or false"},
        {"  %0: i64 = const 99999999999999999999\n", "expected an integer"},
        {"  %0: f64 = const 1.0\n  %0: f64 = const 1.0\n", "a second %0"},
        {"  jump block 9\n", "a block that is not there"},
        {"block 0:\n", "a second block 0"},
        {"block 1:\nblock 1:\n", "a second block 1"},
        {"block x:\n", "expected a number"},
        {"  %99999999999: f64 = const 1.0\n", "expected a number"},
        {"  %0: f32[1 C ro] = data f32[1 C] (1) strides (4) bytes 012\n", "half a byte"},
        {"  %0: f32[1 C ro] = data f32 (1) strides (4) bytes 01\n", "no array"},
        {"  %0: f32[1 C ro] = data f32[1 C] (1, 2) strides (4) bytes 01\n", "expected ')'"},
        {"  %0: f32 = atomic frob x[%0], %0\n", "name of an atomic"},
        {"  %0: f32[1 C] = shared (1) align\n", "expected a number"},
        {"  %0: f32 = load x\n", "expected '['"},
        {"  return ; 1:2\n", "expected '-'"},
        {"  jump block 1\nblock 1:\n  %0: f64 = phi block 1: a\n", "is not block 1"},
        {"kernel k()\n", "a second function"},
        {"device f(a: f64\n", "expected ')'"},
        {"device f(a f64)\n", "expected ':'"},
        {"device f() -> \n", "expected a type"},
        {"device f()\n", "has no block"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        Arena *arena = arena_create();
        Diag diag = {0};
        char text[512];
        snprintf(text, sizeof text, "%s%s", head, rows[i].line);
        CHECK(!ir_parse(text, arena, &diag) && diag.id == DIAG_IR_SYNTAX);
        CHECK_CONTAINS(diag.message, rows[i].message);
        arena_destroy(arena);
    }
    Arena *arena = arena_create();
    Diag diag = {0};
    CHECK(!ir_parse("", arena, &diag));
    diag_clear(&diag);
    CHECK(!ir_parse("  return\nkernel k()\nblock 0:\n  return\n", arena, &diag));
    arena_destroy(arena);
}

/* Any text that is cut or changed somewhere is read or refused, but nothing worse. */
static void test_damaged(void)
{
    size_t length = strlen(every_operation);
    char *text = malloc(length + 1);
    unsigned random = 1;
    for (int i = 0; i < 3000; i++) {
        memcpy(text, every_operation, length + 1);
        for (int changes = 0; changes < 1 + i % 3; changes++) {
            random = random * 1103515245u + 12345u;
            size_t place = (random >> 8) % length;
            random = random * 1103515245u + 12345u;
            static const char letters[] = "%0123456789,:;[]() \n\"xaik?=-.fblock";
            text[place] = i % 50 ? letters[(random >> 8) % (sizeof letters - 1)] : '\0';
        }
        Arena *arena = arena_create();
        Diag diag = {0};
        IrModule *module = ir_parse(text, arena, &diag);
        if (module) {
            Buf first = {0}, second = {0};
            bool valid = ir_verify(module, &diag);
            ir_print(&first, module, false);
            bool written[8];
            if (valid && module->first->parameter_count <= 8)
                ir_written_parameters(module, written);
            diag_clear(&diag);
            IrModule *again = ir_parse(buf_text(&first), arena, &diag);
            if (again)
                ir_print(&second, again, false);
            if (!check_that(again && !strcmp(buf_text(&first), buf_text(&second)), __FILE__, __LINE__, "same text"))
                fprintf(stderr, "%s\n%s\n", diag.message, buf_text(&first));
            buf_free(&first);
            buf_free(&second);
        } else
            CHECK(diag.id == DIAG_IR_SYNTAX);
        arena_destroy(arena);
    }
    free(text);
}

void test_ir_text(void)
{
    check_round_trip(every_operation, false, true);
    check_coverage();
    check_round_trip("kernel saxpy(a: f64, x: f32[1 C]) ; f.<locals>.saxpy \"/tmp/a b.py\":4\n"
                     "block 0:\n"
                     "  %0: i64 = extent x, 0 ; 6:11-21\n"
                     "  %1: i64 = convert a\n"
                     "  return ; 7:8-9:14\n",
                     true, true);
    check_round_trip("kernel k(r: record p{8 4, x: f32 @0}[0 C], n: i64) passed 2 0\nblock 0:\n  return\n", false,
                     true);
    check_round_trip("kernel k(r: record p{8 4, x: f32 @0}[0 C], n: i64) passed 0 2\nblock 0:\n  return\n", false,
                     false);
    check_round_trip("kernel k(p: f32[2 C], n: i64) extent 0 1 3\nblock 0:\n  return\n", false, true);
    check_round_trip("kernel k(p: f32[2 C], n: i64) extent 0 2 3\nblock 0:\n  return\n", false, false);
    check_round_trip("kernel k(p: f32[2 C], n: i64) extent 1 0 3\nblock 0:\n  return\n", false, false);
    check_round_trip("device f(p: f32[2 C]) extent 0 1 3\nblock 0:\n  return\n", false, false);
    check_round_trip("kernel k(r: record p{8 4, x: f32 @0}[0 C], t: (i64, f64))\n"
                     "block 0:\n"
                     "  foreign c !into record p{8 4, x: f32 @0} f(r, t, r)\n"
                     "  %0: (i64, f64) = foreign numba !cooperative g(t)\n"
                     "  return\n",
                     false, true);
    /* Numbers with gaps, blocks out of order and holes are text too. */
    check_round_trip("kernel k()\n"
                     "block 7:\n"
                     "  jump block 3\n"
                     "block 3:\n"
                     "  %40: i64 = const 1\n"
                     "  %12: i64 = add %40, ?\n"
                     "  return\n",
                     false, false);
    test_refused();
    test_damaged();
}
