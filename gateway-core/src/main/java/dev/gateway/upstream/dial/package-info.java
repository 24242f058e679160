/**
 * How the gateway makes and uses connections to an upstream: protocol, TLS, times, parent proxies, and the addresses that it
 * may dial.
 */
@NullMarked
package dev.gateway.upstream.dial;

import org.jspecify.annotations.NullMarked;
