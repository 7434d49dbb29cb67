/* The few CUDA types and numbers that driver.def needs, under their CUDA names, compared with cuda.h by
 * tests/runtime/cuda/driver/driver_header_check.c. For driver.h, and where no more than numbers is needed. */
#ifndef CUJIT_RUNTIME_DRIVER_TYPES_H
#define CUJIT_RUNTIME_DRIVER_TYPES_H

#include <stddef.h>
#include <stdint.h>

/* The header check renames the enumerators to set them beside the toolkit's. */
#ifndef NUMBER
#define NUMBER(name, value) name = value,
#endif

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUarray_st *CUarray;
typedef uint64_t CUgraphConditionalHandle;
typedef size_t (*CUoccupancyB2DSize)(int block_size);
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef enum CUresult {
#define NUMBERS_OF_RESULT
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_RESULT
} CUresult;

typedef enum CUdevice_attribute {
#define NUMBERS_OF_DEVICE_ATTRIBUTE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_DEVICE_ATTRIBUTE
} CUdevice_attribute;

typedef enum CUfunction_attribute {
#define NUMBERS_OF_FUNCTION_ATTRIBUTE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_FUNCTION_ATTRIBUTE
} CUfunction_attribute;

typedef enum CUlimit {
#define NUMBERS_OF_LIMIT
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_LIMIT
} CUlimit;

typedef enum CUtensorMapDataType {
#define NUMBERS_OF_TENSOR_MAP_TYPE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_TENSOR_MAP_TYPE
} CUtensorMapDataType;

typedef enum CUtensorMapInterleave {
#define NUMBERS_OF_TENSOR_MAP_INTERLEAVE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_TENSOR_MAP_INTERLEAVE
} CUtensorMapInterleave;

typedef enum CUtensorMapSwizzle {
#define NUMBERS_OF_TENSOR_MAP_SWIZZLE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_TENSOR_MAP_SWIZZLE
} CUtensorMapSwizzle;

typedef enum CUtensorMapL2promotion {
#define NUMBERS_OF_TENSOR_MAP_PROMOTION
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_TENSOR_MAP_PROMOTION
} CUtensorMapL2promotion;

typedef enum CUtensorMapFloatOOBfill {
#define NUMBERS_OF_TENSOR_MAP_FILL
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_TENSOR_MAP_FILL
} CUtensorMapFloatOOBfill;

/* What the tensor memory accelerator is to copy. */
typedef struct CUtensorMap {
    _Alignas(64) uint64_t opaque[16];
} CUtensorMap;

typedef enum CUmemPool_attribute {
#define NUMBERS_OF_POOL_ATTRIBUTE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_POOL_ATTRIBUTE
} CUmemPool_attribute;

typedef enum CUpointer_attribute {
#define NUMBERS_OF_POINTER_ATTRIBUTE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_POINTER_ATTRIBUTE
} CUpointer_attribute;

typedef struct CUipcMemHandle_st {
    char reserved[64];
} CUipcMemHandle;

/* What the processors at a place may do with memory. */
typedef struct CUmemAccessDesc {
    struct {
        int type; /* CU_MEM_LOCATION_TYPE_DEVICE */
        int id;
    } location;
    int flags; /* CU_MEM_ACCESS_FLAGS_PROT_READWRITE */
} CUmemAccessDesc;

typedef enum CUstreamCaptureStatus {
#define NUMBERS_OF_CAPTURE_STATUS
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_CAPTURE_STATUS
} CUstreamCaptureStatus;

typedef enum CUstreamCaptureMode {
#define NUMBERS_OF_CAPTURE_MODE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_CAPTURE_MODE
} CUstreamCaptureMode;

typedef enum CUjit_option {
#define NUMBERS_OF_JIT_OPTION
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_JIT_OPTION
} CUjit_option;

typedef enum CUmoduleLoadingMode {
#define NUMBERS_OF_LOADING_MODE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_LOADING_MODE
} CUmoduleLoadingMode;

typedef enum CUlibraryOption {
#define NUMBERS_OF_LIBRARY_OPTION
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_LIBRARY_OPTION
} CUlibraryOption;

typedef enum CUjitInputType {
#define NUMBERS_OF_JIT_INPUT
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_JIT_INPUT
} CUjitInputType;

typedef enum CUlaunchAttributeID {
#define NUMBERS_OF_LAUNCH_ATTRIBUTE
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_LAUNCH_ATTRIBUTE
} CUlaunchAttributeID;

typedef union CUlaunchAttributeValue {
    char pad[64];
    void *aligned; /* other members hold pointers */
    int cooperative;
    int programmaticStreamSerializationAllowed;
    struct {
        unsigned int x, y, z;
    } clusterDim;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

/* --- nodes of graphs --- */
typedef struct CUDA_KERNEL_NODE_PARAMS_v1 {
    CUfunction func;
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    void **kernelParams;
    void **extra;
} CUDA_KERNEL_NODE_PARAMS_v1;

typedef struct CUDA_MEMSET_NODE_PARAMS_v1 {
    CUdeviceptr dst;
    size_t pitch;
    unsigned int value, elementSize;
    size_t width, height;
} CUDA_MEMSET_NODE_PARAMS_v1;

typedef struct CUDA_MEMCPY3D_v2 {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType; /* CU_MEMORYTYPE_HOST or _DEVICE */
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_v2;

typedef struct CUDA_CONDITIONAL_NODE_PARAMS {
    CUgraphConditionalHandle handle;
    int type; /* CU_GRAPH_COND_TYPE_IF or _WHILE */
    unsigned int size; /* bodies */
    CUgraph *phGraph_out;
    CUcontext ctx;
} CUDA_CONDITIONAL_NODE_PARAMS;

typedef struct CUgraphNodeParams {
    int type; /* CU_GRAPH_NODE_TYPE_CONDITIONAL */
    int reserved0[3];
    union {
        long long reserved1[29];
        CUDA_CONDITIONAL_NODE_PARAMS conditional;
    };
    long long reserved2;
} CUgraphNodeParams;
typedef struct CUgraphEdgeData_st CUgraphEdgeData;

enum {
#define NUMBERS_OF_FLAG
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBERS_OF_FLAG
};

#define CU_LAUNCH_PARAM_END_AS_INT 0x00
#define CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT 0x01
#define CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT 0x02
#define CU_LAUNCH_PARAM_END ((void *)CU_LAUNCH_PARAM_END_AS_INT)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT)

#undef NUMBER

#endif
