/* One Diag per request: the first failure wins, later ones are dropped. Fixed size, owns no memory, so that it can
 * outlive the arena of the compilation that failed. */
#ifndef CUJIT_CORE_DIAG_H
#define CUJIT_CORE_DIAG_H

#include <stdarg.h>
#include <stdbool.h>

#include "core/base/fields.h"
#include "core/diagnostic/exception_record.h"

typedef enum DiagId {
    DIAG_NONE,
#define DIAG(id, exception, format) DIAG_##id,
#include "core/diagnostic/diag.def"
#undef DIAG
#undef DIAG_TYPES
    DIAG_COUNT
} DiagId;

/* Where a Python function comes from. Lives in the arena of its snapshot. */
#define SOURCE_FUNCTION_FIELDS(FIELD)                                               \
    FIELD(const char *, file, , place_text, ) /* co_filename */                     \
    FIELD(const char *, name, , text, ) /* co_qualname */                           \
    FIELD(int, first_line, , place_number, ) /* co_firstlineno */                   \
    /* belongs to cujit._kernel_functions: what users look for is their own call */ \
    FIELD(bool, is_library, , number, )
typedef struct SourceFunction {
    SOURCE_FUNCTION_FIELDS(DECLARE_FIELD)
} SourceFunction;

/* A range of source text. line is 1-based, columns are 0-based UTF-8 byte offsets; line 0: unknown. */
#define SOURCE_POS_FIELDS(FIELD)                                                        \
    FIELD(const SourceFunction *, function, , none, ) /* the code's own; may be NULL */ \
    FIELD(int, line, , number, )                                                        \
    FIELD(int, end_line, , number, )                                                    \
    FIELD(int, column, , number, )                                                      \
    FIELD(int, end_column, , number, )
typedef struct SourcePos {
    SOURCE_POS_FIELDS(DECLARE_FIELD)
} SourcePos;

/* Something that explains a failure, with a place of its own where it has one (line 0: none). */
typedef struct DiagNote {
    char message[256];
    char file[256];
    int line, end_line, column, end_column;
} DiagNote;

enum { DIAG_NOTE_LIMIT = 4 };

/* Starts as diag_clear leaves it (or all zero); what lies behind note_count is not initialized. */
typedef struct Diag {
    DiagId id;                /* DIAG_NONE: nothing failed */
    char message[2048];
    char file[512];           /* "" when no source position belongs to the failure */
    char function[128];
    int line, end_line, column, end_column;
    int code;                 /* driver result number, else 0 */
    int note_count;
    DiagNote notes[DIAG_NOTE_LIMIT];
    ExceptionRecord raised;   /* DIAG_KERNEL_EXCEPTION: what a thread raised */
} Diag;

typedef struct DiagInfo {
    const char *name;         /* "UNSUPPORTED_BYTECODE" */
    const char *exception;    /* class in cujit.errors, or a builtin's name */
    const char *format;
    bool explains_types;      /* worth saying where the types of the operands come from */
} DiagInfo;

extern const DiagInfo diag_info[DIAG_COUNT];

static inline bool diag_failed(const Diag *diag) { return diag->id != DIAG_NONE; }
/* Records a failure with the row's format; pos may be NULL. Always returns false, so that failing is one statement. */
bool diag_fail(Diag *diag, const SourcePos *pos, DiagId id, ...);
/* The same with a driver's or library's result number kept in diag->code. */
bool diag_fail_code(Diag *diag, int code, DiagId id, ...);
/* Adds to a failure; dropped when nothing failed, when it was said before, or when there are DIAG_NOTE_LIMIT notes.
 * pos may be NULL. */
void diag_note(Diag *diag, const SourcePos *pos, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Places a failure elsewhere: at the call that a user wrote instead of in the function that he did not. */
void diag_move(Diag *diag, const SourcePos *pos);
/* Cheap: writes no more than must be. */
void diag_clear(Diag *diag);

#endif
