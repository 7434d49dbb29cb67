/* ISO 8601 as NumPy reads it: "2000-01-31T12:30:05.123", up to any of its parts, which is then the unit. */
#include "core/type/type.h"

enum { MOST_DIGITS_OF_YEAR = 9, MOST_DIGITS_OF_SECOND = 18 };

/* What is left of a text. */
typedef struct Reader {
    const char *at;
} Reader;

static bool takes(Reader *reader, char letter)
{
    bool found = *reader->at == letter;
    reader->at += found;
    return found;
}

static bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/* So many digits at least, and at most. */
static bool take_number(Reader *reader, int least, int most, int64_t *number)
{
    int count = 0;
    for (*number = 0; is_digit(*reader->at) && count < most; count++)
        *number = 10 * *number + (*reader->at++ - '0');
    return count >= least;
}

static bool take_two_digits(Reader *reader, int64_t first, int64_t last, int64_t *number)
{
    return take_number(reader, 2, 2, number) && *number >= first && *number <= last;
}

static int64_t days_in_month(int64_t year, int64_t month)
{
    static const uint8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && is_leap);
}

static int64_t divide_down(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/* From 1970-01-01. Years begin in March: then the day that comes and goes is the last of its year. */
static int64_t days_since(int64_t year, int64_t month, int64_t day)
{
    int64_t march = month > 2 ? month - 3 : month + 9, of_march = month > 2 ? year : year - 1;
    int64_t leaps = divide_down(of_march, 4) - divide_down(of_march, 100) + divide_down(of_march, 400);
    return of_march * 365 + leaps + (march * 153 + 2) / 5 + day - 1 - 719468;
}

/* count * factor + more. */
static bool refine(int64_t *count, int64_t factor, int64_t more)
{
    return !__builtin_mul_overflow(*count, factor, count) && !__builtin_add_overflow(*count, more, count);
}

/* Behind the point: units of a thousandth of the one before, as many as there are digits for. */
static bool take_fraction(Reader *reader, int64_t *count, TimeUnit *unit)
{
    int digits = 0;
    do
        for (int64_t i = 0, place = 100; i < 3; i++, place /= 10) {
            int64_t digit = is_digit(*reader->at) ? *reader->at++ - '0' : 0;
            digits += 1;
            if (!refine(count, i ? 1 : 1000, digit * place))
                return false;
        }
    while (is_digit(*reader->at) && digits < MOST_DIGITS_OF_SECOND);
    *unit = (TimeUnit)(TIME_UNIT_SECOND + digits / 3);
    return true;
}

static bool take_time_of_day(Reader *reader, int64_t *count, TimeUnit *unit)
{
    int64_t part;
    if (!take_two_digits(reader, 0, 23, &part) || !refine(count, 24, part))
        return false;
    for (*unit = TIME_UNIT_HOUR; *unit < TIME_UNIT_SECOND && takes(reader, ':'); ++*unit)
        if (!take_two_digits(reader, 0, 59, &part) || !refine(count, 60, part))
            return false;
    return *unit < TIME_UNIT_SECOND || !takes(reader, '.') || take_fraction(reader, count, unit);
}

bool time_of_text(const char *text, int64_t *count, TimeUnit *unit)
{
    Reader reader = {text};
    bool is_negative = takes(&reader, '-');
    int64_t year, month = 1, day = 1;
    if ((!is_negative && takes(&reader, '+') && !is_digit(*reader.at)) ||
        !take_number(&reader, 1, MOST_DIGITS_OF_YEAR, &year))
        return false;
    year = is_negative ? -year : year;
    *unit = TIME_UNIT_YEAR;
    *count = year - 1970;
    if (takes(&reader, '-')) {
        if (!take_two_digits(&reader, 1, 12, &month))
            return false;
        *unit = TIME_UNIT_MONTH;
        *count = *count * 12 + month - 1;
    }
    if (*unit == TIME_UNIT_MONTH && takes(&reader, '-')) {
        if (!take_two_digits(&reader, 1, days_in_month(year, month), &day))
            return false;
        *unit = TIME_UNIT_DAY;
        *count = days_since(year, month, day);
    }
    if (*unit == TIME_UNIT_DAY && (takes(&reader, 'T') || takes(&reader, ' ')) &&
        !take_time_of_day(&reader, count, unit))
        return false;
    return *reader.at == '\0';
}
