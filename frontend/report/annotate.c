/* The text behind inspect_types: for every expression of a function's source, line by line, the type inferred. */
#include <stdlib.h>

#include "frontend/engine.h"
#include "frontend/report/annotate.h"
#include "frontend/report/widening.h"

typedef struct Note {
    SourcePos pos;
    const Type *type;
    const char *widening; /* why it computes in float64 or int64 though narrower numbers go in, or NULL */
} Note;

static int by_position(const void *left, const void *right)
{
    const SourcePos *a = &((const Note *)left)->pos, *b = &((const Note *)right)->pos;
    if (a->line != b->line)
        return a->line < b->line ? -1 : 1;
    if (a->column != b->column)
        return a->column < b->column ? -1 : 1;
    return b->end_column - a->end_column;   /* the whole before its parts */
}

static bool is_shown(const SsaValue *value, Operand fact)
{
    if (!fact.type || fact.type->kind == TYPE_OBJECT || value->pos.line == 0)
        return false;
    return value->op != SSA_STORE_SUBSCRIPT && value->op != SSA_ITER_START && value->op != SSA_ITER_STEP &&
           value->op != SSA_SEQUENCE && value->op != SSA_CELL && value->op != SSA_ITER_NEXT;
}

static uint32_t collect(Lower *l, Note *notes)
{
    const Instance *instance = l->instance;
    uint32_t count = 0;
    for (uint32_t i = 0; i < instance->ssa->block_count; i++) {
        if (!instance->block_reached[i])
            continue;
        for (const SsaValue *value = instance->ssa->blocks[i].first; value; value = value->next) {
            Operand fact = instance->facts[value->id];
            if (value->op >= SSA_JUMP || value->op == SSA_PARAMETER || !is_shown(value, fact))
                continue;
            const char *why = widening(l, value);
            notes[count++] =
                (Note){.pos = value->pos, .type = fact.type, .widening = why ? why : widening_of_integers(l, value)};
        }
    }
    return count;
}

static void print_header(Buf *out, const Instance *instance)
{
    buf_printf(out, "%s:%d %s(", instance->code->source.file, instance->code->source.first_line,
               instance->code->source.name);
    for (uint32_t i = 0; i < instance->parameter_count; i++) {
        uint32_t own = instance->parameter_count - instance->code->free_count;
        uint32_t local = i < own ? i : instance->code->local_count - instance->code->free_count + (i - own);
        buf_printf(out, "%s%s: ", i ? ", " : "", instance->code->local_names[local]);
        type_describe(out, instance->parameters[i].type);
    }
    buf_add(out, ") -> ");
    type_describe(out, instance->result.type ? instance->result.type : &type_none);
    buf_add(out, "\n");
}

void annotate(Buf *out, Frontend *frontend, Instance *instance)
{
    Diag scratch;
    diag_clear(&scratch);
    Lower l = {.frontend = frontend, .arena = frontend->arena, .diag = &scratch, .instance = instance};
    Note *notes = ARENA_ARRAY(frontend->arena, Note, instance->ssa->value_count + 1);
    uint32_t count = collect(&l, notes);
    qsort(notes, count, sizeof *notes, by_position);
    print_header(out, instance);
    for (uint32_t i = 0; i < count; i++) {
        const Note *note = &notes[i], *last = i ? &notes[i - 1] : NULL;
        bool same_line = last && last->pos.line == note->pos.line;
        if (same_line && last->pos.column == note->pos.column && last->pos.end_column == note->pos.end_column &&
            type_equal(last->type, note->type))
            continue;
        if (!same_line)
            buf_printf(out, "  line %d:\n", note->pos.line);
        buf_printf(out, "    %d-%d: ", note->pos.column, note->pos.end_column);
        type_describe(out, note->type);
        buf_printf(out, "%s%s\n", note->widening ? "   <- " : "", note->widening ? note->widening : "");
    }
}
