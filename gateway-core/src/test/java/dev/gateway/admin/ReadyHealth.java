package dev.gateway.admin;

/** The health of a gateway that has started and is ready. */
public final class ReadyHealth implements AdminPages.Health {
    @Override
    public boolean isStarted() {
        return true;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public String word() {
        return "ready";
    }

    @Override
    public String detail() {
        return "ready";
    }
}
