# tests/<room>/**/*.c: one executable per room that links this room (and what it may link), run by ctest.
# tests/<room>/**/fake_NAME.c: a shared library fake_NAME.so beside it, whose path the test finds in FAKE_NAME (capitals).
set(slower 1)
if(CMAKE_CROSSCOMPILING_EMULATOR)
  set(slower 20)   # emulated programs are, most of all LLVM
endif()
math(EXPR room_seconds "900 * ${slower}")
math(EXPR fuzzer_seconds "300 * ${slower}")

foreach(room core frontend codegen runtime jit)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/${room}/*.c")
  set(fakes ${sources})
  list(FILTER fakes INCLUDE REGEX "/fake_[^/]*$")
  list(FILTER sources EXCLUDE REGEX "/fake_[^/]*$")
  if(sources)
    add_executable(test_${room} ${sources})
    target_include_directories(test_${room} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests"
                               "${PROJECT_SOURCE_DIR}/tests/${room}")
    target_link_libraries(test_${room} PRIVATE ${room})
    add_test(NAME ${room} COMMAND test_${room} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
    set_tests_properties(${room} PROPERTIES TIMEOUT ${room_seconds})
  endif()
  foreach(source ${fakes})
    get_filename_component(name "${source}" NAME_WE)
    add_library(${name} MODULE "${source}")
    set_target_properties(${name} PROPERTIES PREFIX "" C_VISIBILITY_PRESET default)
    target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
    target_link_libraries(${name} PRIVATE Threads::Threads)
    string(TOUPPER "${name}" variable)
    set_property(TEST ${room} APPEND PROPERTY ENVIRONMENT "${variable}=$<TARGET_FILE:${name}>")
  endforeach()
endforeach()
# tests/jit/launch/test_silent_kernels.c compiles for a GPU.
add_dependencies(test_jit fake_driver)
set_property(TEST jit APPEND PROPERTY ENVIRONMENT "FAKE_DRIVER=$<TARGET_FILE:fake_driver>")
if(CUJIT_SANITIZE STREQUAL "thread")
  target_compile_options(test_runtime PRIVATE --param=tsan-instrument-func-entry-exit=0)  # as the room
endif()

# tests/codegen/nvptx/nvvm/test_llvm7_rewrite.c makes LLVM's instructions by itself.
target_link_libraries(test_codegen PRIVATE cujit_llvm)
# tests/codegen/optimize/test_pass_builder.c counts its calls.
target_link_options(test_codegen PRIVATE LINKER:--wrap=promote_together)

# tests/fuzz/fuzz_*.c: a bounded run of each fuzzer; the executables take a number of inputs and a seed for long ones.
add_executable(fuzz_ir "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_ir.c")
target_link_libraries(fuzz_ir PRIVATE core)
add_executable(fuzz_frontend "${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_frontend.c"
               "${PROJECT_SOURCE_DIR}/tests/frontend/bytecode/bytecode_sample.c")
target_link_libraries(fuzz_frontend PRIVATE frontend)
foreach(fuzzer fuzz_ir fuzz_frontend)
  target_include_directories(${fuzzer} PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests")
  add_test(NAME ${fuzzer} COMMAND ${fuzzer} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${fuzzer} PROPERTIES TIMEOUT ${fuzzer_seconds})
endforeach()

# tests/runtime/cuda/driver/driver_header_check.c compares with the CUDA toolkit's headers where there are any.
find_path(CUJIT_CUDA_HEADERS cudaTypedefs.h HINTS /usr/local/cuda/include)
if(CUJIT_CUDA_HEADERS)
  target_include_directories(test_runtime SYSTEM PRIVATE "${CUJIT_CUDA_HEADERS}")
endif()
