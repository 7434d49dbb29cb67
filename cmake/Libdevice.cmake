# Target cujit_libdevice: NVIDIA's device math library, cut into one bitcode image per function, embedded.
# libdevice.10.bc comes from a CUDA toolkit or from the PyPI package nvidia-nvvm; see tools/libdevice_cut.c.
function(cujit_find_libdevice result)
  find_file(CUJIT_TOOLKIT_LIBDEVICE libdevice.10.bc
            PATHS "$ENV{CUDA_HOME}" "$ENV{CUDA_PATH}" /usr/local/cuda /opt/cuda
            PATH_SUFFIXES nvvm/libdevice NO_DEFAULT_PATH)
  if(CUJIT_TOOLKIT_LIBDEVICE)
    set(${result} "${CUJIT_TOOLKIT_LIBDEVICE}" PARENT_SCOPE)
    return()
  endif()
  execute_process(COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/find_libdevice.py"
                  OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "libdevice.10.bc was found neither in a CUDA toolkit (CUDA_HOME, /usr/local/cuda) nor in the "
                        "packages of ${Python_EXECUTABLE}: pip install nvidia-nvvm, or set CUJIT_LIBDEVICE")
  endif()
  set(${result} "${path}" PARENT_SCOPE)
endfunction()

set(libdevice "${CUJIT_LIBDEVICE}")
if(NOT libdevice)
  cujit_find_libdevice(libdevice)
endif()
message(STATUS "libdevice: ${libdevice}")

set(libdevice_cut_source "${PROJECT_SOURCE_DIR}/tools/libdevice_cut.c")
set(libdevice_own "${PROJECT_SOURCE_DIR}/tools/libdevice_own.ll")
if(CMAKE_CROSSCOMPILING)  # a program of this machine, with its shared LLVM
  set(libdevice_cut "${PROJECT_BINARY_DIR}/native_libdevice_cut")
  cujit_llvm_config(flags --cflags --ldflags --libs)
  add_custom_command(OUTPUT "${libdevice_cut}" COMMAND cc -o "${libdevice_cut}" "${libdevice_cut_source}" ${flags}
                     DEPENDS "${libdevice_cut_source}" VERBATIM)
else()
  set(libdevice_cut libdevice_cut)
  add_executable(libdevice_cut "${libdevice_cut_source}")
  target_link_libraries(libdevice_cut PRIVATE cujit_llvm)
endif()

set(libdevice_folder "${PROJECT_BINARY_DIR}/libdevice")
file(MAKE_DIRECTORY "${libdevice_folder}")
add_custom_command(
  OUTPUT "${libdevice_folder}/libdevice_data.c" "${libdevice_folder}/libdevice_data.bin"
  COMMAND "${libdevice_cut}" "${libdevice}" "${libdevice_own}"
          "${libdevice_folder}/libdevice_data.c" "${libdevice_folder}/libdevice_data.bin"
  DEPENDS ${libdevice_cut} "${libdevice}" "${libdevice_own}" COMMENT "Cutting libdevice into functions" VERBATIM)
add_library(cujit_libdevice STATIC "${libdevice_folder}/libdevice_data.c")
set_source_files_properties("${libdevice_folder}/libdevice_data.c" PROPERTIES
                            OBJECT_DEPENDS "${libdevice_folder}/libdevice_data.bin")
# ccache sees no change of a file that the assembler includes.
set_target_properties(cujit_libdevice PROPERTIES C_COMPILER_LAUNCHER "")
target_include_directories(cujit_libdevice PRIVATE "${PROJECT_SOURCE_DIR}")
