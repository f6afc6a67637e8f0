# SPDX-License-Identifier: Apache-2.0
from spack.package import *


class Sm100sim(CMakePackage):
    """Cycle-level simulator of the NVIDIA B200's asynchronous units that runs warp-specialised GEMM kernels, PTX and CUDA programs."""

    # A clone of your own: spack install sm100sim, with `spack develop --path CLONE sm100sim@main` before it.
    homepage = "https://github.com/sm100sim/sm100sim"
    git = "https://github.com/sm100sim/sm100sim.git"

    license("Apache-2.0")

    version("main", branch="main")

    variant("python", default=False, description="Build the Python package")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("systemc@2.3.3: cxxstd=17")
    depends_on("eigen@3.3:")
    depends_on("fmt@9:")
    depends_on("tomlplusplus@3:")
    depends_on("nlohmann-json@3.10:")
    depends_on("cli11@2:")
    depends_on("protobuf@3.12:")
    depends_on("cpp-httplib")
    depends_on("zlib-api")
    depends_on("zstd")
    depends_on("lz4")
    depends_on("catch2@2.13:", type="test")
    depends_on("python@3.9:", type=("build", "run"), when="+python")
    depends_on("py-numpy", type=("build", "run"), when="+python")
    depends_on("py-pybind11", type="build", when="+python")

    conflicts("%gcc@:11", msg="C++20 is needed: GCC 12 or later")
    conflicts("%clang@:13", msg="C++20 is needed: Clang 14 or later")

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define("SM100_CUDA", False),
            self.define("SM100_TESTS", self.run_tests),
            self.define_from_variant("SM100_PYTHON", "python"),
        ]
        if self.spec.satisfies("+python"):
            version = self.spec["python"].version.up_to(2)
            args.append(self.define("SM100_PYTHON_DIR", f"lib/python{version}/site-packages"))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def run_a_kernel(self):
        Executable(self.prefix.bin.sm100sim)("run", "dense_small")
