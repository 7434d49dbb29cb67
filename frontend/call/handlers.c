/* The table of handlers.def, and the choice of a handler: by the intrinsic, its family, its kind. */
#include "frontend/call/handlers.h"

#include "frontend/call/cuda/lower_device.h"

typedef bool (*Handler)(Lower *l, const Call *call, Operand *out);

static const Handler handlers[INTRINSIC_COUNT] = {
#define HANDLES(id, handler) [INTRINSIC_##id] = handler,
#define HANDLES_KEYWORDS(id, handler) [INTRINSIC_##id] = handler,
#define HANDLES_FAMILY(family, handler)
#define HANDLES_KIND(kind, handler)
#include "frontend/call/handlers.def"
};

static const bool takes_keywords[INTRINSIC_COUNT] = {
#define HANDLES(id, handler)
#define HANDLES_KEYWORDS(id, handler) [INTRINSIC_##id] = true,
#define HANDLES_FAMILY(family, handler)
#define HANDLES_KIND(kind, handler)
#include "frontend/call/handlers.def"
};

/* NULL: neither the family nor the kind has a row. */
static Handler common_handler(const IntrinsicInfo *info)
{
    switch (info->family) {
#define HANDLES(id, handler)
#define HANDLES_KEYWORDS(id, handler)
#define HANDLES_FAMILY(family, handler) \
    case FAMILY_##family: return handler;
#define HANDLES_KIND(kind, handler)
#include "frontend/call/handlers.def"
    default: break;
    }
    switch (info->kind) {
#define HANDLES(id, handler)
#define HANDLES_KEYWORDS(id, handler)
#define HANDLES_FAMILY(family, handler)
#define HANDLES_KIND(kind, handler) \
    case INTRINSIC_KIND_##kind: return handler;
#include "frontend/call/handlers.def"
    default: return NULL;
    }
}

bool lower_intrinsic_call(Lower *l, const Call *call, Operand *out)
{
    const IntrinsicInfo *info = &intrinsic_info[call->intrinsic];
    Handler handler = handlers[call->intrinsic] ? handlers[call->intrinsic] : common_handler(info);
    if (handler)
        return handler(l, call, out);
    if (info->shape)
        return lower_shaped_call(l, call, out);
    return lower_fail(l, DIAG_TYPE_CALL, call->name, "");
}

bool handler_takes_keywords(IntrinsicId id)
{
    return takes_keywords[id] || intrinsic_info[id].parameters || intrinsic_info[id].family == FAMILY_ATOMIC;
}
