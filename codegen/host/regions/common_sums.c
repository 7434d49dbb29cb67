/* Sums that all threads of a region add to one element of shared memory, `cuda.atomic.add(count, 0, 1)`, are made in a
 * variable of the loop over threads and added once behind it: so the loop has no store in it, and LLVM makes vectors of it.
 * Only where nobody can tell: sums of integers, whose order makes no difference, in a region that touches the array in no
 * other way. The element is left alone where no thread adds to it. */
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_SUMS = 8, DEEPEST = 6, MOST_OPERANDS = 4 };

typedef struct Body {
    IrFunc *kernel;
    IrValue *loop; /* over threads */
    LoopBody inside;
} Body;

/* --- which sums --------------------------------------------------------------------------------------------------------- */

/* By which 0 changes nothing; false: the atomic operation is no sum. */
static bool find_operation(const IrValue *atomic, IrOp *op)
{
    switch (atomic->atomic) {
    case IR_ATOMIC_ADD:
    case IR_ATOMIC_SUB: *op = IR_ADD; break;
    case IR_ATOMIC_OR: *op = IR_OR; break;
    case IR_ATOMIC_XOR: *op = IR_XOR; break;
    default: return false;
    }
    return type_is_integer(atomic->operands[0]->type->element);
}

/* Or can be made again behind the loop, the same for all threads. */
static bool is_common(const Body *body, const IrValue *value, int depth)
{
    if (!body->inside.is_inside[value->block->id])
        return true;
    bool is_plain = ir_op_info[value->op].flags & IR_FLAG_PURE && value->op != IR_INTRINSIC && value->op != IR_PHI &&
                    value->operand_count <= MOST_OPERANDS;
    for (uint32_t i = 0; is_plain && i < value->operand_count; i++)
        is_plain = depth > 0 && is_common(body, value->operands[i], depth - 1);
    return is_plain;
}

static bool touches(const IrValue *value, const IrValue *memory)
{
    if (value->op == IR_CALL || value->op == IR_FOREIGN || value->op == IR_OBSERVE || value->op == IR_WATCH)
        return true;
    if (value->op == IR_INTRINSIC) {
        IntrinsicKind kind = intrinsic_info[value->intrinsic].kind;
        return kind != INTRINSIC_KIND_REGISTER && kind != INTRINSIC_KIND_MATH;
    }
    if (!(ir_op_info[value->op].flags & (IR_FLAG_READS | IR_FLAG_WRITES)) || value->operand_count == 0)
        return false;
    if (value->operands[0]->type->kind != TYPE_ARRAY)
        return false; /* slots, cells */
    const IrValue *other = memory_of(value->operands[0]);
    return !other || other == memory;
}

static bool is_alone(const Body *body, const IrValue *atomic)
{
    for (uint32_t i = 0; i < body->inside.count; i++)
        for (const IrValue *value = body->inside.blocks[i]->first; value; value = value->next) {
            if (value != atomic && touches(value, atomic->operands[0]))
                return false;
            for (uint32_t k = 0; k < value->operand_count; k++)
                if (value->operands[k] == atomic)
                    return false;
        }
    return true;
}

static bool is_common_sum(const Body *body, const IrValue *atomic)
{
    IrOp op;
    bool is_own = atomic->op == IR_ATOMIC && atomic->operands[0]->op == IR_SHARED &&
                  !atomic->operands[0]->storage->dynamic && find_operation(atomic, &op);
    if (!is_own || atomic->order != IR_ORDER_RELAXED || atomic->scope == IR_SCOPE_SYSTEM)
        return false;
    for (uint32_t i = 0; i + 1 < atomic->operand_count; i++)
        if (!is_common(body, atomic->operands[i], DEEPEST))
            return false;
    return is_alone(body, atomic);
}

/* --- the change --------------------------------------------------------------------------------------------------------- */

/* Takes the rest of the block, from the value on, away, to be put back. */
static IrValue *cut_at(IrBlock *block, IrValue *value)
{
    IrValue *before = NULL;
    for (IrValue *each = block->first; each != value; each = each->next)
        before = each;
    block->last = before;
    *(before ? &before->next : &block->first) = NULL;
    return value;
}

static void put_back(IrBlock *block, IrValue *first)
{
    *(block->last ? &block->last->next : &block->first) = first;
    for (block->last = first; block->last->next;)
        block->last = block->last->next;
}

typedef struct Sum {
    IrValue *total, *any; /* cells */
    const Type *type;
    IrOp op;
} Sum;

static void set_cell(IrBlock *at, IrValue *cell, IrValue *value)
{
    ir_append(at, IR_CELL_STORE, &type_none, &value->pos, 2, (IrValue *[]){cell, value});
}

/* In each thread that adds. */
static void add_in_thread(const Sum *sum, IrValue *atomic)
{
    IrBlock *block = atomic->block;
    IrValue *rest = cut_at(block, atomic), *given = atomic->operands[atomic->operand_count - 1];
    IrValue *cell = sum->total;
    IrValue *before = ir_append(block, IR_CELL_LOAD, sum->type, &atomic->pos, 1, &cell);
    set_cell(block, sum->total, ir_append(block, sum->op, sum->type, &atomic->pos, 2, (IrValue *[]){before, given}));
    set_cell(block, sum->any, ir_const_int(block, TYPE_OF(INT32), 1, &atomic->pos));
    put_back(block, rest->next);
}

static IrValue *made_again(const Body *body, IrBlock *to, IrValue *value)
{
    IrValue *operands[MOST_OPERANDS];
    if (!body->inside.is_inside[value->block->id])
        return value;
    for (uint32_t i = 0; i < value->operand_count; i++)
        operands[i] = made_again(body, to, value->operands[i]);
    return ir_copy_value(to, value, operands);
}

/* The function's last two blocks go in front of another one: the order of those there is stays what it was. */
static void put_before(IrFunc *function, IrBlock *after, IrBlock *first, IrBlock *second)
{
    IrBlock *before = function->first, *last = function->first;
    while (before->next != after)
        before = before->next;
    while (last->next != first)
        last = last->next;
    last->next = NULL;
    function->last = last;
    before->next = first;
    first->next = second;
    second->next = after;
}

/* Behind the loop, if any thread has. */
static void add_behind(const Sum *sum, const Body *body, const IrValue *atomic)
{
    IrBlock *asks = ir_block(body->kernel), *adds = ir_block(body->kernel), *after = body->loop->targets[0];
    const SourcePos *pos = &atomic->pos;
    IrValue *any = sum->any, *total = sum->total, *operands[2 + TYPE_MAX_NDIM];
    IrValue *flag = ir_append(asks, IR_CELL_LOAD, TYPE_OF(INT32), pos, 1, &any);
    IrValue *zero = ir_const_int(asks, TYPE_OF(INT32), 0, pos);
    IrValue *none = ir_append(asks, IR_EQ, TYPE_OF(BOOL), pos, 2, (IrValue *[]){flag, zero});
    ir_branch(asks, none, after, adds, pos);
    for (uint32_t i = 0; i + 1 < atomic->operand_count; i++)
        operands[i] = made_again(body, adds, atomic->operands[i]);
    operands[atomic->operand_count - 1] = ir_append(adds, IR_CELL_LOAD, sum->type, pos, 1, &total);
    ir_copy_value(adds, atomic, operands);
    set_cell(adds, sum->total, ir_const_int(adds, sum->type, 0, pos));
    set_cell(adds, sum->any, ir_const_int(adds, TYPE_OF(INT32), 0, pos));
    ir_jump(adds, after, pos);
    body->loop->targets[0] = asks;
    put_before(body->kernel, after, asks, adds);
}

/* The variables of the loop; they are nothing before each. */
static void make_sum(Body *body, IrValue *atomic)
{
    Sum sum = {.type = atomic->operands[atomic->operand_count - 1]->type};
    IrBlock *entry = body->kernel->first;
    find_operation(atomic, &sum.op);
    IrValue *end = cut_at(entry, entry->last), *nothing = ir_const_int(entry, sum.type, 0, &atomic->pos);
    IrValue *no = ir_const_int(entry, TYPE_OF(INT32), 0, &atomic->pos);
    sum.total = ir_append(entry, IR_CELL, &type_memory, &atomic->pos, 1, &nothing);
    sum.any = ir_append(entry, IR_CELL, &type_memory, &atomic->pos, 1, &no);
    put_back(entry, end);
    add_in_thread(&sum, atomic);
    add_behind(&sum, body, atomic);
    ir_link_blocks(body->kernel);
    ir_renumber(body->kernel);
}

/* --- the kernel --------------------------------------------------------------------------------------------------------- */

static IrValue *find_sum(const Body *body)
{
    const IrBlock *after = body->loop->targets[0];
    for (uint32_t i = 0; i < body->inside.count && after->first->op != IR_PHI; i++)
        for (IrValue *value = body->inside.blocks[i]->first; value; value = value->next)
            if (is_common_sum(body, value))
                return value;
    return NULL;
}

static bool make_one_sum(IrFunc *kernel)
{
    Arena *arena = arena_create();
    bool is_found = false;
    for (IrBlock *block = kernel->first; block && !is_found; block = block->next) {
        if (block->last->op != IR_THREAD_LOOP)
            continue;
        Body body = {kernel, block->last, find_loop_body(block->last, arena)};
        IrValue *atomic = find_sum(&body);
        is_found = atomic != NULL;
        if (is_found)
            make_sum(&body, atomic);
    }
    arena_destroy(arena);
    return is_found;
}

/* Blocks change: they are looked at again after each. */
void make_common_sums(IrModule *module)
{
    for (int left = MOST_SUMS; left > 0 && module->first->is_kernel && make_one_sum(module->first); left--)
        ;
}
