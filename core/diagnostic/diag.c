/* Formats failures by their row of diag.def. */
#include "core/diagnostic/diag.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

const DiagInfo diag_info[DIAG_COUNT] = {
    [DIAG_NONE] = {"NONE", "", "", false},
#define DIAG(id, exception, format) [DIAG_##id] = {#id, #exception, format, false},
#define DIAG_TYPES(id, exception, format) [DIAG_##id] = {#id, #exception, format, true},
#include "core/diagnostic/diag.def"
#undef DIAG
#undef DIAG_TYPES
};

/* A text cut to its buffer must not end inside a UTF-8 character: Python decodes it strictly. */
static void drop_partial_character(char *text)
{
    size_t length = strlen(text), start = length;
    while (start > 0 && length - start < 4 && ((unsigned char)text[start - 1] & 0xC0) == 0x80)
        start--;
    if (start == 0)
        return;
    unsigned char lead = (unsigned char)text[start - 1];
    size_t needed = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
    if (length - (start - 1) < needed)
        text[start - 1] = '\0';
}

static void copy_text(char *to, size_t size, const char *from)
{
    if (snprintf(to, size, "%s", from ? from : "") >= (int)size)
        drop_partial_character(to);
}

void diag_move(Diag *diag, const SourcePos *pos)
{
    diag->line = pos->line;
    diag->end_line = pos->end_line;
    diag->column = pos->column;
    diag->end_column = pos->end_column;
    if (pos->function) {
        copy_text(diag->file, sizeof diag->file, pos->function->file);
        copy_text(diag->function, sizeof diag->function, pos->function->name);
    }
}

static void record(Diag *diag, const SourcePos *pos, int code, DiagId id, va_list arguments)
{
    diag_clear(diag);
    diag->id = id;
    diag->code = code;
    if (vsnprintf(diag->message, sizeof diag->message, diag_info[id].format, arguments) >= (int)sizeof diag->message)
        drop_partial_character(diag->message);
    if (pos)
        diag_move(diag, pos);
}

bool diag_fail(Diag *diag, const SourcePos *pos, DiagId id, ...)
{
    if (diag_failed(diag))
        return false;
    va_list arguments;
    va_start(arguments, id);
    record(diag, pos, 0, id, arguments);
    va_end(arguments);
    return false;
}

bool diag_fail_code(Diag *diag, int code, DiagId id, ...)
{
    if (diag_failed(diag))
        return false;
    va_list arguments;
    va_start(arguments, id);
    record(diag, NULL, code, id, arguments);
    va_end(arguments);
    return false;
}

void diag_note(Diag *diag, const SourcePos *pos, const char *format, ...)
{
    if (!diag_failed(diag) || diag->note_count == DIAG_NOTE_LIMIT)
        return;
    DiagNote *note = &diag->notes[diag->note_count];
    va_list arguments;
    va_start(arguments, format);
    if (vsnprintf(note->message, sizeof note->message, format, arguments) >= (int)sizeof note->message)
        drop_partial_character(note->message);
    va_end(arguments);
    for (int i = 0; i < diag->note_count; i++)
        if (strcmp(diag->notes[i].message, note->message) == 0)
            return;
    diag->note_count++;
    note->file[0] = '\0';
    note->line = 0;
    if (!pos || !pos->function || pos->line <= 0)
        return;
    copy_text(note->file, sizeof note->file, pos->function->file);
    note->line = pos->line;
    note->end_line = pos->end_line;
    note->column = pos->column;
    note->end_column = pos->end_column;
}

void diag_clear(Diag *diag)
{
    diag->id = DIAG_NONE;
    diag->message[0] = diag->file[0] = diag->function[0] = '\0';
    diag->line = diag->end_line = diag->column = diag->end_column = diag->code = diag->note_count = 0;
}
