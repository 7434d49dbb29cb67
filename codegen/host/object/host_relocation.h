/* What objects say of addresses in them: the kinds that kernels have, of each processor. */
#ifndef CUJIT_CODEGEN_HOST_RELOCATION_H
#define CUJIT_CODEGEN_HOST_RELOCATION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum RelocationGoal {
    GOAL_SYMBOL,
    GOAL_CALL, /* the symbol, or code that jumps there */
    GOAL_SLOT, /* where the symbol's address is */
} RelocationGoal;

/* How a value lies in what is changed. */
typedef struct RelocationField RelocationField;

typedef struct Relocation {
    uint16_t machine;
    uint32_t type;
    const RelocationField *field;
    bool is_relative; /* to the place that is changed */
    RelocationGoal goal;
} Relocation;

/* NULL: not known. */
const Relocation *host_relocation(uint16_t machine, uint32_t type);
/* How many bytes are changed. */
uint8_t host_relocation_bytes(const Relocation *relocation);
/* Whether what lies at the place can name the target. */
bool host_relocation_reaches(const Relocation *relocation, uint64_t place, uint64_t target);
/* Changes the bytes, which will lie at the place. */
void host_relocation_write(const Relocation *relocation, uint8_t *bytes, uint64_t place, uint64_t target);

#endif
