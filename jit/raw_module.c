/* Kernels of code that was compiled elsewhere: the code is loaded once on each device, and a specialization only knows how
 * its arguments lie in the kernel's parameters, which the driver tells the sizes of. */
#include "jit/raw_module.h"

#include <stdio.h>
#include <string.h>

#include "core/base/memory.h"
#include "core/thread/fork_lock.h"

typedef struct LoadedModule LoadedModule;
struct LoadedModule {
    RtDevice *device;
    RtModule *module;
    LoadedModule *next;
};

struct JitRawModule {
    char *code, *name;
    int max_registers;
    LongLock lock;
    LoadedModule *loaded; /* under the lock */
};

JitRawModule *jit_raw_module_create(const void *code, size_t size, const char *name, int max_registers)
{
    JitRawModule *raw = memory_try(sizeof *raw);
    char *bytes = memory_try(size + 1), *text = memory_try(strlen(name) + 1);
    if (!raw || !bytes || !text) {
        memory_free(raw);
        memory_free(bytes);
        memory_free(text);
        return NULL;
    }
    memcpy(bytes, code, size);
    strcpy(text, name);
    *raw = (JitRawModule){.code = bytes, .name = text, .max_registers = max_registers};
    long_lock_init(&raw->lock);
    return raw;
}

void jit_raw_module_destroy(JitRawModule *raw)
{
    if (!raw)
        return;
    for (LoadedModule *each = raw->loaded, *next; each; each = next) {
        next = each->next;
        rt_module_unload(each->module);
        memory_free(each);
    }
    long_lock_destroy(&raw->lock);
    memory_free(raw->code);
    memory_free(raw->name);
    memory_free(raw);
}

static RtModule *load_locked(JitRawModule *raw, RtDevice *device, Diag *diag)
{
    LoadedModule *loaded = memory_new(sizeof *loaded, diag);
    if (!loaded)
        return NULL;
    *loaded =
        (LoadedModule){device, rt_module_load(device, raw->code, raw->name, raw->max_registers, diag), raw->loaded};
    RtModule *made = loaded->module;
    if (made)
        raw->loaded = loaded;
    else
        memory_free(loaded);
    return made;
}

RtModule *jit_raw_module_on(JitRawModule *raw, RtDevice *device, Diag *diag)
{
    pthread_mutex_lock(&raw->lock.mutex);
    const LoadedModule *found = raw->loaded;
    while (found && found->device != device)
        found = found->next;
    RtModule *made = found ? found->module : load_locked(raw, device, diag);
    pthread_mutex_unlock(&raw->lock.mutex);
    return made;
}

/* --- a kernel for certain arguments ------------------------------------------------------------------------------------- */
static bool refuse_count(const JitFunction *function, RtKernel *kernel, uint32_t given, Diag *diag)
{
    bool is_there = true, is_known = true;
    size_t offset, size;
    uint32_t count = 0;
    while (is_there && rt_kernel_parameter(kernel, count, &offset, &size, &is_there, &is_known, diag))
        count += is_there;
    return diag_fail(diag, NULL, DIAG_LAUNCH_ARITY, function->symbol, (int)count, count == 1 ? "" : "s", (int)given);
}

/* Bytes of the fields of a parameter, which start at *first. */
static uint32_t field_bytes(const KernelAbi *abi, uint32_t parameter, uint32_t *first)
{
    while (*first < abi->field_count && abi->fields[*first].parameter != parameter)
        ++*first;
    uint32_t size = 0;
    for (uint32_t i = *first; i < abi->field_count && abi->fields[i].parameter == parameter; i++)
        size += abi->fields[i].size;
    return size;
}

static bool refuse_size(const JitFunction *function, const Type *type, uint32_t index, uint32_t given, size_t wanted,
                        Diag *diag)
{
    char place[16], why[256];
    Buf text = {0};
    type_describe(&text, type);
    snprintf(place, sizeof place, "#%u", index + 1);
    snprintf(
        why, sizeof why,
        "%.100s has %u bytes, the kernel's parameter %zu; a NumPy scalar such as np.int32(n) has a size of its own",
        buf_text(&text), given, wanted);
    buf_free(&text);
    return diag_fail(diag, NULL, DIAG_LAUNCH_ARGUMENT, place, function->symbol, why);
}

/* Moves the fields to where the driver has the parameters, if it tells; arguments that do not fit are an error. */
static bool place_fields(const JitFunction *function, JitSpecialization *specialization, KernelAbi *abi, Diag *diag)
{
    RtKernel *kernel = specialization->kernel;
    AbiField *fields = arena_copy(specialization->arena, abi->fields, abi->field_count * sizeof *fields);
    bool is_there = true, is_known = true;
    size_t offset = 0, size = 0, end = 0;
    for (uint32_t i = 0, first = 0; i <= specialization->count && is_known; i++) {
        if (!rt_kernel_parameter(kernel, i, &offset, &size, &is_there, &is_known, diag))
            return false;
        if (is_known && is_there != (i < specialization->count))
            return refuse_count(function, kernel, specialization->count, diag);
        if (!is_known || !is_there)
            break;
        uint32_t given = field_bytes(abi, i, &first);
        if (given != size)
            return refuse_size(function, specialization->types[i], i, given, size, diag);
        for (uint32_t field = first; field < abi->field_count && fields[field].parameter == i; field++) {
            fields[field].offset = (uint32_t)offset + (abi->fields[field].offset - abi->fields[first].offset);
            end = fields[field].offset + fields[field].size;
        }
    }
    abi->fields = fields;
    abi->size = is_known ? (uint32_t)end : abi->size;
    return true;
}

static bool has_layout(const Type *type)
{
    return type_is_scalar(type) || type_is_time(type) || type->kind == TYPE_ARRAY;
}

bool jit_obtain_raw(const JitFunction *function, JitSpecialization *specialization, Diag *diag)
{
    for (uint32_t i = 0; i < specialization->count; i++)
        if (!has_layout(specialization->types[i])) {
            char place[16];
            snprintf(place, sizeof place, "#%u", i + 1);
            return diag_fail(diag, NULL, DIAG_LAUNCH_ARGUMENT, place, function->symbol,
                             "code that was compiled elsewhere takes numbers and arrays, which are pointers");
        }
    RtModule *module = jit_raw_module_on(function->raw, specialization->device, diag);
    specialization->kernel = module ? rt_module_kernel(module, function->symbol, function->is_cooperative, diag) : NULL;
    if (!specialization->kernel)
        return false;
    KernelAbi *abi = kernel_abi_pointers(specialization->types, specialization->count, specialization->arena);
    specialization->abi = abi;
    bool *written = ARENA_ARRAY(specialization->arena, bool, specialization->count);
    memset(written, true, specialization->count);
    specialization->written = written;
    return place_fields(function, specialization, abi, diag);
}
