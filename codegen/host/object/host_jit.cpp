/* LLJIT without what it makes for modules of LLVM IR, of which it gets none here: two descriptions of the processor, a
 * compiler, and a module that says what programs do when they begin and end. That was two thirds of the time to link. */
#include "codegen/host/object/host_jit.h"

#include <llvm/ExecutionEngine/Orc/IRCompileLayer.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/TargetParser/Host.h>

namespace
{

using Compiler = llvm::orc::IRCompileLayer::IRCompiler;

struct NoCompiler : Compiler {
    NoCompiler() : Compiler({}) {}

    llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> operator()(llvm::Module &) override
    {
        return llvm::createStringError("only objects are linked");
    }
};

llvm::Expected<std::unique_ptr<Compiler>> make_no_compiler(llvm::orc::JITTargetMachineBuilder)
{
    return std::make_unique<NoCompiler>();
}

} // namespace

LLVMErrorRef make_linking_jit(LLVMOrcLLJITRef *jit, bool has_foreign_code)
{
    llvm::Triple triple(llvm::sys::getProcessTriple());
    llvm::orc::JITTargetMachineBuilder machine(triple);
    machine.setRelocationModel(llvm::Reloc::PIC_).setCodeModel(llvm::CodeModel::Small);
    llvm::orc::LLJITBuilder builder;
    builder.setJITTargetMachineBuilder(std::move(machine))
        .setDataLayout(llvm::DataLayout(triple.computeDataLayout()))
        .setCompileFunctionCreator(make_no_compiler);
    if (!has_foreign_code)
        builder.setPlatformSetUp(llvm::orc::setUpInactivePlatform);
    auto made = builder.create();
    if (!made)
        return llvm::wrap(made.takeError());
    *jit = reinterpret_cast<LLVMOrcLLJITRef>(made->release());
    return nullptr;
}
