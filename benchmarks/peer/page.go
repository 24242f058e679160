package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

// A page with 180 tiles, each of which the server delays: by six connections of HTTP/1.1 or by one of HTTP/2. Several
// browsers at a time, each with connections of its own, so that slow pages give figures too.

const (
	browsers = 4
	tiles    = 180
	tileSize = 2000
)

func servePages(listener net.Listener) {
	mux := http.NewServeMux()
	body := make([]byte, 4*tileSize)
	mux.HandleFunc("/page", func(w http.ResponseWriter, r *http.Request) { w.Write(body) })
	mux.HandleFunc("/tile", func(w http.ResponseWriter, r *http.Request) {
		if wait, _ := strconv.Atoi(r.URL.Query().Get("ms")); wait > 0 {
			time.Sleep(time.Duration(wait) * time.Millisecond)
		}
		w.Header().Set("Content-Length", strconv.Itoa(tileSize))
		w.Write(body[:tileSize])
	})
	mux.HandleFunc("/article", serveArticle)
	mux.HandleFunc("/echo", echoWebSocket)
	check(http.Serve(listener, mux))
}

func pages(h2 bool, address string, milliseconds, seconds int) outcome {
	return repeat(browsers, seconds, func(int) (step, error) {
		transport := pageTransport(h2, 6, func(ctx context.Context, network, to string) (net.Conn, error) {
			return net.Dial(network, to)
		})
		client := &http.Client{Transport: transport}
		return func() error {
			if err := fetch(client, "http://"+address+"/page"); err != nil {
				return err
			}
			failed := make(chan error, tiles)
			var running sync.WaitGroup
			for i := range tiles {
				running.Add(1)
				go func() {
					defer running.Done()
					if err := fetch(client, fmt.Sprintf("http://%s/tile?i=%d&ms=%d", address, i, milliseconds)); err != nil {
						failed <- err
					}
				}()
			}
			running.Wait()
			close(failed)
			return <-failed
		}, nil
	})
}

// A pageTransport keeps up to so many connections of HTTP/1.1, or one of HTTP/2 without TLS.
func pageTransport(h2 bool, connections int, dial func(context.Context, string, string) (net.Conn, error)) http.RoundTripper {
	if !h2 {
		return &http.Transport{MaxConnsPerHost: connections, MaxIdleConnsPerHost: connections, DisableCompression: true, DialContext: dial}
	}
	return &http2.Transport{
		AllowHTTP:                  true,
		DisableCompression:         true,
		StrictMaxConcurrentStreams: true,
		DialTLSContext: func(ctx context.Context, network, to string, _ *tls.Config) (net.Conn, error) {
			return dial(ctx, network, to)
		},
	}
}

func fetch(client *http.Client, url string) error {
	response, err := client.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d", response.StatusCode)
	}
	return err
}
