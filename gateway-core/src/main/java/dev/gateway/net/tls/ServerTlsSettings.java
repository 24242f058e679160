package dev.gateway.net.tls;

import dev.gateway.config.listener.TlsConfig;
import dev.gateway.config.listener.TlsConfig.CertificateRef;
import java.util.List;

/**
 * Downstream TLS settings at run time: how a listener secures connections. Has positions of the configuration, so
 * {@code ConfigEquality} says whether two are the same, and not their own equality.
 *
 * @param shown at least one certificate, one that the gateway made itself included; the first serves clients that ask for a
 *     name none of them has, or for no name
 * @param config what else is configured
 * @param handshakeMillis how long a handshake may take, 0 for no limit
 */
public record ServerTlsSettings(List<CertificateRef> shown, TlsConfig config, long handshakeMillis) {}
