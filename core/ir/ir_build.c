/* Making functions, blocks and values, and the tables of operations. Checks nothing: ir_verify does. */
#include "core/ir/ir.h"

#include <assert.h>
#include <string.h>

#include "core/observed.h"

/* The words of op.def's result, immediate and flags columns. */
enum {
    NONE = IR_FLAG_NONE,
    PURE = IR_FLAG_PURE,
    READS = IR_FLAG_READS,
    WRITES = IR_FLAG_WRITES,
    TERMINATOR = IR_FLAG_TERMINATOR
};

const IrOpInfo ir_op_info[IR_OP_COUNT] = {
#define OP(ID, TEXT, OPERANDS, RESULT, IMMEDIATE, HINT, FLAGS) \
    [IR_##ID] = {TEXT, OPERANDS, IR_RESULT_##RESULT, IR_IMMEDIATE_##IMMEDIATE, IR_HINT_KIND_##HINT, FLAGS},
#include "core/ir/op.def"
#undef OP
};

const char *const ir_axis_names[3] = {"x", "y", "z"};
const char *const ir_loop_mark_names[IR_LOOP_MARK_COUNT] = {"", "unroll", "batch", "rolled"};
const char *const ir_threads_mark_names[IR_THREADS_MARK_COUNT] = {"independent", "begin", "cut", "up", "down"};
const char *const ir_index_mark_names[TYPE_MAX_NDIM] = {"index0", "index1", "index2", "index3",
                                                        "index4", "index5", "index6", "index7"};
const char *const ir_scope_names[IR_SCOPE_COUNT] = {"device", "block", "system"};
const char *const ir_order_names[IR_ORDER_COUNT] = {"relaxed", "acquire", "release", "acq_rel", "seq_cst"};

const char *const ir_hint_names[IR_HINT_COUNT] = {"", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"};
static const char *const exactness_names[IR_EXACTNESS_COUNT] = {"", "exact", "checked", "saturates"};
static const char *const escape_names[IR_ESCAPE_COUNT] = {"", "escapes"};
static const char *const silence_names[IR_SILENCE_COUNT] = {"", "silent"};
static const char *const watch_names[WATCH_COUNT] = {"",     "write", "atomic", "strong_read", "strong_write",
                                                     "copy", "fence", "fresh",  "touch",       "begin"};
static const char *const privacy_names[IR_PRIVACY_COUNT] = {"", "private"};
static const char *const turns_names[IR_TURNS_COUNT] = {"", "in_turn"};
static const char *const bound_names[IR_BOUND_COUNT] = {"", "in", "out"};

static const struct {
    const char *const *words;
    uint8_t count;
} hint_words[IR_HINT_KIND_COUNT] = {
    [IR_HINT_KIND_CACHE] = {ir_hint_names, IR_HINT_COUNT},
    [IR_HINT_KIND_WRAPS] = {exactness_names, IR_EXACTNESS_COUNT},
    [IR_HINT_KIND_DIVIDES] = {exactness_names, IR_EXACTNESS_COUNT},
    [IR_HINT_KIND_NARROWS] = {exactness_names, IR_EXACTNESS_COUNT},
    [IR_HINT_KIND_ESCAPE] = {escape_names, IR_ESCAPE_COUNT},
    [IR_HINT_KIND_WATCH] = {watch_names, WATCH_COUNT},
    [IR_HINT_KIND_SILENCE] = {silence_names, IR_SILENCE_COUNT},
    [IR_HINT_KIND_BOUND] = {bound_names, IR_BOUND_COUNT},
    [IR_HINT_KIND_EVENT] = {observed_event_words, OBSERVED_EVENT_COUNT},
    [IR_HINT_KIND_PRIVACY] = {privacy_names, IR_PRIVACY_COUNT},
    [IR_HINT_KIND_TURNS] = {turns_names, IR_TURNS_COUNT},
};

const char *const *ir_hint_words(IrOp op, uint8_t *count)
{
    IrHintKind kind = ir_op_info[op].hint;
    *count = hint_words[kind].count;
    return hint_words[kind].words;
}

const char *const ir_atomic_names[IR_ATOMIC_COUNT] = {
    [IR_ATOMIC_ADD] = "add",       [IR_ATOMIC_SUB] = "sub",       [IR_ATOMIC_MAX] = "max", [IR_ATOMIC_MIN] = "min",
    [IR_ATOMIC_NANMAX] = "nanmax", [IR_ATOMIC_NANMIN] = "nanmin", [IR_ATOMIC_AND] = "and", [IR_ATOMIC_OR] = "or",
    [IR_ATOMIC_XOR] = "xor",       [IR_ATOMIC_EXCH] = "exch",     [IR_ATOMIC_INC] = "inc", [IR_ATOMIC_DEC] = "dec",
    [IR_ATOMIC_CAS] = "cas",
};

IrModule *ir_module(Arena *arena)
{
    IrModule *module = ARENA_NEW(arena, IrModule);
    module->arena = arena;
    return module;
}

IrFunc *ir_function(IrModule *module, const char *name, const SourceFunction *source, bool is_kernel,
                    const Type *result, uint32_t parameter_count, const Type *const *parameter_types,
                    const char *const *parameter_names)
{
    Arena *arena = module->arena;
    IrFunc *function = ARENA_NEW(arena, IrFunc);
    *function = (IrFunc){.module = module,
                         .name = arena_string(arena, name),
                         .source = source,
                         .is_kernel = is_kernel,
                         .result = result,
                         .parameter_count = parameter_count,
                         .parameter_types = arena_copy(arena, parameter_types, parameter_count * sizeof(Type *)),
                         .parameter_names = arena_copy(arena, parameter_names, parameter_count * sizeof(char *)),
                         .parameters = ARENA_ARRAY(arena, IrValue *, parameter_count)};
    assert(!module->last == !module->first && (!module->last || !module->last->next));
    *(module->last ? &module->last->next : &module->first) = function;
    module->last = function;
    module->function_count++;

    IrBlock *entry = ir_block(function);
    for (uint32_t i = 0; i < parameter_count; i++) {
        function->parameters[i] = ir_append(entry, IR_PARAM, parameter_types[i], NULL, 0, NULL);
        function->parameters[i]->index = i;
    }
    return function;
}

IrFunc *ir_kernel_like(IrModule *module, const IrFunc *kernel)
{
    IrFunc *made = ir_function(module, kernel->name, kernel->source, true, kernel->result, kernel->parameter_count,
                               kernel->parameter_types, kernel->parameter_names);
    made->is_limited = kernel->is_limited;
    made->is_apart = kernel->is_apart;
    made->aligned = kernel->aligned;
    made->reports = kernel->reports;
    made->row_axis = kernel->row_axis;
    made->joins_rows = kernel->joins_rows;
    made->by_rows = kernel->by_rows;
    made->by_warps = kernel->by_warps;
    made->may_wait = kernel->may_wait;
    made->single_axes = kernel->single_axes;
    if (kernel->extents)
        made->extents = arena_copy(module->arena, kernel->extents, kernel->parameter_count * TYPE_MAX_NDIM);
    if (kernel->passed)
        made->passed = arena_copy(module->arena, kernel->passed, kernel->parameter_count * sizeof *kernel->passed);
    return made;
}

IrBlock *ir_block(IrFunc *function)
{
    IrBlock *block = ARENA_NEW(function->module->arena, IrBlock);
    block->function = function;
    block->id = function->block_count++;
    assert(!function->last || !function->last->next);
    *(function->last ? &function->last->next : &function->first) = block;
    function->last = block;
    return block;
}

static IrValue *new_value(IrBlock *block, IrOp op, const Type *type, const SourcePos *pos, uint32_t operand_count)
{
    Arena *arena = block->function->module->arena;
    IrValue *value = ARENA_NEW(arena, IrValue);
    value->op = op;
    value->type = type;
    if (pos)
        value->pos = *pos;
    value->id = block->function->value_count++;
    value->operand_count = operand_count;
    value->operands = ARENA_ARRAY(arena, IrValue *, operand_count);
    value->block = block;
    return value;
}

/* NULL for `after`: before all others. */
static void insert_after(IrBlock *block, IrValue *after, IrValue *value)
{
    assert(!after || after->block == block);
    IrValue **link = after ? &after->next : &block->first;
    value->next = *link;
    *link = value;
    if (block->last == after)
        block->last = value;
}

IrValue *ir_append(IrBlock *block, IrOp op, const Type *type, const SourcePos *pos, uint32_t operand_count,
                   IrValue *const *operands)
{
    assert((unsigned)op < IR_OP_COUNT && (operands || !operand_count));
    IrValue *value = new_value(block, op, type, pos, operand_count);
    if (operand_count)
        memcpy(value->operands, operands, operand_count * sizeof *operands);
    insert_after(block, block->last, value);
    return value;
}

IrValue *ir_phi(IrBlock *block, const Type *type, const SourcePos *pos, uint32_t operand_count)
{
    IrValue *value = new_value(block, IR_PHI, type, pos, operand_count);
    bool has_others = block->last && block->last->op != IR_PHI; /* mostly phis are made first, maybe thousands */
    IrValue *after = has_others ? NULL : block->last;
    for (IrValue *other = block->first; has_others && other->op == IR_PHI; other = other->next)
        after = other;
    insert_after(block, after, value);
    return value;
}

IrValue *ir_const_int(IrBlock *block, const Type *type, int64_t integer, const SourcePos *pos)
{
    IrValue *value = ir_append(block, IR_CONST, type, pos, 0, NULL);
    value->integer = integer;
    return value;
}

IrValue *ir_const_float(IrBlock *block, const Type *type, double real, double imaginary, const SourcePos *pos)
{
    IrValue *value = ir_append(block, IR_CONST, type, pos, 0, NULL);
    value->real = real;
    value->imaginary = imaginary;
    return value;
}

IrValue *ir_raise(IrBlock *block, uint32_t exception, const SourcePos *pos, uint32_t count, IrValue *const *values)
{
    IrValue *value = ir_append(block, IR_RAISE, &type_none, pos, count, values);
    value->index = exception;
    return value;
}

IrValue *ir_raise_silently(IrBlock *block, const SourcePos *pos)
{
    IrValue *value = ir_raise(block, 0, pos, 0, NULL);
    value->hint = IR_SILENT;
    return value;
}

uint32_t ir_exception_slots(const Type *type)
{
    uint32_t count = type->kind == TYPE_COMPLEX ? 2 : type_is_scalar(type) ? 1 : 0;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        count += ir_exception_slots(type->items[i]);
    return count;
}

void ir_add_link(IrModule *module, const LinkItem *item)
{
    for (uint32_t i = 0; i < module->link_count; i++)
        if (module->links[i] == item)
            return;
    module->links =
        arena_grow(module->arena, module->links, module->link_count, &module->link_capacity, sizeof *module->links);
    module->links[module->link_count++] = item;
}

uint32_t ir_add_exception(IrModule *module, const IrException *exception)
{
    assert(module->exception_count <= module->exception_capacity && exception->class);
    module->exceptions = arena_grow(module->arena, module->exceptions, module->exception_count,
                                    &module->exception_capacity, sizeof *exception);
    module->exceptions[module->exception_count] = *exception;
    return module->exception_count++;
}

IrValue *ir_jump(IrBlock *block, IrBlock *target, const SourcePos *pos)
{
    IrValue *value = ir_append(block, IR_JUMP, &type_none, pos, 0, NULL);
    value->targets[0] = target;
    return value;
}

IrValue *ir_branch(IrBlock *block, IrValue *condition, IrBlock *yes, IrBlock *no, const SourcePos *pos)
{
    IrValue *value = ir_append(block, IR_BRANCH, &type_none, pos, 1, &condition);
    value->targets[0] = yes;
    value->targets[1] = no;
    return value;
}

IrValue *ir_copy_value(IrBlock *to, const IrValue *value, IrValue *const *operands)
{
    IrValue *made = ir_append(to, value->op, value->type, &value->pos, value->operand_count, operands),
            *next = made->next;
    uint32_t id = made->id;
    IrValue **kept = made->operands;
    *made = *value;
    made->id = id;
    made->operands = kept;
    made->next = next;
    made->block = to;
    return made;
}

bool ir_is_terminated(const IrBlock *block)
{
    return block->last && ir_op_info[block->last->op].flags & IR_FLAG_TERMINATOR;
}

const IrValue *ir_memory_of(const IrValue *array)
{
    assert(array->type->kind == TYPE_ARRAY);
    while (array->op == IR_SUBARRAY)
        array = array->operands[0];
    return array;
}

int ir_successors(const IrBlock *block, IrBlock *successors[2])
{
    int count = !block->last || ir_op_info[block->last->op].immediate != IR_IMMEDIATE_TARGETS ? 0
                : block->last->op == IR_BRANCH || block->last->op == IR_THREAD_LOOP           ? 2
                                                                                              : 1;
    for (int i = 0; i < count; i++)
        successors[i] = block->last->targets[i];
    return count;
}

void ir_link_blocks(IrFunc *function)
{
    IrBlock *targets[2];
    for (IrBlock *block = function->first; block; block = block->next)
        block->predecessor_count = 0;
    for (IrBlock *block = function->first; block; block = block->next)
        for (int i = 0, count = ir_successors(block, targets); i < count; i++)
            if (targets[i])
                targets[i]->predecessor_count++;
    for (IrBlock *block = function->first; block; block = block->next) {
        block->predecessors = ARENA_ARRAY(function->module->arena, IrBlock *, block->predecessor_count);
        block->predecessor_count = 0;
    }
    for (IrBlock *block = function->first; block; block = block->next)
        for (int i = 0, count = ir_successors(block, targets); i < count; i++)
            if (targets[i])
                targets[i]->predecessors[targets[i]->predecessor_count++] = block;
}

bool ir_may_be_silent(IrOp op) { return op == IR_CALL || op == IR_FOREIGN || op == IR_INTRINSIC || op == IR_EXCHANGE; }

bool ir_has_result(const IrValue *value)
{
    if (ir_op_info[value->op].result == IR_RESULT_NOTHING || value->op == IR_PARAM)
        return false;
    return value->type->kind != TYPE_NONE || !ir_may_be_silent(value->op);
}

static void renumber_pass(IrFunc *function, bool with_result, uint32_t *next)
{
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            if (ir_has_result(value) == with_result)
                value->id = (*next)++;
}

void ir_renumber(IrFunc *function)
{
    uint32_t next = 0;
    renumber_pass(function, true, &next);
    renumber_pass(function, false, &next);
    assert(next >= function->parameter_count);
    function->value_count = next;
    next = 0;
    for (IrBlock *block = function->first; block; block = block->next)
        block->id = next++;
    function->block_count = next;
}
