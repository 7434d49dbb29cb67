/* The table of wgmma_kind.def. */
#include "core/intrinsic/wgmma.h"

const WgmmaKindInfo wgmma_kinds[WGMMA_KIND_COUNT] = {
#define WGMMA_KIND(id, word, element, is_default, traits) \
    [WGMMA_KIND_##id] = {word, TYPE_OF(element), is_default, traits},
#include "core/intrinsic/wgmma_kind.def"
};

/* Of integers: multiples of 16 from 32 on. */
bool wgmma_has_columns(const WgmmaKindInfo *kind, int64_t columns)
{
    bool is_coarse = kind->traits & WGMMA_WHOLE && columns > 24;
    return columns >= 8 && columns <= WGMMA_MOST_COLUMNS && columns % (is_coarse ? 16 : 8) == 0;
}
