package dev.gateway.benchmarks;

import dev.gateway.config.listener.ListenerConfig.ForwardedHeaders;
import dev.gateway.config.listener.ListenerConfig.HeadersWithUnderscores;
import dev.gateway.exchange.route.Router;
import dev.gateway.exchange.settings.ClientTrust;
import dev.gateway.exchange.settings.ExchangeSettings;
import dev.gateway.exchange.settings.ListenerRoutes;
import dev.gateway.format.CidrSet;
import dev.gateway.message.forwarded.ForwardedFields;
import io.netty.util.AsciiString;

/** A generation of one listener; nothing is traced or logged. */
record OneRouter(Router router) implements ListenerRoutes, ExchangeSettings {
    private static final ForwardedFields FORWARDED = new ForwardedFields(ForwardedHeaders.X_FORWARDED);
    private static final AsciiString NAME = new AsciiString("gateway");

    private static final ClientTrust TRUST = new ClientTrust(CidrSet.EMPTY, false, HeadersWithUnderscores.DROP);

    @Override
    public int listeners() {
        return 1;
    }

    @Override
    public boolean serves(int listener) {
        return listener == 0;
    }

    @Override
    public Router router(int listener) {
        return router;
    }

    @Override
    public ExchangeSettings settings(int listener) {
        return this;
    }

    @Override
    public ClientTrust trust() {
        return TRUST;
    }

    @Override
    public ForwardedFields forwarded() {
        return FORWARDED;
    }

    @Override
    public AsciiString name() {
        return NAME;
    }
}
