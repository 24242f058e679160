package dev.gateway.upstream;

import dev.gateway.stream.ConnectionInfo;

/**
 * What is told ahead of a tunnel's first byte.
 *
 * @param client whose tunnel it is, for a PROXY protocol header
 * @param via who has handed the wish for it on, for a parent proxy, as {@code Via} has it; empty for nobody
 */
public record Introduction(ConnectionInfo client, String via) {}
