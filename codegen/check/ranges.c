/* From integers of the IR to nodes of a launch's plan. Registers, arguments and extents are the launch's; operations are
 * intervals'; what is loaded from memory may be anything of its type. */
#include "codegen/check/ranges.h"

#include <assert.h>
#include <string.h>

enum { DEEPEST = 48, MOST_LOOKS = 20000, MOST_CONTEXTS = 64, DEEPEST_CALL = 8, MOST_ARRAYS = 16 };

/* --- contexts --------------------------------------------------------------------------------------------------------- */

static const IrGraph *graph_of(Ranges *r, const IrFunc *function)
{
    const IrGraph *graph = table_get(r->graphs, &function, sizeof function);
    if (!graph) {
        graph = ir_graph(function, r->arena);
        table_set(r->graphs, &function, sizeof function, (void *)graph);
    }
    return graph;
}

static void add_context(Ranges *r, const Context *caller, const IrValue *call, const IrFunc *function)
{
    uint32_t depth = caller ? caller->depth + 1 : 0;
    if (r->context_count == MOST_CONTEXTS || depth > DEEPEST_CALL) {
        r->lacks_contexts = true;
        return;
    }
    Context *context = ARENA_NEW(r->arena, Context);
    *context = (Context){.function = function,
                         .graph = graph_of(r, function),
                         .caller = caller,
                         .call = call,
                         .id = r->context_count++,
                         .depth = depth,
                         .next = r->contexts};
    r->contexts = context;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_CALL && !value->callee->lacks_body)
                add_context(r, context, value, value->callee);
}

const Context *context_of_call(Ranges *r, const Context *caller, const IrValue *call)
{
    for (const Context *context = r->contexts; context; context = context->next)
        if (context->caller == caller && context->call == call)
            return context;
    return NULL;
}

Ranges *ranges_begin(const IrModule *module, uint32_t capacity, Arena *arena)
{
    const IrFunc *kernel = module->first;
    Ranges *r = ARENA_NEW(arena, Ranges);
    *r = (Ranges){.arena = arena,
                  .module = module,
                  .abi = kernel_abi_layout(kernel->parameter_types, kernel->parameter_count, false, arena),
                  .nodes = ARENA_ARRAY(arena, RangeNode, capacity),
                  .known = ARENA_ARRAY(arena, uint8_t, capacity),
                  .capacity = capacity,
                  .by_content = table_create(),
                  .found = table_create(),
                  .graphs = table_create()};
    /* What any integer is: in the place of what there is no room for. */
    r->nodes[r->count++] =
        (RangeNode){.op = RANGE_WHOLE, .bits = 65, .is_signed = 1, .a = RANGE_NONE, .b = RANGE_NONE, .c = RANGE_NONE};
    add_context(r, NULL, NULL, kernel);
    return r;
}

void ranges_end(Ranges *r)
{
    table_destroy(r->by_content);
    table_destroy(r->found);
    table_destroy(r->graphs);
    if (r->contents)
        table_destroy(r->contents);
}

void ranges_assume(Ranges *r, Assumption *assumption)
{
    assumption->found = r->found;
    assumption->outer = r->assumption;
    r->found = table_create();
    r->assumption = assumption;
}

void ranges_forget(Ranges *r)
{
    table_destroy(r->found);
    r->found = r->assumption->found;
    r->assumption = r->assumption->outer;
}

/* --- parameters --------------------------------------------------------------------------------------------------------- */

static uint32_t field_count(const Type *type)
{
    uint32_t count = 0;
    switch (type->kind) {
    case TYPE_COMPLEX: return 2;
    case TYPE_ARRAY: return 1u + type->ndim * (type->layout == LAYOUT_ANY ? 2u : 1u);
    case TYPE_TUPLE:
        for (uint32_t i = 0; i < type->count; i++)
            count += field_count(type->items[i]);
        return count;
    case TYPE_RECORD:
    case TYPE_CHARS:
    case TYPE_NONE:
    case TYPE_OBJECT: return 0;
    default: return 1;
    }
}

/* The first field of a kernel's parameter, or of an item of a tuple that is one. NULL: the value is neither. */
static const AbiField *field_of(const Ranges *r, const IrValue *value)
{
    if (value->op == IR_GET) {
        const AbiField *field = field_of(r, value->operands[0]);
        for (uint32_t i = 0; field && i < value->index; i++)
            field += field_count(value->operands[0]->type->items[i]);
        return field;
    }
    if (value->op != IR_PARAM)
        return NULL;
    for (uint32_t i = 0; i < r->abi->field_count; i++)
        if (r->abi->fields[i].parameter == value->index)
            return &r->abi->fields[i];
    return NULL;
}

static uint32_t node_of_field(Ranges *r, const AbiField *field, const Type *type)
{
    int64_t limit = field->kind == ABI_EXTENT ? KERNEL_ABI_MAX_EXTENT : 0;
    return range_node(r, RANGE_FIELD, type, RANGE_NONE, RANGE_NONE, RANGE_NONE, field->offset, limit);
}

/* What stands for the value in the caller: the argument of a parameter, the item of a tuple that is made there. */
static bool is_passed(const Context *context, const IrValue *value) { return value->op == IR_PARAM && context->caller; }

static Place place_of_call(const Context *context) { return (Place){context->call->block, NULL}; }

/* Where a function is when one that it calls, itself or by others, is at a place. */
static Place place_of_caller(const Context *caller, const Context *context, Place place)
{
    for (; context != caller; context = context->caller)
        place = place_of_call(context);
    return place;
}

/* The item that a GET takes, where the tuple is at hand; *context: where it is a value. NULL: it is not. */
static const IrValue *item_of(const Context **context, const IrValue *value)
{
    const IrValue *tuple = value->operands[0];
    const Context *where = *context;
    while (is_passed(where, tuple)) {
        tuple = where->call->operands[tuple->index];
        where = where->caller;
    }
    if (tuple->op == IR_GET) {
        const IrValue *inner = item_of(&where, tuple);
        tuple = inner ? inner : tuple;
    }
    *context = where;
    return tuple->op == IR_TUPLE ? tuple->operands[value->index] : NULL;
}

/* --- extents ------------------------------------------------------------------------------------------------------------- */

typedef struct Arrays {
    const Context *contexts[MOST_ARRAYS];
    const IrValue *values[MOST_ARRAYS];
    uint32_t count;
    bool is_all; /* there are no others */
} Arrays;

static void add_array(Arrays *arrays, const Context *context, const IrValue *value)
{
    for (uint32_t i = 0; i < arrays->count; i++)
        if (arrays->values[i] == value && arrays->contexts[i] == context)
            return;
    if (arrays->count == MOST_ARRAYS) {
        arrays->is_all = false;
        return;
    }
    arrays->contexts[arrays->count] = context;
    arrays->values[arrays->count++] = value;
}

/* The arrays that a value may be; those that stand for others stay among them and are passed over. */
static void list_arrays(Arrays *arrays, const Context *context, const IrValue *value)
{
    *arrays = (Arrays){.is_all = true};
    add_array(arrays, context, value);
    for (uint32_t i = 0; i < arrays->count; i++) {
        const IrValue *array = arrays->values[i];
        const Context *where = arrays->contexts[i];
        if (array->op == IR_PHI || array->op == IR_SELECT)
            for (uint32_t k = array->op == IR_SELECT; k < array->operand_count; k++)
                add_array(arrays, where, array->operands[k]);
        else if (is_passed(where, array))
            add_array(arrays, where->caller, where->call->operands[array->index]);
    }
}

static bool stands_for_others(const Context *context, const IrValue *array)
{
    return array->op == IR_PHI || array->op == IR_SELECT || is_passed(context, array);
}

static uint32_t bytes_of_element(const Type *array) { return array->element->size ? array->element->size : 1; }

static uint32_t extent_of_dynamic(Ranges *r, const IrValue *array)
{
    const Type *type = TYPE_OF(INT64);
    uint32_t size = range_between(r, type, bytes_of_element(array->type), bytes_of_element(array->type));
    uint32_t all = range_node(r, RANGE_DYNAMIC_SHARED, type, RANGE_NONE, RANGE_NONE, RANGE_NONE, 0, 0);
    return range_node(r, RANGE_FLOORDIV, type, all, size, RANGE_NONE, 0, 0);
}

static uint32_t extent_of_item(Ranges *r, const Context *context, const IrValue *array, uint32_t axis, Place place)
{
    const Context *where = context;
    const IrValue *item = item_of(&where, array);
    if (item)
        return range_of_extent(r, where, item, axis, place_of_caller(where, context, place));
    const AbiField *field = context->caller ? NULL : field_of(r, array);
    return field ? node_of_field(r, field + 1 + axis, TYPE_OF(INT64)) : range_whole(r, TYPE_OF(INT64));
}

static uint32_t extent_of_one(Ranges *r, const Context *context, const IrValue *array, uint32_t axis, Place place)
{
    const Type *type = TYPE_OF(INT64);
    switch (array->op) {
    case IR_PARAM: return node_of_field(r, field_of(r, array) + 1 + axis, type);
    case IR_GET: return extent_of_item(r, context, array, axis, place);
    case IR_SUBARRAY: return range_of(r, context, array->operands[1 + array->operands[0]->type->ndim + axis], place);
    case IR_DATA: return range_between(r, type, array->array->shape[axis], array->array->shape[axis]);
    case IR_SHARED:
        if (array->storage->dynamic)
            return extent_of_dynamic(r, array);
        break;
    case IR_LOCAL: break;
    default: return range_whole(r, type);
    }
    return range_between(r, type, array->storage->shape[axis], array->storage->shape[axis]);
}

uint32_t range_of_extent(Ranges *r, const Context *context, const IrValue *array, uint32_t axis, Place place)
{
    Arrays arrays;
    uint32_t node = RANGE_NONE;
    list_arrays(&arrays, context, array);
    for (uint32_t i = 0; i < arrays.count; i++) {
        const Context *where = arrays.contexts[i];
        if (stands_for_others(where, arrays.values[i]))
            continue;
        Place here = arrays.values[i] == array ? place : (Place){arrays.values[i]->block, NULL};
        uint32_t one = extent_of_one(r, where, arrays.values[i], axis, here);
        node = node == RANGE_NONE ? one : range_node(r, RANGE_UNION, TYPE_OF(INT64), node, one, RANGE_NONE, 0, 0);
    }
    return node == RANGE_NONE || !arrays.is_all ? range_whole(r, TYPE_OF(INT64)) : node;
}

/* --- operations --------------------------------------------------------------------------------------------------------- */

static uint32_t of_register(Ranges *r, const IrValue *value)
{
    static const struct {
        IntrinsicId axes;
        RangeOp op;
    } rows[] = {{INTRINSIC_CUDA_THREAD_IDX, RANGE_THREAD},
                {INTRINSIC_CUDA_BLOCK_IDX, RANGE_BLOCK},
                {INTRINSIC_CUDA_BLOCK_DIM, RANGE_BLOCK_DIM},
                {INTRINSIC_CUDA_GRID_DIM, RANGE_GRID_DIM}};
    const IntrinsicInfo *info = &intrinsic_info[value->intrinsic];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint32_t axis = 0; axis < 3; axis++)
            if (value->intrinsic == intrinsic_on_axis(rows[i].axes, axis))
                return range_node(r, rows[i].op, value->type, RANGE_NONE, RANGE_NONE, RANGE_NONE, axis, 0);
    return info->kind == INTRINSIC_KIND_REGISTER && info->low <= info->high
               ? range_between(r, value->type, info->low, info->high)
               : range_whole(r, value->type);
}

static uint32_t of_merge(Ranges *r, const Context *context, const IrValue *phi)
{
    uint32_t node = RANGE_NONE;
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        uint32_t one = range_of(r, context, phi->operands[i], (Place){phi->block->predecessors[i], phi->block});
        node = node == RANGE_NONE ? one : range_node(r, RANGE_UNION, phi->type, node, one, RANGE_NONE, 0, 0);
    }
    return node == RANGE_NONE ? range_whole(r, phi->type) : node;
}

static uint32_t of_phi(Ranges *r, const Context *context, const IrValue *phi)
{
    const IrLoop *loop = context->graph->loop_of[phi->block->id];
    for (const Assumption *each = r->assumption; each; each = each->outer)
        if (each->phi == phi && each->context == context)
            return each->node;
    return loop && loop->header == phi->block ? range_of_loop(r, context, loop, phi) : of_merge(r, context, phi);
}

static uint32_t of_select(Ranges *r, const Context *context, const IrValue *value, Place place)
{
    const IrValue *yes = value->operands[1], *no = value->operands[2];
    uint32_t a = range_of(r, context, yes, place), b = range_of(r, context, no, place);
    a = narrow_by(r, context, yes, a, value->operands[0], true, place);
    b = narrow_by(r, context, no, b, value->operands[0], false, place);
    return range_node(r, RANGE_UNION, value->type, a, b, RANGE_NONE, 0, 0);
}

/* What the function returns there. */
static uint32_t of_call(Ranges *r, const Context *caller, const IrValue *call)
{
    const Context *context = context_of_call(r, caller, call);
    uint32_t node = RANGE_NONE;
    for (const IrBlock *block = context ? context->function->first : NULL; block; block = block->next) {
        const IrValue *last = block->last;
        if (last->op != IR_RETURN || !last->operand_count)
            continue;
        uint32_t one = range_of(r, context, last->operands[0], (Place){block, NULL});
        node = node == RANGE_NONE ? one : range_node(r, RANGE_UNION, call->type, node, one, RANGE_NONE, 0, 0);
    }
    return node == RANGE_NONE ? range_whole(r, call->type) : node;
}

static uint32_t of_item(Ranges *r, const Context *context, const IrValue *value, Place place)
{
    const Context *where = context;
    const IrValue *item = item_of(&where, value);
    if (item)
        return range_of(r, where, item, place_of_caller(where, context, place));
    const AbiField *field = context->caller ? NULL : field_of(r, value);
    return field ? node_of_field(r, field, value->type) : range_whole(r, value->type);
}

static uint32_t of_parameter(Ranges *r, const Context *context, const IrValue *value)
{
    if (context->caller)
        return range_of(r, context->caller, context->call->operands[value->index], place_of_call(context));
    return node_of_field(r, field_of(r, value), value->type);
}

static RangeOp arithmetic(IrOp op)
{
    switch (op) {
    case IR_ADD: return RANGE_ADD;
    case IR_SUB: return RANGE_SUB;
    case IR_MUL: return RANGE_MUL;
    case IR_FLOORDIV: return RANGE_FLOORDIV;
    case IR_MOD: return RANGE_MOD;
    case IR_SHL: return RANGE_SHL;
    case IR_SHR: return RANGE_SHR;
    case IR_AND: return RANGE_AND;
    case IR_OR:
    case IR_XOR: return RANGE_OR;
    case IR_MIN: return RANGE_MIN;
    case IR_MAX: return RANGE_MAX;
    case IR_WRAP: return RANGE_WRAP;
    case IR_NEG: return RANGE_NEG;
    case IR_ABS: return RANGE_ABS;
    case IR_CONVERT:
    case IR_BITCAST: return RANGE_CONVERT;
    default: return RANGE_OP_COUNT;
    }
}

static bool is_number(const Type *type) { return type_is_integer(type) || type->kind == TYPE_BOOL; }

static uint32_t of_arithmetic(Ranges *r, const Context *context, const IrValue *value, Place place)
{
    RangeOp op = arithmetic(value->op);
    uint32_t operands[2] = {RANGE_NONE, RANGE_NONE};
    if (op == RANGE_OP_COUNT || value->operand_count > 2)
        return range_whole(r, value->type);
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (!is_number(value->operands[i]->type))
            return range_whole(r, value->type);
        operands[i] = range_of(r, context, value->operands[i], place);
    }
    return range_node(r, op, value->type, operands[0], operands[1], RANGE_NONE, 0, 0);
}

static uint32_t look(Ranges *r, const Context *context, const IrValue *value, Place place)
{
    switch (value->op) {
    case IR_CONST:
        return value->type->kind == TYPE_UINT && value->integer < 0
                   ? range_whole(r, value->type)
                   : range_between(r, value->type, value->integer, value->integer);
    case IR_PARAM: return of_parameter(r, context, value);
    case IR_GET: return of_item(r, context, value, place);
    case IR_EXTENT: return range_of_extent(r, context, value->operands[0], value->index, place);
    case IR_INTRINSIC: return of_register(r, value);
    case IR_PHI: return of_phi(r, context, value);
    case IR_SELECT: return of_select(r, context, value, place);
    case IR_CALL: return of_call(r, context, value);
    case IR_LOAD: return range_of_contents(r, value);
    case IR_POPCOUNT:
    case IR_LEADZEROS:
    case IR_TRAILZEROS: return range_between(r, value->type, 0, type_bits(value->type));
    default: return of_arithmetic(r, context, value, place);
    }
}

typedef struct Key {
    uint32_t context, value, block, edge;
} Key;

bool range_goes_deeper(Ranges *r)
{
    if (r->depth == DEEPEST || r->is_full || ++r->steps > MOST_LOOKS)
        return false;
    r->depth++;
    return true;
}

uint32_t range_of(Ranges *r, const Context *context, const IrValue *value, Place place)
{
    assert(place.block->function == context->function);
    Key key = {context->id, value->id, place.block->id, place.edge ? place.edge->id : UINT32_MAX};
    uintptr_t found = (uintptr_t)table_get(r->found, &key, sizeof key);
    if (found)
        return (uint32_t)found - 1;
    if (!is_number(value->type))
        return range_whole(r, TYPE_OF(INT64));
    if (!range_goes_deeper(r))
        return 0;
    uint32_t node = look(r, context, value, place);
    if (value->op != IR_CONST)
        node = narrow(r, context, value, node, place);
    r->depth--;
    table_set(r->found, &key, sizeof key, (void *)(uintptr_t)(node + 1));
    return node;
}
