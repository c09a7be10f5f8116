#!/usr/bin/env python3
"""Trains a model of torchvision on random images, one process for each GPU, and tells the images in a second.

Started by torchrun, which says who takes part. Gradients are summed over all processes in each iteration, so a slow
link shows. Without CUDA it ends with an error, as a result of the processors proves nothing; --cpu asks for it.
"""

import argparse
import os
import statistics
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torchvision import models

CLASSES = 1000
PIXELS = 224


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default="resnet50", help="a name of torchvision.models")
    parser.add_argument("--batch-size", type=int, default=320, help="images of one process in an iteration")
    parser.add_argument("--bucket-size", type=float, default=25, help="MiB of gradients that are summed at once")
    parser.add_argument("--warmup-iterations", type=int, default=50)
    parser.add_argument("--measured-iterations", type=int, default=200)
    parser.add_argument("--cpu", action="store_true", help="run on the processors, over gloo")
    parser.add_argument("--world-size", type=int, help="processes that must have come; else it ends with an error")
    # torchrun knows them.
    parser.add_argument("--master-addr", help=argparse.SUPPRESS)
    parser.add_argument("--master-port", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    options = arguments()
    cuda = not options.cpu
    if cuda and not torch.cuda.is_available():
        sys.exit(
            f"PyTorch {torch.__version__} (built for CUDA {torch.version.cuda}) can use no GPU here:"
            " look at nvidia-smi, and whether the driver is new enough for that CUDA"
        )
    local = int(os.environ["LOCAL_RANK"])
    if cuda:
        torch.cuda.set_device(local)
    dist.init_process_group("nccl" if cuda else "gloo")
    world = dist.get_world_size()
    if options.world_size not in (None, world):
        sys.exit(f"{world} of {options.world_size} processes came")
    device = torch.device("cuda", local) if cuda else torch.device("cpu")

    model = models.get_model(options.model, weights=None, num_classes=CLASSES).to(device)
    model = DistributedDataParallel(
        model, device_ids=[local] if cuda else None, bucket_cap_mb=options.bucket_size
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loss_of = torch.nn.CrossEntropyLoss()
    images = torch.randn(options.batch_size, 3, PIXELS, PIXELS, device=device)
    labels = torch.randint(CLASSES, (options.batch_size,), device=device)

    seconds = []
    for iteration in range(options.warmup_iterations + options.measured_iterations):
        began = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(images), labels)
        loss.backward()
        optimizer.step()
        if cuda:
            torch.cuda.synchronize(device)
        if iteration >= options.warmup_iterations:
            seconds.append(time.perf_counter() - began)

    # The slowest process counts: the others wait for it.
    mean = torch.tensor(statistics.fmean(seconds), device=device)
    dist.all_reduce(mean, op=dist.ReduceOp.MAX)
    if dist.get_rank() == 0:
        each = options.batch_size / mean.item()
        nccl = ".".join(str(part) for part in torch.cuda.nccl.version()) if cuda else ""
        where = f"{torch.cuda.get_device_name(device)} with NCCL {nccl}" if cuda else "CPU"
        print(
            f"{options.model} on {world} x {where}: {each * world:.1f} images/s, {each:.1f} each; "
            f"an iteration takes {1000 * mean.item():.1f} ms, at most {1000 * max(seconds):.1f} ms; loss {loss.item():.3f}"
        )
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
