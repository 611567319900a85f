// Prints the times that kube-controller-manager finds for the schedules of CronJobs. Each line of the input is a case, each line of the output its answer.
package main

import (
	"encoding/json"
	"io"
	"log"
	"os"
	"time"
	_ "time/tzdata"

	"k8s.io/kubernetes/pkg/util/parsers"
)

type question struct {
	Schedule string `json:"schedule"`
	After    int64  `json:"after"`
	Count    int    `json:"count"`
}

type answer struct {
	Problem string  `json:"problem,omitempty"`
	Times   []int64 `json:"times"`
}

func main() {
	decoder := json.NewDecoder(os.Stdin)
	encoder := json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := decoder.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			log.Fatal(err)
		}
		if err := encoder.Encode(answerTo(asked)); err != nil {
			log.Fatal(err)
		}
	}
}

func answerTo(asked question) answer {
	schedule, err := parsers.ParseCronScheduleWithPanicRecovery(asked.Schedule)
	if err != nil {
		return answer{Problem: err.Error(), Times: []int64{}}
	}
	times := []int64{}
	at := time.UnixMilli(asked.After).UTC()
	for len(times) < asked.Count {
		at = schedule.Next(at)
		if at.IsZero() {
			break
		}
		times = append(times, at.UnixMilli())
	}
	return answer{Times: times}
}
