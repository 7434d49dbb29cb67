/* A few places for machines that nobody uses. A thread takes what is in a place, and so has it alone; there is no lock that
 * a process could be forked with. */
#include "codegen/machine.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/memory.h"

enum { PLACES = 8 };

struct Machine {
    LLVMTargetMachineRef llvm;
    MachineKind kind; /* its texts lie behind the struct */
    CodePasses *passes[LLVMObjectFile + 1]; /* by what they make; NULL: none are kept */
    bool is_spoiled;
    unsigned left; /* by its passes, CODE_WITHOUT_... */
};

static _Atomic(Machine *) places[PLACES];

static bool is_of(const Machine *machine, const MachineKind *kind)
{
    const MachineKind *own = &machine->kind;
    return own->backend == kind->backend && own->level == kind->level && own->relocation == kind->relocation &&
           own->model == kind->model && !strcmp(own->triple, kind->triple) && !strcmp(own->cpu, kind->cpu) &&
           !strcmp(own->features, kind->features);
}

static void free_passes(Machine *machine)
{
    for (int type = 0; type <= LLVMObjectFile; type++)
        machine_keep_passes(machine, (LLVMCodeGenFileType)type, NULL);
}

static void dispose(Machine *machine)
{
    free_passes(machine);
    LLVMDisposeTargetMachine(machine->llvm);
    memory_free(machine);
}

static bool put(Machine *machine)
{
    for (int i = 0; i < PLACES; i++) {
        Machine *nobody = NULL;
        if (atomic_compare_exchange_strong(&places[i], &nobody, machine))
            return true;
    }
    return false;
}

/* Returns the copy, and moves *room behind it. */
static const char *keep_text(char **room, const char *text)
{
    char *copy = strcpy(*room, text);
    *room += strlen(text) + 1;
    return copy;
}

/* In the list of no guard: it outlives the one that it is made in, and goes to other threads. */
static Machine *make(const MachineKind *kind)
{
    size_t size = sizeof(Machine) + strlen(kind->triple) + strlen(kind->cpu) + strlen(kind->features) + 3;
    Machine *machine = memory_try(size);
    if (!machine)
        memory_fail(size);
    char *room = (char *)(machine + 1);
    *machine = (Machine){.kind = *kind};
    machine->kind.triple = keep_text(&room, kind->triple);
    machine->kind.cpu = keep_text(&room, kind->cpu);
    machine->kind.features = keep_text(&room, kind->features);
    machine->llvm = LLVMCreateTargetMachine(kind->backend, kind->triple, kind->cpu, kind->features, kind->level,
                                            kind->relocation, kind->model);
    return machine;
}

Machine *machine_take(const MachineKind *kind)
{
    for (int i = 0; i < PLACES; i++) {
        Machine *machine = atomic_exchange(&places[i], NULL);
        if (machine && is_of(machine, kind))
            return machine;
        if (machine && !put(machine))
            dispose(machine);
    }
    return make(kind);
}

LLVMTargetMachineRef machine_of_llvm(const Machine *machine) { return machine->llvm; }

CodePasses *machine_take_passes(Machine *machine, LLVMCodeGenFileType type)
{
    CodePasses *kept = machine->passes[type];
    machine->passes[type] = NULL;
    return kept ? kept : make_code_passes(machine->llvm, type, machine->left);
}

void machine_keep_passes(Machine *machine, LLVMCodeGenFileType type, CodePasses *passes)
{
    free_code_passes(machine->passes[type]);
    machine->passes[type] = passes;
}

void machine_spoil(Machine *machine)
{
    free_passes(machine);
    machine->is_spoiled = true;
}

void machine_leave_passes(Machine *machine, unsigned left)
{
    machine_spoil(machine);
    machine->left |= left;
}

void machine_give_back(Machine *machine)
{
    static _Atomic unsigned turn;
    if (!machine)
        return;
    if (machine->is_spoiled) {
        dispose(machine);
        return;
    }
    while (!put(machine)) { /* all are of other kinds, or were */
        Machine *other = atomic_exchange(&places[atomic_fetch_add(&turn, 1) % PLACES], NULL);
        if (other)
            dispose(other);
    }
}
