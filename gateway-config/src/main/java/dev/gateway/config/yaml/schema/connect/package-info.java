/** The section connect: who may reach which hosts, and through which parent proxies. */
@NullMarked
package dev.gateway.config.yaml.schema.connect;

import org.jspecify.annotations.NullMarked;
