// peer: both ends of what benchmarks/run measures where wrk and h2load do not do: servers, and clients that load a proxy.
//
//	peer serve                                         prints its ports as JSON, then serves
//	peer tunnel-fat|tunnel-short PROXY TARGET SECONDS  see tunnel.go
//	peer handshakes full|resumed ADDRESS SECONDS       see handshake.go
//	peer websocket ADDRESS PATH SECONDS                see websocket.go
//	peer grpc unary|stream ADDRESS SECONDS             see grpc.go
//	peer page h1|h2 ADDRESS MILLISECONDS SECONDS       see page.go
//	peer scrape h1|h2 ADDRESS MILLISECONDS PARALLEL SECONDS   see scrape.go
//	peer upload ADDRESS PATH SECONDS                   see upload.go
//	peer rate ADDRESS PATH PER_SECOND SECONDS          see rate.go
//	peer idle h1|h2|tunnel ADDRESS TARGET COUNT        see idle.go
//
// A client prints one line of JSON: what was done, in how many seconds, quantiles of its latency, what went wrong.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"time"
)

type outcome struct {
	Done    int64    `json:"done"`
	Seconds float64  `json:"seconds"`
	P50     float64  `json:"p50"`
	P99     float64  `json:"p99"`
	P999    float64  `json:"p999"`
	Errors  []string `json:"errors"`

	More map[string]float64 `json:"more,omitempty"` // other figures, by name
}

// A step does one unit of work.
type step func() error

// repeat runs clients side by side until time is up, each of them step by step. A client ends at its first error.
func repeat(clients, seconds int, connect func(number int) (step, error)) outcome {
	var lock sync.Mutex
	var all []time.Duration
	var errors []string
	var running sync.WaitGroup
	start := time.Now()
	end := start.Add(time.Duration(seconds) * time.Second)
	for number := range clients {
		running.Add(1)
		go func() {
			defer running.Done()
			var times []time.Duration
			next, err := connect(number)
			for err == nil {
				begun := time.Now()
				if begun.After(end) {
					break
				}
				if err = next(); err == nil {
					times = append(times, time.Since(begun))
				}
			}
			lock.Lock()
			defer lock.Unlock()
			all = append(all, times...)
			if err != nil {
				errors = append(errors, err.Error())
			}
		}()
	}
	running.Wait()
	return summary(all, time.Since(start), errors)
}

func summary(times []time.Duration, wall time.Duration, errors []string) outcome {
	slices.Sort(times)
	at := func(share float64) float64 {
		if len(times) == 0 {
			return 0
		}
		return times[min(len(times)-1, int(float64(len(times))*share))].Seconds()
	}
	return outcome{int64(len(times)), wall.Seconds(), at(0.5), at(0.99), at(0.999), errors, nil}
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func number(text string) int {
	value, err := strconv.Atoi(text)
	check(err)
	return value
}

func listen() (net.Listener, int) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	return listener, listener.Addr().(*net.TCPAddr).Port
}

func serve() {
	tunnels, tunnelPort := listen()
	pages, pagePort := listen()
	calls, callPort := listen()
	go serveTunnels(tunnels)
	go servePages(pages)
	go serveCalls(calls)
	check(json.NewEncoder(os.Stdout).Encode(map[string]int{"tunnel": tunnelPort, "page": pagePort, "grpc": callPort}))
	select {}
}

func main() {
	modes := map[string]struct {
		arguments int
		run       func(a []string) outcome
	}{
		"tunnel-fat":   {3, func(a []string) outcome { return fat(a[0], a[1], number(a[2])) }},
		"tunnel-short": {3, func(a []string) outcome { return short(a[0], a[1], number(a[2])) }},
		"handshakes":   {3, func(a []string) outcome { return handshakes(a[0] == "resumed", a[1], number(a[2])) }},
		"websocket":    {3, func(a []string) outcome { return webSockets(a[0], a[1], number(a[2])) }},
		"grpc":         {3, func(a []string) outcome { return calls(a[0] == "stream", a[1], number(a[2])) }},
		"page":         {4, func(a []string) outcome { return pages(a[0] == "h2", a[1], number(a[2]), number(a[3])) }},
		"scrape": {5, func(a []string) outcome {
			return scrape(a[0] == "h2", a[1], number(a[2]), number(a[3]), number(a[4]))
		}},
		"upload": {3, func(a []string) outcome { return upload(a[0], a[1], number(a[2])) }},
		"rate":   {4, func(a []string) outcome { return rate(a[0], a[1], number(a[2]), number(a[3])) }},
	}
	if len(os.Args) == 2 && os.Args[1] == "serve" {
		serve()
	}
	if len(os.Args) == 6 && os.Args[1] == "idle" {
		idle(os.Args[2], os.Args[3], os.Args[4], number(os.Args[5]))
		return
	}
	if len(os.Args) < 2 || len(os.Args)-2 != modes[os.Args[1]].arguments {
		check(fmt.Errorf("see main.go for how to use this"))
	}
	check(json.NewEncoder(os.Stdout).Encode(modes[os.Args[1]].run(os.Args[2:])))
}
