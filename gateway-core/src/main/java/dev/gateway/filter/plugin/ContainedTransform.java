package dev.gateway.filter.plugin;

import dev.gateway.filter.BodyTransform;
import io.netty.buffer.ByteBuf;
import java.util.Objects;

/** Body transform of a plugin. What it throws fails its exchange. */
final class ContainedTransform implements BodyTransform {
    private final BodyTransform transform;
    private final Containment containment;

    ContainedTransform(BodyTransform transform, Containment containment) {
        this.transform = transform;
        this.containment = containment;
    }

    @Override
    public Result transform(ByteBuf in, Input input) {
        try {
            Result result = Objects.requireNonNull(transform.transform(in, input), "transform returned null");
            if (result instanceof Fail fail) {
                Containment.requireUsable(fail.failure());
            }
            return result;
        } catch (Throwable e) {
            throw containment.defect(e);
        }
    }

    @Override
    public void close() {
        containment.run(transform::close);
    }
}
