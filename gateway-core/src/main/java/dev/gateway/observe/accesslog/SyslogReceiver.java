package dev.gateway.observe.accesslog;

/**
 * A receiver of syslog messages.
 *
 * @param tcp whether by a connection, or else by datagrams
 */
public record SyslogReceiver(String host, int port, boolean tcp) {}
