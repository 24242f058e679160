// authz: a server of Envoy's ext_authz by gRPC, as programs in Go write one. It prints its address and serves.
// With the argument "bytes" it prints a consent instead, as protocol buffers in hexadecimal.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	auth "github.com/envoyproxy/go-control-plane/envoy/service/auth/v3"
	http "github.com/envoyproxy/go-control-plane/envoy/type/v3"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

type server struct {
	auth.UnimplementedAuthorizationServer
}

func field(name, value string, add bool) *core.HeaderValueOption {
	return &core.HeaderValueOption{
		Header: &core.HeaderValue{Key: name, Value: value},
		Append: wrapperspb.Bool(add),
	}
}

// Check knows ann, and tells in fields what it was asked.
func (server) Check(_ context.Context, in *auth.CheckRequest) (*auth.CheckResponse, error) {
	of := in.Attributes
	request := of.Request.Http
	if request.Headers["cookie"] != "session=ann" {
		return &auth.CheckResponse{
			Status: &status.Status{Code: int32(code.Code_PERMISSION_DENIED)},
			HttpResponse: &auth.CheckResponse_DeniedResponse{DeniedResponse: &auth.DeniedHttpResponse{
				Status:  &http.HttpStatus{Code: http.StatusCode_Unauthorized},
				Headers: []*core.HeaderValueOption{field("www-authenticate", "Basic", false)},
				Body:    "log in first",
			}},
		}, nil
	}
	asked := []string{
		request.Method, request.Scheme, request.Host, request.Path, request.Protocol,
		request.Headers["x-key"], fmt.Sprint(request.Size), of.ContextExtensions["policy"],
		of.Source.Address.GetSocketAddress().Address,
		fmt.Sprint(of.Source.Address.GetSocketAddress().GetPortValue() > 0),
		fmt.Sprint(of.Destination.Address.GetSocketAddress().GetPortValue() > 0),
		fmt.Sprint(of.Request.Time.Seconds > 1_700_000_000), fmt.Sprint(request.Id != ""),
	}
	return &auth.CheckResponse{
		Status: &status.Status{Code: int32(code.Code_OK)},
		HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{
			Headers:              []*core.HeaderValueOption{field("remote-user", "ann", false), field("x-asked", strings.Join(asked, " "), false)},
			HeadersToRemove:      []string{"cookie"},
			ResponseHeadersToAdd: []*core.HeaderValueOption{field("set-cookie", "session=new", true)},
		}},
	}, nil
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "bytes" {
		answer := &auth.CheckResponse{
			Status: &status.Status{},
			HttpResponse: &auth.CheckResponse_OkResponse{OkResponse: &auth.OkHttpResponse{
				Headers: []*core.HeaderValueOption{field("a", "b", true)},
			}},
		}
		bytes, err := proto.Marshal(answer)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%x\n", bytes)
		return
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr())
	serving := grpc.NewServer()
	auth.RegisterAuthorizationServer(serving, server{})
	panic(serving.Serve(listener))
}
