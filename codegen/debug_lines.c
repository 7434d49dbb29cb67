/* Source lines in the generated code, for profilers and debuggers, when the options ask: one compile unit, a subprogram
 * for each function of known source, the line and column of each value. No variables. */
#include <string.h>

#include "codegen/debug_lines.h"
#include "codegen/emit.h"
#include "codegen/emit_tools.h"

/* Directives .loc and .file only: unlike the other kinds they leave PTX optimized. LLVM's C API has no name for it. */
static const LLVMDWARFEmissionKind DIRECTIVES_ONLY = (LLVMDWARFEmissionKind)3;

static LLVMMetadataRef file_of(Emitter *emitter, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t folder_length = slash ? (size_t)(slash - path) : 0;
    return LLVMDIBuilderCreateFile(emitter->debug, name, strlen(name), path, folder_length);
}

static void add_flag(Emitter *emitter, const char *name, int32_t value)
{
    LLVMAddModuleFlag(emitter->llvm_module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                      LLVMValueAsMetadata(const_i32(emitter, value)));
}

void begin_debug_lines(Emitter *emitter)
{
    const CompileOptions *options = emitter->options;
    const SourceFunction *source = emitter->ir->first ? emitter->ir->first->source : NULL;
    if ((!options->debug && !options->lineinfo) || !source)
        return;
    emitter->debug = LLVMCreateDIBuilder(emitter->llvm_module);
    bool is_gpu = emitter->target->kind == TARGET_NVPTX;
    LLVMDWARFEmissionKind kind = options->debug ? LLVMDWARFEmissionFull
                                 : is_gpu       ? DIRECTIVES_ONLY
                                                : LLVMDWARFEmissionLineTablesOnly;
    LLVMDIBuilderCreateCompileUnit(emitter->debug, LLVMDWARFSourceLanguagePython, file_of(emitter, source->file),
                                   "cujit", 5, options->opt > 0, "", 0, 0, "", 0, kind, 0, false, false, "", 0, "", 0);
    add_flag(emitter, "Debug Info Version", (int32_t)LLVMDebugMetadataVersion());
    add_flag(emitter, "Dwarf Version", is_gpu ? 2 : 4);
}

void begin_debug_function(Emitter *emitter, const EmittedFunction *function)
{
    emitter->scope = NULL;
    LLVMSetCurrentDebugLocation2(emitter->builder, NULL);
    const SourceFunction *source = function->ir->source;
    if (!emitter->debug || !source)
        return;
    LLVMMetadataRef file = file_of(emitter, source->file);
    LLVMMetadataRef type = LLVMDIBuilderCreateSubroutineType(emitter->debug, file, NULL, 0, LLVMDIFlagZero);
    size_t length;
    const char *symbol = LLVMGetValueName2(function->llvm, &length);
    unsigned line = source->first_line > 0 ? (unsigned)source->first_line : 0;
    emitter->scope =
        LLVMDIBuilderCreateFunction(emitter->debug, file, source->name, strlen(source->name), symbol, length, file,
                                    line, type, false, true, line, LLVMDIFlagZero, emitter->options->opt > 0);
    LLVMSetSubprogram(function->llvm, emitter->scope);
}

/* Positions in other files (code that the frontend took in) have no line here. */
static bool is_here(const Emitter *emitter, const SourcePos *pos)
{
    return pos->line > 0 && (!pos->function || !strcmp(pos->function->file, emitter->function->source->file));
}

void set_debug_position(Emitter *emitter, const SourcePos *pos)
{
    if (!emitter->scope)
        return;
    bool known = is_here(emitter, pos);
    LLVMMetadataRef location = LLVMDIBuilderCreateDebugLocation(
        emitter->context, known ? (unsigned)pos->line : 0, known && pos->column >= 0 ? (unsigned)pos->column + 1 : 0,
        emitter->scope, NULL);
    LLVMSetCurrentDebugLocation2(emitter->builder, location);
}

void end_debug_function(Emitter *emitter)
{
    emitter->scope = NULL;
    LLVMSetCurrentDebugLocation2(emitter->builder, NULL);
}
