/* Emits a kernel as phases: a function that runs all threads of one block. What all threads have alike are plain values and
 * plain control flow; around it each phase is a loop over the threads. Iterations of such a loop do not depend on each
 * other: where two threads touch the same memory between two barriers and one of them writes, the program has a race. The
 * loops say so to LLVM, which vectorizes them. */
#include <stddef.h>
#include <string.h>

#include "codegen/debug_lines.h"
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/host_loop.h"
#include "codegen/host/inline_meetings.h"
#include "codegen/host/regions/phase_emit.h"
#include "codegen/host/regions/phases.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/array_emit.h"
#include "codegen/op/parts.h"

enum { MOST_CONTEXT = 16 << 10 /* bytes for each thread */, WAITS = EFFECT_BLOCK_SYNC | EFFECT_WARP_SYNC };

struct PhaseEmission {
    const Phases *phases;
    const Phase *phase; /* the one being emitted */
    LLVMBasicBlockRef *starts, *ends; /* by phase: its first block and the last one, outside the loop over threads */
    LLVMBasicBlockRef latch,
        thread_end; /* of the loop over threads; where a thread ends for good, NULL: not needed so far */
    LLVMBasicBlockRef done; /* the block has nothing more to do */
    LLVMValueRef block_dim[3], thread_count;
    LLVMValueRef context, stride; /* of a slot's first byte to that of the next slot, for each byte of a thread */
    LLVMValueRef thread_number; /* i64, in the loop */
    LLVMValueRef **slots, **entries; /* by value: where each part begins; entries: of a leader's phi its next value */
    LLVMValueRef *results; /* by value: of an exchange, 8 bytes for each thread */
    LLVMValueRef given, places; /* what threads bring to an exchange */
    LLVMValueRef *memory; /* by value: of local arrays and cells */
    LLVMValueRef going, going_count; /* i8 for each thread: it has not ended; i32 in memory */
};

/* --- slots ------------------------------------------------------------------------------------------------------------------------ */

/* So many bytes for each thread of the block. */
static LLVMValueRef new_slot(Emitter *emitter, uint64_t size)
{
    PhaseEmission *emission = emitter->phase_emission;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMValueRef offset =
        LLVMBuildNUWMul(emitter->builder, emission->stride, const_i64(emitter, emitter->context_size), "");
    LLVMValueRef slot = LLVMBuildInBoundsGEP2(emitter->builder, emitter->i8, emission->context, &offset, 1, "");
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    emitter->context_size += (uint32_t)size;
    return slot;
}

static LLVMTypeRef type_in_slot(Emitter *emitter, LLVMTypeRef part) { return part == emitter->i1 ? emitter->i8 : part; }

static LLVMValueRef *new_slots(Emitter *emitter, const Type *type)
{
    uint32_t count = part_count(type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    LLVMValueRef *slots = ARENA_ARRAY(emitter->arena, LLVMValueRef, count + 1);
    part_types(emitter, type, types);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = new_slot(emitter, LLVMABISizeOfType(emitter->data_layout, type_in_slot(emitter, types[i])));
    return slots;
}

static LLVMValueRef *slots_of(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef **slots = &emitter->phase_emission->slots[value->id];
    if (!*slots)
        *slots = new_slots(emitter, value->type);
    return *slots;
}

/* Where a leader's phi finds its value. */
static LLVMValueRef *entries_of(Emitter *emitter, const IrValue *phi)
{
    const Phases *phases = emitter->phase_emission->phases;
    LLVMValueRef **entries = &emitter->phase_emission->entries[phi->id];
    if (!*entries && phases->homes[phi->id] == HOME_SLOT && !phases->needs_entry[phi->id])
        *entries = slots_of(emitter, phi);
    else if (!*entries)
        *entries = new_slots(emitter, phi->type);
    return *entries;
}

static LLVMValueRef place_in_slot(Emitter *emitter, LLVMTypeRef type, LLVMValueRef slot)
{
    return LLVMBuildInBoundsGEP2(emitter->builder, type, slot, &emitter->phase_emission->thread_number, 1, "");
}

static void store_slots(Emitter *emitter, const Type *type, LLVMValueRef *slots, const LLVMValueRef *parts)
{
    for (uint32_t i = 0; i < part_count(type); i++) {
        LLVMTypeRef in_slot = type_in_slot(emitter, LLVMTypeOf(parts[i]));
        LLVMValueRef part = parts[i];
        if (in_slot != LLVMTypeOf(part))
            part = LLVMBuildZExt(emitter->builder, part, in_slot, "");
        LLVMBuildStore(emitter->builder, part, place_in_slot(emitter, in_slot, slots[i]));
    }
}

static void load_slots(Emitter *emitter, const Type *type, LLVMValueRef *slots, LLVMValueRef *out)
{
    uint32_t count = part_count(type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, type, types);
    for (uint32_t i = 0; i < count; i++) {
        LLVMTypeRef in_slot = type_in_slot(emitter, types[i]);
        out[i] = LLVMBuildLoad2(emitter->builder, in_slot, place_in_slot(emitter, in_slot, slots[i]), "");
        if (in_slot != types[i])
            out[i] = LLVMBuildTrunc(emitter->builder, out[i], types[i], "");
    }
}

LLVMValueRef phase_memory(Emitter *emitter, const IrValue *value, uint64_t size, uint32_t alignment)
{
    LLVMValueRef *memory = &emitter->phase_emission->memory[value->id];
    uint64_t whole = alignment < 16 ? 16 : alignment;
    size = (size + whole - 1) / whole * whole;
    if (!*memory) {
        *memory = new_slot(emitter, size);
        emitter->local_size += (uint32_t)size;
    }
    return place_in_slot(emitter, LLVMArrayType2(emitter->i8, size), *memory);
}

/* --- edges ------------------------------------------------------------------------------------------------------------------------ */

/* Hands their values to the phis of a leader; of two edges from one branch to one place it is the index-th. */
static void hand_over(Emitter *emitter, const IrBlock *from, const IrBlock *to, uint32_t index)
{
    uint32_t place = 0;
    while (to->predecessors[place] != from)
        place++;
    if (index && from->last->targets[0] == from->last->targets[1])
        place++;
    for (const IrValue *phi = to->first; phi && phi->op == IR_PHI; phi = phi->next)
        if (emitter->phase_emission->phases->homes[phi->id] != HOME_BLOCK) {
            const IrValue *value = phi->operands[place];
            store_slots(emitter, phi->type, entries_of(emitter, phi), emitter->parts[value->id]);
        }
}

LLVMBasicBlockRef phase_target(Emitter *emitter, const IrValue *terminator, uint32_t index)
{
    PhaseEmission *emission = emitter->phase_emission;
    const IrBlock *to = terminator->targets[index];
    if (emission->phase->is_inside[emission->phases->first_piece[to->id]])
        return emitter->block_start[to->id];
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder), edge = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, edge);
    hand_over(emitter, terminator->block, to, index);
    LLVMBuildBr(emitter->builder, emission->latch);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
    return edge;
}

LLVMBasicBlockRef phase_thread_end(Emitter *emitter)
{
    PhaseEmission *emission = emitter->phase_emission;
    if (!emission->phase->ends_threads)
        return emission->latch;
    if (emission->thread_end)
        return emission->thread_end;
    LLVMBuilderRef builder = emitter->builder;
    LLVMBasicBlockRef here = LLVMGetInsertBlock(builder);
    emission->thread_end = new_block(emitter);
    LLVMPositionBuilderAtEnd(builder, emission->thread_end);
    LLVMBuildStore(builder, LLVMConstNull(emitter->i8), place_in_slot(emitter, emitter->i8, emission->going));
    LLVMValueRef count = LLVMBuildLoad2(builder, emitter->i32, emission->going_count, "");
    LLVMBuildStore(builder, LLVMBuildSub(builder, count, const_i32(emitter, 1), ""), emission->going_count);
    LLVMBuildBr(builder, emission->latch);
    LLVMPositionBuilderAtEnd(builder, here);
    return emission->thread_end;
}

/* --- meetings ---------------------------------------------------------------------------------------------------------------------- */

static LLVMValueRef slot_once(Emitter *emitter, LLVMValueRef *slot, uint64_t size)
{
    if (!*slot)
        *slot = new_slot(emitter, size);
    return *slot;
}

static LLVMValueRef results_of(Emitter *emitter, const IrValue *meeting)
{
    return slot_once(emitter, &emitter->phase_emission->results[meeting->id], sizeof(uint64_t));
}

/* A thread brings its value, and the place that a shuffle asks for. */
static void bring_to_meeting(Emitter *emitter, const IrValue *meeting)
{
    PhaseEmission *emission = emitter->phase_emission;
    const IrValue *value = meeting->operands[is_block_vote(meeting) ? 0 : 1];
    LLVMValueRef part = emitter->parts[value->id][0];
    part = LLVMBuildIntCast2(emitter->builder, part, emitter->i64, value->type->kind == TYPE_INT, "");
    LLVMValueRef given = slot_once(emitter, &emission->given, sizeof(uint64_t));
    LLVMBuildStore(emitter->builder, part, place_in_slot(emitter, emitter->i64, given));
    if (meeting->operand_count != 4)
        return;
    LLVMValueRef places = slot_once(emitter, &emission->places, sizeof(uint32_t));
    LLVMBuildStore(emitter->builder, shuffle_place(emitter, meeting), place_in_slot(emitter, emitter->i32, places));
}

/* All threads have brought theirs. */
static void emit_exchange(Emitter *emitter, const IrValue *meeting)
{
    PhaseEmission *emission = emitter->phase_emission;
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef nothing = LLVMConstNull(emitter->pointer_type);
    bool has_places = meeting->operand_count == 4;
    LLVMValueRef arguments[6] = {const_i32(emitter, (int32_t)meeting->intrinsic),
                                 emission->thread_count,
                                 emission->given,
                                 has_places ? emission->places : nothing,
                                 emission->phases->ends_threads ? emission->going : nothing,
                                 results_of(emitter, meeting)};
    LLVMTypeRef types[6];
    for (uint32_t i = 0; i < 6; i++)
        types[i] = LLVMTypeOf(arguments[i]);
    LLVMTypeRef type = LLVMFunctionType(emitter->void_type, types, 6, false);
    LLVMValueRef services = LLVMBuildLoad2(builder, emitter->pointer_type,
                                           host_field(emitter, emitter->thread, offsetof(HostThread, services)), "");
    LLVMValueRef function = LLVMBuildLoad2(builder, emitter->pointer_type,
                                           host_field(emitter, services, offsetof(HostServices, exchange)), "");
    LLVMValueRef call = LLVMBuildCall2(builder, type, function, arguments, 6, "");
    LLVMAddCallSiteAttribute(call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                             enum_attribute(emitter, "nounwind", 0));
}

static void load_result(Emitter *emitter, const IrValue *meeting, LLVMValueRef address)
{
    LLVMValueRef *parts = emitter->parts[meeting->id] = ARENA_ARRAY(emitter->arena, LLVMValueRef, 1);
    LLVMValueRef result = LLVMBuildLoad2(emitter->builder, emitter->i64, address, "");
    parts[0] = LLVMBuildIntCast2(emitter->builder, result, part_type(emitter, meeting->type), false, "");
}

/* How the last step of a phase ends in the loop over threads. Where they go from there is decided outside. */
static void emit_last_terminator(Emitter *emitter, const Piece *piece)
{
    PhaseEmission *emission = emitter->phase_emission;
    const IrValue *terminator = has_terminator(piece) ? piece->block->last : NULL;
    if (terminator &&
        (parts_threads(emission->phases, piece) || terminator->op == IR_RAISE || terminator->op == IR_TRAP)) {
        emit_ir_value(emitter, terminator);
        return;
    }
    if (piece->end && is_exchange(piece->end))
        bring_to_meeting(emitter, piece->end);
    for (uint32_t i = 0; terminator && i < piece->step_count; i++)
        hand_over(emitter, piece->block, terminator->targets[i], i);
    LLVMBuildBr(emitter->builder, emission->latch);
}

/* --- one thread's part of a phase -------------------------------------------------------------------------------------------------- */

static ValueHome home_of(Emitter *emitter, const IrValue *value)
{
    return (ValueHome)emitter->phase_emission->phases->homes[value->id];
}

static void keep(Emitter *emitter, const IrValue *value)
{
    if (home_of(emitter, value) == HOME_SLOT)
        store_slots(emitter, value->type, slots_of(emitter, value), emitter->parts[value->id]);
}

/* Its operands first; what is not from the phase itself is one of these homes. */
static void make_again(Emitter *emitter, const IrValue *value)
{
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (home_of(emitter, value->operands[i]) != HOME_BLOCK)
            make_again(emitter, value->operands[i]);
    emit_ir_value(emitter, value);
}

static void bring(Emitter *emitter, const IrValue *value)
{
    if (home_of(emitter, value) == HOME_AGAIN) {
        make_again(emitter, value);
        return;
    }
    if (is_meeting(value)) {
        load_result(emitter, value, place_in_slot(emitter, emitter->i64, results_of(emitter, value)));
        return;
    }
    emitter->parts[value->id] = ARENA_ARRAY(emitter->arena, LLVMValueRef, part_count(value->type) + 1);
    load_slots(emitter, value->type, slots_of(emitter, value), emitter->parts[value->id]);
}

/* The leader's phis have what the phase before handed over; where the phase comes back to its leader they are phis. */
static void bring_phis(Emitter *emitter, const Piece *leader, LLVMBasicBlockRef start)
{
    PhaseEmission *emission = emitter->phase_emission;
    bool is_inside = emission->phase->is_inside[emission->phase->leader];
    LLVMBasicBlockRef top = LLVMGetInsertBlock(emitter->builder);
    for (const IrValue *phi = leader->first; phi && phi->op == IR_PHI; phi = phi->next) {
        if (home_of(emitter, phi) == HOME_BLOCK)
            continue;
        LLVMValueRef *given = ARENA_ARRAY(emitter->arena, LLVMValueRef, part_count(phi->type) + 1);
        load_slots(emitter, phi->type, entries_of(emitter, phi), given);
        emitter->parts[phi->id] = given;
        if (!is_inside)
            continue;
        LLVMPositionBuilderAtEnd(emitter->builder, start);
        emit_ir_value(emitter, phi);
        for (uint32_t i = 0; i < part_count(phi->type); i++)
            LLVMAddIncoming(emitter->parts[phi->id][i], &given[i], &top, 1);
        LLVMPositionBuilderAtEnd(emitter->builder, top);
    }
    LLVMBuildBr(emitter->builder, start);
}

/* Whether a phi at the phase's beginning already is where it is kept. */
static bool is_kept(const Phases *phases, const Phase *phase, const IrValue *phi)
{
    uint32_t piece = phases->piece_of[phi->id];
    return piece == phase->leader && !phase->is_inside[piece] && !phases->needs_entry[phi->id];
}

static void emit_piece(Emitter *emitter, uint32_t place)
{
    PhaseEmission *emission = emitter->phase_emission;
    const Piece *piece = &emission->phases->pieces[place];
    bool is_leader = place == emission->phase->leader, is_last = place == emission->phase->last;
    const IrValue *value = piece->first;
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->block_start[piece->block->id]);
    for (; value != piece->end && value->op == IR_PHI; value = value->next)
        if (!is_leader && home_of(emitter, value) != HOME_BLOCK)
            emit_ir_value(emitter, value);
    for (const IrValue *phi = piece->first; phi != value; phi = phi->next)
        if (!is_kept(emission->phases, emission->phase, phi))
            keep(emitter, phi);
    for (; value != piece->end && !(is_last && !value->next); value = value->next) {
        if (home_of(emitter, value) == HOME_BLOCK)
            continue;
        emit_ir_value(emitter, value);
        keep(emitter, value);
    }
    if (is_last)
        emit_last_terminator(emitter, piece);
    if (has_terminator(piece))
        emitter->block_end[piece->block->id] = LLVMGetInsertBlock(emitter->builder);
}

static void emit_thread_part(Emitter *emitter)
{
    PhaseEmission *emission = emitter->phase_emission;
    const Phase *phase = emission->phase;
    const Piece *pieces = emission->phases->pieces;
    for (uint32_t i = 0; i < emitter->function->block_count; i++)
        emitter->block_end[i] = emitter->second_edge[i] = NULL;
    for (uint32_t i = 0; i < phase->piece_count; i++)
        emitter->block_start[pieces[phase->pieces[i]].block->id] = new_block(emitter);
    for (uint32_t i = 0; i < phase->incoming_count; i++)
        bring(emitter, phase->incoming[i]);
    bring_phis(emitter, &pieces[phase->leader], emitter->block_start[pieces[phase->leader].block->id]);
    for (uint32_t i = 0; i < phase->piece_count && !diag_failed(emitter->diag); i++)
        emit_piece(emitter, phase->pieces[i]);
    for (uint32_t i = 0; i < phase->piece_count && !diag_failed(emitter->diag); i++) {
        const Piece *piece = &pieces[phase->pieces[i]];
        if (phase->is_inside[phase->pieces[i]])
            for (const IrValue *phi = piece->first; phi && phi->op == IR_PHI; phi = phi->next)
                if (home_of(emitter, phi) != HOME_BLOCK)
                    fill_ir_phi(emitter, phi);
    }
}

/* --- the loop over threads ---------------------------------------------------------------------------------------------------------- */

/* Threads that have ended take no part; in the first phase all begin. */
static void emit_guard(Emitter *emitter)
{
    PhaseEmission *emission = emitter->phase_emission;
    if (!emission->phases->ends_threads)
        return;
    LLVMValueRef place = place_in_slot(emitter, emitter->i8, emission->going);
    if (emission->phase->leader == 0) {
        LLVMBuildStore(emitter->builder, LLVMConstInt(emitter->i8, 1, false), place);
        return;
    }
    LLVMBasicBlockRef goes_on = new_block(emitter);
    LLVMValueRef going = LLVMBuildLoad2(emitter->builder, emitter->i8, place, "");
    LLVMValueRef has_ended = LLVMBuildICmp(emitter->builder, LLVMIntEQ, going, LLVMConstNull(emitter->i8), "");
    LLVMBuildCondBr(emitter->builder, has_ended, emission->latch, goes_on);
    LLVMPositionBuilderAtEnd(emitter->builder, goes_on);
}

/* Memory of the function's own, which all iterations share. */
static bool is_own_memory(Emitter *emitter, LLVMValueRef pointer)
{
    while (LLVMIsAGetElementPtrInst(pointer))
        pointer = LLVMGetOperand(pointer, 0);
    return LLVMIsAAllocaInst(pointer) || pointer == emitter->thread;
}

/* Marks a loop and its loads and stores as independent from iteration to iteration. */
static void mark_parallel(Emitter *emitter, LLVMBasicBlockRef first, LLVMBasicBlockRef after, LLVMValueRef branch)
{
    LLVMContextRef context = emitter->context;
    unsigned access = LLVMGetMDKindIDInContext(context, "llvm.mem.parallel_loop_access", 29);
    LLVMMetadataRef progress = LLVMMDStringInContext2(context, "llvm.loop.mustprogress", 22);
    LLVMMetadataRef operands[2] = {NULL, LLVMMDNodeInContext2(context, &progress, 1)};
    LLVMMetadataRef node = LLVMMDNodeInContext2(context, operands, 2);
    LLVMValueRef loop = LLVMMetadataAsValue(context, node);
    LLVMReplaceMDNodeOperandWith(loop, 0, node);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(context, "llvm.loop", 9), loop);
    for (LLVMBasicBlockRef block = first; block && block != after; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value)) {
            LLVMOpcode code = LLVMGetInstructionOpcode(value);
            if ((code == LLVMLoad || code == LLVMStore) && !LLVMGetVolatile(value) &&
                !is_own_memory(emitter, LLVMGetOperand(value, code == LLVMStore)))
                LLVMSetMetadata(value, access, loop);
        }
}

static void emit_threads(Emitter *emitter)
{
    PhaseEmission *emission = emitter->phase_emission;
    LLVMBuilderRef builder = emitter->builder;
    LLVMValueRef index[3];
    HostLoop loops[3];
    for (int axis = 2; axis >= 0; axis--) {
        loops[axis] = host_loop_open(emitter, const_i32(emitter, 0), emission->block_dim[axis]);
        index[axis] = loops[axis].index;
    }
    emission->latch = new_block(emitter);
    emission->thread_end = NULL;
    emitter->unwind = emitter->report = NULL;
    LLVMValueRef row = LLVMBuildNUWMul(builder, index[2], emission->block_dim[1], "");
    row = LLVMBuildNUWMul(builder, LLVMBuildNUWAdd(builder, row, index[1], ""), emission->block_dim[0], "");
    host_set_thread_index(emitter, emitter->thread, index, emission->block_dim);
    emission->thread_number = LLVMBuildNUWAdd(builder, LLVMBuildZExt(builder, row, emitter->i64, ""),
                                              LLVMBuildZExt(builder, index[0], emitter->i64, ""), "");
    LLVMSetNSW(emission->thread_number, true);
    emit_guard(emitter);
    emit_thread_part(emitter);
    LLVMPositionBuilderAtEnd(builder, emission->latch);
    LLVMValueRef branch = host_loop_close(emitter, &loops[0]);
    if (keeps_order(emission->phases, emission->phase, emitter->arena))
        mark_parallel(emitter, loops[0].body, LLVMGetInsertBlock(builder), branch);
    host_loop_close(emitter, &loops[1]);
    host_loop_close(emitter, &loops[2]);
}

/* --- around it -------------------------------------------------------------------------------------------------------------------------- */

static bool hands_over(const Phases *phases, const Piece *piece)
{
    for (uint32_t i = 0; has_terminator(piece) && i < piece->successor_count; i++)
        for (const IrValue *phi = piece->block->last->targets[i]->first; phi && phi->op == IR_PHI; phi = phi->next)
            if (phases->homes[phi->id] != HOME_BLOCK)
                return true;
    return false;
}

static bool has_effect(const Phases *phases, const Phase *phase, const IrValue *value)
{
    if (value->op == IR_CELL)
        return true;
    if (phases->homes[value->id] == HOME_SLOT)
        return value->op != IR_PHI || !is_kept(phases, phase, value);
    if (value->op == IR_INTRINSIC)
        return intrinsic_info[value->intrinsic].kind != INTRINSIC_KIND_REGISTER &&
               intrinsic_info[value->intrinsic].kind != INTRINSIC_KIND_MATH;
    return value->op == IR_RAISE || value->op == IR_TRAP ||
           !(ir_op_info[value->op].flags & (IR_FLAG_PURE | IR_FLAG_TERMINATOR));
}

/* Whether threads have anything to do in the phase. */
static bool has_work(const Phases *phases, const Phase *phase)
{
    const Piece *last = &phases->pieces[phase->last];
    if (last->end && is_exchange(last->end))
        return true;
    if (parts_threads(phases, last) || hands_over(phases, last) || (phase->leader == 0 && phases->ends_threads))
        return true;
    for (uint32_t i = 0; i < phase->piece_count; i++) {
        const Piece *piece = &phases->pieces[phase->pieces[i]];
        for (const IrValue *value = piece->first; value != piece->end; value = value->next)
            if (!piece->is_step || has_effect(phases, phase, value))
                return true;
    }
    return false;
}

/* What all threads have alike: the leader's phis, then the rest in the order of the steps. */
static void emit_alike(Emitter *emitter, const Phase *phase)
{
    const Phases *phases = emitter->phase_emission->phases;
    for (uint32_t i = 0; i < phase->piece_count; i++) {
        const Piece *piece = &phases->pieces[phase->pieces[i]];
        bool is_leader = phase->pieces[i] == phase->leader;
        for (const IrValue *value = piece->first; piece->is_step && value != piece->end; value = value->next) {
            if (home_of(emitter, value) != HOME_BLOCK || is_made_at_start(value))
                continue;
            if (value->op == IR_PHI && !is_leader)
                emitter->parts[value->id] = emitter->parts[value->operands[0]->id];
            else
                emit_ir_value(emitter, value);
        }
    }
}

static void emit_ways_on(Emitter *emitter, const Phase *phase)
{
    PhaseEmission *emission = emitter->phase_emission;
    const Piece *pieces = emission->phases->pieces, *last = &pieces[phase->last];
    LLVMBuilderRef builder = emitter->builder;
    LLVMBasicBlockRef ways[2];
    for (uint32_t i = 0; i < last->step_count; i++)
        ways[i] = emission->starts[pieces[last->steps[i]].phase];
    if (phase->ends_threads) {
        LLVMBasicBlockRef some = new_block(emitter);
        LLVMValueRef count = LLVMBuildLoad2(builder, emitter->i32, emission->going_count, "");
        LLVMValueRef none = LLVMBuildICmp(builder, LLVMIntEQ, count, const_i32(emitter, 0), "");
        LLVMBuildCondBr(builder, none, emission->done, some);
        LLVMPositionBuilderAtEnd(builder, some);
    }
    emission->ends[phase - emission->phases->phases] = LLVMGetInsertBlock(builder);
    if (last->step_count == 2)
        LLVMBuildCondBr(builder, operand_scalar(emitter, last->block->last, 0), ways[0], ways[1]);
    else
        LLVMBuildBr(builder, last->step_count ? ways[0] : emission->done);
}

static void emit_phase(Emitter *emitter, const Phase *phase)
{
    PhaseEmission *emission = emitter->phase_emission;
    emission->phase = phase;
    LLVMPositionBuilderAtEnd(emitter->builder, emission->starts[phase - emission->phases->phases]);
    emit_alike(emitter, phase);
    if (has_work(emission->phases, phase))
        emit_threads(emitter);
    const IrValue *end = emission->phases->pieces[phase->last].end;
    if (end && is_exchange(end))
        emit_exchange(emitter, end);
    if (end && is_block_vote(end))
        load_result(emitter, end, results_of(emitter, end));
    emit_ways_on(emitter, phase);
}

/* What a phi that all threads have alike is after this step. */
static const IrValue *value_after(const Phases *phases, const IrValue *phi, const Piece *step)
{
    uint32_t place = 0;
    bool is_one;
    if (parts_threads(phases, step))
        return value_of_parted(phases, phi, &is_one);
    while (phi->block->predecessors[place] != step->block)
        place++;
    return phi->operands[place];
}

static void fill_leader_phi(Emitter *emitter, const IrValue *phi, const Piece *step)
{
    PhaseEmission *emission = emitter->phase_emission;
    const IrValue *value = value_after(emission->phases, phi, step);
    for (uint32_t part = 0; part < part_count(phi->type); part++)
        LLVMAddIncoming(emitter->parts[phi->id][part], &emitter->parts[value->id][part], &emission->ends[step->phase],
                        1);
}

/* The phis that all threads have alike, of the phases that come after this one. */
static void fill_phis_after(Emitter *emitter, const Phase *phase)
{
    const Phases *phases = emitter->phase_emission->phases;
    const Piece *last = &phases->pieces[phase->last];
    for (uint32_t i = 0; i < last->step_count; i++)
        for (const IrValue *phi = phases->pieces[last->steps[i]].first; phi && phi->op == IR_PHI; phi = phi->next)
            if (home_of(emitter, phi) == HOME_BLOCK)
                fill_leader_phi(emitter, phi, last);
}

static void emit_start_values(Emitter *emitter)
{
    for (const IrBlock *block = emitter->function->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (is_made_at_start(value) && !diag_failed(emitter->diag))
                emit_ir_value(emitter, value);
}

static void prepare(Emitter *emitter, PhaseEmission *emission)
{
    LLVMBuilderRef builder = emitter->builder;
    for (uint32_t axis = 0; axis < 3; axis++)
        emission->block_dim[axis] =
            emitter->lowering->read_register(emitter, intrinsic_on_axis(INTRINSIC_CUDA_BLOCK_DIM, axis));
    LLVMValueRef plane = LLVMBuildNUWMul(builder, emission->block_dim[0], emission->block_dim[1], "");
    emission->thread_count = LLVMBuildNUWMul(builder, plane, emission->block_dim[2], "");
    LLVMValueRef up = LLVMBuildNUWAdd(builder, emission->thread_count, const_i32(emitter, HOST_CONTEXT_STEP - 1), "");
    LLVMValueRef stride = LLVMBuildAnd(builder, up, const_i32(emitter, ~(HOST_CONTEXT_STEP - 1)), "");
    emission->stride = LLVMBuildZExt(builder, stride, emitter->i64, "");
    emission->context = LLVMBuildLoad2(builder, emitter->pointer_type,
                                       host_field(emitter, emitter->thread, offsetof(HostThread, context)), "");
    if (!emission->phases->ends_threads)
        return;
    emission->going = new_slot(emitter, 1);
    emission->going_count = prologue_alloca(emitter, sizeof(int32_t), sizeof(int32_t));
    LLVMBuildStore(builder, emission->thread_count, emission->going_count);
}

static void emit_all(Emitter *emitter, const EmittedFunction *kernel, PhaseEmission *emission)
{
    const Phases *phases = emission->phases;
    begin_debug_function(emitter, kernel);
    begin_ir_function(emitter, kernel);
    prepare(emitter, emission);
    emission->done = new_block(emitter);
    for (uint32_t i = 0; i < phases->phase_count; i++)
        emission->starts[i] = new_block(emitter);
    emit_start_values(emitter);
    for (uint32_t i = 0; i < phases->phase_count && !diag_failed(emitter->diag); i++)
        emit_phase(emitter, &phases->phases[phases->order[i]]);
    for (uint32_t i = 0; i < phases->phase_count && !diag_failed(emitter->diag); i++)
        fill_phis_after(emitter, &phases->phases[phases->order[i]]);
    end_debug_function(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, emission->done);
    LLVMBuildRetVoid(emitter->builder);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMBuildBr(emitter->builder, emission->starts[phases->pieces[0].phase]);
}

/* --- whether ------------------------------------------------------------------------------------------------------------------------------ */

static uint64_t bytes_kept(const Phases *phases)
{
    uint64_t bytes = 0;
    for (const IrBlock *block = phases->kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next) {
            if (value->op == IR_LOCAL)
                bytes += local_array_size(value);
            else if (value->op == IR_CELL)
                bytes += 32 + (uint64_t)part_count(value->operands[0]->type) * 8;
            else if (value->op == IR_PHI || is_meeting(value) || phases->homes[value->id] == HOME_SLOT)
                bytes += (uint64_t)part_count(value->type) * 16;
        }
    return bytes;
}

/* Meetings of any other kind need threads that are real. */
static bool waits_in_phases(const IrFunc *kernel)
{
    for (const IrBlock *block = kernel->first; block; block = block->next)
        for (const IrValue *value = block->first; value; value = value->next)
            if (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & WAITS && !is_meeting(value))
                return false;
    return true;
}

bool emit_phases(Emitter *emitter, const EmittedFunction *kernel)
{
    bool *raises = ARENA_ARRAY(emitter->arena, bool, emitter->ir->function_count);
    bool *gone = ARENA_ARRAY(emitter->arena, bool, emitter->ir->function_count);
    Phases phases;
    const IrFunc *ir = emitter->effects & WAITS ? inline_meetings(emitter->ir, emitter->arena, gone) : NULL;
    ir_raising_functions(emitter->ir, raises);
    if (!ir || !waits_in_phases(ir) || !find_phases(ir, raises[0], emitter->arena, &phases) ||
        bytes_kept(&phases) > MOST_CONTEXT)
        return false;
    EmittedFunction whole = *kernel;
    whole.ir = ir;
    uint32_t values = ir->value_count + 1;
    PhaseEmission emission = {.phases = &phases,
                              .starts = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, phases.phase_count),
                              .ends = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, phases.phase_count),
                              .slots = ARENA_ARRAY(emitter->arena, LLVMValueRef *, values),
                              .entries = ARENA_ARRAY(emitter->arena, LLVMValueRef *, values),
                              .results = ARENA_ARRAY(emitter->arena, LLVMValueRef, values),
                              .memory = ARENA_ARRAY(emitter->arena, LLVMValueRef, values)};
    emitter->phase_emission = &emission;
    emit_all(emitter, &whole, &emission);
    emitter->phase_emission = NULL;
    for (uint32_t i = 1; i < emitter->ir->function_count; i++)
        emitter->functions[i].is_gone = gone[i];
    emitter->runs_phases = true;
    return true;
}
