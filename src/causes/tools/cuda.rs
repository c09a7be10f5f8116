//! CUDA: the errors of its runtime, its driver and its libraries, by number, by name and by text.

use super::super::cause::{Apart, Cause, Counts, Remedy, Role, Source, Sure, TOOL, seen};

const ERRORS: &[Source] = &[
    seen("https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html", "2026-11-30"),
    seen("https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html", "2026-11-30"),
];
const XIDS: &[Source] = &[
    seen("https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html", "2026-11-30"),
    seen("https://docs.nvidia.com/deploy/xid-errors/index.html", "2026-11-30"),
];
const LIBRARIES: &[Source] = &[
    seen("https://docs.nvidia.com/cuda/cublas/index.html", "2026-11-30"),
    seen("https://docs.nvidia.com/deeplearning/cudnn/latest/api/overview.html", "2026-11-30"),
];
const TORCH: &[Source] = &[seen("https://github.com/pytorch/pytorch (c10/cuda, torch/cuda)", "2026-11-30")];

const CUDA: Cause = Cause { sources: ERRORS, remedy: Remedy::Settings, ..TOOL };
const PROGRAM: Cause = Cause { sure: Sure::Guess, remedy: Remedy::Look, sources: XIDS, ..TOOL };
const EFFECT: Cause = Cause { role: Role::Effect, ..PROGRAM };

const WHICH_GPU: &str = "run the program with CUDA_LAUNCH_BLOCKING=1 or under `compute-sanitizer` to find the kernel; where the same program fails on one GPU only, look at gpu.xid and gpu.ecc of that host and run `dcgmi diag -r 3` on it; the GPU is not broken for this line alone";
const IMAGE_LIBRARIES: &str = "take LD_LIBRARY_PATH out or put the libraries of the program's own environment first (`ldd` of the library that is named says which is found), then install libraries of one release together";

/// Errors of the GPU or driver for which a library's own error is only an effect.
const BEFORE: &[&str] = &[
    "cuda.out_of_memory",
    "cuda.illegal_address",
    "cuda.misaligned",
    "cuda.illegal_instruction",
    "cuda.assert",
    "cuda.launch_failed",
    "cuda.ecc",
    "cuda.nvlink",
    "cuda.contained",
    "cuda.no_kernel_image",
    "cuda.no_device",
    "cuda.not_initialized",
    "cuda.driver_mismatch",
    "cuda.driver_too_old",
    "cuda.library_missing",
    "cuda.cudnn_version",
    "cuda.undefined_symbol",
];

pub(in crate::causes) const ROWS: &[Cause] = &[
    // Memory.
    Cause {
        id: "cuda.out_of_memory_shared",
        sign: r"out of memory.* Process (?<pid>[0-9]+) has (?<theirs>[0-9.]+ GiB) memory in use\..*this process has (?<ours>[0-9.]+ [KMG]iB) memory in use",
        says: "process {pid} holds {theirs} of the GPU's memory already, and this one {ours}",
        means: "Two processes share one GPU: another rank on the wrong device, a job that was not ended, or a server beside it.",
        act: "`nvidia-smi` on the host names that process: end it where it is left over; where it is a rank of the same job, give each rank its own GPU (`torch.cuda.set_device` by LOCAL_RANK); then only a smaller batch",
        sources: &[seen(
            "https://github.com/pytorch/pytorch (c10/cuda/CUDACachingAllocator.cpp)",
            "2026-12-01",
        )],
        samples: &[
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free. Process 4242 has 40.10 GiB memory in use. Including non-PyTorch memory, this process has 37.85 GiB memory in use.",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.out_of_memory_fragments",
        sign: r"out of memory.* and (?<idle>[1-9][0-9]+\.[0-9]+ GiB) is reserved by PyTorch but unallocated",
        says: "{idle} of the GPU's memory is reserved by PyTorch in pieces that do not fit",
        means: "The memory is there, but cut into pieces that are too small for the request.",
        act: "set `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` (PYTORCH_ALLOC_CONF of newer releases); where it stays, use a smaller batch or sequence",
        sources: &[seen("https://pytorch.org/docs/stable/notes/cuda.html (memory management)", "2026-12-01")],
        samples: &[
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.20 GiB is free. Including non-PyTorch memory, this process has 77.85 GiB memory in use. Of the allocated memory 56.00 GiB is allocated by PyTorch, and 20.30 GiB is reserved by PyTorch but unallocated.",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.out_of_memory",
        sign: r"(OutOfMemoryError: )?(CUDA|HIP) out of memory(\. Tried to allocate (?<wanted>[0-9.]+ [KMGT]iB))?|CUDA error: out of memory|Triton Error \[CUDA\]: out of memory|cudaErrorMemoryAllocation|CUDA_ERROR_OUT_OF_MEMORY|([Cc][Uu][Dd][Aa] (failure|error):? ?([a-z_]+\.cu:[0-9]+ )?[0-9]* ?.?|Error [0-9]+: )out of memory|cuda runtime error \(2\)|error=2 : out of memory|cu(da)?M(alloc|em)[A-Za-z]*.*out of memory",
        says: "the memory of the GPU is used up[: {wanted} more were asked for]",
        means: "The program needs more memory than is free on the GPU.",
        act: "look at `nvidia-smi` for processes of other or earlier jobs on the same GPU and end them; then a smaller batch, sequence or cache (`gpu_memory_utilization`, `max_model_len`), or more GPUs; `PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True` where much is reserved but not allocated",
        sources: TORCH,
        samples: &[
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 79.15 GiB of which 1.94 GiB is free.",
            "failed to allocate 69.12G (74217034752 bytes) from device: CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        ],
        ..CUDA
    },
    // Broken hardware, or what looks so.
    Cause {
        id: "cuda.ecc",
        sign: r"uncorrectable ECC error encountered|CUDA_ERROR_ECC_UNCORRECTABLE|cudaErrorECCUncorrectable|returned error 214\b",
        says: "the memory of a GPU has an uncorrectable error",
        means: "A GPU of this host met an error in its memory that ECC cannot correct.",
        act: "drain the host; gpu.xid, gpu.ecc and `nvidia-smi -q -d ECC,ROW_REMAPPER` say which GPU; reset it (`nvidia-smi -r`) or reboot, so that the row is replaced by a spare one; where it comes again, or a remapping failed or is pending for ever, have the GPU repaired",
        remedy: Remedy::Reset,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://docs.nvidia.com/deploy/a100-gpu-mem-error-mgmt/index.html", "2026-11-30"),
            seen("https://github.com/MFlowCode/MFC/issues/1750", "2026-08-23"),
        ],
        samples: &[
            "(CUDA_ERROR_ECC_UNCORRECTABLE): uncorrectable ECC error encountered",
            "RuntimeError: CUDA error: uncorrectable ECC error encountered",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.nvlink",
        sign: "uncorrectable NVLink error( was)? detected|CUDA_ERROR_NVLINK_UNCORRECTABLE|cudaErrorNvlinkUncorrectable",
        says: "an NVLink had an uncorrectable error",
        means: "A link between GPUs or to an NVSwitch failed while a kernel ran.",
        act: "gpu.xid (74, 144 to 150) says which GPU and link; drain the host, stop the jobs and reset all GPUs or reboot; where it comes again on the same link, have the GPU or baseboard looked at",
        remedy: Remedy::Reset,
        sources: XIDS,
        samples: &["RuntimeError: CUDA error: uncorrectable NVLink error detected during the execution"],
        ..CUDA
    },
    Cause {
        id: "cuda.contained",
        sign: "CUDA_ERROR_CONTAINED|cudaErrorContained|Invalid access of peer GPU memory over nvlink or a hardware error",
        says: "a contained error on NVLink or of a GPU ended the program",
        means: "The GPU could not reach memory of another one, or has an error that was contained. The first host that says it, and the Xids and the switches there, tell where it began.",
        act: "start again from the checkpoint without that host or rack; look at gpu.xid and the NVLink switches of the first one; reset its GPUs before it gets jobs again, and give it to the provider where it comes again",
        remedy: Remedy::Reset,
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/marin-community/marin/issues/8934", "2026-09-05"),
            seen("https://docs.nvidia.com/cuda/cuda-driver-api/group__CUDA__TYPES.html", "2026-11-30"),
        ],
        samples: &[
            "CUDA_ERROR_CONTAINED: Invalid access of peer GPU memory over nvlink or a hardware error (gpu_cudamallocasync_allocator.cc:414)",
        ],
        ..CUDA
    },
    // The driver does not fit, or is not ready.
    Cause {
        id: "cuda.not_initialized",
        sign: r"system not yet initialized|CUDA_ERROR_SYSTEM_NOT_READY|cudaErrorSystemNotReady|[Ee]rror:? 802\b|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?802\b",
        says: "the NVSwitches of this host are not set up (802)",
        means: "CUDA waits for the fabric manager: it does not run, or its version is not exactly that of the driver. On GB200 and newer it waits for the fabric of the rack.",
        act: "look at driver.fabric_manager and `systemctl status nvidia-fabricmanager`; where it does not run, start it; where its version is not that of the driver, install the one of exactly the driver's version (the playbook `fabric-manager`) and start it; reboot where GPUs stay so; `nvidia-smi -q` has to say Fabric State Completed",
        remedy: Remedy::Install,
        sources: &[
            seen("https://github.com/ollama/ollama/issues/12136", "2025-11-12"),
            seen(
                "https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/index.html",
                "2026-11-30",
            ),
        ],
        samples: &[
            "ggml_cuda_init: failed to initialize CUDA: system not yet initialized",
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 802: system not yet initialized",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.driver_mismatch",
        sign: r"[Ss]ystem has unsupported display driver|CUDA_ERROR_SYSTEM_DRIVER_MISMATCH|cudaErrorSystemDriverMismatch|[Ee]rror:? 803\b|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?803\b|kernel version [0-9.]+ does not match DSO version|does not match DSO version",
        says: "libcuda does not fit the loaded driver (803)",
        means: "The program found a libcuda of another version than the kernel's module: in a container the image's compat library comes before the mounted one, on a host the driver was upgraded and not loaded again.",
        act: "in a container: put the mounted driver library first (LD_LIBRARY_PATH without the cuda compat directory, no /etc/ld.so.conf.d entry for it); on the host: `cat /proc/driver/nvidia/version` against `nvidia-smi`, then reboot or load the modules again; driver.coherence shows both",
        sources: &[
            seen("https://github.com/gpustack/gpustack/issues/4678", "2026-02-26"),
            seen("https://docs.nvidia.com/deploy/cuda-compatibility/index.html", "2026-11-30"),
        ],
        samples: &[
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 803: system has unsupported display driver / cuda driver combination",
            "kernel version 535.104.5 does not match DSO version 545.23.6 -- cannot find working devices in this configuration",
            "   [[ System has unsupported display driver / cuda driver combination (error 803) ]]",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.forward_compatibility",
        sign: r"forward compatibility was attempted on non supported HW|CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE|cudaErrorCompatNotSupportedOnDevice|[Ee]rror:? 804\b|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?804\b",
        says: "the image wants a newer driver than this host has, and its compat library is not for this GPU (804)",
        means: "The image brings a libcuda of a newer CUDA (forward compatibility), which works on data-centre GPUs only. GeForce and other GPUs need a new enough driver.",
        act: "renew the driver of the host (the playbook `nvidia-driver`), or take an image for the CUDA of this driver; on a data-centre GPU take the compat directory out of LD_LIBRARY_PATH",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/AIR-DISCOVER/ICRA2024-Sim2Real-AXS/issues/5", "2024-01-26"),
            seen("https://docs.nvidia.com/deploy/cuda-compatibility/index.html", "2026-11-30"),
        ],
        samples: &[
            "RuntimeError: Unexpected error from cudaGetDeviceCount(). Error 804: forward compatibility was attempted on non supported HW",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.driver_too_old",
        sign: r"CUDA driver version is insufficient for CUDA runtime version|cudaErrorInsufficientDriver|The NVIDIA driver on your system is too old( \(found version (?<version>[0-9]+)\))?|cudaErrorCallRequiresNewerDriver|API call is not supported in the installed CUDA driver|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?35\b",
        says: "the driver is too old for this CUDA[: it offers {version}]",
        means: "The program was built for a newer CUDA than the driver offers. Old programs say the same where there is no driver at all.",
        act: "`nvidia-smi` shows the CUDA that the driver offers: renew the driver (the playbook `nvidia-driver`), or take a program or image for that CUDA; where nvidia-smi fails, mend the driver first",
        remedy: Remedy::Install,
        samples: &[
            "RuntimeError: CUDA error: CUDA driver version is insufficient for CUDA runtime version",
            "The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.stub",
        sign: r"CUDA driver is a stub library|CUDA_ERROR_STUB_LIBRARY|cudaErrorStubLibrary|cuInit: [A-Z_ ]+\(34\)",
        says: "the program loads the stub of libcuda in place of the driver's",
        means: "The directory lib64/stubs of the toolkit is for linking only.",
        act: "take the directory stubs out of LD_LIBRARY_PATH and /etc/ld.so.conf.d, then `ldconfig`",
        sure: Sure::Confirmed,
        samples: &["cudaErrorStubLibrary: CUDA driver is a stub library"],
        ..CUDA
    },
    Cause {
        id: "cuda.tensorflow",
        sign: r"Could not find cuda drivers on your machine|failed call to cuInit: UNKNOWN ERROR \(303\)",
        counts: Counts::Warn,
        says: "TensorFlow finds no NVIDIA driver",
        means: "On a host without GPUs that is nothing; otherwise the container was started without GPUs.",
        act: "start the container with GPUs (`--gpus all`, nvidia.com/gpu in the limits of the pod); on the host look at `nvidia-smi`",
        sources: &[seen(
            "https://github.com/tensorflow/tensorflow (third_party/xla/xla/stream_executor/cuda)",
            "2026-11-30",
        )],
        samples: &["failed call to cuInit: UNKNOWN ERROR (303)"],
        ..CUDA
    },
    Cause {
        id: "cuda.no_driver",
        sign: r"Found no NVIDIA driver on your system|libcuda\.so(\.1)?: cannot open shared object file|[Cc]ould not (load|find)( dynamic)? library '?libcuda\.so|unable to find libcuda\.so DSO",
        says: "the program finds no NVIDIA driver",
        means: "libcuda is not there: the container was started without GPUs, or the host has no driver.",
        act: "`nvidia-smi` on the host; then start the container with GPUs (`--gpus all`, the runtime nvidia, or nvidia.com/gpu in the limits of the pod); on a host without a driver the playbook `nvidia-driver`",
        sources: TORCH,
        samples: &[
            "RuntimeError: Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a driver",
            "ImportError: libcuda.so.1: cannot open shared object file: No such file or directory",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.no_device",
        sign: r"no CUDA-capable device is detected|CUDA_ERROR_NO_DEVICE|cudaErrorNoDevice|No CUDA GPUs are available|[Nn]o GPUs? (is|are) visible to the (process|driver)|No visible GPU devices|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?100\b",
        says: "CUDA sees no GPU",
        means: "CUDA_VISIBLE_DEVICES leaves none, the job or container got none, or the driver lost them.",
        act: "`echo $CUDA_VISIBLE_DEVICES` and `nvidia-smi -L` in the same place: where the list is empty, ask for GPUs (`--gres=gpu`, `--gpus all`, limits of the pod); where nvidia-smi fails on the host too, look at driver.coherence and gpu.xid",
        sure: Sure::Guess,
        follows: &["xid.off_the_bus", "nvidia.rm_init", "nvidia.off_the_bus", "cuda.driver_mismatch"],
        samples: &[
            "failed call to cuInit: CUDA_ERROR_NO_DEVICE: no CUDA-capable device is detected",
            "RuntimeError: No CUDA GPUs are available",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.ordinal",
        sign: r"invalid device ordinal|CUDA_ERROR_INVALID_DEVICE\b|cudaErrorInvalidDevice\b|Invalid device id",
        says: "the program asks for a GPU that it does not have",
        means: "The number of the GPU is not below the number of visible ones: more processes than GPUs on the host, or CUDA_VISIBLE_DEVICES or the job gives fewer.",
        act: "compare the processes of each host (`--nproc-per-node`, `--ntasks-per-node`) with `nvidia-smi -L` inside of the job; ask for more GPUs or start fewer processes; a GPU that fell off shows in gpu.xid",
        samples: &[
            "RuntimeError: CUDA error: invalid device ordinal",
            "AcceleratorError: CUDA error: invalid device ordinal",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.exclusive_mode",
        sign: r"Compute Mode +: +Exclusive_Process|[0-9/A%] +E\. Process \|",
        says: "the GPU takes one process only (Exclusive_Process)",
        means: "A compute mode that an administrator set. A second process gets `busy or unavailable`.",
        counts: Counts::Note,
        sure: Sure::Confirmed,
        sources: &[
            seen("https://github.com/NVIDIA/nccl-tests/issues/369", "2026-01-21"),
            seen("https://docs.nvidia.com/deploy/nvidia-smi/index.html", "2026-12-01"),
        ],
        samples: &[
            "    Compute Mode                          : Exclusive_Process",
            "| N/A   31C    P0              69W / 700W |      4MiB / 81559MiB |      0%   E. Process |",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.mig_on",
        sign: r"^\s+MIG Mode\s*: Enabled|^\|[^|]*\|[^|]*\| +Enabled\*? +\|",
        says: "MIG is on",
        means: "The GPU is cut into instances, and programs see these only.",
        counts: Counts::Note,
        sure: Sure::Confirmed,
        sources: &[seen("https://docs.nvidia.com/datacenter/tesla/mig-user-guide/", "2026-12-01")],
        samples: &[
            "|                                         |                        |              Enabled |",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.busy",
        sign: r"all CUDA-capable devices are busy or unavailable|CUDA-capable device\(s\) is/are busy or unavailable|CUDA_ERROR_DEVICE_UNAVAILABLE|cudaErrorDevice(s)?Unavailable",
        says: "the GPU is in use or not usable",
        means: "Another process has it in exclusive mode, MIG is on without an instance, or the GPU waits for a reset after an error.",
        act: "`nvidia-smi -q -d COMPUTE` first: where it says Exclusive_Process, set `nvidia-smi -c DEFAULT` as root, or give each process its own GPU (`--gpus-per-task`, CUDA_VISIBLE_DEVICES by the local rank) and start no second one on it; where it says Default, look at `nvidia-smi -L` for MIG without instances, and at `dmesg | grep -i xid`",
        apart: &[
            Apart {
                beside: &["cuda.exclusive_mode"],
                act: "the GPUs take one process each (Exclusive_Process): set `nvidia-smi -c DEFAULT` as root, or give each process its own GPU (`--gpus-per-task`, CUDA_VISIBLE_DEVICES by the local rank)",
            },
            Apart {
                beside: &["cuda.mig_on"],
                act: "MIG is on: `nvidia-smi -L` has to list an instance and CUDA_VISIBLE_DEVICES to name it (MIG-...); make one (`nvidia-smi mig -cgi PROFILE -C`), or switch MIG off where no job runs",
            },
        ],
        sure: Sure::Guess,
        follows: &[
            "xid.off_the_bus",
            "xid.grave",
            "xid.memory",
            "nvidia.reset_required",
            "gdrcopy.two_processes",
        ],
        samples: &["RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable"],
        ..CUDA
    },
    Cause {
        id: "cuda.not_compatible",
        sign: "with CUDA capability (?<capability>sm_[0-9a-z]+) is not compatible with the current PyTorch installation",
        says: "this PyTorch was not built for the GPU ({capability})",
        means: "The package has no code for this generation of GPUs.",
        act: "install a build of PyTorch for a CUDA that knows {capability} (for sm_100 and sm_120 CUDA 12.8 and newer)",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        sources: TORCH,
        samples: &[
            "NVIDIA B200 with CUDA capability sm_100 is not compatible with the current PyTorch installation.",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.no_kernel_image",
        sign: "no kernel image is available for execution on the device|device kernel image is invalid|cudaErrorInvalidKernelImage|CUDA_ERROR_NO_BINARY_FOR_GPU|cudaErrorNoKernelImageForDevice|invalid device function|cudaErrorInvalidDeviceFunction|CUBLAS_STATUS_ARCH_MISMATCH|CUDNN_STATUS_ARCH_MISMATCH",
        says: "the program has no code for this GPU",
        means: "It, or one of its libraries (flash-attn, xformers, NCCL), was built for other generations of GPUs.",
        act: "install a build for this GPU's compute capability (`nvidia-smi --query-gpu=compute_cap --format=csv`), or build it with that one in TORCH_CUDA_ARCH_LIST",
        remedy: Remedy::Install,
        samples: &["RuntimeError: CUDA error: no kernel image is available for execution on the device"],
        ..CUDA
    },
    Cause {
        id: "cuda.ptx_toolchain",
        sign: "provided PTX was compiled with an unsupported toolchain|CUDA_ERROR_UNSUPPORTED_PTX_VERSION|cudaErrorUnsupportedPtxVersion",
        says: "the program was compiled by a newer CUDA than the driver knows",
        means: "Its PTX code cannot be compiled by this driver.",
        act: "renew the driver (the playbook `nvidia-driver`), or build with the CUDA that `nvidia-smi` shows",
        remedy: Remedy::Install,
        sure: Sure::Confirmed,
        samples: &["CUDA error: the provided PTX was compiled with an unsupported toolchain."],
        ..CUDA
    },
    Cause {
        id: "cuda.ptx_library",
        sign: r"PTX JIT compiler library (was )?not found|CUDA_ERROR_JIT_COMPILER_NOT_FOUND|cudaErrorJitCompilerNotFound|libnvidia-ptxjitcompiler\.so[.0-9]*: cannot open|a PTX JIT compilation failed|CUDA_ERROR_INVALID_PTX",
        says: "the driver's compiler for PTX is missing or failed",
        means: "libnvidia-ptxjitcompiler is not in the container or not installed, or the code is not for this GPU.",
        act: "start the container with `NVIDIA_DRIVER_CAPABILITIES=compute,utility`; on the host install the compute part of the driver; otherwise a build for this GPU",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &["CUDA error: PTX JIT compiler library not found"],
        ..CUDA
    },
    Cause {
        id: "cuda.nvml_assert",
        sign: "NVML_SUCCESS == r INTERNAL ASSERT FAILED",
        says: "the memory of the GPU is used up, or NVML does not answer",
        means: "PyTorch asks NVML when an allocation fails, and that failed, too.",
        act: "run `nvidia-smi` in the same place: on a version mismatch reboot or load the modules again; where it works, treat it as out of memory",
        sure: Sure::Guess,
        sources: TORCH,
        samples: &[
            "RuntimeError: NVML_SUCCESS == r INTERNAL ASSERT FAILED at \"../c10/cuda/CUDACachingAllocator.cpp\":830, please report a bug to PyTorch.",
        ],
        ..CUDA
    },
    // Memory that is shared between processes and hosts.
    Cause {
        id: "cuda.capture",
        sign: "operation not permitted when stream is capturing|operation (would make the legacy stream depend|failed due to a previous error during capture)|cudaErrorStreamCapture",
        says: "a call is not allowed while a CUDA graph is recorded",
        means: "The program, or an error before it, broke the recording of a graph.",
        act: "look at the error before it; run without CUDA graphs (`--enforce-eager` of vLLM) to see it",
        samples: &["CUDA error: operation not permitted when stream is capturing"],
        ..EFFECT
    },
    Cause {
        id: "cuda.nvbandwidth_multinode",
        sign: r"CUDA_ERROR_(?:INVALID_[A-Z]+|NOT_SUPPORTED)\].* (?<call>cu[A-Z][A-Za-z]+)\(.* on (?<host>\S+), rank = [0-9]+ in Multinode",
        says: "nvbandwidth could not share GPU memory between hosts ({call} on {host})",
        means: "Its multinode tests share memory over NVLink from host to host. Only hosts of one NVLink domain (GB200 NVL72 and the like) have that. HGX and DGX servers with NVSwitches of their own do not, however well their own links run.",
        act: "`nvidia-smi -q | grep -A5 Fabric` on both hosts: with different ClusterUUIDs there is no NVLink between them: run nvbandwidth on one host only and measure between hosts with nccl-tests; with the same ClusterUUID and CliqueId look at `nvidia-imex-ctl -N` (READY for both)",
        sources: &[
            seen("https://github.com/NVIDIA/nvbandwidth/issues/44", "2025-10-09"),
            seen("https://github.com/NVIDIA/nvbandwidth (README.md)", "2026-12-01"),
        ],
        samples: &[
            "[CUDA_ERROR_INVALID_VALUE] invalid argument in expression cuMemSetAccess((CUdeviceptr) buffer, roundedUpAllocationSize, &desc, 1 ) on gpu1, rank = 8 in MultinodeMemoryAllocationUnicast::MultinodeMemoryAllocationUnic",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.fabric_import",
        sign: r"cuMem(Import|Export|SetAccess|ImportFromShareableHandle)[A-Za-z]*.*(invalid (resource handle|argument|device ordinal)|CUDA_ERROR_INVALID_(HANDLE|VALUE))|CUDA_ERROR_INVALID_(HANDLE|VALUE)\].*cuMem(Import|SetAccess)",
        says: "memory of another GPU or host could not be opened",
        means: "The handle does not fit: IMEX is not ready on both hosts, the hosts are in different NVLink domains, or the other process ended.",
        act: "`nvidia-imex-ctl -N` has to say READY for both hosts, and `nvidia-smi -q` the same ClusterUUID and CliqueId; restart all processes of the job together; restart the IMEX daemons where it hangs",
        sure: Sure::Guess,
        sources: &[
            seen("https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/1417", "2026-09-02"),
            seen("https://github.com/NVIDIA/nvbandwidth/issues/44", "2025-10-09"),
        ],
        samples: &["CUDA error in cuMemImportFromShareableHandle: invalid resource handle"],
        ..CUDA
    },
    Cause {
        id: "imex.no_interface",
        sign: "No matching network interface found for any IP addresses in the node configuration",
        says: "the IMEX daemon finds none of its addresses on this host",
        means: "The list of nodes (/etc/nvidia-imex/nodes_config.cfg) has no address of this host.",
        act: "write the address of each host of the NVLink domain, of one network, into nodes_config.cfg on all of them, and restart nvidia-imex; in Kubernetes with compute domains switch the host's own service off (`systemctl disable --now nvidia-imex`)",
        sure: Sure::Confirmed,
        sources: &[seen("https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/289", "2025-03-21")],
        samples: &[
            "[Mar 21 2025 20:45:38] [ERROR] [tid 39] No matching network interface found for any IP addresses in the node configuration file",
        ],
        ..CUDA
    },
    Cause {
        id: "imex.memory_reference",
        sign: r"\[ERROR\].*(Failed to (get new memory reference|allocate memory reference|get export ref)|Received import response from node id [0-9]+ with failure)",
        says: "IMEX could not hand memory to another host",
        means: "A process asked for memory whose owner is gone, or the daemons lost each other.",
        act: "restart all processes of the job together; `nvidia-imex-ctl -N` has to say READY for all hosts",
        sure: Sure::Guess,
        sources: &[seen("https://github.com/kubernetes-sigs/dra-driver-nvidia-gpu/issues/948", "2026-03-19")],
        samples: &["[ERROR] Failed to get new memory reference with rc: 87"],
        ..CUDA
    },
    Cause {
        id: "cuda.not_permitted",
        sign: r"cudaErrorNotPermitted|CUDA (error|failure)[^a-z]*operation not permitted($|[^ ]| \()",
        says: "CUDA may not do this here (800)",
        means: "Mostly memory is to be shared by a fabric handle without an IMEX channel, or counters of the GPU are for administrators only.",
        act: "for shared memory look at /dev/nvidia-caps-imex-channels/channel0 inside of the job; for profilers `NVreg_RestrictProfilingToAdminUsers=0`",
        sure: Sure::Guess,
        samples: &["RuntimeError: CUDA error: operation not permitted"],
        ..CUDA
    },
    Cause {
        id: "cuda.peer_access",
        sign: "peer access is not supported between these two devices|cudaErrorPeerAccessUnsupported|CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        says: "two GPUs have no peer access",
        means: "There is no NVLink between them and the platform does not allow it over PCIe (other root complexes, a virtual machine, GeForce), or the container shows only one of them.",
        act: "`nvidia-smi topo -p2p r` says which pairs may; where the program should do without, set its option (NCCL_P2P_DISABLE=1 for NCCL); in a virtual machine or with an IOMMU see pcie.acs",
        sure: Sure::Guess,
        samples: &["CUDA error: peer access is not supported between these two devices"],
        ..CUDA
    },
    Cause {
        id: "cuda.peer_resources",
        sign: "peer mapping resources exhausted|cudaErrorTooManyPeers|CUDA_ERROR_TOO_MANY_PEERS",
        says: "a GPU has no room for more peers",
        means: "A GPU maps at most eight others over PCIe.",
        act: "start jobs with 8 GPUs at most, or one process for each GPU with its own CUDA_VISIBLE_DEVICES",
        samples: &["CUDA error: peer mapping resources exhausted"],
        ..CUDA
    },
    Cause {
        id: "cuda.peer_twice",
        sign: "peer access is already enabled|cudaErrorPeerAccessAlreadyEnabled|CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
        counts: Counts::Note,
        says: "peer access was on already",
        means: "Programs go on after it.",
        samples: &["peer access is already enabled"],
        ..CUDA
    },
    // MPS.
    Cause {
        id: "cuda.mps",
        sign: "MPS (client|server|daemon)[a-z ]*(failed to connect|failed|terminated|exhausted|is not ready)|(failed to connect|procedural call between).*MPS|CUDA_ERROR_MPS_[A-Z_]+|cudaErrorMps[A-Z]",
        says: "MPS does not serve this process",
        means: "Processes share the GPU by MPS, and its control daemon is gone, belongs to another account, or is full.",
        act: "look at `nvidia-cuda-mps-control` (`echo get_server_list | nvidia-cuda-mps-control`) and its log in /var/log/nvidia-mps, start it again for the job's account; where MPS is not wanted, take CUDA_MPS_PIPE_DIRECTORY out",
        samples: &["CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server"],
        ..CUDA
    },
    // Faults of kernels.
    Cause {
        id: "cuda.assert",
        sign: r"device-side assert triggered|CUDA_ERROR_ASSERT|cudaErrorAssert|\.(cu|cuh):[0-9]+: .*: block: \[[0-9,]+\], thread: \[[0-9,]+\] Assertion `(?<what>[^`]+)` failed",
        says: "a check inside of a kernel failed[: {what}]",
        means: "The program handed a wrong value to the GPU, mostly an index or label out of range. The GPU is sound.",
        act: "look at the Assertion line, and run with CUDA_LAUNCH_BLOCKING=1 to find the call; check labels, token numbers and the size of the embedding",
        sure: Sure::Confirmed,
        sources: ERRORS,
        samples: &[
            "RuntimeError: CUDA error: device-side assert triggered",
            "../aten/src/ATen/native/cuda/Indexing.cu:1290: indexSelectLargeIndex: block: [312,0,0], thread: [64,0,0] Assertion `srcIndex < srcSelectDimSize` failed.",
        ],
        ..PROGRAM
    },
    Cause {
        id: "cuda.illegal_address",
        sign: "an illegal memory access was encountered|CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress",
        says: "a kernel reached for memory that it may not use",
        means: "Mostly a mistake of a program or library. A GPU with broken memory or a lost peer shows the same now and then.",
        act: WHICH_GPU,
        follows: &["xid.off_the_bus", "xid.grave", "xid.memory", "xid.contained", "cuda.ecc", "cuda.nvlink"],
        samples: &[
            "RuntimeError: CUDA error: an illegal memory access was encountered",
            "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered",
        ],
        ..PROGRAM
    },
    Cause {
        id: "cuda.misaligned",
        sign: "CUDA error: misaligned address|cudaErrorMisalignedAddress|CUDA_ERROR_MISALIGNED_ADDRESS|operation not supported on global/shared address space|cudaErrorInvalidAddressSpace|CUDA_ERROR_INVALID_ADDRESS_SPACE",
        says: "a kernel used an address that is not aligned",
        means: "A mistake of a program or library.",
        act: WHICH_GPU,
        samples: &["RuntimeError: CUDA error: misaligned address"],
        ..PROGRAM
    },
    Cause {
        id: "cuda.illegal_instruction",
        sign: "an illegal instruction was encountered|CUDA_ERROR_ILLEGAL_INSTRUCTION|cudaErrorIllegalInstruction|CUDA error: invalid program counter|cudaErrorInvalidPc|CUDA_ERROR_INVALID_PC|hardware stack error|cudaErrorHardwareStackError",
        says: "a kernel came to an instruction that is none",
        means: "Code for another GPU, a mistake of a program, or a GPU that does not calculate right.",
        act: WHICH_GPU,
        samples: &["RuntimeError: CUDA error: an illegal instruction was encountered"],
        ..PROGRAM
    },
    Cause {
        id: "cuda.launch_failed",
        sign: "unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure",
        says: "a kernel ended with a fault",
        means: "A mistake of a program or library, or an error of the GPU. A Xid in the kernel's log tells them apart: 13 and 31 are mostly the program, others the GPU.",
        act: WHICH_GPU,
        follows: &["xid.off_the_bus", "xid.grave", "xid.memory", "xid.contained", "cuda.ecc", "cuda.nvlink"],
        samples: &["RuntimeError: CUDA error: unspecified launch failure"],
        ..PROGRAM
    },
    Cause {
        id: "cuda.launch_timeout",
        sign: "the launch timed out and was terminated|CUDA_ERROR_LAUNCH_TIMEOUT|cudaErrorLaunchTimeout",
        says: "a kernel ran longer than a GPU with a display allows",
        means: "A display (Xorg) runs on this GPU, and the driver stops kernels that keep it busy.",
        act: "stop the display manager on hosts for computing (`systemctl set-default multi-user.target`)",
        remedy: Remedy::Settings,
        sure: Sure::Likely,
        sources: ERRORS,
        samples: &["CUDA error: the launch timed out and was terminated"],
        ..PROGRAM
    },
    Cause {
        id: "cuda.too_many_resources",
        sign: "too many resources requested for launch|cudaErrorLaunchOutOfResources|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES|too many blocks in cooperative launch|cudaErrorCooperativeLaunchTooLarge|out of resource: shared memory",
        says: "a kernel asks for more than this GPU has",
        means: "The program was tuned for another GPU (registers, shared memory, blocks).",
        act: "take a build or settings of the program for this GPU",
        sources: ERRORS,
        samples: &["RuntimeError: CUDA error: too many resources requested for launch"],
        ..PROGRAM
    },
    // Starting.
    Cause {
        id: "cuda.fork",
        sign: "Cannot re-initialize CUDA in forked subprocess",
        says: "the program forked after it had used CUDA",
        means: "A forked process cannot use the CUDA of its parent.",
        act: "start processes by spawn (`torch.multiprocessing.set_start_method('spawn')`; VLLM_WORKER_MULTIPROC_METHOD=spawn for vLLM), and touch no GPU before",
        sure: Sure::Confirmed,
        sources: TORCH,
        samples: &[
            "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, you must use the 'spawn' start method",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.unknown",
        sign: r"CUDA unknown error|CUDA error: unknown error|CUDA_ERROR_UNKNOWN|cudaErrorUnknown|[Uu]nknown error \(999\)|(C(UDA|uda) (failure|error):? ?([a-z_]+\.cu:[0-9]+ )?[0-9]* ?.?|Error [0-9]+: )unknown error|(cudaGetDeviceCount|cudaSetDevice|cudaMalloc|cuInit|cuDeviceGetCount|cudaFree)[^ ]* (returned|failed with( error)?|error) (error )?999\b|init failure: 999\b|C(UDA|uda) error =? ?999\b|CUDA error at .*: unknown error|CUDA driver error: unknown error|\(error code unknown error\)|cuda runtime error \((?:30|999)\)|error=(?:30|999) : unknown error",
        says: "CUDA could not be started (999)",
        means: "Mostly the device of nvidia_uvm is missing, in a container or on a host where the module is not loaded, or the GPU was lost for the process.",
        act: "`ls -l /dev/nvidia-uvm /dev/nvidia0` in the same place; load it (`modprobe nvidia-uvm`, `nvidia-modprobe -u -c=0`), start the container again; then gpu.xid; after a suspend a reload of nvidia_uvm helps",
        sure: Sure::Guess,
        follows: &[
            "xid.off_the_bus",
            "xid.grave",
            "xid.memory",
            "nvml.lost",
            "nvml.versions",
            "cuda.driver_mismatch",
            "nvidia.reset_required",
        ],
        sources: TORCH,
        samples: &[
            "UserWarning: CUDA initialization: CUDA unknown error - this may be due to an incorrectly set up environment",
            "failed call to cuInit: CUDA_ERROR_UNKNOWN: unknown error",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.os_call",
        sign: "OS call failed or operation not supported on this OS|CUDA_ERROR_OPERATING_SYSTEM|cudaErrorOperatingSystem",
        says: "the operating system refused a call of CUDA (304)",
        means: "A device file is missing or may not be opened, a limit is reached, or memory cannot be shared between containers.",
        act: "compare `ls -l /dev/nvidia*` in and out of the container; look at `ulimit -l` and `-n`; use `--ipc=host` where processes share GPU memory",
        sure: Sure::Guess,
        samples: &["CUDA error: OS call failed or operation not supported on this OS"],
        ..CUDA
    },
    Cause {
        id: "cuda.not_supported",
        sign: r"CUDA_ERROR_NOT_SUPPORTED|cudaErrorNotSupported|CUDA error: operation not supported|([Cc][Uu][Dd][Aa] (failure|error):? ?([a-z_]+\.cu:[0-9]+ )?[0-9]* ?.?|Error [0-9]+: )operation not supported",
        says: "this GPU, driver or virtual machine cannot do what is asked (801)",
        means: "A feature is missing: unified memory or peer access in a virtual GPU, fabric handles without NVSwitch, pools of memory with MIG.",
        act: "look which call it is (CUDA_LAUNCH_BLOCKING=1); in a vGPU switch on unified memory; for NCCL try `NCCL_CUMEM_ENABLE=0` and `NCCL_NVLS_ENABLE=0`",
        sure: Sure::Guess,
        samples: &["RuntimeError: CUDA error: operation not supported"],
        ..CUDA
    },
    Cause {
        id: "cuda.init",
        sign: r"cudaErrorInitializationError|CUDA_ERROR_NOT_INITIALIZED|([Cc][Uu][Dd][Aa] (failure|error):? ?([a-z_]+\.cu:[0-9]+ )?[0-9]* ?.?|Error [0-9]+: )initialization error|init failure: 3\b|CUDA error(?: 3)? at .*: initialization error|CUDA driver initialization failed, you might not have a CUDA gpu|cuInit[^ ]* (returned|failed with( error)?|error) (error )?3\b",
        says: "CUDA could not be started (3)",
        means: "The driver does not answer, the library of CUDA is not of its version, or the process was forked after CUDA was used. With some drivers and newer kernels nvidia_uvm does not start (HMM).",
        act: "run `nvidia-smi` in the same place; on a board with NVSwitches (SXM) look at `systemctl status nvidia-fabricmanager` and the Fabric lines of `nvidia-smi -q`; compare the versions of libcuda and the module; where both are well, start processes by spawn in place of fork; where every program of CUDA says so, look at `dmesg` for nvidia_uvm, and try `options nvidia_uvm uvm_disable_hmm=1` in /etc/modprobe.d",
        sure: Sure::Guess,
        follows: &[
            "cuda.not_initialized",
            "cuda.driver_mismatch",
            "nvml.versions",
            "xid.off_the_bus",
            "xid.grave",
        ],
        sources: &[
            seen("https://github.com/ggml-org/llama.cpp/issues/3235", "2023-09-17"),
            seen("https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html", "2026-12-01"),
        ],
        samples: &["RuntimeError: CUDA error: initialization error"],
        ..CUDA
    },
    Cause {
        id: "cuda.symbol",
        sign: "named symbol not found|cudaErrorSymbolNotFound",
        says: "the driver lacks a function that the program wants",
        means: "The program or library was built for a newer CUDA than the driver offers, or two versions of a library are mixed.",
        act: "renew the driver or take a build for the CUDA that `nvidia-smi` shows",
        remedy: Remedy::Install,
        sure: Sure::Guess,
        samples: &["RuntimeError: CUDA error: named symbol not found"],
        ..CUDA
    },
    Cause {
        id: "cuda.pinned",
        sign: "cudaErrorHostMemoryAlreadyRegistered|part or all of the requested memory range is already mapped|resource already mapped|cudaHostRegister.*(failed|invalid argument)|cudaErrorHostMemoryNotRegistered",
        says: "host memory could not be pinned",
        means: "The range is registered already, or memory may not be locked.",
        act: "look at `ulimit -l` in the job; otherwise it is in the program",
        sure: Sure::Guess,
        samples: &["CUDA error: part or all of the requested memory range is already mapped"],
        ..CUDA
    },
    // Libraries.
    Cause {
        id: "cuda.undefined_symbol",
        sign: r"undefined symbol: (?<symbol>(?:_ZNK?[0-9]+|_{0,2}lib|_{0,2})(?:cublas|cudnn|cusparse|nvJitLink|nccl|cuda|cudart|cufft|cusolver|nvrtc)[A-Za-z_0-9]*)",
        says: "two versions of CUDA libraries are mixed: {symbol} is missing",
        means: "The loader finds another library first than the one that belongs to the program, mostly by LD_LIBRARY_PATH.",
        act: IMAGE_LIBRARIES,
        sources: &[
            seen("https://github.com/pytorch/pytorch/issues/111469", "2023-10-18"),
            seen("https://man7.org/linux/man-pages/man8/ld.so.8.html", "2026-11-30"),
        ],
        samples: &[
            "ImportError: /usr/local/lib/python3.10/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommRegister",
            "libcusparse.so.12: undefined symbol: __nvJitLinkAddData_12_1, version libnvJitLink.so.12",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.library_missing",
        sign: r"(?<library>lib(cudart|cublas|cublasLt|cudnn[a-z_]*|cufft|curand|cusolver|cusparse|cusparseLt|nvrtc|nvJitLink|nccl|cupti|nvToolsExt|cufile|nvinfer|nvshmem_host)\.so\.[0-9.]+):? cannot open shared object file|Could not load library (?<other>libcud[a-z_]+\.so\.[0-9.]+)|Unable to load any of \{libcud",
        says: "a library of CUDA is missing[: {library}][: {other}]",
        means: "The program was built for a release of CUDA, cuDNN or NCCL whose libraries are not installed here or not on the loader's path.",
        act: "install the library in the version that the name says (pip packages nvidia-..., or the toolkit), or a build of the program for the installed ones; then look at LD_LIBRARY_PATH",
        remedy: Remedy::Install,
        samples: &[
            "ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory",
            "Could not load library libcudnn_cnn_infer.so.8. Error: libnvrtc.so: cannot open shared object file",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.cudnn_version",
        sign: "cuDNN version incompatibility|CUDNN_STATUS_(SUBLIBRARY_)?VERSION_MISMATCH|CuDNN library (needs to have|version mismatch)|Loaded runtime CuDNN library: (?<found>[0-9.]+) but source was compiled with: (?<wanted>[0-9.]+)",
        says: "another cuDNN is loaded than the program was built for[: {found} in place of {wanted}]",
        means: "The loader finds the cuDNN of the system or of another package first.",
        act: IMAGE_LIBRARIES,
        remedy: Remedy::Install,
        sources: LIBRARIES,
        samples: &[
            "RuntimeError: cuDNN version incompatibility: PyTorch was compiled  against (8, 9, 2) but found runtime version (8, 7, 0).",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.cublas_memory",
        sign: "CUBLAS_STATUS_(ALLOC_FAILED|NOT_INITIALIZED)|CUDNN_STATUS_ALLOC_FAILED|Unable to find a valid cuDNN algorithm|CUSOLVER_STATUS_ALLOC_FAILED",
        says: "cuBLAS or cuDNN could not be started",
        means: "Mostly the memory of the GPU is used up, as these libraries want some of their own; a wrong index before it or mixed libraries show the same.",
        act: "look at `nvidia-smi` for free memory and leave the library some (smaller batch, lower `gpu_memory_utilization`); then run with CUDA_LAUNCH_BLOCKING=1",
        sure: Sure::Guess,
        remedy: Remedy::Settings,
        follows: BEFORE,
        sources: LIBRARIES,
        samples: &[
            "RuntimeError: CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`",
            "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        ],
        ..CUDA
    },
    Cause {
        id: "cuda.cudnn_not_initialized",
        sign: "CUDNN_STATUS_(NOT_INITIALIZED|INTERNAL_ERROR)",
        says: "cuDNN could not be started",
        means: "No memory left on the GPU, another cuDNN than the program was built for, or an error before.",
        act: "look at the free memory (`nvidia-smi`), then at `LD_LIBRARY_PATH` for another cuDNN, then at the first error of this process",
        sure: Sure::Guess,
        follows: BEFORE,
        sources: LIBRARIES,
        samples: &["RuntimeError: cuDNN error: CUDNN_STATUS_NOT_INITIALIZED"],
        ..CUDA
    },
    Cause {
        id: "cuda.library_status",
        sign: "(CUBLAS|CUDNN|CUFFT|CUSOLVER|CUSPARSE|CURAND)_STATUS_(?<status>[A-Z_]*(FAILED|ERROR|NOT_SUPPORTED|INVALID_VALUE|BAD_PARAM|MISMATCH)[A-Z_]*)|CUFFT_(?<fft>ALLOC_FAILED|EXEC_FAILED|INTERNAL_ERROR)",
        says: "a library of CUDA failed[: {status}]",
        means: "An error of the GPU before it, values that the library does not support, or mixed libraries.",
        act: "look at the first error of this process; run with CUDA_LAUNCH_BLOCKING=1; compare versions of cuBLAS and cuDNN with those that the program was built for",
        follows: BEFORE,
        sources: LIBRARIES,
        samples: &[
            "RuntimeError: CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasGemmEx( handle, opa, opb)`",
            "RuntimeError: cuDNN error: CUDNN_STATUS_EXECUTION_FAILED",
        ],
        ..EFFECT
    },
    Cause {
        id: "cuda.nvml",
        sign: r"NVMLError_(?<error>LibRmVersionMismatch|LibraryNotFound|DriverNotLoaded|GpuIsLost|Unknown|NoPermission|Uninitialized)\b",
        says: "the driver's library does not answer: {error}",
        means: "LibRmVersionMismatch: the libraries were upgraded and the loaded module was not. DriverNotLoaded, LibraryNotFound: no driver here, or a container without GPUs. GpuIsLost: a GPU fell off the bus.",
        act: "run `nvidia-smi` on the host and in the container; on a mismatch reboot or load the modules again (driver.coherence); for a lost GPU see gpu.xid",
        sure: Sure::Likely,
        sources: &[seen("https://pypi.org/project/nvidia-ml-py/", "2026-11-30")],
        samples: &["pynvml.NVMLError_LibRmVersionMismatch: RM has detected an NVML/RM version mismatch."],
        ..CUDA
    },
    Cause {
        id: "gdrcopy.not_loaded",
        sign: r"gdr_open error: Is gdrdrv driver installed and loaded|unable to open GDR driver, is gdrdrv\.ko loaded",
        says: "the module gdrdrv of GDRCopy is not loaded or does not fit",
        means: "The library asks its kernel module, which is not there, or is another version than the library; in a container /dev/gdrdrv is missing.",
        act: "`modprobe gdrdrv` and `ls -l /dev/gdrdrv` on the host; install module and library of one version; hand /dev/gdrdrv to the container",
        sources: &[
            seen("https://github.com/NVIDIA/gdrcopy/issues/251", "2023-03-16"),
            seen("https://github.com/NVIDIA/gdrcopy/issues/72", "2019-07-30"),
        ],
        samples: &["gdr_open error: Is gdrdrv driver installed and loaded?"],
        ..CUDA
    },
    // Consequences.
    Cause {
        id: "cuda.shutting_down",
        sign: "driver shutting down|CUDA_ERROR_DEINITIALIZED|cudaErrorCudartUnloading|CUDA_ERROR_CONTEXT_IS_DESTROYED|cudaErrorContextIsDestroyed|context is destroyed",
        says: "CUDA was used while the process ended",
        means: "The process was ending already, and a thread still called CUDA.",
        act: "look for the error before it",
        samples: &["CUDA error: driver shutting down"],
        ..EFFECT
    },
    Cause {
        id: "cuda.not_ready",
        sign: "CUDA (?:driver )?error: device not ready|CUDA_ERROR_NOT_READY|cudaErrorNotReady",
        role: Role::Effect,
        says: "CUDA says `device not ready` (600)",
        means: "This is no error by itself: work that was asked about is not done yet. A program that stops for it has a mistake, or hides an error before.",
        act: "look for an earlier error of this process; run with CUDA_LAUNCH_BLOCKING=1; another release of the program or of its libraries",
        remedy: Remedy::Look,
        sure: Sure::Guess,
        samples: &["RuntimeError: CUDA driver error: device not ready"],
        ..CUDA
    },
    Cause {
        id: "cuda.error",
        sign: r"CUDA error: (?<error>[a-z].*)|cudaError(?<name>[A-Z][A-Za-z]+)\b|CUDA_ERROR_(?<driver>[A-Z_]+)|CUDA driver error: (?<text>.*)|CUDA failure|Accelerator Fatal Error: call to (?<call>[A-Za-z_0-9]+) returned error (?<number>[0-9]+)",
        says: "a call of CUDA failed[: {error}][: {name}][: {driver}][: {text}][: {call} returned {number}]",
        means: "Errors of the GPU are often told at a later call than the one that made them.",
        act: "look for an earlier error of this process and at gpu.xid of this host; run with CUDA_LAUNCH_BLOCKING=1",
        follows: BEFORE,
        samples: &["RuntimeError: CUDA error: invalid argument"],
        ..EFFECT
    },
];
