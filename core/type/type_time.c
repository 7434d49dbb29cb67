/* datetime64 and timedelta64: their units, what two of them have in common, and names. */
#include <stdlib.h>
#include <string.h>

#include "core/type/type.h"

static const struct {
    const char *name;
    int number;
    int64_t finer;
} units[TIME_UNIT_COUNT] = {
#define TIME_UNIT(ID, NAME, NUMBER, FINER) [TIME_UNIT_##ID] = {NAME, NUMBER, FINER},
#include "core/type/time_unit.def"
#undef TIME_UNIT
};

const char *time_unit_name(TimeUnit unit) { return units[unit].name; }

int time_unit_number(TimeUnit unit) { return units[unit].number; }

bool time_unit_by_name(const char *name, size_t length, TimeUnit *unit)
{
    for (int i = 0; i < TIME_UNIT_COUNT; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return *unit = (TimeUnit)i, true;
    return false;
}

bool time_unit_by_number(int number, TimeUnit *unit)
{
    for (int i = 0; i < TIME_UNIT_COUNT; i++)
        if (units[i].number == number)
            return *unit = (TimeUnit)i, true;
    return false;
}

const Type *type_time(Arena *arena, TypeKind kind, TimeUnit unit, uint32_t multiple)
{
    Type type = {.kind = kind, .size = 8, .alignment = 8, .unit = unit, .multiple = multiple};
    return arena_copy(arena, &type, sizeof type);
}

const Type *type_time_by_name(Arena *arena, const char *name)
{
    static const struct {
        const char *name;
        TypeKind kind;
    } names[] = {
        {"datetime64", TYPE_DATETIME}, {"M8", TYPE_DATETIME}, {"timedelta64", TYPE_TIMEDELTA}, {"m8", TYPE_TIMEDELTA}};
    TimeUnit unit;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t length = strlen(names[i].name);
        if (strncmp(name, names[i].name, length) != 0)
            continue;
        name += length;
        if (!*name)
            return type_time(arena, names[i].kind, TIME_UNIT_GENERIC, 1);
        size_t digits = strspn(name + 1, "0123456789"), letters = strcspn(name + 1 + digits, "]");
        unsigned long multiple = digits ? strtoul(name + 1, NULL, 10) : 1;
        bool fits = *name == '[' && strcmp(name + 1 + digits + letters, "]") == 0 && multiple && multiple <= UINT32_MAX;
        if (fits && time_unit_by_name(name + 1 + digits, letters, &unit))
            return type_time(arena, names[i].kind, unit, (uint32_t)multiple);
        return NULL;
    }
    return NULL;
}

bool time_factor(TimeUnit from, TimeUnit to, int64_t *factor)
{
    *factor = 1;
    if (from == TIME_UNIT_GENERIC)
        return true;
    if (to == TIME_UNIT_GENERIC)
        return false;
    for (; from < to; from++)
        if (!units[from].finer || __builtin_mul_overflow(*factor, units[from].finer, factor))
            return false;
    return from == to;
}

static uint64_t greatest_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static bool is_calendar(TimeUnit unit) { return unit == TIME_UNIT_YEAR || unit == TIME_UNIT_MONTH; }

/* Months have no fixed number of days: as dates they take the other's unit, rounded down to it; as durations they do not
 * go together with it. */
const Type *type_join_times(Arena *arena, const Type *a, const Type *b, TypeKind kind)
{
    if (a->unit == TIME_UNIT_GENERIC || b->unit == TIME_UNIT_GENERIC) {
        const Type *given = a->unit == TIME_UNIT_GENERIC ? b : a;
        return type_time(arena, kind, given->unit, given->multiple);
    }
    const Type *finer = a->unit > b->unit ? a : b, *coarser = finer == a ? b : a;
    int64_t factor;
    if (is_calendar(coarser->unit) && !is_calendar(finer->unit))
        return coarser->kind == TYPE_DATETIME ? type_time(arena, kind, finer->unit, finer->multiple) : NULL;
    if (!time_factor(coarser->unit, finer->unit, &factor))
        return NULL;
    uint64_t whole;
    if (__builtin_mul_overflow((uint64_t)factor, (uint64_t)coarser->multiple, &whole))
        return NULL;
    uint64_t multiple = greatest_divisor(whole, finer->multiple);
    return type_time(arena, kind, finer->unit, (uint32_t)multiple);
}
