package main

import (
	"context"
	"fmt"
	"math/rand"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A scraping client fetches 200 articles of 20 KB, so many at a time: by as many connections of HTTP/1.1, or by one of HTTP/2.
// Each scrape has connections of its own. What counts is its time, how many connections it opened, and the bytes on them.

const (
	articles    = 200
	articleSize = 20_000
)

// An article does not compress, so that the bytes on the wire are those of its size.
var article = func() []byte {
	text := make([]byte, articleSize)
	rand.New(rand.NewSource(1)).Read(text)
	return text
}()

func serveArticle(w http.ResponseWriter, r *http.Request) {
	if wait, _ := strconv.Atoi(r.URL.Query().Get("ms")); wait > 0 {
		time.Sleep(time.Duration(wait) * time.Millisecond)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", "max-age=300")
	w.Header().Set("Content-Length", strconv.Itoa(articleSize))
	w.Write(article)
}

// What went over the connections of all scrapes.
type traffic struct {
	connections, sent, received atomic.Int64
}

type countedConnection struct {
	net.Conn
	traffic *traffic
}

func (c countedConnection) Read(bytes []byte) (int, error) {
	count, err := c.Conn.Read(bytes)
	c.traffic.received.Add(int64(count))
	return count, err
}

func (c countedConnection) Write(bytes []byte) (int, error) {
	count, err := c.Conn.Write(bytes)
	c.traffic.sent.Add(int64(count))
	return count, err
}

func (t *traffic) dial(_ context.Context, network, address string) (net.Conn, error) {
	connection, err := net.Dial(network, address)
	if err != nil {
		return nil, err
	}
	t.connections.Add(1)
	return countedConnection{connection, t}, nil
}

func scrape(h2 bool, address string, milliseconds, parallel, seconds int) outcome {
	var all traffic
	result := repeat(1, seconds, func(int) (step, error) {
		return func() error {
			client := &http.Client{Transport: pageTransport(h2, parallel, all.dial)}
			defer client.CloseIdleConnections()
			return fetchArticles(client, address, milliseconds, parallel)
		}, nil
	})
	if result.Done > 0 {
		each := float64(result.Done)
		result.More = map[string]float64{
			"connections": float64(all.connections.Load()) / each,
			"sent":        float64(all.sent.Load()) / each / 1000,
			"received":    float64(all.received.Load()) / each / 1000,
		}
	}
	return result
}

func fetchArticles(client *http.Client, address string, milliseconds, parallel int) error {
	next := make(chan int, articles)
	for i := range articles {
		next <- i
	}
	close(next)
	failed := make(chan error, parallel)
	var running sync.WaitGroup
	for range parallel {
		running.Add(1)
		go func() {
			defer running.Done()
			for i := range next {
				if err := fetch(client, fmt.Sprintf("http://%s/article?i=%d&ms=%d", address, i, milliseconds)); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	running.Wait()
	close(failed)
	return <-failed
}
