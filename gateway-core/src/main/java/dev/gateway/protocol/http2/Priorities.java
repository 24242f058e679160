package dev.gateway.protocol.http2;

import dev.gateway.message.FieldName;
import dev.gateway.message.Fields;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The priorities of the requests of one server connection (RFC 9218): what clients say in a field or in PRIORITY_UPDATE
 * frames, and upstreams in their responses. A client that never says any shall not have its streams wait for one another,
 * so as long as none was said, streams take turns. On the connection's event loop.
 */
final class Priorities {
    private final PriorityDistributor distributor;
    private final int maxStreams;
    private final Runnable onFirstWord;
    private boolean spoken; // the client says priorities
    private @Nullable NavigableMap<Integer, Priority> early; // by stream id, of requests still to come

    /**
     * Makes those of one connection.
     *
     * @param onFirstWord told when the client has said a priority for the first time
     */
    Priorities(PriorityDistributor distributor, int maxStreams, Runnable onFirstWord) {
        this.distributor = distributor;
        this.maxStreams = maxStreams;
        this.onFirstWord = onFirstWord;
    }

    private void spoken() {
        if (!spoken) {
            spoken = true;
            onFirstWord.run();
        }
    }

    /** A request has come; returns what its client wants. */
    Priority onRequest(int streamId, Fields fields) {
        Priority asked = Priority.NONE;
        if (fields.contains(FieldName.PRIORITY)) {
            spoken();
            asked = read(fields);
        }
        if (early != null) {
            asked = takeEarly(early, streamId, asked);
        }
        return asked;
    }

    private static Priority takeEarly(NavigableMap<Integer, Priority> early, int id, Priority asked) {
        Priority updated = early.get(id);
        early.headMap(id, true).clear(); // streams passed over are never opened
        return updated == null ? asked : updated;
    }

    /** Returns what the fields of a message say; members said later replace those said before. */
    static Priority read(Fields fields) {
        Priority said = Priority.NONE;
        for (int i = fields.find(FieldName.PRIORITY, 0); i >= 0; i = fields.find(FieldName.PRIORITY, i + 1)) {
            said = Priority.parse(fields.value(i)).or(said);
        }
        return said;
    }

    /** Has a stream's frames sent by what is said of it; a tunnel always takes turns, as it may never end. */
    void apply(Http2Stream h2, Priority said, boolean tunnel) {
        if (!spoken && said.saysNothing()) {
            return; // how every stream begins
        }
        Priority meant = said.or(Priority.DEFAULT);
        boolean unsaid = !spoken && said.incremental() == Priority.UNSAID;
        distributor.prioritise(h2, meant.urgency(), tunnel || unsaid || meant.isIncremental());
    }

    /** The client says so of a request that is open. */
    void onUpdate() {
        spoken();
    }

    /**
     * The client says so of a request that is still to come.
     *
     * @param open streams now
     */
    void onEarlyUpdate(PriorityUpdate update, int open) throws Http2Exception {
        spoken();
        if (early == null) {
            early = new TreeMap<>();
        }
        early.put(update.streamId(), update.priority());
        if (early.size() + open > maxStreams) { // RFC 9218, section 7.1
            throw Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, "PRIORITY_UPDATE of too many streams");
        }
    }
}
