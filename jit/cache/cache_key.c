/* Writes a snapshot and everything it points to as bytes, every object once, and hashes them. */
#include "jit/cache/cache_key.h"

#include <elf.h>
#include <link.h>
#include <string.h>

#include "core/base/table.h"
#include "jit/compile.h"

typedef struct Writer {
    Buf out;
    Table *seen; /* object -> itself */
    bool has_addresses, has_links;
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

/* --- the rows of a struct ------------------------------------------------------------------------------------------------- */
static void write_type(Writer *w, const Type *type);
static void write_types(Writer *w, const Type *const *types, uint32_t count);
static void write_fields(Writer *w, const TypeField *fields, uint32_t count);
static void write_identity(Writer *w, const Type *type);
static void write_class(Writer *w, const void *class);
static void write_array(Writer *w, const ConstantArray *array);
static void write_constant(Writer *w, const Constant *constant);
static void write_constants(Writer *w, const Constant *const *constants, uint32_t count);
static void write_code(Writer *w, const CodeSnapshot *code);
static void write_function(Writer *w, const Snapshot *function);
static void write_source(Writer *w, const SourceFunction *source);
static void write_foreign(Writer *w, const ForeignFunction *foreign);
static void write_links(Writer *w, const LinkItem *const *links, uint32_t count);
static void write_positions(Writer *w, const SourcePos *positions, uint32_t code_size);

static void write_hash(Writer *w, const void *data, size_t size)
{
    Hash hash = hash_bytes(data, data ? size : 0);
    write_bytes(w, &hash, sizeof hash);
}

/* The field of *object, as core/base/fields.h says; a writer w is at hand. */
#define WRITE_FIELD(type, name, extent, key, of) KEY_##key(name, of)
#define KEY_none(name, of)
#define KEY_number(name, of) write_number(w, (uint64_t)object->name);
#define KEY_place_text(name, of) write_text(w, w->with_positions ? object->name : NULL);
#define KEY_place_number(name, of) write_number(w, w->with_positions ? (uint64_t)object->name : 0);
#define KEY_real(name, of) write_bytes(w, &object->name, sizeof object->name);
#define KEY_text(name, of) write_text(w, object->name);
#define KEY_bytes(name, of) write_bytes(w, object->name, object->of);
#define KEY_hash(name, of) write_hash(w, object->name, object->of);
#define KEY_leading(name, of) write_bytes(w, object->name, (size_t)object->of * sizeof *object->name);
#define KEY_texts(name, of) write_texts(w, object->name, object->of);
#define KEY_constants(name, of) write_constants(w, object->name, object->of);
#define KEY_types(name, of) write_types(w, object->name, object->of);
#define KEY_fields(name, of) write_fields(w, object->name, object->of);
#define KEY_positions(name, of) write_positions(w, object->name, object->of);
#define KEY_type(name, of) write_type(w, object->name);
#define KEY_links(name, of) write_links(w, object->name, object->of);
#define KEY_foreign(name, of) write_foreign(w, object->name);
#define KEY_array(name, of) write_array(w, object->name);
#define KEY_function(name, of) write_function(w, object->name);
#define KEY_code(name, of) write_code(w, object->name);
#define KEY_source(name, of) write_source(w, &object->name);
#define KEY_identity(name, of) write_identity(w, object);
#define KEY_class(name, of) write_class(w, object->name);
#define KEY_intrinsic(name, of) write_text(w, intrinsic_info[object->name].id);
#define KEY_processor(name, of) write_processor(w, object->name);
#define KEY_address(name, of) w->has_addresses |= object->name != 0;

/* --- types ------------------------------------------------------------------------------------------------------------------ */
static void write_type(Writer *w, const Type *object)
{
    write_number(w, object != NULL);
    if (object) {
        TYPE_FIELDS(WRITE_FIELD)
    }
}

static void write_types(Writer *w, const Type *const *types, uint32_t count)
{
    for (uint32_t i = 0; types && i < count; i++)
        write_type(w, types[i]);
}

static void write_fields(Writer *w, const TypeField *fields, uint32_t count)
{
    for (uint32_t i = 0; fields && i < count; i++) {
        const TypeField *object = &fields[i];
        TYPE_FIELD_FIELDS(WRITE_FIELD)
    }
}

static void write_identity(Writer *w, const Type *type)
{
    if (type_has_trait(type, TRAIT_CLASS))
        first_time(w, type->object); /* a class of Python: told apart from others by its number */
    else
        write_constant(w, type->object);
}

static void write_class(Writer *w, const void *class)
{
    write_number(w, class != NULL);
    if (class)
        first_time(w, class);
}

/* --- code from elsewhere ------------------------------------------------------------------------------------------------- */
static void write_links(Writer *w, const LinkItem *const *links, uint32_t count)
{
    for (uint32_t i = 0; links && i < count; i++) {
        const LinkItem *object = links[i];
        LINK_ITEM_FIELDS(WRITE_FIELD)
        w->has_links = true;
    }
}

static void write_foreign(Writer *w, const ForeignFunction *object)
{
    write_number(w, object != NULL);
    if (object) {
        FOREIGN_FUNCTION_FIELDS(WRITE_FIELD)
    }
}

/* --- the snapshot --------------------------------------------------------------------------------------------------------- */
static void write_array(Writer *w, const ConstantArray *object)
{
    write_number(w, object != NULL);
    if (object) {
        CONSTANT_ARRAY_FIELDS(WRITE_FIELD)
    }
}

static void write_constants(Writer *w, const Constant *const *constants, uint32_t count)
{
    write_number(w, constants ? count : 0);
    for (uint32_t i = 0; constants && i < count; i++)
        write_constant(w, constants[i]);
}

static void write_constant(Writer *w, const Constant *object)
{
    if (first_time(w, object)) {
        CONSTANT_FIELDS(WRITE_FIELD)
    }
}

static void write_positions(Writer *w, const SourcePos *positions, uint32_t code_size)
{
    for (uint32_t i = 0; w->with_positions && positions && i < code_size / 2; i++) {
        const SourcePos *object = &positions[i];
        SOURCE_POS_FIELDS(WRITE_FIELD)
    }
}

static void write_source(Writer *w, const SourceFunction *object) { SOURCE_FUNCTION_FIELDS(WRITE_FIELD) }

static void write_code(Writer *w, const CodeSnapshot *object)
{
    if (first_time(w, object)) {
        CODE_SNAPSHOT_FIELDS(WRITE_FIELD)
    }
}

static void write_function(Writer *w, const Snapshot *object)
{
    if (first_time(w, object)) {
        SNAPSHOT_FIELDS(WRITE_FIELD)
    }
}

/* --- what made the code ----------------------------------------------------------------------------------------------------- */
/* Where the linker has put the header of the object that this is in. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

static const ElfW(Phdr) * program_header(int index)
{
    return (const ElfW(Phdr) *)((const uint8_t *)&__ehdr_start + __ehdr_start.e_phoff) + index;
}

/* What lies at an address of the file is there, added to this. */
static uintptr_t load_address(void)
{
    for (int i = 0; i < __ehdr_start.e_phnum; i++)
        if (program_header(i)->p_type == PT_LOAD && program_header(i)->p_offset == 0)
            return (uintptr_t)&__ehdr_start - program_header(i)->p_vaddr;
    return 0;
}

static bool write_in_notes(Writer *w, const uint8_t *notes, size_t size)
{
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *note = (const void *)notes;
        size_t name = (note->n_namesz + 3u) & ~3u, used = sizeof *note + name + ((note->n_descsz + 3u) & ~3u);
        if (used > size)
            return false;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 && !memcmp(note + 1, "GNU", 4)) {
            write_bytes(w, (const uint8_t *)(note + 1) + name, note->n_descsz);
            return note->n_descsz > 0;
        }
        notes += used;
        size -= used;
    }
    return false;
}

/* The linker's hash of this build of cujit, LLVM and the math library in it. False where it left none. */
static bool write_build(Writer *w)
{
    uintptr_t start = load_address();
    for (int i = 0; start && i < __ehdr_start.e_phnum; i++) {
        const ElfW(Phdr) *header = program_header(i);
        if (header->p_type == PT_NOTE && write_in_notes(w, (const uint8_t *)(start + header->p_vaddr), header->p_memsz))
            return true;
    }
    return false;
}

/* NULL: this machine's. */
static void write_processor(Writer *w, const TargetInfo *gpu)
{
    size_t size = 0;
    const void *native = gpu ? NULL : codegen_host_processor(&size);
    write_text(w, gpu ? gpu->name : "native");
    write_bytes(w, native, size);
}

static void write_target(Writer *w, const Target *object) { TARGET_FIELDS(WRITE_FIELD) }

/* No type of an option has gaps. Of what is checked it matters what it comes to. */
static void write_options(Writer *w, const CompileOptions *given, TargetKind kind)
{
    CompileOptions resolved = *given, *options = &resolved;
    resolved.check = checks_of(given, kind);
#define OPTION(name, kind, type, value, default, loops, doc) write_bytes(w, &options->name, sizeof options->name);
#include "core/option.def"
}

/* Those that types chose among what is overloaded, which no snapshot has. */
static void write_implementations(Writer *w, const JitFunction *function, const JitSpecialization *specialization)
{
    Arena *arena = arena_create();
    const Implementation *used = jit_used_implementations(function, specialization, arena);
    for (; used; used = used->next)
        write_function(w, used->function);
    arena_destroy(arena);
}

bool jit_cache_key(const JitFunction *function, const JitSpecialization *specialization, const Target *target,
                   Hash *key)
{
    const CompileOptions *options = &function->options;
    bool with_positions =
        options->debug || options->lineinfo || target->kind == TARGET_HOST || checks_of(options, target->kind);
    Writer writer = {.seen = table_create(), .with_positions = with_positions};
    bool ok = write_build(&writer);
    write_target(&writer, target);
    write_options(&writer, options, target->kind);
    write_number(&writer, specialization->count);
    for (uint32_t i = 0; i < specialization->count; i++)
        write_type(&writer, specialization->types[i]);
    write_bytes(&writer, specialization->failed, specialization->failed ? sizeof *specialization->failed : 0);
    write_function(&writer, function->snapshot);
    write_implementations(&writer, function, specialization);
    *key = hash_bytes(writer.out.text, writer.out.length);
    ok &= !writer.has_addresses && !(writer.has_links && target->kind == TARGET_HOST); /* host: linked anew each time */
    buf_free(&writer.out);
    table_destroy(writer.seen);
    return ok;
}
