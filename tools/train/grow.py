# SPDX-License-Identifier: Apache-2.0
"""Double the layers of a checkpoint without changing what it computes.

    python3 grow.py SMALL/last.pt BIG/last.pt

Each layer is followed by a copy whose two output matrices are zero. A half-deep model
costs little more than half per token while the first, easy things are learned.
"""
import sys

import torch

OUTPUTS = {"wo": lambda t: torch.zeros_like(t),
           "experts": lambda t: torch.cat((t[:, :2], torch.zeros_like(t[:, 2:])), 1)}


def main():
    saved = torch.load(sys.argv[1])
    params, optim = {}, {}
    for name, t in saved["params"].items():
        layer, _, part = name.rpartition(".")
        if not layer:
            params[name], optim[name] = t, saved["optim"][name]
            continue
        first, second = f"{2 * int(layer)}.{part}", f"{2 * int(layer) + 1}.{part}"
        params[first], optim[first] = t, saved["optim"][name]
        params[second] = OUTPUTS.get(part, torch.clone)(t)
        optim[second] = [torch.zeros_like(s) for s in saved["optim"][name]]
    saved["config"]["layers"] *= 2
    torch.save({**saved, "params": params, "optim": optim}, sys.argv[2])


if __name__ == "__main__":
    main()
