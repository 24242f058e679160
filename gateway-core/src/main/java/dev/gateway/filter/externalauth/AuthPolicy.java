package dev.gateway.filter.externalauth;

/**
 * What is waited for of an auth server, and what happens in vain.
 *
 * @param timeoutMillis until the whole answer is there
 * @param maxResponseBytes of the body of an answer that goes to the client
 * @param allowOnError whether a request may continue that the server did not decide about
 */
record AuthPolicy(long timeoutMillis, int maxResponseBytes, boolean allowOnError) {}
