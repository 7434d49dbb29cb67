# Target cujit_llvm: the static LLVM 22, its headers, and the static zstd and zlib that it wants.
find_program(CUJIT_LLVM_CONFIG NAMES llvm-config-22 llvm-config HINTS /usr/lib/llvm-22/bin REQUIRED)

function(cujit_llvm_config result)
  execute_process(COMMAND "${CUJIT_LLVM_CONFIG}" ${ARGN} OUTPUT_VARIABLE output
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(output UNIX_COMMAND "${output}")
  set(${result} "${output}" PARENT_SCOPE)
endfunction()

cujit_llvm_config(CUJIT_LLVM_VERSION --version)
if(NOT CUJIT_LLVM_VERSION MATCHES "^22\\.")
  message(FATAL_ERROR "cujit needs LLVM 22; ${CUJIT_LLVM_CONFIG} is ${CUJIT_LLVM_VERSION} "
                      "(on Debian: apt-get install llvm-22-dev, or set CUJIT_LLVM_CONFIG)")
endif()
cujit_llvm_config(llvm_include --includedir)
cujit_llvm_config(llvm_libraries --link-static --libfiles nvptx native passes orcjit bitreader bitwriter linker irreader)

add_library(cujit_llvm INTERFACE)
target_include_directories(cujit_llvm SYSTEM INTERFACE "${llvm_include}")
target_link_libraries(cujit_llvm INTERFACE ${llvm_libraries})
foreach(name zstd z)
  find_library(CUJIT_STATIC_${name} lib${name}.a REQUIRED)
  target_link_libraries(cujit_llvm INTERFACE "${CUJIT_STATIC_${name}}")
endforeach()
target_link_libraries(cujit_llvm INTERFACE Threads::Threads ${CMAKE_DL_LIBS} m)
if(CUJIT_OLD_GLIBC)
  include(OldGlibc)
  cujit_old_glibc(cujit_llvm)
else()
  target_link_libraries(cujit_llvm INTERFACE stdc++)
endif()
message(STATUS "LLVM ${CUJIT_LLVM_VERSION}, static, from ${CUJIT_LLVM_CONFIG}")
