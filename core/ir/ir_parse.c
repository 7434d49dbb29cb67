/* Reads the text that ir_print.c writes. Two passes over the lines: headers first, so that calls find functions below
 * them; then bodies, where operands that come later are put right at the function's end. */
#include "core/ir/ir_parse.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/kernel/kernel_abi.h"

bool parse_fail(Parser *p, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return diag_fail(p->diag, NULL, DIAG_IR_SYNTAX, p->line, text);
}

bool parse_expect(Parser *p, const char *characters)
{
    return text_accept(&p->at, characters) || parse_fail(p, "expected '%s' before '%.20s'", characters, p->at);
}

bool parse_number(Parser *p, uint32_t *number)
{
    uint64_t value;
    if (!text_read_count(&p->at, IR_PARSE_LARGEST_NUMBER, &value))
        return parse_fail(p, "expected a number before '%.20s'", p->at);
    *number = (uint32_t)value;
    return true;
}

const Type *parse_type(Parser *p)
{
    const Type *type = type_parse(p->arena, &p->at);
    if (!type)
        parse_fail(p, "expected a type before '%.20s'", p->at);
    return type;
}

static void next_line(Parser *p)
{
    p->at += strcspn(p->at, "\n");
    p->at += *p->at != '\0';
    p->line++;
}

static bool expect_line_end(Parser *p)
{
    text_skip_space(&p->at);
    return !*p->at || *p->at == '\n' || parse_fail(p, "expected the line to end before '%.20s'", p->at);
}

/* --- headers -------------------------------------------------------------------------------------------------------- */

/* ` ; qualname file:line` */
static bool parse_source(Parser *p, const SourceFunction **source)
{
    if (!text_accept(&p->at, ";"))
        return true;
    SourceFunction *found = ARENA_NEW(p->arena, SourceFunction);
    uint32_t line = 0;
    if (!(found->name = text_read_name(&p->at, p->arena)) || !(found->file = text_read_name(&p->at, p->arena)))
        return parse_fail(p, "expected a function's name and file");
    if (!parse_expect(p, ":") || !parse_number(p, &line))
        return false;
    found->first_line = (int)line;
    *source = found;
    return true;
}

typedef struct Parameters {
    uint32_t count, capacity;
    const Type **types;
    const char **names;
} Parameters;

static void grow_parameters(Parser *p, Parameters *list)
{
    uint32_t capacity = list->capacity;
    list->types = arena_grow(p->arena, list->types, list->count, &capacity, sizeof *list->types);
    list->names = arena_grow(p->arena, list->names, list->count, &list->capacity, sizeof *list->names);
}

static bool parse_parameters(Parser *p, Parameters *list)
{
    if (!parse_expect(p, "("))
        return false;
    if (text_accept(&p->at, ")"))
        return true;
    do {
        grow_parameters(p, list);
        const char *name = text_read_name(&p->at, p->arena);
        if (!name)
            return parse_fail(p, "expected a parameter's name before '%.20s'", p->at);
        const Type *type = parse_expect(p, ":") ? parse_type(p) : NULL;
        if (!type)
            return false;
        list->names[list->count] = name;
        list->types[list->count++] = type;
    } while (text_accept(&p->at, ","));
    return parse_expect(p, ")");
}

/* `rows y`; x where nothing is said. */
static bool parse_row_axis(Parser *p, uint8_t *axis)
{
    *axis = 0;
    if (!text_accept_word(&p->at, "rows"))
        return true;
    while (*axis < 3 && !text_accept_word(&p->at, ir_axis_names[*axis]))
        ++*axis;
    return *axis < 3 || parse_fail(p, "expected the axis of the rows before '%.20s'", p->at);
}

/* `passed 0 2`: how each parameter is; NULL where nothing is said. */
static bool parse_passed(Parser *p, uint32_t count, const uint8_t **passed)
{
    int64_t number;
    *passed = NULL;
    if (!text_accept_word(&p->at, "passed"))
        return true;
    uint8_t *numbers = ARENA_ARRAY(p->arena, uint8_t, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        if (!text_read_integer(&p->at, &number) || number < 0 || number > PASSED_ANYWHERE)
            return parse_fail(p, "expected how a parameter is passed before '%.20s'", p->at);
        numbers[i] = (uint8_t)number;
    }
    *passed = numbers;
    return true;
}

/* `single y single z` */
static bool parse_single_axes(Parser *p, uint8_t *axes)
{
    *axes = 0;
    while (text_accept_word(&p->at, "single")) {
        uint32_t axis = 0;
        while (axis < 3 && !text_accept_word(&p->at, ir_axis_names[axis]))
            axis++;
        if (axis == 3)
            return parse_fail(p, "expected an axis of single threads before '%.20s'", p->at);
        *axes |= (uint8_t)(1u << axis);
    }
    return true;
}

/* `extent 0 2 3`: of the first parameter the third axis has three elements; NULL where nothing is said. */
static bool parse_extents(Parser *p, uint32_t count, const uint8_t **extents)
{
    int64_t parameter, axis, extent;
    uint8_t *known = NULL;
    while (text_accept_word(&p->at, "extent")) {
        known = known ? known : ARENA_ARRAY(p->arena, uint8_t, count *TYPE_MAX_NDIM + 1);
        if (!text_read_integer(&p->at, &parameter) || !text_read_integer(&p->at, &axis) ||
            !text_read_integer(&p->at, &extent) || parameter < 0 || parameter >= count || axis < 0 ||
            axis >= TYPE_MAX_NDIM || extent <= 0 || extent > UINT8_MAX)
            return parse_fail(p, "expected a parameter, an axis and its extent before '%.20s'", p->at);
        known[parameter * TYPE_MAX_NDIM + axis] = (uint8_t)extent;
    }
    *extents = known;
    return true;
}

static bool parse_header(Parser *p, bool is_kernel)
{
    Parameters parameters = {0};
    const Type *result = &type_none;
    const SourceFunction *source = NULL;
    const char *name = text_read_name(&p->at, p->arena);
    if (!name)
        return parse_fail(p, "expected a function's name");
    if (table_get(p->functions, name, strlen(name)))
        return parse_fail(p, "a second function '%.100s'", name);
    if (!parse_parameters(p, &parameters))
        return false;
    if (text_accept(&p->at, "->") && !(result = parse_type(p)))
        return false;
    bool noinline = text_accept_word(&p->at, "noinline"), forceinline = text_accept_word(&p->at, "forceinline");
    bool is_recursive = text_accept_word(&p->at, "recursive"), reports = text_accept_word(&p->at, "reports");
    bool is_limited = text_accept_word(&p->at, "limited"), is_apart = text_accept_word(&p->at, "apart");
    const char *assembly = NULL;
    const uint8_t *passed;
    uint8_t row_axis;
    uint64_t aligned = 0;
    if (text_accept_word(&p->at, "aligned") && !text_read_count(&p->at, UINT64_MAX, &aligned))
        return parse_fail(p, "expected the bits of the aligned parameters before '%.20s'", p->at);
    if (!parse_passed(p, parameters.count, &passed) || !parse_row_axis(p, &row_axis))
        return false;
    bool joins_rows = text_accept_word(&p->at, "joined"), by_rows = text_accept_word(&p->at, "by_rows");
    bool by_warps = text_accept_word(&p->at, "by_warps"), may_wait = text_accept_word(&p->at, "may_wait");
    uint8_t single_axes;
    const uint8_t *extents = NULL;
    if (!parse_single_axes(p, &single_axes) || !parse_extents(p, parameters.count, &extents))
        return false;
    bool has_assembly = text_accept_word(&p->at, "assembly"),
         is_pure = has_assembly && text_accept_word(&p->at, "pure");
    bool lacks_body = has_assembly && text_accept_word(&p->at, "only");
    if (has_assembly && !(assembly = text_read_name(&p->at, p->arena)))
        return parse_fail(p, "expected the text of the assembly");
    if (!parse_source(p, &source) || !expect_line_end(p))
        return false;
    IrFunc *function =
        ir_function(p->module, name, source, is_kernel, result, parameters.count, parameters.types, parameters.names);
    function->noinline = noinline;
    function->forceinline = forceinline;
    function->is_recursive = is_recursive;
    function->reports = reports;
    function->is_limited = is_limited;
    function->is_apart = is_apart;
    function->aligned = aligned;
    function->passed = passed;
    function->row_axis = row_axis;
    function->joins_rows = joins_rows;
    function->by_rows = by_rows;
    function->by_warps = by_warps;
    function->may_wait = may_wait;
    function->single_axes = single_axes;
    function->extents = extents;
    function->assembly = assembly;
    function->assembly_is_pure = is_pure;
    function->lacks_body = lacks_body;
    table_set(p->functions, name, strlen(name), function);
    return true;
}

static bool parse_headers(Parser *p)
{
    for (; *p->at; next_line(p)) {
        if (text_accept_word(&p->at, "kernel")) {
            if (!parse_header(p, true))
                return false;
        } else if (text_accept_word(&p->at, "device")) {
            if (!parse_header(p, false))
                return false;
        }
    }
    return p->module->first || parse_fail(p, "no function");
}

/* --- blocks ---------------------------------------------------------------------------------------------------------- */

/* Blocks are made when first named, by a jump or by their own line; their order is that of their lines. */
IrBlock *parse_block(Parser *p, uint32_t number)
{
    IrBlock *block = table_get(p->blocks, &number, sizeof number);
    if (block)
        return block;
    block = ARENA_NEW(p->arena, IrBlock);
    block->function = p->function;
    block->id = number;
    table_set(p->blocks, &number, sizeof number, block);
    return block;
}

static void append_block(IrFunc *function, IrBlock *block)
{
    *(function->last ? &function->last->next : &function->first) = block;
    function->last = block;
    function->block_count++;
}

/* The first line `block N:` is the entry that ir_function made, whatever its number. */
static bool parse_block_line(Parser *p)
{
    uint32_t number;
    if (!parse_number(p, &number))
        return false;
    uint8_t loop = parse_choice(p, ir_loop_mark_names, IR_LOOP_MARK_COUNT);
    if (!parse_expect(p, ":") || !expect_line_end(p))
        return false;
    if (!p->block) {
        p->block = p->function->first;
        p->block->id = number;
        table_set(p->blocks, &number, sizeof number, p->block);
    } else {
        p->block = parse_block(p, number);
        if (p->block == p->function->last || p->block->next || p->block == p->function->first)
            return parse_fail(p, "a second block %u", number);
        append_block(p->function, p->block);
    }
    p->block->loop = loop;
    return true;
}

/* `; 7:17-25`, or `; 7:17-9:4` over several lines. */
static bool parse_position(Parser *p, SourcePos *pos)
{
    uint32_t line = 0, column = 0, end_line = 0, end_column = 0;
    if (!text_accept(&p->at, ";"))
        return true;
    if (!parse_number(p, &line) || !parse_expect(p, ":") || !parse_number(p, &column) || !parse_expect(p, "-") ||
        !parse_number(p, &end_column))
        return false;
    end_line = line;
    if (text_accept(&p->at, ":")) {
        end_line = end_column;
        if (!parse_number(p, &end_column))
            return false;
    }
    *pos = (SourcePos){.function = p->function->source,
                       .line = (int)line,
                       .end_line = (int)end_line,
                       .column = (int)column,
                       .end_column = (int)end_column};
    return true;
}

static bool parse_value_line(Parser *p)
{
    uint32_t number = 0;
    const Type *type = NULL;
    bool has_number = text_accept(&p->at, "%");
    if (!p->block)
        return parse_fail(p, "a value outside of a block");
    if (has_number) {
        if (!parse_number(p, &number) || !parse_expect(p, ":") || !(type = parse_type(p)) || !parse_expect(p, "="))
            return false;
        if (table_get(p->values, &number, sizeof number))
            return parse_fail(p, "a second %%%u", number);
    }
    IrValue *value = parse_operation(p, type);
    if (!value)
        return false;
    if (has_number) {
        value->id = number;
        table_set(p->values, &number, sizeof number, value);
    }
    return parse_position(p, &value->pos) && expect_line_end(p);
}

/* --- the function's end ------------------------------------------------------------------------------------------------ */

static bool resolve_operands(Parser *p)
{
    for (Fixup *fixup = p->fixups; fixup; fixup = fixup->next) {
        const ParsedOperand *operand = &fixup->operand;
        p->line = fixup->line;
        if (operand->is_numbered) {
            IrValue *value = table_get(p->values, &operand->number, sizeof operand->number);
            if (!value)
                return parse_fail(p, "no value %%%u", operand->number);
            fixup->user->operands[fixup->place] = value;
        }
        const IrBlock *block = fixup->user->block;
        if (operand->is_labelled &&
            (fixup->place >= block->predecessor_count || block->predecessors[fixup->place]->id != operand->label))
            return parse_fail(p, "predecessor %u of block %u is not block %u", fixup->place, block->id, operand->label);
    }
    return true;
}

static bool check_blocks(Parser *p)
{
    uint32_t defined = 0;
    for (const IrBlock *block = p->function->first; block; block = block->next)
        defined++;
    return defined == table_count(p->blocks) || parse_fail(p, "a jump to a block that is not there");
}

/* Values whose number the text does not show come behind the others; so that arrays by number stay small, the largest
 * number counts, not how many there are. */
static void number_silent_values(IrFunc *function)
{
    uint32_t next = 0, next_block = 0;
    for (const IrBlock *block = function->first; block; block = block->next) {
        if (block->id >= next_block)
            next_block = block->id + 1;
        for (const IrValue *value = block->first; value; value = value->next)
            if (ir_has_result(value) && value->id >= next)
                next = value->id + 1;
    }
    for (IrBlock *block = function->first; block; block = block->next)
        for (IrValue *value = block->first; value; value = value->next)
            if (!ir_has_result(value))
                value->id = next++;
    function->value_count = next;
    function->block_count = next_block;
}

static bool finish_function(Parser *p)
{
    if (!p->function)
        return true;
    if (!p->block)
        return parse_fail(p, "function %.100s has no block", p->function->name);
    if (!check_blocks(p))
        return false;
    ir_link_blocks(p->function);
    bool ok = resolve_operands(p);
    number_silent_values(p->function);
    return ok;
}

static void begin_function(Parser *p, IrFunc *function)
{
    table_destroy(p->values);
    table_destroy(p->blocks);
    p->values = table_create();
    p->blocks = table_create();
    p->function = function;
    p->block = NULL;
    p->fixups = NULL;
}

static bool parse_bodies(Parser *p)
{
    for (; *p->at; next_line(p)) {
        if (text_accept_word(&p->at, "kernel") || text_accept_word(&p->at, "device")) {
            int line = p->line;
            if (!finish_function(p))
                return false;
            p->line = line;
            begin_function(p, p->function ? p->function->next : p->module->first);
            continue;
        }
        text_skip_space(&p->at);
        if (!*p->at || *p->at == '\n' || *p->at == ';')
            continue;
        if (!p->function)
            return parse_fail(p, "expected kernel or device");
        if (!(text_accept_word(&p->at, "block") ? parse_block_line(p) : parse_value_line(p)))
            return false;
    }
    return finish_function(p);
}

IrModule *ir_parse(const char *text, Arena *arena, Diag *diag)
{
    Parser p = {
        .arena = arena, .diag = diag, .module = ir_module(arena), .at = text, .line = 1, .functions = table_create()};
    bool ok = parse_headers(&p);
    p.at = text;
    p.line = 1;
    ok = ok && parse_bodies(&p);
    table_destroy(p.functions);
    table_destroy(p.values);
    table_destroy(p.blocks);
    return ok ? p.module : NULL;
}
