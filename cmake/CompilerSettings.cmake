# Language, warnings, visibility, linker: the same for every target.
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

find_program(CUJIT_CCACHE ccache)
if(CUJIT_CCACHE AND NOT CMAKE_C_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER "${CUJIT_CCACHE}")
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CUJIT_CCACHE}")
endif()

add_compile_options(-Wall -Wextra -ffunction-sections -fdata-sections -fno-semantic-interposition)
if(CUJIT_WERROR)
  add_compile_options(-Werror $<$<C_COMPILER_ID:GNU>:-Wno-error=maybe-uninitialized>)  # gcc's guess, often wrong
endif()
if(CUJIT_SANITIZE)
  add_compile_options(-fsanitize=${CUJIT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CUJIT_SANITIZE})
endif()
add_compile_options($<$<COMPILE_LANGUAGE:C>:-D_GNU_SOURCE=>)  # as files that define it themselves do

# lld links the static LLVM in a second and drops unused sections of it; any other linker works too.
find_program(CUJIT_LLD NAMES ld.lld HINTS /usr/lib/llvm-22/bin NO_DEFAULT_PATH)
if(CUJIT_LLD)
  get_filename_component(lld_folder "${CUJIT_LLD}" DIRECTORY)
  add_link_options(-B${lld_folder} -fuse-ld=lld)
  add_link_options(-Wl,-z,keep-text-section-prefix)  # hot functions (core/base/likely.h) lie together, as other linkers have them
endif()
add_link_options(-Wl,--gc-sections -Wl,--as-needed -Wl,--build-id=sha1)  # the disk cache asks which build made it
