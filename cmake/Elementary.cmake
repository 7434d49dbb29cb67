# cujit_elementary(target): adds codegen/host/elementary to it, its functions compiled once for each set of instructions that
# elementary.c chooses from. -ffp-contract=off: all sets compute the same bits.
include(CheckCCompilerFlag)

function(cujit_elementary_set target set bytes)
  string(TOUPPER "${set}" capitals)
  add_library(elementary_${set} OBJECT "${PROJECT_SOURCE_DIR}/codegen/host/elementary/lanes.c")
  target_include_directories(elementary_${set} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_options(elementary_${set} PRIVATE -O3 -ffp-contract=off -fno-math-errno -fno-trapping-math ${ARGN})
  target_compile_definitions(elementary_${set} PRIVATE ELEMENTARY_SET=elementary_${set} ELEMENTARY_BYTES=${bytes}
                             ELEMENTARY_COUNT=elementary_count_${set})
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:elementary_${set}>)
  set_property(SOURCE "${PROJECT_SOURCE_DIR}/codegen/host/elementary/elementary.c"
               APPEND PROPERTY COMPILE_DEFINITIONS ELEMENTARY_HAS_${capitals})
endfunction()

function(cujit_elementary target)
  target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/codegen/host/elementary/elementary.c")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set(avx512 -mavx512f -mavx512dq -mavx512vl -mavx512bw -mfma -mprefer-vector-width=512)
    check_c_compiler_flag("${avx512}" CUJIT_HAS_AVX512)
    if(CUJIT_HAS_AVX512)
      cujit_elementary_set(${target} avx512 64 ${avx512})
    endif()
    cujit_elementary_set(${target} avx2 32 -mavx2 -mfma)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    cujit_elementary_set(${target} baseline 16)
  endif()
endfunction()
