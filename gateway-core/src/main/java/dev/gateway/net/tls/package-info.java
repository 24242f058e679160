/** TLS on both sides: contexts, handshakes, certificates, tickets, what a ClientHello says. */
@NullMarked
package dev.gateway.net.tls;

import org.jspecify.annotations.NullMarked;
