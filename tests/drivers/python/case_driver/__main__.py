"""``python -m case_driver WAY CASE``, with a WAY of ``asyncio``, ``trio`` and ``sync``."""

import json
import os
import sys
from pathlib import Path

from .record import Record


def main() -> None:
    way, path = sys.argv[1:]
    steps = json.loads(Path(path).read_bytes())["host"]
    record = Record()
    record.watch_for_unhandled()
    if way == "sync":
        from .synchronous import Host as SyncHost

        SyncHost(record).run(steps)
    else:
        from .asynchronous import Host
        from .loops import LOOPS

        LOOPS[way](lambda loop: Host(record, loop).run(steps), record)
    record.write(Path(os.environ["CASE_OUT"]))


main()
