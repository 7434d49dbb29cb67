/* Notes to a failure of typing: where each operand's type comes from, which branches do not fit, who calls the function.
 * The failure itself is recorded by the handlers. */
#include <string.h>

#include "frontend/engine.h"
#include "frontend/report/explain.h"

/* Notes about operands; one place is left for the callers. */
enum { OPERAND_NOTES = DIAG_NOTE_LIMIT - 1, EXPRESSION_DEPTH = 3, PHI_LEAVES = 8 };

/* Whether the last note of the diagnostic is about this function: callers add theirs once. */
static bool has_caller_note(const Diag *diag)
{
    return diag->note_count && strncmp(diag->notes[diag->note_count - 1].message, "called ", 7) == 0;
}

static const SsaAssignment *assignment_of(const Lower *l, const SsaValue *value, const char *name)
{
    const SsaAssignment *found = NULL;
    for (const SsaAssignment *a = l->instance->ssa->assignments; a; a = a->next)
        if (a->value == value && (!name || strcmp(a->name, name) == 0))
            found = a; /* the first one of the source */
    return found;
}

/* From the name to the end of what is assigned, where that is one line. */
static SourcePos assignment_position(const SsaAssignment *assignment)
{
    SourcePos pos = assignment->pos;
    const SourcePos *value = &assignment->value->pos;
    if (value->line == pos.line && value->end_line == pos.line && value->end_column > pos.end_column)
        pos.end_column = value->end_column;
    return pos;
}

static const char *parameter_name(const Lower *l, const SsaValue *value, bool *is_captured)
{
    const CodeSnapshot *code = l->instance->code;
    uint32_t own = l->instance->parameter_count - code->free_count, index = (uint32_t)value->argument;
    *is_captured = index >= own;
    return code->local_names[*is_captured ? code->local_count - code->free_count + (index - own) : index];
}

/* What a variable gets on its paths: the values behind nested phis, each once. */
static uint32_t phi_leaves(Lower *l, const SsaValue *phi, const SsaValue **leaves, uint32_t count, uint32_t depth)
{
    for (uint32_t i = 0; i < phi->count && count < PHI_LEAVES; i++) {
        const SsaValue *operand = phi->operands[i];
        bool seen = operand == phi || !lower_fact_known(l, operand);
        for (uint32_t k = 0; k < count && !seen; k++)
            seen = leaves[k] == operand;
        if (seen)
            continue;
        if (operand->op == SSA_PHI && depth < EXPRESSION_DEPTH)
            count = phi_leaves(l, operand, leaves, count, depth + 1);
        else if (operand->op != SSA_PHI)
            leaves[count++] = operand;
    }
    return count;
}

/* "float32 from line 12", with the place where one is known. */
static void note_leaf(Lower *l, const SsaValue *leaf, const char *name)
{
    const char *type = lower_describe(l, lower_fact(l, leaf).type);
    const SsaAssignment *assignment = assignment_of(l, leaf, name);
    bool is_captured;
    if (assignment) {
        SourcePos pos = assignment_position(assignment);
        diag_note(l->diag, &pos, "%s, assigned in line %d", type, pos.line);
    } else if (leaf->op == SSA_PARAMETER) {
        diag_note(l->diag, NULL, "%s, the %s '%s'", type, "parameter", parameter_name(l, leaf, &is_captured));
    } else {
        diag_note(l->diag, &leaf->pos, "%s, in line %d", type, leaf->pos.line);
    }
}

const char *variable_name(Lower *l, const SsaValue *value)
{
    const SsaAssignment *assignment = assignment_of(l, value, NULL);
    bool is_captured;
    if (assignment)
        return assignment->name;
    return value->op == SSA_PARAMETER ? parameter_name(l, value, &is_captured) : value->name;
}

int assignment_line(Lower *l, const SsaValue *phi)
{
    for (uint32_t i = 0; i < phi->count; i++) {
        const SsaAssignment *assignment = assignment_of(l, phi->operands[i], phi->name);
        if (assignment)
            return assignment->pos.line;
    }
    return phi->pos.line;
}

void explain_phi(Lower *l, const SsaValue *phi)
{
    const SsaValue *leaves[PHI_LEAVES];
    uint32_t count = phi_leaves(l, phi, leaves, 0, 0);
    for (uint32_t i = 0; i < count && l->diag->note_count < OPERAND_NOTES; i++) {
        const Type *type = lower_fact(l, leaves[i]).type;
        bool again = false;
        for (uint32_t k = 0; k < i && !again; k++)
            again = type_equal(lower_fact(l, leaves[k]).type, type);
        if (!again)
            note_leaf(l, leaves[i], phi->name);
    }
}

void explain_returns(Lower *l, const Type *result)
{
    const Instance *instance = l->instance;
    for (uint32_t i = 0; i < instance->ssa->block_count; i++) {
        const SsaValue *last = instance->ssa->blocks[i].last;
        if (!instance->block_reached[i] || !last || last->op != SSA_RETURN)
            continue;
        const Type *other = lower_fact(l, last->operands[0]).type;
        if (!other || lower_join_types(l, other, result))
            continue;
        diag_note(l->diag, &last->pos, "%s, returned in line %d", lower_describe(l, other), last->pos.line);
        return;
    }
}

/* A variable that is assigned on several paths: its type and what each path gives, in one line. */
static void note_phi(Lower *l, const SsaValue *phi)
{
    if (!phi->name)
        return;
    const SsaValue *leaves[PHI_LEAVES];
    uint32_t count = phi_leaves(l, phi, leaves, 0, 0);
    Buf text = {0};
    for (uint32_t i = 0; i < count && i < 3; i++) {
        const SsaAssignment *assignment = assignment_of(l, leaves[i], phi->name);
        int line = assignment ? assignment->pos.line : leaves[i]->pos.line;
        buf_printf(&text, "%s%s from line %d", i ? ", " : "", lower_describe(l, lower_fact(l, leaves[i]).type), line);
    }
    diag_note(l->diag, NULL, "'%s' is %s: %s", phi->name, lower_describe(l, lower_fact(l, phi).type), buf_text(&text));
    buf_free(&text);
}

/* An expression in an expression is explained by its own operands: its type is in the message or follows from them. */
static void note_operand(Lower *l, const SsaValue *value, uint32_t depth)
{
    Operand fact = lower_fact(l, value);
    if (!fact.type || l->diag->note_count >= OPERAND_NOTES || depth > EXPRESSION_DEPTH)
        return;
    bool is_object = fact.type->kind == TYPE_OBJECT;
    const char *type = lower_describe(l, fact.type);
    const SsaAssignment *assignment = assignment_of(l, value, NULL);
    bool is_captured;
    if (assignment) {
        SourcePos pos = assignment_position(assignment);
        diag_note(l->diag, &pos, "'%s' is %s, assigned in line %d", assignment->name, type, pos.line);
    } else if (value->op == SSA_PARAMETER) {
        const char *name = parameter_name(l, value, &is_captured);
        diag_note(l->diag, NULL, "'%s' is %s, a %s", name, type, is_captured ? "captured variable" : "parameter");
    } else if (value->op == SSA_PHI) {
        note_phi(l, value);
    } else if (value->op == SSA_CONSTANT) {
        if (value->name && !is_object)
            diag_note(l->diag, NULL, "'%s' is %s, a global", value->name, type);
    } else {
        for (uint32_t i = 0; i < value->count; i++)
            note_operand(l, value->operands[i], depth + 1);
    }
}

static void note_callers(Lower *l, const Instance *instance)
{
    if (!instance->called_by || has_caller_note(l->diag))
        return;
    Buf text = {0};
    uint32_t depth = 0;
    for (const Instance *at = instance; at->called_by && depth < 4; at = at->called_by, depth++)
        buf_printf(&text, "%s line %d of %s", depth ? ", from" : "called from", at->called_at.line,
                   at->called_by->code->source.name);
    diag_note(l->diag, &instance->called_at, "%s", buf_text(&text));
    buf_free(&text);
}

/* A function of cujit's own is none of the user's business: the failure is where he calls it. */
static const Instance *move_to_user(Lower *l)
{
    const Instance *instance = l->instance;
    while (instance->called_by && instance->called_by->code->is_library)
        instance = instance->called_by;
    if (!instance->called_by)
        return instance;
    diag_move(l->diag, &instance->called_at);
    return instance->called_by;
}

void explain_failure(Lower *l, const SsaValue *value)
{
    if (!diag_failed(l->diag))
        return;
    if (l->instance->code->is_library) {
        if (!has_caller_note(l->diag))
            note_callers(l, move_to_user(l));
        return;
    }
    bool is_here = l->diag->line == value->pos.line && l->diag->note_count == 0;
    if (is_here && diag_info[l->diag->id].explains_types)
        for (uint32_t i = 0; i < value->count; i++)
            note_operand(l, value->operands[i], 0);
    note_callers(l, l->instance);
}
