# A toolchain file: for 64-bit Arm, on Debian with gcc-aarch64-linux-gnu, g++-aarch64-linux-gnu and qemu-user-static. What
# gets linked lies in CUJIT_PACKAGES, by scripts/unpack_debian.sh: llvm-22-dev, libzstd-dev, zlib1g-dev, a libpython3.x-dev.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CUJIT_PACKAGES)

set(CMAKE_FIND_ROOT_PATH "${CUJIT_PACKAGES}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)

# Build tools and tests run under an emulator.
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64-static -L /usr/aarch64-linux-gnu)
