/* Reads co_linetable, whose format is the same from CPython 3.11 on (Objects/locations.md, InternalDocs/code_objects.md
 * later). co_positions() makes a tuple for each unit, which took half of the time of a snapshot. */
#include "ext/snapshot/positions.h"

#include "ext/guard.h"

/* Kinds of entries; those below have a column of up to 79 and no line. */
enum { ONE_LINE = 10, NO_COLUMN = 13, LONG = 14, NOWHERE = 15 };

typedef struct Reader {
    const uint8_t *next, *end;
} Reader;

static unsigned read_byte(Reader *r) { return r->next < r->end ? *r->next++ : 0; }

/* Six bits a byte, the lowest first; another bit says that more follow. */
static unsigned read_number(Reader *r)
{
    unsigned number = 0, shift = 0, byte;
    do {
        byte = read_byte(r);
        number |= shift < 32 ? (byte & 63) << shift : 0;
        shift += shift < 32 ? 6 : 0;
    } while (byte & 64);
    return number;
}

/* The lowest bit is the sign. */
static int read_signed(Reader *r)
{
    unsigned number = read_number(r);
    return number & 1 ? -(int)(number >> 1) : (int)(number >> 1);
}

/* One more than the column; none is 0, as what an entry does not say. */
static int read_column(Reader *r)
{
    unsigned number = read_number(r);
    return number ? (int)(number - 1) : 0;
}

/* Tables of other makers than the compiler may say any number. */
static int add_lines(int line, int lines) { return (int)((unsigned)line + (unsigned)lines); }

/* The entry's position but for its function; what it does not say is 0. *line: the last entry's, and then this one's. */
static SourcePos read_entry(Reader *r, unsigned kind, int *line)
{
    if (kind == NOWHERE)
        return (SourcePos){0};
    *line = add_lines(*line, kind >= NO_COLUMN ? read_signed(r) : kind >= ONE_LINE ? (int)kind - ONE_LINE : 0);
    SourcePos position = {.line = *line, .end_line = *line};
    if (kind == NO_COLUMN)
        return position;
    if (kind == LONG) {
        position.end_line = add_lines(*line, (int)read_number(r));
        position.column = read_column(r);
        position.end_column = read_column(r);
    } else if (kind >= ONE_LINE) {
        position.column = (int)read_byte(r);
        position.end_column = (int)read_byte(r);
    } else {
        unsigned columns = read_byte(r);
        position.column = (int)(kind << 3 | columns >> 4);
        position.end_column = position.column + (int)(columns & 15);
    }
    return position;
}

const SourcePos *ext_positions(Arena *arena, PyCodeObject *code, const SourceFunction *source, uint32_t count)
{
    PyObject *table = ext_hold(PyObject_GetAttrString((PyObject *)code, "co_linetable"));
    SourcePos *positions = ARENA_ARRAY(arena, SourcePos, count);
    if (!table || !PyBytes_Check(table))
        return NULL;
    Reader r = {(const uint8_t *)PyBytes_AS_STRING(table), NULL};
    r.end = r.next + PyBytes_GET_SIZE(table);
    int line = code->co_firstlineno;
    uint32_t made = 0;
    while (made < count) {
        SourcePos position = {0};
        uint32_t units = count - made;
        if (r.next < r.end) {
            unsigned first = read_byte(&r);
            position = read_entry(&r, first >> 3 & 15, &line);
            units = (first & 7) + 1 < units ? (first & 7) + 1 : units;
        }
        position.function = source;
        while (units--)
            positions[made++] = position;
    }
    return positions;
}
