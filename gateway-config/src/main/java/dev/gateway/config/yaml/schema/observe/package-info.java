/** The sections of what is observed: access log, metrics, traces, and where telemetry is sent. */
@NullMarked
package dev.gateway.config.yaml.schema.observe;

import org.jspecify.annotations.NullMarked;
