/** Makes the settings of listeners from the configuration. */
@NullMarked
package dev.gateway.listener.assembly;

import org.jspecify.annotations.NullMarked;
