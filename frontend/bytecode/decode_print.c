/* Canonical bytecode as text, for CUJIT_DUMP=bytecode: names and values rather than numbers into tables, so that the
 * text is the same for every CPython version. */
#include "frontend/bytecode/decode.h"

static void print_items(Buf *out, const Constant *tuple);

void constant_print(Buf *out, const Constant *constant)
{
    switch (constant ? constant->kind : CONSTANT_UNDEFINED) {
    case CONSTANT_NONE: buf_add(out, "None"); return;
    case CONSTANT_BOOL: buf_add(out, constant->integer ? "True" : "False"); return;
    case CONSTANT_INT:
        if (constant->is_unsigned)
            buf_printf(out, "%llu", (unsigned long long)constant->integer);
        else
            buf_printf(out, "%lld", (long long)constant->integer);
        return;
    case CONSTANT_FLOAT: buf_printf(out, "%.17g", constant->real); return;
    case CONSTANT_COMPLEX: buf_printf(out, "(%.17g%+.17gj)", constant->real, constant->imaginary); return;
    case CONSTANT_STRING: buf_printf(out, "'%s'", constant->text ? constant->text : ""); return;
    case CONSTANT_TUPLE: print_items(out, constant); return;
    case CONSTANT_CODE: buf_printf(out, "<code %s>", constant->code ? constant->code->source.name : "?"); return;
    case CONSTANT_ELLIPSIS: buf_add(out, "..."); return;
    case CONSTANT_UNDEFINED: buf_add(out, "?"); return;
    default: buf_printf(out, "<%s>", constant->shown_as ? constant->shown_as : constant->text ? constant->text : "?");
    }
}

static void print_items(Buf *out, const Constant *tuple)
{
    buf_add(out, "(");
    for (uint32_t i = 0; i < tuple->count; i++) {
        buf_add(out, i ? ", " : "");
        constant_print(out, tuple->items[i]);
    }
    buf_add(out, ")");
}

const char *bytecode_binary_text(int32_t argument)
{
    static const char *const operators[] = {
#define BINARY(id, text, ...) text,
#include "core/type/operator.def"
#define BINARY(id, text, ...) text "=",
#include "core/type/operator.def"
    };
    return operators[argument];
}

const char *bytecode_compare_text(int32_t argument)
{
    static const char *const operators[] = {
#define COMPARE(id, text, ...) text,
#include "core/type/operator.def"
    };
    return operators[argument];
}

/* decode checked that these arguments are in range. */
static void print_argument(Buf *out, const CodeSnapshot *code, const Instruction *instruction)
{
    int32_t n = instruction->argument;
    switch (instruction->op) {
    case BYTECODE_LOAD_CONST: constant_print(out, instruction->constant); return;
    case BYTECODE_LOAD_LOCAL:
    case BYTECODE_LOAD_LOCAL_CLEAR:
    case BYTECODE_STORE_LOCAL:
    case BYTECODE_DELETE_LOCAL: buf_add(out, code->local_names[n]); return;
    case BYTECODE_LOAD_GLOBAL:
    case BYTECODE_LOAD_ATTRIBUTE:
    case BYTECODE_LOAD_METHOD:
    case BYTECODE_STORE_ATTRIBUTE:
    case BYTECODE_DELETE_ATTRIBUTE: buf_add(out, code->names[n]); return;
    case BYTECODE_BINARY: buf_add(out, bytecode_binary_text(n)); return;
    case BYTECODE_COMPARE: buf_add(out, bytecode_compare_text(n)); return;
    case BYTECODE_UNSUPPORTED: buf_add(out, instruction->raw_name); return;
    default:
        if (bytecode_jumps(instruction->op))
            buf_printf(out, "to %u", instruction->target);
        else
            buf_printf(out, "%d", n);
    }
}

void decode_print(Buf *out, const CodeSnapshot *code, const Instructions *instructions)
{
    buf_printf(out, "bytecode of %s, %s:%d\n", code->source.name, code->source.file, code->source.first_line);
    int line = 0;
    for (uint32_t i = 0; i < instructions->count; i++) {
        const Instruction *instruction = &instructions->items[i];
        if (instruction->pos.line > 0 && instruction->pos.line != line)
            buf_printf(out, "%6d", line = instruction->pos.line);
        else
            buf_add(out, "      ");
        buf_printf(out, " %5u  %-20s ", i, bytecode_info[instruction->op].name);
        print_argument(out, code, instruction);
        buf_add(out, "\n");
    }
}
