package dev.gateway.upstream.stream;

import dev.gateway.stream.SourceAddress;
import java.net.InetSocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * Client preamble. What the gateway tells the next hop about the client before a tunnel's first byte: in a PROXY protocol
 * header, or in fields of a CONNECT.
 *
 * @param client whose tunnel it is, for a PROXY protocol header
 * @param local the address that the client connected to, null for a Unix-domain socket
 * @param via the {@code Via} field for a parent proxy: which proxies have forwarded the CONNECT so far; may be empty
 */
public record ClientPreamble(SourceAddress client, @Nullable InetSocketAddress local, String via) {}
