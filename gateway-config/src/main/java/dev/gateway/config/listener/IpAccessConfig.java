package dev.gateway.config.listener;

import dev.gateway.config.value.Position;
import dev.gateway.format.Cidr;
import java.nio.file.Path;
import java.util.List;

/**
 * Client addresses that may use a route or a listener, and those that may not.
 *
 * @param deny refused, even if allowed
 * @param denyFiles of more addresses that are refused
 * @param allow if there are any, or files of them, all other addresses are refused
 * @param allowFiles of more addresses that are allowed
 */
public record IpAccessConfig(
        Position position, List<Cidr> deny, List<Path> denyFiles, List<Cidr> allow, List<Path> allowFiles) {
    public IpAccessConfig {
        deny = List.copyOf(deny);
        denyFiles = List.copyOf(denyFiles);
        allow = List.copyOf(allow);
        allowFiles = List.copyOf(allowFiles);
    }
}
