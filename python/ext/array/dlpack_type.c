/* DLPack's dtypes <-> Types, by the rows of dlpack_type.def. */
#include "ext/array/dlpack_type.h"

typedef struct Row {
    uint8_t code, bits;
    ScalarId scalar;
} Row;

static const Row rows[] = {
#define ROW(code, bits, scalar) {code, bits, SCALAR_##scalar},
#define NO_TYPE(code, name)
#include "ext/array/dlpack_type.def"
#undef ROW
#undef NO_TYPE
};

static const char *const names[] = {
#define ROW(code, bits, scalar)
#define NO_TYPE(code, name) [code] = name,
#include "ext/array/dlpack_type.def"
#undef ROW
#undef NO_TYPE
};

enum { ROW_COUNT = sizeof rows / sizeof *rows, NAME_COUNT = sizeof names / sizeof *names };

const Type *ext_type_of_dlpack(DlpackType type)
{
    for (int i = 0; type.lanes == 1 && i < ROW_COUNT; i++)
        if (rows[i].code == type.code && rows[i].bits == type.bits)
            return &type_scalars[rows[i].scalar];
    if (type.lanes != 1)
        PyErr_Format(PyExc_TypeError, "kernels cannot use elements that are vectors of %d lanes", type.lanes);
    else
        PyErr_Format(PyExc_TypeError, "kernels cannot use dtype %s of %d bits (DLPack's code %d)",
                     type.code < NAME_COUNT ? names[type.code] : "unknown", type.bits, type.code);
    return NULL;
}

bool ext_dlpack_of_type(const Type *type, DlpackType *out)
{
    for (int i = 0; type_is_scalar(type) && i < ROW_COUNT; i++)
        if (rows[i].scalar == type->scalar) {
            *out = (DlpackType){.code = rows[i].code, .bits = rows[i].bits, .lanes = 1};
            return true;
        }
    return false;
}
