/* What is known of a value while a function is lowered, and its value in IR. While types are inferred nothing is emitted
 * and IrValues are NULL. */
#ifndef CUJIT_FRONTEND_OPERAND_H
#define CUJIT_FRONTEND_OPERAND_H

#include "frontend/ssa/ssa.h"

typedef struct Lower Lower;

typedef enum Weakness {
    WEAK_BESIDE_FLOATS = 1, /* literals='weak' */
    WEAK_BESIDE_INTS = 2, /* ints='weak' */
} Weakness;

/* What is known of a value: its type (NULL: nothing yet), its value where that is a constant, and when emitting the IR
 * value (NULL for constants until one is needed, and for what occupies no memory). */
typedef struct Operand {
    const Type *type;
    const Constant *constant;
    IrValue *ir;
    unsigned char weak; /* Weakness: made of nothing but Python's numbers, and under which option */
} Operand;

/* --- operands (operand.c) ----------------------------------------------------------------------------------------- */
/* Records a failure at the value being handled. Always false. */
#define lower_fail(l, ...) diag_fail((l)->diag, &(l)->value->pos, __VA_ARGS__)
Operand lower_fact(Lower *l, const SsaValue *value);
bool lower_fact_known(Lower *l, const SsaValue *value);
Operand operand_value(const Type *type, IrValue *ir);
/* A constant as an operand: its type and, where it can be a run-time value, how. False when it cannot be used. */
bool operand_of_constant(Lower *l, const Constant *constant, Operand *out);
/* A function's captured constant, which it may never read: what no kernel can use is an object until operand_check. */
bool operand_of_capture(Lower *l, const Constant *constant, Operand *out);
/* False with a diagnostic for such an object. */
bool operand_check(Lower *l, Operand operand);
Operand operand_int(Lower *l, int64_t value);
Operand operand_int_typed(Lower *l, const Type *type, int64_t value);
Operand operand_bool(Lower *l, bool value);
Operand operand_float(Lower *l, const Type *type, double value);
Operand operand_none(void);
Operand operand_object(Lower *l, const Constant *constant);
/* The value in IR; constants are emitted on demand. NULL while inferring, and for what occupies no memory. */
IrValue *operand_ir(Lower *l, Operand operand);
bool operand_is_object(Operand operand, ConstantKind kind);
/* The intrinsic that the operand names, or INTRINSIC_NONE. */
IntrinsicId operand_intrinsic(Operand operand);
/* The constant integer, if it is one (bool counts). */
bool operand_const_int(Operand operand, int64_t *value);
/* Description of a type for messages, in the arena. */
const char *lower_describe(Lower *l, const Type *type);
const char *lower_describe_all(Lower *l, const Operand *operands, uint32_t count);
/* The value inside of an optional; everything else as it is. */
Operand operand_value_of(Lower *l, Operand operand);
/* Least type that holds both; NULL when there is none. */
const Type *lower_join_types(Lower *l, const Type *a, const Type *b);
/* What is known of a value that is a or b. False when they do not fit together. */
bool lower_join(Lower *l, Operand a, Operand b, Operand *out);
bool constant_equal(const Constant *a, const Constant *b);
/* Appends what tells a compile-time object apart from others. */
void object_identity(const Constant *constant, Buf *key);

/* --- literals='weak' and ints='weak' (weak_literal.c, weak_integer.c) ----------------------------------------------- */
/* How weak operands made of the constant are. */
unsigned char weakness_of(const Lower *l, const Constant *constant);
/* What the operand counts as next to another: its type, or a float as narrow as the other's where it is weak. */
const Type *weak_type(Operand operand, Operand beside);
/* Whether the function is one of the user's under ints='weak'. */
bool ints_are_weak(const Lower *l);
/* The type of an operation on two numbers: promotion.def's, or what ints='weak' makes of it. NULL: there is none. */
const Type *promote_pair(const Lower *l, PromotionId rule, Operand a, Operand b);
/* Likewise, NULL where ints='weak' has nothing to say. */
const Type *narrow_pair(const Lower *l, PromotionId rule, Operand a, Operand b);
/* The type of what is a or b: where a is a weak integer, that of b. NULL: ints='weak' has nothing to say. */
const Type *narrow_join(const Lower *l, Operand a, Operand b);
/* The type of an integer alone, as of a negative: 32 bits where it has no more. NULL: likewise. */
const Type *narrow_alone(const Lower *l, Operand operand);
/* A copy of the operands, weak floats converted to the precision of those that are not weak. */
bool weaken_arguments(Lower *l, const Operand *from, uint32_t count, Operand *out);

/* --- emission (operand.c). All return NULL while inferring -------------------------------------------------------- */
/* The type as IR has it: what only the frontend knows (functions, modules) occupies nothing and has no identity. */
const Type *erased_type(Arena *arena, const Type *type);
IrValue *emit(Lower *l, IrOp op, const Type *type, uint32_t count, IrValue *const *operands);
IrValue *emit1(Lower *l, IrOp op, const Type *type, IrValue *a);
IrValue *emit2(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b);
IrValue *emit3(Lower *l, IrOp op, const Type *type, IrValue *a, IrValue *b, IrValue *c);
/* Of operands, whose values are emitted from left to right. C leaves open in which order arguments of a call are evaluated:
 * no call has two that emit. */
IrValue *emit_of2(Lower *l, IrOp op, const Type *type, Operand a, Operand b);
IrValue *emit_of3(Lower *l, IrOp op, const Type *type, Operand a, Operand b, Operand c);
IrValue *emit_int(Lower *l, const Type *type, int64_t value);
IrValue *emit_intrinsic(Lower *l, IntrinsicId id, const Type *type, uint32_t count, IrValue *const *operands);
IrValue *emit_index_op(Lower *l, IrOp op, const Type *type, IrValue *a, uint32_t index);
/* A new block, NULL while inferring. */
IrBlock *emit_block(Lower *l);
void emit_jump(Lower *l, IrBlock *to);
void emit_branch(Lower *l, IrValue *condition, IrBlock *yes, IrBlock *no);
/* States what a phi is when control comes from the block emission is in. */
void emit_phi_edge(Lower *l, IrValue *phi, IrValue *value);

/* A loop that a handler emits of its own: index goes from 0 up to count. */
typedef struct Loop {
    IrBlock *header, *body, *exit;
    IrValue *index;
} Loop;

/* Emission continues in the body; loop_end closes it and continues behind the loop. No-ops while inferring. */
Loop loop_begin(Lower *l, IrValue *count);
void loop_end(Lower *l, Loop *loop);

IrValue *emit_extent(Lower *l, Operand array, uint32_t axis);
/* Whether the parameter is passed at run time. */
bool operand_is_runtime(Operand operand);

#endif
