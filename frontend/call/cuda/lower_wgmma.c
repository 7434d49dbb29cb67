/* Calls of wgmma: what the instruction is follows from the arrays. */
#include <string.h>

#include "core/intrinsic/wgmma.h"
#include "frontend/call/cuda/lower_cuda.h"
#include "frontend/call/cuda/lower_place.h"
#include "frontend/engine.h"
#include "frontend/value/arguments.h"
#include "frontend/value/lower_convert.h"

/* --- arrays of the thread's own: accumulators, fragments ----------------------------------------------------------------- */

/* The extent of a view's axis, if the IR has it as a number; else -1. */
static int64_t constant_extent(const IrValue *extent)
{
    if (extent->op == IR_CONST)
        return extent->integer;
    if (extent->op == IR_EXTENT && extent->operands[0]->op == IR_LOCAL)
        return extent->operands[0]->storage->shape[extent->index];
    return -1;
}

/* How many elements a local array or a view of it has; -1: it is not known. */
static int64_t local_size(const IrValue *array)
{
    int64_t size = 1;
    bool is_view = array->op == IR_SUBARRAY;
    if (array->op != IR_LOCAL && !is_view)
        return -1;
    for (uint32_t axis = 0; axis < array->type->ndim; axis++) {
        int64_t extent = is_view ? constant_extent(array->operands[1 + array->operands[0]->type->ndim + axis])
                                 : array->storage->shape[axis];
        if (extent < 0)
            return -1;
        size *= extent;
    }
    return size;
}

static bool is_local(Lower *l, Operand array)
{
    const IrValue *memory = array.ir ? ir_memory_of(array.ir) : NULL;
    bool is_elsewhere = memory && memory->op != IR_LOCAL && !(memory->op == IR_PARAM && !l->instance->is_kernel);
    return array.type->kind == TYPE_ARRAY && array.type->layout == LAYOUT_C && !is_elsewhere;
}

/* Columns of c: as many as were said, or as fit. */
static bool columns_of(Lower *l, const Call *call, const WgmmaKindInfo *kind, int64_t *out)
{
    Operand c = call->arguments[0];
    const Operand *said = call_keyword(call, "columns");
    if (said && !operand_const_int(*said, out))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "columns", "");
    int64_t size = l->emitting ? local_size(c.ir) : -1;
    if (!said && l->emitting && size < 0)
        return call_refuse(l, call, "; say how many columns c has: columns=128");
    if (!said && l->emitting)
        *out = size * WGMMA_THREADS / WGMMA_ROWS;
    if ((said || l->emitting) && !wgmma_has_columns(kind, *out))
        return call_refuse(l, call,
                           arena_format(l->arena,
                                        ": there is no wgmma of %lld columns; they are multiples of %s up to 256, "
                                        "and c has half as many elements",
                                        (long long)*out, kind->traits & WGMMA_WHOLE ? "16" : "8"));
    if (size >= 0 && size < wgmma_sum_count((uint32_t)*out))
        return call_refuse(l, call,
                           arena_format(l->arena, ": c has %lld elements, %lld columns need %u", (long long)size,
                                        (long long)*out, wgmma_sum_count((uint32_t)*out)));
    return true;
}

/* --- the call ------------------------------------------------------------------------------------------------------------ */

static const WgmmaKindInfo *kind_of(Lower *l, const Call *call, const Type *element)
{
    const Operand *said = call_keyword(call, "kind");
    if (said && said->type->kind == TYPE_NONE)
        said = NULL;
    bool is_text = said && operand_is_object(*said, CONSTANT_STRING);
    for (int i = 0; i < WGMMA_KIND_COUNT; i++) {
        const WgmmaKindInfo *kind = &wgmma_kinds[i];
        bool is_meant = said ? is_text && strcmp(said->constant->text, kind->word) == 0 : kind->is_default;
        if (is_meant && type_equal(kind->element, element))
            return kind;
    }
    call_refuse(
        l, call,
        "; a and b have elements of float16, bfloat16, float32, int8 or uint8, the last also as kind=\"e4m3\" or "
        "\"e5m2\"");
    return NULL;
}

static bool truth(Lower *l, const Call *call, const char *name, bool *out)
{
    const Operand *given = call_keyword(call, name);
    int64_t value = 0;
    if (given && !operand_const_int(*given, &value))
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, name, "");
    *out = value != 0;
    return true;
}

/* From one row of shared memory that a tile's columns fill to the next one: all that lies between, for as many rows as the
 * array's last axis but one has. */
static IrValue *row_step(Lower *l, Operand array, bool is_transposed)
{
    if (!is_transposed || array.type->ndim < 2)
        return emit_int(l, TYPE_OF(INT32), 0);
    IrValue *rows = emit_extent(l, array, array.type->ndim - 2u);
    IrValue *bytes = emit_int(l, TYPE_OF(INT64), array.type->swizzle);
    return emit1(l, IR_CONVERT, TYPE_OF(INT32), emit2(l, IR_MUL, TYPE_OF(INT64), rows, bytes));
}

static bool shared_operand(Lower *l, const Call *call, Operand array, Operand index, bool is_transposed, IrValue **out)
{
    Operand reference;
    if (array.type->kind != TYPE_ARRAY || !array.type->swizzle || array.type->layout != LAYOUT_C)
        return call_refuse(
            l, call, "; a and b are shared arrays with a swizzle: cuda.shared.array((128, 64), float16, swizzle=128)");
    if (!lower_check_shared(l, call, array, ": a and b are in shared memory") ||
        !lower_place(l, call, array, index, &reference))
        return false;
    out[0] = reference.ir;
    out[1] = row_step(l, array, is_transposed);
    return true;
}

static bool fragment_operand(Lower *l, const Call *call, Operand a, const WgmmaKindInfo *kind, IrValue **out)
{
    bool fits = is_local(l, a) && type_equal(a.type->element, kind->element);
    int64_t size = fits && l->emitting ? local_size(a.ir) : -1;
    if (!fits || (size >= 0 && size != wgmma_fragment_count(kind)))
        return call_refuse(
            l, call,
            arena_format(l->arena, ": a is a local array of %u elements of b's type", wgmma_fragment_count(kind)));
    out[0] = a.ir;
    out[1] = emit_int(l, TYPE_OF(INT32), 0);
    return true;
}

static bool accumulators(Lower *l, const Call *call, const WgmmaKindInfo *kind)
{
    Operand c = call->arguments[0];
    if (is_local(l, c) && wgmma_sums_in(kind, c.type->element))
        return true;
    return call_refuse(
        l, call,
        arena_format(l->arena, ": c is a local array of %s", kind->traits & WGMMA_WHOLE ? "int32" : "float32"));
}

/* mma(c, a, a_index, b, b_index), or mma(c, fragment, b, b_index) */
bool call_wgmma(Lower *l, const Call *call, Operand *out)
{
    const Operand *given = call->arguments, *accumulate = call_keyword(call, "accumulate");
    IrValue *operands[WGMMA_OPERANDS];
    bool transposes_a, transposes_b;
    int64_t columns = 8;
    if (!call_arity(l, call, 4 + call->keyword_count, 5 + call->keyword_count))
        return false;
    bool is_fragment = call->count == 4;
    Operand b = given[call->count - 2], sums = operand_bool(l, true);
    if (given[1].type->kind != TYPE_ARRAY || b.type->kind != TYPE_ARRAY ||
        !type_equal(given[1].type->element, b.type->element))
        return call_refuse(l, call, ": a and b are arrays of one type of elements");
    const WgmmaKindInfo *kind = kind_of(l, call, b.type->element);
    if (!kind || !accumulators(l, call, kind) || !truth(l, call, "transpose_a", &transposes_a) ||
        !truth(l, call, "transpose_b", &transposes_b) || !columns_of(l, call, kind, &columns))
        return false;
    if ((transposes_a || transposes_b) && (!(kind->traits & WGMMA_TRANSPOSES) || (is_fragment && transposes_a)))
        return call_refuse(l, call, ": only float16 and bfloat16 in shared memory can be transposed");
    if (accumulate && !lower_truth(l, *accumulate, &sums))
        return false;
    if (!(is_fragment ? fragment_operand(l, call, given[1], kind, &operands[WGMMA_A])
                      : shared_operand(l, call, given[1], given[2], transposes_a, &operands[WGMMA_A])) ||
        !shared_operand(l, call, b, given[call->count - 1], transposes_b, &operands[WGMMA_B]))
        return false;
    operands[WGMMA_C] = given[0].ir;
    operands[WGMMA_ACCUMULATE] = operand_ir(l, sums);
    operands[WGMMA_ELEMENTS] = emit_int(l, TYPE_OF(INT32), kind - wgmma_kinds);
    operands[WGMMA_COLUMNS] = emit_int(l, TYPE_OF(INT32), columns);
    operands[WGMMA_TRANSPOSED] = emit_int(l, TYPE_OF(INT32), transposes_a + 2 * transposes_b);
    emit_intrinsic(l, call->intrinsic, &type_none, WGMMA_OPERANDS, operands);
    return *out = operand_none(), true;
}

/* Appends each of the arrays, and how many elements it has. */
static bool add_accumulators(Lower *l, const Call *call, uint32_t first, IrValue **operands, uint32_t *count)
{
    for (uint32_t i = first; i < call->count; i++) {
        Operand c = call->arguments[i];
        if (!is_local(l, c))
            return call_refuse(l, call, ": accumulators and fragments are local arrays");
        int64_t size = l->emitting ? local_size(c.ir) : 1;
        if (size < 0)
            return call_refuse(l, call, ": it takes arrays where they were made, not those of a caller");
        operands[(*count)++] = c.ir;
        operands[(*count)++] = emit_int(l, TYPE_OF(INT32), size);
    }
    return true;
}

/* wait(n, c, ...): operands: n, then pairs of a c and how many elements it has. */
bool call_wgmma_wait(Lower *l, const Call *call, Operand *out)
{
    int64_t groups;
    uint32_t count = 0;
    IrValue **operands = ARENA_ARRAY(l->arena, IrValue *, 1 + 2 * (size_t)call->count);
    if (call->count == 0 || !operand_const_int(call->arguments[0], &groups) || groups < 0 || groups > 7)
        return lower_fail(l, DIAG_CONSTANT_REQUIRED, "the number of groups of cuda.wgmma.wait", " from 0 to 7");
    operands[count++] = emit_int(l, TYPE_OF(INT32), groups);
    if (!add_accumulators(l, call, 1, operands, &count))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, count, operands);
    return *out = operand_none(), true;
}

/* fence(c, ...): the same pairs. */
bool call_wgmma_fence(Lower *l, const Call *call, Operand *out)
{
    uint32_t count = 0;
    IrValue **operands = ARENA_ARRAY(l->arena, IrValue *, 1 + 2 * (size_t)call->count);
    if (!add_accumulators(l, call, 0, operands, &count))
        return false;
    emit_intrinsic(l, call->intrinsic, &type_none, count, operands);
    return *out = operand_none(), true;
}
