/* The body of one function: parameters to parts, blocks in an order in which definitions come before uses, one emitter
 * for each operation of op.def. The emitters of arithmetic, arrays and atomics have files of their own. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/debug_lines.h"
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/host/regions/row_parts.h"
#include "codegen/host/target_host.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/op/exception_emit.h"
#include "codegen/op/pick_emit.h"
#include "codegen/op/value/parts.h"
#include "core/ir/ir_graph.h"

static const OpEmitter op_emitters[IR_OP_COUNT] = {
#define OP(id, text, operands, result, immediate, hint, flags) [IR_##id] = emit_op_##id,
#include "core/ir/op.def"
#undef OP
};

/* --- parameters ------------------------------------------------------------------------------------------------------- */

static uint32_t parts_before_parameter(const IrFunc *ir, uint32_t index)
{
    uint32_t place = 0;
    for (uint32_t i = 0; i < index; i++)
        place += part_count(ir->parameter_types[i]);
    return place;
}

/* Where a record's bytes lie among the parameters; NULL: they lie elsewhere. */
static LLVMValueRef record_by_value(Emitter *emitter, const AbiField *field)
{
    bool is_value = field->value && may_be_passed_by_value(emitter->function->passed[field->parameter]);
    return is_value ? LLVMGetParam(emitter->llvm_function, emitter->lowering->passes_thread + field->value) : NULL;
}

/* The array's address; a record's where it lies, behind its pointer or among the parameters. */
static LLVMValueRef address_of_field(Emitter *emitter, const AbiField *field, LLVMValueRef pointer)
{
    LLVMValueRef record = record_by_value(emitter, field);
    if (record && emitter->function->passed[field->parameter] == PASSED_BY_VALUE)
        return record;
    LLVMValueRef address = emitter->lowering->pointer_space == ADDRESS_GENERIC
                               ? pointer
                               : LLVMBuildAddrSpaceCast(emitter->builder, pointer, emitter->pointer_type, "");
    if (!record)
        return address;
    LLVMValueRef is_value = LLVMBuildIsNull(emitter->builder, pointer, "");
    return LLVMBuildSelect(emitter->builder, is_value, record, address, "");
}

/* The parts that one field of the kernel's buffer makes; returns how many. */
static uint32_t parts_of_field(Emitter *emitter, const AbiField *field, LLVMValueRef value, LLVMValueRef *out)
{
    switch (field->kind) {
    case ABI_SCALAR:
        out[0] = field->type->kind == TYPE_BOOL
                     ? LLVMBuildICmp(emitter->builder, LLVMIntNE, value, LLVMConstNull(emitter->i8), "")
                     : value;
        return 1;
    case ABI_VALUE: return 0;
    case ABI_POINTER: out[0] = address_of_field(emitter, field, value); return 1;
    case ABI_EXTENT: {
        const uint8_t *known = emitter->function->extents;
        int64_t extent = known ? known[field->parameter * TYPE_MAX_NDIM + field->axis] : 0;
        out[0] = extent ? const_i64(emitter, extent) : value;
        return 1;
    }
    case ABI_STRIDE: out[0] = value; return 1;
    case ABI_EXCEPTION_RECORD:
        emitter->record = LLVMBuildAddrSpaceCast(emitter->builder, value, emitter->pointer_type, "");
        return 0;
    case ABI_EXCEPTION_TAG: emitter->tag = value; return 0;
    }
    return 0;
}

static void make_parameters(Emitter *emitter)
{
    const IrFunc *ir = emitter->function;
    uint32_t argument = emitter->lowering->passes_thread, place = 0;
    emitter->thread = argument ? LLVMGetParam(emitter->llvm_function, 0) : NULL;
    uint32_t count = parts_before_parameter(ir, ir->parameter_count);
    emitter->parameters = ARENA_ARRAY(emitter->arena, LLVMValueRef, count + 1);
    emitter->record = emitter->tag = NULL;
    if (!ir->is_kernel) {
        for (; place < count; place++)
            emitter->parameters[place] = LLVMGetParam(emitter->llvm_function, argument + place);
        if (emitter->emitted->raises && emitter->ir->first->reports) {
            emitter->record = LLVMGetParam(emitter->llvm_function, argument + count);
            emitter->tag = LLVMGetParam(emitter->llvm_function, argument + count + 1);
        }
        return;
    }
    for (uint32_t i = 0; i < emitter->abi->field_count; i++)
        place += parts_of_field(emitter, &emitter->abi->fields[i], LLVMGetParam(emitter->llvm_function, argument + i),
                                emitter->parameters + place);
}

/* --- blocks ------------------------------------------------------------------------------------------------------------ */

void emit_ir_value(Emitter *emitter, const IrValue *value)
{
    LLVMValueRef *out = emitter->parts[value->id] =
        ARENA_ARRAY(emitter->arena, LLVMValueRef, part_count(value->type) + 1);
    assert(value->id < emitter->function->value_count && op_emitters[value->op]);
    set_debug_position(emitter, &value->pos);
    if (!diag_failed(emitter->diag) && !(emitter->host && emit_in_row_part(emitter, value, out)))
        op_emitters[value->op](emitter, value, out);
    note_tuple(emitter, value);
}

static void emit_block(Emitter *emitter, const IrBlock *block)
{
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->block_start[block->id]);
    for (const IrValue *value = block->first; value; value = value->next)
        emit_ir_value(emitter, value);
    emitter->block_end[block->id] = LLVMGetInsertBlock(emitter->builder);
}

/* The LLVM block through which control comes from the i-th predecessor; NULL: from nowhere. */
static LLVMBasicBlockRef edge_from(Emitter *emitter, const IrBlock *block, uint32_t i)
{
    assert(i < block->predecessor_count);
    uint32_t id = block->predecessors[i]->id;
    bool is_second = i && block->predecessors[i - 1]->id == id;
    return is_second ? emitter->second_edge[id] : emitter->block_end[id];
}

/* Once the blocks that control comes from are emitted. */
static void fill_ir_phi(Emitter *emitter, const IrValue *phi)
{
    assert(phi->op == IR_PHI && phi->operand_count == phi->block->predecessor_count);
    for (uint32_t i = 0; i < phi->operand_count; i++) {
        LLVMBasicBlockRef from = edge_from(emitter, phi->block, i);
        for (uint32_t part = 0; from && part < part_count(phi->type); part++)
            LLVMAddIncoming(emitter->parts[phi->id][part], &emitter->parts[phi->operands[i]->id][part], &from, 1);
    }
}

static void fill_phis(Emitter *emitter, const IrBlock *block)
{
    for (const IrValue *phi = block->first; phi && phi->op == IR_PHI; phi = phi->next)
        fill_ir_phi(emitter, phi);
}

/* Puts properties on the branches back to the loop's header. */
static void mark_loop(Emitter *emitter, const IrGraph *graph, const IrLoop *loop, const LLVMMetadataRef *properties,
                      unsigned count)
{
    const IrBlock *header = loop->header;
    LLVMValueRef node = loop_node(emitter, properties, count);
    for (uint32_t i = 0; i < header->predecessor_count; i++) {
        LLVMBasicBlockRef from = edge_from(emitter, header, i);
        if (from && ir_loop_has(graph, loop, header->predecessors[i]))
            set_loop_node(emitter, LLVMGetBasicBlockTerminator(from), node);
    }
}

/* Where LLVM makes a loop of several trips at a time, ptxas may do so once more with what it made. LLVM would forbid it:
 * it marks both that loop and the one for the trips that are left, unless something else stands there to say of it. */
static LLVMMetadataRef stays_a_loop(Emitter *emitter)
{
    return loop_property(emitter, "llvm.loop.unroll.followup_unrolled",
                         loop_property(emitter, "llvm.loop.mustprogress", NULL));
}

static void mark_as(Emitter *emitter, const IrGraph *graph, const IrLoop *loop)
{
    enum { BATCH_TRIPS = 4 };
    LLVMMetadataRef properties[2], trips = LLVMValueAsMetadata(LLVMConstInt(emitter->i32, BATCH_TRIPS, false));
    unsigned count = 0;
    switch (loop->header->loop) {
    case IR_LOOP_UNROLL: properties[count++] = loop_property(emitter, "llvm.loop.unroll.full", NULL); break;
    case IR_LOOP_ROLLED: properties[count++] = loop_property(emitter, "llvm.loop.unroll.disable", NULL); break;
    case IR_LOOP_BATCH: properties[count++] = loop_property(emitter, "llvm.loop.unroll.count", trips); break;
    default: break;
    }
    if (emitter->target->kind == TARGET_NVPTX && loop->header->loop != IR_LOOP_ROLLED)
        properties[count++] = stays_a_loop(emitter);
    if (count)
        mark_loop(emitter, graph, loop, properties, count);
}

static void mark_loops(Emitter *emitter, const IrGraph *graph)
{
    for (uint32_t i = 0; i < graph->loop_count; i++)
        mark_as(emitter, graph, &graph->loops[i]);
}

void begin_ir_function(Emitter *emitter, const EmittedFunction *function)
{
    const IrFunc *ir = function->ir;
    emitter->function = ir;
    emitter->graph = NULL;
    emitter->llvm_function = function->llvm;
    emitter->emitted = function;
    emitter->unwind = emitter->exit = NULL;
    emitter->reports = NULL;
    emitter->tuples = NULL;
    emitter->parts = ARENA_ARRAY(emitter->arena, LLVMValueRef *, ir->value_count + 1);
    emitter->block_start = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, ir->block_count + 1);
    emitter->block_end = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, ir->block_count + 1);
    emitter->second_edge = ARENA_ARRAY(emitter->arena, LLVMBasicBlockRef, ir->block_count + 1);
    emitter->prologue = new_block(emitter);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    make_parameters(emitter);
}

void emit_function_body(Emitter *emitter, const EmittedFunction *function)
{
    const IrFunc *ir = function->ir;
    begin_debug_function(emitter, function);
    begin_ir_function(emitter, function);
    const IrGraph *graph = emitter->graph = ir_graph(ir, emitter->arena);
    for (uint32_t i = 0; i < graph->count; i++)
        emitter->block_start[graph->order[i]->id] = new_block(emitter);
    for (uint32_t i = 0; i < graph->count; i++)
        emit_block(emitter, graph->order[i]);
    end_debug_function(emitter);
    if (diag_failed(emitter->diag))
        return;
    for (uint32_t i = 0; i < graph->count; i++)
        fill_phis(emitter, graph->order[i]);
    mark_loops(emitter, graph);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->prologue);
    LLVMBuildBr(emitter->builder, emitter->block_start[ir->first->id]);
}

/* --- values -------------------------------------------------------------------------------------------------------------- */

static void copy_parts(LLVMValueRef *out, const LLVMValueRef *from, uint32_t count)
{
    memcpy(out, from, count * sizeof *out);
}

void emit_op_PARAM(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    assert(value->index < emitter->function->parameter_count);
    copy_parts(out, emitter->parameters + parts_before_parameter(emitter->function, value->index),
               part_count(value->type));
}

void emit_op_CONST(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    if (!type_is_scalar(value->type))
        return;
    LLVMTypeRef type = part_type(emitter, value->type);
    if (value->type->kind == TYPE_BOOL)
        out[0] = LLVMConstInt(type, value->integer != 0, false);
    else if (type_is_integer(value->type))
        out[0] = LLVMConstInt(type, (unsigned long long)value->integer, false);
    else
        out[0] = LLVMConstReal(type, value->real);
    if (value->type->kind == TYPE_COMPLEX)
        out[1] = LLVMConstReal(type, value->imaginary);
}

void emit_op_UNDEFINED(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    uint32_t count = part_count(value->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, value->type, types);
    for (uint32_t i = 0; i < count; i++)
        out[i] = LLVMConstNull(types[i]);
}

void emit_op_PHI(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    uint32_t count = part_count(value->type);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, value->type, types);
    for (uint32_t i = 0; i < count; i++)
        out[i] = LLVMBuildPhi(emitter->builder, types[i], "");
}

static void select_parts(Emitter *emitter, LLVMValueRef condition, const LLVMValueRef *yes, const LLVMValueRef *no,
                         uint32_t count, LLVMValueRef *out)
{
    for (uint32_t i = 0; i < count; i++)
        out[i] = LLVMBuildSelect(emitter->builder, condition, yes[i], no[i], "");
}

void emit_op_SELECT(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    select_parts(emitter, operand_scalar(emitter, value, 0), operand_parts(emitter, value, 1),
                 operand_parts(emitter, value, 2), part_count(value->type), out);
}

void emit_op_TUPLE(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        uint32_t count = part_count(value->operands[i]->type);
        copy_parts(out, operand_parts(emitter, value, i), count);
        out += count;
    }
}

void emit_op_GET(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    assert(value->index < value->operands[0]->type->count);
    uint32_t first = part_of_item(value->operands[0]->type, value->index);
    copy_parts(out, operand_parts(emitter, value, 0) + first, part_count(value->type));
}

void emit_op_REAL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = operand_parts(emitter, value, 0)[0];
}

void emit_op_IMAG(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    bool is_complex = value->operands[0]->type->kind == TYPE_COMPLEX;
    out[0] = is_complex ? operand_parts(emitter, value, 0)[1] : LLVMConstNull(part_type(emitter, value->type));
}

void emit_op_COMPLEX(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    out[0] = operand_scalar(emitter, value, 0);
    out[1] = operand_scalar(emitter, value, 1);
}

/* --- control ------------------------------------------------------------------------------------------------------------- */

static const EmittedFunction *find_function(Emitter *emitter, const IrFunc *ir)
{
    for (uint32_t i = 0; i < emitter->ir->function_count; i++)
        if (emitter->functions[i].ir == ir)
            return &emitter->functions[i];
    return NULL;
}

void emit_op_CALL(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    const EmittedFunction *callee = find_function(emitter, value->callee);
    if (emitter->lowering->passes_thread)
        host_note_call(emitter, value);
    uint32_t count = emitter->lowering->passes_thread, place = count;
    for (uint32_t i = 0; i < value->operand_count; i++)
        count += part_count(value->operands[i]->type);
    LLVMValueRef *arguments = ARENA_ARRAY(emitter->arena, LLVMValueRef, count + 3);
    arguments[0] = emitter->thread;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        copy_parts(arguments + place, operand_parts(emitter, value, i), part_count(value->operands[i]->type));
        place += part_count(value->operands[i]->type);
    }
    if (callee->raises && emitter->record) {
        arguments[count++] = emitter->record;
        arguments[count++] = emitter->tag;
    }
    LLVMValueRef result = LLVMBuildCall2(emitter->builder, callee->type, callee->llvm, arguments, count, "");
    uint32_t parts = part_count(value->type), all = parts + callee->raises;
    LLVMValueRef raised = result;
    for (uint32_t i = 0; i < all && all > 1; i++)
        *(i < parts ? &out[i] : &raised) = LLVMBuildExtractValue(emitter->builder, result, i, "");
    if (parts == 1 && all == 1)
        out[0] = result;
    if (callee->raises)
        emit_unwind_if(emitter, raised);
}

static LLVMBasicBlockRef target_block(Emitter *emitter, const IrValue *terminator, uint32_t index)
{
    return emitter->block_start[terminator->targets[index]->id];
}

void emit_op_JUMP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    LLVMBuildBr(emitter->builder, target_block(emitter, value, 0));
}

/* A test that all threads pass: LLVM is told what they have in common. */
static void emit_bound(Emitter *emitter, const IrValue *branch)
{
    uint32_t target = branch->hint == IR_BOUND_OUT;
    LLVMValueRef holds = operand_scalar(emitter, branch, 0);
    if (target)
        holds = LLVMBuildNot(emitter->builder, holds, "");
    call_llvm(emitter, "llvm.assume", NULL, 1, &holds);
    LLVMBuildBr(emitter->builder, target_block(emitter, branch, target));
}

void emit_op_BRANCH(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    if (value->hint != IR_BOUND_NONE) {
        emit_bound(emitter, value);
        return;
    }
    LLVMBasicBlockRef yes = target_block(emitter, value, 0), no = target_block(emitter, value, 1);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    if (yes == no) {
        emitter->second_edge[value->block->id] = no = new_block(emitter);
        LLVMPositionBuilderAtEnd(emitter->builder, no);
        LLVMBuildBr(emitter->builder, yes);
        LLVMPositionBuilderAtEnd(emitter->builder, here);
    }
    LLVMBuildCondBr(emitter->builder, operand_scalar(emitter, value, 0), yes, no);
}

/* More results than these are put into a struct in one place. The copies of a function that are inlined otherwise join as
 * many structs as it has returns, each made member by member, and the code generator has a node of all members for each. */
enum { MOST_RESULTS_OF_EACH_RETURN = 64 };

static void make_exit(Emitter *emitter, const LLVMValueRef *parts, uint32_t count)
{
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    emitter->exit = new_block(emitter);
    emitter->results = ARENA_ARRAY(emitter->arena, LLVMValueRef, count);
    LLVMPositionBuilderAtEnd(emitter->builder, emitter->exit);
    for (uint32_t i = 0; i < count; i++)
        emitter->results[i] = LLVMBuildPhi(emitter->builder, LLVMTypeOf(parts[i]), "");
    LLVMBuildAggregateRet(emitter->builder, emitter->results, count);
    LLVMPositionBuilderAtEnd(emitter->builder, here);
}

static void return_many(Emitter *emitter, LLVMValueRef *parts, uint32_t count)
{
    if (!emitter->exit)
        make_exit(emitter, parts, count);
    LLVMBasicBlockRef here = LLVMGetInsertBlock(emitter->builder);
    for (uint32_t i = 0; i < count; i++)
        LLVMAddIncoming(emitter->results[i], &parts[i], &here, 1);
    LLVMBuildBr(emitter->builder, emitter->exit);
}

void emit_op_RETURN(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)out;
    uint32_t count = value->operand_count && !emitter->function->is_kernel ? part_count(value->operands[0]->type) : 0;
    LLVMValueRef *parts = count ? operand_parts(emitter, value, 0) : NULL;
    if (emitter->emitted->raises) {
        LLVMValueRef *all = ARENA_ARRAY(emitter->arena, LLVMValueRef, count + 1);
        if (count)
            copy_parts(all, parts, count);
        all[count++] = LLVMConstNull(emitter->i1);
        parts = all;
    }
    if (emitter->emitted->is_trip)
        LLVMBuildRet(emitter->builder, LLVMConstInt(emitter->i8, TRIP_LACKING, false));
    else if (count == 0)
        LLVMBuildRetVoid(emitter->builder);
    else if (count == 1)
        LLVMBuildRet(emitter->builder, parts[0]);
    else if (count > MOST_RESULTS_OF_EACH_RETURN)
        return_many(emitter, parts, count);
    else
        LLVMBuildAggregateRet(emitter->builder, parts, count);
}

/* Says what holds of a right program; a check of it has taken its place. */
void emit_op_BROADCAST(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)emitter, (void)value, (void)out;
}

void emit_op_TRAP(Emitter *emitter, const IrValue *value, LLVMValueRef *out)
{
    (void)value, (void)out;
    call_llvm(emitter, "llvm.trap", NULL, 0, NULL);
    LLVMBuildUnreachable(emitter->builder);
}
