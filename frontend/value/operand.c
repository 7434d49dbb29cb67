/* Operands of lowering: constants, IR values, what is known of a value where paths join, and plain emission. */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "frontend/engine.h"
#include "frontend/value/grid_place.h"
#include "frontend/value/kind/lower_enum.h"
#include "frontend/value/kind/lower_tuple.h"
#include "frontend/value/operand.h"

Operand lower_fact(Lower *l, const SsaValue *value)
{
    assert(value->id < l->instance->ssa->value_count);
    Operand fact = l->instance->facts[value->id];
    if (fact.constant && fact.constant->kind == CONSTANT_ARRAY && !fact.ir)
        fact.ir = operand_ir(l, fact);   /* arrays are needed as values wherever they are used */
    return fact;
}

bool lower_fact_known(Lower *l, const SsaValue *value) { return l->instance->facts[value->id].type != NULL; }

Operand operand_value(const Type *type, IrValue *ir) { return (Operand){.type = type, .ir = ir}; }

Operand operand_none(void)
{
    static const Constant none = {.kind = CONSTANT_NONE, .type = &type_none};
    return (Operand){.type = &type_none, .constant = &none};
}

Operand operand_int_typed(Lower *l, const Type *type, int64_t value)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    assert(type_is_integer(type));
    constant->kind = CONSTANT_INT;
    constant->type = type;
    constant->integer = value;
    constant->is_unsigned = type->kind == TYPE_UINT && value < 0;
    return (Operand){.type = type, .constant = constant};
}

Operand operand_int(Lower *l, int64_t value) { return operand_int_typed(l, TYPE_OF(INT64), value); }

Operand operand_bool(Lower *l, bool value)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_BOOL;
    constant->type = TYPE_OF(BOOL);
    constant->integer = value;
    return (Operand){.type = TYPE_OF(BOOL), .constant = constant};
}

Operand operand_float(Lower *l, const Type *type, double value)
{
    Constant *constant = ARENA_NEW(l->arena, Constant);
    constant->kind = CONSTANT_FLOAT;
    constant->type = type;
    constant->real = value;
    return (Operand){.type = type, .constant = constant};
}

/* What tells two compile-time objects apart: types and strings by their text, functions by their snapshot, the rest by
 * the constant itself. Handlers make constants anew in every pass of inference, so this must not be their address. */
void object_identity(const Constant *constant, Buf *key)
{
    const void *identity = constant;
    if (constant->kind == CONSTANT_TYPE) {
        buf_add(key, "type ");
        type_print(key, constant->type);
        return;
    }
    if (constant->kind == CONSTANT_ENUM) {
        buf_printf(key, "enum %p %s", constant->type->object, constant->text);
        return;
    }
    if (constant->kind == CONSTANT_STRING) {
        buf_printf(key, "string %s", constant->text);
        return;
    }
    if (constant->kind == CONSTANT_FUNCTION)
        identity = constant->function;
    else if (constant->kind == CONSTANT_OVERLOADED)
        identity = constant->overloads;
    else if (constant->kind == CONSTANT_INTRINSIC)
        identity = &intrinsic_info[constant->intrinsic];
    else if (constant->kind == CONSTANT_CODE)
        identity = constant->code;
    else if (constant->kind == CONSTANT_FOREIGN)
        identity = constant->foreign;
    buf_add_bytes(key, &identity, sizeof identity);
}

static bool same_object(const Constant *a, const Constant *b)
{
    Buf left = {0}, right = {0};
    object_identity(a, &left);
    object_identity(b, &right);
    bool same = left.length == right.length && memcmp(left.text, right.text, left.length) == 0;
    buf_free(&left);
    buf_free(&right);
    return same;
}

/* The type of an object leads to its constant, one for each identity. */
Operand operand_object(Lower *l, const Constant *constant)
{
    Buf key = {0};
    object_identity(constant, &key);
    Table *objects = l->frontend->objects;
    const Constant *known = table_get(objects, key.text, key.length);
    if (!known) {
        known = constant;
        table_set(objects, key.text, key.length, (void *)constant);
    }
    buf_free(&key);
    return (Operand){.type = type_object(l->arena, known), .constant = known};
}

static bool operand_of_tuple(Lower *l, const Constant *constant, Operand *out)
{
    const Type **types = ARENA_ARRAY(l->arena, const Type *, constant->count);
    for (uint32_t i = 0; i < constant->count; i++) {
        Operand item;
        if (!operand_of_constant(l, constant->items[i], &item))
            return false;
        types[i] = item.type;
    }
    if (constant->kind == CONSTANT_DICT)
        out->type = type_dict(l->arena, types, constant->names, constant->count);
    else
        out->type = constant->type ? type_with_items(l->arena, constant->type, types)
                                   : type_tuple(l->arena, types, constant->count, TUPLE_PLAIN);
    out->constant = constant;
    return true;
}

/* Arrays captured from the host are read-only data; captured device arrays keep their memory. */
static const Type *captured_array_type(Lower *l, const ConstantArray *array)
{
    return type_array(l->arena, array->element, array->ndim, array->layout, array->device_pointer == 0);
}

static IrValue *emit_data(Lower *l, const Type *type, const ConstantArray *array)
{
    IrValue *value = emit(l, IR_DATA, type, 0, NULL);
    if (value && type_is_time(array->element)) {
        ConstantArray *counts = arena_copy(l->arena, array, sizeof *array);
        counts->element = TYPE_OF(INT64);
        array = counts;
    }
    if (value)
        value->array = array;
    return value;
}

static bool operand_of_intrinsic(Lower *l, const Constant *constant, Operand *out)
{
    const IntrinsicInfo *info = &intrinsic_info[constant->intrinsic];
    if (constant->intrinsic == INTRINSIC_CUDA_WARPSIZE)
        *out = operand_int_typed(l, TYPE_OF(INT32), 32);
    else if (constant->intrinsic == INTRINSIC_CUDA_IDX)
        *out = lower_grid_place(l, 0);
    else if (constant->intrinsic == INTRINSIC_CUDA_IDY)
        *out = lower_grid_place(l, 1);
    else if (constant->intrinsic == INTRINSIC_CUDA_IDZ)
        *out = lower_grid_place(l, 2);
    else if (info->kind == INTRINSIC_KIND_REGISTER)
        *out = operand_value(info->type, emit_intrinsic(l, constant->intrinsic, info->type, 0, NULL));
    else
        *out = operand_object(l, constant);
    return true;
}

static bool is_unusable(const Constant *constant)
{
    return constant->kind == CONSTANT_UNDEFINED || constant->kind == CONSTANT_UNSUPPORTED;
}

bool operand_of_capture(Lower *l, const Constant *constant, Operand *out)
{
    if (!is_unusable(constant))
        return operand_of_constant(l, constant, out);
    *out = operand_object(l, constant);
    return true;
}

bool operand_check(Lower *l, Operand operand)
{
    return !operand.constant || !is_unusable(operand.constant) || operand_of_constant(l, operand.constant, &operand);
}

/* "a dict"; what is more than the name of a type has its article. */
static const char *with_article(Lower *l, const char *what)
{
    bool has_one = strncmp(what, "an ", 3) == 0;
    return has_one ? what : arena_format(l->arena, strchr("aeio", *what) ? "an %s" : "a %s", what);
}

static bool operand_of_slice(Lower *l, const Constant *constant, Operand *out)
{
    Operand parts[3];
    for (uint32_t i = 0; i < 3; i++)
        if (!operand_of_constant(l, constant->items[i], &parts[i]))
            return false;
    return *out = lower_make_tuple(l, parts, 3, TUPLE_SLICE), true;
}

bool operand_of_constant(Lower *l, const Constant *constant, Operand *out)
{
    *out = (Operand){.constant = constant};
    const char *shown = constant->shown_as ? constant->shown_as : l->value->name ? l->value->name : "this value";
    switch (constant->kind) {
    case CONSTANT_UNDEFINED:
        return lower_fail(l, DIAG_NAME_UNDEFINED, shown, constant->names ? constant->names[0] : "");
    case CONSTANT_UNSUPPORTED:
        return lower_fail(l, DIAG_UNSUPPORTED_VALUE, shown,
                          with_article(l, constant->text ? constant->text : "Python object"),
                          constant->names ? constant->names[0] : "");
    case CONSTANT_SLICE: return operand_of_slice(l, constant, out);
    case CONSTANT_NONE: *out = operand_none(); return true;
    case CONSTANT_BOOL: out->type = TYPE_OF(BOOL); return true;
    case CONSTANT_INT:
        out->weak = weakness_of(l, constant);
        out->type = constant->type ? constant->type : constant->is_unsigned ? TYPE_OF(UINT64) : TYPE_OF(INT64);
        return true;
    case CONSTANT_FLOAT:
    case CONSTANT_COMPLEX:
        out->weak = weakness_of(l, constant);
        out->type = constant->type                     ? constant->type
                    : constant->kind == CONSTANT_FLOAT ? TYPE_OF(FLOAT64)
                                                       : TYPE_OF(COMPLEX128);
        return true;
    case CONSTANT_TIME: out->type = constant->type; return true;
    case CONSTANT_DICT:
    case CONSTANT_TUPLE: return operand_of_tuple(l, constant, out);
    case CONSTANT_ARRAY:
        out->type = captured_array_type(l, constant->array);
        out->ir = emit_data(l, out->type, constant->array);
        return true;
    case CONSTANT_INTRINSIC: return operand_of_intrinsic(l, constant, out);
    case CONSTANT_ENUM:
        out->type = constant->type;
        return constant->type->items[0]->kind != TYPE_NONE || (*out = operand_object(l, constant), true);
    default: *out = operand_object(l, constant); return true;
    }
}

bool operand_is_object(Operand operand, ConstantKind kind)
{
    return operand.type && operand.type->kind == TYPE_OBJECT && operand.constant && operand.constant->kind == kind;
}

IntrinsicId operand_intrinsic(Operand operand)
{
    return operand_is_object(operand, CONSTANT_INTRINSIC) ? operand.constant->intrinsic : INTRINSIC_NONE;
}

bool operand_const_int(Operand operand, int64_t *value)
{
    const Constant *c = operand.constant;
    if (!c || (c->kind != CONSTANT_INT && c->kind != CONSTANT_BOOL))
        return false;
    *value = c->integer;
    return true;
}

bool operand_is_runtime(Operand operand)
{
    return operand.type && !operand.constant && operand.type->kind != TYPE_OBJECT && operand.type->kind != TYPE_NONE;
}

static IrValue *emit_constant(Lower *l, const Type *type, const Constant *constant)
{
    switch (constant->kind) {
    case CONSTANT_TIME:
    case CONSTANT_BOOL:
    case CONSTANT_INT: return emit_int(l, type, constant->integer);
    case CONSTANT_FLOAT: return ir_const_float(l->block, type, constant->real, 0, &l->value->pos);
    case CONSTANT_COMPLEX: return ir_const_float(l->block, type, constant->real, constant->imaginary, &l->value->pos);
    case CONSTANT_NONE: return emit(l, IR_CONST, &type_none, 0, NULL);
    default: return NULL;
    }
}

IrValue *operand_ir(Lower *l, Operand operand)
{
    if (!l->emitting || operand.ir)
        return operand.ir;
    if (operand.constant && type_is_enum(operand.type)) {
        IrValue *item = operand_ir(l, lower_enum_value(l, operand));
        return emit(l, IR_TUPLE, operand.type, 1, &item);
    }
    if (operand.type->kind == TYPE_TUPLE && operand.constant &&
        (operand.constant->kind == CONSTANT_TUPLE || operand.constant->kind == CONSTANT_DICT)) {
        IrValue **items = ARENA_ARRAY(l->arena, IrValue *, operand.type->count);
        for (uint32_t i = 0; i < operand.type->count; i++)
            items[i] = operand_ir(l, lower_tuple_item(l, operand, i));
        return emit(l, IR_TUPLE, operand.type, operand.type->count, items);
    }
    if (operand.constant && operand.constant->kind == CONSTANT_ARRAY)
        return emit_data(l, operand.type, operand.constant->array);
    if (operand.type->kind == TYPE_OBJECT)   /* occupies nothing, but tuples have a place for it */
        return emit(l, IR_CONST, &type_none, 0, NULL);
    return operand.constant ? emit_constant(l, operand.type, operand.constant) : NULL;
}

const char *lower_describe(Lower *l, const Type *type)
{
    Buf buf = {0};
    type_describe(&buf, type);
    const char *text = arena_string(l->arena, buf_text(&buf));
    buf_free(&buf);
    return text;
}

const char *lower_describe_all(Lower *l, const Operand *operands, uint32_t count)
{
    Buf buf = {0};
    for (uint32_t i = 0; i < count; i++) {
        buf_add(&buf, i ? ", " : "");
        type_describe(&buf, operands[i].type);
    }
    const char *text = arena_string(l->arena, buf_text(&buf));
    buf_free(&buf);
    return text;
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

static bool same_float(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

bool constant_equal(const Constant *a, const Constant *b)
{
    if (a == b)
        return true;
    if (a->kind != b->kind || a->count != b->count)
        return false;
    switch (a->kind) {
    case CONSTANT_NONE:
    case CONSTANT_ELLIPSIS: return true;
    case CONSTANT_TIME:
    case CONSTANT_BOOL:
    case CONSTANT_INT: return a->integer == b->integer && a->is_unsigned == b->is_unsigned;
    case CONSTANT_FLOAT:
    case CONSTANT_COMPLEX: return same_float(a->real, b->real) && same_float(a->imaginary, b->imaginary);
    case CONSTANT_STRING: return strcmp(a->text, b->text) == 0;
    case CONSTANT_TUPLE:
        for (uint32_t i = 0; i < a->count; i++)
            if (!constant_equal(a->items[i], b->items[i]))
                return false;
        return true;
    default: return same_object(a, b);
    }
}

static const Type *join_arrays(Lower *l, const Type *a, const Type *b)
{
    if (a->ndim != b->ndim || a->swizzle != b->swizzle || !type_equal(a->element, b->element))
        return NULL;
    ArrayLayout layout = a->layout == b->layout ? a->layout : LAYOUT_ANY;
    uint32_t alignment = type_common_alignment(type_element_alignment(a), type_element_alignment(b));
    bool read_only = a->read_only || b->read_only;
    return type_array_swizzled(
        l->arena, type_array_aligned(l->arena, a->element, a->ndim, layout, read_only, alignment), a->swizzle);
}

static const Type *join_tuples(Lower *l, const Type *a, const Type *b)
{
    bool alike = a->count == b->count && a->tag == b->tag && (type_is_plain_tuple(a) || a->object == b->object);
    for (uint32_t i = 0; alike && type_is_tagged(a, TUPLE_DICT) && i < a->count; i++)
        alike = strcmp(a->names[i], b->names[i]) == 0;
    if (!alike)
        return NULL;
    const Type **items = ARENA_ARRAY(l->arena, const Type *, a->count);
    for (uint32_t i = 0; i < a->count; i++)
        if (!(items[i] = lower_join_types(l, a->items[i], b->items[i])))
            return NULL;
    return type_with_items(l->arena, a->object ? a : b, items);
}

/* None on one path and a value on another. */
static const Type *join_optional(Lower *l, const Type *a, const Type *b)
{
    const Type *x = type_is_optional(a) ? a->items[1] : a, *y = type_is_optional(b) ? b->items[1] : b;
    const Type *value = x->kind == TYPE_NONE ? y : y->kind == TYPE_NONE ? x : lower_join_types(l, x, y);
    if (!value || value->kind == TYPE_OBJECT)
        return NULL;
    return type_optional(l->arena, value);
}

const Type *lower_join_types(Lower *l, const Type *a, const Type *b)
{
    if (type_equal(a, b))
        return a;
    if (type_number_of(a) != a || type_number_of(b) != b)
        return lower_join_types(l, type_number_of(a), type_number_of(b));
    if (a->kind == TYPE_NONE || b->kind == TYPE_NONE || type_is_optional(a) || type_is_optional(b))
        return join_optional(l, a, b);
    if (type_is_scalar(a) && type_is_scalar(b))
        return type_promote(PROMOTION_UNIFY, a, b);
    if (type_is_time(a) && a->kind == b->kind)
        return type_join_times(l->arena, a, b, a->kind);
    if (a->kind == TYPE_ARRAY && b->kind == TYPE_ARRAY)
        return join_arrays(l, a, b);
    if (a->kind == TYPE_TUPLE && b->kind == TYPE_TUPLE)
        return join_tuples(l, a, b);
    return NULL;
}

bool lower_join(Lower *l, Operand a, Operand b, Operand *out)
{
    if (!a.type || !b.type) {
        *out = a.type ? a : b;
        return true;
    }
    const Type *narrow = narrow_join(l, a, b);
    const Type *type = narrow ? narrow : lower_join_types(l, weak_type(a, b), weak_type(b, a));
    if (!type)
        return false;
    bool same = a.constant && b.constant && type_equal(a.type, b.type) && constant_equal(a.constant, b.constant);
    if (type->kind == TYPE_OBJECT && !same)
        return false;
    *out = (Operand){.type = type, .constant = same ? a.constant : NULL, .weak = a.weak & b.weak};
    return true;
}

/* --- emission ----------------------------------------------------------------------------------------------------- */

const Type *erased_type(Arena *arena, const Type *type)
{
    if (type->kind == TYPE_OBJECT)
        return &type_none;
    if (type_is_time(type))
        return TYPE_OF(INT64);
    if (type->kind == TYPE_ARRAY && type_is_time(type->element))
        return type_array_aligned(arena, TYPE_OF(INT64), type->ndim, type->layout, type->read_only, type->alignment);
    if (type->kind != TYPE_TUPLE)
        return type;
    if (type_is_tagged(type, TUPLE_CELL))
        return &type_memory;
    bool has_address = type->object && !type_is_plain_tuple(type);
    bool changed = has_address || type_has_trait(type, TRAIT_ERASED);
    const Type **items = ARENA_ARRAY(arena, const Type *, type->count);
    for (uint32_t i = 0; i < type->count; i++) {
        items[i] = erased_type(arena, type->items[i]);
        changed |= items[i] != type->items[i];
    }
    return changed ? type_tuple(arena, items, type->count, TUPLE_PLAIN) : type;
}

IrValue *emit(Lower *l, IrOp op, const Type *type, uint32_t count, IrValue *const *operands)
{
    return l->emitting ? ir_append(l->block, op, erased_type(l->arena, type), &l->value->pos, count, operands) : NULL;
}

IrValue *emit1(Lower *l, IrOp op, const Type *type, IrValue *a) { return emit(l, op, type, 1, &a); }

IrValue *emit2(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b)
{
    return emit(l, op, type, 2, (IrValue *[]){a, b});
}

IrValue *emit3(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b, IrValue *c)
{
    return emit(l, op, type, 3, (IrValue *[]){a, b, c});
}

IrValue *emit_of2(Lower *l, IrOp op, const Type *type, Operand a, Operand b)
{
    IrValue *x = operand_ir(l, a), *y = operand_ir(l, b);
    return emit2(l, op, type, x, y);
}

IrValue *emit_of3(Lower *l, IrOp op, const Type *type, Operand a, Operand b, Operand c)
{
    IrValue *x = operand_ir(l, a), *y = operand_ir(l, b), *z = operand_ir(l, c);
    return emit3(l, op, type, x, y, z);
}

IrValue *emit_int(Lower *l, const Type *type, int64_t value)
{
    return l->emitting ? ir_const_int(l->block, erased_type(l->arena, type), value, &l->value->pos) : NULL;
}

IrValue *emit_intrinsic(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands)
{
    IrValue *value = emit(l, IR_INTRINSIC, type, count, operands);
    if (value)
        value->intrinsic = id;
    return value;
}

IrValue *emit_index_op(Lower *l, IrOp op, const Type *type, IrValue *a, uint32_t index)
{
    IrValue *value = emit1(l, op, type, a);
    if (value)
        value->index = index;
    return value;
}

IrValue *emit_extent(Lower *l, Operand array, uint32_t axis)
{
    return emit_index_op(l, IR_EXTENT, TYPE_OF(INT64), array.ir, axis);
}

IrBlock *emit_block(Lower *l) { return l->emitting ? ir_block(l->instance->ir) : NULL; }

void emit_jump(Lower *l, IrBlock *to)
{
    if (l->emitting)
        ir_jump(l->block, to, &l->value->pos);
}

void emit_branch(Lower *l, IrValue *condition, IrBlock *yes, IrBlock *no)
{
    if (l->emitting)
        ir_branch(l->block, condition, yes, no, &l->value->pos);
}

void emit_phi_edge(Lower *l, IrValue *phi, IrValue *value)
{
    if (!l->emitting)
        return;
    PhiEdge *edge = ARENA_NEW(l->arena, PhiEdge);
    *edge = (PhiEdge){.phi = phi, .from = l->block, .value = value, .next = l->phi_edges};
    l->phi_edges = edge;
}

Loop loop_begin(Lower *l, IrValue *count)
{
    Loop loop = {.header = emit_block(l)};
    loop.body = emit_block(l);
    loop.exit = emit_block(l);
    if (!l->emitting)
        return loop;
    const Type *i64 = TYPE_OF(INT64);
    loop.index = ir_phi(loop.header, i64, &l->value->pos, 2);
    loop.index->non_negative = true;
    emit_phi_edge(l, loop.index, emit_int(l, i64, 0));
    emit_jump(l, loop.header);
    l->block = loop.header;
    emit_branch(l, emit2(l, IR_LT, TYPE_OF(BOOL), loop.index, count), loop.body, loop.exit);
    l->block = loop.body;
    return loop;
}

void loop_end(Lower *l, Loop *loop)
{
    if (!l->emitting)
        return;
    const Type *i64 = TYPE_OF(INT64);
    emit_phi_edge(l, loop->index, emit2(l, IR_ADD, i64, loop->index, emit_int(l, i64, 1)));
    emit_jump(l, loop->header);
    l->block = loop->exit;
}
