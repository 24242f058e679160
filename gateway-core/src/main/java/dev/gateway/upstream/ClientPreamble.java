package dev.gateway.upstream;

import dev.gateway.stream.SourceAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * What the peer is told of the client ahead of a tunnel's first byte: a PROXY protocol header, or fields of a CONNECT.
 *
 * @param client whose tunnel it is, for a PROXY protocol header
 * @param local the address that its connection was made to, null for a Unix-domain socket
 * @param via who has handed the wish for it on, for a parent proxy, as {@code Via} has it; empty for nobody
 */
public record ClientPreamble(SourceAddress client, @Nullable InetSocketAddress local, String via) {}
