# SPDX-License-Identifier: Apache-2.0
"""Published kernels: where each is, how nvcc compiles it, and what its host function launches it with.

Facts of the checkouts, in our words; their code stays where it is.  A kernel is a name, a project, a source (a file of the
checkout, or text of our own that instantiates a template of it), options of nvcc and a function that writes the launch file.
"""
import dataclasses

from launch_file import LaunchFile

K = 512


@dataclasses.dataclass
class Project:
    title: str
    url: str
    commit: str
    variable: str  # of the environment; names a checkout
    licence: str


PROJECTS = {
    "learn-cuda": Project("learn-cuda", "https://github.com/gau-nernst/learn-cuda", "1454f8b7", "SM100_LEARN_CUDA", "none"),
    "DeepGEMM": Project("DeepGEMM", "https://github.com/deepseek-ai/DeepGEMM", "54e22612", "SM100_DEEPGEMM", "MIT"),
    "ThunderKittens": Project("ThunderKittens", "https://github.com/HazyResearch/ThunderKittens", "0b55588d", "SM100_THUNDERKITTENS", "MIT"),
    "Triton": Project("Triton", "https://github.com/triton-lang/triton", "3.6.0", "SM100_TRITON_PTX", "MIT; the kernels are ours"),
    "CUTLASS": Project("CUTLASS", "https://github.com/NVIDIA/cutlass", "7107b055", "SM100_CUTLASS", "BSD-3-Clause"),
}


@dataclasses.dataclass
class Kernel:
    name: str
    project: str
    source: str            # of the checkout; for an instantiation what it instantiates
    options: list          # of nvcc; {PROJECT} is a checkout
    launch: object         # f(kernel) -> LaunchFile
    size: str              # M x N x K
    instantiation: str = ""
    broken: bool = False   # broken.py's mistakes are made in it
    needs: tuple = ()      # other checkouts whose headers it includes
    arguments: dict = dataclasses.field(default_factory=dict)


# ---- learn-cuda/02e_matmul_sm100

def learn_cuda(k):
    a = dict(block=128, row=64, swizzle="128B", rank=3, pair=1, profiler=False, grid=None, extra_smem=0) | k.arguments
    m = n = K
    block_m, block_n, block_k, pair, row = 128, a["block_n"], a["block_k"], a["pair"], a["row"]
    grid = a["grid"] or (m // block_m) * (n // block_n)
    smem = ((block_m + block_n // pair) * block_k * 2 + a["extra_smem"]) * a["stages"] + (36 if a["extra_smem"] else 0)
    launch = LaunchFile("kernel.ptx", a["entry"], grid, a["block"], smem, cluster=pair)
    launch.tensor("A", "bf16", m, K)
    launch.tensor("B", "bf16", n, K)
    launch.tensor("C", "bf16", m, n, contents="unwritten")
    for tensor, rows, box in ("A", m, block_m), ("B", n, block_n // pair):
        if a["rank"] == 2:
            launch.tensor_map(tensor, [row, box], a["swizzle"])
        else:
            launch.tensor_map(tensor, [row, box, block_k // row], a["swizzle"], dims=[row, rows, K // row], strides=[2 * K, 2 * row])
    launch.address("C")
    for value in (m, n, K) + ((0, 0) if a["profiler"] else ()):
        launch.value(value)
    launch.product("A", "B", "C")
    return launch


def learn_cuda_kernel(name, version, **arguments):
    return Kernel(name=f"learn-cuda {name}", project="learn-cuda", source=f"02e_matmul_sm100/matmul_v{version}.cu",
                  options=["-std=c++17", "-O3", "-lineinfo", "-I", "{FOLDER}", "-include", "cuda_bf16.h", "-include", "tuple",
                           "--expt-relaxed-constexpr"],
                  launch=learn_cuda, size=f"{K} x {K} x {K}", arguments=arguments)


_RING = dict(block_n=256, block_k=64, stages=7, pair=2, profiler=True)
LEARN_CUDA = [
    learn_cuda_kernel("v1", 1, entry="ILi256ELi256ELb0E", block_n=256, block_k=256, row=8, swizzle="none", rank=2, stages=1),
    learn_cuda_kernel("v1 3d", 1, entry="ILi256ELi256ELb1E", block_n=256, block_k=256, row=8, swizzle="none", stages=1),
    learn_cuda_kernel("v2", 2, entry="ILi256ELi256ELb0E", block_n=256, block_k=256, rank=2, stages=1),
    learn_cuda_kernel("v2 3d", 2, entry="ILi256ELi256ELb1E", block_n=256, block_k=256, stages=1),
    learn_cuda_kernel("v3", 3, entry="v3_kernel", block_n=256, block_k=128, stages=2),
    learn_cuda_kernel("v4", 4, entry="v4_kernel", block_n=128, block_k=64, stages=7),
    learn_cuda_kernel("v5", 5, entry="ILi256ELi64ELi2ELi7ELb0E", **_RING),
    learn_cuda_kernel("v6", 6, entry="ILi256ELi64ELi2ELi7ELb0E", block=192, grid=4, **_RING),
    learn_cuda_kernel("v7a", 7, entry="ILi256ELi2ELi7ELb0ELb0E", block=192, grid=4, extra_smem=16, **_RING),
    learn_cuda_kernel("v7c", 7, entry="ILi256ELi2ELi7ELb1ELb0E", block=192, grid=4, extra_smem=16, **_RING),
]


# ---- DeepGEMM

_DEEPGEMM_OPTIONS = ["-std=c++20", "--diag-suppress=39,161,174,177,186,940", "-O3", "-lineinfo", "--expt-relaxed-constexpr",
                     "--expt-extended-lambda", "-I", "{DeepGEMM}/deep_gemm/include", "-I", "{CUTLASS}/include"]


def deepgemm_bf16(k):
    launch = LaunchFile("kernel.ptx", "sm100_bf16_gemm_impl", 8, 256, 2 * 16384 + 8 * 24576 + 256, cluster=2, pdl=True,
                        roles=["load", "mma", "tmem", "idle", "epilogue", "epilogue", "epilogue", "epilogue"])
    m, n = 2 * K, K  # more tiles than a pair has accumulators
    launch.tensor("A", "bf16", m, K)
    launch.tensor("B", "bf16", n, K)
    launch.tensor("D", "bf16", m, n, contents="unwritten")
    launch.value(0)
    for value in (m, n, K):
        launch.value(value)
    for tensor, rows in ("A", 128), ("B", 64), ("D", 128):
        launch.tensor_map(tensor, [64, rows], "128B", l2_promotion="256B")
    launch.product("A", "B", "D")
    return launch


def deepgemm_fp8(k):
    launch = LaunchFile("kernel.ptx", "sm100_fp8_fp4_gemm_1d1d_impl", 8, 256, 2 * 16384 + 6 * (24576 + 1024) + 256, cluster=2,
                        pdl=True, roles=["load", "mma", "scales", "idle", "epilogue", "epilogue", "epilogue", "epilogue"])
    m, n = 2 * K, K
    launch.tensor("A", "e4m3", m, K)
    launch.tensor("B", "e4m3", n, K)
    launch.tensor("SFA", "ue8m0", K // 512, m, 4)
    launch.tensor("SFB", "ue8m0", K // 512, n, 4)
    launch.tensor("D", "bf16", m, n, contents="unwritten")
    launch.value(0)
    for value in (m, n, K):
        launch.value(value)
    launch.tensor_map("A", [128, 128], "128B", l2_promotion="256B")
    launch.tensor_map("B", [128, 64], "128B", l2_promotion="256B")
    for scales, rows in ("SFA", m), ("SFB", n):
        launch.tensor_map(scales, [128, 1], "none", dims=[rows, K // 512], strides=[4 * rows], data_type="int32", l2_promotion="256B")
    launch.tensor_map("D", [64, 128], "128B", l2_promotion="256B")
    launch.product("A", "B", "D")
    for operand, rows in ("A", m), ("B", n):
        launch.scales(of=operand, tensor=f"SF{operand}", k=128, row_steps=[[rows, 4]], k_steps=[[4, 1], [K // 512, 4 * rows]])
    return launch


DEEPGEMM = [
    Kernel(name="DeepGEMM bf16", project="DeepGEMM", source="deep_gemm/include/deep_gemm/impls/sm100_bf16_gemm.cuh",
           options=_DEEPGEMM_OPTIONS, launch=deepgemm_bf16, size=f"{2 * K} x {K} x {K}", needs=("CUTLASS",), broken=True,
           # K-major A and B, tiles of 128 x 128 x 64 in pairs that share B's rows, 8 stages, 8 SMs
           instantiation="sm100_bf16_gemm_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 0, 0, 0, 128, 128, 64, 1, 128, 128, 128, 8,"
                         " 128, 128, 2, false, 8, 64, false, false, GemmType::Normal, false, cutlass::bfloat16_t, 100>"),
    Kernel(name="DeepGEMM fp8 1d1d", project="DeepGEMM", source="deep_gemm/include/deep_gemm/impls/sm100_fp8_fp4_gemm_1d1d.cuh",
           options=_DEEPGEMM_OPTIONS, launch=deepgemm_fp8, size=f"{2 * K} x {K} x {K}", needs=("CUTLASS",),
           # scales for 128 elements of K, tiles of 128 x 128 x 128 in pairs, 6 stages, 8 SMs
           instantiation="sm100_fp8_fp4_gemm_1d1d_impl<cute::UMMA::Major::K, cute::UMMA::Major::K, 128, 128, 128, 0, 0, 0, 128, 128,"
                         " 128, 1, 128, 128, 128, 6, 128, 128, 2, false, 8, false, false, GemmType::Normal, false,"
                         " cutlass::float_e4m3_t, cutlass::float_e4m3_t, cutlass::bfloat16_t, epilogue::transform::EpilogueIdentity>"),
]


# ---- ThunderKittens

_KITTENS_OPTIONS = ["-std=c++20", "-O3", "--use_fast_math", "--expt-extended-lambda", "--expt-relaxed-constexpr", "-DNDEBUG",
                    "-lineinfo", "-DKITTENS_BLACKWELL", "-I", "{ThunderKittens}/include", "-I", "{ThunderKittens}/prototype"]
_GL_BYTES = 384  # of a global layout with one tensor map: address at 0, extents from 8, map at 128


def global_layout(launch, tensor, at, rows, columns, box_rows, box_columns, bits=16, **keys):
    """A global layout: the map's dimensions are a swizzle row, rows, swizzle rows of a row."""
    row = 128 * 8 // bits if box_columns * bits >= 1024 else box_columns
    parameter, offset = at
    launch.address(tensor, at=(parameter, offset))
    launch.value(rows, "u64", at=(parameter, offset + 16))
    launch.value(columns, "u64", at=(parameter, offset + 24))
    pitch = columns * bits // 8
    launch.tensor_map(tensor, [row, box_rows, box_columns // row, 1, 1], f"{row * bits // 8}B", at=(parameter, offset + 128),
                      dims=[row, rows, columns // row, 1, 1], strides=[pitch, row * bits // 8, rows * pitch, rows * pitch], **keys)


def square_tensors(launch, n):
    launch.tensor("A", "bf16", n, n)
    launch.tensor("B", "bf16", n, n)
    launch.tensor("D", "bf16", n, n, contents="unwritten")


def kittens_educational(k):
    a = k.arguments
    launch = LaunchFile("kernel.ptx", "matmul_kernel", a["grid"], a["block"], 227 * 1024 - 1024, cluster=a["cluster"])
    square_tensors(launch, K)
    for i, (tensor, box) in enumerate(zip("ABD", a["boxes"])):
        global_layout(launch, tensor, (i, 0), K, K, *box)
    launch.value(K)
    launch.product("A", "B", "D", b="k_n")
    return launch


def kittens_bf16(k):
    a = k.arguments
    n = K
    tiles = n // (a["consumers"] * 128) * (n // a["block_n"])
    smem = a["stages"] * (a["consumers"] * 128 + a["block_n"] // 2) * a["block_k"] * 2 + 2 * a["consumers"] * 128 * a["block_n"] // a["strips"] * 2 + 1024
    launch = LaunchFile("kernel.ptx", a["entry"], tiles, (a["consumers"] + 1) * 128, smem, cluster=2, pdl=True)
    square_tensors(launch, n)
    for i, (tensor, box) in enumerate((("A", (128, a["block_k"])), ("B", (a["block_n"] // 2, a["block_k"])),
                                       ("D", (128, a["block_n"] // a["strips"])))):
        global_layout(launch, tensor, (0, _GL_BYTES * i), n, n, *box)
    launch.product("A", "B", "D")
    return launch


def kittens_nvfp4(k):
    """Codes of 4 bits, a ue4m3 factor for 16 of them in blocks of 128 rows and 4 factors, and one f32 factor for each operand."""
    a, m, n = k.arguments, K, K
    blocks = a["block_n"] // 128
    smem = 5 * (128 + a["block_n"] // 2) * 128 + 1024 + 5 * 2048 * (1 + blocks) + 1024 + 2 * 128 * a["block_n"] // a["strips"] * 2
    launch = LaunchFile("kernel.ptx", a["entry"], 8, 256, smem, cluster=2, pdl=True)
    launch.tensor("A", "e2m1", m, K)
    launch.tensor("B", "e2m1", n, K)
    for operand in "AB":
        launch.tensor(f"SF{operand}", "ue4m3", K // 128, K // 64, 512)
        launch.tensor(f"S{operand}", "f32", 1)
    launch.tensor("D", "bf16", m, n, contents="unwritten")
    for operand, rows, at in ("A", 128, 0), ("B", a["block_n"] // 2, 896):
        # the map counts bytes: two codes each
        global_layout(launch, operand, (0, at), K, K // 2, rows, 128, bits=8, data_type="uint8")
        scales = f"SF{operand}"
        launch.address(scales, at=(0, at + 384))
        launch.value(K // 128, "u64", at=(0, at + 400))
        launch.value(K // 64, "u64", at=(0, at + 408))
        launch.tensor_map(scales, [256, 4, 1, 1], "none", at=(0, at + 512), data_type="float16", dims=[256, K // 64, K // 128, 1],
                          strides=[512, 8 * K, K // 128 * 8 * K])
        launch.address(f"S{operand}", at=(0, at + 768))
    global_layout(launch, "D", (0, 1792), m, n, 128, a["block_n"] // a["strips"])
    launch.product("A", "B", "D")
    for operand in "AB":
        launch.scales(of=operand, tensor=f"SF{operand}", k=16, row_steps=[[32, 16], [4, 4], [K // 128, 8 * K]],
                      k_steps=[[4, 1], [K // 64, 512]])
        launch.scales(of=operand, tensor=f"S{operand}", rows=K)
    return launch


def kittens(name, source, launch, n, **arguments):
    return Kernel(name=f"ThunderKittens {name}", project="ThunderKittens", source=f"kernels/gemm/{source}", options=_KITTENS_OPTIONS,
                  launch=launch, size=f"{n} x {n} x {n}", arguments=arguments)


THUNDERKITTENS = [
    kittens("educational 07", "educational_b200/level_07.cu", kittens_educational, K, grid=16, block=128, cluster=1,
            boxes=[(128, 64), (64, 128), (128, 128)]),
    kittens("educational 09", "educational_b200/level_09.cu", kittens_educational, K, grid=4, block=384, cluster=2,
            boxes=[(128, 64), (64, 128), (128, 32)]),
    kittens("bf16 256x64x128", "bf16_b200/bf16_b200_gemm.cu", kittens_bf16, K, entry="ILi256ELi64ELi128ELi4ELb1ELi5ELi2E",
            consumers=1, block_n=64, block_k=128, stages=5, strips=2),
    kittens("bf16 256x256x64", "bf16_b200/bf16_b200_gemm.cu", kittens_bf16, K, entry="ILi256ELi256ELi64ELi8ELb1ELi5ELi4E",
            consumers=1, block_n=256, block_k=64, stages=5, strips=4),
    kittens("bf16 512x256x64", "bf16_b200/bf16_b200_gemm.cu", kittens_bf16, K, entry="ILi256ELi256ELi64ELi4ELb0ELi4ELi8E",
            consumers=2, block_n=256, block_k=64, stages=4, strips=8),
    kittens("nvfp4 256x128x256", "nvfp4_b200/nvfp4_b200_gemm.cu", kittens_nvfp4, K, entry="ILi128ELi5ELi4ELi12ELi2ELb1E", block_n=128, strips=4),
    kittens("nvfp4 256x256x256", "nvfp4_b200/nvfp4_b200_gemm.cu", kittens_nvfp4, K, entry="ILi256ELi5ELi8ELi4ELi2ELb1E", block_n=256, strips=8),
]



# ---- Triton: kernels of our own (triton_kernels.py); SM100_TRITON_PTX names the folder of their PTX

def triton_matmul(k):
    a = k.arguments
    launch = LaunchFile("kernel.ptx", f"matmul_{a['form']}", a.get("grid", [K // 128, K // 128, 1]), None, a["smem"])
    launch.tensor("A", "bf16", K, K)
    launch.tensor("B", "bf16", K, K)
    launch.tensor("C", "bf16", K, K, contents="unwritten")
    for tensor in "ABC":
        if a["form"] == "pointers":
            launch.address(tensor)
            continue
        launch.tensor_map(tensor, [64, 128], "128B")
        for value in (K, K, K, 1):  # extents, strides: a descriptor's other parameters
            launch.value(value)
    for value in (K, K, K, 0, 0):  # behind the sizes: scratch memory, of which there is none
        launch.value(value)
    launch.product("A", "B", "C")
    return launch


TRITON = [Kernel(name=f"Triton {form}", project="Triton", source=f"triton_{form}.ptx", options=[], launch=triton_matmul,
                 size=f"{K} x {K} x {K}", arguments=dict(form=form, smem=smem) | more)
          for form, smem, more in (("tma", 98352, {}), ("ws", 98524, {}), ("wsp", 131420, dict(grid=4)), ("pointers", 98320, {}))]

KERNELS = LEARN_CUDA + DEEPGEMM + THUNDERKITTENS + TRITON
