/** Makes the settings of listeners of their configuration. */
@NullMarked
package dev.gateway.listener.assembly;

import org.jspecify.annotations.NullMarked;
