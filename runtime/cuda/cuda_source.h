/* CUDA C compiled by NVRTC. */
#ifndef CUJIT_RUNTIME_CUDA_SOURCE_H
#define CUJIT_RUNTIME_CUDA_SOURCE_H

#include "runtime/runtime.h"

/* rt_compile_source() for what is linked afterwards: relocatable, as LTO-IR or PTX. `code` is released by rt_code_free. */
bool cuda_compile_item(const LinkItem *item, int sm, bool as_ltoir, const RtLinking *linking, RtCode *code, Diag *diag);

#endif
