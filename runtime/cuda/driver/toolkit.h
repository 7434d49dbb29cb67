/* NVIDIA's compiler libraries as tables of functions, each loaded when it is first needed; and folders of headers. */
#ifndef CUJIT_RUNTIME_TOOLKIT_H
#define CUJIT_RUNTIME_TOOLKIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/diagnostic/diag.h"

typedef enum ToolkitId {
#define LIBRARY(id, field, words, package, variable, ...) TOOLKIT_##id,
#include "runtime/cuda/driver/toolkit.def"
    TOOLKIT_COUNT
} ToolkitId;

/* Valid behind toolkit_need(). */
typedef struct Nvrtc {
#define TOOLKIT(library, name, symbol, parameters) TOOLKIT_OF_##library(int(*name) parameters;)
#define TOOLKIT_OF_nvrtc(row) row
#define TOOLKIT_OF_nvjitlink(row)
#define TOOLKIT_OF_nvvm(row)
#include "runtime/cuda/driver/toolkit.def"
#undef TOOLKIT_OF_nvrtc
#undef TOOLKIT_OF_nvjitlink
#undef TOOLKIT_OF_nvvm
} Nvrtc;

typedef struct NvJitLink {
#define TOOLKIT(library, name, symbol, parameters) TOOLKIT_OF_##library(int(*name) parameters;)
#define TOOLKIT_OF_nvrtc(row)
#define TOOLKIT_OF_nvjitlink(row) row
#define TOOLKIT_OF_nvvm(row)
#include "runtime/cuda/driver/toolkit.def"
#undef TOOLKIT_OF_nvrtc
#undef TOOLKIT_OF_nvjitlink
#undef TOOLKIT_OF_nvvm
} NvJitLink;

typedef struct Nvvm {
#define TOOLKIT(library, name, symbol, parameters) TOOLKIT_OF_##library(int(*name) parameters;)
#define TOOLKIT_OF_nvrtc(row)
#define TOOLKIT_OF_nvjitlink(row)
#define TOOLKIT_OF_nvvm(row) row
#include "runtime/cuda/driver/toolkit.def"
#undef TOOLKIT_OF_nvrtc
#undef TOOLKIT_OF_nvjitlink
#undef TOOLKIT_OF_nvvm
} Nvvm;

typedef struct Toolkit {
    Nvrtc nvrtc;
    NvJitLink nvjitlink;
    Nvvm nvvm;
} Toolkit;

extern Toolkit toolkit;

/* Loads the library unless it is there already: that of the process, of the environment variable, of the folders of
 * rt_toolkit_search(), of the system. False with DIAG_TOOLKIT_MISSING, which says what to install; a later call looks
 * again. */
bool toolkit_need(ToolkitId library, Diag *diag);
/* Folders of headers, a NULL behind the last. They live as long as the process. */
const char *const *toolkit_include_folders(void);

#endif
