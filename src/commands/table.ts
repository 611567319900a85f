import type { CommandRow } from "./command.ts";

const LOCAL = "A local control plane:";
const SERVER = "The server:";
const TESTS = "For tests:";
const STATE = "The state of clusters:";
const OTHERS = "About this program:";

/** All commands, in the order of `binnacle --help`. */
export const COMMANDS: readonly CommandRow[] = [
  {
    name: "up",
    summary: "Start a local control plane and set up kubectl for it",
    group: LOCAL,
    load: () => import("./up.ts"),
  },
  {
    name: "down",
    summary: "Stop the local control plane",
    group: LOCAL,
    load: () => import("./down.ts"),
  },
  {
    name: "status",
    summary: "Tell whether one runs, where, and what in it",
    group: LOCAL,
    load: () => import("./status.ts"),
  },
  {
    name: "run",
    summary: "Run a program with a control plane that lives as long as it",
    group: LOCAL,
    load: () => import("./run.ts"),
  },
  {
    name: "apply",
    summary: "Apply manifests to the local control plane",
    group: LOCAL,
    load: () => import("./apply.ts"),
  },
  {
    name: "kubeconfig",
    summary: "Print its kubeconfig, or merge it into yours",
    group: LOCAL,
    load: () => import("./kubeconfig.ts"),
  },
  {
    name: "logs",
    summary: "Print what the server in the background says",
    group: LOCAL,
    load: () => import("./logs.ts"),
  },
  {
    name: "reset",
    summary: "Delete all objects of the local control plane",
    group: LOCAL,
    load: () => import("./reset.ts"),
  },
  {
    name: "serve",
    summary: "Serve the API with the flags of kube-apiserver, until interrupted",
    group: SERVER,
    load: () => import("./serve.ts"),
  },
  {
    name: "auth",
    summary: "Ask a running server who may do what, and why",
    group: SERVER,
    load: () => import("./auth.ts"),
  },
  {
    name: "explain-admission",
    summary: "Tell who would change or refuse a write, and by which expression",
    group: SERVER,
    load: () => import("./explain-admission.ts"),
  },
  {
    name: "controllers",
    summary: "List the loops that run in the server, and those that do not",
    group: SERVER,
    load: () => import("./controllers.ts"),
  },
  {
    name: "plugins",
    summary: "List the admission plugins",
    group: SERVER,
    load: () => import("./plugins.ts"),
  },
  {
    name: "envtest",
    summary: "Print a folder of programs with which Go tests start Binnacle instead of kube-apiserver and etcd",
    group: TESTS,
    load: () => import("./envtest.ts"),
  },
  {
    name: "diff",
    summary: "Tell what manifests would change in a cluster and what would be refused, from a dump of it",
    group: STATE,
    failureCode: 3,
    load: () => import("./diff.ts"),
  },
  {
    name: "export",
    summary: "Print all objects of a server, a store or a snapshot of etcd",
    group: STATE,
    load: () => import("./export.ts"),
  },
  {
    name: "import",
    summary: "Put the objects of a dump into a store, as they are",
    group: STATE,
    load: () => import("./import.ts"),
  },
  {
    name: "version",
    summary: "Print the version of this program",
    group: OTHERS,
    load: () => import("./version.ts"),
  },
  {
    name: "completion",
    summary: "Print a script by which a shell completes commands and flags",
    group: OTHERS,
    load: () => import("./completion.ts"),
  },
];
