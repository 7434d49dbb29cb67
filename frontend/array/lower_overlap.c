/* Assignment between parts of one array that overlap and do not run alike: x[:] = x[::-1], x[:] = x.T, one row to all
 * rows. The result is that of a source copied before, without memory for the copy: an element is written when every
 * element has been written that is read from its place. Which one that is follows from the addresses alone, so elements
 * form chains, and chains that close to rings. A ring is taken by its element of the least number, which is found as in
 * in-place permutation (F. Fich, I. Munro, P. Poblete, "Permuting in place", SIAM J. Comput. 24 (1995)), by walking the
 * ring both ways at once; the value that the ring's last element wants is saved before the first is written. */
#include "frontend/array/fill.h"
#include "frontend/engine.h"
#include "frontend/value/lower_check.h"
#include "frontend/value/operand.h"

/* Places of one of the arrays: the address of its first element, and the strides along the axes walked, in bytes. */
typedef struct Places {
    IrValue *first, *lowest;
    IrValue *stride[TYPE_MAX_NDIM];
    IrValue *length[TYPE_MAX_NDIM]; /* of the stride; very large where there is but one index */
    IrValue *sorted[TYPE_MAX_NDIM]; /* the lengths, longest first */
    IrValue *falls[TYPE_MAX_NDIM];
} Places;

/* Elements are numbered from 0, the last axis fastest. */
typedef struct Walk {
    const Fill *fill;
    uint32_t ndim;
    IrValue *extent[TYPE_MAX_NDIM];
    IrValue *weight[TYPE_MAX_NDIM]; /* what one step along the axis adds to the number */
    IrValue *total;
    IrValue *origin[TYPE_MAX_NDIM]; /* added to an element's indices in the target */
    Places target, source;
} Walk;

/* --- arithmetic in i64 and bool ----------------------------------------------------------------------------------- */

static IrValue *number(Lower *l, int64_t value) { return emit_int(l, TYPE_OF(INT64), value); }

static IrValue *whole(Lower *l, IrOp op, IrValue *a, IrValue *b) { return emit2(l, op, TYPE_OF(INT64), a, b); }

/* Division of what is not negative. */
static IrValue *divide(Lower *l, IrOp op, IrValue *a, IrValue *b)
{
    const Type *type = TYPE_OF(UINT64);
    IrValue *x = emit1(l, IR_CONVERT, type, a), *y = emit1(l, IR_CONVERT, type, b);
    IrValue *result = emit2(l, op, type, x, y);
    return emit1(l, IR_CONVERT, TYPE_OF(INT64), result);
}

static IrValue *test(Lower *l, IrOp op, IrValue *a, IrValue *b) { return emit2(l, op, TYPE_OF(BOOL), a, b); }

static IrValue *choose(Lower *l, IrValue *condition, IrValue *a, IrValue *b)
{
    return emit3(l, IR_SELECT, a->type, condition, a, b);
}

static IrValue *address(Lower *l, Operand array) { return emit1(l, IR_ADDRESS, TYPE_OF(INT64), array.ir); }

static IrValue *stride_of(Lower *l, Operand array, uint32_t axis)
{
    return emit_index_op(l, IR_STRIDE, TYPE_OF(INT64), array.ir, axis);
}

static IrValue *last_index(Lower *l, IrValue *extent) { return whole(l, IR_SUB, extent, number(l, 1)); }

/* --- shapes ------------------------------------------------------------------------------------------------------- */

/* Whether one element of the source goes to all along the target's axis. */
static IrValue *is_repeated(Lower *l, const Fill *fill, uint32_t axis)
{
    int place = fill_source_axis(fill, axis);
    IrValue *one = number(l, 1);
    IrValue *is_long = test(l, IR_GT, emit_extent(l, fill->target, axis), one);
    if (place < 0)
        return is_long;
    return test(l, IR_AND, is_long, test(l, IR_EQ, emit_extent(l, fill->source, (uint32_t)place), one));
}

static IrValue *source_stride(Lower *l, const Fill *fill, uint32_t axis)
{
    int place = fill_source_axis(fill, axis);
    return place < 0 ? number(l, 0) : stride_of(l, fill->source, (uint32_t)place);
}

/* The first and the last byte of an array. */
static void bounds(Lower *l, Operand array, IrValue **low, IrValue **high)
{
    *low = address(l, array);
    *high = whole(l, IR_ADD, *low, number(l, array.type->element->size - 1));
    for (uint32_t i = 0; i < array.type->ndim; i++) {
        IrValue *stride = stride_of(l, array, i), *last = last_index(l, emit_extent(l, array, i));
        IrValue *span = whole(l, IR_MUL, stride, last);
        *low = whole(l, IR_ADD, *low, whole(l, IR_MIN, span, number(l, 0)));
        *high = whole(l, IR_ADD, *high, whole(l, IR_MAX, span, number(l, 0)));
    }
}

/* Both run through memory alike, and in the order of their indices. */
static IrValue *runs_alike(Lower *l, const Fill *fill)
{
    IrValue *alike = emit_int(l, TYPE_OF(BOOL), 1), *outer = NULL;
    for (uint32_t i = 0; i < fill->target.type->ndim; i++) {
        IrValue *stride = stride_of(l, fill->target, i), *length = emit1(l, IR_ABS, TYPE_OF(INT64), stride);
        IrValue *extent = emit_extent(l, fill->target, i), *single = test(l, IR_EQ, extent, number(l, 1));
        IrValue *same = test(l, IR_EQ, stride, source_stride(l, fill, i));
        IrValue *is_not_repeated = emit1(l, IR_NOT, TYPE_OF(BOOL), is_repeated(l, fill, i));
        same = test(l, IR_AND, same, is_not_repeated);
        if (outer)
            same = test(l, IR_AND, same, test(l, IR_GE, outer, length));
        alike = test(l, IR_AND, alike, test(l, IR_OR, single, same));
        outer = outer ? choose(l, single, outer, length) : length;
    }
    return alike;
}

bool fill_may_overlap(const Fill *fill)
{
    const Operand target = fill->target, source = fill->source;
    if (source.type->kind != TYPE_ARRAY || source.type->ndim == 0)
        return false;
    const IrValue *a = ir_memory_of(target.ir), *b = ir_memory_of(source.ir);
    bool has_own = a->op == IR_LOCAL || a->op == IR_SHARED || b->op == IR_LOCAL || b->op == IR_SHARED;
    return b->op != IR_DATA && (a == b || !has_own);
}

/* One item to all of the same type along one axis only writes what is there over the item itself. */
static bool is_plain_line(const Fill *fill)
{
    const Type *target = fill->target.type, *source = fill->source.type;
    return fill->number == NO_OPERATOR && target->ndim == 1 && target->layout == LAYOUT_C &&
           source->layout == LAYOUT_C && type_equal(target->element, source->element);
}

IrValue *fill_is_tangled(Lower *l, const Fill *fill)
{
    if (is_plain_line(fill))
        return NULL;
    IrValue *target_low, *target_high, *source_low, *source_high;
    bounds(l, fill->target, &target_low, &target_high);
    bounds(l, fill->source, &source_low, &source_high);
    IrValue *begins = test(l, IR_LE, target_low, source_high), *ends = test(l, IR_LE, source_low, target_high);
    IrValue *overlap = test(l, IR_AND, begins, ends);
    return test(l, IR_AND, overlap, emit1(l, IR_NOT, TYPE_OF(BOOL), runs_alike(l, fill)));
}

/* --- numbers, indices and addresses ------------------------------------------------------------------------------- */

/* first: the address of the element whose indices are all 0. Strides and extents are there already. */
static void find_places(Lower *l, const Walk *walk, Places *places, IrValue *first)
{
    places->first = places->lowest = first;
    for (uint32_t i = 0; i < walk->ndim; i++) {
        IrValue *length = emit1(l, IR_ABS, TYPE_OF(INT64), places->stride[i]);
        IrValue *is_long = test(l, IR_NE, walk->extent[i], number(l, 1)), *steps = test(l, IR_NE, length, number(l, 0));
        IrValue *moves = test(l, IR_AND, is_long, steps);
        IrValue *span = whole(l, IR_MUL, places->stride[i], last_index(l, walk->extent[i]));
        places->length[i] = choose(l, moves, length, number(l, INT64_MAX));
        places->falls[i] = test(l, IR_LT, places->stride[i], number(l, 0));
        places->lowest = whole(l, IR_ADD, places->lowest, whole(l, IR_MIN, span, number(l, 0)));
    }
    for (uint32_t i = 0; i < walk->ndim; i++)
        places->sorted[i] = places->length[i];
    for (uint32_t i = 1; i < walk->ndim; i++)
        for (uint32_t k = i; k > 0; k--) {
            IrValue *before = places->sorted[k - 1], *behind = places->sorted[k];
            places->sorted[k - 1] = whole(l, IR_MAX, before, behind);
            places->sorted[k] = whole(l, IR_MIN, before, behind);
        }
}

static void set_weights(Lower *l, Walk *walk)
{
    walk->total = number(l, 1);
    for (uint32_t i = walk->ndim; i-- > 0;) {
        walk->weight[i] = walk->total;
        walk->total = whole(l, IR_MUL, walk->total, walk->extent[i]);
    }
}

static void indices_of(Lower *l, const Walk *walk, IrValue *element, IrValue **indices)
{
    for (uint32_t i = 0; i < walk->ndim; i++) {
        IrValue *rest = divide(l, IR_FLOORDIV, element, walk->weight[i]);
        indices[i] = i == 0 ? rest : divide(l, IR_MOD, rest, walk->extent[i]);
    }
}

static IrValue *place_of(Lower *l, const Walk *walk, const Places *places, IrValue *const *indices)
{
    IrValue *place = places->first;
    for (uint32_t i = 0; i < walk->ndim; i++)
        place = whole(l, IR_ADD, place, whole(l, IR_MUL, indices[i], places->stride[i]));
    return place;
}

/* The indices of the element at an address; false where none begins there. An array whose own elements overlap has no
 * such element. */
static IrValue *indices_at(Lower *l, const Walk *walk, const Places *places, IrValue *place, IrValue **indices)
{
    IrValue *offset = whole(l, IR_SUB, place, places->lowest), *zero = number(l, 0), *steps[TYPE_MAX_NDIM];
    IrValue *found = test(l, IR_GE, offset, zero);
    for (uint32_t i = 0; i < walk->ndim; i++) {
        steps[i] = divide(l, IR_FLOORDIV, offset, places->sorted[i]);
        offset = divide(l, IR_MOD, offset, places->sorted[i]);
    }
    for (uint32_t i = 0; i < walk->ndim; i++) {
        IrValue *index = zero;
        for (uint32_t k = 0; k < walk->ndim; k++)
            index = choose(l, test(l, IR_EQ, places->length[i], places->sorted[k]), steps[k], index);
        found = test(l, IR_AND, found, test(l, IR_LT, index, walk->extent[i]));
        indices[i] = choose(l, places->falls[i], whole(l, IR_SUB, last_index(l, walk->extent[i]), index), index);
    }
    return test(l, IR_AND, found, test(l, IR_EQ, offset, zero));
}

/* The element of `to` at the place where `from` has this one, or -1. From source to target: the element by which the
 * value that this one reads is overwritten. From target to source: the element that reads what this one overwrites. */
static IrValue *neighbour(Lower *l, const Walk *walk, const Places *from, const Places *to, IrValue *element)
{
    IrValue *indices[TYPE_MAX_NDIM], *result = number(l, 0);
    indices_of(l, walk, element, indices);
    IrValue *found = indices_at(l, walk, to, place_of(l, walk, from, indices), indices);
    for (uint32_t i = 0; i < walk->ndim; i++)
        result = whole(l, IR_ADD, result, whole(l, IR_MUL, indices[i], walk->weight[i]));
    return choose(l, found, result, number(l, -1));
}

static IrValue *after(Lower *l, const Walk *walk, IrValue *element)
{
    return neighbour(l, walk, &walk->source, &walk->target, element);
}

static IrValue *before(Lower *l, const Walk *walk, IrValue *element)
{
    return neighbour(l, walk, &walk->target, &walk->source, element);
}

/* --- chains and rings --------------------------------------------------------------------------------------------- */

static void target_indices(Lower *l, const Walk *walk, IrValue *element, IrValue **indices)
{
    indices_of(l, walk, element, indices);
    for (uint32_t i = 0; i < walk->ndim; i++)
        indices[i] = whole(l, IR_ADD, indices[i], walk->origin[i]);
}

/* An array of the thread with room for one item of the source, as both of what is stored to and what is read from. */
static Fill make_saved(Lower *l, const Fill *fill)
{
    const Type *type = type_array_like(l->arena, fill->source.type, 1, LAYOUT_C);
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    storage->shape[0] = 1;
    IrValue *array = emit(l, IR_LOCAL, type, 0, NULL);
    array->storage = storage;
    Operand saved = operand_value(type, array);
    return (Fill){.target = saved, .source = saved, .number = NO_OPERATOR};
}

static Operand either(Lower *l, IrValue *condition, Operand a, Operand b)
{
    return operand_value(a.type, choose(l, condition, a.ir, b.ir));
}

/* Writes from `first` to the chain's end, or once round the ring; the ring's last element gets what is saved. */
static bool write_chain(Lower *l, const Walk *walk, const Fill *saved, IrValue *first, IrValue *is_ring)
{
    IrBlock *loop = emit_block(l), *done = emit_block(l);
    IrValue *indices[TYPE_MAX_NDIM], *zero = number(l, 0);
    IrValue *element = ir_phi(loop, TYPE_OF(INT64), &l->value->pos, 2);
    emit_phi_edge(l, element, first);
    emit_jump(l, loop);
    l->block = loop;
    IrValue *next = after(l, walk, element);
    IrValue *is_none = test(l, IR_LT, next, zero), *is_first = test(l, IR_EQ, next, first);
    IrValue *is_last = test(l, IR_OR, is_none, is_first);
    target_indices(l, walk, element, indices);
    Operand item = fill_item(l, walk->fill, indices), kept = fill_item(l, saved, &zero);
    if (!fill_store(l, walk->fill, indices, either(l, test(l, IR_AND, is_ring, is_last), kept, item)))
        return false;
    emit_phi_edge(l, element, next);
    emit_branch(l, is_last, done, loop);
    l->block = done;
    return true;
}

/* Where the element leads, in `chain` or `ring`: nothing has to be written before it, or it has the least number of a
 * ring. In `passed` where it does not. The result: what is before it, in `ring`. */
static IrValue *find_lead(Lower *l, const Walk *walk, IrValue *element, IrBlock *chain, IrBlock *ring, IrBlock *passed)
{
    const Type *i64 = TYPE_OF(INT64);
    IrBlock *loop = emit_block(l), *reached = emit_block(l), *open = emit_block(l), *further = emit_block(l);
    IrValue *forward = ir_phi(loop, i64, &l->value->pos, 2), *backward = ir_phi(loop, i64, &l->value->pos, 2);
    IrValue *known = ir_phi(loop, i64, &l->value->pos, 2), *none = number(l, -1);
    emit_phi_edge(l, forward, element);
    emit_phi_edge(l, backward, element);
    emit_phi_edge(l, known, none);
    emit_jump(l, loop);
    l->block = loop;
    IrValue *next = after(l, walk, forward), *last = before(l, walk, backward);
    IrValue *is_first_round = test(l, IR_EQ, known, none), *is_lost = test(l, IR_LT, last, number(l, 0));
    IrValue *previous = choose(l, is_first_round, last, known);
    emit_branch(l, test(l, IR_AND, is_first_round, is_lost), chain, reached);
    l->block = reached;
    emit_branch(l, test(l, IR_EQ, next, element), ring, open);
    l->block = open;
    IrValue *next_is_less = test(l, IR_LT, next, element), *last_is_less = test(l, IR_LT, last, element);
    IrValue *not_least = test(l, IR_OR, next_is_less, last_is_less);
    emit_branch(l, not_least, passed, further);
    l->block = further;
    emit_phi_edge(l, forward, next);
    emit_phi_edge(l, backward, last);
    emit_phi_edge(l, known, previous);
    emit_jump(l, loop);
    return previous;
}

/* Each element of the source goes to one of the target. */
static bool write_elements(Lower *l, const Walk *walk)
{
    Fill saved = make_saved(l, walk->fill);
    Loop loop = loop_begin(l, walk->total);
    IrBlock *chain = emit_block(l), *ring = emit_block(l), *writes = emit_block(l), *passed = emit_block(l);
    IrValue *is_ring = ir_phi(writes, TYPE_OF(BOOL), &l->value->pos, 2), *indices[TYPE_MAX_NDIM], *zero = number(l, 0);
    IrValue *kept = ir_phi(writes, TYPE_OF(INT64), &l->value->pos, 2); /* of a chain, which needs none, any element */
    IrValue *previous = find_lead(l, walk, loop.index, chain, ring, passed);
    l->block = chain;
    emit_phi_edge(l, is_ring, emit_int(l, TYPE_OF(BOOL), 0));
    emit_phi_edge(l, kept, loop.index);
    emit_jump(l, writes);
    l->block = ring;
    emit_phi_edge(l, is_ring, emit_int(l, TYPE_OF(BOOL), 1));
    emit_phi_edge(l, kept, previous);
    emit_jump(l, writes);
    l->block = writes;
    target_indices(l, walk, kept, indices);
    bool ok = fill_store(l, &saved, &zero, fill_item(l, walk->fill, indices)) &&
              write_chain(l, walk, &saved, loop.index, is_ring);
    emit_jump(l, passed);
    l->block = passed;
    loop_end(l, &loop);
    return ok;
}

/* --- repeated axes ------------------------------------------------------------------------------------------------ */

/* Where the target has more elements than the source, `walk` is over one of the source's size, at `origin`. */
static void walk_begin(Lower *l, Walk *walk, const Fill *fill, bool whole_target)
{
    *walk = (Walk){.fill = fill, .ndim = fill->target.type->ndim};
    for (uint32_t i = 0; i < walk->ndim; i++) {
        IrValue *extent = emit_extent(l, fill->target, i);
        IrValue *once = whole_target ? NULL : is_repeated(l, fill, i);
        walk->extent[i] = once ? choose(l, once, number(l, 1), extent) : extent;
        walk->origin[i] = number(l, 0);
        walk->target.stride[i] = stride_of(l, fill->target, i);
        walk->source.stride[i] = source_stride(l, fill, i);
    }
    set_weights(l, walk);
    find_places(l, walk, &walk->target, address(l, fill->target));
    find_places(l, walk, &walk->source, address(l, fill->source));
}

/* The elements along repeated axes become those at their first index. */
static bool repeat(Lower *l, const Fill *fill)
{
    IrValue *any = emit_int(l, TYPE_OF(BOOL), 0);
    IrBlock *repeated = emit_block(l), *done = emit_block(l);
    for (uint32_t i = 0; i < fill->target.type->ndim; i++)
        any = test(l, IR_OR, any, is_repeated(l, fill, i));
    emit_branch(l, any, repeated, done);
    l->block = repeated;
    Fill within = {.target = fill->target, .source = fill->target, .number = NO_OPERATOR};
    Loop loops[TYPE_MAX_NDIM];
    IrValue *indices[TYPE_MAX_NDIM], *from[TYPE_MAX_NDIM];
    uint32_t ndim = fill->target.type->ndim;
    for (uint32_t i = 0; i < ndim; i++) {
        loops[i] = loop_begin(l, emit_extent(l, fill->target, i));
        indices[i] = loops[i].index;
        IrValue *once = is_repeated(l, fill, i);
        from[i] = choose(l, once, number(l, 0), indices[i]);
    }
    bool ok = fill_store(l, &within, indices, fill_item(l, &within, from));
    for (uint32_t i = ndim; i-- > 0;)
        loop_end(l, &loops[i]);
    emit_jump(l, done);
    l->block = done;
    return ok;
}

/* What an element's indices along repeated axes amount to. */
static IrValue *repetition(Lower *l, const Walk *all, IrValue *const *indices)
{
    IrValue *result = number(l, 0);
    for (uint32_t i = 0; i < all->ndim; i++) {
        IrValue *part = whole(l, IR_MUL, indices[i], all->weight[i]);
        IrValue *once = is_repeated(l, all->fill, i);
        result = whole(l, IR_ADD, result, choose(l, once, part, number(l, 0)));
    }
    return result;
}

static void refuse(Lower *l, IrValue *condition, const char *text)
{
    emit_check_or_trap(l, condition, "ValueError", text);
}

/* The repetition of the target in which the source lies; -1: in none. One that lies in several is refused. */
static IrValue *source_repetition(Lower *l, const Walk *walk, const Walk *all)
{
    const Type *type = type_array(l->arena, TYPE_OF(INT64), 1, LAYOUT_C, false);
    IrStorage *storage = ARENA_NEW(l->arena, IrStorage);
    storage->shape[0] = 1;
    IrValue *memory = emit(l, IR_LOCAL, type, 0, NULL), *zero = number(l, 0), *none = number(l, -1);
    memory->storage = storage;
    IrValue *start[] = {memory, zero, none};
    emit(l, IR_STORE, &type_none, 3, start);
    Loop loop = loop_begin(l, walk->total);
    IrValue *indices[TYPE_MAX_NDIM], *known = emit2(l, IR_LOAD, TYPE_OF(INT64), memory, zero);
    indices_of(l, walk, loop.index, indices);
    IrValue *found = indices_at(l, all, &all->target, place_of(l, walk, &walk->source, indices), indices);
    IrValue *here = choose(l, found, repetition(l, all, indices), known);
    IrValue *is_known = test(l, IR_NE, known, none), *is_elsewhere = test(l, IR_NE, known, here);
    IrValue *differs = test(l, IR_AND, is_known, is_elsewhere);
    refuse(l, differs, "an array is changed in place by a part of it that lies across what it is repeated over");
    IrValue *result[] = {memory, zero, here};
    emit(l, IR_STORE, &type_none, 3, result);
    loop_end(l, &loop);
    return emit2(l, IR_LOAD, TYPE_OF(INT64), memory, zero);
}

/* The operator, first in all repetitions but the one in which the source lies, then there. */
static bool update_repeated(Lower *l, Walk *walk)
{
    Walk all;
    IrValue *indices[TYPE_MAX_NDIM];
    walk_begin(l, &all, walk->fill, true);
    IrValue *found = source_repetition(l, walk, &all), *own = whole(l, IR_MAX, found, number(l, 0));
    Loop loop = loop_begin(l, all.total);
    IrBlock *elsewhere = emit_block(l), *passed = emit_block(l);
    indices_of(l, &all, loop.index, indices);
    emit_branch(l, test(l, IR_EQ, repetition(l, &all, indices), own), passed, elsewhere);
    l->block = elsewhere;
    if (!fill_store(l, walk->fill, indices, fill_item(l, walk->fill, indices)))
        return false;
    emit_jump(l, passed);
    l->block = passed;
    loop_end(l, &loop);
    indices_of(l, &all, own, walk->origin);
    find_places(l, walk, &walk->target, place_of(l, &all, &all.target, walk->origin));
    return write_elements(l, walk);
}

/* Items of different sizes may overlap in part, for which there is no order. Where target and source step alike it
 * shows in the first item; where they do not it is taken for granted. */
static void refuse_parts(Lower *l, const Walk *walk)
{
    IrValue *step = walk->target.length[0], *aligned = emit_int(l, TYPE_OF(BOOL), 1), *zero = number(l, 0);
    for (uint32_t i = 1; i < walk->ndim; i++)
        step = whole(l, IR_MIN, step, walk->target.length[i]);
    for (uint32_t i = 0; i < walk->ndim; i++)
        aligned = test(l, IR_AND, aligned, test(l, IR_EQ, whole(l, IR_MOD, walk->source.stride[i], step), zero));
    IrValue *rest = whole(l, IR_MOD, whole(l, IR_SUB, walk->source.first, walk->target.first), step);
    IrValue *end = whole(l, IR_ADD, rest, number(l, walk->fill->source.type->element->size));
    IrValue *begins = test(l, IR_GE, rest, number(l, walk->fill->target.type->element->size));
    IrValue *ends = test(l, IR_LE, end, step), *clear = test(l, IR_AND, begins, ends);
    refuse(l, emit1(l, IR_NOT, TYPE_OF(BOOL), test(l, IR_AND, aligned, clear)),
           "assignment between overlapping arrays whose items differ in size");
}

bool fill_tangled(Lower *l, const Fill *fill)
{
    Walk walk;
    walk_begin(l, &walk, fill, false);
    if (fill->source.type->element->size != fill->target.type->element->size)
        refuse_parts(l, &walk);
    return fill->number == NO_OPERATOR ? write_elements(l, &walk) && repeat(l, fill) : update_repeated(l, &walk);
}
