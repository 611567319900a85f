package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

const (
	frameData         = 0
	frameHeaders      = 1
	frameReset        = 3
	frameSettings     = 4
	framePing         = 6
	frameGoAway       = 7
	frameWindowUpdate = 8
	flagAck           = 1
	flagEndStream     = 1
	flagEndHeaders    = 4
	maxWindow         = 1<<31 - 1
	refillAt          = 1 << 29
)

// mark precedes the number and the time of sending in an event: "bench/mark":"12-1731650000000000"
var mark = []byte(`"bench/mark":"`)

type stream struct {
	events  int64
	sum     int64
	squares int64
	partial []byte
}

// isWhole tells whether exactly the events 1 to n have come, each once.
func (s *stream) isWhole() bool {
	n := s.events
	return s.sum == n*(n+1)/2 && s.squares == n*(n+1)*(2*n+1)/6
}

type connection struct {
	socket   *tls.Conn
	reader   *bufio.Reader
	paths    []string
	token    string
	host     string
	lock     sync.Mutex
	streams  []*stream
	late     []int32
	bytes    int64
	unfilled int
}

func dial(address, token string, paths []string) (*connection, error) {
	socket, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		return nil, err
	}
	c := &connection{socket: socket, reader: bufio.NewReaderSize(socket, 128<<10), paths: paths, token: token, host: address}
	for range paths {
		c.streams = append(c.streams, &stream{})
	}
	settings := binary.BigEndian.AppendUint32([]byte{0, 4}, maxWindow)
	settings = binary.BigEndian.AppendUint32(append(settings, 0, 2), 0)
	hello := append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(frameSettings, 0, 0, settings)...)
	hello = append(hello, windowUpdate(maxWindow-65535)...)
	_, err = socket.Write(hello)
	return c, err
}

func frame(kind, flags byte, id uint32, payload []byte) []byte {
	size := len(payload)
	head := []byte{byte(size >> 16), byte(size >> 8), byte(size), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, id), payload...)
}

func windowUpdate(step uint32) []byte {
	return frame(frameWindowUpdate, 0, 0, binary.BigEndian.AppendUint32(nil, step))
}

// literal is a header field that neither side remembers; names are given by their index in the static table.
func literal(index byte, value string) []byte {
	field := []byte{index}
	if index >= 15 {
		field = []byte{15, index - 15}
	}
	if len(value) < 127 {
		return append(append(field, byte(len(value))), value...)
	}
	field = append(field, 127)
	rest := len(value) - 127
	for ; rest >= 128; rest >>= 7 {
		field = append(field, byte(rest&127|128))
	}
	return append(append(field, byte(rest)), value...)
}

func (c *connection) open() error {
	for i, path := range c.paths {
		block := []byte{0x82, 0x87}
		block = append(block, literal(4, path)...)
		block = append(block, literal(1, c.host)...)
		block = append(block, literal(23, "Bearer "+c.token)...)
		block = append(block, literal(19, "application/json")...)
		if _, err := c.socket.Write(frame(frameHeaders, flagEndStream|flagEndHeaders, uint32(2*i+1), block)); err != nil {
			return err
		}
	}
	return nil
}

// run opens the watches and reads until the connection fails. It tells when all of them have been accepted.
func (c *connection) run(ready *sync.WaitGroup) error {
	if err := c.open(); err != nil {
		return err
	}
	waiting := len(c.streams)
	payload := make([]byte, 1<<14)
	var head [9]byte
	for {
		if _, err := io.ReadFull(c.reader, head[:]); err != nil {
			return err
		}
		size := int(head[0])<<16 | int(head[1])<<8 | int(head[2])
		if size > len(payload) {
			payload = make([]byte, size)
		}
		body := payload[:size]
		if _, err := io.ReadFull(c.reader, body); err != nil {
			return err
		}
		id := binary.BigEndian.Uint32(head[5:]) & maxWindow
		switch head[3] {
		case frameHeaders:
			if err := c.accept(id, body); err != nil {
				return err
			}
			if waiting--; waiting == 0 {
				ready.Done()
			}
		case frameData:
			if head[4]&flagEndStream != 0 {
				return fmt.Errorf("stream %d ended", id)
			}
			if err := c.take(c.streams[(id-1)/2], body); err != nil {
				return err
			}
		case frameReset, frameGoAway:
			return fmt.Errorf("the server gave up stream %d: %x", id, body)
		case frameSettings, framePing:
			if head[4]&flagAck == 0 {
				answer := body
				if head[3] == frameSettings {
					answer = nil
				}
				if _, err := c.socket.Write(frame(head[3], flagAck, 0, answer)); err != nil {
					return err
				}
			}
		}
	}
}

func (c *connection) accept(id uint32, block []byte) error {
	for len(block) > 0 && block[0]>>5 == 1 {
		block = block[1:]
	}
	// 0x88 is the static table's ":status: 200".
	if len(block) == 0 || block[0] != 0x88 {
		return fmt.Errorf("stream %d was refused: %q", id, block)
	}
	return nil
}

func (c *connection) take(s *stream, data []byte) error {
	now := time.Now().UnixMicro()
	events := int64(0)
	c.lock.Lock()
	c.bytes += int64(len(data))
	for rest := data; len(rest) > 0; {
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			s.partial = append(s.partial, rest...)
			break
		}
		line := rest[:end]
		if len(s.partial) > 0 {
			s.partial = append(s.partial, line...)
			line = s.partial
		}
		if c.note(s, line, now) {
			events++
		}
		s.partial = s.partial[:0]
		rest = rest[end+1:]
	}
	c.lock.Unlock()
	if events > 0 {
		count(events)
	}
	c.unfilled += len(data)
	if c.unfilled < refillAt {
		return nil
	}
	_, err := c.socket.Write(windowUpdate(uint32(c.unfilled)))
	c.unfilled = 0
	return err
}

// note counts an event if it carries a mark; deletions of marked objects do not count.
func (c *connection) note(s *stream, line []byte, now int64) bool {
	if !bytes.HasPrefix(line, []byte(`{"type":"ADDED"`)) {
		return false
	}
	at := bytes.Index(line, mark)
	if at < 0 {
		return false
	}
	text := line[at+len(mark):]
	dash, end := bytes.IndexByte(text, '-'), bytes.IndexByte(text, '"')
	if dash < 0 || end < dash {
		return false
	}
	number, _ := strconv.ParseInt(string(text[:dash]), 10, 64)
	sent, _ := strconv.ParseInt(string(text[dash+1:end]), 10, 64)
	s.events++
	s.sum += number
	s.squares += number * number
	c.late = append(c.late, int32(now-sent))
	return true
}

func (c *connection) reset() {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.late = c.late[:0]
	c.bytes = 0
	for _, s := range c.streams {
		s.events, s.sum, s.squares = 0, 0, 0
	}
}

func percentiles(late []int32) (p50, p99, most float64) {
	if len(late) == 0 {
		return 0, 0, 0
	}
	slices.Sort(late)
	at := func(share float64) float64 { return float64(late[int(share*float64(len(late)-1))]) / 1000 }
	return at(0.5), at(0.99), at(1)
}
