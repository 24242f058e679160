package dev.gateway.exchange;

import dev.gateway.message.RequestHead;
import dev.gateway.observe.ExchangeObserver;
import dev.gateway.observe.ExchangeRecord;
import dev.gateway.observe.ExchangeRecord.Kind;
import dev.gateway.stream.Failure;
import dev.gateway.stream.RequestHandler;
import dev.gateway.stream.ServerStream;
import dev.gateway.stream.StreamEvents;
import dev.gateway.time.TimerWheel;
import dev.gateway.upstream.StreamOpener;
import io.netty.util.AsciiString;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The front door of one event loop: makes an {@link Exchange} of each request. Confined to its loop, as is all it is
 * made with but the settings.
 */
public final class ExchangeHandler implements RequestHandler {
    private static final AsciiString WEBSOCKET = new AsciiString("websocket");

    final StreamOpener opener;
    final TimerWheel wheel;
    final ExchangeObserver observer;
    final LocalReply replies = new LocalReply();
    final RequestIds requestIds = new RequestIds();
    private final Supplier<? extends ExchangeSettings> settings;
    private int active;

    /**
     * Makes the handler of an event loop.
     *
     * @param settings the current generation's; asked once per request
     */
    public ExchangeHandler(
            StreamOpener opener,
            TimerWheel wheel,
            Supplier<? extends ExchangeSettings> settings,
            ExchangeObserver observer) {
        this.opener = opener;
        this.wheel = wheel;
        this.settings = settings;
        this.observer = observer;
    }

    @Override
    public StreamEvents onRequest(ServerStream stream, RequestHead head, boolean last) {
        active++;
        Exchange exchange = new Exchange(this, settings.get(), stream, head);
        exchange.begin(last);
        return exchange;
    }

    @Override
    public void onRefused(ServerStream stream, @Nullable RequestHead head, Failure failure) {
        active++;
        ExchangeRecord record = record(stream, head);
        observer.onBegun(record);
        record.cause = failure.cause();
        record.detail = failure.detail();
        record.status = failure.status();
        record.sentBytes = replies.send(stream, head, failure, settings.get(), LocalReply.About.NOTHING);
        record.endNanos = wheel.nanoTime();
        completed(record);
    }

    /** Makes the record of a request that has just come. */
    ExchangeRecord record(ServerStream stream, @Nullable RequestHead head) {
        ExchangeRecord record = new ExchangeRecord(stream.connection());
        record.startNanos = wheel.nanoTime();
        record.startMillis = System.currentTimeMillis();
        if (head != null) {
            record.kind = kind(head);
            record.method = head.routedMethod();
            record.scheme = head.scheme();
            record.authority = head.authority();
            record.path = head.path();
            record.fields = head.fields();
        }
        return record;
    }

    private static Kind kind(RequestHead head) {
        AsciiString protocol = head.protocol();
        if (protocol == null) {
            return head.isConnect() ? Kind.TUNNEL : Kind.HTTP;
        }
        return protocol.contentEqualsIgnoreCase(WEBSOCKET) ? Kind.WEBSOCKET : Kind.UPGRADE;
    }

    void completed(ExchangeRecord record) {
        active--;
        observer.onCompleted(record);
    }

    /** Returns how many exchanges this loop carries. */
    public int active() {
        return active;
    }
}
