package dev.gateway.filter;

/**
 * Inspection context: what a {@link BodyInspector} may know of the exchange, and what it may say of it. Valid on the
 * exchange's event loop only.
 */
public interface InspectionContext extends FilterContext {
    /** Says what host TLS asks for in the tunnel that this is; logged. */
    void setTunnelServerName(String name);
}
