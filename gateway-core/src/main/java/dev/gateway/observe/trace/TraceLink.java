package dev.gateway.observe.trace;

/**
 * Trace context of a sampled exchange: where a sampled exchange is found among traces, as W3C Trace Context writes it.
 *
 * @param traceId 32 hexadecimal digits
 * @param spanId 16 hexadecimal digits
 */
public record TraceLink(String traceId, String spanId) {}
