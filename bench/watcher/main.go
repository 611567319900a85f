// Watcher opens many watches over few HTTP/2 connections, counts their events and measures how late they come. It
// speaks just enough HTTP/2 for that, so that it needs a fraction of the processor time of the server it measures.
//
// It prints one JSON document per line. After "ready" it takes commands by standard input, one per line:
//
//	expect N   forget what was counted; print "done" when every watcher has got N more events
//	report     print what was counted
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

type totals struct {
	Event    string  `json:"event"`
	Watchers int     `json:"watchers"`
	Events   int64   `json:"events"`
	Fewest   int64   `json:"fewest"`
	Most     int64   `json:"most"`
	Wrong    int     `json:"wrong"`
	P50Ms    float64 `json:"p50Ms"`
	P99Ms    float64 `json:"p99Ms"`
	MaxMs    float64 `json:"maxMs"`
	Bytes    int64   `json:"bytes"`
}

var (
	received atomic.Int64
	wanted   atomic.Int64
	reached  = make(chan struct{}, 1)
	output   sync.Mutex
)

func say(value any) {
	output.Lock()
	defer output.Unlock()
	if err := json.NewEncoder(os.Stdout).Encode(value); err != nil {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "watcher:", err)
	os.Exit(1)
}

func main() {
	address := flag.String("address", "", "host:port of the server")
	token := flag.String("token", "", "bearer token")
	connections := flag.Int("connections", 1, "how many connections")
	streams := flag.Int("streams", 1, "watches per connection")
	paths := flag.String("paths", "", "paths to watch, separated by blanks; given out in turn, with the number of the watch for {n}")
	flag.Parse()
	list := strings.Fields(*paths)

	all := make([]*connection, *connections)
	var ready sync.WaitGroup
	for i := range all {
		own := make([]string, *streams)
		for j := range own {
			number := i**streams + j
			own[j] = strings.ReplaceAll(list[number%len(list)], "{n}", strconv.Itoa(number))
		}
		c, err := dial(*address, *token, own)
		if err != nil {
			fail(err)
		}
		all[i] = c
		ready.Add(1)
		go func() {
			if err := c.run(&ready); err != nil {
				fail(err)
			}
		}()
	}
	ready.Wait()
	say(map[string]any{"event": "ready"})
	go announce(all)

	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		words := strings.Fields(input.Text())
		switch {
		case len(words) == 2 && words[0] == "expect":
			each, err := strconv.ParseInt(words[1], 10, 64)
			if err != nil {
				fail(err)
			}
			for _, c := range all {
				c.reset()
			}
			received.Store(0)
			wanted.Store(each * int64(len(all)**streams))
			say(map[string]any{"event": "armed"})
		case len(words) == 1 && words[0] == "report":
			say(sum("report", all))
		}
	}
}

func announce(all []*connection) {
	for range reached {
		say(sum("done", all))
	}
}

func count(events int64) {
	if total := received.Add(events); total == wanted.Load() {
		reached <- struct{}{}
	}
}

func sum(event string, all []*connection) totals {
	result := totals{Event: event, Fewest: 1 << 62}
	var late []int32
	for _, c := range all {
		c.lock.Lock()
		result.Bytes += c.bytes
		late = append(late, c.late...)
		for _, s := range c.streams {
			result.Watchers++
			result.Events += s.events
			result.Fewest = min(result.Fewest, s.events)
			result.Most = max(result.Most, s.events)
			if !s.isWhole() {
				result.Wrong++
			}
		}
		c.lock.Unlock()
	}
	result.P50Ms, result.P99Ms, result.MaxMs = percentiles(late)
	return result
}
