#!/usr/bin/env python3
"""Forwards TCP connections as a network with a long way would: everything arrives later.

    scripts/delay-proxy.py MILLISECONDS ADDRESS:PORT...

MILLISECONDS is a round trip. One local port for each target: they are printed, a line each
`PORT ADDRESS:PORT`, and then it runs until it is ended.
"""

import asyncio
import sys


async def forward(reader, writer, delay):
    """What comes in goes out later, in its order, however much of it is on the way."""
    loop = asyncio.get_running_loop()
    way = asyncio.Queue()

    async def deliver():
        while True:
            due, data = await way.get()
            await asyncio.sleep(due - loop.time())
            if not data:
                break
            writer.write(data)
            await writer.drain()
        if writer.can_write_eof():
            writer.write_eof()

    delivery = asyncio.create_task(deliver())
    try:
        while True:
            data = await reader.read(1 << 16)
            way.put_nowait((loop.time() + delay, data))
            if not data:
                break
        await delivery
    except OSError:
        delivery.cancel()


async def main():
    delay = float(sys.argv[1]) / 2000
    servers = []
    for target in sys.argv[2:]:
        address, _, port = target.rpartition(":")

        async def accept(reader, writer, address=address.strip("[]"), port=int(port)):
            # The handshake of TCP is a round trip, too.
            await asyncio.sleep(2 * delay)
            try:
                far_reader, far_writer = await asyncio.open_connection(address, port)
            except OSError:
                writer.close()
                return
            await asyncio.gather(forward(reader, far_writer, delay), forward(far_reader, writer, delay))
            far_writer.close()
            writer.close()

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        servers.append(server)
        print(server.sockets[0].getsockname()[1], target, flush=True)
    await asyncio.gather(*(server.serve_forever() for server in servers))


try:
    asyncio.run(main())
except KeyboardInterrupt:
    pass
