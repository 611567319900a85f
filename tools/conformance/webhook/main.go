// Package main runs the webhook of the conformance tests' image as a program of its own.
package main

import (
	"os"

	"k8s.io/kubernetes/test/images/agnhost/webhook"
)

func main() {
	if webhook.CmdWebhook.Execute() != nil {
		os.Exit(1)
	}
}
