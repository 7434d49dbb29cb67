/* The key under which code is kept: a change of any field that has a row in core is a change of the key. The fields are the
 * rows themselves, so that a new one is tested when it is there. */
#include <string.h>

#include "check.h"
#include "jit/cache/cache_key.h"
#include "jit_tests.h"

/* A function that reaches one of each struct; numbers that count can grow by one. */
static const char *names[] = {"first", "second", "third"};
static const Type *types[] = {TYPE_OF(INT8), TYPE_OF(INT16), TYPE_OF(INT32)};
static const uint8_t bytes[16];
static TypeField fields[3] = {{.name = "field", .type = TYPE_OF(FLOAT32), .shape = {3, 5}}};
static Type type = {.kind = TYPE_RECORD, .size = 8, .name = "record", .items = types, .names = names, .fields = fields};
static ConstantArray array = {.element = TYPE_OF(INT8), .shape = {4, 1}, .strides = {1, 1}, .data = bytes, .size = 4};
static Constant constant;
static const Constant *const constants[] = {&constant, &constant, &constant};
static SourcePos positions[8] = {{.line = 3}};
static CodeSnapshot code;
static Snapshot function;
static Target target;

static void build(void)
{
    type.count = 1;
    constant = (Constant){.type = &type, .text = "text", .items = constants, .names = names, .array = &array};
    code = (CodeSnapshot){.source = {.file = "f.py", .name = "f"},
                          .bytes = bytes,
                          .size = 4,
                          .positions = positions,
                          .exception_table = bytes,
                          .exception_table_size = 4,
                          .local_names = names,
                          .names = names,
                          .constants = constants,
                          .globals = constants,
                          .methods = constants,
                          .method_names = names};
    code.constant_count = code.local_count = code.name_count = code.method_count = 1;
    function = (Snapshot){.code = &code, .defaults = constants, .free_values = constants};
    function.keyword_default_names = names;
    function.keyword_defaults = constants;
    target = (Target){.kind = TARGET_NVPTX, .gpu = target_gpu(80)};
}

static Hash key(void)
{
    JitFunction kernel = {.snapshot = &function, .options = default_options};
    JitSpecialization specialization = {.count = 0};
    Hash made;
    kernel.options.lineinfo = true;
    jit_cache_key(&kernel, &specialization, &target, &made);
    return made;
}

static int tested;

static void check_changed(const Hash *before, const char *struct_name, const char *name)
{
    Hash after = key();
    tested++;
    if (!CHECK(memcmp(before, &after, sizeof after) != 0))
        fprintf(stderr, "%s.%s is not in the key\n", struct_name, name);
}

/* Changes the field of `object`, a variable at hand, looks at the key, and changes it back. */
#define CHANGE(name, to)                               \
    {                                                  \
        __typeof__(object->name) saved = object->name; \
        object->name = (to);                           \
        check_changed(&before, struct_name, #name);    \
        object->name = saved;                          \
    }
#define TEST_FIELD(type, name, extent, key, of) TEST_##key(name)
#define TEST_number(name) CHANGE(name, object->name ^ 1)
#define TEST_place_number(name) TEST_number(name)
#define TEST_real(name) CHANGE(name, object->name + 1)
#define TEST_text(name) CHANGE(name, "other")
#define TEST_place_text(name) TEST_text(name)
#define TEST_intrinsic(name) CHANGE(name, INTRINSIC_NONE + 1)
#define TEST_type(name) CHANGE(name, TYPE_OF(BOOL))
#define TEST_bytes(name) CHANGE(name, (const void *)names)
#define TEST_hash(name) CHANGE(name, (const void *)names)
#define TEST_processor(name) CHANGE(name, target_gpu(90))
#define TEST_leading(name)                           \
    {                                                \
        object->ndim = 1;                            \
        Hash leading = key();                        \
        object->name[0] ^= 1;                        \
        check_changed(&leading, struct_name, #name); \
        object->name[0] ^= 1;                        \
        object->ndim = 0;                            \
    }
/* Lists and structs of their own: the rest of the function is reached through them. */
#define TEST_none(name)
#define TEST_texts(name)
#define TEST_constants(name)
#define TEST_types(name)
#define TEST_fields(name)
#define TEST_positions(name)
#define TEST_array(name)
#define TEST_links(name)
#define TEST_foreign(name)
#define TEST_function(name)
#define TEST_code(name)
#define TEST_source(name)
#define TEST_identity(name)
#define TEST_class(name) CHANGE(name, (const void *)names)
#define TEST_address(name)

#define TEST_STRUCT(struct_type, ROWS, place)           \
    {                                                   \
        static const char struct_name[] = #struct_type; \
        struct_type *object = (place);                  \
        Hash before = key();                            \
        ROWS(TEST_FIELD)                                \
    }

void test_cache_key(void)
{
    build();
    TEST_STRUCT(Snapshot, SNAPSHOT_FIELDS, &function)
    TEST_STRUCT(CodeSnapshot, CODE_SNAPSHOT_FIELDS, &code)
    TEST_STRUCT(SourceFunction, SOURCE_FUNCTION_FIELDS, &code.source)
    TEST_STRUCT(SourcePos, SOURCE_POS_FIELDS, &positions[0])
    TEST_STRUCT(Constant, CONSTANT_FIELDS, &constant)
    TEST_STRUCT(ConstantArray, CONSTANT_ARRAY_FIELDS, &array)
    TEST_STRUCT(Type, TYPE_FIELDS, &type)
    TEST_STRUCT(TypeField, TYPE_FIELD_FIELDS, &fields[0])
    TEST_STRUCT(Target, TARGET_FIELDS, &target)
    CHECK(tested > 60);
    Hash again = key(), once_more = key();
    CHECK(memcmp(&again, &once_more, sizeof again) == 0);
}
