/* The table of what can be linked, by link_kind.def, and the names of calling conventions. */
#include "core/foreign.h"

const LinkKindInfo link_kind_info[LINK_KIND_COUNT] = {
#define LINK_KIND(id, class, word, ending, gpu, host, driver, nvjitlink, doc) \
    {#id, class, word, ending, doc, gpu, host, driver, nvjitlink},
#include "core/link_kind.def"
#undef LINK_KIND
};

const char *const foreign_abi_names[FOREIGN_ABI_COUNT] = {"numba", "c"};
