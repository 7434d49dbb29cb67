/* Which registers a struct of C takes on the CPU device: System V's rules of x86-64, those of 64-bit Arm. */
#include "codegen/op/c_registers.h"

#include "codegen/emit_tools.h"
#include "codegen/op/value/parts.h"

#if defined(__aarch64__)
enum { MOST_OF_ONE_KIND = 4 };

/* Up to four floats of one type are each in a register of their own, as an array of them is for LLVM. */
static const Type *only_float(const CLayout *layout)
{
    const Type *first = layout->count ? layout->members[0].scalar : NULL;
    if (!first || first->kind != TYPE_FLOAT || layout->count > MOST_OF_ONE_KIND ||
        layout->size != layout->count * first->size)
        return NULL;
    for (uint32_t i = 1; i < layout->count; i++)
        if (layout->members[i].scalar != first)
            return NULL;
    return first;
}

static bool choose_registers(Emitter *emitter, const CLayout *layout, LLVMTypeRef *pieces, uint32_t *count)
{
    const Type *number = only_float(layout);
    *count = 1;
    if (number)
        pieces[0] = LLVMArrayType2(memory_type(emitter, number), layout->count);
    else if (layout->size <= C_EIGHTBYTE)
        pieces[0] = emitter->i64;
    else
        pieces[0] = LLVMArrayType2(emitter->i64, 2);
    return number || layout->size <= C_MOST_PIECES * C_EIGHTBYTE;
}

const CConvention c_convention = {.choose_registers = choose_registers};
#else
/* A struct of at most two eightbytes: those with floats alone are floats. */
static bool choose_registers(Emitter *emitter, const CLayout *layout, LLVMTypeRef *pieces, uint32_t *count)
{
    bool has_integer[C_MOST_PIECES] = {false};
    if (layout->size > C_MOST_PIECES * C_EIGHTBYTE)
        return false;
    for (uint32_t i = 0; i < layout->count; i++) {
        const CMember *member = &layout->members[i];
        uint32_t size = member->scalar ? member->scalar->size : C_EIGHTBYTE;
        if (member->offset % size)
            return false;
        has_integer[member->offset / C_EIGHTBYTE] |= !member->scalar || member->scalar->kind != TYPE_FLOAT;
    }
    *count = (layout->size + C_EIGHTBYTE - 1) / C_EIGHTBYTE;
    for (uint32_t i = 0; i < *count; i++) {
        uint32_t rest = layout->size - i * C_EIGHTBYTE, bytes = rest < C_EIGHTBYTE ? rest : C_EIGHTBYTE;
        pieces[i] = has_integer[i] ? LLVMIntTypeInContext(emitter->context, 8 * bytes)
                    : bytes > 4    ? emitter->f64
                    : bytes > 2    ? emitter->f32
                                   : LLVMHalfTypeInContext(emitter->context);
    }
    return true;
}

const CConvention c_convention = {.choose_registers = choose_registers,
                                  .integer_registers = 6,
                                  .float_registers = 8,
                                  .is_copied_to_stack = true,
                                  .is_widened = true};
#endif
