/* Machines of code generators: who takes one has it alone, and gets one that is of the wanted kind, with passes that were kept. */
#include "codegen/machine.h"
#include "codegen_tests.h"

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

void test_machines(void)
{
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
