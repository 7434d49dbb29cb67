/* Walks the raw bytes once, writing canonical instructions by the rules of raw_bytecode.h, then resolves jump targets
 * from raw places to instruction numbers. The bytes are not trusted: whatever is odd is DIAG_BYTECODE_BROKEN. */
#include "frontend/bytecode/raw_bytecode.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    NOT_A_TARGET = UINT32_MAX,
    MOST_SPLIT = 5, /* but for a slice */
    MOST_HOPS = 8,
    BINARY_SUBSCRIPT = 26, /* an operator of BINARY_OP */
    INTRINSIC_UNARY_POSITIVE = 5,
    INTRINSIC_LIST_TO_TUPLE = 6
};

typedef struct Decoder {
    const CodeSnapshot *code;
    const RawInfo *table;
    Arena *arena;
    Diag *diag;
    Instructions *out;
    uint32_t capacity;         /* of out->items */
    uint32_t units;            /* 2-byte units of code */
    uint32_t *starts;          /* by unit: the canonical instruction that begins there, or NOT_A_TARGET */
    /* the raw instruction being read */
    uint32_t unit;
    const RawInfo *raw;
    uint32_t argument;
    uint32_t next_unit;        /* behind its caches */
    /* between instructions */
    bool has_keyword_names;
    uint32_t conversion;       /* of the next FORMAT_VALUE */
    uint32_t skip;             /* instructions still to be dropped */
    bool with_lines;
    uint32_t first_traced;     /* the instruction behind the first RESUME: CPython traces none before it */
    bool has_resumed;
    bool calls_anyway;         /* the next conditional jump leads to a call, and is to be taken */
} Decoder;

static SourcePos position_at(const CodeSnapshot *code, uint32_t unit)
{
    if (!code->positions || unit >= code->size / 2)
        return (SourcePos){.function = &code->source};
    return code->positions[unit];
}

static bool broken(Decoder *d, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool broken(Decoder *d, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    SourcePos pos = position_at(d->code, d->unit);
    return diag_fail(d->diag, &pos, DIAG_BYTECODE_BROKEN, d->code->source.name, text);
}

/* --- arguments --------------------------------------------------------------------------------------------------- */

static bool in_range(Bytecode op, int32_t n, const CodeSnapshot *code)
{
    uint32_t u = (uint32_t)n;
    switch (op) {
    case BYTECODE_LOAD_CONST: return u < code->constant_count;
    case BYTECODE_LOAD_LOCAL:
    case BYTECODE_LOAD_CELL:
    case BYTECODE_LOAD_LOCAL_CLEAR:
    case BYTECODE_STORE_LOCAL:
    case BYTECODE_DELETE_LOCAL: return u < code->local_count;
    case BYTECODE_LOAD_GLOBAL:
    case BYTECODE_LOAD_ATTRIBUTE:
    case BYTECODE_LOAD_METHOD:
    case BYTECODE_STORE_ATTRIBUTE:
    case BYTECODE_DELETE_ATTRIBUTE: return u < code->name_count;
    case BYTECODE_BINARY: return u < BINARY_SUBSCRIPT;
    case BYTECODE_COMPARE: return u < 6;
    case BYTECODE_IS:
    case BYTECODE_CONTAINS: return u < 2;
    case BYTECODE_BUILD_SLICE: return u == 2 || u == 3;
    case BYTECODE_COPY:
    case BYTECODE_LIST_APPEND:
    case BYTECODE_LIST_EXTEND:
    case BYTECODE_MAP_ADD: return u >= 1;
    case BYTECODE_SWAP: return u >= 2;
    case BYTECODE_RAISE: return u <= 2;
    case BYTECODE_CALL_STARRED: return u < 2;
    case BYTECODE_FORMAT_VALUE: return u < 8;
    case BYTECODE_SET_FUNCTION: return u <= 16 && u && !(u & (u - 1));
    default: return true;
    }
}

/* NULL with a diagnostic where the argument is out of range. */
static Instruction *add(Decoder *d, Bytecode op, uint32_t argument)
{
    Instruction *instruction = &d->out->items[d->out->count];
    *instruction = (Instruction){.op = op,
                                 .argument = (int32_t)argument,
                                 .offset = d->unit,
                                 .pos = position_at(d->code, d->unit),
                                 .raw_name = d->raw->name};
    if (argument > INT32_MAX || !in_range(op, (int32_t)argument, d->code)) {
        broken(d, "%s with argument %u", d->raw->name, argument);
        return NULL;
    }
    if (op == BYTECODE_LOAD_CONST)
        instruction->constant = d->code->constants[argument];
    d->out->count++;
    return instruction;
}

static bool add_constant(Decoder *d, const Constant *constant)
{
    Instruction *load = &d->out->items[d->out->count++];
    *load = (Instruction){.op = BYTECODE_LOAD_CONST,
                          .constant = constant,
                          .offset = d->unit,
                          .pos = position_at(d->code, d->unit),
                          .raw_name = d->raw->name};
    return true;
}

/* A jump to a place in raw units for now; resolve_targets makes it an instruction number. */
static bool add_jump(Decoder *d, Bytecode op, int64_t target_unit)
{
    Instruction *jump = add(d, op, 0);
    if (!jump)
        return false;
    if (target_unit < 0 || target_unit >= (int64_t)d->units)
        return broken(d, "%s out of the code", d->raw->name);
    jump->target = (uint32_t)target_unit;
    return true;
}

/* --- rules ------------------------------------------------------------------------------------------------------- */

static bool apply_inverted(Decoder *d)
{
    int64_t target = (int64_t)d->next_unit - d->argument;
    /* The jump over falls on the raw instruction behind this one, which is behind both canonical ones. */
    return add_jump(d, d->raw->canonical, d->next_unit) && add_jump(d, BYTECODE_JUMP, target);
}

/* The last instruction that was written, where it is this one. */
static Instruction *last_if(const Decoder *d, Bytecode op)
{
    Instruction *last = d->out->count ? &d->out->items[d->out->count - 1] : NULL;
    return last && last->op == op ? last : NULL;
}

/* The function that the compiler makes of a nested function's annotations. */
static bool makes_annotations(const Constant *constant)
{
    static const char name[] = "__annotate__";
    if (constant->kind != CONSTANT_CODE || constant->code->positional_only_count != 1)
        return false;
    const char *found = constant->code->source.name, *last = strrchr(found, '.');
    return !strcmp(last ? last + 1 : found, name);
}

/* None in its place, without what it captures and without what attaches that. */
static bool apply_annotations(Decoder *d, const CodeSnapshot *made)
{
    static const Constant none = {.kind = CONSTANT_NONE};
    uint32_t captured = made->free_count ? made->free_count + 1 : 0;
    if (captured > d->out->count)
        return broken(d, "annotations without their variables");
    d->out->count -= captured;
    d->skip = captured ? 2 : 1;
    return add_constant(d, &none);
}

/* Constant slices and tuples with them are built as those that are not constant are. */
static bool has_slice(const Constant *constant)
{
    bool found = constant->kind == CONSTANT_SLICE;
    for (uint32_t i = 0; constant->kind == CONSTANT_TUPLE && i < constant->count; i++)
        found |= has_slice(constant->items[i]);
    return found;
}

static void reserve(Decoder *d, uint32_t count);

static bool add_value(Decoder *d, const Constant *constant)
{
    reserve(d, 1);
    if (!has_slice(constant))
        return add_constant(d, constant);
    bool is_slice = constant->kind == CONSTANT_SLICE;
    uint32_t count = is_slice && constant->items[2]->kind == CONSTANT_NONE ? 2 : constant->count;
    for (uint32_t i = 0; i < count; i++)
        add_value(d, constant->items[i]);
    reserve(d, 1);
    return add(d, is_slice ? BYTECODE_BUILD_SLICE : BYTECODE_BUILD_TUPLE, count);
}

static bool apply_constant(Decoder *d)
{
    if (!add(d, BYTECODE_LOAD_CONST, d->argument))
        return false;
    const Constant *constant = d->out->items[--d->out->count].constant;
    return makes_annotations(constant) ? apply_annotations(d, constant->code) : add_value(d, constant);
}

static bool apply_small_int(Decoder *d)
{
    Constant *constant = ARENA_NEW(d->arena, Constant);
    *constant = (Constant){.kind = CONSTANT_INT, .is_python = true, .type = TYPE_OF(INT64), .integer = d->argument};
    return add_constant(d, constant);
}

/* any(...) and its like: COPY 1, the builtin, IS, a jump to the call where it is another function, and what the builtin
 * would do. The call does the same. */
static bool apply_common(Decoder *d)
{
    const Constant *constant = common_constant(d->argument);
    if (!constant)
        return broken(d, "%s with argument %u", d->raw->name, d->argument);
    if (constant->kind != CONSTANT_UNSUPPORTED)
        return add_constant(d, constant);
    if (!last_if(d, BYTECODE_COPY))
        return broken(d, "%s of %s", d->raw->name, constant->text);
    d->out->count--;
    d->skip = 1;
    d->calls_anyway = true;
    return true;
}

static bool apply_forward(Decoder *d)
{
    bool calls = d->calls_anyway && d->raw->canonical == BYTECODE_JUMP_IF_FALSE;
    d->calls_anyway = false;
    return add_jump(d, calls ? BYTECODE_JUMP : d->raw->canonical, (int64_t)d->next_unit + d->argument);
}

static bool apply_starred(Decoder *d)
{
    bool has_keywords = !last_if(d, BYTECODE_PUSH_NULL);
    d->out->count -= !has_keywords;
    return add(d, BYTECODE_CALL_STARRED, has_keywords);
}

static bool apply_iterator(Decoder *d)
{
    const Instruction *load = last_if(d, BYTECODE_LOAD_LOCAL);
    bool is_one_already = load && !strcmp(d->code->local_names[load->argument], ".0");
    return is_one_already || add(d, BYTECODE_GET_ITER, 0);
}

static bool apply_iterate(Decoder *d) { return apply_iterator(d) && add(d, BYTECODE_PUSH_NULL, 1); }

static bool apply_repeat(Decoder *d)
{
    for (int i = 0; i < d->raw->extra; i++)
        add(d, d->raw->canonical, 0);
    return true;
}

static bool apply_function(Decoder *d)
{
    if (d->argument > 15)
        return broken(d, "MAKE_FUNCTION with argument %u", d->argument);
    if (!add(d, BYTECODE_MAKE_FUNCTION, 0))
        return false;
    for (uint32_t bit = 8; bit; bit >>= 1)
        if (d->argument & bit && !add(d, BYTECODE_SET_FUNCTION, bit))
            return false;
    return true;
}

static bool apply_call(Decoder *d)
{
    Bytecode op = d->has_keyword_names ? BYTECODE_CALL_KEYWORDS : BYTECODE_CALL;
    d->has_keyword_names = false;
    return add(d, op, d->argument);
}

static bool apply_intrinsic(Decoder *d)
{
    Bytecode op = d->argument == INTRINSIC_UNARY_POSITIVE  ? BYTECODE_POSITIVE
                  : d->argument == INTRINSIC_LIST_TO_TUPLE ? BYTECODE_LIST_TO_TUPLE
                                                           : BYTECODE_UNSUPPORTED;
    return add(d, op, 0);
}

static bool apply_format(Decoder *d)
{
    uint32_t argument = (d->conversion & 3) | (uint32_t)d->raw->extra;
    d->conversion = 0;
    return add(d, BYTECODE_FORMAT_VALUE, argument);
}

static bool apply_send(Decoder *d)
{
    if (!add(d, BYTECODE_POP, 0) || !add_jump(d, d->raw->canonical, (int64_t)d->next_unit + d->argument))
        return false;
    d->out->items[d->out->count - 1].lands_before = d->raw->extra < 0;
    return true;
}

/* `pass` and its like keep their line where lines are wanted. */
static bool apply_drop(Decoder *d)
{
    if (!d->has_resumed && !strcmp(d->raw->name, "RESUME")) {
        d->has_resumed = true;
        d->first_traced = d->out->count;
    }
    return !d->with_lines || strcmp(d->raw->name, "NOP") || add(d, BYTECODE_NOTHING, 0);
}

static bool apply_rule(Decoder *d)
{
    Bytecode op = d->raw->canonical;
    uint32_t n = d->argument;
    int64_t next = d->next_unit;
    switch (d->raw->rule) {
    case RULE_RENAME: return add(d, op, n);
    case RULE_BARE: return add(d, op, 0);
    case RULE_REPEAT: return apply_repeat(d);
    case RULE_CONST: return apply_constant(d);
    case RULE_SMALL_INT: return apply_small_int(d);
    case RULE_COMMON: return apply_common(d);
    case RULE_BINARY: return n == BINARY_SUBSCRIPT ? add(d, BYTECODE_SUBSCRIPT, 0) : add(d, op, n);
    case RULE_SHIFT: return add(d, op, n >> d->raw->extra);
    case RULE_DROP: return apply_drop(d);
    case RULE_END_FOR: d->skip = (uint32_t)d->raw->extra; return true;
    case RULE_FORWARD: return apply_forward(d);
    case RULE_BACKWARD: return add_jump(d, op, next - n);
    case RULE_INVERTED: return apply_inverted(d);
    case RULE_JUMP_OR_POP: return add(d, BYTECODE_COPY, 1) && add_jump(d, op, next + n) && add(d, BYTECODE_POP, 0);
    case RULE_GLOBAL: return (!(n & 1) || add(d, BYTECODE_PUSH_NULL, 0)) && add(d, op, n >> 1);
    case RULE_ATTRIBUTE: return add(d, n & 1 ? BYTECODE_LOAD_METHOD : op, n >> 1);
    case RULE_PAIR: return add(d, op, n >> 4) && add(d, (Bytecode)d->raw->extra, n & 15);
    case RULE_SLICE: return add(d, BYTECODE_BUILD_SLICE, 2) && add(d, op, 0);
    case RULE_CONST_RETURN: return add(d, op, n) && add(d, BYTECODE_RETURN, 0);
    case RULE_KEYWORD_NAMES: d->has_keyword_names = true; return add(d, op, n);
    case RULE_CALL: return apply_call(d);
    case RULE_FUNCTION: return apply_function(d);
    case RULE_CONVERT: d->conversion = n; return true;
    case RULE_FORMAT: return apply_format(d);
    case RULE_INTRINSIC: return apply_intrinsic(d);
    case RULE_ITERATOR: return apply_iterator(d);
    case RULE_ITERATE: return apply_iterate(d);
    case RULE_STARRED: return apply_starred(d);
    case RULE_SEND: return apply_send(d);
    case RULE_SEND_AGAIN: return add_jump(d, op, next - n) && add(d, BYTECODE_PUSH_NULL, 0);
    case RULE_EXTENDED:
    case RULE_UNKNOWN: break;
    }
    return broken(d, "opcode %s", d->raw->name ? d->raw->name : "unknown");
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

/* Reads the instruction at d->unit with its EXTENDED_ARG prefixes; d->unit is then that of its opcode. */
static bool read_raw(Decoder *d)
{
    const uint8_t *bytes = d->code->bytes;
    d->argument = 0;
    for (int prefixes = 0;; prefixes++) {
        d->raw = &d->table[bytes[2 * (size_t)d->unit]];
        d->argument = d->argument << 8 | bytes[2 * (size_t)d->unit + 1];
        if (d->raw->rule == RULE_UNKNOWN)
            return broken(d, "unknown opcode %u", bytes[2 * (size_t)d->unit]);
        if (d->raw->rule != RULE_EXTENDED)
            break;
        if (prefixes == 3 || d->unit + 1 >= d->units)
            return broken(d, "EXTENDED_ARG without an instruction");
        d->unit++;
    }
    if ((uint32_t)d->raw->caches >= d->units - d->unit)
        return broken(d, "%s is cut off", d->raw->name);
    d->next_unit = d->unit + 1 + (uint32_t)d->raw->caches;
    return true;
}

/* Room for `count` instructions and those of one rule. */
static void reserve(Decoder *d, uint32_t count)
{
    if (d->capacity - d->out->count >= count + MOST_SPLIT)
        return;
    d->capacity = (d->capacity ? d->capacity * 2 : d->units) + count + MOST_SPLIT;
    Instruction *items = ARENA_ARRAY(d->arena, Instruction, d->capacity);
    if (d->out->count)
        memcpy(items, d->out->items, d->out->count * sizeof *items);
    d->out->items = items;
}

static bool decode_one(Decoder *d)
{
    uint32_t start = d->unit;
    if (!read_raw(d))
        return false;
    reserve(d, 0);
    d->starts[start] = d->out->count;
    if (d->has_keyword_names && d->raw->rule != RULE_CALL && d->raw->rule != RULE_DROP)
        return broken(d, "%s between keyword names and their call", d->raw->name);
    if (d->skip)
        d->skip--;
    else if (!apply_rule(d))
        return false;
    d->unit = d->next_unit;
    return true;
}

static bool resolve_targets(Decoder *d)
{
    for (uint32_t i = 0; i < d->out->count; i++) {
        Instruction *instruction = &d->out->items[i];
        if (!bytecode_jumps(instruction->op))
            continue;
        uint32_t target = d->starts[instruction->target];
        d->unit = instruction->offset;
        if (target == NOT_A_TARGET)
            return broken(d, "%s into the middle of an instruction", instruction->raw_name);
        if (target >= d->out->count)
            return broken(d, "%s to the end of the code", instruction->raw_name);
        instruction->target = target - (instruction->lands_before && target > 0);
    }
    return true;
}

/* A jump to a jump goes where that one goes: some versions' compilers see to it and some do not. With lines, one that stands
 * on a line of its own (`continue`) is not passed over. */
static void thread_jumps(Instructions *instructions, bool with_lines)
{
    for (uint32_t i = 0; i < instructions->count; i++) {
        Instruction *instruction = &instructions->items[i];
        if (!bytecode_jumps(instruction->op))
            continue;
        for (uint32_t hops = 0; hops < MOST_HOPS; hops++) {
            const Instruction *next = &instructions->items[instruction->target];
            bool is_own_line = with_lines && next->pos.line > 0 && next->pos.line != instruction->pos.line;
            if (next->op != BYTECODE_JUMP || is_own_line)
                break;
            instruction->target = next->target;
        }
    }
}

/* --- try and with ------------------------------------------------------------------------------------------------ */

/* A number of the exception table: 6 bits a byte, the most significant first, bit 6 set where more follow. */
static bool read_varint(const CodeSnapshot *code, uint32_t *at, uint32_t *value)
{
    *value = 0;
    for (int bytes = 0; bytes < 5 && *at < code->exception_table_size; bytes++) {
        uint8_t byte = code->exception_table[(*at)++];
        *value = *value << 6 | (byte & 63);
        if (!(byte & 64))
            return true;
    }
    return false;
}

static bool raw_is(const Decoder *d, uint32_t unit, const char *name)
{
    if (unit >= d->units)
        return false;
    const char *found = d->table[d->code->bytes[2 * (size_t)unit]].name;
    return found && !strcmp(found, name);
}

/* Handlers of try and with begin with PUSH_EXC_INFO; those that comprehensions and generators bring along do not. */
static void find_try(Decoder *d)
{
    uint32_t at = 0, start, size, target, depth;
    while (read_varint(d->code, &at, &start) && read_varint(d->code, &at, &size) &&
           read_varint(d->code, &at, &target) && read_varint(d->code, &at, &depth)) {
        if (!raw_is(d, target, "PUSH_EXC_INFO"))
            continue;
        bool has_statement =
            start && start <= d->units && (raw_is(d, start - 1, "NOP") || raw_is(d, start - 1, "BEFORE_WITH"));
        d->out->has_try = true;
        d->out->try_pos = position_at(d->code, has_statement ? start - 1 : start);
        return;
    }
}

/* Two slots for an iterator: see iteration.c. */
static bool has_iteration_slots(const RawInfo *table)
{
    bool found = false;
    for (int i = 0; i < 256; i++)
        found |= table[i].rule == RULE_ITERATE;
    return found;
}

static Instructions *decode_code(const CodeSnapshot *code, bool with_lines, Arena *arena, Diag *diag)
{
    Decoder d = {.code = code,
                 .with_lines = with_lines,
                 .table = raw_bytecode_table(code->python_minor),
                 .arena = arena,
                 .diag = diag,
                 .units = code->size / 2};
    if (!d.table) {
        diag_fail(diag, NULL, DIAG_UNSUPPORTED_PYTHON, 3, code->python_minor);
        return NULL;
    }
    if (!code->bytes || !d.units || code->size % 2) {
        broken(&d, "%u bytes of code", code->size);
        return NULL;
    }
    d.out = ARENA_NEW(arena, Instructions);
    d.starts = ARENA_ARRAY(arena, uint32_t, d.units);
    memset(d.starts, 0xFF, d.units * sizeof *d.starts);
    while (d.unit < d.units)
        if (!decode_one(&d))
            return NULL;
    if (!resolve_targets(&d))
        return NULL;
    if (has_iteration_slots(d.table))
        decode_iteration(d.out, arena);
    thread_jumps(d.out, with_lines);
    decode_loop_tests(d.out);
    if (with_lines)
        decode_lines(d.out, d.first_traced, arena);
    find_try(&d);
    return d.out;
}

Instructions *decode(const CodeSnapshot *code, Arena *arena, Diag *diag)
{
    return decode_code(code, false, arena, diag);
}

Instructions *decode_with_lines(const CodeSnapshot *code, Arena *arena, Diag *diag)
{
    return decode_code(code, true, arena, diag);
}
