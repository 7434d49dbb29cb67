/* Build tool: cuts libdevice.10.bc into one bitcode image per public function.
 *   libdevice_cut libdevice.10.bc libdevice_own.ll OUT.c OUT.bin
 * OUT.bin holds the images one after another; OUT.c embeds it with .incbin and defines the table of
 * codegen/libdevice_data.h. An image keeps its function external and what it calls internal; beside it is
 * the function of libdevice_own.ll that reduces large angles, where it does so. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>

typedef struct Image {
    const char *name;
    size_t offset, size;
} Image;

static _Noreturn void die(const char *what, const char *detail)
{
    fprintf(stderr, "libdevice_cut: %s: %s\n", what, detail);
    exit(1);
}

static LLVMModuleRef read_module(LLVMContextRef context, const char *path)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message))
        die(path, message);
    LLVMModuleRef module;
    if (LLVMParseBitcodeInContext2(context, buffer, &module))
        die(path, "not LLVM bitcode");
    LLVMDisposeMemoryBuffer(buffer);
    return module;
}

static LLVMModuleRef read_text(LLVMContextRef context, const char *path)
{
    char *message = NULL;
    LLVMMemoryBufferRef buffer;
    LLVMModuleRef module;
    LLVMContextSetDiscardValueNames(context, false); /* or it cannot be read */
    if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &message) ||
        LLVMParseIRInContext(context, buffer, &module, &message))
        die(path, message);
    LLVMContextSetDiscardValueNames(context, true);
    return module;
}

static bool is_public_function(LLVMValueRef function)
{
    return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMInternalLinkage;
}

static void internalize_all_but(LLVMModuleRef module, const char *kept)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        if (LLVMIsDeclaration(f) || strcmp(LLVMGetValueName2(f, &length), kept) == 0)
            continue;
        LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (!LLVMIsDeclaration(g))
            LLVMSetLinkage(g, LLVMInternalLinkage);
}

static void drop_unused(LLVMModuleRef module)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, "globaldce,strip-dead-prototypes", NULL, options);
    if (error)
        die("globaldce", LLVMGetErrorMessage(error));
    LLVMDisposePassBuilderOptions(options);
}

/* Which function of ours belongs to images with which table of the library's. */
static const struct {
    const char *table, *own;
} own_functions[] = {{"__cudart_i2opi_f", "__cujit_reduce_f"}, {"__cudart_i2opi_d", "__cujit_reduce_d"}};

static void add_own_functions(LLVMModuleRef module, LLVMModuleRef own)
{
    for (size_t i = 0; i < sizeof own_functions / sizeof own_functions[0]; i++) {
        if (!LLVMGetNamedGlobal(module, own_functions[i].table))
            continue;
        LLVMModuleRef one = LLVMCloneModule(own);
        internalize_all_but(one, own_functions[i].own);
        drop_unused(one);
        if (LLVMLinkModules2(module, one))
            die(own_functions[i].own, "cannot be linked");
        LLVMSetLinkage(LLVMGetNamedFunction(module, own_functions[i].own), LLVMInternalLinkage);
    }
}

/* Appends the image of one function to the file. */
static size_t write_image(LLVMModuleRef whole, LLVMModuleRef own, const char *name, FILE *out)
{
    LLVMModuleRef module = LLVMCloneModule(whole);
    internalize_all_but(module, name);
    drop_unused(module);
    add_own_functions(module, own);
    LLVMSetModuleIdentifier(module, "libdevice", strlen("libdevice"));
    LLVMSetSourceFileName(module, "libdevice", strlen("libdevice"));
    LLVMMemoryBufferRef bitcode = LLVMWriteBitcodeToMemoryBuffer(module);
    size_t size = LLVMGetBufferSize(bitcode);
    if (fwrite(LLVMGetBufferStart(bitcode), 1, size, out) != size)
        die(name, "cannot write");
    LLVMDisposeMemoryBuffer(bitcode);
    LLVMDisposeModule(module);
    return size;
}

static int compare_images(const void *left, const void *right)
{
    return strcmp(((const Image *)left)->name, ((const Image *)right)->name);
}

static size_t collect_names(LLVMModuleRef whole, Image **images)
{
    size_t count = 0, capacity = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(whole); f; f = LLVMGetNextFunction(f)) {
        if (!is_public_function(f))
            continue;
        if (count == capacity) {
            capacity = capacity ? capacity * 2 : 256;
            *images = realloc(*images, capacity * sizeof **images);
            if (!*images)
                die("memory", "out of memory");
        }
        size_t length;
        (*images)[count++] = (Image){.name = LLVMGetValueName2(f, &length)};
    }
    qsort(*images, count, sizeof **images, compare_images);
    return count;
}

static void write_table(FILE *out, const char *blob_path, const Image *images, size_t count)
{
    fprintf(out,
            "/* Made by tools/libdevice_cut.c. */\n#include \"codegen/libdevice_data.h\"\n\n"
            "__asm__(\".pushsection .rodata.libdevice,\\\"a\\\",@progbits\\n\"\n"
            "        \".balign 16\\n\"\n"
            "        \".hidden libdevice_blob\\n\"\n"
            "        \".globl libdevice_blob\\n\"\n"
            "        \"libdevice_blob:\\n\"\n"
            "        \".incbin \\\"%s\\\"\\n\"\n"
            "        \".popsection\\n\");\n"
            "extern const unsigned char libdevice_blob[];\n\n"
            "const LibdeviceFunction libdevice_functions[] = {\n",
            blob_path);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "    {\"%s\", libdevice_blob + %zu, %zu},\n", images[i].name, images[i].offset, images[i].size);
    fprintf(out, "};\nconst unsigned libdevice_function_count = %zu;\n", count);
}

static FILE *open_output(const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        die(path, "cannot open");
    return file;
}

static void close_output(FILE *file, const char *path)
{
    if (fclose(file))
        die(path, "cannot write");
}

int main(int argc, char **argv)
{
    if (argc != 5)
        die("usage", "libdevice_cut libdevice.10.bc libdevice_own.ll OUT.c OUT.bin");
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiscardValueNames(context, true);
    LLVMModuleRef whole = read_module(context, argv[1]), own = read_text(context, argv[2]);

    Image *images = NULL;
    size_t count = collect_names(whole, &images), offset = 0;
    FILE *blob = open_output(argv[4]);
    for (size_t i = 0; i < count; i++) {
        images[i].offset = offset;
        images[i].size = write_image(whole, own, images[i].name, blob);
        offset += images[i].size;
    }
    close_output(blob, argv[4]);

    FILE *table = open_output(argv[3]);
    write_table(table, argv[4], images, count);
    close_output(table, argv[3]);
    free(images);
    LLVMDisposeModule(own);
    LLVMDisposeModule(whole);
    LLVMContextDispose(context);
    return 0;
}
