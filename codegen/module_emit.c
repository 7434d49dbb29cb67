/* One LLVM module from one IR module: context and types, declarations of all functions, then their bodies. */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "codegen/check/wide_access.h"
#include "codegen/debug_lines.h"
#include "codegen/emit.h"
#include "codegen/emit_tools.h"
#include "codegen/ir_to_llvm.h"
#include "codegen/module_emit.h"
#include "codegen/op/exception_emit.h"
#include "codegen/op/export_emit.h"
#include "codegen/op/value/parts.h"
#include "codegen/optimize/inlining.h"
#include "codegen/optimize/pass_builder.h"

static void on_llvm_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    Emitter *emitter = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError || emitter->llvm_error[0])
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    snprintf(emitter->llvm_error, sizeof emitter->llvm_error, "%s", text);
    LLVMDisposeMessage(text);
}

static LLVMTypeRef scalar_part(Emitter *emitter, const Type *type)
{
    LLVMContextRef context = emitter->context;
    uint32_t size = type->kind == TYPE_COMPLEX ? type->size / 2 : type->size;
    if (type->kind == TYPE_BOOL)
        return emitter->i1;
    if (type_is_integer(type))
        return LLVMIntTypeInContext(context, size * 8);
    if (type->scalar == SCALAR_BFLOAT16)
        return LLVMBFloatTypeInContext(context);
    return size == 2 ? LLVMHalfTypeInContext(context) : size == 4 ? emitter->f32 : emitter->f64;
}

static void make_types(Emitter *emitter)
{
    LLVMContextRef context = emitter->context;
    emitter->void_type = LLVMVoidTypeInContext(context);
    emitter->pointer_type = LLVMPointerTypeInContext(context, ADDRESS_GENERIC);
    emitter->i1 = LLVMInt1TypeInContext(context);
    emitter->i8 = LLVMInt8TypeInContext(context);
    emitter->i32 = LLVMInt32TypeInContext(context);
    emitter->i64 = LLVMInt64TypeInContext(context);
    emitter->f32 = LLVMFloatTypeInContext(context);
    emitter->f64 = LLVMDoubleTypeInContext(context);
    for (int id = 0; id < SCALAR_COUNT; id++)
        emitter->scalar_types[id] = scalar_part(emitter, &type_scalars[id]);
}

static unsigned llvm_float_flags(unsigned flags)
{
    unsigned result = LLVMFastMathNone;
#define FLOAT_FLAG(id, word, llvm, doc) result |= flags & FLOAT_##id ? (unsigned)llvm : 0;
#include "core/float_flag.def"
#undef FLOAT_FLAG
    return result;
}

static void choose_float_flags(Emitter *emitter)
{
    unsigned flags = emitter->options->fastmath;
    emitter->division_flags = llvm_float_flags(flags);
    emitter->arithmetic_flags = llvm_float_flags(flags | (emitter->options->fmad ? FLOAT_CONTRACT : 0));
    emitter->comparison_flags = llvm_float_flags(flags & (FLOAT_NNAN | FLOAT_NINF | FLOAT_NSZ));
}

bool emitter_open(Emitter *emitter)
{
    assert(!emitter->context && emitter->ir->first);
    emitter->lowering = emitter->target->kind == TARGET_NVPTX ? &target_nvptx : &target_host;
    emitter->effects = ir_module_effects(emitter->ir);
    MachineKind kind;
    if (!emitter->lowering->choose_machine(emitter, &kind))
        return false;
    emitter->held = machine_take(&kind);
    emitter->machine = machine_of_llvm(emitter->held);
    if (emitter->lowering->begin)
        emitter->lowering->begin(emitter);
    emitter->context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(emitter->context, on_llvm_diagnostic, emitter);
    LLVMContextSetDiscardValueNames(emitter->context, true);
    emitter->llvm_module = LLVMModuleCreateWithNameInContext("cujit", emitter->context);
    emitter->builder = LLVMCreateBuilderInContext(emitter->context);
    emitter->data_layout = LLVMCreateTargetDataLayout(emitter->machine);
    char *triple = LLVMGetTargetMachineTriple(emitter->machine);
    LLVMSetTarget(emitter->llvm_module, triple);
    LLVMDisposeMessage(triple);
    LLVMSetModuleDataLayout(emitter->llvm_module, emitter->data_layout);
    make_types(emitter);
    choose_float_flags(emitter);
    return true;
}

void emitter_close(Emitter *emitter)
{
    if (emitter->debug)
        LLVMDisposeDIBuilder(emitter->debug);
    if (emitter->builder)
        LLVMDisposeBuilder(emitter->builder);
    if (emitter->llvm_module)
        LLVMDisposeModule(emitter->llvm_module);
    if (emitter->data_layout)
        LLVMDisposeTargetData(emitter->data_layout);
    if (emitter->context)
        LLVMContextDispose(emitter->context);
    machine_give_back(emitter->held);
}

/* A name that PTX and every assembler take: what is no letter, digit or underscore becomes one. */
static const char *symbol_name(Emitter *emitter, const char *prefix, const char *name)
{
    bool starts_with_digit = !*prefix && *name >= '0' && *name <= '9';
    char *symbol = arena_format(emitter->arena, "%s%s%s", prefix, starts_with_digit ? "_" : "", name);
    for (char *c = symbol + strlen(prefix); *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9')))
            *c = '_';
    return symbol;
}

/* --- declarations ---------------------------------------------------------------------------------------------------- */

static LLVMTypeRef field_type(Emitter *emitter, const AbiField *field)
{
    switch (field->kind) {
    case ABI_SCALAR: return memory_type(emitter, field->type);
    case ABI_POINTER: return LLVMPointerTypeInContext(emitter->context, emitter->lowering->pointer_space);
    case ABI_EXCEPTION_RECORD: return LLVMPointerTypeInContext(emitter->context, emitter->lowering->pointer_space);
    case ABI_VALUE: return emitter->pointer_type;
    case ABI_EXTENT:
    case ABI_STRIDE:
    case ABI_EXCEPTION_TAG: return emitter->i64;
    }
    return NULL;
}

static bool is_aligned(const IrFunc *kernel, uint32_t parameter)
{
    return parameter < WIDE_ACCESS_MOST && kernel->aligned >> parameter & 1;
}

typedef struct Attributes {
    Emitter *emitter;
    PlacedAttribute *items;
    uint32_t count, capacity;
} Attributes;

static void add_attribute(Attributes *list, uint32_t place, LLVMAttributeRef attribute)
{
    list->items = arena_grow(list->emitter->arena, list->items, list->count, &list->capacity, sizeof *list->items);
    list->items[list->count++] = (PlacedAttribute){place, attribute};
}

/* Bytes among the parameters, which nobody writes to. On a GPU they are the kernel's own; from PTX 7.7 on, which
 * has cvta.param, no copy of them is needed where they are addressed. */
static void add_value_attributes(Attributes *list, uint32_t place, const AbiField *field)
{
    static const char constant[] = "nvvm.grid_constant";
    Emitter *emitter = list->emitter;
    LLVMTypeRef bytes = LLVMArrayType2(emitter->i8, field->size);
    unsigned kind = LLVMGetEnumAttributeKindForName("byval", strlen("byval"));
    add_attribute(list, place, enum_attribute(emitter, "align", KERNEL_ABI_VALUE_ALIGNMENT));
    add_attribute(list, place, enum_attribute(emitter, "readonly", 0));
    add_attribute(list, place, enum_attribute(emitter, "noalias", 0));
    if (emitter->target->kind == TARGET_HOST) {
        add_attribute(list, place, enum_attribute(emitter, "dereferenceable", field->size));
        return;
    }
    add_attribute(list, place, LLVMCreateTypeAttribute(emitter->context, kind, bytes));
    add_attribute(list, place, LLVMCreateStringAttribute(emitter->context, constant, sizeof constant - 1, "", 0));
}

static void add_field_attributes(Attributes *list, uint32_t place, const AbiField *field, const bool *written)
{
    Emitter *emitter = list->emitter;
    int64_t most = emitter->ir->first->is_limited ? LAUNCH_LIMIT_EXTENT : KERNEL_ABI_MAX_EXTENT;
    add_attribute(list, place, enum_attribute(emitter, "noundef", 0));
    if (field->kind == ABI_POINTER && emitter->ir->first->is_apart && !written[field->parameter])
        add_attribute(list, place, enum_attribute(emitter, "noalias", 0));
    if (field->kind == ABI_POINTER && is_aligned(emitter->ir->first, field->parameter))
        add_attribute(list, place, enum_attribute(emitter, "align", WIDE_ACCESS_BYTES));
    if (field->kind == ABI_VALUE)
        add_value_attributes(list, place, field);
    if (field->kind == ABI_EXTENT)
        add_attribute(list, place, range_attribute(emitter, 64, 0, most + 1));
}

static void declare_kernel(Emitter *emitter, EmittedFunction *out)
{
    const IrFunc *ir = out->ir;
    emitter->abi = kernel_abi_with_values(ir->parameter_types, ir->parameter_count, ir->passed,
                                          ir->passed ? ir->parameter_count : 0, ir->reports, emitter->arena);
    uint32_t count = 0;
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, emitter->abi->field_count + 1);
    if (emitter->lowering->passes_thread)
        types[count++] = emitter->pointer_type;
    uint32_t first = count;
    bool *written = ARENA_ARRAY(emitter->arena, bool, ir->parameter_count + 1);
    ir_written_parameters(emitter->ir, written);
    for (uint32_t i = 0; i < emitter->abi->field_count; i++)
        types[count++] = field_type(emitter, &emitter->abi->fields[i]);
    out->type = LLVMFunctionType(emitter->void_type, types, count, false);
    emitter->entry = symbol_name(emitter, "", ir->name);
    out->llvm = LLVMAddFunction(emitter->llvm_module, emitter->entry, out->type);
    Attributes attributes = {.emitter = emitter};
    for (uint32_t i = 0; i < emitter->abi->field_count; i++)
        add_field_attributes(&attributes, first + i + 1, &emitter->abi->fields[i], written);
    set_attributes(out->llvm, attributes.items, attributes.count);
    emitter->lowering->finish_kernel(emitter, out->llvm);
}

static LLVMTypeRef result_type(Emitter *emitter, const Type *type, bool raises)
{
    LLVMTypeRef parts[64];
    uint32_t count = part_count(type);
    LLVMTypeRef *types = count < 64 ? parts : ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 1);
    part_types(emitter, type, types);
    if (raises)
        types[count++] = emitter->i1;
    return count == 0   ? emitter->void_type
           : count == 1 ? types[0]
                        : LLVMStructTypeInContext(emitter->context, types, count, false);
}

/* Whether a function is what the module is made for, and not one that this calls. */
static bool is_first(const Emitter *emitter, const IrFunc *ir) { return ir == emitter->ir->first; }

static void declare_device_function(Emitter *emitter, EmittedFunction *out, bool raises)
{
    bool is_visible = is_first(emitter, out->ir) && !emitter->ir->exported;
    const IrFunc *ir = out->ir;
    uint32_t count = emitter->lowering->passes_thread;
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        count += part_count(ir->parameter_types[i]);
    LLVMTypeRef *types = ARENA_ARRAY(emitter->arena, LLVMTypeRef, count + 3);
    uint32_t place = 0;
    if (emitter->lowering->passes_thread)
        types[place++] = emitter->pointer_type;
    for (uint32_t i = 0; i < ir->parameter_count; i++)
        place += part_types(emitter, ir->parameter_types[i], types + place);
    assert(place == count);
    out->raises = raises && !is_first(emitter, out->ir);
    place += exception_parameters(emitter, out->raises, types + place);
    out->type = LLVMFunctionType(result_type(emitter, ir->result, out->raises), types, place, false);
    const char *name = symbol_name(emitter, is_visible ? "" : "cujit.", ir->name);
    out->llvm = LLVMAddFunction(emitter->llvm_module, name, out->type);
    if (is_visible)
        emitter->entry = name;
    else
        LLVMSetLinkage(out->llvm, LLVMInternalLinkage);
    bool is_exported = is_first(emitter, out->ir) && !is_visible && !ir->is_recursive;
    if ((ir->noinline && !out->gives_memory) || (!out->is_inlined && !ir->is_recursive && !is_visible && !is_exported))
        add_function_attribute(emitter, out->llvm, "noinline", 0);
    else if ((out->is_inlined && !is_visible) || is_exported)
        add_function_attribute(emitter, out->llvm, "alwaysinline", 0);
}

static void add_common_attributes(Emitter *emitter, LLVMValueRef function)
{
    add_function_attribute(emitter, function, "nounwind", 0);
    if (emitter->options->fastmath & FLOAT_FLUSH && emitter->target->kind == TARGET_NVPTX)
        add_text_attribute(emitter, function, "denormal-fp-math-f32", "preserve-sign,preserve-sign");
}

/* Whether what is emitted is not the function's body. */
static bool is_assembly(const Emitter *emitter, const IrFunc *ir)
{
    return ir->assembly && emitter->target->kind == TARGET_NVPTX;
}

/* Whether threads do it together. */
static bool is_collective(const IrValue *value)
{
    return value->op == IR_FOREIGN || value->op == IR_WATCH || (value->op == IR_CALL && value->callee->assembly) ||
           (value->op == IR_INTRINSIC && intrinsic_info[value->intrinsic].effects & EFFECT_CONVERGENT);
}

static void declare_functions(Emitter *emitter)
{
    emitter->functions = ARENA_ARRAY(emitter->arena, EmittedFunction, emitter->ir->function_count);
    bool *raises = ARENA_ARRAY(emitter->arena, bool, emitter->ir->function_count);
    bool *meets = ARENA_ARRAY(emitter->arena, bool, emitter->ir->function_count);
    ir_raising_functions(emitter->ir, raises);
    ir_functions_with(emitter->ir, is_collective, meets);
    uint32_t place = 0;
    for (const IrFunc *ir = emitter->ir->first; ir; ir = ir->next)
        emitter->functions[place++].ir = ir;
    const Inlining *chosen = choose_inlined(emitter->ir, emitter->arena);
    for (place = 0; place < emitter->ir->function_count; place++) {
        EmittedFunction *function = &emitter->functions[place];
        function->is_inlined = chosen[place].is_inlined;
        function->gives_memory = chosen[place].gives_memory;
        function->copies = chosen[place].copies;
        if (function->ir->is_kernel)
            declare_kernel(emitter, function);
        else
            declare_device_function(emitter, function, raises[place] && !is_assembly(emitter, function->ir));
        add_common_attributes(emitter, function->llvm);
        /* Before LLVM inlines a call, it may otherwise copy it into both ways of a branch, where threads do not meet. */
        if (meets[place] || function->ir->assembly)
            add_function_attribute(emitter, function->llvm, "convergent", 0);
    }
}

bool emit_module(Emitter *emitter)
{
    declare_functions(emitter);
    begin_debug_lines(emitter);
    for (uint32_t i = 0; i < emitter->ir->function_count; i++) {
        const EmittedFunction *function = &emitter->functions[i];
        if (function->ir->assembly && emitter->lowering->emit_assembly(emitter, function))
            continue;
        bool has_own_way = function->ir->is_kernel && emitter->lowering->emit_kernel;
        if (!has_own_way || !emitter->lowering->emit_kernel(emitter, function))
            emit_function_body(emitter, function);
    }
    if (!diag_failed(emitter->diag) && emitter->ir->exported) {
        emitter->entry = symbol_name(emitter, "", emitter->functions[0].ir->name);
        emit_export(emitter, &emitter->functions[0], emitter->entry);
    }
    if (diag_failed(emitter->diag) || !emitter->lowering->finish_module(emitter))
        return false;
    if (emitter->debug)
        LLVMDIBuilderFinalize(emitter->debug);
    return true;
}
