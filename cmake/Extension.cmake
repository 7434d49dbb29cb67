# The extension module cujit._core, and a package folder in the build tree that can be put on PYTHONPATH.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/ext/*.c")
if(NOT sources)
  message(STATUS "python/ext has no sources yet: no extension")
  return()
endif()

# The index of the functions in the kernel language, made of the decorators beside them.
set(kernel_functions "${PROJECT_SOURCE_DIR}/python/cujit/_kernel_functions")
set(stands_for_index "${PROJECT_BINARY_DIR}/generated/stands_for_index.inc")
set(stands_for_indexer "${PROJECT_SOURCE_DIR}/scripts/stands_for_index.py")
file(GLOB_RECURSE kernel_function_files CONFIGURE_DEPENDS "${kernel_functions}/*.py")
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/generated")
add_custom_command(
  OUTPUT "${stands_for_index}"
  COMMAND "${Python_EXECUTABLE}" "${stands_for_indexer}" "${kernel_functions}" "${stands_for_index}"
  DEPENDS "${stands_for_indexer}" ${kernel_function_files})

# cujit_order_functions(target): what a compilation calls lies together, in a tenth of LLVM's code.
function(cujit_order_functions target)
  set(packed "${PROJECT_SOURCE_DIR}/cmake/function_order.txt.xz")  # by scripts/function_order.py
  set(order "${PROJECT_BINARY_DIR}/generated/function_order.txt")
  set(unpack "import lzma, sys; open(sys.argv[2], 'wb').write(lzma.open(sys.argv[1]).read())")
  execute_process(COMMAND "${Python_EXECUTABLE}" -c "${unpack}" "${packed}" "${order}.new" RESULT_VARIABLE failed)
  if(failed)
    message(WARNING "${Python_EXECUTABLE} has no lzma: what a compilation calls does not lie together, which costs 5% of its time")
    return()
  endif()
  file(COPY_FILE "${order}.new" "${order}" ONLY_IF_DIFFERENT)  # else each run of cmake links anew
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${packed}")
  target_link_options(${target} PRIVATE "-Wl,--symbol-ordering-file=${order}" -Wl,--no-warn-symbol-ordering)
  set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS "${order}")
endfunction()

cujit_python_module(_core ${sources} "${stands_for_index}")
target_include_directories(_core PRIVATE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/python" "${PROJECT_BINARY_DIR}/generated")
target_link_libraries(_core PRIVATE core jit runtime)
target_compile_definitions(_core PRIVATE CUJIT_VERSION="${PROJECT_VERSION}")
target_link_options(_core PRIVATE -Wl,--exclude-libs,ALL)
if(CUJIT_SANITIZE MATCHES "undefined" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
  # As a library of its own it is told where reports go by a function that libasan.so has, too.
  target_link_options(_core PRIVATE -static-libubsan)
endif()
if(CUJIT_LLD)
  target_link_options(_core PRIVATE -Wl,--icf=all)  # LLVM's templates: 3 MB of equal functions
  cujit_order_functions(_core)
endif()
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/python/cujit")
install(TARGETS _core LIBRARY DESTINATION cujit)

# build/python/cujit: the built module beside links to the sources, so that edits of .py files need no build.
file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/python/cujit")
file(GLOB links "${PROJECT_BINARY_DIR}/python/cujit/*")
foreach(link ${links})
  if(IS_SYMLINK "${link}" AND NOT EXISTS "${link}")
    file(REMOVE "${link}")  # to what is gone
  endif()
endforeach()
file(GLOB entries CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/cujit/*")
foreach(entry ${entries})
  get_filename_component(name "${entry}" NAME)
  if(NOT name MATCHES "__pycache__|\\.so$")
    file(CREATE_LINK "${entry}" "${PROJECT_BINARY_DIR}/python/cujit/${name}" SYMBOLIC)
  endif()
endforeach()
