package dev.gateway.upstream;

import dev.gateway.stream.SourceAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Client preamble. What the gateway tells the next hop of the client before a tunnel's first byte: by a PROXY protocol
 * header, or by fields of a CONNECT.
 *
 * @param client whose tunnel it is, for a PROXY protocol header
 * @param local the address that its connection was made to, null for a Unix-domain socket
 * @param via who has handed the wish for it on, for a parent proxy, as {@code Via} has it; empty for nobody
 */
public record ClientPreamble(SourceAddress client, @Nullable InetSocketAddress local, String via) {}
