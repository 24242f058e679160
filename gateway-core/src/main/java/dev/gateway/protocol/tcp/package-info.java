/** Bytes without a protocol: tunnels to upstreams, and listeners that pass on what they cannot read. */
@NullMarked
package dev.gateway.protocol.tcp;

import org.jspecify.annotations.NullMarked;
