package main

import (
	"bytes"
	"fmt"
	"net"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

const rateConnections = 64

// rate sends requests when they are due, over 64 connections in turn, whether the proxy keeps up or not. Time counts from
// when a request was due if an earlier one on its connection made it wait, and else from when it was sent: that this
// program itself woke up late is not the proxy's latency. One thread does it all by epoll, without the runtime's
// goroutines: they take so much of the processor, which the upstream has to share, that most of the time told would be
// spent in waiting for it.
func rate(address, path string, perSecond, seconds int) outcome {
	debug.SetGCPercent(-1) // what this makes is little, and its collection would be in the way
	total := perSecond * seconds
	gap := time.Second / time.Duration(perSecond)
	poll, err := unix.EpollCreate1(0)
	check(err)
	request := []byte("GET " + path + " HTTP/1.1\r\nHost: " + address + "\r\n\r\n")
	connections := make([]*paced, rateConnections)
	for i := range connections {
		connections[i] = newPaced(poll, i, address, request, total/rateConnections+1)
	}
	clock, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, 0)
	check(err)
	often := unix.ItimerSpec{Interval: unix.NsecToTimespec(int64(gap)), Value: unix.NsecToTimespec(int64(gap))}
	check(unix.TimerfdSettime(clock, 0, &often, nil))
	watch(poll, clock, rateConnections)

	start := time.Now()
	end := start.Add(time.Duration(seconds+10) * time.Second)
	sent, ended := 0, 0
	var events [rateConnections + 1]unix.EpollEvent
	var expirations [8]byte
	for ended < total && time.Now().Before(end) {
		count, err := unix.EpollWait(poll, events[:], 1000)
		if err != nil && err != unix.EINTR {
			check(err)
		}
		for _, event := range events[:max(0, count)] {
			if event.Fd < rateConnections {
				ended += connections[event.Fd].receive()
			} else {
				unix.Read(clock, expirations[:]) // else it would stay ready, and nothing wait
			}
		}
		for ; sent < total && time.Since(start) >= time.Duration(sent)*gap; sent++ {
			ended += connections[sent%rateConnections].offer()
		}
	}

	var times []time.Duration
	var errors []string
	for _, c := range connections {
		times = append(times, c.times...)
		if c.err == nil && len(c.due) > 0 {
			c.err = fmt.Errorf("%d requests were not answered", len(c.due))
		}
		if c.err != nil {
			errors = append(errors, c.err.Error())
		}
	}
	return summary(times, time.Since(start), errors)
}

func watch(poll, descriptor, number int) {
	event := unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(number)}
	check(unix.EpollCtl(poll, unix.EPOLL_CTL_ADD, descriptor, &event))
}

// A paced connection has one request on its way at a time. Once it has failed, what is due on it is left out.
type paced struct {
	socket  int
	request []byte
	due     []time.Time // of what has no answer yet, the first being on its way
	times   []time.Duration
	unread  []byte
	buffer  [8192]byte
	err     error
}

func newPaced(poll, number int, address string, request []byte, most int) *paced {
	peer, err := net.ResolveTCPAddr("tcp4", address)
	check(err)
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	check(err)
	check(unix.Connect(socket, &unix.SockaddrInet4{Port: peer.Port, Addr: [4]byte(peer.IP.To4())}))
	check(unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1))
	check(unix.SetNonblock(socket, true))
	watch(poll, socket, number)
	c := &paced{socket: socket, request: request, due: make([]time.Time, 0, most), times: make([]time.Duration, 0, most)}
	c.unread = c.buffer[:0]
	return c
}

// offer sends a request now, or once what is owed has been answered; returns how many requests have ended by it.
func (c *paced) offer() int {
	if c.err != nil {
		return 1
	}
	c.due = append(c.due, time.Now())
	if len(c.due) == 1 {
		return c.send()
	}
	return 0
}

func (c *paced) send() int {
	if _, c.err = unix.Write(c.socket, c.request); c.err != nil {
		return c.fail()
	}
	return 0
}

// receive takes in what has come; returns how many requests have ended by it.
func (c *paced) receive() int {
	count, err := unix.Read(c.socket, c.buffer[len(c.unread):])
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return 0
	case err == nil && count == 0:
		err = fmt.Errorf("closed, or an answer of more than %d bytes", len(c.buffer))
	}
	if c.err = err; err != nil {
		return c.fail()
	}
	c.unread = c.buffer[:len(c.unread)+count]
	length, err := responseLength(c.unread)
	if c.err = err; err != nil {
		return c.fail()
	}
	if length == 0 || length > len(c.unread) {
		return 0
	}
	if len(c.due) == 0 || length != len(c.unread) {
		c.err = fmt.Errorf("more than was asked for")
		return c.fail()
	}
	c.unread = c.buffer[:0]
	c.times = append(c.times, time.Since(c.due[0]))
	c.due = c.due[1:]
	if len(c.due) > 0 {
		return 1 + c.send()
	}
	return 1
}

func (c *paced) fail() int {
	unix.Close(c.socket)
	failed := len(c.due)
	c.due = nil
	return failed
}

// responseLength returns how long the response is that begins here, 0 if its head has not come yet.
func responseLength(bytesRead []byte) (int, error) {
	head, _, whole := bytes.Cut(bytesRead, []byte("\r\n\r\n"))
	if !whole {
		return 0, nil
	}
	status, fields, _ := bytes.Cut(head, []byte("\r\n"))
	if !bytes.Contains(status, []byte(" 200 ")) {
		return 0, fmt.Errorf("status %s", status)
	}
	for len(fields) > 0 {
		var line []byte
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("content-length")) {
			length, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return len(head) + 4 + length, err
		}
	}
	return 0, fmt.Errorf("a response without Content-Length")
}
