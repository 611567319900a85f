import { flagTypes } from "./apiserver-flags.ts";

/**
 * Output of `kube-apiserver --help`: all flags, in the form that envtest searches for, `^\s*--name\b`. docs/go.md lists
 * which of them have an effect.
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

/** Output of `etcd --help`. */
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
