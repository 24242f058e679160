package dev.gateway.testkit;

import dev.gateway.filter.Filter;
import dev.gateway.filter.FilterContext;
import dev.gateway.filter.FilterPlugin;
import dev.gateway.filter.Verdict;
import dev.gateway.message.Fields;
import dev.gateway.message.RequestHead;
import dev.gateway.message.ResponseHead;
import dev.gateway.plugin.FilterPlace;
import dev.gateway.plugin.Settings;

/** Filter beside the one that is checked. It changes nothing, and throws an exception if it loses its state. */
enum Neighbour implements FilterPlugin, Filter {
    BEFORE(FilterPlace.ACCESS),
    AFTER(FilterPlace.UPSTREAM);

    private final FilterPlace place;

    Neighbour(FilterPlace place) {
        this.place = place;
    }

    @Override
    public String type() {
        return this == BEFORE ? "CheckBefore" : "CheckAfter";
    }

    @Override
    public String description() {
        return "Keeps a state and expects to find it.";
    }

    @Override
    public FilterPlace place() {
        return place;
    }

    @Override
    public boolean guards() {
        return false;
    }

    @Override
    public Filter create(Settings settings) {
        return this;
    }

    @Override
    public Verdict onRequest(RequestHead head, FilterContext context) {
        context.keep(this);
        return Verdict.PROCEED;
    }

    @Override
    public void onRequestTrailers(Fields trailers, FilterContext context) {
        check(context);
    }

    @Override
    public void onResponse(ResponseHead head, FilterContext context) {
        check(context);
    }

    @Override
    public void onResponseTrailers(Fields trailers, FilterContext context) {
        check(context);
    }

    @Override
    public void onEnd(FilterContext context) {
        check(context);
    }

    private void check(FilterContext context) {
        if (context.kept() != this) {
            throw new IllegalStateException(
                    "the filter " + type() + " of the test kit kept " + this + " and found " + context.kept());
        }
    }
}
