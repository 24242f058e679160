package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"
	"time"
)

const rateConnections = 64

// rate sends requests when they are due, over 64 connections in turn, whether the proxy keeps up or not. Time counts from
// when a request was due if an earlier one on its connection made it wait, and else from when it was sent: that this
// program itself woke up late is not the proxy's latency.
func rate(address, path string, perSecond, seconds int) outcome {
	debug.SetGCPercent(-1) // what this makes is little, and its collection would be in the way
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n")
	connections := make([]*paced, rateConnections)
	for i := range connections {
		socket, err := net.Dial("tcp", address)
		check(err)
		check(socket.SetDeadline(time.Now().Add(time.Duration(seconds+10) * time.Second)))
		// Room for all there will be, so that offering never waits.
		due := make(chan time.Time, perSecond*seconds/rateConnections+1)
		connections[i] = &paced{socket: socket, request: request, due: due, times: make([]time.Duration, 0, cap(due))}
	}
	var running sync.WaitGroup
	for _, c := range connections {
		running.Add(1)
		go func() {
			defer running.Done()
			c.run()
		}()
	}
	start := time.Now()
	gap := time.Second / time.Duration(perSecond)
	for i := 0; i < perSecond*seconds; i++ {
		at := start.Add(time.Duration(i) * gap)
		if wait := time.Until(at); wait > 0 {
			pause := syscall.NsecToTimespec(int64(wait)) // finer than timers of the runtime
			syscall.Nanosleep(&pause, nil)
		}
		connections[i%rateConnections].offer()
	}
	var times []time.Duration
	var errors []string
	for _, c := range connections {
		close(c.due)
	}
	running.Wait()
	for _, c := range connections {
		times = append(times, c.times...)
		if c.err != nil {
			errors = append(errors, c.err.Error())
		}
	}
	return summary(times, time.Since(start), errors)
}

// A paced connection has one request on its way at a time.
type paced struct {
	socket  net.Conn
	request []byte
	due     chan time.Time
	lock    sync.Mutex
	busy    bool
	times   []time.Duration
	err     error
}

// offer sends a request now, or leaves it to the reader if an answer is still owed.
func (c *paced) offer() {
	now := time.Now()
	c.lock.Lock()
	waits := c.busy
	c.busy = true
	c.due <- now
	c.lock.Unlock()
	if !waits {
		c.socket.Write(c.request)
	}
}

func (c *paced) run() {
	in := bufio.NewReader(c.socket)
	for due := range c.due {
		if c.err != nil {
			continue
		}
		if c.err = skipResponse(in); c.err != nil {
			continue
		}
		c.times = append(c.times, time.Since(due))
		c.lock.Lock()
		c.busy = len(c.due) > 0
		waits := c.busy
		c.lock.Unlock()
		if waits {
			_, c.err = c.socket.Write(c.request)
		}
	}
	c.socket.Close()
}

// skipResponse reads a response of known length.
func skipResponse(in *bufio.Reader) error {
	status, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.Contains(status, []byte(" 200 ")) {
		return fmt.Errorf("status %s", bytes.TrimSpace(status))
	}
	length := -1
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("content-length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return fmt.Errorf("a response without Content-Length")
	}
	_, err = io.CopyN(io.Discard, in, int64(length))
	return err
}
