/* The rule of every operation of op.def: operand count, operand types, result, immediate. */
#include "core/diagnostic/exception_record.h"
#include "core/ir/ir_verify.h"
#include "core/ir/print_format.h"
#include "core/observed.h"

#include <string.h>

/* Kinds of types, as bits. */
enum {
    BOOL = 1u << TYPE_BOOL,
    INT = 1u << TYPE_INT | 1u << TYPE_UINT,
    FLOAT = 1u << TYPE_FLOAT,
    COMPLEX = 1u << TYPE_COMPLEX,
    NUMBER = INT | FLOAT | COMPLEX,
    REAL = INT | FLOAT,
    SCALAR = NUMBER | BOOL,
    ANY = ~0u,
};

/* What the operands of SAME and BOOL operations may be. */
static const unsigned operand_kinds[IR_OP_COUNT] = {
    [IR_ADD] = NUMBER,      [IR_SUB] = NUMBER,      [IR_MUL] = NUMBER,     [IR_DIV] = FLOAT | COMPLEX,
    [IR_FLOORDIV] = REAL,   [IR_MOD] = REAL,        [IR_POW] = NUMBER,     [IR_SHL] = INT,
    [IR_SHR] = INT,         [IR_AND] = INT | BOOL,  [IR_OR] = INT | BOOL,  [IR_XOR] = INT | BOOL,
    [IR_MIN] = REAL | BOOL, [IR_MAX] = REAL | BOOL, [IR_NEG] = NUMBER,     [IR_NOT] = INT | BOOL,
    [IR_ABS] = REAL,        [IR_EQ] = SCALAR,       [IR_NE] = SCALAR,      [IR_LT] = REAL | BOOL,
    [IR_LE] = REAL | BOOL,  [IR_GT] = REAL | BOOL,  [IR_GE] = REAL | BOOL, [IR_POPCOUNT] = INT,
    [IR_LEADZEROS] = INT,   [IR_TRAILZEROS] = INT,  [IR_BITREVERSE] = INT, [IR_FMA] = FLOAT,
    [IR_WRAP] = INT,
};

static bool is_kind(const Type *type, unsigned kinds) { return (1u << type->kind & kinds) != 0; }

static bool expect_kind(Diag *diag, const IrValue *value, uint32_t i, unsigned kinds, const char *rule)
{
    return is_kind(value->operands[i]->type, kinds) || fail_operand(diag, value, i, rule);
}

/* --- by rule of the result ------------------------------------------------------------------------------------------ */

static bool verify_same_operands(const IrValue *value, Diag *diag)
{
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (!expect_kind(diag, value, i, operand_kinds[value->op], "what this operation takes"))
            return false;
        if (!expect_operand(diag, value, i, value->operands[0]->type))
            return false;
    }
    return value->op != IR_WRAP || value->type->size >= 4 || fail_operand(diag, value, 0, "i32 or i64");
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

static bool fits(const Type *type, int64_t integer)
{
    if (type->kind == TYPE_BOOL)
        return integer == 0 || integer == 1;
    if (!type_is_integer(type) || type->size == 8)
        return true;
    int64_t span = (int64_t)1 << (type->size * 8 - (type->kind == TYPE_INT));
    return integer < span && integer >= (type->kind == TYPE_INT ? -span : 0);
}

static bool verify_const(const IrValue *value, Diag *diag)
{
    if (value->type->kind != TYPE_NONE && !type_is_scalar(value->type))
        return fail_type(diag, value, "the constant", value->type, "a scalar or none");
    if (is_kind(value->type, BOOL | INT) && !fits(value->type, value->integer))
        return verify_fail(diag, value, "%lld does not fit the type", (long long)value->integer);
    return true;
}

static bool verify_data(const IrValue *value, Diag *diag)
{
    const ConstantArray *array = value->array;
    if (!array)
        return verify_fail(diag, value, "no array");
    if (value->type->kind != TYPE_ARRAY || value->type->ndim != array->ndim || value->type->layout != array->layout ||
        !type_equal(value->type->element, array->element))
        return fail_type(diag, value, "the result", value->type, "the array's type");
    if (!array->data && !array->device_pointer && array->size)
        return verify_fail(diag, value, "an array without data");
    return value->type->read_only || value->array->device_pointer ||
           fail_type(diag, value, "the result", value->type, "read-only");
}

static bool verify_phi(const IrValue *value, Diag *diag) { return expect_all(diag, value, value->type); }

static bool verify_select(const IrValue *value, Diag *diag)
{
    return expect_kind(diag, value, 0, BOOL, "bool") && expect_operand(diag, value, 1, value->type) &&
           expect_operand(diag, value, 2, value->type);
}

static bool verify_convert(const IrValue *value, Diag *diag)
{
    if (!expect_kind(diag, value, 0, SCALAR, "a scalar"))
        return false;
    if (!is_kind(value->type, SCALAR))
        return fail_type(diag, value, "the result", value->type, "a scalar");
    if (value->op == IR_BITCAST && value->type->size != value->operands[0]->type->size)
        return fail_type(diag, value, "the result", value->type, "of the operand's size");
    return true;
}

static bool verify_tuple(const IrValue *value, Diag *diag)
{
    if (value->type->kind != TYPE_TUPLE)
        return fail_type(diag, value, "the result", value->type, "a tuple");
    if (!expect_count(diag, value, value->type->count))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!expect_operand(diag, value, i, value->type->items[i]))
            return false;
    return true;
}

static bool verify_get(const IrValue *value, Diag *diag)
{
    const Type *tuple = value->operands[0]->type;
    if (tuple->kind != TYPE_TUPLE)
        return fail_operand(diag, value, 0, "a tuple");
    if (value->index >= tuple->count)
        return verify_fail(diag, value, "item %u of %u", value->index, tuple->count);
    return expect_result(diag, value, tuple->items[value->index]);
}

static bool verify_pick(const IrValue *value, Diag *diag)
{
    const Type *tuple = value->operands[0]->type;
    if (!type_is_homogeneous(tuple))
        return fail_operand(diag, value, 0, "a tuple of items of one type");
    return expect_int64(diag, value, 1, 2) && expect_result(diag, value, tuple->items[0]);
}

static const Type *complex_part(const Type *type)
{
    return type->scalar == SCALAR_COMPLEX64 ? TYPE_OF(FLOAT32) : TYPE_OF(FLOAT64);
}

static bool verify_part(const IrValue *value, Diag *diag)
{
    return expect_kind(diag, value, 0, COMPLEX, "complex") &&
           expect_result(diag, value, complex_part(value->operands[0]->type));
}

static bool verify_complex(const IrValue *value, Diag *diag)
{
    if (!is_kind(value->type, COMPLEX))
        return fail_type(diag, value, "the result", value->type, "complex");
    const Type *part = complex_part(value->type);
    return expect_operand(diag, value, 0, part) && expect_operand(diag, value, 1, part);
}

static bool verify_powi(const IrValue *value, Diag *diag)
{
    return expect_kind(diag, value, 0, NUMBER, "a number") && expect_kind(diag, value, 1, INT, "an integer") &&
           expect_result(diag, value, value->operands[0]->type);
}

/* --- arrays ------------------------------------------------------------------------------------------------------------ */

/* Operand 0 is an array, and as many indices follow; *next is the operand behind them. */
static bool verify_element(const IrValue *value, uint32_t *next, Diag *diag)
{
    if (!value->operand_count)
        return verify_fail(diag, value, "no array");
    const Type *array = value->operands[0]->type;
    if (array->kind != TYPE_ARRAY)
        return fail_operand(diag, value, 0, "an array");
    *next = 1u + array->ndim;
    if (value->operand_count < *next)
        return verify_fail(diag, value, "%u operands, too few for %u axes", value->operand_count,
                           (unsigned)array->ndim);
    return expect_int64(diag, value, 1, *next);
}

static bool verify_writable(const IrValue *value, Diag *diag)
{
    return !value->operands[0]->type->read_only || fail_operand(diag, value, 0, "writable");
}

/* Records stay in memory: their fields are loaded and stored. */
static bool verify_scalars(const IrValue *value, Diag *diag)
{
    const Type *element = value->operands[0]->type->element;
    return type_is_scalar(element) || type_is_vector(element) ||
           fail_operand(diag, value, 0, "an array of scalars or vectors");
}

static bool verify_axis(const IrValue *value, Diag *diag)
{
    const Type *array = value->operands[0]->type;
    if (array->kind != TYPE_ARRAY)
        return fail_operand(diag, value, 0, "an array");
    if (value->index >= array->ndim)
        return verify_fail(diag, value, "axis %u of %u", value->index, (unsigned)array->ndim);
    return expect_result(diag, value, TYPE_OF(INT64));
}

static bool verify_address(const IrValue *value, Diag *diag)
{
    if (value->operands[0]->type->kind != TYPE_ARRAY)
        return fail_operand(diag, value, 0, "an array");
    return expect_result(diag, value, TYPE_OF(INT64));
}

/* Only scalars are read and written in a way of their own. */
static bool verify_access_hint(const IrValue *value, Diag *diag)
{
    const Type *array = value->operand_count ? value->operands[0]->type : NULL;
    return !value->hint || (array && array->kind == TYPE_ARRAY && type_is_scalar(array->element)) ||
           fail_operand(diag, value, 0, "an array of scalars");
}

static bool verify_load(const IrValue *value, Diag *diag)
{
    uint32_t next;
    return verify_access_hint(value, diag) && verify_element(value, &next, diag) && expect_count(diag, value, next) &&
           verify_scalars(value, diag) && expect_result(diag, value, value->operands[0]->type->element);
}

static bool verify_store(const IrValue *value, Diag *diag)
{
    uint32_t next;
    return verify_access_hint(value, diag) && verify_element(value, &next, diag) &&
           expect_count(diag, value, next + 1) && verify_writable(value, diag) && verify_scalars(value, diag) &&
           expect_operand(diag, value, next, value->operands[0]->type->element);
}

static bool verify_atomic(const IrValue *value, Diag *diag)
{
    uint32_t next;
    if ((unsigned)value->atomic >= IR_ATOMIC_COUNT)
        return verify_fail(diag, value, "unknown atomic %u", (unsigned)value->atomic);
    if (value->scope >= IR_SCOPE_COUNT || value->order >= IR_ORDER_COUNT)
        return verify_fail(diag, value, "unknown scope %u or order %u", value->scope, value->order);
    if (!verify_element(value, &next, diag) || !verify_writable(value, diag) ||
        !expect_count(diag, value, next + (value->atomic == IR_ATOMIC_CAS ? 2 : 1)))
        return false;
    const Type *element = value->operands[0]->type->element;
    static const unsigned only_integers =
        1u << IR_ATOMIC_AND | 1u << IR_ATOMIC_OR | 1u << IR_ATOMIC_XOR | 1u << IR_ATOMIC_INC | 1u << IR_ATOMIC_DEC;
    bool moves = value->atomic == IR_ATOMIC_EXCH || value->atomic == IR_ATOMIC_CAS;
    if (!is_kind(element, 1u << value->atomic & only_integers ? INT : moves ? REAL | BOOL : REAL))
        return fail_operand(diag, value, 0, "an array of what this atomic takes");
    for (uint32_t i = next; i < value->operand_count; i++)
        if (!expect_operand(diag, value, i, element))
            return false;
    return expect_result(diag, value, element);
}

static bool verify_broadcast(const IrValue *value, Diag *diag)
{
    if (!value->operand_count || value->operands[0]->type->kind != TYPE_ARRAY)
        return verify_fail(diag, value, "no array");
    if (value->operand_count - 1 > (uint32_t)value->operands[0]->type->ndim)
        return verify_fail(diag, value, "an array of fewer axes than there are extents");
    for (uint32_t i = 1; i < value->operand_count; i++)
        if (!expect_operand(diag, value, i, TYPE_OF(INT64)))
            return false;
    return true;
}

static bool verify_watch(const IrValue *value, Diag *diag)
{
    uint32_t next = 0;
    if (value->hint == WATCH_FENCE || value->hint == WATCH_BEGIN)
        return expect_count(diag, value, 0);
    if (!ir_watches_access(value))
        return expect_count(diag, value, 1) &&
               (value->operands[0]->type->kind == TYPE_ARRAY || fail_operand(diag, value, 0, "an array"));
    if (!verify_element(value, &next, diag))
        return false;
    return value->operand_count == next || (expect_count(diag, value, next + 1) &&
                                            expect_operand(diag, value, next, value->operands[0]->type->element));
}

static bool verify_subarray(const IrValue *value, Diag *diag)
{
    uint32_t next;
    if (value->type->kind != TYPE_ARRAY)
        return fail_type(diag, value, "the result", value->type, "an array");
    if (!verify_element(value, &next, diag) || !expect_count(diag, value, next + 2u * value->type->ndim) ||
        !expect_int64(diag, value, next, value->operand_count))
        return false;
    if (value->operands[0]->type->read_only && !value->type->read_only)
        return fail_type(diag, value, "the result", value->type, "read-only, as its source is");
    return true;
}

static bool verify_storage(const IrValue *value, Diag *diag)
{
    const IrStorage *storage = value->storage;
    const Type *type = value->type;
    if (type->kind != TYPE_ARRAY || type->layout != LAYOUT_C || type->read_only || !type->ndim)
        return fail_type(diag, value, "the result", type, "a writable array in C layout");
    if (!storage)
        return verify_fail(diag, value, "no storage");
    if (storage->alignment & (storage->alignment - 1))
        return verify_fail(diag, value, "alignment %u is not a power of two", storage->alignment);
    if (storage->dynamic && (value->op == IR_LOCAL || type->ndim != 1))
        return verify_fail(diag, value, "only a shared array of one axis can be dynamic");
    for (int axis = 0; axis < type->ndim && !storage->dynamic; axis++)
        if (storage->shape[axis] < 0)
            return verify_fail(diag, value, "extent %lld", (long long)storage->shape[axis]);
    return true;
}

static bool verify_cell(const IrValue *value, Diag *diag)
{
    if (value->op == IR_CELL)
        return expect_result(diag, value, &type_memory);
    return expect_operand(diag, value, 0, &type_memory);
}

/* --- control ------------------------------------------------------------------------------------------------------------ */

static bool verify_call(const IrValue *value, Diag *diag)
{
    const IrFunc *callee = value->callee;
    if (!callee || callee->module != value->block->function->module)
        return verify_fail(diag, value, "the callee is not a function of this module");
    if (callee->is_kernel)
        return verify_fail(diag, value, "the callee %s is a kernel", callee->name);
    if (!expect_count(diag, value, callee->parameter_count))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++)
        if (!expect_operand(diag, value, i, callee->parameter_types[i]))
            return false;
    return expect_result(diag, value, callee->result);
}

static bool verify_foreign(const IrValue *value, Diag *diag)
{
    const ForeignFunction *foreign = value->foreign;
    if (!foreign || !foreign->result || foreign->abi >= FOREIGN_ABI_COUNT || !foreign->symbol || !*foreign->symbol)
        return verify_fail(diag, value, "no function is declared");
    bool has_record = foreign->result->kind == TYPE_RECORD;
    if (!expect_count(diag, value, foreign->parameter_count + has_record))
        return false;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        const Type *type = value->operands[i]->type;
        bool wants_array = i == foreign->parameter_count || foreign->by_pointer[i];
        bool is_value = type_is_scalar(type) || type->kind == TYPE_TUPLE;
        if (wants_array ? type->kind != TYPE_ARRAY : !is_value && type->kind != TYPE_ARRAY)
            return fail_operand(diag, value, i, wants_array ? "an array" : "a number, a tuple or an array");
    }
    return value->type->kind == TYPE_NONE || type_is_scalar(value->type) || value->type->kind == TYPE_TUPLE ||
           fail_type(diag, value, "the result", value->type, "a number or a tuple");
}

static bool verify_return(const IrValue *value, Diag *diag)
{
    const Type *result = value->block->function->result;
    if (result->kind == TYPE_NONE)
        return expect_count(diag, value, 0);
    return expect_count(diag, value, 1) && expect_operand(diag, value, 0, result);
}

/* The table of exceptions is no part of the text: only what it says of slots is checked. */
static bool verify_raise(const IrValue *value, Diag *diag)
{
    uint32_t slots = 0;
    for (uint32_t i = 0; i < value->operand_count; i++) {
        if (!expect_kind(diag, value, i, SCALAR, "a scalar"))
            return false;
        slots += ir_exception_slots(value->operands[i]->type);
    }
    if (slots > EXCEPTION_SLOTS)
        return verify_fail(diag, value, "%u slots, %d are the most", slots, EXCEPTION_SLOTS);
    return true;
}

/* Each directive has an operand of its type. */
static bool verify_print(const IrValue *value, Diag *diag)
{
    if (!value->text || print_directive_count(value->text) != value->operand_count)
        return verify_fail(diag, value, "the format does not fit %u operands", value->operand_count);
    const char *at = value->text, *end = NULL;
    for (uint32_t i = 0; i < value->operand_count && print_directive(at, &end); i++, at = end) {
        const Type *type = value->operands[i]->type;
        bool fits = strchr("dc", end[-1])     ? type_equal(type, TYPE_OF(INT64))
                    : strchr("uxXo", end[-1]) ? type_equal(type, TYPE_OF(UINT64))
                    : end[-1] == 's'          ? type->kind == TYPE_BOOL
                                              : strchr("eEfFgG", end[-1]) && type_equal(type, TYPE_OF(FLOAT64));
        if (!fits)
            return fail_operand(diag, value, i, "what its directive takes");
    }
    return true;
}

/* --- thread loops --------------------------------------------------------------------------------------------------------- */

static bool expect_slot(Diag *diag, const IrValue *value, uint32_t i, const Type *type)
{
    if (value->operands[i]->op != IR_SLOT)
        return fail_operand(diag, value, i, "a slot");
    return expect_operand(diag, value, i, type);
}

static bool verify_slot_load(const IrValue *value, Diag *diag)
{
    if (value->operands[0]->op == IR_LOCAL) {
        const Type *whole = value->operands[0]->type, *type = value->type;
        bool is_spread = type->kind == TYPE_ARRAY && type->layout == LAYOUT_ANY && type->ndim == whole->ndim &&
                         type_equal(type->element, whole->element);
        return is_spread || expect_result(diag, value, whole);
    }
    return expect_slot(diag, value, 0, value->type);
}

static bool verify_thread_loop(const IrValue *value, Diag *diag)
{
    if (value->block->first != value)
        return verify_fail(diag, value, "a loop over threads is the only operation of its block");
    if (value->hint & IR_THREADS_UP && value->hint & IR_THREADS_DOWN)
        return verify_fail(diag, value, "threads run upwards or downwards");
    if (value->operand_count == 0)
        return !(value->hint & IR_THREADS_BEGIN) || verify_fail(diag, value, "nobody asks who takes part");
    if (!expect_count(diag, value, 2) || !expect_slot(diag, value, 0, TYPE_OF(BOOL)))
        return false;
    const IrValue *cell = value->operands[1];
    bool counts = cell->op == IR_CELL && type_equal(cell->operands[0]->type, TYPE_OF(INT32));
    return counts || fail_operand(diag, value, 1, "the cell of an i32");
}

/* A slot of any numbers that have as many bits as the word. */
static bool expect_slot_of_bits(Diag *diag, const IrValue *value, uint32_t i, const Type *word)
{
    const Type *type = value->operands[i]->type;
    bool is_number = type_is_integer(type) || type->kind == TYPE_FLOAT;
    return expect_slot(diag, value, i, is_number && type->size == word->size ? type : word);
}

/* The slots in the order of their row; the one of those that take part may be missing. All may ask for the same. */
static bool verify_exchange(const IrValue *value, Diag *diag)
{
    IntrinsicId id = value->intrinsic;
    bool is_vote = intrinsic_info[id].family == FAMILY_BLOCK_VOTE;
    bool is_shuffle = intrinsic_info[id].family == FAMILY_SHUFFLE;
    if (!is_vote && !intrinsic_is_exchange(id))
        return verify_fail(diag, value, "%s is no exchange between threads", intrinsic_info[id].id);
    bool may_be_short = is_shuffle || intrinsic_info[id].family == FAMILY_VOTE;
    bool is_short = may_be_short && value->operand_count && value->operands[0]->type->size == 4;
    const Type *word = is_short ? TYPE_OF(UINT32) : TYPE_OF(UINT64), *types[4] = {word};
    uint32_t count = 1, least = 1u + is_shuffle + !is_vote;
    if (is_shuffle)
        types[count++] = TYPE_OF(UINT32);
    if (value->operand_count > least)
        types[count++] = TYPE_OF(BOOL);
    if (!is_vote)
        types[count++] = word;
    if (!expect_count(diag, value, count))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!i && !is_vote         ? !expect_slot_of_bits(diag, value, i, types[i])
            : is_shuffle && i == 1 ? !expect_operand(diag, value, i, types[i])
                                   : !expect_slot(diag, value, i, types[i]))
            return false;
    if (!is_vote)
        return expect_result(diag, value, &type_none);
    return is_kind(value->type, INT | BOOL) || fail_type(diag, value, "the result", value->type, "an integer");
}

static bool verify_additions(const IrValue *value, Diag *diag)
{
    if (!value->operand_count || value->operand_count % 2)
        return verify_fail(diag, value, "additions are pairs of slots");
    const Type *type = value->operands[1]->type;
    if (!type_equal(type, TYPE_OF(FLOAT32)) && !type_equal(type, TYPE_OF(FLOAT64)))
        return fail_operand(diag, value, 1, "a slot of f32 or f64");
    for (uint32_t i = 0; i < value->operand_count; i += 2)
        if (!expect_slot(diag, value, i, TYPE_OF(INT64)) || !expect_slot(diag, value, i + 1, type))
            return false;
    return true;
}

static bool verify_observe(const IrValue *value, Diag *diag)
{
    uint32_t next = value->hint == OBSERVED_BRANCH, is_access = observed_is_access((ObservedEvent)value->hint);
    if (is_access && !verify_element(value, &next, diag))
        return false;
    if (!expect_count(diag, value, next + is_access + 1) || !expect_int64(diag, value, next, value->operand_count))
        return false;
    return value->hint != OBSERVED_BRANCH || expect_kind(diag, value, 0, BOOL, "bool");
}

static bool verify_given(const IrValue *value, Diag *diag)
{
    switch (value->op) {
    case IR_PARAM:
    case IR_UNDEFINED:
    case IR_JUMP:
    case IR_TRAP: return true;
    case IR_CONST: return verify_const(value, diag);
    case IR_DATA: return verify_data(value, diag);
    case IR_PHI: return verify_phi(value, diag);
    case IR_SELECT: return verify_select(value, diag);
    case IR_CONVERT:
    case IR_BITCAST: return verify_convert(value, diag);
    case IR_TUPLE: return verify_tuple(value, diag);
    case IR_GET: return verify_get(value, diag);
    case IR_PICK: return verify_pick(value, diag);
    case IR_REAL:
    case IR_IMAG: return verify_part(value, diag);
    case IR_COMPLEX: return verify_complex(value, diag);
    case IR_POWI: return verify_powi(value, diag);
    case IR_INTRINSIC: return verify_intrinsic(value, diag);
    case IR_EXTENT:
    case IR_STRIDE: return verify_axis(value, diag);
    case IR_ADDRESS: return verify_address(value, diag);
    case IR_LOAD: return verify_load(value, diag);
    case IR_STORE: return verify_store(value, diag);
    case IR_ATOMIC: return verify_atomic(value, diag);
    case IR_BROADCAST: return verify_broadcast(value, diag);
    case IR_WATCH: return verify_watch(value, diag);
    case IR_SUBARRAY: return verify_subarray(value, diag);
    case IR_SHARED:
    case IR_LOCAL: return verify_storage(value, diag);
    case IR_CELL:
    case IR_CELL_LOAD:
    case IR_CELL_STORE: return verify_cell(value, diag);
    case IR_CALL: return verify_call(value, diag);
    case IR_FOREIGN: return verify_foreign(value, diag);
    case IR_NEXT_TRIP:
    case IR_SLOT: return true;
    case IR_TRIP: return expect_result(diag, value, TYPE_OF(INT64));
    case IR_WARP_START: return expect_result(diag, value, TYPE_OF(INT32));
    case IR_SLOT_LOAD: return verify_slot_load(value, diag);
    case IR_SLOT_STORE: return expect_slot(diag, value, 0, value->operands[1]->type);
    case IR_EXCHANGE: return verify_exchange(value, diag);
    case IR_ADDITIONS: return verify_additions(value, diag);
    case IR_THREAD_LOOP: return verify_thread_loop(value, diag);
    case IR_BRANCH: return expect_kind(diag, value, 0, BOOL, "bool");
    case IR_RETURN: return verify_return(value, diag);
    case IR_NOTE: return expect_kind(diag, value, 0, BOOL, "bool") && verify_raise(value, diag);
    case IR_RAISE: return verify_raise(value, diag);
    case IR_PRINT: return verify_print(value, diag);
    case IR_OBSERVE: return verify_observe(value, diag);
    case IR_LINE: return expect_operand(diag, value, 0, TYPE_OF(INT64));
    default: return verify_fail(diag, value, "the verifier has no rule for this operation");
    }
}

static bool verify_hint(const IrValue *value, Diag *diag)
{
    uint8_t count;
    const char *const *words = ir_hint_words(value->op, &count);
    bool has_bits = value->op == IR_THREAD_LOOP || value->op == IR_SUBARRAY;
    if (value->hint && !has_bits && (!words || value->hint >= count))
        return verify_fail(diag, value, "unknown hint %u", value->hint);
    bool is_of_numbers = value->op == IR_ADD || value->op == IR_MUL;
    return !value->hint || !is_of_numbers || type_is_integer(value->type) ||
           fail_type(diag, value, "what is exact", value->type, "an integer");
}

bool verify_operation(const IrValue *value, Diag *diag)
{
    const IrOpInfo *info = &ir_op_info[value->op];
    if (!verify_hint(value, diag))
        return false;
    if (info->operands >= 0 && !expect_count(diag, value, (uint32_t)info->operands))
        return false;
    if (info->result == IR_RESULT_NOTHING && value->type->kind != TYPE_NONE)
        return fail_type(diag, value, "the result", value->type, "none");
    switch (info->result) {
    case IR_RESULT_SAME:
        return verify_same_operands(value, diag) && expect_result(diag, value, value->operands[0]->type);
    case IR_RESULT_BOOL: return verify_same_operands(value, diag) && expect_result(diag, value, TYPE_OF(BOOL));
    default: return verify_given(value, diag);
    }
}
