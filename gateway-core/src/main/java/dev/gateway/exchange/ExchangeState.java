package dev.gateway.exchange;

/**
 * Where an exchange stands, as a pure machine: an event changes the phase and returns what {@link Exchange} is to do.
 * Two directions end separately; which of them ends the exchange depends on the phase. Once {@link Phase#DONE} every
 * event is {@link Action#NOTHING}, which is what makes late and re-entrant events harmless.
 */
final class ExchangeState {
    enum Phase {
        /** The route is being found and filters run. */
        ROUTING,
        /** A filter answers later. */
        FILTERING,
        /** An attempt waits for its stream. */
        CONNECTING,
        /** The next attempt waits for its time. */
        BACKING_OFF,
        /** The request's head was sent; no final response head has come. */
        REQUESTED,
        /** The final response head was forwarded. */
        RESPONDING,
        /** A CONNECT succeeded: bytes both ways, each direction ends by itself. */
        TUNNELLING,
        DONE
    }

    enum Event {
        FILTER_WAITS,
        /** Every filter has proceeded. */
        ROUTED,
        OPENED,
        /** The attempt failed, and another is made. */
        RETRY,
        BACKED_OFF,
        RESPONSE_HEAD,
        TUNNEL_HEAD,
        /** The last part of the request goes upstream. */
        REQUEST_ENDED,
        /** The last part of the response goes downstream. */
        RESPONSE_ENDED,
        /** The gateway answers by itself, and nothing went wrong. */
        REPLIED,
        /** The exchange cannot succeed any more, and it is not the client's doing. */
        FAILED,
        CLIENT_GONE
    }

    enum Action {
        NOTHING,
        /** Begin an attempt. */
        OPEN,
        /** Wait for the next attempt's time. */
        WAIT,
        /** Send the head upstream, and what has been held of the body. */
        SEND_REQUEST,
        FORWARD_HEAD,
        /** One direction of a tunnel has ended. */
        HALF_CLOSE,
        /** Answer the client from here. */
        ANSWER,
        /** No answer is possible any more: make sure that the client does not take the response for whole. */
        RESET_CLIENT,
        /** All went well. */
        FINISH,
        /** The response ended before the request: all went well, but the upstream gets no more of the request. */
        FINISH_AND_RESET_UPSTREAM,
        /** There is nobody left to answer: only account for it. */
        RECORD
    }

    /** What an exchange that ends now has to undo. */
    enum Pending {
        NOTHING,
        FILTERS,
        BACKOFF,
        /** An opening or a stream. */
        ATTEMPT
    }

    /** What happens to request bytes that arrive now. */
    enum Intake {
        HOLD,
        FORWARD,
        DISCARD
    }

    private Phase phase = Phase.ROUTING;
    private boolean responded;
    private boolean requestEnded;
    private boolean responseEnded;

    Phase phase() {
        return phase;
    }

    boolean isDone() {
        return phase == Phase.DONE;
    }

    /** Whether the upstream of the current attempt has got the request's head. */
    boolean isRequested() {
        return intake() == Intake.FORWARD;
    }

    /** Whether the final head of an upstream's response was forwarded, also when the exchange has ended since. */
    boolean isResponded() {
        return responded;
    }

    /** Whether bytes of a tunnel pass now. */
    boolean isTunnel() {
        return phase == Phase.TUNNELLING;
    }

    /** Whether the last part of the request has gone upstream. */
    boolean isRequestEnded() {
        return requestEnded;
    }

    /** Whether the last part of the response has gone downstream. */
    boolean isResponseEnded() {
        return responseEnded;
    }

    Pending pending() {
        return switch (phase) {
            case ROUTING, FILTERING -> Pending.FILTERS;
            case DONE -> Pending.NOTHING;
            case BACKING_OFF -> Pending.BACKOFF;
            case CONNECTING, REQUESTED, RESPONDING, TUNNELLING -> Pending.ATTEMPT;
        };
    }

    Intake intake() {
        return switch (phase) {
            case ROUTING, FILTERING, CONNECTING, BACKING_OFF -> Intake.HOLD;
            case REQUESTED, RESPONDING, TUNNELLING -> Intake.FORWARD;
            case DONE -> Intake.DISCARD;
        };
    }

    Action on(Event event) {
        if (phase == Phase.DONE) {
            return Action.NOTHING;
        }
        return switch (event) {
            case FILTER_WAITS -> isBeforeAttempts() ? go(Phase.FILTERING, Action.NOTHING) : Action.NOTHING;
            case ROUTED -> isBeforeAttempts() ? go(Phase.CONNECTING, Action.OPEN) : Action.NOTHING;
            case REPLIED -> isBeforeAttempts() ? go(Phase.DONE, Action.ANSWER) : Action.NOTHING;
            case OPENED -> phase == Phase.CONNECTING ? go(Phase.REQUESTED, Action.SEND_REQUEST) : Action.NOTHING;
            case RETRY -> isRetriable() ? retry() : Action.NOTHING;
            case BACKED_OFF -> phase == Phase.BACKING_OFF ? go(Phase.CONNECTING, Action.OPEN) : Action.NOTHING;
            case RESPONSE_HEAD -> respond(Phase.RESPONDING);
            case TUNNEL_HEAD -> respond(Phase.TUNNELLING);
            case REQUEST_ENDED -> requestEnded();
            case RESPONSE_ENDED -> responseEnded();
            case FAILED -> go(Phase.DONE, isAnswered() ? Action.RESET_CLIENT : Action.ANSWER);
            case CLIENT_GONE -> go(Phase.DONE, Action.RECORD);
        };
    }

    private boolean isBeforeAttempts() {
        return switch (phase) {
            case ROUTING, FILTERING -> true;
            case CONNECTING, BACKING_OFF, REQUESTED, RESPONDING, TUNNELLING, DONE -> false;
        };
    }

    /** Whether another attempt may follow the one that runs: nothing final has been forwarded. */
    boolean isRetriable() {
        return switch (phase) {
            case CONNECTING, REQUESTED -> true;
            case ROUTING, FILTERING, BACKING_OFF, RESPONDING, TUNNELLING, DONE -> false;
        };
    }

    private boolean isAnswered() {
        return switch (phase) {
            case ROUTING, FILTERING, CONNECTING, BACKING_OFF, REQUESTED -> false;
            case RESPONDING, TUNNELLING, DONE -> true;
        };
    }

    private Action respond(Phase next) {
        if (phase != Phase.REQUESTED) {
            return Action.NOTHING;
        }
        responded = true;
        return go(next, Action.FORWARD_HEAD);
    }

    /** The next attempt sends the request again, so its end is to come again. */
    private Action retry() {
        requestEnded = false;
        return go(Phase.BACKING_OFF, Action.WAIT);
    }

    private Action requestEnded() {
        requestEnded = intake() == Intake.FORWARD;
        return switch (phase) {
            case ROUTING, FILTERING, CONNECTING, BACKING_OFF, REQUESTED, RESPONDING, DONE -> Action.NOTHING;
            case TUNNELLING -> responseEnded ? go(Phase.DONE, Action.FINISH) : Action.HALF_CLOSE;
        };
    }

    private Action responseEnded() {
        responseEnded = isAnswered();
        return switch (phase) {
            case ROUTING, FILTERING, CONNECTING, BACKING_OFF, REQUESTED, DONE -> Action.NOTHING;
            case RESPONDING -> go(Phase.DONE, requestEnded ? Action.FINISH : Action.FINISH_AND_RESET_UPSTREAM);
            case TUNNELLING -> requestEnded ? go(Phase.DONE, Action.FINISH) : Action.HALF_CLOSE;
        };
    }

    private Action go(Phase next, Action action) {
        phase = next;
        return action;
    }
}
