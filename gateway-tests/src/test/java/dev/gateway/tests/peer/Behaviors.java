package dev.gateway.tests.peer;

import dev.gateway.tests.peer.Origin.Behavior;

/** What origins do, well or badly. */
public final class Behaviors {
    private Behaviors() {}

    /** Answers 200 with a text when the request has ended. */
    public static Behavior text(String text) {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-length", Integer.toString(text.length())), text.isEmpty());
            if (!text.isEmpty()) {
                stream.send(text, true);
            }
        };
    }

    /** Sends the request's body back as it comes, and its trailers. */
    public static Behavior echo() {
        return (stream, head) -> {
            stream.send(Head.response(200), false);
            byte[] buffer = new byte[16384];
            for (int n = stream.receive(buffer); n >= 0; n = stream.receive(buffer)) {
                stream.send(buffer, 0, n, false);
            }
            String[] trailers = stream.trailers().stream()
                    .flatMap(t -> java.util.stream.Stream.of(t.getKey(), t.getValue()))
                    .toArray(String[]::new);
            if (trailers.length > 0) {
                stream.sendTrailers(trailers);
            } else {
                stream.send("", true);
            }
        };
    }

    /** Takes the whole request and never answers. */
    public static Behavior silence() {
        return (stream, head) -> {
            stream.receiveBody();
            stream.peer().awaitClosed();
        };
    }

    /** Resets before anything of a response. */
    public static Behavior resetBeforeHead() {
        return (stream, head) -> stream.reset();
    }

    /** Answers a head and some body, then resets. */
    public static Behavior resetInBody() {
        return (stream, head) -> {
            stream.receiveBody();
            stream.send(Head.response(200, "content-length", "1000"), false);
            stream.send("some", false);
            stream.reset();
        };
    }

    /** Answers before the request's body has come, and takes none of it. */
    public static Behavior earlyResponse(int status) {
        return (stream, head) -> {
            stream.send(Head.response(status, "content-length", "5"), false);
            stream.send("early", true);
            byte[] buffer = new byte[16384];
            while (stream.receive(buffer) >= 0) {
                // dropped, so that the connection may be kept
            }
        };
    }
}
