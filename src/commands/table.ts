import type { CommandRow } from "./command.ts";

const SERVER = "The server:";
const TESTS = "For tests:";
const OTHERS = "About this program:";

/** All commands, in the order of `binnacle --help`. */
export const COMMANDS: readonly CommandRow[] = [
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
