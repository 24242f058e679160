package dev.gateway.stream;

import java.util.Set;

/**
 * Authenticated identity: who a client has proven to be.
 *
 * @param name a user's name, or what stands for it; safe to be logged
 * @param groups the groups that it is a member of
 */
public record Identity(String name, Set<String> groups) {}
