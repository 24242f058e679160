package dev.gateway.protocol.http2;

import java.util.ArrayList;
import java.util.List;

/** The streams of a connection to which something happened in the batch of frames that is being read. Part of it. */
final class TouchedStreams {
    /** A stream that hears of the end of the batch; it adds itself once in each. */
    interface Member {
        /** What the socket had has been read. */
        void onReadComplete();

        /** All members have heard of it. */
        void afterReadComplete();
    }

    private final List<Member> touched = new ArrayList<>();

    void add(Member stream) {
        touched.add(stream);
    }

    /** Tells all. Streams join while others are told, and ones that closed in this batch are told nothing. */
    void onReadComplete() {
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).onReadComplete();
        }
        for (int i = 0; i < touched.size(); i++) {
            touched.get(i).afterReadComplete();
        }
        touched.clear();
    }
}
