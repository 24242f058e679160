package dev.gateway.testkit;

import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.http.HttpClientCodec;
import io.netty.handler.codec.http.HttpServerCodec;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2MultiplexHandler;
import io.netty.handler.codec.http2.Http2StreamChannelBootstrap;
import io.netty.handler.codec.http2.Http2StreamFrameToHttpObjectCodec;
import java.util.function.Supplier;

/** Protocol of a peer of the gateway, in clear. Handlers see the same objects by either. */
enum Protocol {
    HTTP1("http1") {
        @Override
        void serve(ChannelPipeline connection, Supplier<ChannelHandler> exchanges) {
            connection.addLast(new HttpServerCodec(), exchanges.get());
        }

        @Override
        void prepare(ChannelPipeline connection) {
            connection.addLast(new HttpClientCodec());
        }

        @Override
        Channel open(Channel connection, ChannelHandler exchange) {
            connection.pipeline().addLast(exchange);
            return connection;
        }
    },

    HTTP2("h2c") {
        @Override
        void serve(ChannelPipeline connection, Supplier<ChannelHandler> exchanges) {
            connection.addLast(
                    Http2FrameCodecBuilder.forServer().build(), new Http2MultiplexHandler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel stream) {
                            stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(true), exchanges.get());
                        }
                    }));
        }

        @Override
        void prepare(ChannelPipeline connection) {
            connection.addLast(
                    Http2FrameCodecBuilder.forClient().build(),
                    new Http2MultiplexHandler(new ChannelInboundHandlerAdapter()));
        }

        @Override
        Channel open(Channel connection, ChannelHandler exchange) {
            return new Http2StreamChannelBootstrap(connection)
                    .handler(new ChannelInitializer<>() {
                        @Override
                        protected void initChannel(Channel stream) {
                            stream.pipeline().addLast(new Http2StreamFrameToHttpObjectCodec(false), exchange);
                        }
                    })
                    .open()
                    .syncUninterruptibly()
                    .getNow();
        }
    };

    /** The word for upstreams of it in a configuration. */
    final String upstream;

    Protocol(String upstream) {
        this.upstream = upstream;
    }

    /** Adds handlers to a connection of a server, with one for each exchange or more. */
    abstract void serve(ChannelPipeline connection, Supplier<ChannelHandler> exchanges);

    /** Adds handlers to a connection of a client. */
    abstract void prepare(ChannelPipeline connection);

    /** Begins the only exchange on a connection of a client. Closing the channel aborts it. */
    abstract Channel open(Channel connection, ChannelHandler exchange);
}
