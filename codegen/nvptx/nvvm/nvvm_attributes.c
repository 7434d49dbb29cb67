/* Most attributes say what LLVM has found out: libNVVM finds that out again. Those that change what code means stay. */
#include "codegen/nvptx/nvvm/nvvm_attributes.h"

#include <string.h>

static const char *const kept[] = {"alignstack", "align",    "alwaysinline", "byval", "convergent", "noinline",
                                   "noundef",    "nounwind", "signext",      "sret",  "zeroext"};
enum { KEPT_COUNT = sizeof kept / sizeof *kept, MOST_ATTRIBUTES = 64 };

static bool is_kept(LLVMAttributeRef attribute)
{
    if (LLVMIsStringAttribute(attribute))
        return true; /* whoever does not know one passes over it */
    unsigned kind = LLVMGetEnumAttributeKind(attribute);
    for (int i = 0; i < KEPT_COUNT; i++)
        if (kind == LLVMGetEnumAttributeKindForName(kept[i], strlen(kept[i])))
            return true;
    return false;
}

/* Attributes of functions or of calls: both have the same three functions of LLVM's. */
typedef struct Holder {
    unsigned (*count)(LLVMValueRef, LLVMAttributeIndex);
    void (*get)(LLVMValueRef, LLVMAttributeIndex, LLVMAttributeRef *);
    void (*remove)(LLVMValueRef, LLVMAttributeIndex, unsigned);
} Holder;

static const Holder of_functions = {LLVMGetAttributeCountAtIndex, LLVMGetAttributesAtIndex,
                                    LLVMRemoveEnumAttributeAtIndex};
static const Holder of_calls = {LLVMGetCallSiteAttributeCount, LLVMGetCallSiteAttributes,
                                LLVMRemoveCallSiteEnumAttribute};

static void strip_place(const Holder *holder, LLVMValueRef value, LLVMAttributeIndex place)
{
    LLVMAttributeRef attributes[MOST_ATTRIBUTES];
    unsigned count = holder->count(value, place);
    if (count > MOST_ATTRIBUTES)
        return;
    holder->get(value, place, attributes);
    for (unsigned i = 0; i < count; i++)
        if (!is_kept(attributes[i]))
            holder->remove(value, place, LLVMGetEnumAttributeKind(attributes[i]));
}

static void strip(const Holder *holder, LLVMValueRef value, unsigned parameters)
{
    strip_place(holder, value, (LLVMAttributeIndex)LLVMAttributeFunctionIndex);
    for (unsigned i = 0; i <= parameters; i++)
        strip_place(holder, value, i);
}

void strip_attributes(LLVMValueRef function)
{
    strip(&of_functions, function, LLVMCountParams(function));
    for (LLVMBasicBlockRef block = LLVMGetFirstBasicBlock(function); block; block = LLVMGetNextBasicBlock(block))
        for (LLVMValueRef value = LLVMGetFirstInstruction(block); value; value = LLVMGetNextInstruction(value))
            if (LLVMIsACallInst(value))
                strip(&of_calls, value, LLVMGetNumArgOperands(value));
}
