"""Which stage of a request's life a sample of a profile belongs to."""

import re
from collections import Counter

# What the kernel did, by the system call's name; where the profiler sees no kernel frames, by that of the function of libc.
CALLS = [
    ("kernel: read", r"p?readv?(64)?|recv|recvfrom|recvm?msg"),
    ("kernel: write", r"p?writev?(64)?|send|sendto|sendm?msg|sendfile(64)?|splice"),
    ("kernel: poll", r"epoll_\w+|poll|io_uring_\w+|timerfd_\w+"),
    ("kernel: connections", r"accept4?|connect|close|shutdown|socket|[gs]etsockopt|bind|getsockname"),
]
KERNEL_ENTRY = re.compile(r"^(?:__x64_|__arm64_|__do_|__se_)?k?_*sys_(\w+)_\[k\]$")
LIBC = re.compile(r"^(?:__)?(?:libc_)?(\w+)$")

# The innermost frame that one of these is the beginning of decides, so that what Netty or the JDK does for a stage is its.
STAGES = [
    ("parse", r"dev/gateway/protocol/http1/(HeadParser|RequestParser|ResponseParser|FieldLines|HeadCollector|RequestInput|ResponseInput|"
              r"StatusLine|Framing|BodyReader|ChunkDecoder|HeadLimits)|dev/gateway/protocol/http2/(HeadMapper|HeadersDecoder|HeadersAdapter|"
              r"ReceivedHeaders|FrameReader)|io/netty/handler/codec/http2/.*(Decoder|Reader)"),
    ("write", r"dev/gateway/protocol/http1/(HeadWriter|ServerOutput|OutgoingStream)|dev/gateway/protocol/http2/(FrameWriter|SentHeaders|PendingData)|"
              r"io/netty/handler/codec/http2/.*(Encoder|Writer|FlowController)|"
              r"io/netty/channel/ChannelOutboundBuffer|.*\.(doWrite\w*|flush0?|writeAndFlush\w*|writevAddresses)$"),
    ("fields", r"dev/gateway/message/"),
    ("route", r"dev/gateway/exchange/route/(Route|HostRoutes|ByteTable|Candidate|QueryMatcher|RegexPath|Miss|Weighted)"),
    ("filters", r"dev/gateway/(filter|connect)/|dev/gateway/exchange/(FilterChain|request/RequestIds)"),
    ("metrics and log", r"dev/gateway/observe/|dev/gateway/net/ByteCounter\.count|dev/gateway/exchange/route/Recorded"),
    ("timers", r"dev/gateway/time/|dev/gateway/exchange/Deadlines|io/netty/util/concurrent/(Scheduled|.*ScheduledFuture)"),
    ("pool", r"dev/gateway/upstream/"),
    ("exchange", r"dev/gateway/exchange/"),
    ("TLS", r"io/netty/handler/ssl/|io/netty/internal/tcnative/|.*(SSL_|EVP_|bssl::|aes_|gcm_)"),
    ("protocol", r"dev/gateway/(protocol|listener)/"),
    ("buffers", r"io/netty/buffer/"),
    ("event loop", r"io/netty/|dev/gateway/net/"),
]
CALLS = [(stage, re.compile(pattern)) for stage, pattern in CALLS]
STAGES = [(stage, re.compile(pattern)) for stage, pattern in STAGES]
COLLECTOR = re.compile(r"GC|Collect|Scavenge|Serial|G1|VM_")
COMPILER = re.compile(r"Compile|C1|C2|CodeCache|Sweeper")


def call_named(name):
    return next((stage for stage, pattern in CALLS if pattern.fullmatch(name)), None)


def kernel(frames):
    """The stage of a stack that ends in the kernel, or in a function of libc that enters it; else None."""
    if frames and frames[-1].endswith("_[k]"):
        entries = (KERNEL_ENTRY.match(frame) for frame in frames)
        entry = next((e[1] for e in entries if e), None)
        if entry is None:
            entry = next((LIBC.match(f)[1] for f in reversed(frames) if LIBC.match(f) and not f.endswith("_[k]")), "")
        return call_named(entry) or "kernel: other"
    leaf = LIBC.match(frames[-1]) if frames else None
    return call_named(leaf[1]) if leaf else None


def stage(stack):
    frames = stack.split(";")
    thread, frames = frames[0], frames[1:]
    entered = kernel(frames)
    if entered:
        return entered
    for frame in reversed(frames):
        for name, pattern in STAGES:
            if pattern.match(frame):
                return name
    if "Compiler" in thread or any(COMPILER.search(f) for f in frames[:8]):
        return "JVM: compiler"
    if any(COLLECTOR.search(f) for f in frames):
        return "JVM: collector"
    return "JVM: other"


def grouped(collapsed, key=stage):
    """Samples by what key makes of their stack, of a file of collapsed stacks."""
    counts = Counter()
    for line in open(collapsed):
        stack, _, count = line.rpartition(" ")
        if stack:
            counts[key(stack)] += int(count)
    return counts


def site(stack):
    """Of a sample of allocation: what was allocated, and by which of our methods."""
    frames = stack.split(";")
    ours = next((f for f in reversed(frames) if f.startswith("dev/gateway/")), None)
    nearest = next((f for f in reversed(frames[:-1]) if "/" in f), "?")
    short = lambda f: f.rsplit("/", 1)[-1]
    by = short(nearest) if ours in (None, nearest) else f"{short(ours)} … {short(nearest)}"
    return f"{short(frames[-1]).removesuffix('_[i]').removesuffix('_[k]')} by {by}"
