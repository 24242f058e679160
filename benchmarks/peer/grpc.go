package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
)

// gRPC by its Go implementation, messages of 100 bytes, 4 connections with 25 callers each: calls of one message each
// way (unary), or streams that stay open, with one message there and one back at a time.

const (
	grpcConnections = 4
	grpcCallers     = 25
	grpcUnary       = "/bench.Echo/Unary"
	grpcStream      = "/bench.Echo/Stream"
)

// Messages are bytes that nobody encodes.
type asIs struct{}

func (asIs) Name() string { return "bytes" }

func (asIs) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(*v.(*[]byte))}, nil
}

func (asIs) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

func serveCalls(listener net.Listener) {
	server := grpc.NewServer(grpc.ForceServerCodecV2(asIs{}), grpc.MaxConcurrentStreams(1000))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Echo",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{
			MethodName: "Unary",
			Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
				message := new([]byte)
				return message, decode(message)
			},
		}},
		Streams: []grpc.StreamDesc{{
			StreamName:    "Stream",
			ServerStreams: true,
			ClientStreams: true,
			Handler: func(_ any, stream grpc.ServerStream) error {
				for {
					message := new([]byte)
					if err := stream.RecvMsg(message); err == io.EOF {
						return nil
					} else if err != nil {
						return err
					}
					if err := stream.SendMsg(message); err != nil {
						return err
					}
				}
			},
		}},
	}, nil)
	check(server.Serve(listener))
}

func calls(stream bool, address string, seconds int) outcome {
	connections := make([]*grpc.ClientConn, grpcConnections)
	for i := range connections {
		var err error
		connections[i], err = grpc.NewClient("passthrough:///"+address,
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodecV2(asIs{})))
		check(err)
		defer connections[i].Close()
	}
	message := bytes.Repeat([]byte("m"), 100)
	same := func(answer []byte, err error) error {
		if err == nil && !bytes.Equal(answer, message) {
			err = fmt.Errorf("another message came back")
		}
		return err
	}
	return repeat(grpcConnections*grpcCallers, seconds, func(number int) (step, error) {
		connection := connections[number%grpcConnections]
		if !stream {
			return func() error {
				var answer []byte
				err := connection.Invoke(context.Background(), grpcUnary, &message, &answer)
				return same(answer, err)
			}, nil
		}
		description := &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}
		open, err := connection.NewStream(context.Background(), description, grpcStream)
		return func() error {
			if err := open.SendMsg(&message); err != nil {
				return err
			}
			var answer []byte
			err := open.RecvMsg(&answer)
			return same(answer, err)
		}, err
	})
}
