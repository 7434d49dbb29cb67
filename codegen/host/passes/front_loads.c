/* Loads of what all threads of a loop have alike, in front of it. An argument that the kernel only reads may share memory with
 * one that it writes, so LLVM loads again for each thread, and where an index is made of that, no two threads' accesses lie
 * side by side for it:
 *
 *     for each thread t:                             w = weights[b] if b < weights.size else 0
 *         if t >= weights[b]:                        v = values[b] if b < values.size else 0
 *             best = x[t - weights[b]] + values[b]   for each thread t:
 *             out[t] = max(best, x[t])                   if t >= w:
 *                                                            best = x[t - w] + v
 *                                                            out[t] = max(best, x[t])
 *
 * No thread sees the difference: it has written nothing that others see when it comes to the load, and what others write
 * meanwhile comes in no order, since threads do not meet in such a loop. The load may be one that no thread would make: so the
 * index is asked in front of it, and an element of the argument is loaded or nothing. */
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/passes.h"
#include "core/ir/ir_graph.h"

enum { MOST_LOADS = 16 /* of one loop */ };

typedef struct FrontLoad {
    const IrValue *load; /* the first one of this element */
    IrBlock *made; /* where it is loaded in front */
    IrValue *result; /* a phi: that, or 0 */
} FrontLoad;

typedef struct Front {
    IrFunc *kernel;
    const IrValue *loop; /* over threads */
    const bool *is_changing; /* by parameter */
    const bool *is_behind_write; /* by IrBlock.id: a thread may have written when it comes to the block */
    LoopBody body;
    FrontLoad loads[MOST_LOADS];
    uint32_t count;
    IrBlock *first, *last; /* what is made in front of the loop */
} Front;

/* --- which loads -------------------------------------------------------------------------------------------------------- */

static bool is_number(const Type *type) { return type_is_integer(type) || type->kind == TYPE_FLOAT; }

static bool is_front_load(const Front *front, const IrValue *value)
{
    const IrValue *array = value->op == IR_LOAD && !value->hint ? value->operands[0] : NULL;
    if (!array || array->op != IR_PARAM || front->is_changing[array->index] || !is_number(value->type))
        return false;
    for (uint32_t i = 1; i < value->operand_count; i++)
        if (!is_known_before(&front->body, value->operands[i]))
            return false;
    return true;
}

static bool writes(const IrBlock *block)
{
    for (const IrValue *value = block->first; value; value = value->next)
        if (may_write_to_argument(value))
            return true;
    return false;
}

static const bool *find_blocks_behind_writes(const Front *front, Arena *arena)
{
    bool *is_behind = ARENA_ARRAY(arena, bool, front->kernel->block_count);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < front->body.count; i++) {
            const IrBlock *block = front->body.blocks[i];
            IrBlock *targets[2];
            int count = is_behind[block->id] || writes(block) ? ir_successors(block, targets) : 0;
            for (int k = 0; k < count; k++) {
                bool is_new = targets[k] != front->loop->block && !is_behind[targets[k]->id];
                is_behind[targets[k]->id] |= is_new;
                changed |= is_new;
            }
        }
    }
    return is_behind;
}

/* --- in front ----------------------------------------------------------------------------------------------------------- */

static bool is_same_index(const IrValue *a, const IrValue *b)
{
    while (a->op == IR_CONVERT && b->op == IR_CONVERT && a->type == b->type && a != b) {
        a = a->operands[0];
        b = b->operands[0];
    }
    return a == b || (a->op == IR_CONST && b->op == IR_CONST && type_is_integer(a->type) && a->integer == b->integer);
}

static bool is_same_element(const IrValue *a, const IrValue *b)
{
    bool is_same = a->operands[0] == b->operands[0];
    for (uint32_t i = 1; i < a->operand_count && is_same; i++)
        is_same = is_same_index(a->operands[i], b->operands[i]);
    return is_same;
}

static IrValue *unsigned_index(IrBlock *to, IrValue *index)
{
    return ir_append(to, IR_BITCAST, TYPE_OF(UINT64), &index->pos, 1, &index);
}

/* `index < extent`, without signs, of all axes; true where there is none. */
static IrValue *test_indices(IrBlock *to, const IrValue *load, IrValue *const *indices)
{
    IrValue *all = NULL, *array = load->operands[0];
    for (uint32_t axis = 0; axis < array->type->ndim; axis++) {
        IrValue *extent = ir_append(to, IR_EXTENT, TYPE_OF(INT64), &load->pos, 1, &array);
        extent->index = axis;
        IrValue *index = unsigned_index(to, indices[axis]);
        extent = unsigned_index(to, extent);
        IrValue *test = ir_append(to, IR_LT, TYPE_OF(BOOL), &load->pos, 2, (IrValue *[]){index, extent});
        all = all ? ir_append(to, IR_AND, TYPE_OF(BOOL), &load->pos, 2, (IrValue *[]){all, test}) : test;
    }
    return all ? all : ir_const_int(to, TYPE_OF(BOOL), 1, &load->pos);
}

static IrValue *make_zero(IrBlock *to, const IrValue *load)
{
    return type_is_integer(load->type) ? ir_const_int(to, load->type, 0, &load->pos)
                                       : ir_const_float(to, load->type, 0, 0, &load->pos);
}

static FrontLoad *add_load(Front *front, const IrValue *load)
{
    IrValue *operands[1 + TYPE_MAX_NDIM] = {load->operands[0]};
    FrontLoad *out = &front->loads[front->count++];
    if (!front->first)
        front->first = front->last = ir_block(front->kernel);
    IrBlock *head = front->last, *made = ir_block(front->kernel), *behind = ir_block(front->kernel);
    for (uint32_t i = 1; i < load->operand_count; i++)
        operands[i] = make_before(&front->body, head, load->operands[i]);
    IrValue *test = test_indices(head, load, operands + 1), *zero = make_zero(head, load);
    ir_branch(head, test, made, behind, &load->pos);
    IrValue *loaded = ir_copy_value(made, load, operands);
    ir_jump(made, behind, &load->pos);
    *out = (FrontLoad){load, made, ir_phi(behind, load->type, &load->pos, 2)};
    out->result->operands[0] = loaded;
    out->result->operands[1] = zero;
    front->last = behind;
    return out;
}

/* NULL: there are too many. */
static const FrontLoad *find_load(Front *front, const IrValue *load)
{
    for (uint32_t i = 0; i < front->count; i++)
        if (is_same_element(front->loads[i].load, load))
            return &front->loads[i];
    return front->count < MOST_LOADS ? add_load(front, load) : NULL;
}

/* What takes the place of a value, by its id. */
static bool find_loads(Front *front, IrValue **instead)
{
    for (uint32_t i = 0; i < front->body.count; i++) {
        const IrBlock *block = front->body.blocks[i];
        if (front->is_behind_write[block->id])
            continue;
        for (const IrValue *value = block->first; value && !may_write_to_argument(value); value = value->next) {
            const FrontLoad *found = is_front_load(front, value) ? find_load(front, value) : NULL;
            if (found)
                instead[value->id] = found->result;
        }
    }
    return front->count > 0;
}

static void use_instead(const Front *front, IrValue *const *instead, uint32_t value_count)
{
    for (uint32_t i = 0; i < front->body.count; i++)
        for (IrValue *value = front->body.blocks[i]->first; value; value = value->next)
            for (uint32_t k = 0; k < value->operand_count; k++) {
                uint32_t id = value->operands[k]->id;
                if (id < value_count && instead[id])
                    value->operands[k] = instead[id];
            }
}

/* All ways to the loop but those of its threads. */
static void put_in_front(const Front *front, uint32_t block_count)
{
    IrBlock *at = front->loop->block, *targets[2];
    for (IrBlock *block = front->kernel->first; block; block = block->next) {
        bool is_before = block->id < block_count && !front->body.is_inside[block->id];
        for (int i = 0, count = is_before ? ir_successors(block, targets) : 0; i < count; i++)
            if (targets[i] == at)
                block->last->targets[i] = front->first;
    }
    ir_jump(front->last, at, &front->loop->pos);
}

/* Operands follow the predecessors. */
static void order_phis(const Front *front)
{
    for (uint32_t i = 0; i < front->count; i++) {
        IrValue *phi = front->loads[i].result, *loaded = phi->operands[0];
        if (phi->block->predecessors[0] == front->loads[i].made)
            continue;
        phi->operands[0] = phi->operands[1];
        phi->operands[1] = loaded;
    }
}

static void load_in_front(IrFunc *kernel, const IrValue *loop, const bool *is_changing, Arena *arena)
{
    uint32_t block_count = kernel->block_count, value_count = kernel->value_count;
    Front front = {.kernel = kernel, .loop = loop, .is_changing = is_changing, .body = find_loop_body(loop, arena)};
    IrValue **instead = ARENA_ARRAY(arena, IrValue *, value_count);
    front.is_behind_write = find_blocks_behind_writes(&front, arena);
    if (loop->block->first->op == IR_PHI || !find_loads(&front, instead))
        return;
    use_instead(&front, instead, value_count);
    put_in_front(&front, block_count);
    ir_sort_blocks(kernel, arena);
    order_phis(&front);
    ir_renumber(kernel);
}

void load_in_front_of_threads(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || !has_thread_loops(kernel))
        return;
    Arena *arena = arena_create();
    const bool *is_changing = find_changing_arguments(kernel, arena);
    const IrValue **loops = ARENA_ARRAY(arena, const IrValue *, kernel->block_count);
    uint32_t count = 0;
    for (const IrBlock *block = kernel->first; block; block = block->next)
        if (block->last->op == IR_THREAD_LOOP)
            loops[count++] = block->last;
    for (uint32_t i = 0; i < count; i++)
        load_in_front(kernel, loops[i], is_changing, arena);
    arena_destroy(arena);
}
