/* Matrix operations of a warp of the CPU device: the last lane to come works them out from the fragments of all, which
 * lie on their stacks as core/host_tensor.h says. Lanes that do not take part count as zeros. */
#include "runtime/host/threads/host_exchange.h"

#include <math.h>
#include <string.h>

#include "core/base/bfloat.h"
#include "core/host_tensor.h"

__extension__ typedef _Float16 Half;

enum { LARGEST = 16 * 32 }; /* elements of a matrix */

/* --- fragments: element `i` of a lane, by the PTX ISA's section "Matrix fragments for mma" ---------------------------- */

typedef struct Place {
    int row, column;
} Place;

/* Elements of one register: they lie next to each other along k. */
static int per_register(const Type *input) { return input->size < 4 ? 4 / (int)input->size : 1; }

static Place place_in_a(const MmaShape *mma, int lane, int i)
{
    int each = per_register(mma->input), word = i / each, tall = mma->m == 16 ? 2 : 1;
    return (Place){lane / 4 + 8 * (word % tall), lane % 4 * each + i % each + 4 * each * (word / tall)};
}

static Place place_in_b(const MmaShape *mma, int lane, int i)
{
    int each = per_register(mma->input), word = i / each;
    return (Place){lane % 4 * each + i % each + 4 * each * word, lane / 4};
}

static Place place_in_c(int lane, int i) { return (Place){lane / 4 + 8 * (i / 2), lane % 4 * 2 + i % 2}; }

/* --- elements --------------------------------------------------------------------------------------------------------- */

static double read_half(const uint8_t *at)
{
    Half half;
    memcpy(&half, at, sizeof half);
    return (double)half;
}

/* Tensor cores take the upper 19 bits of a float32 that is an input. */
static double read_single(const uint8_t *at, bool is_input)
{
    uint32_t bits;
    float value;
    memcpy(&bits, at, sizeof bits);
    if (is_input)
        bits &= 0xffffe000u;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Every input fits a double. */
static double read_element(const uint8_t *at, const Type *type, bool is_input)
{
    double value;
    int32_t word;
    uint16_t bits;
    switch (type->scalar) {
    case SCALAR_FLOAT16: return read_half(at);
    case SCALAR_BFLOAT16: memcpy(&bits, at, sizeof bits); return bfloat_value(bits);
    case SCALAR_FLOAT32: return read_single(at, is_input);
    case SCALAR_INT8: return *(const int8_t *)at;
    case SCALAR_UINT8: return *at;
    case SCALAR_INT32: memcpy(&word, at, sizeof word); return word;
    default: memcpy(&value, at, sizeof value); return value;
    }
}

/* Sums of integers are exact in a double and wrap like an int32. */
static void write_element(uint8_t *at, const Type *type, double value)
{
    Half half = (Half)value;
    float single = (float)value;
    int32_t word = (int32_t)(uint32_t)(int64_t)fmax(fmin(value, 0x1p62), -0x1p62);
    switch (type->scalar) {
    case SCALAR_FLOAT16: memcpy(at, &half, sizeof half); break;
    case SCALAR_FLOAT32: memcpy(at, &single, sizeof single); break;
    case SCALAR_INT32: memcpy(at, &word, sizeof word); break;
    default: memcpy(at, &value, sizeof value);
    }
}

/* --- d = a @ b + c ------------------------------------------------------------------------------------------------------ */

static void gather(const HostWarp *warp, uint32_t lanes, const MmaShape *mma, double *a, double *b)
{
    HostFragments f = host_fragments(mma);
    int size = (int)mma->input->size;
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        const uint8_t *buffer = (const uint8_t *)(uintptr_t)warp->fibers[lane]->wait.value;
        for (int i = 0; i < (int)f.a_count; i++) {
            Place at = place_in_a(mma, lane, i);
            a[at.row * mma->k + at.column] = read_element(buffer + i * size, mma->input, true);
        }
        for (int i = 0; i < (int)f.b_count; i++) {
            Place at = place_in_b(mma, lane, i);
            b[at.row * mma->n + at.column] = read_element(buffer + f.b + (uint32_t)(i * size), mma->input, true);
        }
    }
}

static void multiply(const HostWarp *warp, uint32_t lanes, const MmaShape *mma)
{
    double a[LARGEST] = {0}, b[LARGEST] = {0};
    HostFragments f = host_fragments(mma);
    gather(warp, lanes, mma, a, b);
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        uint8_t *buffer = (uint8_t *)(uintptr_t)warp->fibers[lane]->wait.value;
        for (uint32_t i = 0; i < f.c_count; i++) {
            Place at = place_in_c(lane, (int)i);
            uint32_t offset = i * mma->output->size;
            double sum = read_element(buffer + f.c + offset, mma->output, false);
            for (int k = 0; k < mma->k; k++)
                sum = fma(a[at.row * mma->k + k], b[k * mma->n + at.column], sum);
            write_element(buffer + f.d + offset, mma->output, sum);
        }
    }
}

/* --- ldmatrix ----------------------------------------------------------------------------------------------------------- */

/* Row r of matrix i begins where lane 8 * i + r says; lane l has two elements of row l / 4, or of that column. */
static void load_matrices(const HostWarp *warp, uint32_t lanes, const IntrinsicInfo *info)
{
    const uint16_t *rows[HOST_WARP] = {0};
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        rows[lane] = ((const HostMatrixRows *)(uintptr_t)warp->fibers[lane]->wait.value)->row;
    }
    for (uint32_t left = lanes; left; left &= left - 1) {
        int lane = __builtin_ctz(left);
        HostMatrixRows *buffer = (HostMatrixRows *)(uintptr_t)warp->fibers[lane]->wait.value;
        for (int i = 0; i < 2 * (int)info->matrices; i++) {
            int line = lane / 4, place = lane % 4 * 2 + i % 2;
            const uint16_t *row = rows[i / 2 * 8 + (info->is_transposed ? place : line)];
            buffer->elements[i] = row ? row[info->is_transposed ? line : place] : 0;
        }
    }
}

bool host_tensor_meet(const HostWarp *warp, int32_t operation, uint32_t lanes)
{
    const IntrinsicInfo *info = &intrinsic_info[operation];
    if (info->family == FAMILY_LDMATRIX)
        load_matrices(warp, lanes, info);
    else if (info->family == FAMILY_MMA)
        multiply(warp, lanes, &info->mma);
    return intrinsic_is_tensor((IntrinsicId)operation);
}
