# SPDX-License-Identifier: Apache-2.0
"""Train the model with two (or more) single-thread processes; see README.md.

    python3 train.py --dir RUN --tok tok.json --plan plan.json --workers 2

The plan is read again at every save, so stages may be changed while training:
    {"lr": 0.003, "decay_from": "09:15", "end": "09:50",
     "stages": [{"data": "early.npy", "length": 256, "tokens": 3000000}, ...]}
decay_from and end are times of day, or both numbers of tokens (to repeat a run at any speed).
Weights live in shared memory. Each worker computes gradients on its rows; then each
updates the parameters it owns from all workers' gradients (no messages, two barriers).
Everything needed to go on is saved to RUN/last.pt every five minutes, at the end, and when the
parent process is told to terminate.
"""
import argparse
import datetime
import json
import math
import os
import signal
import time

import numpy as np
import torch
import torch.multiprocessing as mp

from copying import plant
from model import Config, Model, init_params

# Coefficients of five odd polynomials that drive singular values towards one (Polar Express).
POLAR = ((8.28721, -23.59588, 17.30038), (4.10706, -2.94785, 0.54484), (3.94869, -2.90890, 0.55182),
         (3.31842, -2.48849, 0.51004), (2.30065, -1.66890, 0.41881))
AUX, ZLOSS, DECAY, CLIP, WARM = 0.03, 1e-3, 0.1, 1.0, 100
RATE = {"embed": 1.5}   # AdamW's rate over Muon's; embeddings are wide, so their steps must be too
ADAM_RATE = 0.5         # of the other AdamW parameters


def orthogonal(m, steps=4):
    """The nearest (semi-)orthogonal matrices to a batch (..., rows <= columns).

    The polynomials are applied to the small Gram matrix; the rows are multiplied once.
    """
    x = m / (m.norm(dim=(-2, -1), keepdim=True) * 1.01 + 1e-7)
    g, q = x @ x.transpose(-2, -1), None
    for i, (a, b, c) in enumerate(POLAR[:steps]):
        p = b * g + c * (g @ g)
        p.diagonal(dim1=-2, dim2=-1).add_(a)
        q = p if q is None else p @ q
        if i + 1 < steps:
            g = p @ (p @ g)
    return q @ x


class Optimizer:
    """Muon for matrices, AdamW for the rest, on the parameters owned by one worker."""

    def __init__(self, names, params, state):
        self.names, self.params, self.state = names, params, state
        for n in names:
            if n not in state:
                z = torch.zeros_like(params[n])
                state[n] = [z] if self.is_muon(n) else [z, z.clone()]

    @staticmethod
    def is_muon(name):
        return name.split(".")[-1] in ("wqkv", "wo", "experts")

    def step(self, grads, lr, t):
        for n in self.names:
            p, g = self.params[n], grads[n]
            if self.is_muon(n):
                self.muon(p, g, self.state[n][0], lr)
            else:
                m, v = self.state[n]
                m.lerp_(g, 0.1)
                v.mul_(0.98).addcmul_(g, g, value=0.02)
                scale = RATE.get(n, ADAM_RATE)
                up = (m / (1 - 0.9 ** t)) / ((v / (1 - 0.98 ** t)).sqrt_() + 1e-8)
                if p.dim() == 2:
                    p.mul_(1 - lr * scale * (DECAY if n != "embed" else 0.01))
                p.add_(up, alpha=-lr * scale)

    @staticmethod
    def muon(p, g, m, lr):
        m.mul_(0.95).add_(g)
        u = g.add(m, alpha=0.95)
        if p.dim() == 2:
            u = orthogonal(u.t() if u.shape[0] > u.shape[1] else u)
            u = u.t() if u.shape != p.shape else u
        else:
            u = orthogonal(u.view(-1, *p.shape[-2:])).view_as(p)
        p.mul_(1 - lr * DECAY).add_(u, alpha=-lr * 0.2 * math.sqrt(max(p.shape[-2:])))


class Data:
    """Rows that begin with a document; position = (stage, document, tokens of the stage)."""

    def __init__(self, folder, plan, position, batch):
        self.folder, self.plan, self.batch = folder, plan, batch
        self.stage, self.doc, self.done = position
        self.open()

    def open(self):
        s = self.plan["stages"][self.stage]
        self.ids = np.load(os.path.join(self.folder, s["data"]), mmap_mode="r")
        ends = np.flatnonzero(np.asarray(self.ids) == 0) + 1
        self.starts = np.concatenate(([0], ends))
        self.length = s["length"]

    def next(self, rank, workers):
        """This worker's rows of the next step: (rows, length + 1)."""
        stages = self.plan["stages"]
        if self.done >= stages[self.stage]["tokens"] and self.stage + 1 < len(stages):
            self.stage, self.doc, self.done = self.stage + 1, 0, 0
            self.open()
        rows, n = [], self.batch // self.length
        for r in range(n):
            start, need = self.starts[self.doc], self.length + 1
            if start + need > self.starts[-1]:
                self.doc, start = 0, 0
            end = start + need
            if r % workers == rank:
                rows.append(np.asarray(self.ids[start:end]).astype(np.int64))
            self.doc = int(np.searchsorted(self.starts, end, "left"))
        self.done += n * self.length
        return torch.from_numpy(np.stack(rows))

    def position(self):
        return (self.stage, self.doc, self.done)


def clock(text):
    """Seconds since the epoch of the next HH:MM (or of today's, up to 12 hours ago)."""
    h, m = map(int, text.split(":"))
    now = datetime.datetime.now()
    at = now.replace(hour=h, minute=m, second=0)
    if (now - at).total_seconds() > 43200:
        at += datetime.timedelta(days=1)
    return at.timestamp()


def until(mark, tokens):
    """What is left until a mark of the plan: seconds to a time of day, or tokens to a count."""
    return clock(mark) - time.time() if isinstance(mark, str) else mark - tokens


def rate(plan, step, tokens):
    """Learning rate: warm-up, flat, then down to zero between decay_from and end."""
    lr = plan["lr"] * min(1.0, (step + 1) / WARM)
    first, last = (until(plan[k], tokens) for k in ("decay_from", "end"))
    return lr * max(0.0, min(1.0, last / max(1.0, last - first)))


def own_session(nice):
    """A session of its own, so that the scheduler's autogroup weighs this worker lower."""
    os.setsid()
    try:
        with open("/proc/self/autogroup", "w") as f:
            f.write(str(nice))
    except OSError:
        os.nice(nice)


class Worker:
    def __init__(self, rank, args, shared):
        self.rank, self.args = rank, args
        self.params, self.grads, self.meta, self.barrier, self.stop, saved = shared
        self.cfg = Config(**saved["config"])
        torch.set_num_threads(1)
        names = sorted(self.params)
        self.own = [n for n in names if self.owner(n) == rank]
        self.opt = Optimizer(self.own, self.params, {n: s for n, s in saved["optim"].items() if n in self.own})
        self.step, self.tokens = saved["step"], saved["tokens"]
        self.plan = json.load(open(args.plan))
        self.data = Data(args.dir, self.plan, saved["position"], args.batch)
        self.leaf = {n: p.detach().requires_grad_() for n, p in self.params.items()}
        self.model = Model(self.cfg, self.leaf, compile_parts=args.compile)

    def owner(self, name):
        part = name.split(".")[0]
        return (int(part) if part.isdigit() else 0) % self.args.workers

    def gradients(self):
        rows = self.data.next(self.rank, self.args.workers)
        stats = []
        loss = self.model.loss(rows[:, :-1], rows[:, 1:], stats, self.plan.get("sample", 0))
        total = loss
        for aux, z, _, _ in stats:
            total = total + AUX * aux + ZLOSS * z
        total.backward()
        mine = self.grads[self.rank]
        for n, p in self.leaf.items():
            mine[n].copy_(p.grad)
            p.grad = None
        self.meta[self.rank, 0] = float(loss.detach())
        if stats:
            load = torch.stack([s[2] for s in stats])
            self.meta[self.rank, 2], self.meta[self.rank, 3] = float(load.max()) * self.cfg.experts, float(load.min()) * self.cfg.experts

    def update(self):
        k = self.args.workers
        mean = {n: sum(g[n] for g in self.grads) / k for n in self.own}
        self.meta[self.rank, 1] = sum(float(g.square().sum()) for g in mean.values())
        self.barrier.wait()
        norm = math.sqrt(float(self.meta[:, 1].sum()))
        scale = min(1.0, CLIP / (norm + 1e-6))
        for g in mean.values():
            g.mul_(scale)
        self.opt.step(mean, rate(self.plan, self.step, self.tokens), self.step + 1)
        return norm

    def save(self):
        """Workers write their optimizer parts; worker 0 writes the whole."""
        torch.save(self.opt.state, f"{self.args.dir}/part{self.rank}.tmp")
        self.barrier.wait()
        if self.rank == 0:
            optim = {}
            for r in range(self.args.workers):
                optim.update(torch.load(f"{self.args.dir}/part{r}.tmp"))
            state = {"config": self.cfg.dict(), "params": {n: p.clone() for n, p in self.params.items()}, "optim": optim,
                     "step": self.step, "tokens": self.tokens, "position": self.data.position()}
            tmp = f"{self.args.dir}/last.tmp"
            torch.save(state, tmp)
            os.replace(tmp, f"{self.args.dir}/last.pt")
        self.barrier.wait()
        self.plan = self.data.plan = json.load(open(self.args.plan))

    def run(self):
        saved_at, t0, n0 = time.time(), time.time(), self.tokens
        cpu0 = time.process_time()
        while True:
            self.gradients()
            if self.rank == 0:
                now = time.time()
                over = self.stop.is_set() or until(self.plan["end"], self.tokens) < 0 or 0 < self.args.steps <= self.step + 1
                self.meta[0, 4] = 2 if over else 1 if now - saved_at > self.args.save_every else 0
            self.barrier.wait()
            what = int(self.meta[0, 4])
            norm = self.update()
            self.step += 1
            self.tokens += self.args.batch
            self.barrier.wait()
            if self.rank == 0 and self.step % 20 == 0:
                m, wall = self.meta, time.time() - t0
                print(f"{time.strftime('%H:%M:%S')} step {self.step} tokens {self.tokens / 1e6:.3f}M stage {self.data.stage} "
                      f"loss {float(m[:, 0].mean()):.4f} norm {norm:.2f} lr {rate(self.plan, self.step, self.tokens):.2e} load {float(m[:, 2].max()):.2f}/"
                      f"{float(m[:, 3].min()):.2f} tok/s {(self.tokens - n0) / wall:.0f} cpu {(time.process_time() - cpu0) / wall:.2f}", flush=True)
                t0, n0, cpu0 = time.time(), self.tokens, time.process_time()
            if what:
                self.save()
                saved_at = time.time()
            if what == 2:
                return


def work(rank, args, shared):
    own_session(args.nice)
    Worker(rank, args, shared).run()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--dir", required=True, help="folder of data and checkpoints")
    ap.add_argument("--plan", required=True)
    ap.add_argument("--vocab", type=int, default=4096)
    ap.add_argument("--layers", type=int, default=8, help="of a new model; see grow.py")
    ap.add_argument("--dense", action="store_true", help="a dense model of equal active size")
    ap.add_argument("--workers", type=int, default=2)
    ap.add_argument("--batch", type=int, default=2048, help="tokens of one step, all workers together")
    ap.add_argument("--steps", type=int, default=0, help="stop after this step (0: only at the plan's end)")
    ap.add_argument("--save-every", type=float, default=300)
    ap.add_argument("--nice", type=int, default=10)
    ap.add_argument("--compile", action="store_true")
    ap.add_argument("--seed", type=int, default=1)
    args = ap.parse_args()
    torch.set_num_threads(1)
    last = f"{args.dir}/last.pt"
    if os.path.exists(last):
        saved = torch.load(last)
    else:
        cfg = Config(vocab=args.vocab, layers=args.layers, experts=0 if args.dense else 32)
        params = init_params(cfg, args.seed)
        plant(cfg, params, args.seed)
        saved = {"config": cfg.dict(), "params": params, "optim": {}, "step": 0, "tokens": 0, "position": (0, 0, 0)}
    params = {n: p.share_memory_() for n, p in saved.pop("params").items()}
    grads = [{n: torch.zeros_like(p).share_memory_() for n, p in params.items()} for _ in range(args.workers)]
    meta = torch.zeros(args.workers, 5).share_memory_()
    ctx = mp.get_context("fork")
    stop = ctx.Event()
    shared = (params, grads, meta, ctx.Barrier(args.workers), stop, saved)
    procs = [ctx.Process(target=work, args=(r, args, shared)) for r in range(args.workers)]
    for p in procs:
        p.start()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    for p in procs:
        p.join()


if __name__ == "__main__":
    main()
