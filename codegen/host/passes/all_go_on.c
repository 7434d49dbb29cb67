/* `if i >= n: return` ends threads of the last block or warp of a grid only. What comes behind has to ask for each thread
 * whether it takes part, and of each shuffle whether the lane that it reads is still there. So there are two forms of it: one
 * for blocks, or warps, of which no thread has ended, where nobody asks, and the one for the others.
 *
 *     thread_loop !begin block 7, block 3, going, ended          thread_loop !begin block 8, block 3, going, ended
 *     block 7:                                             ->    block 8: branch (ended == 0), block 7 without asking, block 7
 *
 * That takes threads that end nowhere behind that, by an exception neither. */
#include "codegen/host/regions/loop_body.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_VALUES = 800 /* that there are twice then */ };

typedef struct Rest {
    IrFunc *function;
    const IrValue *loop; /* in which threads may end */
    Arena *arena;
    const bool *raises; /* by place: calls of the function may end the thread */
    bool *is_behind; /* by block */
    IrBlock **copies; /* by block */
    IrValue **values; /* by value: its copy */
    uint32_t block_count, value_count;
} Rest;

static IrBlock *first_behind(const Rest *rest) { return rest->loop->targets[0]; }

/* --- whether it can be done ------------------------------------------------------------------------------------------------ */

static void find_behind(Rest *rest)
{
    IrBlock **found = ARENA_ARRAY(rest->arena, IrBlock *, rest->block_count + 1), *targets[2];
    uint32_t count = 0;
    rest->is_behind = ARENA_ARRAY(rest->arena, bool, rest->block_count + 1);
    found[count++] = first_behind(rest);
    rest->is_behind[found[0]->id] = true;
    for (uint32_t next = 0; next < count; next++)
        for (int i = 0, targeted = ir_successors(found[next], targets); i < targeted; i++)
            if (!rest->is_behind[targets[i]->id]) {
                rest->is_behind[targets[i]->id] = true;
                found[count++] = targets[i];
            }
}

/* Of what says who has ended, a later loop and an exchange may ask, and the test whether there is anybody left. */
static bool only_asks(const Rest *rest, const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        bool is_slot = value->operands[i] == rest->loop->operands[0],
             is_cell = value->operands[i] == rest->loop->operands[1];
        if (is_slot && value->op != IR_EXCHANGE && value->op != IR_THREAD_LOOP)
            return false;
        if (is_cell && value->op != IR_CELL_LOAD && value->op != IR_THREAD_LOOP)
            return false;
    }
    return true;
}

static bool may_be_twice(const Rest *rest, const IrValue *value)
{
    switch (value->op) {
    case IR_RAISE:
    case IR_TRAP:
    case IR_SHARED:
    case IR_SLOT:
    case IR_CELL:
    case IR_LOCAL: return false;
    case IR_CALL: return !rest->raises[ir_place_of(rest->function->module, value->callee)] && only_asks(rest, value);
    case IR_THREAD_LOOP: return !(value->hint & IR_THREADS_BEGIN) && only_asks(rest, value);
    default: return only_asks(rest, value);
    }
}

static bool can_split(const Rest *rest)
{
    uint32_t count = 0;
    bool asks = false;
    if (rest->is_behind[rest->loop->block->id] || first_behind(rest)->predecessor_count != 1 ||
        first_behind(rest)->first->op == IR_PHI)
        return false;
    for (const IrBlock *block = rest->function->first; block; block = block->next)
        for (const IrValue *value = block->first; rest->is_behind[block->id] && value; value = value->next) {
            if (!may_be_twice(rest, value))
                return false;
            asks |= value->op == IR_THREAD_LOOP && value->operand_count;
            count++;
        }
    return asks && count <= MOST_VALUES;
}

/* --- doing it -------------------------------------------------------------------------------------------------------------- */

static IrValue *copy_of(const Rest *rest, IrValue *value)
{
    return value->id < rest->value_count && rest->values[value->id] ? rest->values[value->id] : value;
}

/* Without what says who goes on. */
static void forget_who_goes_on(const Rest *rest, IrValue *copy)
{
    uint32_t kept = 0;
    if (copy->op != IR_THREAD_LOOP && copy->op != IR_EXCHANGE)
        return;
    for (uint32_t i = 0; i < copy->operand_count; i++)
        if (copy->operands[i] != rest->loop->operands[0] && copy->operands[i] != rest->loop->operands[1])
            copy->operands[kept++] = copy->operands[i];
    copy->operand_count = kept;
}

static void copy_blocks(const Rest *rest)
{
    IrBlock *last = rest->function->last;
    for (const IrBlock *block = rest->function->first;; block = block->next) {
        IrBlock *copy = rest->is_behind[block->id] ? rest->copies[block->id] = ir_block(rest->function) : NULL;
        if (copy)
            copy->loop = block->loop;
        for (IrValue *value = copy ? block->first : NULL; value; value = value->next)
            rest->values[value->id] = ir_copy_value(copy, value, value->operands);
        if (block == last)
            return;
    }
}

/* The operands of a phi from places that are copied too, in the same order. */
static void finish_phi(const Rest *rest, const IrBlock *block, IrValue *copy)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < block->predecessor_count; i++)
        if (rest->is_behind[block->predecessors[i]->id])
            copy->operands[kept++] = copy->operands[i];
    copy->operand_count = kept;
}

static void finish_block(const Rest *rest, const IrBlock *block)
{
    for (IrValue *copy = rest->copies[block->id]->first; copy; copy = copy->next) {
        if (copy->op == IR_PHI)
            finish_phi(rest, block, copy);
        for (uint32_t i = 0; i < copy->operand_count; i++)
            copy->operands[i] = copy_of(rest, copy->operands[i]);
        for (int i = 0; i < 2 && ir_op_info[copy->op].immediate == IR_IMMEDIATE_TARGETS; i++)
            if (copy->targets[i])
                copy->targets[i] = rest->copies[copy->targets[i]->id];
        forget_who_goes_on(rest, copy);
    }
}

/* In front of what is behind the loop: the way to the copy, where nobody has ended. */
static void put_test(const Rest *rest)
{
    IrFunc *function = rest->function;
    IrBlock *behind = first_behind(rest), *before = function->first, *last = function->last, *test = ir_block(function);
    IrValue *ended = ir_append(test, IR_CELL_LOAD, TYPE_OF(INT32), NULL, 1, &rest->loop->operands[1]);
    IrValue *nobody = ir_append(test, IR_EQ, TYPE_OF(BOOL), NULL, 2,
                                (IrValue *[]){ended, ir_const_int(test, TYPE_OF(INT32), 0, NULL)});
    ir_branch(test, nobody, rest->copies[behind->id], behind, NULL);
    while (before->next != behind)
        before = before->next;
    before->next = test;
    test->next = behind;
    last->next = NULL;
    function->last = last;
    ((IrValue *)rest->loop)->targets[0] = test;
}

static void split(Rest *rest)
{
    rest->copies = ARENA_ARRAY(rest->arena, IrBlock *, rest->block_count + 1);
    rest->values = ARENA_ARRAY(rest->arena, IrValue *, rest->value_count + 1);
    copy_blocks(rest);
    for (const IrBlock *block = rest->function->first; block; block = block->next)
        if (block->id < rest->block_count && rest->copies[block->id])
            finish_block(rest, block);
    put_test(rest);
    ir_link_blocks(rest->function);
    ir_renumber(rest->function);
}

static const IrValue *find_loop_that_ends_threads(const IrFunc *function)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        if (block->last->op == IR_THREAD_LOOP && block->last->operand_count && block->last->hint & IR_THREADS_BEGIN)
            return block->last;
    return NULL;
}

void split_where_all_go_on(IrModule *module)
{
    IrFunc *kernel = module->first;
    const IrValue *loop = kernel->is_kernel ? find_loop_that_ends_threads(kernel) : NULL;
    if (!loop)
        return;
    Arena *arena = arena_create();
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    Rest rest = {.function = kernel,
                 .loop = loop,
                 .arena = arena,
                 .raises = raises,
                 .block_count = kernel->block_count,
                 .value_count = kernel->value_count};
    find_behind(&rest);
    if (can_split(&rest))
        split(&rest);
    arena_destroy(arena);
}
