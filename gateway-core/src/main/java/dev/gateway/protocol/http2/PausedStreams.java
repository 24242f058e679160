package dev.gateway.protocol.http2;

import java.util.ArrayList;
import java.util.List;

/** The streams of a connection that were seen not writable, in the order in which they came to wait. */
final class PausedStreams {
    /** A stream that waits; it adds itself each time that it begins to. */
    interface Member {
        /** Whether it need not wait any more. */
        boolean mayResume();

        /** It has left those that wait. */
        void resume();
    }

    private final List<Member> paused = new ArrayList<>();
    private boolean resuming;
    private boolean resumeAgain;

    void add(Member stream) {
        paused.add(stream);
    }

    /** Tells those that may write; what they do may come back to this. */
    void resume() {
        if (paused.isEmpty()) {
            return;
        }
        resumeAgain = true;
        if (resuming) {
            return;
        }
        resuming = true;
        while (resumeAgain) {
            resumeAgain = false;
            for (int i = 0, n = paused.size(), at = 0; i < n; i++) {
                Member stream = paused.get(at);
                if (stream.mayResume()) {
                    paused.remove(at);
                    stream.resume();
                } else {
                    at++;
                }
            }
        }
        resuming = false;
    }
}
