/* Raising: what ends a thread by an exception, and what Python's operators raise. */
#ifndef CUJIT_FRONTEND_LOWER_CHECK_H
#define CUJIT_FRONTEND_LOWER_CHECK_H

#include "frontend/engine.h"

/* Ends the thread; where the host is told, by an exception without values. Nothing while inferring. */
void emit_silent_raise(Lower *l);
/* Ends the thread by the exception, whose run-time values these are. Nothing while inferring. */
void emit_raise(Lower *l, const IrException *exception, uint32_t count, IrValue *const *values);
/* Whether operators check what Python would raise. */
bool lower_checks(const Lower *l);
/* Raises a builtin exception with this text where the condition holds. Nothing while inferring. */
void emit_check(Lower *l, IrValue *condition, const char *class, const char *text);
/* UnboundLocalError of the variable where the condition holds: check mode's, which the host is told of in any case. */
void emit_unbound_check(Lower *l, IrValue *condition, const char *name);
/* NameError likewise, of a variable of a function around this one. */
void emit_unbound_capture_check(Lower *l, IrValue *condition, const char *name);
/* TypeError where an optional that is used as a value is None: check mode's. While inferring, and of others, nothing. */
void emit_none_check(Lower *l, Operand operand);
/* Whether check mode looks at indices here. Of cujit's own functions it does in those whose caller is known. */
bool lower_checks_bounds(const Lower *l);
/* Raises a builtin exception where the condition holds and check mode looks at indices: what one access does not show. Its
 * text is Python's format of the values, i64 each. While emitting. */
void emit_bounds_check(Lower *l, IrValue *condition, const char *class, const char *format, uint32_t count,
                       IrValue *const *values);
/* Raises a builtin exception where the condition holds; where operators check nothing, the launch fails. While emitting. */
void emit_check_or_trap(Lower *l, IrValue *condition, const char *class, const char *text);
/* Ends the thread by a builtin exception here; where the host is not told, just ends it. */
void emit_builtin_raise(Lower *l, const char *class);
/* Whether the number is known to be another than 0. */
bool value_is_never_zero(const IrValue *value);
/* ZeroDivisionError where the divisor is 0 and operators are checked. */
void emit_zero_check(Lower *l, IrValue *divisor, const char *text);
/* Where an exception of the value being handled happens, for the user. */
SourcePos raise_place(const Lower *l);

#endif
