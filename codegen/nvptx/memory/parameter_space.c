/* The space of a kernel's parameters: 4 KiB, which PTX 8.1 (CUDA 12.1) raised for sm_70 and newer. ptxas would name no Python. */
#include "codegen/nvptx/memory/parameter_space.h"

#include "core/kernel/kernel_abi.h"

enum { PTX_OF_LARGE_PARAMETERS = 81 };

static const KernelAbi *layout(const Emitter *emitter, const IrFunc *kernel)
{
    return kernel_abi_with_values(kernel->parameter_types, kernel->parameter_count, kernel->passed,
                                  kernel->passed ? kernel->parameter_count : 0, kernel->reports, emitter->arena);
}

uint32_t nvptx_parameter_bytes(const Emitter *emitter)
{
    const IrFunc *first = emitter->ir->first;
    if (!first->is_kernel)
        return 0;
    return layout(emitter, first)->size;
}

int nvptx_parameter_ptx(uint32_t bytes) { return bytes > KERNEL_ABI_SMALL_SIZE ? PTX_OF_LARGE_PARAMETERS : 0; }

/* The parameter with the most bytes: the one to pass in another way. */
static uint32_t largest_parameter(const KernelAbi *abi, uint32_t *most)
{
    uint32_t largest = 0, bytes = 0;
    *most = 0;
    for (uint32_t i = 0; i < abi->field_count; i++) {
        const AbiField *field = &abi->fields[i];
        bool starts = !i || field->parameter != field[-1].parameter;
        bytes = starts ? field->size : bytes + field->size;
        if (bytes > *most) {
            *most = bytes;
            largest = field->parameter;
        }
    }
    return largest;
}

bool nvptx_check_parameters(const Emitter *emitter)
{
    uint32_t size = nvptx_parameter_bytes(emitter), most;
    if (size <= KERNEL_ABI_MOST_SIZE)
        return true;
    const IrFunc *kernel = emitter->ir->first;
    const KernelAbi *abi = layout(emitter, kernel);
    uint32_t largest = largest_parameter(abi, &most);
    SourcePos pos = {.function = kernel->source, .line = kernel->source ? kernel->source->first_line : 0};
    return diag_fail(emitter->diag, &pos, DIAG_PARAMETER_SPACE, kernel->name, size, KERNEL_ABI_MOST_SIZE,
                     kernel->parameter_names[largest], most);
}
