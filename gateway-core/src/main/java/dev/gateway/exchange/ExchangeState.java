package dev.gateway.exchange;

/**
 * The state machine of an exchange: an event changes the phase and returns what {@link Exchange} must do. The two
 * directions end separately; which of them ends the exchange depends on the phase. In {@link Phase#DONE} each event returns
 * {@link Action#NOTHING}, so that late and re-entrant events are harmless.
 */
final class ExchangeState {
    enum Phase {
        /** The gateway finds the route and runs filters. */
        ROUTING,
        /** A filter answers later. */
        FILTERING,
        /** An attempt waits for its stream. */
        CONNECTING,
        /** The next attempt waits for its time. */
        BACKING_OFF,
        /** The request's head was sent; no final response head has arrived. */
        REQUESTED,
        /** The final response head was forwarded. */
        RESPONDING,
        /** A CONNECT succeeded: bytes move in both directions, and each direction ends separately. */
        TUNNELLING,
        DONE
    }

    enum Event {
        FILTER_WAITS,
        /** Every filter has proceeded. */
        ROUTED,
        OPENED,
        /** The attempt failed, and another one follows. */
        RETRY,
        BACKED_OFF,
        RESPONSE_HEAD,
        TUNNEL_HEAD,
        /** The upstream switches protocols after the request: the client's direction begins once more. */
        SWITCHED,
        /** The last part of the request goes upstream. */
        REQUEST_ENDED,
        /** The last part of the response goes downstream. */
        RESPONSE_ENDED,
        /** The gateway itself answers, and nothing has failed. */
        REPLIED,
        /** The exchange has failed, for another reason than a client that has gone. */
        FAILED,
        CLIENT_GONE
    }

    enum Action {
        NOTHING,
        /** Begin an attempt. */
        OPEN,
        /** Wait for the time of the next attempt. */
        WAIT,
        /** Send the head upstream, and the held part of the body. */
        SEND_REQUEST,
        FORWARD_HEAD,
        /** One direction of a tunnel has ended. */
        HALF_CLOSE,
        /** Answer the client. */
        ANSWER,
        /**
         * It is too late for an answer: reset the stream, so that the client does not think that the response is complete.
         */
        RESET_CLIENT,
        /** The exchange has succeeded. */
        FINISH,
        /**
         * The response ended before the request: the exchange has succeeded, and the upstream gets no more of the request.
         */
        FINISH_AND_RESET_UPSTREAM,
        /** The client has gone: only record the end. */
        RECORD
    }

    /** What must be undone if the exchange ends now. */
    enum Pending {
        NOTHING,
        FILTERS,
        BACKOFF,
        /** An opening or a stream. */
        ATTEMPT
    }

    /** What to do with request bytes that arrive now. */
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

    /** Whether the exchange is a tunnel. */
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
            case SWITCHED -> switched();
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

    /** Whether another attempt may follow the current one: no final head was forwarded. */
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

    /** The next attempt sends the request again, so its end comes again. */
    private Action retry() {
        requestEnded = false;
        return go(Phase.BACKING_OFF, Action.WAIT);
    }

    private Action switched() {
        requestEnded &= phase != Phase.REQUESTED;
        return Action.NOTHING;
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
