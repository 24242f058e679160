package dev.gateway.filter.jwt.jwks;

import dev.gateway.upstream.Upstream;
import io.netty.util.AsciiString;

/**
 * Where a set of keys is fetched.
 *
 * @param url as the configuration has it
 * @param upstream the server, with one endpoint
 * @param path with the query
 */
public record KeyLocation(String url, Upstream upstream, AsciiString path) {}
