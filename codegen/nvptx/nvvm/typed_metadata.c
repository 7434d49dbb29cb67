/* Metadata in LLVM 7's text: what it knows and uses, by number, in the order in which it is named. */
#include <inttypes.h>
#include <string.h>

#include "codegen/nvptx/nvvm/typed_text.h"

static const char *const kept[] = {"range", "invariant.load", "llvm.loop", "nontemporal", "prof", "unpredictable"};
enum { KEPT_COUNT = sizeof kept / sizeof *kept };

static uint32_t node_number(TypedText *t, LLVMValueRef node)
{
    uint32_t before = t->metadata_count, number = typed_number(t, node, &t->metadata_count);
    if (t->metadata_count == before)
        return number;
    t->metadata = arena_grow(t->emitter->arena, t->metadata, before, &t->metadata_capacity, sizeof(LLVMValueRef));
    t->metadata[before] = node;
    return number;
}

void typed_attachments(TypedText *t, LLVMValueRef instruction)
{
    for (int i = 0; i < KEPT_COUNT; i++) {
        unsigned kind = LLVMGetMDKindIDInContext(t->emitter->context, kept[i], (unsigned)strlen(kept[i]));
        LLVMValueRef node = LLVMGetMetadata(instruction, kind);
        if (node)
            buf_printf(&t->out, ", !%s !%u", kept[i], node_number(t, node) - 1);
    }
}

static void typed_item(TypedText *t, LLVMValueRef item)
{
    unsigned length;
    if (!item) {
        buf_add(&t->out, "null");
    } else if (LLVMIsAMDString(item)) {
        const char *text = LLVMGetMDString(item, &length);
        buf_printf(&t->out, "!\"%.*s\"", (int)length, text);
    } else if (LLVMIsAFunction(item)) { /* an annotation is of the function itself */
        typed_pointer(t, LLVMGlobalGetValueType(item), 0);
        buf_add(&t->out, " ");
        typed_global_name(t, item);
    } else if (LLVMIsAMDNode(item)) {
        buf_printf(&t->out, "!%u", node_number(t, item) - 1);
    } else {
        typed_operand(t, item);
    }
}

static void typed_node(TypedText *t, uint32_t index)
{
    LLVMValueRef node = t->metadata[index];
    unsigned count = LLVMGetMDNodeNumOperands(node);
    LLVMValueRef *items = ARENA_ARRAY(t->emitter->arena, LLVMValueRef, count + 1);
    LLVMGetMDNodeOperands(node, items);
    bool is_distinct = count && items[0] == node; /* a loop's names itself first */
    buf_printf(&t->out, "!%u = %s!{", index, is_distinct ? "distinct " : "");
    for (unsigned i = 0; i < count; i++) {
        buf_add(&t->out, i ? ", " : "");
        typed_item(t, items[i]);
    }
    buf_add(&t->out, "}\n");
}

static void typed_named(TypedText *t, const char *name)
{
    LLVMModuleRef module = t->emitter->llvm_module;
    unsigned count = LLVMGetNamedMetadataNumOperands(module, name);
    LLVMValueRef *nodes = ARENA_ARRAY(t->emitter->arena, LLVMValueRef, count + 1);
    LLVMGetNamedMetadataOperands(module, name, nodes);
    if (!count)
        return;
    buf_printf(&t->out, "!%s = !{", name);
    for (unsigned i = 0; i < count; i++)
        buf_printf(&t->out, "%s!%u", i ? ", " : "", node_number(t, nodes[i]) - 1);
    buf_add(&t->out, "}\n");
}

void typed_metadata(TypedText *t)
{
    t->place = NULL;
    buf_add(&t->out, "\n");
    typed_named(t, "nvvm.annotations");
    typed_named(t, "nvvmir.version");
    for (uint32_t i = 0; i < t->metadata_count; i++) /* which grows */
        typed_node(t, i);
}
