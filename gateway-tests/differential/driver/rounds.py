"""A round with one peer: many cases, some at a time, and what is printed of them."""

import asyncio
import collections
import itertools
import time

from . import clients, downward, rig, servers, upward

LANES = 12
SMALLER = 60  # seconds that it may take to make a case smaller

SERVERS = {f"{kind.name}{'-http2' if of is upward.Http2 else ''}": (kind, of) for of in (upward.Http1,
upward.Http2) for kind in servers.ALL.values()}
NAMES = [*SERVERS, *clients.ALL]


async def play(machine, options):
    """Plays the rounds of all peers, one after the other; returns how many disagreements there were, and how many peers are lacking."""
    rounds, started, lacking = [], {}, 0
    for name in options.peer:
        try:
            rounds.append(await prepare(name, machine, options, started))
        except rig.Lacking as e:
            print(f"lacking: {name}: {e}", flush=True)
            lacking += 1
    if not rounds:
        return 0, lacking
    gateway = await asyncio.to_thread(rig.start_gateway, machine, options, [lane for each in rounds for lane in each.lanes])
    faults = 0
    try:
        for each in rounds:
            faults += await each.play(options.seconds / len(rounds))
            if gateway.poll() is not None:
                raise rig.Broken(f"the gateway is gone:\n{machine.said('gateway')[-2000:]}")
    finally:
        for each in rounds:
            await each.direction.stop()
    return faults, lacking


async def prepare(name, machine, options, started):
    """Starts a peer, unless it is a server that has been started, and returns its round."""
    if name in SERVERS:
        kind, of = SERVERS[name]
        if kind not in started:
            server = kind(machine, options.java)
            await server.start()
            started[kind] = server
        server = started[kind]
        lanes = [upward.Lane(f"{name}-{i}", server) for i in range(LANES)]
        for lane in lanes:
            await lane.start()
        return Round(name, lanes, of(), options)
    client, upstream = clients.ALL[name](machine, options.java), downward.Upstream()
    await client.start()
    await upstream.start()
    lanes = [downward.Lane(f"{name}-{i}", upstream, client.http2) for i in range(LANES)]
    return Round(name, lanes, downward.Downward(client, upstream), options)


class Round:
    """Cases by number, shared by the lanes. The direction makes, plays and shows them."""

    def __init__(self, name, lanes, direction, options):
        self.name, self.lanes, self.direction, self.options = name, lanes, direction, options
        self.tally = collections.Counter()
        self.faults = 0
        self.played = 0
        self.ends = 0.0
        self.numbers = iter([options.case] if options.case is not None else itertools.count() if not options.cases else range(options.cases))

    def goes_on(self):
        return self.faults < self.options.faults and (self.options.cases or self.options.case is not None or time.monotonic() < self.ends)

    async def play(self, seconds):
        """Plays cases for some seconds, or as many as the options say; returns the number of disagreements."""
        began = time.monotonic()
        self.ends = began + seconds
        await asyncio.gather(*map(self.work, self.lanes))
        print(f"{self.name}: {self.played} cases, {self.faults} disagreements, in {time.monotonic() - began:.0f} s; "
              + ", ".join(f"{count} {what}" for what, count in sorted(self.tally.items())), flush=True)
        if not self.tally["forwarded"] and self.options.case is None:
            raise rig.Broken(f"{self.name}: nothing was forwarded, so that this says nothing")
        return self.faults

    async def work(self, lane):
        before = None
        while self.goes_on():
            numbers = list(itertools.islice(self.numbers, self.direction.batch))
            if not numbers:
                return
            cases = [self.direction.make(self.options.seed, number) for number in numbers]
            for number, case, played in zip(numbers, cases, await self.direction.play(lane, cases)):
                self.played += 1
                self.tally.update(played.tally)
                if played.faults and self.goes_on():
                    self.faults += 1
                    await self.tell(lane, number, case, before, played.faults)
                before = case

    async def tell(self, lane, number, case, before, faults):
        lines = [f"{self.name}: seed {self.options.seed}, case {number}: {kind}: {what}" for kind, what in faults[:3]]
        kinds = {kind for kind, _ in faults}
        lane.reset()
        if found := await self.shows(lane, case, kinds):
            small, found = await self.shrink(lane, case, kinds, found)
            lines += [f"  smaller: {self.direction.show(small)}", *(f"  {kind}: {what}" for kind, what in found[:2])]
        else:
            lines += [f"  not alone; the case: {self.direction.show(case)}", f"  the one before: {before and self.direction.show(before)}"]
        print("\n".join(line[:3000] for line in lines), flush=True)

    async def shows(self, lane, case, kinds):
        """The disagreements of the same kinds that a case alone shows, or a plain one after it: what is broken off may arrive late."""
        faults = [fault for each in (case, self.direction.plain) for played in await self.direction.play(lane,
            [each]) for fault in played.faults]
        if faults:
            lane.reset()
        return [fault for fault in faults if fault[0] in kinds]

    async def shrink(self, lane, case, kinds, found):
        """Returns a smaller case that shows the same, and what it shows."""
        ends, smaller = time.monotonic() + SMALLER, True
        while smaller and time.monotonic() < ends:
            smaller = False
            for each in self.direction.smaller(case):
                if time.monotonic() > ends:
                    break
                if shown := await self.shows(lane, each, kinds):
                    case, found, smaller = each, shown, True
                    break
        return case, found
