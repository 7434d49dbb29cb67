/* What a warp's threads keep between their loops is memory of the function that runs them, 32 values beside each other. LLVM
 * makes vector registers of it where all that touches it loads or stores vectors at places that are known while compiling,
 * and then a sum that a warp carries through a loop is never stored. Three things would be in the way:
 *
 * - A store that some threads make, `if lane >= step: value += other`, would be one of a vector under a mask, of which LLVM
 *   makes no register. So an iteration has each value in a variable, from its beginning to its end, where it is stored by all.
 * - Where threads that end, or leave the value as it is, have no other part in it, LLVM would make of that and of what others
 *   read from an array one load of either address, which no vector does. What such a loop only keeps is frozen.
 * - A loop that is not vectorized, with loops of a thread's own or what reports a failed check, touches one value after the
 *   other. It has copies of the slots, which are copied back behind it. */
#include "codegen/host/regions/warp_slots.h"

#include "codegen/emit_tools.h"
#include "codegen/host/regions/loop_body.h"
#include "codegen/host/regions/regions.h"
#include "codegen/op/value/parts.h"
#include "core/host_abi.h"

enum { ALIGNMENT = 128 };

typedef struct WarpSlot WarpSlot;
struct WarpSlot {
    WarpSlot *next;
    const IrValue *slot;
    uint32_t count; /* of parts */
    bool is_asked; /* the loop at hand looks at what is in it */
    LLVMTypeRef *types;
    LLVMValueRef *variables, *copies; /* NULL: not needed so far */
};

struct WarpSlots {
    WarpSlot **known; /* by IrValue.id */
    WarpSlot *used; /* by the loop at hand */
    bool *is_used; /* by IrValue.id */
    bool is_straight; /* LLVM can run its iterations at once */
};

WarpSlots *warp_slots_create(Emitter *emitter)
{
    WarpSlots *slots = ARENA_NEW(emitter->arena, WarpSlots);
    slots->known = ARENA_ARRAY(emitter->arena, WarpSlot *, emitter->function->value_count + 1);
    slots->is_used = ARENA_ARRAY(emitter->arena, bool, emitter->function->value_count + 1);
    return slots;
}

LLVMValueRef warp_slot(Emitter *emitter, uint64_t size)
{
    return prologue_alloca(emitter, size * HOST_WARP, ALIGNMENT);
}

/* --- what a loop does ----------------------------------------------------------------------------------------------------- */

static WarpSlot *known_slot(Emitter *emitter, WarpSlots *slots, const IrValue *slot)
{
    WarpSlot **known = &slots->known[slot->id];
    if (*known)
        return *known;
    *known = ARENA_NEW(emitter->arena, WarpSlot);
    uint32_t count = part_count(slot->type);
    **known = (WarpSlot){.slot = slot, .count = count, .types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1)};
    part_types(emitter, slot->type, (*known)->types);
    for (uint32_t i = 0; i < count; i++)
        if ((*known)->types[i] == emitter->i1)
            (*known)->types[i] = emitter->i8;
    return *known;
}

static void use(Emitter *emitter, WarpSlots *slots, const IrValue *slot, bool is_asked)
{
    if (slot->op != IR_SLOT)
        return;
    WarpSlot *used = known_slot(emitter, slots, slot);
    used->is_asked = is_asked || (slots->is_used[slot->id] && used->is_asked);
    if (slots->is_used[slot->id])
        return;
    slots->is_used[slot->id] = true;
    used->next = slots->used;
    slots->used = used;
}

static bool is_straight(const IrValue *value, const IrBlock *loop)
{
    switch (value->op) {
    case IR_RAISE:
    case IR_ATOMIC:
    case IR_PRINT:
    case IR_FOREIGN:
    case IR_LOCAL: return false;
    case IR_CALL: return is_silent_function(value->callee);
    case IR_JUMP:
    case IR_BRANCH:
        for (uint32_t i = 0; i < (value->op == IR_BRANCH ? 2u : 1u); i++) {
            const IrBlock *to = value->targets[i];
            if (to != loop && to->id <= value->block->id && to->loop != IR_LOOP_UNROLL)
                return false;
        }
        return true;
    default: return true;
    }
}

static void look_at(Emitter *emitter, WarpSlots *slots, const IrValue *loop)
{
    LoopBody body = find_loop_body(loop, emitter->arena);
    for (uint32_t i = 0; i < body.count; i++)
        for (const IrValue *value = body.blocks[i]->first; value; value = value->next) {
            slots->is_straight &= is_straight(value, loop->block);
            if (value->op == IR_SLOT_LOAD || value->op == IR_SLOT_STORE)
                use(emitter, slots, value->operands[0], value->op == IR_SLOT_LOAD);
        }
}

/* --- variables and copies ------------------------------------------------------------------------------------------------- */

static LLVMValueRef *memory_for(Emitter *emitter, const WarpSlot *slot, uint32_t threads)
{
    LLVMValueRef *places = ARENA_ARRAY(emitter->arena, LLVMValueRef, slot->count + 1);
    for (uint32_t i = 0; i < slot->count; i++)
        places[i] =
            prologue_alloca(emitter, LLVMABISizeOfType(emitter->data_layout, slot->types[i]) * threads,
                            threads == 1 ? LLVMABIAlignmentOfType(emitter->data_layout, slot->types[i]) : ALIGNMENT);
    return places;
}

static LLVMValueRef item(Emitter *emitter, LLVMTypeRef type, LLVMValueRef array, LLVMValueRef lane)
{
    return LLVMBuildInBoundsGEP2(emitter->builder, type, array, &lane, 1, "");
}

static void copy_all(Emitter *emitter, const WarpSlots *slots, bool is_back)
{
    for (const WarpSlot *slot = slots->used; slot && !slots->is_straight; slot = slot->next)
        for (uint32_t i = 0; i < slot->count; i++) {
            LLVMValueRef own = emitter->parts[slot->slot->id][i], copy = slot->copies[i];
            uint64_t size = LLVMABISizeOfType(emitter->data_layout, slot->types[i]) * HOST_WARP;
            LLVMBuildMemCpy(emitter->builder, is_back ? own : copy, ALIGNMENT, is_back ? copy : own, ALIGNMENT,
                            const_i64(emitter, (int64_t)size));
        }
}

void warp_slots_begin(Emitter *emitter, WarpSlots *slots, const IrValue *loop)
{
    for (const WarpSlot *slot = slots->used; slot; slot = slot->next)
        slots->is_used[slot->slot->id] = false;
    slots->used = NULL;
    slots->is_straight = true;
    look_at(emitter, slots, loop);
    if (loop->operand_count)
        use(emitter, slots, loop->operands[0], true);
    for (WarpSlot *slot = slots->used; slot; slot = slot->next) {
        LLVMValueRef **memory = slots->is_straight ? &slot->variables : &slot->copies;
        if (!*memory)
            *memory = memory_for(emitter, slot, slots->is_straight ? 1 : HOST_WARP);
    }
    copy_all(emitter, slots, false);
}

static void move(Emitter *emitter, LLVMTypeRef type, LLVMValueRef from, LLVMValueRef to, bool is_frozen)
{
    LLVMValueRef value = LLVMBuildLoad2(emitter->builder, type, from, "");
    LLVMBuildStore(emitter->builder, is_frozen ? LLVMBuildFreeze(emitter->builder, value, "") : value, to);
}

void warp_slots_open(Emitter *emitter, const WarpSlots *slots, LLVMValueRef lane)
{
    for (const WarpSlot *slot = slots->used; slot && slots->is_straight; slot = slot->next)
        for (uint32_t i = 0; i < slot->count; i++)
            move(emitter, slot->types[i], item(emitter, slot->types[i], emitter->parts[slot->slot->id][i], lane),
                 slot->variables[i], !slot->is_asked);
}

void warp_slots_close(Emitter *emitter, const WarpSlots *slots, LLVMValueRef lane)
{
    for (const WarpSlot *slot = slots->used; slot && slots->is_straight; slot = slot->next)
        for (uint32_t i = 0; i < slot->count; i++)
            move(emitter, slot->types[i], slot->variables[i],
                 item(emitter, slot->types[i], emitter->parts[slot->slot->id][i], lane), false);
}

void warp_slots_end(Emitter *emitter, const WarpSlots *slots) { copy_all(emitter, slots, true); }

LLVMValueRef warp_slot_place(Emitter *emitter, const WarpSlots *slots, const IrValue *slot, uint32_t part,
                             LLVMTypeRef type, LLVMValueRef lane)
{
    const WarpSlot *known = slots->known[slot->id];
    return slots->is_straight ? known->variables[part] : item(emitter, type, known->copies[part], lane);
}
