/* Implementations of what the program has overloaded: which ones a function's code wants, by a run of the frontend, and the
 * list of those that are known. Choosing one is Python's work. */
#include "core/base/memory.h"
#include "core/thread/own_stack.h"
#include "frontend/frontend.h"
#include "jit/cache/cache.h"

void jit_add_implementation(JitFunction *function, Implementation *implementation)
{
    const Implementation *first = jit_implementations(function);
    do
        implementation->next = first;
    while (!atomic_compare_exchange_weak_explicit(&function->implementations, &first, implementation,
                                                  memory_order_release, memory_order_acquire));
}

void jit_free_implementations(JitFunction *function)
{
    const Implementation *each = jit_implementations(function);
    while (each) {
        Arena *arena = each->arena;
        each = each->next;
        arena_destroy(arena);
    }
}

typedef struct Asking {
    const JitFunction *function;
    const Type *const *types;
    uint32_t count;
    bool is_kernel;
    Arena *arena;
    const ImplementationWish **wishes;
    Diag *diag;
    bool ok;
} Asking;

static bool ask(void *data)
{
    Asking *work = data;
    Diag ignored = {.id = DIAG_NONE};
    FrontendRequest request = {
        .function = work->function->snapshot,
        .argument_count = work->count,
        .argument_types = work->types,
        .is_kernel = work->is_kernel,
        .weak_literals = work->function->options.literals == LITERALS_WEAK,
        .weak_ints = work->function->options.ints == LITERALS_WEAK,
        .exceptions = work->function->options.exceptions,
        .implementations = jit_implementations(work->function),
        .wishes = work->wishes,
    };
    frontend_lower(&request, work->arena, &ignored);
    return work->ok = true;
}

static void run(void *work) { memory_guard(ask, work, ((Asking *)work)->diag); }

bool jit_wishes(const JitFunction *function, const Type *const *types, uint32_t count, bool is_kernel, Arena *arena,
                const ImplementationWish **wishes, Diag *diag)
{
    Asking work = {function, types, count, is_kernel, arena, wishes, diag, false};
    *wishes = NULL;
    return with_stack(STACK_FOR_NESTING, run, &work, diag) && work.ok;
}
