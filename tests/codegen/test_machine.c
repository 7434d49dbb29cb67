/* Machines of code generators: who takes one has it alone, and gets one that is of the wanted kind, with passes that were kept. */
#include <stdio.h>
#include <string.h>

#include "codegen/machine.h"
#include "codegen_tests.h"
#include "core/base/memory.h"

static MachineKind kind_of(const char *cpu)
{
    static LLVMTargetRef backend;
    static char *triple;
    if (!backend) {
        char *message = NULL;
        LLVMInitializeNativeTarget();
        LLVMInitializeNativeAsmPrinter();
        triple = LLVMGetDefaultTargetTriple();
        CHECK(!LLVMGetTargetFromTriple(triple, &backend, &message));
    }
    return (MachineKind){backend, triple, cpu, "", LLVMCodeGenLevelDefault, LLVMRelocPIC, LLVMCodeModelSmall};
}

/* The places of every i-th item are i * %n further: strength reduction of loops makes a pointer that goes by %n. */
static const char each_nth[] = "define void @f(ptr %x, i64 %n) ATTRIBUTES {\n"
                               "entry:\n"
                               "  br label %loop\n"
                               "loop:\n"
                               "  %i = phi i64 [ 0, %entry ], [ %after, %loop ]\n"
                               "  %place = mul i64 %i, %n\n"
                               "  %item = getelementptr i64, ptr %x, i64 %place\n"
                               "  store i64 %i, ptr %item\n"
                               "  %after = add i64 %i, 1\n"
                               "  %more = icmp slt i64 %after, %n\n"
                               "  br i1 %more, label %loop, label %done\n"
                               "done:\n"
                               "  ret void\n"
                               "}\n";

static char *code_of_loop(const char *attributes, bool leaves_loops)
{
    static const char place[] = "ATTRIBUTES";
    char text[sizeof each_nth + 32];
    const char *before = strstr(each_nth, place);
    snprintf(text, sizeof text, "%.*s%s%s", (int)(before - each_nth), each_nth, attributes, before + strlen(place));
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "loop");
    LLVMModuleRef module = NULL;
    char *message = NULL, *code = NULL;
    MachineKind kind = kind_of("");
    Machine *machine = machine_take(&kind);
    if (leaves_loops)
        machine_leave_passes(machine, CODE_WITHOUT_STRENGTH_REDUCTION);
    CodePasses *passes = machine_take_passes(machine, LLVMAssemblyFile);
    if (CHECK(passes && !LLVMParseIRInContext(context, buffer, &module, &message))) {
        size_t size;
        LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine_of_llvm(machine));
        LLVMSetModuleDataLayout(module, layout);
        LLVMDisposeTargetData(layout);
        code = memory_copy_text(run_code_passes(passes, module, &size));
        LLVMDisposeModule(module);
    }
    free_code_passes(passes);
    machine_give_back(machine);
    LLVMContextDispose(context);
    return code;
}

static bool is_code_the_same(const char *attributes)
{
    char *plain = code_of_loop(attributes, false), *left = code_of_loop(attributes, true);
    bool is_same = plain && left && !strcmp(plain, left);
    memory_free(plain);
    memory_free(left);
    return is_same;
}

/* Functions that are not to be optimized have the same code: of them nothing is asked that the pass would not use. */
static void test_loops_are_left(void)
{
    CHECK(!is_code_the_same(""));
    CHECK(is_code_the_same("noinline optnone"));
    MachineKind kind = kind_of("");
    Machine *first = machine_take(&kind), *second = machine_take(&kind);
    machine_give_back(first);
    machine_leave_passes(second, CODE_WITHOUT_STRENGTH_REDUCTION);
    machine_give_back(second);
    CHECK(machine_take(&kind) == first);
    Machine *third = machine_take(&kind);
    CHECK(third != first);
    CodePasses *passes = machine_take_passes(third, LLVMObjectFile);
    CHECK(passes);
    free_code_passes(passes);
    machine_give_back(third);
    machine_give_back(first);
}

static bool fail_with_machine(void *made)
{
    MachineKind kind = kind_of("");
    kind.level = LLVMCodeGenLevelAggressive;
    *(Machine **)made = machine_take(&kind);
    machine_give_back(*(Machine **)made);
    memory_fail(1);
}

/* What runs out of memory frees its own, of which a machine that it has given back is no more; nor is it while another thread
 * has it. */
static void test_machines_outlive_guards(void)
{
    enum { SIZES = 128 };
    void *blocks[SIZES];
    Machine *made;
    size_t wanted;
    MachineKind kind = kind_of("");
    kind.level = LLVMCodeGenLevelAggressive;
    CHECK(!memory_guard_small(fail_with_machine, &made, &wanted) && wanted == 1);
    for (size_t i = 0; i < SIZES; i++) /* in whatever was freed */
        if (CHECK(blocks[i] = memory_try(16 * i + 1)))
            memset(blocks[i], 0x5a, 16 * i + 1);
    CHECK(machine_take(&kind) == made);
    machine_give_back(made);
    for (size_t i = 0; i < SIZES; i++)
        memory_free(blocks[i]);
}

void test_machines(void)
{
    test_machines_outlive_guards();
    test_loops_are_left();
    MachineKind plain = kind_of(""), other = plain;
    other.level = LLVMCodeGenLevelNone;
    Machine *first = machine_take(&plain);
    Machine *second = machine_take(&plain);
    CHECK(first != second && machine_of_llvm(first) != machine_of_llvm(second));
    machine_give_back(first);
    Machine *of_other = machine_take(&other);
    CHECK(of_other != first);
    CHECK(machine_take(&plain) == first);
    machine_give_back(first);
    machine_give_back(of_other);
    CHECK(machine_take(&other) == of_other);
    machine_spoil(second);
    machine_give_back(second);
    CHECK(machine_take(&plain) == first);
    Machine *fresh = machine_take(&plain); /* not the spoiled one, of which nothing is kept */
    CHECK(fresh != first);
    machine_give_back(fresh);
    machine_give_back(first);
    machine_give_back(of_other);
    machine_give_back(NULL);
    /* Passes are kept with it, by what they make. */
    Machine *owner = machine_take(&plain);
    CodePasses *of_objects = machine_take_passes(owner, LLVMObjectFile);
    machine_keep_passes(owner, LLVMObjectFile, of_objects);
    machine_give_back(owner);
    CHECK(machine_take(&plain) == owner);
    CodePasses *of_assembly = machine_take_passes(owner, LLVMAssemblyFile);
    CHECK(of_assembly != of_objects && machine_take_passes(owner, LLVMObjectFile) == of_objects);
    machine_keep_passes(owner, LLVMObjectFile, of_objects);
    machine_spoil(owner); /* what is made from now on is for the changed machine */
    CodePasses *of_changed = machine_take_passes(owner, LLVMObjectFile);
    CHECK(of_changed);
    free_code_passes(of_changed);
    free_code_passes(of_assembly);
    machine_give_back(owner);
    /* More kinds than there are places: the last ones are kept. */
    static const LLVMCodeModel models[] = {LLVMCodeModelSmall, LLVMCodeModelLarge}; /* Arm has no medium one */
    static const LLVMRelocMode relocations[] = {LLVMRelocPIC, LLVMRelocStatic};
    for (int i = 0; i < 24; i++) {
        MachineKind each = plain;
        each.level = (LLVMCodeGenOptLevel)(i % 4);
        each.model = models[i / 4 % 2];
        each.relocation = relocations[i / 8 % 2];
        Machine *machine = machine_take(&each);
        machine_give_back(machine);
        CHECK(machine_take(&each) == machine);
        machine_give_back(machine);
    }
}
