package dev.gateway.observe.accesslog;

import java.io.IOException;
import java.net.InetAddress;
import java.util.List;

/** Resolves the name of a log receiver. The log's own thread calls this, and waits for the answer. */
public interface ReceiverAddresses {
    /** Resolves as the machine does. */
    ReceiverAddresses OF_MACHINE = host -> List.of(InetAddress.getAllByName(host));

    /**
     * Returns the addresses that a name has now, at least one. A cache answers as long as the TTL allows.
     *
     * @throws IOException if it has none, or nobody answers
     */
    List<InetAddress> of(String host) throws IOException;

    /** The log begins to use a name. */
    default void keep(String host) {}

    /** The log no longer uses a name. */
    default void drop(String host) {}

    /** The receiver was not reached at an address of the name, which may be out of date. */
    default void doubt(String host) {}
}
