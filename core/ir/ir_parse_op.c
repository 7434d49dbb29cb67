/* One line of IR text: an operation with its operands and what it carries beside them. */
#include <stdlib.h>
#include <string.h>

#include "core/ir/ir_parse.h"

/* --- operands -------------------------------------------------------------------------------------------------------- */

static bool add_operand(Parser *p, ParsedOperand operand)
{
    if (p->operand_count == IR_PARSE_MOST_OPERANDS)
        return parse_fail(p, "too many operands");
    p->operands = arena_grow(p->arena, p->operands, p->operand_count, &p->operand_capacity, sizeof operand);
    p->operands[p->operand_count++] = operand;
    return true;
}

static IrValue *parameter_by_name(const IrFunc *function, const char *name)
{
    for (uint32_t i = 0; i < function->parameter_count; i++)
        if (!strcmp(function->parameter_names[i], name))
            return function->parameters[i];
    return NULL;
}

/* `%3`, a parameter's name, or `?` for a missing one. */
static bool read_operand_into(Parser *p, ParsedOperand *operand)
{
    if (text_accept(&p->at, "?"))
        return true;
    if (text_accept(&p->at, "%")) {
        operand->is_numbered = true;
        return parse_number(p, &operand->number);
    }
    const char *name = text_read_name(&p->at, p->arena);
    if (!name)
        return parse_fail(p, "expected an operand before '%.20s'", p->at);
    operand->value = parameter_by_name(p->function, name);
    return operand->value || parse_fail(p, "no parameter is called '%.60s'", name);
}

static bool read_operand(Parser *p)
{
    ParsedOperand operand = {0};
    return read_operand_into(p, &operand) && add_operand(p, operand);
}

/* Operands apart by commas; none where the line, a comment or a bracket begins. */
static bool read_operands(Parser *p)
{
    text_skip_space(&p->at);
    if (!*p->at || strchr("\n;])", *p->at))
        return true;
    do {
        if (!read_operand(p))
            return false;
    } while (text_accept(&p->at, ","));
    return true;
}

static bool read_bracketed(Parser *p, const char *open, const char *close)
{
    return parse_expect(p, open) && read_operands(p) && parse_expect(p, close);
}

/* `x[%0, %1]` */
static bool read_element(Parser *p) { return read_operand(p) && read_bracketed(p, "[", "]"); }

static bool read_more_operands(Parser *p)
{
    while (text_accept(&p->at, ","))
        if (!read_operand(p))
            return false;
    return true;
}

/* `block 0: %1`, where predecessors were known, else `%1`. */
static bool read_phi_operand(Parser *p)
{
    ParsedOperand operand = {0};
    const char *at = p->at;
    uint64_t label;
    if (text_accept_word(&at, "block") && text_read_count(&at, IR_PARSE_LARGEST_NUMBER, &label) &&
        text_accept(&at, ":")) {
        operand.is_labelled = true;
        operand.label = (uint32_t)label;
        p->at = at;
    }
    return read_operand_into(p, &operand) && add_operand(p, operand);
}

static bool read_phi(Parser *p)
{
    text_skip_space(&p->at);
    if (!*p->at || strchr("\n;", *p->at))
        return true;
    do {
        if (!read_phi_operand(p))
            return false;
    } while (text_accept(&p->at, ","));
    return true;
}

/* --- immediates ------------------------------------------------------------------------------------------------------- */

static bool read_real(Parser *p, double *value)
{
    return text_read_real(&p->at, value) || parse_fail(p, "expected a number before '%.20s'", p->at);
}

static bool read_constant(Parser *p, const Type *type, IrValue *out)
{
    switch (type->kind) {
    case TYPE_BOOL:
        out->integer = text_accept_word(&p->at, "true");
        return out->integer || text_accept_word(&p->at, "false") || parse_fail(p, "expected true or false");
    case TYPE_INT:
    case TYPE_UINT:
        return text_read_integer(&p->at, &out->integer) || parse_fail(p, "expected an integer before '%.20s'", p->at);
    case TYPE_FLOAT: return read_real(p, &out->real);
    case TYPE_COMPLEX:
        return parse_expect(p, "(") && read_real(p, &out->real) && parse_expect(p, ",") &&
               read_real(p, &out->imaginary) && parse_expect(p, ")");
    default: return text_accept_word(&p->at, "none") || parse_fail(p, "expected none");
    }
}

/* `(2, 3)`, exactly `count` numbers. */
static bool read_numbers(Parser *p, int64_t *numbers, int count)
{
    if (!parse_expect(p, "("))
        return false;
    for (int i = 0; i < count; i++) {
        if (i && !parse_expect(p, ","))
            return false;
        if (!text_read_integer(&p->at, &numbers[i]))
            return parse_fail(p, "expected an integer before '%.20s'", p->at);
    }
    return parse_expect(p, ")");
}

static int hex_value(char c) { return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1; }

static bool read_bytes(Parser *p, ConstantArray *array)
{
    text_skip_space(&p->at);
    size_t digits = strspn(p->at, "0123456789abcdef");
    if (digits % 2)
        return parse_fail(p, "half a byte");
    uint8_t *bytes = arena_alloc(p->arena, digits / 2);
    for (size_t i = 0; i < digits / 2; i++)
        bytes[i] = (uint8_t)(hex_value(p->at[2 * i]) << 4 | hex_value(p->at[2 * i + 1]));
    array->data = bytes;
    array->size = digits / 2;
    p->at += digits;
    return true;
}

/* `f32[2 C] (2, 3) strides (12, 4) bytes 0000803f...` */
static bool read_data(Parser *p, IrValue *out)
{
    const Type *type = parse_type(p);
    if (!type)
        return false;
    if (type->kind != TYPE_ARRAY)
        return parse_fail(p, "data of a type that is no array");
    ConstantArray *array = ARENA_NEW(p->arena, ConstantArray);
    array->element = type->element;
    array->ndim = type->ndim;
    array->layout = type->layout;
    out->array = array;
    if (!read_numbers(p, array->shape, array->ndim))
        return false;
    if (!text_accept_word(&p->at, "strides") || !read_numbers(p, array->strides, array->ndim))
        return parse_fail(p, "expected strides");
    if (text_accept_word(&p->at, "bytes"))
        return read_bytes(p, array);
    return (text_accept_word(&p->at, "device") && text_read_hex(&p->at, &array->device_pointer)) ||
           parse_fail(p, "expected bytes or a device pointer");
}

static bool read_storage(Parser *p, const Type *type, IrValue *out)
{
    IrStorage *storage = ARENA_NEW(p->arena, IrStorage);
    out->storage = storage;
    if (!read_numbers(p, storage->shape, type->kind == TYPE_ARRAY ? type->ndim : 0))
        return false;
    if (text_accept_word(&p->at, "align") && !parse_number(p, &storage->alignment))
        return false;
    storage->dynamic = text_accept_word(&p->at, "dynamic");
    return true;
}

uint8_t parse_choice(Parser *p, const char *const *names, int count)
{
    const char *start = p->at;
    for (int i = 1; text_accept(&p->at, "!") && i < count; i++) {
        if (text_accept_word(&p->at, names[i]))
            return (uint8_t)i;
        p->at = start;
    }
    p->at = start;
    return 0;
}

static bool read_atomic(Parser *p, IrValue *out)
{
    for (int i = 0; i < IR_ATOMIC_COUNT; i++)
        if (text_accept_word(&p->at, ir_atomic_names[i])) {
            out->atomic = (IrAtomic)i;
            out->scope = parse_choice(p, ir_scope_names, IR_SCOPE_COUNT);
            out->order = parse_choice(p, ir_order_names, IR_ORDER_COUNT);
            return read_element(p) && read_more_operands(p);
        }
    return parse_fail(p, "expected the name of an atomic before '%.20s'", p->at);
}

static bool read_subarray(Parser *p, IrValue *out)
{
    for (int i = 0; i < TYPE_MAX_NDIM; i++) {
        const char *const names[] = {"", ir_index_mark_names[i]};
        out->hint |= (uint8_t)(parse_choice(p, names, 2) << i);
    }
    if (!read_element(p) || !parse_expect(p, ",") || !parse_expect(p, "extents") || !read_bracketed(p, "[", "]"))
        return false;
    if (!parse_expect(p, ",") || !parse_expect(p, "strides") || !read_bracketed(p, "[", "]"))
        return false;
    if (!parse_expect(p, ",") || !parse_expect(p, "offset"))
        return false;
    return text_read_integer(&p->at, &out->integer) || parse_fail(p, "expected a byte offset");
}

static bool read_call(Parser *p, IrValue *out)
{
    const char *name = text_read_name(&p->at, p->arena);
    if (!name)
        return parse_fail(p, "expected a function's name before '%.20s'", p->at);
    out->callee = table_get(p->functions, name, strlen(name));
    if (!out->callee)
        return parse_fail(p, "no function is called '%.100s'", name);
    return read_bracketed(p, "(", ")");
}

/* `*x, %1`: whether each operand is passed as a pointer. */
static bool read_foreign_operands(Parser *p, bool **by_pointer)
{
    bool marks[IR_FOREIGN_MOST_OPERANDS] = {false};
    uint32_t count = 0;
    if (!text_accept(&p->at, ")")) {
        do {
            if (count == IR_FOREIGN_MOST_OPERANDS)
                return parse_fail(p, "too many operands");
            marks[count++] = text_accept(&p->at, "*");
            if (!read_operand(p))
                return false;
        } while (text_accept(&p->at, ","));
        if (!parse_expect(p, ")"))
            return false;
    }
    *by_pointer = ARENA_ARRAY(p->arena, bool, count + 1);
    memcpy(*by_pointer, marks, count * sizeof *marks);
    return true;
}

/* What the text says of the function: not where it comes from, nor its declared types. */
static bool read_foreign(Parser *p, const Type *type, IrValue *out)
{
    ForeignFunction *foreign = ARENA_NEW(p->arena, ForeignFunction);
    bool *by_pointer = NULL;
    while (foreign->abi < FOREIGN_ABI_COUNT && !text_accept_word(&p->at, foreign_abi_names[foreign->abi]))
        foreign->abi++;
    if (foreign->abi == FOREIGN_ABI_COUNT)
        return parse_fail(p, "expected a calling convention before '%.20s'", p->at);
    static const char *const cooperation[] = {"", "cooperative"}, *const results[] = {"", "into"};
    foreign->is_cooperative = parse_choice(p, cooperation, 2);
    bool has_record = parse_choice(p, results, 2);
    const Type *record = has_record ? type_parse(p->arena, &p->at) : NULL;
    if (has_record && (!record || record->kind != TYPE_RECORD))
        return parse_fail(p, "expected a record's type before '%.20s'", p->at);
    foreign->symbol = text_read_name(&p->at, p->arena);
    if (!foreign->symbol || !parse_expect(p, "(") || !read_foreign_operands(p, &by_pointer))
        return diag_failed(p->diag) ? false : parse_fail(p, "expected a function's name before '%.20s'", p->at);
    if (has_record && !p->operand_count)
        return parse_fail(p, "expected memory for the record before '%.20s'", p->at);
    foreign->result = has_record ? record : type;
    foreign->by_pointer = by_pointer;
    foreign->parameter_count = p->operand_count - has_record;
    out->foreign = foreign;
    return true;
}

static bool read_target(Parser *p, IrBlock **target)
{
    uint32_t number;
    if (!text_accept_word(&p->at, "block"))
        return parse_fail(p, "expected a block before '%.20s'", p->at);
    if (!parse_number(p, &number))
        return false;
    *target = parse_block(p, number);
    return true;
}

static bool read_branch(Parser *p, IrValue *out)
{
    return read_operand(p) && parse_expect(p, ",") && read_target(p, &out->targets[0]) && parse_expect(p, ",") &&
           read_target(p, &out->targets[1]);
}

static bool read_thread_loop(Parser *p, IrValue *out)
{
    for (int i = 0; i < IR_THREADS_MARK_COUNT; i++) {
        const char *const names[] = {"", ir_threads_mark_names[i]};
        out->hint |= (uint8_t)(parse_choice(p, names, 2) << i);
    }
    return read_target(p, &out->targets[0]) && parse_expect(p, ",") && read_target(p, &out->targets[1]) &&
           read_more_operands(p);
}

static const char no_path[] = "intrinsic.";

static IntrinsicId intrinsic_by_id(const char *id)
{
    for (int i = INTRINSIC_NONE; i < INTRINSIC_COUNT; i++)
        if (!strcmp(intrinsic_info[i].id, id))
            return (IntrinsicId)i;
    return INTRINSIC_NONE;
}

/* INTRINSIC_NONE with a diagnostic where there is none of this path or id. */
static IntrinsicId intrinsic_of_word(Parser *p, const char *word)
{
    IntrinsicId id =
        strncmp(word, no_path, strlen(no_path)) ? intrinsic_by_path(word) : intrinsic_by_id(word + strlen(no_path));
    if (id == INTRINSIC_NONE && strcmp(word, "intrinsic.NONE"))
        parse_fail(p, "no intrinsic is called '%.60s'", word);
    return id;
}

static bool read_exchange(Parser *p, IrValue *out)
{
    const char *word = text_read_name(&p->at, p->arena);
    if (!word)
        return parse_fail(p, "expected an intrinsic before '%.20s'", p->at);
    out->intrinsic = intrinsic_of_word(p, word);
    return out->intrinsic != INTRINSIC_NONE && read_operands(p);
}

/* `get %1, 0`: the operand, then a number. */
static bool read_indexed(Parser *p, IrValue *out)
{
    return read_operand(p) && parse_expect(p, ",") && parse_number(p, &out->index);
}

/* `watch !write 3, x[%1], %2`, `watch !fresh 4, %5`, `watch !fence 5` */
static bool read_watch(Parser *p, IrValue *out)
{
    if (!parse_number(p, &out->index))
        return false;
    bool is_access = ir_watches_access(out);
    return (!is_access || (parse_expect(p, ",") && read_element(p))) && read_more_operands(p);
}

/* Fills the immediate of `out` and collects the operands. */
static bool read_arguments(Parser *p, IrOp op, const Type *type, IrValue *out)
{
    switch (op) {
    case IR_CONST: return read_constant(p, type, out);
    case IR_DATA: return read_data(p, out);
    case IR_PHI: return read_phi(p);
    case IR_LOAD:
    case IR_STORE: return read_element(p) && read_more_operands(p);
    case IR_ATOMIC: return read_atomic(p, out);
    case IR_SUBARRAY: return read_subarray(p, out);
    case IR_SHARED:
    case IR_LOCAL: return read_storage(p, type, out);
    case IR_CALL: return read_call(p, out);
    case IR_FOREIGN: return read_foreign(p, type, out);
    case IR_PRINT:
        out->text = text_read_name(&p->at, p->arena);
        return out->text ? read_more_operands(p) : parse_fail(p, "expected a format before '%.20s'", p->at);
    case IR_OBSERVE:
    case IR_NOTE:
    case IR_RAISE: return parse_number(p, &out->index) && read_more_operands(p);
    case IR_WATCH: return read_watch(p, out);
    case IR_EXCHANGE: return read_exchange(p, out);
    case IR_THREAD_LOOP: return read_thread_loop(p, out);
    case IR_JUMP: return read_target(p, &out->targets[0]);
    case IR_BRANCH: return read_branch(p, out);
    default: return ir_op_info[op].immediate == IR_IMMEDIATE_INDEX ? read_indexed(p, out) : read_operands(p);
    }
}

/* --- the line ----------------------------------------------------------------------------------------------------------- */

/* An operation of op.def, or a word with a point in it: an intrinsic's path, or `intrinsic.ID` for one without. */
static bool read_op(Parser *p, IrOp *op, IntrinsicId *intrinsic)
{
    const char *word = text_read_name(&p->at, p->arena);
    if (!word)
        return parse_fail(p, "expected an operation before '%.20s'", p->at);
    if (strchr(word, '.')) {
        *op = IR_INTRINSIC;
        *intrinsic = intrinsic_of_word(p, word);
        return *intrinsic != INTRINSIC_NONE || !strcmp(word, "intrinsic.NONE");
    }
    for (int i = 0; i < IR_OP_COUNT; i++)
        if (i != IR_PARAM && i != IR_INTRINSIC && !strcmp(word, ir_op_info[i].text)) {
            *op = (IrOp)i;
            return true;
        }
    return parse_fail(p, "no operation is called '%.60s'", word);
}

static void copy_immediate(IrValue *to, const IrValue *from)
{
    to->real = 0;
    to->imaginary = 0;
    to->hint = from->hint;
    switch (ir_op_info[to->op].immediate) {
    case IR_IMMEDIATE_NOTHING: return;
    case IR_IMMEDIATE_INDEX: to->index = from->index; return;
    case IR_IMMEDIATE_NUMBER:
        to->real = from->real;
        to->imaginary = from->imaginary;
        return;
    case IR_IMMEDIATE_ARRAY: to->array = from->array; return;
    case IR_IMMEDIATE_INTRINSIC: to->intrinsic = from->intrinsic; return;
    case IR_IMMEDIATE_ATOMIC:
        to->atomic = from->atomic;
        to->scope = from->scope;
        to->order = from->order;
        return;
    case IR_IMMEDIATE_OFFSET: to->integer = from->integer; return;
    case IR_IMMEDIATE_STORAGE: to->storage = from->storage; return;
    case IR_IMMEDIATE_CALLEE: to->callee = from->callee; return;
    case IR_IMMEDIATE_TEXT: to->text = from->text; return;
    case IR_IMMEDIATE_FOREIGN: to->foreign = from->foreign; return;
    case IR_IMMEDIATE_TARGETS:
        to->targets[0] = from->targets[0];
        to->targets[1] = from->targets[1];
        return;
    }
}

static IrValue *make_value(Parser *p, IrOp op, const Type *type)
{
    IrValue **operands = ARENA_ARRAY(p->arena, IrValue *, p->operand_count);
    for (uint32_t i = 0; i < p->operand_count; i++)
        operands[i] = p->operands[i].value;
    IrValue *value = ir_append(p->block, op, type, NULL, p->operand_count, operands);
    for (uint32_t i = 0; i < p->operand_count; i++) {
        if (!p->operands[i].is_numbered && !p->operands[i].is_labelled)
            continue;
        Fixup *fixup = ARENA_NEW(p->arena, Fixup);
        *fixup = (Fixup){.next = p->fixups, .user = value, .place = i, .operand = p->operands[i], .line = p->line};
        p->fixups = fixup;
    }
    return value;
}

IrValue *parse_operation(Parser *p, const Type *type)
{
    IrOp op = IR_OP_COUNT;
    IrValue immediate = {0};
    IntrinsicId intrinsic = INTRINSIC_NONE;
    p->operand_count = 0;
    if (!read_op(p, &op, &intrinsic))
        return NULL;
    if (op == IR_INTRINSIC)
        immediate.intrinsic = intrinsic;
    bool may_be_silent = ir_may_be_silent(op);
    bool is_silent = ir_op_info[op].result == IR_RESULT_NOTHING;
    if (is_silent ? type != NULL : !type && !may_be_silent) {
        parse_fail(p, is_silent ? "%s has no result" : "%s needs a result", ir_op_info[op].text);
        return NULL;
    }
    if (may_be_silent && type && type->kind == TYPE_NONE) {
        parse_fail(p, "a %s of type none has no number", ir_op_info[op].text);
        return NULL;
    }
    if (!type)
        type = &type_none;
    uint8_t hint_count;
    const char *const *hints = ir_hint_words(op, &hint_count);
    if (hints)
        immediate.hint = parse_choice(p, hints, hint_count);
    if (!read_arguments(p, op, type, &immediate))
        return NULL;
    IrValue *value = make_value(p, op, type);
    copy_immediate(value, &immediate);
    return value;
}
