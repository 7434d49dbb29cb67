/* Which parameters a kernel may write through, and what its intrinsics do. An array value's origins are the parameters
 * whose memory it may reach, a bit each; they flow forward through values and calls until nothing changes. */
#include "core/ir/ir.h"

#include <assert.h>
#include <string.h>

typedef uint64_t Word;
enum { WORD_BITS = 64 };

typedef struct Flow {
    const IrFunc *function;
    uint32_t words;            /* of one set */
    Word *origins;             /* by value id: sets over this function's parameters */
    Word *result, *written;    /* sets over this function's parameters */
    bool reached;
} Flow;

static bool holds_array(const Type *type)
{
    if (type->kind == TYPE_ARRAY)
        return true;
    for (uint32_t i = 0; type->kind == TYPE_TUPLE && i < type->count; i++)
        if (holds_array(type->items[i]))
            return true;
    return false;
}

static Flow *flow_of(Flow *flows, const IrFunc *function)
{
    while (flows->function && flows->function != function)
        flows++;
    return flows->function ? flows : NULL;
}

static Word *origins_of(const Flow *flow, const IrValue *value)
{
    assert(value->id < flow->function->value_count);
    return flow->origins + (size_t)value->id * flow->words;
}

static bool merge(Word *into, const Word *from, uint32_t words)
{
    bool changed = false;
    for (uint32_t i = 0; i < words; i++) {
        changed |= (from[i] & ~into[i]) != 0;
        into[i] |= from[i];
    }
    return changed;
}

/* What the callee may do with its parameters, in terms of the caller's. */
static bool merge_through_call(const Flow *flow, const IrValue *call, const Flow *callee, const Word *set, Word *into)
{
    bool changed = false;
    for (uint32_t i = 0; i < call->operand_count && i < callee->function->parameter_count; i++)
        if (set[i / WORD_BITS] >> i % WORD_BITS & 1)
            changed |= merge(into, origins_of(flow, call->operands[i]), flow->words);
    return changed;
}

static bool flow_call(Flow *flows, Flow *flow, const IrValue *value)
{
    Flow *callee = flow_of(flows, value->callee);
    if (!callee)
        return false;
    bool changed = !callee->reached;
    callee->reached = true;
    changed |= merge_through_call(flow, value, callee, callee->written, flow->written);
    if (holds_array(value->type))
        changed |= merge_through_call(flow, value, callee, callee->result, origins_of(flow, value));
    return changed;
}

static bool flow_operands(const Flow *flow, const IrValue *value, Word *into)
{
    bool changed = false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (value->operands[i] && holds_array(value->operands[i]->type))
            changed |= merge(into, origins_of(flow, value->operands[i]), flow->words);
    return changed;
}

static bool flow_value(Flow *flows, Flow *flow, const IrValue *value)
{
    switch (value->op) {
    case IR_CALL: return flow_call(flows, flow, value);
    case IR_STORE:
    case IR_ATOMIC: return merge(flow->written, origins_of(flow, value->operands[0]), flow->words);
    case IR_FOREIGN: return flow_operands(flow, value, flow->written);
    case IR_ADDRESS:
        return value->hint == IR_ESCAPES && merge(flow->written, origins_of(flow, value->operands[0]), flow->words);
    case IR_CELL:
    case IR_CELL_STORE: { /* whoever loads it may write through it */
        bool changed = flow_operands(flow, value, flow->written);
        return (value->op == IR_CELL && flow_operands(flow, value, origins_of(flow, value))) || changed;
    }
    case IR_RETURN: return flow_operands(flow, value, flow->result);
    case IR_INTRINSIC: {
        bool writes = intrinsic_info[value->intrinsic].effects & EFFECT_WRITES;
        bool changed = writes && flow_operands(flow, value, flow->written);
        return (holds_array(value->type) && flow_operands(flow, value, origins_of(flow, value))) || changed;
    }
    default: return holds_array(value->type) && flow_operands(flow, value, origins_of(flow, value));
    }
}

static bool flow_function(Flow *flows, Flow *flow)
{
    bool changed = false;
    for (const IrBlock *block = flow->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            changed |= flow_value(flows, flow, value);
    return changed;
}

static void flow_begin(Flow *flow, const IrFunc *function, Arena *arena)
{
    uint32_t words = (function->parameter_count + WORD_BITS - 1) / WORD_BITS;
    *flow = (Flow){.function = function,
                   .words = words,
                   .origins = ARENA_ARRAY(arena, Word, (size_t)function->value_count * words),
                   .result = ARENA_ARRAY(arena, Word, words),
                   .written = ARENA_ARRAY(arena, Word, words)};
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (holds_array(function->parameter_types[i]))
            origins_of(flow, function->parameters[i])[i / WORD_BITS] |= (Word)1 << i % WORD_BITS;
}

/* Flows of all functions, a NULL function behind the last; settled. */
static Flow *flow_module(const IrModule *module, Arena *arena)
{
    Flow *flows = ARENA_ARRAY(arena, Flow, module->function_count + 1u), *next = flows;
    for (const IrFunc *function = module->first; function; function = function->next)
        flow_begin(next++, function, arena);
    flows[0].reached = module->first != NULL;
    for (bool changed = true; changed;) {
        changed = false;
        for (Flow *flow = flows; flow->function; flow++)
            changed |= flow->reached && flow_function(flows, flow);
    }
    return flows;
}

void ir_written_parameters(const IrModule *module, bool *written)
{
    Arena *arena = arena_create();
    uint32_t count = module->first ? module->first->parameter_count : 0;
    Flow *flows = arena ? flow_module(module, arena) : NULL;
    for (uint32_t i = 0; i < count; i++)
        written[i] = !flows || (flows[0].written[i / WORD_BITS] >> i % WORD_BITS & 1);
    arena_destroy(arena);
}

uint32_t ir_place_of(const IrModule *module, const IrFunc *function)
{
    uint32_t place = 0;
    for (const IrFunc *other = module->first; other && other != function; other = other->next)
        place++;
    return place;
}

static bool function_has(const IrModule *module, const IrFunc *function, bool (*is_wanted)(const IrValue *),
                         const bool *found)
{
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            uint32_t callee = value->op == IR_CALL ? ir_place_of(module, value->callee) : module->function_count;
            if (is_wanted(value) || (callee < module->function_count && found[callee]))
                return true;
        }
    return false;
}

void ir_functions_with(const IrModule *module, bool (*is_wanted)(const IrValue *value), bool *found)
{
    memset(found, 0, module->function_count * sizeof *found);
    for (bool changed = true; changed;) {
        uint32_t place = 0;
        changed = false;
        for (const IrFunc *function = module->first; function; function = function->next, place++)
            if (!found[place] && function_has(module, function, is_wanted, found))
                found[place] = changed = true;
    }
}

static bool is_local(const IrValue *value) { return value->op == IR_LOCAL; }

void ir_memory_givers(const IrModule *module, bool *gives)
{
    memset(gives, 0, module->function_count * sizeof *gives);
    for (bool changed = true; changed;) {
        uint32_t place = 0;
        changed = false;
        for (const IrFunc *function = module->first; function; function = function->next, place++)
            if (!gives[place] && holds_array(function->result) && function_has(module, function, is_local, gives))
                gives[place] = changed = true;
    }
}

static bool is_raise(const IrValue *value) { return value->op == IR_RAISE; }

void ir_raising_functions(const IrModule *module, bool *raises) { ir_functions_with(module, is_raise, raises); }

bool ir_kernel_raises(const IrModule *module, Arena *arena)
{
    bool *raises = ARENA_ARRAY(arena, bool, module->function_count);
    ir_raising_functions(module, raises);
    return raises[0];
}

static unsigned function_effects(const IrFunc *function)
{
    unsigned effects = EFFECT_NONE;
    for (const IrBlock *block = function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_INTRINSIC)
                effects |= intrinsic_info[value->intrinsic].effects;
            else if (value->op == IR_FOREIGN)
                effects |= value->foreign->is_cooperative ? EFFECT_GRID_SYNC : EFFECT_NONE;
            else if (value->op == IR_PRINT)
                effects |= EFFECT_PRINTS;
            else if (value->op == IR_WATCH)
                effects |= EFFECT_WARP_SYNC | EFFECT_WATCHED;
    return effects;
}

unsigned ir_module_effects(const IrModule *module)
{
    unsigned effects = EFFECT_NONE;
    Arena *arena = arena_create();
    for (const Flow *flow = arena ? flow_module(module, arena) : NULL; flow && flow->function; flow++)
        if (flow->reached)
            effects |= function_effects(flow->function);
    arena_destroy(arena);
    return effects;
}
