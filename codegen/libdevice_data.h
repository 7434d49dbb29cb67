/* NVIDIA's device math library as the build cut it (tools/libdevice_cut.c): one bitcode image per public function, which
 * holds that function and what it calls. Helpers have internal linkage, so images can be linked side by side. */
#ifndef CUJIT_CODEGEN_LIBDEVICE_DATA_H
#define CUJIT_CODEGEN_LIBDEVICE_DATA_H

typedef struct LibdeviceFunction {
    const char *name; /* "__nv_sinf" */
    const unsigned char *bitcode;
    unsigned size; /* bytes */
} LibdeviceFunction;

/* Sorted by name (strcmp). */
extern const LibdeviceFunction libdevice_functions[];
extern const unsigned libdevice_function_count;

#endif
