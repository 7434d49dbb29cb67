/* A kernel whose threads meet in warps only, by shuffles and votes, is run warp by warp (form_regions.c). Where each warp has
 * its threads along x, the row that a warp works on is the same for all its threads, though it is made of threadIdx.x:
 *
 *     row = cuda.grid(1) // 32                       row = (blockIdx.x * blockDim.x + warp_start) // 32
 *     lane = cuda.grid(1) % 32                       lane = laneid
 *
 * blockDim.x is a multiple of 32 there, so that what is added to threadIdx.x is one, too, and stays one where the sum wraps. */
#include "codegen/host/regions/thread_bounds.h"
#include "codegen/passes.h"
#include "core/host_abi.h"
#include "core/ir/ir_graph.h"

enum { DEEPEST = 10, MOST_VALUES = 2000 /* of a loop that is written out */ };

/* What an integer is, but for multiples of 32 that all threads of a warp have alike. */
typedef enum Rest { REST_UNKNOWN, REST_NOTHING, REST_LANE } Rest;

static Rest rest_of(const IrValue *value, int depth);

static Rest rest_of_sum(const IrValue *value, int depth)
{
    Rest a = rest_of(value->operands[0], depth + 1), b = rest_of(value->operands[1], depth + 1);
    if (a == REST_UNKNOWN || b == REST_UNKNOWN || (a == REST_LANE && b == REST_LANE))
        return REST_UNKNOWN;
    bool is_lane = a == REST_LANE || b == REST_LANE;
    return !is_lane ? REST_NOTHING : b == REST_LANE && value->op == IR_SUB ? REST_UNKNOWN : REST_LANE;
}

static Rest rest_of(const IrValue *value, int depth)
{
    if (depth > DEEPEST || !type_is_integer(value->type))
        return REST_UNKNOWN;
    switch (value->op) {
    case IR_INTRINSIC:
        return value->intrinsic == INTRINSIC_CUDA_THREAD_IDX_X  ? REST_LANE
               : value->intrinsic == INTRINSIC_CUDA_BLOCK_DIM_X ? REST_NOTHING
                                                                : REST_UNKNOWN;
    case IR_CONST: return value->integer % HOST_WARP == 0 ? REST_NOTHING : REST_UNKNOWN;
    case IR_CONVERT: return rest_of(value->operands[0], depth + 1);
    case IR_ADD:
    case IR_SUB: return rest_of_sum(value, depth);
    case IR_MUL: {
        bool is_multiple = rest_of(value->operands[0], depth + 1) == REST_NOTHING ||
                           rest_of(value->operands[1], depth + 1) == REST_NOTHING;
        return is_multiple && slope_along(0, value) == 0 ? REST_NOTHING : REST_UNKNOWN;
    }
    default: return REST_UNKNOWN;
    }
}

/* The value becomes the lane. */
static void become_lane(IrBlock *block, IrValue *value)
{
    bool is_register = value->type->scalar == SCALAR_INT32;
    IrValue *lane = is_register ? value : ir_append(block, IR_INTRINSIC, TYPE_OF(INT32), &value->pos, 0, NULL);
    value->op = IR_CONVERT;
    value->hint = 0;
    value->operand_count = !is_register;
    value->operands[0] = lane;
    lane->op = IR_INTRINSIC;
    lane->intrinsic = INTRINSIC_CUDA_LANEID;
}

/* Whether the operation takes a value's lane away, and leaves a multiple of 32, divided by something or not. */
static bool leaves_start(const IrValue *value)
{
    if (value->operand_count != 2 || value->operands[1]->op != IR_CONST)
        return false;
    int64_t number = value->operands[1]->integer;
    return value->op == IR_FLOORDIV ? number > 0 && number % HOST_WARP == 0
                                    : value->op == IR_SHR && number >= 5 && number < 31;
}

static bool leaves_lane(const IrValue *value)
{
    if (value->operand_count != 2 || value->operands[1]->op != IR_CONST)
        return false;
    return value->operands[1]->integer == (value->op == IR_MOD ? HOST_WARP : HOST_WARP - 1) &&
           (value->op == IR_MOD || value->op == IR_AND);
}

static void put(IrBlock *block, IrValue *value)
{
    value->next = NULL;
    *(block->last ? &block->last->next : &block->first) = value;
    block->last = value;
}

/* Puts the block's values in again, with what is made for them in front. */
static void split_in_block(IrBlock *block)
{
    IrValue *next, *value = block->first;
    block->first = block->last = NULL;
    for (; value; value = next) {
        next = value->next;
        if (leaves_start(value) && rest_of(value->operands[0], 0) == REST_LANE)
            value->operands[0] = of_first_thread(block, value->operands[0], 0);
        else if (leaves_lane(value) && rest_of(value->operands[0], 0) == REST_LANE)
            become_lane(block, value);
        put(block, value);
    }
}

void split_whole_warps(IrModule *module)
{
    IrFunc *kernel = module->first;
    if (!kernel->is_kernel || !kernel->by_warps)
        return;
    for (IrBlock *block = kernel->first; block; block = block->next)
        split_in_block(block);
    ir_renumber(kernel);
}

/* --- distances -------------------------------------------------------------------------------------------------------------- */

/* Whether what lanes are asked for is made of the variable. */
static bool is_made_of(const IrValue *value, const IrValue *variable, int depth)
{
    if (value == variable)
        return true;
    for (uint32_t i = 0; i < value->operand_count && depth < DEEPEST && value->op != IR_PHI; i++)
        if (is_made_of(value->operands[i], variable, depth + 1))
            return true;
    return false;
}

static bool decides_distances(const IrLoop *loop, const IrValue *variable)
{
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            if (value->op == IR_EXCHANGE && value->operand_count > 1 && value->operands[1]->op != IR_SLOT &&
                is_made_of(value->operands[1], variable, 0))
                return true;
    return false;
}

static const IrValue *without_conversions(const IrValue *value)
{
    while (value->op == IR_CONVERT && type_is_integer(value->operands[0]->type))
        value = value->operands[0];
    return value;
}

/* How many trips of a loop have a variable that is doubled or halved from a constant on, or counted so far, give or take one;
 * 0: nobody knows, or too many. unroll.c asks another question of counted loops: how many trips they have at most once loops
 * around them are written out, from which it gathers what an index may be. That needs a test by < or >, and no such variable. */
static uint32_t few_trips(const IrGraph *graph, const IrLoop *loop, const IrValue *variable)
{
    enum { DOUBLINGS = 6 }; /* from 1 to 32 */
    IrInduction found;
    int64_t way;
    if (ir_induction(graph, loop, &found) && found.variable == variable) {
        bool is_known = found.start->op == IR_CONST && found.bound->op == IR_CONST && found.step->op == IR_CONST &&
                        found.step->integer &&
                        !__builtin_sub_overflow(found.bound->integer, found.start->integer, &way) && way != INT64_MIN;
        int64_t trips = is_known ? way / found.step->integer : 0;
        return trips <= 0 || trips > HOST_WARP ? 0 : (uint32_t)trips;
    }
    bool has_start = false;
    for (uint32_t i = 0; i < variable->operand_count; i++) {
        const IrValue *next = without_conversions(variable->operands[i]);
        bool is_next = next->op == IR_FLOORDIV || next->op == IR_SHR || next->op == IR_MUL || next->op == IR_SHL;
        int64_t least = next->op == IR_SHR || next->op == IR_SHL ? 1 : 2;
        has_start |= next->op == IR_CONST;
        if (next->op != IR_CONST && !(is_next && without_conversions(next->operands[0]) == variable &&
                                      next->operands[1]->op == IR_CONST && next->operands[1]->integer >= least))
            return 0;
    }
    return has_start ? DOUBLINGS : 0;
}

static uint32_t values_of(const IrLoop *loop)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < loop->block_count; i++)
        for (const IrValue *value = loop->blocks[i]->first; value; value = value->next)
            count++;
    return count;
}

/* A shuffle by a distance that is known while compiling is a permutation of vectors: short loops over distances are written
 * out. */
void write_out_distances(IrModule *module)
{
    if (!module->first->by_warps)
        return;
    Arena *arena = arena_create();
    const IrGraph *graph = ir_graph(module->first, arena);
    for (uint32_t i = 0; i < graph->loop_count; i++) {
        const IrLoop *loop = &graph->loops[i];
        for (const IrValue *phi = loop->header->first; phi && phi->op == IR_PHI; phi = phi->next)
            if (few_trips(graph, loop, phi) * values_of(loop) - 1u < MOST_VALUES && decides_distances(loop, phi))
                loop->header->loop = IR_LOOP_UNROLL;
    }
    arena_destroy(arena);
}
