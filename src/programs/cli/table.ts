import type { CommandRow } from "./command.ts";

const LOCAL = "Local control plane:";
const SERVER = "Server:";
const TESTS = "Tests:";
const STATE = "Cluster state:";
const OTHERS = "Other:";

/** All commands, in the order of `binnacle --help`. */
export const COMMANDS: readonly CommandRow[] = [
  {
    name: "up",
    summary: "Start a local control plane and configure kubectl for it",
    group: LOCAL,
    load: () => import("./commands/up.ts"),
  },
  {
    name: "down",
    summary: "Stop the local control plane",
    group: LOCAL,
    load: () => import("./commands/down.ts"),
  },
  {
    name: "status",
    summary: "Show whether a local server is running",
    group: LOCAL,
    load: () => import("./commands/status.ts"),
  },
  {
    name: "run",
    summary: "Run a program with a temporary control plane",
    group: LOCAL,
    load: () => import("./commands/run.ts"),
  },
  {
    name: "apply",
    summary: "Apply manifests to the local control plane (server-side, taking over fields of other managers)",
    group: LOCAL,
    load: () => import("./commands/apply.ts"),
  },
  {
    name: "kubeconfig",
    summary: "Print the kubeconfig of the local control plane, or merge it into yours",
    group: LOCAL,
    load: () => import("./commands/kubeconfig.ts"),
  },
  {
    name: "logs",
    summary: "Print the log of the server in the background",
    group: LOCAL,
    load: () => import("./commands/logs.ts"),
  },
  {
    name: "reset",
    summary: "Stop the local control plane and delete all objects in its data folder",
    group: LOCAL,
    load: () => import("./commands/reset.ts"),
  },
  {
    name: "serve",
    summary: "Serve the API until interrupted, with the main flags of kube-apiserver",
    group: SERVER,
    load: () => import("./commands/serve.ts"),
  },
  {
    name: "auth",
    summary: "Explain why a running server allows or denies a request",
    group: SERVER,
    load: () => import("./commands/auth.ts"),
  },
  {
    name: "explain-admission",
    summary: "Show which plugins, policies and webhooks would change or deny a write",
    group: SERVER,
    load: () => import("./commands/explain-admission.ts"),
  },
  {
    name: "controllers",
    summary: "List the controllers of kube-controller-manager and whether the server runs them",
    group: SERVER,
    load: () => import("./commands/controllers.ts"),
  },
  {
    name: "plugins",
    summary: "List the admission plugins",
    group: SERVER,
    load: () => import("./commands/plugins.ts"),
  },
  {
    name: "envtest",
    summary: "Print a folder for KUBEBUILDER_ASSETS, so that Go tests with envtest start Binnacle",
    group: TESTS,
    load: () => import("./commands/envtest.ts"),
  },
  {
    name: "diff",
    summary: "Show what manifests would change in a cluster and what would be denied, based on a dump",
    group: STATE,
    failureCode: 3,
    load: () => import("./commands/diff.ts"),
  },
  {
    name: "export",
    summary: "Print all objects of a server, a store or an etcd snapshot",
    group: STATE,
    load: () => import("./commands/export.ts"),
  },
  {
    name: "import",
    summary: "Write the objects of a dump into a store",
    group: STATE,
    load: () => import("./commands/import.ts"),
  },
  {
    name: "version",
    summary: "Print the version",
    group: OTHERS,
    load: () => import("./commands/version.ts"),
  },
  {
    name: "completion",
    summary: "Print a shell completion script",
    group: OTHERS,
    load: () => import("./completion.ts"),
  },
];
