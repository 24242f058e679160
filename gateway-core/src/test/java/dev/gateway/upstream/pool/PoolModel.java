package dev.gateway.upstream.pool;

import dev.gateway.config.upstream.UpstreamConfig.Protocol;
import dev.gateway.net.dns.Resolver;
import dev.gateway.net.transport.Descriptors;
import dev.gateway.net.transport.TestDescriptors;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RetrySafety;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.Endpoint;
import dev.gateway.upstream.EndpointSpec;
import dev.gateway.upstream.Health;
import dev.gateway.upstream.Host;
import dev.gateway.upstream.OutlierDetection;
import dev.gateway.upstream.Upstream;
import dev.gateway.upstream.balancer.RoundRobin;
import dev.gateway.upstream.dial.UpstreamSettings;
import dev.gateway.upstream.dial.UpstreamValues;
import dev.gateway.upstream.stream.StreamKind;
import io.netty.buffer.ByteBuf;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One random schedule of all that can happen to the pools of a few event loops: requests come and are given up, connections
 * are made or not, answer or break, time passes, endpoints come and go, upstreams are replaced. Everything runs in one thread,
 * in virtual time, and follows from the seed. {@link PoolInvariants} are checked after each step.
 */
final class PoolModel implements ModelRequest.Owner {
    private static final int STEPS = 70;
    private static final int MOST_UNFINISHED = 24;
    private static final int MOST_UPSTREAMS = 3;
    private static final int ENDPOINTS = 5;
    private static final int ATTEMPTS = 3;
    private static final int MOST_TURNS = 120; // of half a second, for those who wait one after the other
    private static final int BUDGET_PERCENT = 20;
    private static final OutlierDetection OUTLIERS =
            new OutlierDetection(OutlierDetection.Counts.ANY_FAILURE, 2, 300, 1_000, 60);

    final UpstreamSettings settings;
    final boolean named; // requests name their endpoints
    final boolean http2;
    final List<ModelLoop> loops = new ArrayList<>();
    final List<LoopPools> perLoop = new ArrayList<>();
    final List<ModelUpstream> upstreams = new ArrayList<>(); // the last one is used by new requests
    final Set<ModelRequest> unfinished = new LinkedHashSet<>();
    private int queued; // how many requests have begun to wait, or have moved
    final ModelNetwork network;
    final Set<ModelSocket> sockets;
    final List<String> violations = new ArrayList<>();
    final Descriptors descriptors;
    private final Random random;
    private final Pools pools;
    private final List<ModelUpstream> current = new ArrayList<>(); // of each loop
    private final ModelRetries retries;
    private final PoolInvariants invariants = new PoolInvariants(this);
    private final List<String> history = new ArrayList<>();
    private final boolean ejects;
    private int requests;
    private boolean ending; // nothing new begins
    private long nanos = 1_000_000_000;

    PoolModel(long seed, Resolver resolver) {
        random = new Random(seed);
        int kind = random.nextInt(10);
        named = kind == 9;
        http2 = kind >= 5 && kind < 9;
        ejects = random.nextBoolean();
        descriptors =
                random.nextInt(5) == 0 ? TestDescriptors.upstreams(4 + random.nextInt(5)) : TestDescriptors.unlimited();
        settings = UpstreamValues.builder()
                .protocol(http2 ? Protocol.H2C : Protocol.HTTP1)
                .maxConnections(one(0, 1, 2, 3, 4, 6))
                .maxPendingRequests(one(0, 0, 1, 2, 5))
                .maxRequests(one(0, 0, 0, 3, 5, 10))
                .connectMillis(one(0, 300, 600, 600))
                .poolAcquireMillis(one(0, 200, 500, 500))
                .idleMillis(one(0, 300, 1_000))
                .maxLifetimeMillis(one(0, 0, 700))
                .build();
        retries = new ModelRetries(BUDGET_PERCENT, random.nextInt(3));
        network = new ModelNetwork(descriptors, () -> chance(3), invariants::onBegun, this::note);
        sockets = network.sockets;
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            ModelLoop loop = new ModelLoop(() -> nanos);
            loops.add(loop);
            perLoop.add(new LoopPools(
                    network,
                    resolver,
                    loop,
                    new TimerWheel(loop, () -> nanos),
                    bound -> (long) (random.nextDouble() * bound),
                    Account.UNLIMITED));
        }
        pools = new Pools(
                perLoop,
                (upstream, loop) -> upstreams.get(upstreams.size() - 1).gauges.get(loop));
    }

    private int one(int... of) {
        return of[random.nextInt(of.length)];
    }

    private <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    private boolean chance(int percent) {
        return random.nextInt(100) < percent;
    }

    long now() {
        return nanos;
    }

    /** Runs the schedule; throws if something is not as it must be. */
    void run() throws Exception {
        note(settings.protocol() + ", " + settings.limits() + ", connectMillis=" + settings.connectMillis()
                + ", poolAcquireMillis=" + settings.poolAcquireMillis() + ", idleMillis=" + settings.idleMillis()
                + ", maxLifetimeMillis=" + settings.maxLifetimeMillis() + ", " + loops.size() + " loops"
                + (descriptors.upstreams().max() < 100 ? ", few descriptors" : ""));
        replaceUpstream();
        for (int i = 0; i < STEPS; i++) {
            step();
            pause();
        }
        finish();
    }

    /** Returns the events of the run, one line each, for the message of a failure. */
    String history() {
        return String.join("\n", history);
    }

    private void note(String event) {
        history.add((nanos - 1_000_000_000) / 1_000_000 + " ms: " + event);
    }

    @Override
    public void violation(String what) {
        violations.add(what);
    }

    /** Lets loops hear of each other, some sooner than others, and looks whether all is well. */
    private void pause() {
        for (ModelLoop loop : loops) {
            while (chance(60)) {
                loop.takeOne();
            }
        }
        invariants.check();
        if (chance(40)) {
            settle();
        }
    }

    /** Lets all loops do what they have to do at this time. */
    private void settle() {
        boolean busy = true;
        while (busy) {
            busy = false;
            for (ModelLoop loop : loops) {
                while (loop.takeOne() || loop.runDue()) {
                    busy = true;
                }
            }
        }
        invariants.checkAtRest();
    }

    // What happens

    private void step() throws Exception {
        int event = random.nextInt(100);
        if (event < 26) {
            ask();
        } else if (event < 42) {
            connect();
        } else if (event < 64) {
            answer();
        } else if (event < 69) {
            breakOff();
        } else if (event < 76) {
            giveUp();
        } else if (event < 87) {
            pass(one(10, 20, 50, 50, 100, 100, 200, 400));
        } else if (event < 91) {
            update();
        } else if (event < 94) {
            drain();
        } else if (event < 96) {
            endFormer();
        } else if (event < 98) {
            replaceUpstream();
        } else {
            removeUpstream();
        }
    }

    private void ask() {
        int loop = random.nextInt(loops.size());
        if (unfinished.size() < MOST_UNFINISHED) {
            ModelUpstream last = current.get(loop);
            ModelUpstream of = chance(95)
                    ? last
                    : one(upstreams.stream()
                            .filter(each -> each.number <= last.number)
                            .toList());
            loops.get(loop).run(() -> ask(loop, of, 1));
        }
    }

    /** Sends a request, on its loop, maybe within a call of the code under test. */
    private void ask(int loop, ModelUpstream of, int attempt) {
        StreamKind kind = chance(75)
                ? StreamKind.EXCHANGE
                : one(List.of(
                        StreamKind.CHECK,
                        StreamKind.CONNECTION_CHECK,
                        StreamKind.TUNNEL,
                        StreamKind.TUNNEL,
                        StreamKind.UPGRADE));
        Endpoint endpoint = endpoint(of, kind);
        if (endpoint == null || ending) {
            return;
        }
        ModelRequest request = new ModelRequest(++requests, of, loop, kind, attempt, endpoint, nanos, this);
        note("ask " + request);
        unfinished.add(request);
        if (attempt == 1) {
            retries.onRequest(of.upstream.retryBudget(), nanos);
        }
        if (kind == StreamKind.CHECK) {
            of.requests.allowOneBeyond();
            of.odd.add(endpoint.host());
        }
        request.ask(pools.opener(loop));
        forgetFinished();
    }

    private @Nullable Endpoint endpoint(ModelUpstream of, StreamKind kind) {
        if (named) {
            boolean isCheck = kind == StreamKind.CHECK || kind == StreamKind.CONNECTION_CHECK;
            return isCheck ? null : new Endpoint(Endpoint.NAMED_INDEX, host(1 + random.nextInt(3)), 80, 1);
        }
        List<Host> chosen = of.chosen();
        if (!chosen.isEmpty() && chance(85)) {
            return one(chosen).endpoint();
        }
        if (!of.former.isEmpty() && chance(30)) {
            return one(of.former); // chosen a moment before it has gone
        }
        return of.upstream.endpoints().isEmpty() ? null : one(of.upstream.endpoints());
    }

    private static String host(int number) {
        return "192.0.2." + number;
    }

    private void connect() {
        List<ModelSocket> connecting =
                sockets.stream().filter(ModelSocket::isConnecting).toList();
        if (!connecting.isEmpty()) {
            connect(one(connecting), chance(80));
        }
    }

    private void connect(ModelSocket socket, boolean succeeds) {
        note((succeeds ? "connect " : "refuse ") + socket.address);
        socket.loop.run(succeeds ? socket::connect : socket::refuse);
    }

    /** A server sends something. */
    private void answer() {
        List<ModelSocket> able = sockets.stream()
                .filter(socket -> socket.isActive()
                        && (socket.server.isUnready() || !socket.server.asked().isEmpty()))
                .toList();
        if (able.isEmpty() || chance(5)) {
            say();
        } else {
            answer(one(able));
        }
    }

    private void answer(ModelSocket socket) {
        ModelServer server = socket.server;
        if (server.isUnready()) {
            receive(socket, "settings", server.settings(one(1, 1, 2, 3, 100)));
            return;
        }
        int stream = one(server.asked());
        boolean headSent = server.isHeadSent(stream);
        if (!headSent && chance(15)) {
            receive(socket, "head", server.head(stream, 200));
        } else if (server.isHttp2() && chance(10)) {
            int code = headSent || chance(50) ? ModelServer.CANCEL : ModelServer.REFUSED_STREAM;
            receive(socket, "reset stream " + stream + " by " + code, server.resetStream(stream, code));
        } else {
            String fields = one(List.of("", "", "", "", "connection: close\r\n", "keep-alive: timeout=1\r\n"));
            receive(socket, "answer " + stream, server.answer(stream, chance(85) ? 200 : 503, fields));
        }
    }

    /** A server says something that it was not asked. */
    private void say() {
        List<ModelSocket> able = sockets.stream()
                .filter(socket -> socket.isActive() && (socket.server.isHttp1() || socket.server.isHttp2()))
                .toList();
        if (able.isEmpty()) {
            return;
        }
        ModelSocket socket = one(able);
        ModelServer server = socket.server;
        if (server.isHttp1()) {
            receive(socket, "unsolicited answer", server.unsolicited());
        } else if (server.isUnready() || chance(50)) {
            receive(socket, "settings", server.settings(one(0, 1, 2, 3, 100)));
        } else {
            int last = server.asked().isEmpty() || chance(50) ? Integer.MAX_VALUE : one(server.asked());
            receive(socket, "going away after " + last, server.goAway(last));
        }
    }

    private void receive(ModelSocket socket, String what, ByteBuf bytes) {
        note(socket.address + " sends " + what);
        socket.loop.run(() -> socket.receive(bytes));
    }

    private void breakOff() {
        List<ModelSocket> active =
                sockets.stream().filter(ModelSocket::isActive).toList();
        if (!active.isEmpty()) {
            ModelSocket socket = one(active);
            boolean fin = chance(60);
            note(socket.address + (fin ? " ends" : " resets") + " its connection");
            socket.loop.run(fin ? socket::fin : socket::reset);
        }
    }

    private void giveUp() {
        if (!unfinished.isEmpty()) {
            giveUp(one(List.copyOf(unfinished)));
        }
    }

    private void giveUp(ModelRequest request) {
        boolean late = chance(30);
        note("give up " + request + (late ? ", as it took too long" : ""));
        loops.get(request.loop).run(() -> request.giveUp(late));
        forgetFinished();
    }

    private void pass(long millis) {
        nanos += millis * 1_000_000;
        note("so late is it");
        for (ModelLoop loop : loops) {
            if (chance(80)) {
                loop.runDue();
            }
        }
        if (chance(60)) {
            upstreams.forEach(each -> each.upstream.health().review());
        }
    }

    private void update() {
        if (named) {
            return;
        }
        List<EndpointSpec> specs = new ArrayList<>();
        for (int i = 1; i <= ENDPOINTS; i++) {
            if (chance(50)) {
                specs.add(new EndpointSpec(host(i), 80, 1 + random.nextInt(3), host(i), null, EndpointSpec.STATIC));
            }
        }
        if (specs.isEmpty() && chance(70)) {
            return; // there is something most of the time
        }
        ModelUpstream updated = upstreams.get(upstreams.size() - 1);
        updated.update(specs);
        note("update " + updated + " to " + updated.upstream.hosts());
    }

    private void drain() {
        ModelUpstream of = one(upstreams);
        if (!of.upstream.hosts().isEmpty()) {
            String endpoint = one(of.upstream.hosts()).toString();
            boolean drain = !of.drained.contains(endpoint);
            note((drain ? "drain " : "undrain ") + endpoint + " of " + of);
            of.upstream.health().drain(endpoint, drain);
            pools.drain(of.upstream, endpoint, drain);
            of.odd.add(endpoint.substring(0, endpoint.indexOf(':')));
            if (drain) {
                of.drained.add(endpoint);
                of.toldDrained.add(endpoint);
            } else {
                of.drained.remove(endpoint);
                of.toldDrained.remove(endpoint);
            }
        }
    }

    /** Those that have gone had time enough to finish. */
    private void endFormer() {
        ModelUpstream of = one(upstreams);
        if (!of.toEnd.isEmpty()) {
            note("end " + of.toEnd + " of " + of);
            pools.end(of.upstream, of.toEnd);
            of.toEnd.clear();
        }
    }

    /** A new generation of the configuration has changed the upstream. */
    private void replaceUpstream() throws Exception {
        if (upstreams.size() == MOST_UPSTREAMS) {
            return;
        }
        Health health = new Health(List.of(), RoundRobin::new, ejects ? OUTLIERS : null, null, () -> nanos);
        int number = upstreams.isEmpty() ? 1 : upstreams.get(upstreams.size() - 1).number + 1;
        ModelUpstream next = new ModelUpstream(number, new Upstream("app", health, settings), loops.size());
        ModelUpstream before = upstreams.isEmpty() ? null : upstreams.get(upstreams.size() - 1);
        upstreams.add(next);
        if (before != null) {
            next.update(before.wanted);
            next.upstream.health().inherit(before.upstream.health());
            next.drained.addAll(before.drained);
        }
        pools.add(next.upstream);
        note("replace by " + next);
        for (int i = 0; i < loops.size(); i++) {
            int loop = i;
            if (before == null) {
                current.add(next);
            } else {
                loops.get(i).execute(() -> current.set(loop, next));
            }
        }
        if (before == null) {
            settle();
            update();
        } else {
            before.retired = true;
            pools.retire(before.upstream);
        }
    }

    /** One that was replaced has had time enough. */
    private void removeUpstream() {
        if (upstreams.size() < 2) {
            return;
        }
        ModelUpstream first = upstreams.get(0);
        if (current.contains(first)) {
            return;
        }
        if (!first.cut && chance(40)) {
            List<Endpoint> kept = upstreams.get(1).upstream.endpoints();
            note("keep only " + kept + " of " + first);
            first.cut = true;
            first.kept = kept;
            pools.keepOnly(first.upstream, kept);
        } else {
            note("remove " + first);
            remove(first);
        }
    }

    private void remove(ModelUpstream removed) {
        removed.removed = true;
        upstreams.remove(removed);
        invariants.onRemoved(removed);
        pools.remove(removed.upstream);
    }

    // What becomes of requests

    @Override
    public void onOpened(ModelRequest request) {
        note("opened " + request);
        invariants.checkTurn(request);
        if (chance(4)) {
            request.giveUp(false);
        }
        if (chance(4) && !ending) { // both were of one client that has gone
            unfinished.stream()
                    .filter(each -> each.isWaiting() && each.loop == request.loop)
                    .findFirst()
                    .ifPresent(each -> each.giveUp(false));
        }
    }

    @Override
    public int nextTurn() {
        return ++queued;
    }

    @Override
    public void onMovedLater(ModelRequest request) {
        note("moved " + request);
        request.upstream.requests.allowOneBeyond();
    }

    @Override
    public void onAnswered(ModelRequest request, int status) {
        note("answered " + request);
        if (request.kind == StreamKind.CHECK) {
            request.upstream.checksEndedNanos.add(nanos);
        }
        if (!request.upstream.removed && request.kind == StreamKind.EXCHANGE) {
            Health health = request.upstream.upstream.health();
            if (!health.onAnswered(request.endpoint(), status)) {
                health.onServed(request.endpoint());
            }
        }
        if (chance(20) && unfinished.size() < MOST_UNFINISHED) {
            ask(request.loop, current.get(request.loop), 1); // the same client sends another
        }
    }

    @Override
    public void onFailed(ModelRequest request, Failure failure, boolean wasOpen) {
        note(request + " failed: " + failure.cause() + " " + failure.detail());
        invariants.checkFailure(request, failure);
        if (wasOpen && !request.upstream.removed && request.kind == StreamKind.EXCHANGE) {
            request.upstream.upstream.health().onUnanswered(request.endpoint(), 0, 0);
        }
        boolean again = failure.retry() == RetrySafety.ALWAYS && request.attempt < ATTEMPTS && !ending;
        if (again && tryTakeRetry(request.upstream)) {
            ask(request.loop, current.get(request.loop), request.attempt + 1);
        }
    }

    private boolean tryTakeRetry(ModelUpstream of) {
        String broken = retries.tryTake(of.upstream.retryBudget(), nanos);
        if (broken != null) {
            violation(broken);
        }
        return retries.isTaken();
    }

    void forgetFinished() {
        unfinished.removeIf(each -> !each.isWaiting() && !each.isOpen());
    }

    // The end

    private void finish() {
        ending = true;
        note("the end begins");
        while (upstreams.size() > 1 && chance(50)) {
            if (current.contains(upstreams.get(0))) {
                settle();
            }
            remove(upstreams.get(0));
        }
        settle();
        if (settings.poolAcquireMillis() > 0 && chance(40)) {
            waitForAll();
        } else {
            serveAll();
        }
        for (ModelRequest each : List.copyOf(unfinished)) {
            giveUp(each);
        }
        settle();
        invariants.checkUnused();
        refuseAll();
        resetAll();
        returnAll();
        invariants.checkPermits();
        for (ModelUpstream each : List.copyOf(upstreams)) {
            remove(each);
        }
        settle();
        refuseAll();
        invariants.checkNothingLeft();
    }

    /** Servers do all that they are asked, and nobody is forgotten. */
    private void serveAll() {
        note("all are served");
        // Who could be closed right now is used after a moment, and who has refused a stream after a second.
        List<Integer> pauses = http2 ? List.of(20, 2_000) : List.of(20);
        int paused = 0;
        while (unfinished.stream().anyMatch(PoolModel::isToBeServed) && paused <= pauses.size()) {
            if (serveOnce()) {
                paused = 0;
            } else if (paused++ < pauses.size()) {
                pass(pauses.get(paused - 1));
            }
            settle();
        }
        for (ModelRequest each : unfinished) {
            if (isToBeServed(each)) {
                violation(each + " is forgotten");
            }
        }
    }

    /** Tunnels need not end; who waits for an endpoint that has gone, while no other is in service, has to go on waiting. */
    private static boolean isToBeServed(ModelRequest request) {
        boolean hasOther = !request.upstream.chosen().isEmpty() || request.upstream.former.isEmpty();
        return request.isWaiting() ? hasOther : request.kind != StreamKind.TUNNEL;
    }

    private boolean serveOnce() {
        for (ModelSocket socket : List.copyOf(sockets)) {
            if (socket.isConnecting()) {
                connect(socket, true);
                return true;
            }
            ModelServer server = socket.server;
            if (socket.isActive() && server.isUnready()) {
                receive(socket, "settings", server.settings(100));
                return true;
            }
            if (socket.isActive() && !server.asked().isEmpty()) {
                int stream = server.asked().get(0);
                receive(socket, "answer " + stream, server.answer(stream, 200, ""));
                return true;
            }
        }
        for (ModelRequest each : unfinished) {
            if (each.kind == StreamKind.TUNNEL && each.isOpen()) {
                giveUp(each);
                return true;
            }
        }
        return false;
    }

    /** No server does anything any more, and everybody who waits hears of it in time. */
    private void waitForAll() {
        note("all servers are silent");
        for (int i = 0; i < MOST_TURNS && unfinished.stream().anyMatch(ModelRequest::isWaiting); i++) {
            pass(500);
            settle();
            if (settings.connectMillis() == 0) {
                refuseAll(); // in the time that the kernel gives them
            }
        }
        if (settings.connectMillis() == 0 && descriptors.upstreams().isAwaited()) {
            return; // nothing limits the wait for a file descriptor then, and those who have them may keep them
        }
        for (ModelRequest each : unfinished) {
            if (each.isWaiting() && each.kind != StreamKind.CHECK && each.kind != StreamKind.CONNECTION_CHECK) {
                violation(each + " waits for ever");
            }
        }
    }

    /** Whatever is on its way fails, so that nothing more happens. */
    private void refuseAll() {
        settle();
        for (ModelSocket next = anyConnecting(); next != null; next = anyConnecting()) {
            connect(next, false);
            settle();
        }
        for (ModelSocket socket : List.copyOf(sockets)) {
            if (socket.isActive() && socket.server.isUnready()) {
                socket.loop.run(socket::reset);
                settle();
            }
        }
    }

    private @Nullable ModelSocket anyConnecting() {
        return sockets.stream().filter(ModelSocket::isConnecting).findFirst().orElse(null);
    }

    private void resetAll() {
        for (ModelSocket socket : List.copyOf(sockets)) {
            socket.loop.run(socket::reset);
            settle();
        }
    }

    /** Puts all endpoints into service again. */
    private void returnAll() {
        for (ModelUpstream of : upstreams) {
            for (Host host : of.upstream.hosts()) {
                of.upstream.health().drain(host.toString(), false);
                pools.drain(of.upstream, host.toString(), false);
                of.toldDrained.clear();
            }
        }
        pass(2 * OUTLIERS.config().maxEjectionTime().toMillis());
        upstreams.forEach(each -> each.upstream.health().review());
        settle();
    }
}
