package dev.gateway.protocol.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TouchedStreamsTest {
    private final TouchedStreams touched = new TouchedStreams();
    private final List<String> told = new ArrayList<>();

    private TouchedStreams.Member stream(String name, Runnable onReadComplete) {
        return new TouchedStreams.Member() {
            @Override
            public void onReadComplete() {
                told.add(name);
                onReadComplete.run();
            }

            @Override
            public void afterReadComplete() {
                told.add("after " + name);
            }
        };
    }

    @Test
    void allAreToldBeforeAnyIsToldThatAllWere() {
        touched.add(stream("a", () -> {}));
        touched.add(stream("b", () -> {}));
        touched.onReadComplete();
        assertEquals(List.of("a", "b", "after a", "after b"), told);
    }

    @Test
    void eachBatchIsOver() {
        touched.add(stream("a", () -> {}));
        touched.onReadComplete();
        touched.onReadComplete();
        assertEquals(List.of("a", "after a"), told);
    }

    @Test
    void whoJoinsWhileOthersAreToldIsToldToo() {
        TouchedStreams.Member late = stream("late", () -> {});
        touched.add(stream("a", () -> touched.add(late)));
        touched.onReadComplete();
        assertEquals(List.of("a", "late", "after a", "after late"), told);
    }
}
