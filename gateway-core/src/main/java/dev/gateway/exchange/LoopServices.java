package dev.gateway.exchange;

import dev.gateway.exchange.attempt.ConnectWaits;
import dev.gateway.exchange.reply.DateField;
import dev.gateway.exchange.reply.LocalReply;
import dev.gateway.exchange.request.OddNameGuard;
import dev.gateway.exchange.request.ReadingLog;
import dev.gateway.exchange.request.RequestIds;
import dev.gateway.exchange.tunnel.OpenTunnels;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.trace.Traces;
import dev.gateway.overload.LoopGate;
import dev.gateway.overload.memory.Account;
import dev.gateway.stream.ServerStream;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.stream.StreamOpener;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.LongUnaryOperator;

/** What all exchanges of one event loop share: its clock, its pools, its observer. Confined to its loop. */
final class LoopServices {
    final StreamOpener opener;
    final TimerWheel wheel;
    final ExchangeObserver observer;
    final LoopGate gate;
    final ServerStream.Pause pause; // delays the next request of a client after a refusal for lack of capacity
    final DateField date = new DateField(System::currentTimeMillis);
    final LocalReply replies = new LocalReply(date);
    final RequestIds requestIds = new RequestIds();
    final Traces traces = new Traces();
    final OddNameGuard oddNames;
    final ReadingLog readings;
    final OpenTunnels tunnels = new OpenTunnels();
    final ConnectWaits connectWaits;
    final Account mirrors; // what copies of requests hold: they do not count against their clients

    /** Returns a random number from 0 to its argument; tests replace it. */
    LongUnaryOperator jitter = most -> ThreadLocalRandom.current().nextLong(most + 1);

    private int active;

    LoopServices(StreamOpener opener, TimerWheel wheel, ExchangeObserver observer, LoopGate gate) {
        this.opener = opener;
        this.wheel = wheel;
        this.observer = observer;
        this.gate = gate;
        this.mirrors = gate.newAccount();
        this.oddNames = new OddNameGuard(wheel);
        this.readings = new ReadingLog(wheel);
        this.connectWaits = new ConnectWaits(wheel);
        this.pause = closing -> gate.refuse(wheel.nanoTime(), closing);
    }

    /** An exchange begins with this generation. */
    void begin(GenerationRef generation) {
        active++;
        generation.begin();
    }

    /** An exchange is over, and its record complete. */
    void end(ExchangeRecord record, GenerationRef generation) {
        active--;
        try {
            observer.onCompleted(record);
        } finally {
            if (record.fromProxy) {
                record.connection.account().leave();
            }
            generation.end();
        }
    }

    /** Returns the number of exchanges in progress. */
    int active() {
        return active;
    }
}
