import { flagTypes } from "./apiserver-flags.ts";

/**
 * What `kube-apiserver --help` prints: all flags, in the form that envtest searches, `^\s*--name\b`. Which of them have an effect
 * is not said here: docs/go.md does.
 */
export function apiserverHelp(): string {
  const lines = [...flagTypes]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, type]) => {
      return `      --${name}${type === "bool" ? "" : ` ${type}`}`;
    });
  return [
    "Binnacle in the place of kube-apiserver: serves the Kubernetes API to tests.",
    "",
    "Usage:",
    "  kube-apiserver [flags]",
    "",
    "Flags of release 1.37:",
    "",
    ...lines,
    "",
  ].join("\n");
}

/** What `etcd --help` prints. */
export function etcdHelp(): string {
  return [
    "Binnacle in the place of etcd: answers /health where --listen-client-urls says, and keeps nothing.",
    "",
    "Usage:",
    "  etcd [flags]",
    "",
    "      --listen-client-urls string",
    "",
  ].join("\n");
}
