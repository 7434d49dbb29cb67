/* UnboundLocalError: what check mode raises where a variable is read that the path to it has not assigned. */
#ifndef CUJIT_FRONTEND_UNBOUND_H
#define CUJIT_FRONTEND_UNBOUND_H

#include "frontend/engine.h"

/* Before anything of the instance is emitted. Does nothing where nobody wants to be told, as do the others then. */
void unbound_begin(Lower *l);
/* Beside the phi, once its block is there. */
void unbound_phi(Lower *l, const SsaValue *phi);
/* Where control leaves for the phi's block, with the value that the phi has by this edge. */
void unbound_phi_operand(Lower *l, const SsaValue *phi, const SsaValue *source);
/* In front of a value that is no phi: what it reads is assigned. */
void unbound_check(Lower *l, const SsaValue *value);

#endif
