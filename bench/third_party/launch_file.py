# SPDX-License-Identifier: Apache-2.0
"""Launch files of docs/ptx.md, written from what a host function passes to its kernel."""


def text_of(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {text_of(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(text_of(v) for v in value) + "]"
    return str(value)


def table(header, keys):
    return header + "\n" + "".join(f"{k} = {text_of(v)}\n" for k, v in keys.items() if v is not None) + "\n"


class LaunchFile:
    """Grid, tensors and arguments of one launch.  Arguments follow the parameters; `at` places one in a struct."""

    def __init__(self, ptx, entry, grid, block, dynamic_smem_bytes, cluster=1, pdl=None, roles=None, sms=8):
        self.parts = [f'kernel = "ptx"\nprofile = "b200"\n\n']
        self.parts.append(table("[problem]", dict(ptx=str(ptx), entry=entry, grid=grid if isinstance(grid, list) else [grid, 1, 1], block=block and [block, 1, 1],
                                                  cluster=[cluster, 1, 1], dynamic_smem_bytes=dynamic_smem_bytes, pdl=pdl,
                                                  roles=roles)))
        self.entry, self.sms, self.registers = entry, sms, None

    def tensor(self, name, type, *shape, contents="random"):
        self.parts.append(table("[[problem.tensor]]", dict(name=name, type=type, shape=list(shape), contents=contents)))

    def _argument(self, keys, at):
        if at:
            keys = dict(parameter=at[0], offset=at[1]) | keys
        self.parts.append(table("[[problem.argument]]", keys))

    def address(self, tensor, at=None):
        self._argument(dict(address=tensor), at)

    def value(self, value, type=None, at=None):
        self._argument(dict(value=value, type=type), at)

    def tensor_map(self, tensor, box, swizzle, at=None, **keys):
        self._argument(dict(tensor_map=tensor, box=list(box), swizzle=swizzle) | keys, at)

    def product(self, *tensors, **keys):
        self.parts.append(table("[problem.check]", dict(product=list(tensors)) | keys))

    def scales(self, **keys):
        self.parts.append(table("[[problem.check.scales]]", keys))

    def __str__(self):
        return "".join(self.parts) + table("[run]", dict(sms=self.sms, registers=self.registers))
