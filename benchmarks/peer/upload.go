package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
)

const (
	uploaders  = 4
	uploadSize = 7_000_000
)

// upload sends bodies of known length by PUT, as the tools of object stores do. Unlike wrk it reads from one buffer, and
// copies the body as it writes it.
func upload(address, path string, seconds int) outcome {
	body := bytes.Repeat([]byte("x"), uploadSize)
	return repeat(uploaders, seconds, func(int) (step, error) {
		client := &http.Client{Transport: pageTransport(false, 1, func(_ context.Context, network, to string) (net.Conn, error) {
			return net.Dial(network, to)
		})}
		return func() error {
			request, err := http.NewRequest(http.MethodPut, "http://"+address+path, bytes.NewReader(body))
			if err != nil {
				return err
			}
			response, err := client.Do(request)
			if err != nil {
				return err
			}
			defer response.Body.Close()
			if _, err = io.Copy(io.Discard, response.Body); err == nil && response.StatusCode/100 != 2 {
				err = fmt.Errorf("status %d", response.StatusCode)
			}
			return err
		}, nil
	})
}
