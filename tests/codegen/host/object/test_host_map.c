/* What is read of objects, and how they get into memory: nothing in them is taken for true. */
#include <stdlib.h>
#include <string.h>

#include "codegen/host/object/host_map.h"
#include "codegen_tests.h"

static const char ir[] = "kernel k(x: f64[1 C], out: f64[1 C])\n"
                         "block 0:\n"
                         "  %0: i64 = const 0\n"
                         "  %1: f64 = load x[%0]\n"
                         "  %2: f64 = math.gamma %1\n"
                         "  store out[%0], %2\n"
                         "  return\n";

static bool compile(KernelImage *image)
{
    Arena *arena = arena_create();
    Diag diag = {0};
    Target host = {TARGET_HOST, NULL};
    CompileOptions options = {.opt = 2, .fmad = true};
    IrModule *module = ir_parse(ir, arena, &diag);
    bool ok = module && codegen_run_passes(module, &host, &options, NULL, &diag) &&
              codegen_compile(module, &host, &options, LLVM_NO_TEXT, false, image, &diag);
    arena_destroy(arena);
    return CHECK(ok);
}

static HostFunction find_at(const void *context, const char *name)
{
    (void)name;
    return *(const HostFunction *)context;
}

static void nothing(void) {}

static bool map_at(HostMap *map, const void *bytes, size_t size, uintptr_t address)
{
    HostObject object;
    HostFunction function = (HostFunction)address;
    return host_object_open(&object, bytes, size) && host_map_object(map, &object, find_at, &function);
}

/* Where the machine code is, which the runtime goes by. */
static void check_places(const KernelImage *image)
{
    HostObject object;
    Elf64_Sym symbol;
    Elf64_Shdr section;
    CHECK(host_object_open(&object, image->code, image->code_size));
    CHECK(host_object_find(&object, "k.blocks", &symbol, &section) && section.sh_size > symbol.st_value);
    CHECK(!host_object_find(&object, "k.thread", &symbol, &section));
}

#if defined __x86_64__ || defined __aarch64__
static bool has_bytes(const HostMap *map, const void *bytes, size_t size)
{
    for (size_t i = 0; i + size <= map->size; i++)
        if (!memcmp(map->memory + i, bytes, size))
            return true;
    return false;
}

/* A function near the code is called there; one that is far away by a jump to the address that lies behind it. */
static void check_calls(const KernelImage *image)
{
    HostMap map;
    uint64_t far_away = 0x123456789abc;
    if (CHECK(map_at(&map, image->code, image->code_size, far_away))) {
        CHECK(!memcmp(map.memory + 8, &far_away, sizeof far_away));
        CHECK(has_bytes(&map, &far_away, sizeof far_away));
        host_unmap(&map);
    }
    HostMap first;
    if (!CHECK(map_at(&first, image->code, image->code_size, far_away)))
        return;
    uint64_t near_by = (uint64_t)(uintptr_t)first.memory;
    if (CHECK(map_at(&map, image->code, image->code_size, near_by))) {
        CHECK(!has_bytes(&map, &near_by, sizeof near_by));
        host_unmap(&map);
    }
    host_unmap(&first);
    CHECK(!map_at(&map, image->code, image->code_size, 0)); /* none of that name */
}
#else
static void check_calls(const KernelImage *image)
{
    HostMap map;
    CHECK(!map_at(&map, image->code, image->code_size, (uintptr_t)nothing));
}
#endif

static void try_all(const void *bytes, size_t size)
{
    HostObject object;
    Elf64_Sym symbol;
    Elf64_Shdr section;
    HostMap map;
    if (host_object_open(&object, bytes, size))
        host_object_find(&object, "k.blocks", &symbol, &section);
    if (map_at(&map, bytes, size, (uintptr_t)nothing))
        host_unmap(&map);
}

static void check_damage(const KernelImage *image)
{
    char *bytes = malloc(image->code_size);
    for (size_t length = 0; length < image->code_size; length += 7) {
        char *copy = memcpy(malloc(length + 1), image->code, length);
        try_all(copy, length);
        free(copy);
    }
    for (size_t at = 0; at < image->code_size; at++) {
        memcpy(bytes, image->code, image->code_size);
        bytes[at] = (char)~bytes[at];
        try_all(bytes, image->code_size);
    }
    free(bytes);
    CHECK(true);
}

void test_host_map(void)
{
    KernelImage image;
    if (!compile(&image))
        return;
    check_places(&image);
    check_calls(&image);
    check_damage(&image);
    kernel_image_free(&image);
}
