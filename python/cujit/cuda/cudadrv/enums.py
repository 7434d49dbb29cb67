"""Constants of cuda.h that programs name, under their names there: the attributes of devices and of functions."""
from cujit.cuda.device_attributes import DeviceAttributes, attribute

globals().update({f"CU_DEVICE_ATTRIBUTE_{name}": value.number for name, value in vars(DeviceAttributes).items()
                  if isinstance(value, attribute)})

CUDA_SUCCESS = 0
CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0
CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1
CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES = 2
CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES = 3
CU_FUNC_ATTRIBUTE_NUM_REGS = 4
CU_FUNC_ATTRIBUTE_PTX_VERSION = 5
CU_FUNC_ATTRIBUTE_BINARY_VERSION = 6
CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8
CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT = 9
