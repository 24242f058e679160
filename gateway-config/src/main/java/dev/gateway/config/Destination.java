package dev.gateway.config;

import dev.gateway.config.value.Position;
import dev.gateway.format.Cidr;

/** Destination hosts (CONNECT targets): some of the hosts that tunnels may lead to. Its text is what an operator writes. */
public sealed interface Destination {
    /** Where it was written. */
    Position position();

    /** Returns it as it is written. */
    String text();

    /**
     * One name.
     *
     * @param host lower case, no dot at its end
     */
    record Name(Position position, String host) implements Destination {
        @Override
        public String text() {
            return host;
        }
    }

    /**
     * A domain: its name, and all names below.
     *
     * @param domain lower case, without the dot that it is written with in front
     */
    record Domain(Position position, String domain) implements Destination {
        @Override
        public String text() {
            return "." + domain;
        }
    }

    /** A block of addresses. */
    record Block(Position position, Cidr block) implements Destination {
        @Override
        public String text() {
            String address = block.network().getHostAddress();
            return block.isSingle() ? address : block.toString();
        }
    }

    /**
     * One host at one port. Written where ports are not by themselves.
     *
     * @param host a {@link Name}, or a {@link Block} of a single address
     */
    record HostAndPort(Position position, Destination host, int port) implements Destination {
        @Override
        public String text() {
            String text = host.text();
            return (text.indexOf(':') < 0 ? text : "[" + text + "]") + ":" + port;
        }
    }

    /** Every name and every address. */
    record Any(Position position) implements Destination {
        @Override
        public String text() {
            return "*";
        }
    }
}
