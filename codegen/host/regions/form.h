/* The function that is made of a kernel's regions, while it is made: shared by the files that make it. */
#ifndef CUJIT_CODEGEN_FORM_H
#define CUJIT_CODEGEN_FORM_H

#include "codegen/host/regions/regions.h"

/* A phi whose operands are put in order once all blocks are linked. */
typedef struct PendingPhi PendingPhi;
struct PendingPhi {
    PendingPhi *next;
    IrValue *phi;
    uint32_t count;
    IrBlock **from;
    IrValue **values;
};

/* What a loop over threads is to do with checks. */
typedef enum FormChecks {
    CHECKS_KEPT,
    CHECKS_ASKED, /* only ask whether one fails, and do nothing */
    CHECKS_PASSED, /* none fails */
} FormChecks;

typedef struct Form {
    const Regions *regions;
    const bool *unrolled; /* by IrBlock.id: headers of loops to write out inside of a region */
    const bool *unmet; /* likewise: of other loops in which threads do not meet */
    Arena *arena; /* dies with the pass */
    IrFunc *out;
    IrBlock *entry; /* without its end as yet */
    IrBlock *done; /* ends the function; NULL: not needed so far */
    IrBlock **starts, **ends; /* by region: where all threads come to it together, and where they leave it */
    IrValue **values; /* by IrValue.id: what stands for it, in the region at hand where each has its own */
    IrValue **slots, **entries; /* by IrValue.id: where it is spilled; where a leader's phi finds its next value */
    IrValue **results; /* by IrValue.id: of an exchange */
    IrValue **locals; /* by IrValue.id: the array in the entry */
    IrValue **bounds; /* two by parameter: where an array begins, and where it ends; NULL: not asked so far */
    IrValue **additions; /* two by IrValue.id: of a late addition, the slots of where and what */
    PendingPhi **phis; /* by IrValue.id: what stands for a phi */
    IrValue *given[2], *places; /* slots of what threads bring to an exchange; given: of 32 bits, of 64 */
    IrValue *going, *ended; /* the slot of who has not ended, and the cell of how many have; NULL: nobody ends early */
    IrValue *threads, *zero; /* of the block: how many there are; i32 */
    PendingPhi *pending;
    IrValue *failures; /* the cell of how many threads fail a check; NULL: no region is tested so far */
    /* the region at hand */
    const Region *region;
    FormChecks checks;
    bool has_late_additions; /* of the loop at hand */
    bool all_go_on; /* nobody has ended before */
    const IrValue *passed; /* the branch of a test of lanes that all of a warp pass; NULL: there is none */
    IrBlock **copies; /* by piece */
    uint32_t *remade; /* by IrValue.id: 1 + the place among the region's remade values; 0: it is none */
    IrValue **brought; /* by that place: as it is at the region's beginning */
    IrValue **remade_at; /* so many for each piece: what stands for these where it ends */
    PendingPhi **joins; /* likewise: where it begins; NULL: no phi */
    IrBlock *loop, *top; /* of the loop over threads: its own block and the first one of its body */
    IrBlock *thread_end; /* where a thread ends for good; NULL: not needed so far */
    IrBlock *failure; /* where one goes on that fails a check, where that is asked; NULL: likewise */
} Form;

static inline ValueHome home_of(const Form *form, const IrValue *value)
{
    return (ValueHome)form->regions->homes[value->id];
}

/* --- form_values.c ------------------------------------------------------------------------------------------------------ */
/* A new slot: something of this type for each thread. */
IrValue *form_slot(Form *form, const Type *type);
/* Where a leader's phi finds its next value. */
IrValue *form_entry_slot(Form *form, const IrValue *phi);
IrValue *form_load_slot(IrBlock *to, IrValue *slot, const SourcePos *pos);
/* But where nothing is to be done. */
void form_store_slot(const Form *form, IrBlock *to, IrValue *slot, IrValue *value);
/* The same operation on what stands for its operands; from now on it stands for the value. */
void form_copy_value(Form *form, IrBlock *to, const IrValue *value);
/* Likewise, where threads come for which it is not made, as in front of a test: its divisor may be 0 there. */
void form_copy_early(Form *form, IrBlock *to, const IrValue *value);
/* Stores what stands for the value where another region reloads it. */
void form_keep(Form *form, IrBlock *to, const IrValue *value);
/* Makes a value again here that takes no more than that, and registers. */
void form_make_again(Form *form, IrBlock *to, const IrValue *value);
/* Makes a value of another region stand here: computed again, or reloaded. */
void form_bring(Form *form, IrBlock *to, const IrValue *value);
/* A phi that stands for this one, with room for so many ways; they are added as they are made. */
PendingPhi *form_phi(Form *form, IrBlock *to, const IrValue *phi, uint32_t most);
void form_add_way(PendingPhi *pending, IrBlock *from, IrValue *value);
/* A phi in a place of its own: it stands for the value only as the caller has it. */
PendingPhi *form_join(Form *form, IrBlock *to, const IrValue *value, uint32_t most);
/* The ways inside of the region at hand by which control comes to the phi. */
void form_add_ways_inside(Form *form, PendingPhi *pending, const IrValue *phi);
/* Once all blocks are linked. */
void form_finish_phi(const Form *form, const PendingPhi *pending);
/* Whether threads have to bring anything, which does not lie in a slot of its own. */
bool form_brings(Form *form, const IrValue *collective);
/* A thread brings its value, and the place that a shuffle asks for. */
void form_bring_to_exchange(Form *form, IrBlock *to, const IrValue *collective);
/* All threads have brought theirs. */
void form_exchange(Form *form, IrBlock *to, const IrValue *collective);

/* --- form_remade.c ------------------------------------------------------------------------------------------------------- */
/* Values that threads bring to the region at hand and may make again in it, so that there is not one copy that stands for
 * them: in front of all pieces, in front of one, and behind one. */
void form_begin_remade(Form *form);
void form_enter_remade(Form *form, uint32_t piece);
void form_leave_remade(Form *form, uint32_t piece);
/* Behind all: gives the phis that were made their values. */
void form_end_remade(Form *form);
/* Whether the region has made the value at its beginning, as it would again. */
bool form_is_made_already(const Form *form, const IrValue *value);
/* What stands for a value where the piece ends. */
IrValue *form_value_behind(const Form *form, uint32_t piece, const IrValue *value);

/* --- form_apart.c ------------------------------------------------------------------------------------------------------- */
/* Whether what the checks of the region at hand are loaded from lies apart from what the kernel writes. NULL: there is nothing
 * to ask. */
IrValue *form_is_apart(Form *form);

/* --- form_threads.c ----------------------------------------------------------------------------------------------------- */
/* Whether threads have anything to do in the region at hand. */
bool form_has_work(Form *form);
/* Asks whether the tests at the kernel's beginning keep all threads out, who go to `none`. The others go on in the block that
 * is returned. */
IrBlock *form_test_for_any(Form *form, IrBlock *from, IrBlock *none);
/* The loop over threads, entered from `from`. Returns the block behind it. */
IrBlock *form_threads(Form *form, IrBlock *from);

#endif
