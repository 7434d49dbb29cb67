/* Compares the runtime's own CUDA declarations with the toolkit's, where there is one: compiling this file is the test.
 * First the functions, with the toolkit's types; then the runtime's types and numbers, renamed to stand beside them. */
#if __has_include(<cudaTypedefs.h>)
#include <cudaTypedefs.h>
#include <stddef.h>

/* --- functions: driver.def declares each with the types of cudaTypedefs.h for that symbol's version ------------------ */
#define DRIVER(name, symbol, version, need, parameters, arguments) CUresult(*toolkit_##name) parameters;
typedef struct ToolkitDriver {
#include "runtime/cuda/driver/driver.def"
} ToolkitDriver;
#undef DRIVER
#define DRIVER(name, symbol, version, need, parameters, arguments)                                               \
    _Static_assert(                                                                                              \
        __builtin_types_compatible_p(__typeof__(((ToolkitDriver *)0)->toolkit_##name), PFN_##name##_v##version), \
        #symbol " is declared otherwise in cuda.h");
#include "runtime/cuda/driver/driver.def"
#undef DRIVER

/* --- numbers and types ----------------------------------------------------------------------------------------------- */
/* CU_LAUNCH_PARAM_..._AS_INT stay defined: the preprocessor allows the same tokens only. */
#undef CU_LAUNCH_PARAM_END
#undef CU_LAUNCH_PARAM_BUFFER_POINTER
#undef CU_LAUNCH_PARAM_BUFFER_SIZE

typedef CUlaunchConfig ToolkitConfig;
typedef CUlaunchAttribute ToolkitAttribute;
typedef CUlaunchAttributeValue ToolkitValue;
typedef CUuuid ToolkitUuid;
typedef CUmemAccessDesc ToolkitAccess;
typedef CUipcMemHandle ToolkitHandle;
typedef CUDA_KERNEL_NODE_PARAMS_v1 ToolkitKernelNode;
typedef CUDA_MEMSET_NODE_PARAMS_v1 ToolkitMemsetNode;
typedef CUDA_MEMCPY3D_v2 ToolkitMemcpyNode;
typedef CUDA_CONDITIONAL_NODE_PARAMS ToolkitConditionalNode;
typedef CUgraphNodeParams ToolkitNode;
typedef CUtensorMap ToolkitTensorMap;

#define NUMBERS_OF_RESULT
#define NUMBERS_OF_DEVICE_ATTRIBUTE
#define NUMBERS_OF_FUNCTION_ATTRIBUTE
#define NUMBERS_OF_LIMIT
#define NUMBERS_OF_POOL_ATTRIBUTE
#define NUMBERS_OF_POINTER_ATTRIBUTE
#define NUMBERS_OF_CAPTURE_STATUS
#define NUMBERS_OF_CAPTURE_MODE
#define NUMBERS_OF_JIT_OPTION
#define NUMBERS_OF_LOADING_MODE
#define NUMBERS_OF_LIBRARY_OPTION
#define NUMBERS_OF_JIT_INPUT
#define NUMBERS_OF_LAUNCH_ATTRIBUTE
#define NUMBERS_OF_FLAG
#define NUMBERS_OF_TENSOR_MAP_TYPE
#define NUMBERS_OF_TENSOR_MAP_INTERLEAVE
#define NUMBERS_OF_TENSOR_MAP_SWIZZLE
#define NUMBERS_OF_TENSOR_MAP_PROMOTION
#define NUMBERS_OF_TENSOR_MAP_FILL
#define NUMBER(name, value) _Static_assert((int)name == value, "number in driver_numbers.def");
#include "runtime/cuda/driver/driver_numbers.def"
#undef NUMBER
#undef NUMBERS_OF_RESULT
#undef NUMBERS_OF_DEVICE_ATTRIBUTE
#undef NUMBERS_OF_FUNCTION_ATTRIBUTE
#undef NUMBERS_OF_LIMIT
#undef NUMBERS_OF_POOL_ATTRIBUTE
#undef NUMBERS_OF_POINTER_ATTRIBUTE
#undef NUMBERS_OF_CAPTURE_STATUS
#undef NUMBERS_OF_CAPTURE_MODE
#undef NUMBERS_OF_JIT_OPTION
#undef NUMBERS_OF_LOADING_MODE
#undef NUMBERS_OF_LIBRARY_OPTION
#undef NUMBERS_OF_JIT_INPUT
#undef NUMBERS_OF_LAUNCH_ATTRIBUTE
#undef NUMBERS_OF_FLAG
#undef NUMBERS_OF_TENSOR_MAP_TYPE
#undef NUMBERS_OF_TENSOR_MAP_INTERLEAVE
#undef NUMBERS_OF_TENSOR_MAP_SWIZZLE
#undef NUMBERS_OF_TENSOR_MAP_PROMOTION
#undef NUMBERS_OF_TENSOR_MAP_FILL

/* Scalar and handle types repeat the toolkit's typedefs, which C allows only when they are the same. */
#undef CU_MEMHOSTALLOC_PORTABLE
#undef CU_MEMHOSTALLOC_DEVICEMAP
#undef CU_MEMHOSTALLOC_WRITECOMBINED
#undef CU_MEMHOSTREGISTER_PORTABLE
#undef CU_MEMHOSTREGISTER_DEVICEMAP
#define NUMBER(name, value) runtime_##name = value,
#define CUresult RuntimeResult
#define CUjitInputType RuntimeJitInputType
#define CUdevice_attribute RuntimeDeviceAttribute
#define CUfunction_attribute RuntimeFunctionAttribute
#define CUlimit RuntimeLimit
#define CUmemPool_attribute RuntimePoolAttribute
#define CUpointer_attribute RuntimePointerAttribute
#define CUstreamCaptureStatus RuntimeCaptureStatus
#define CUstreamCaptureMode RuntimeCaptureMode
#define CUjit_option RuntimeJitOption
#define CUmoduleLoadingMode RuntimeLoadingMode
#define CUlibraryOption RuntimeLibraryOption
#define CUlaunchAttributeID RuntimeAttributeId
#define CUlaunchAttributeValue RuntimeValue
#define CUlaunchAttribute RuntimeAttribute
#define CUlaunchConfig RuntimeConfig
#define CUuuid RuntimeUuid
#define CUmemAccessDesc RuntimeAccess
#define CUipcMemHandle RuntimeHandle
#define CUipcMemHandle_st RuntimeHandleStruct
#define CUuuid_st RuntimeUuidStruct
#define CUDA_KERNEL_NODE_PARAMS_v1 RuntimeKernelNode
#define CUDA_MEMSET_NODE_PARAMS_v1 RuntimeMemsetNode
#define CUDA_MEMCPY3D_v2 RuntimeMemcpyNode
#define CUDA_CONDITIONAL_NODE_PARAMS RuntimeConditionalNode
#define CUgraphNodeParams RuntimeNode
#define CUtensorMapDataType RuntimeTensorMapType
#define CUtensorMapInterleave RuntimeTensorMapInterleave
#define CUtensorMapSwizzle RuntimeTensorMapSwizzle
#define CUtensorMapL2promotion RuntimeTensorMapPromotion
#define CUtensorMapFloatOOBfill RuntimeTensorMapFill
#define CUtensorMap RuntimeTensorMap
#include "runtime/cuda/driver/driver_types.h"

#define SAME_SIZE(a, b) _Static_assert(sizeof(a) == sizeof(b) && _Alignof(a) == _Alignof(b), #a)
#define SAME_PLACE(a, b, field)                                                                                    \
    _Static_assert(offsetof(a, field) == offsetof(b, field) && sizeof(((a *)0)->field) == sizeof(((b *)0)->field), \
                   #field)
SAME_SIZE(RuntimeResult, CUdevice_v1);
SAME_SIZE(RuntimeUuid, ToolkitUuid);
SAME_SIZE(RuntimeAccess, ToolkitAccess);
_Static_assert(sizeof(RuntimeTensorMap) == sizeof(ToolkitTensorMap), "CUtensorMap");
SAME_SIZE(RuntimeHandle, ToolkitHandle);
SAME_PLACE(RuntimeAccess, ToolkitAccess, location);
SAME_PLACE(RuntimeAccess, ToolkitAccess, flags);
SAME_SIZE(RuntimeConfig, ToolkitConfig);
SAME_SIZE(RuntimeAttribute, ToolkitAttribute);
SAME_SIZE(RuntimeValue, ToolkitValue);
SAME_PLACE(RuntimeConfig, ToolkitConfig, gridDimZ);
SAME_PLACE(RuntimeConfig, ToolkitConfig, blockDimX);
SAME_PLACE(RuntimeConfig, ToolkitConfig, sharedMemBytes);
SAME_PLACE(RuntimeConfig, ToolkitConfig, hStream);
SAME_PLACE(RuntimeConfig, ToolkitConfig, attrs);
SAME_PLACE(RuntimeConfig, ToolkitConfig, numAttrs);
SAME_PLACE(RuntimeAttribute, ToolkitAttribute, id);
SAME_PLACE(RuntimeAttribute, ToolkitAttribute, value);
SAME_PLACE(RuntimeValue, ToolkitValue, cooperative);
SAME_PLACE(RuntimeValue, ToolkitValue, clusterDim);
SAME_SIZE(RuntimeKernelNode, ToolkitKernelNode);
SAME_PLACE(RuntimeKernelNode, ToolkitKernelNode, sharedMemBytes);
SAME_PLACE(RuntimeKernelNode, ToolkitKernelNode, extra);
SAME_SIZE(RuntimeMemsetNode, ToolkitMemsetNode);
SAME_PLACE(RuntimeMemsetNode, ToolkitMemsetNode, elementSize);
SAME_PLACE(RuntimeMemsetNode, ToolkitMemsetNode, height);
SAME_SIZE(RuntimeMemcpyNode, ToolkitMemcpyNode);
SAME_PLACE(RuntimeMemcpyNode, ToolkitMemcpyNode, srcDevice);
SAME_PLACE(RuntimeMemcpyNode, ToolkitMemcpyNode, dstHost);
SAME_PLACE(RuntimeMemcpyNode, ToolkitMemcpyNode, Depth);
SAME_SIZE(RuntimeConditionalNode, ToolkitConditionalNode);
SAME_PLACE(RuntimeConditionalNode, ToolkitConditionalNode, phGraph_out);
SAME_PLACE(RuntimeConditionalNode, ToolkitConditionalNode, ctx);
SAME_SIZE(RuntimeNode, ToolkitNode);
SAME_PLACE(RuntimeNode, ToolkitNode, conditional);
#endif

typedef int driver_header_check_compiles; /* a file may not be empty */
