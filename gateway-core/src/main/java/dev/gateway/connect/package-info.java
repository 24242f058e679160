/** Who may reach what through the gateway: the policy of CONNECT and forward proxying, as filters and an address policy. */
@NullMarked
package dev.gateway.connect;

import org.jspecify.annotations.NullMarked;
