/* Writes a snapshot and everything it points to as bytes, every object once, and hashes them. */
#include "jit/cache_key.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "core/base/table.h"

/* A field that is new in one of these is written below, or code that differs by it is taken for the same. */
_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(Snapshot) == 72 && sizeof(CodeSnapshot) == 168 && sizeof(Constant) == 120 &&
                    sizeof(ConstantArray) == 176 && sizeof(Type) == 96 && sizeof(TypeField) == 56),
               "what a key is made of has changed");

typedef struct Writer {
    Buf out;
    Table *seen; /* object -> itself */
    bool has_addresses;
    bool with_positions; /* the code tells where in the source it comes from */
} Writer;

/* --- numbers, texts, types ---------------------------------------------------------------------------------------------- */
static void write_number(Writer *w, uint64_t number) { buf_add_bytes(&w->out, &number, sizeof number); }

static void write_bytes(Writer *w, const void *bytes, size_t size)
{
    write_number(w, size);
    if (size)
        buf_add_bytes(&w->out, bytes, size);
}

static void write_text(Writer *w, const char *text)
{
    write_number(w, text != NULL);
    if (text)
        write_bytes(w, text, strlen(text));
}

static void write_texts(Writer *w, const char *const *texts, uint32_t count)
{
    write_number(w, texts ? count : 0);
    for (uint32_t i = 0; texts && i < count; i++)
        write_text(w, texts[i]);
}

/* Whether the object is new; one that is not is written as its number. */
static bool first_time(Writer *w, const void *object)
{
    uintptr_t number = (uintptr_t)table_get(w->seen, &object, sizeof object);
    write_number(w, object ? number : UINT64_MAX);
    if (number || !object)
        return false;
    table_set(w->seen, &object, sizeof object, (void *)(table_count(w->seen) + 1));
    return true;
}

static void write_constant(Writer *w, const Constant *constant);

static void write_type(Writer *w, const Type *type)
{
    write_number(w, type != NULL);
    if (!type)
        return;
    const uint64_t numbers[] = {type->kind,  type->scalar, type->size,      type->alignment,
                                type->ndim,  type->layout, type->read_only, type->tag,
                                type->count, type->unit,   type->multiple};
    write_bytes(w, numbers, sizeof numbers);
    write_text(w, type->name);
    write_texts(w, type->names, type->count);
    write_type(w, type->element);
    for (uint32_t i = 0; type->items && i < type->count; i++)
        write_type(w, type->items[i]);
    for (uint32_t i = 0; type->fields && i < type->count; i++) {
        write_text(w, type->fields[i].name);
        write_number(w, type->fields[i].offset);
        write_bytes(w, type->fields[i].shape, type->fields[i].ndim * sizeof *type->fields[i].shape);
        write_type(w, type->fields[i].type);
    }
    if (type_has_trait(type, TRAIT_CLASS))
        first_time(w, type->object); /* a class of Python: told apart from others by its number */
    else
        write_constant(w, type->object);
}

/* --- the snapshot --------------------------------------------------------------------------------------------------------- */
static void write_array(Writer *w, const ConstantArray *array)
{
    write_number(w, array != NULL);
    if (!array)
        return;
    w->has_addresses |= array->device_pointer != 0;
    write_type(w, array->element);
    write_number(w, (uint64_t)array->ndim);
    write_bytes(w, array->shape, (size_t)array->ndim * sizeof *array->shape);
    write_bytes(w, array->strides, (size_t)array->ndim * sizeof *array->strides);
    write_number(w, array->layout);
    Hash data = hash_bytes(array->data, array->data ? array->size : 0);
    write_bytes(w, &data, sizeof data);
}

static void write_constants(Writer *w, const Constant *const *constants, uint32_t count)
{
    write_number(w, constants ? count : 0);
    for (uint32_t i = 0; constants && i < count; i++)
        write_constant(w, constants[i]);
}

static void write_positions(Writer *w, const CodeSnapshot *code)
{
    write_text(w, code->source.file);
    write_number(w, (uint64_t)code->source.first_line);
    for (uint32_t i = 0; i < code->size / 2; i++) {
        const SourcePos *position = &code->positions[i];
        int32_t numbers[] = {position->line, position->end_line, position->column, position->end_column};
        write_bytes(w, numbers, sizeof numbers);
    }
}

static void write_code(Writer *w, const CodeSnapshot *code)
{
    if (!first_time(w, code))
        return;
    write_text(w, code->source.name);
    write_number(w, (uint64_t)code->python_minor);
    write_bytes(w, code->bytes, code->size);
    if (w->with_positions)
        write_positions(w, code);
    write_bytes(w, code->exception_table, code->exception_table_size);
    write_number(w, code->argument_count);
    write_number(w, code->positional_only_count);
    write_number(w, code->keyword_only_count);
    write_number(w, (uint64_t)code->has_varargs | (uint64_t)code->has_varkeywords << 1 |
                        (uint64_t)code->is_generator << 2 | (uint64_t)code->is_library << 3 |
                        (uint64_t)code->is_coroutine << 4);
    write_texts(w, code->local_names, code->local_count);
    write_number(w, code->free_count);
    write_texts(w, code->names, code->name_count);
    write_constants(w, code->constants, code->constant_count);
    write_constants(w, code->globals, code->name_count);
    write_texts(w, code->method_names, code->method_count);
    write_constants(w, code->methods, code->method_count);
}

static void write_function(Writer *w, const Snapshot *function)
{
    if (!first_time(w, function))
        return;
    write_code(w, function->code);
    write_constants(w, function->free_values, function->code->free_count);
    write_constants(w, function->defaults, function->default_count);
    write_texts(w, function->keyword_default_names, function->keyword_default_count);
    write_constants(w, function->keyword_defaults, function->keyword_default_count);
    write_number(w, function->constant_parameters);
    write_number(w, function->forceinline);
}

static void write_constant(Writer *w, const Constant *constant)
{
    if (!first_time(w, constant))
        return;
    write_number(w, constant->kind);
    write_number(w, (uint64_t)constant->is_unsigned | (uint64_t)constant->is_python << 1 |
                        (uint64_t)constant->is_exception << 2);
    write_type(w, constant->type);
    write_number(w, (uint64_t)constant->integer);
    write_bytes(w, &constant->real, sizeof constant->real);
    write_bytes(w, &constant->imaginary, sizeof constant->imaginary);
    write_text(w, constant->text);
    write_text(w, constant->kind == CONSTANT_INTRINSIC ? intrinsic_info[constant->intrinsic].id : NULL);
    write_text(w, constant->shown_as);
    write_constants(w, constant->items, constant->count);
    write_texts(w, constant->names, constant->count);
    write_array(w, constant->array);
    write_number(w, constant->function != NULL);
    if (constant->function)
        write_function(w, constant->function);
    write_number(w, constant->code != NULL);
    if (constant->code)
        write_code(w, constant->code);
}

/* --- what made the code ----------------------------------------------------------------------------------------------------- */
typedef struct Build {
    const void *inside; /* an address in the object that is wanted */
    const uint8_t *id;
    size_t size;
} Build;

static bool is_inside(const struct dl_phdr_info *info, const void *address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uintptr_t start = info->dlpi_addr + header->p_vaddr;
        if (header->p_type == PT_LOAD && (uintptr_t)address - start < header->p_memsz)
            return true;
    }
    return false;
}

static void find_in_notes(const uint8_t *notes, size_t size, Build *build)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = (note->n_namesz + 3u) & ~3u, used = sizeof *note + name + ((note->n_descsz + 3u) & ~3u);
        if (used > size)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4)) {
            build->id = (const uint8_t *)(note + 1) + name;
            build->size = note->n_descsz;
        }
        notes += used;
        size -= used;
    }
}

static int find_build(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    Build *build = user;
    if (!is_inside(info, build->inside))
        return 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            find_in_notes((const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr), info->dlpi_phdr[i].p_memsz,
                          build);
    return 1;
}

/* The linker's hash of this build of cujit, LLVM and the math library in it. False where it left none. */
static bool write_build(Writer *w)
{
    static const char anchor;
    Build build = {.inside = &anchor};
    dl_iterate_phdr(find_build, &build);
    write_bytes(w, build.id, build.size);
    return build.size > 0;
}

static void write_target(Writer *w, const Target *target)
{
    write_number(w, target->kind);
    write_text(w, target->gpu ? target->gpu->name : codegen_host_cpu());
}

/* No type of an option has gaps. */
static void write_options(Writer *w, const CompileOptions *options)
{
#define OPTION(name, kind, type, value, default, loops, doc) write_bytes(w, &options->name, sizeof options->name);
#include "core/option.def"
}

bool jit_cache_key(const JitFunction *function, const JitSpecialization *specialization, const Target *target,
                   Hash *key)
{
    const CompileOptions *options = &function->options;
    bool with_positions = options->debug || options->lineinfo || target->kind == TARGET_HOST;
    Writer writer = {.seen = table_create(), .with_positions = with_positions};
    bool ok = write_build(&writer);
    write_target(&writer, target);
    write_options(&writer, options);
    write_number(&writer, specialization->count);
    for (uint32_t i = 0; i < specialization->count; i++)
        write_type(&writer, specialization->types[i]);
    write_function(&writer, function->snapshot);
    *key = hash_bytes(writer.out.text, writer.out.length);
    ok &= !writer.has_addresses;
    buf_free(&writer.out);
    table_destroy(writer.seen);
    return ok;
}
