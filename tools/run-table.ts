import type { Program as Tool } from "../test/support/tools.ts";

/** A program of this repository that `npm run GROUP NAME` starts. */
export interface Program {
  readonly name: string;
  /** One line for the list. */
  readonly does: string;
  /** Started one after the other, each with the arguments of the call. */
  readonly files?: readonly string[];
  /** Test files, or patterns of them, that one `node --test` runs. */
  readonly tests?: readonly string[];
  readonly nodeFlags?: readonly string[];
  /** The Node to use. Default: the current one. */
  readonly node?: Tool;
  /** Environment variables. Those of the caller win. */
  readonly env?: Readonly<Record<string, string>>;
  /** Runs `npm run build` first. */
  readonly needsBuild?: boolean;
  /** Without these a call that runs the whole group skips the program. A program called by name reports what it lacks. */
  readonly needs?: readonly Tool[];
}

/** The programs behind one npm script. */
export interface Group {
  readonly does: string;
  /** What a call without a name does. */
  readonly withoutName: "list" | "run all";
  readonly programs: readonly Program[];
}

const bench: Group = {
  does: "Benchmarks. docs/performance.md has the results.",
  withoutName: "list",
  programs: [
    {
      name: "startup",
      does: "time from process start to /readyz, idle memory, and time from up to three Ready replicas",
      files: ["bench/startup.ts", "bench/up.ts"],
      needsBuild: true,
    },
    {
      name: "simulated-day",
      does: "a day of a simulated cluster, twice with one seed; --nodes N, --hours N, --seed N",
      files: ["bench/simulated-day.ts"],
    },
    {
      name: "cluster-forks",
      does: "cost of forks of a simulated cluster with 100 Pods; arguments: FORKS ACTING",
      files: ["bench/cluster-forks.ts"],
    },
    {
      name: "tutorial",
      does: "duration of each kubectl command of the basics tutorial with binnacle up",
      files: ["bench/tutorial.ts"],
      env: { BINNACLE_CLI: "dist/cli.js" },
      needsBuild: true,
    },
    {
      name: "lists",
      does: "lists of 12,000 Pods beside kube-apiserver, then many clients that list 100,000",
      files: ["bench/lists.ts", "bench/lists-many.ts"],
      needsBuild: true,
    },
    {
      name: "cluster",
      does: "Deployments scaled up and down by the real controller manager, scheduler and KWOK",
      files: ["bench/cluster.ts"],
    },
    {
      name: "cron-jobs",
      does: "processor time of 24 hours of 100 CronJobs on a driven clock; arguments: schedule, number",
      files: ["bench/cron-jobs.ts"],
    },
    {
      name: "rollouts",
      does: "processor time of rollouts of a Deployment on a driven clock; arguments: replicas, rollouts",
      files: ["bench/rollouts.ts"],
    },
    {
      name: "controllers",
      does: "how costs of controllers grow with Pods, their heap, and idle costs; arguments: parts",
      files: ["bench/controllers.ts"],
      nodeFlags: ["--expose-gc"],
    },
    {
      name: "scheduling",
      does: "decisions of the scheduler per second at 100, 1,000 and 10,000 nodes; arguments: numbers of nodes",
      files: ["bench/scheduling.ts"],
    },
    {
      name: "watches",
      does: "1,000 watches of Pods beside kube-apiserver (compare), then 10,000 alone (many)",
      files: ["bench/watches.ts"],
      needsBuild: true,
    },
    {
      name: "creates",
      does: "Pods created per second beside kube-apiserver and bare etcd transactions",
      files: ["bench/creates.ts"],
      needsBuild: true,
    },
    {
      name: "requests",
      does: "processor time per request, beside kube-apiserver and a bare Node server; --profile, --help",
      files: ["bench/requests.ts"],
      needsBuild: true,
    },
    {
      name: "policies",
      does: "processor time per Pod with 0, 100 and 1,000 admission policies",
      files: ["bench/policies.ts"],
    },
    {
      name: "fairness",
      does: "how long others wait while two users flood both servers; BENCH_FLOODS, BENCH_SECONDS",
      files: ["bench/fairness.ts"],
    },
    { name: "tokens", does: "service account tokens authenticated per second", files: ["bench/tokens.ts"] },
    {
      name: "authorization",
      does: "time per RBAC decision with many roles and bindings; arguments: role counts",
      files: ["bench/authorization.ts"],
    },
    {
      name: "streams",
      does: "port-forward throughput, and memory of open exec streams",
      files: ["bench/streams.ts"],
    },
    {
      name: "definitions",
      does: "500 CustomResourceDefinitions of 100 KB created at once, beside kube-apiserver",
      files: ["bench/definitions.ts"],
      needsBuild: true,
    },
    {
      name: "custom-objects",
      does: "100,000 custom objects beside as many ConfigMaps",
      files: ["bench/custom-objects.ts"],
      needsBuild: true,
    },
    {
      name: "million",
      does: "a million ConfigMaps in the memory store",
      files: ["bench/million.ts"],
      nodeFlags: ["--max-old-space-size=8192"],
    },
    {
      name: "publication",
      does: "time from the creation of a definition to its discovery and OpenAPI document",
      files: ["bench/publication.ts"],
    },
    {
      name: "control-planes",
      does: "control planes in one test process: the first, further ones, forks and resets",
      files: ["bench/control-planes.ts"],
      nodeFlags: ["--expose-gc"],
      needsBuild: true,
    },
    {
      name: "test-suites",
      does: "200 tests with a server each: fork, new control plane, new server, kube-apiserver",
      files: ["bench/test-suites.ts"],
      needsBuild: true,
    },
    { name: "cel", does: "time to compile and to evaluate typical CEL expressions", files: ["bench/cel.ts"] },
    {
      name: "compare",
      does: "this build beside another one; argument: OTHER/dist/cli.js",
      files: ["bench/before-and-after.ts"],
      needsBuild: true,
    },
  ],
};

const fuzz: Group = {
  does: "Random and hostile requests, longer than CI runs them.",
  withoutName: "list",
  programs: [
    {
      name: "patches",
      does: "random patches to Binnacle and kube-apiserver; FUZZ_SEED, FUZZ_COUNT",
      files: ["test/fuzz/patches.ts"],
    },
    {
      name: "objects",
      does: "random objects of every kind to both servers; FUZZ_SEED, FUZZ_COUNT, FUZZ_KIND",
      files: ["test/fuzz/objects.ts"],
    },
    {
      name: "crds",
      does: "random CustomResourceDefinitions and objects of them; FUZZ_SEED, FUZZ_COUNT, FUZZ_ONLY",
      files: ["test/fuzz/crds.ts"],
    },
    {
      name: "cel",
      does: "random CEL validation rules to both servers; --seed N, --count N",
      files: ["test/fuzz/cel.ts"],
    },
    {
      name: "policies",
      does: "random admission policies with bindings and params; FUZZ_SEED, FUZZ_COUNT, FUZZ_FROM",
      files: ["test/fuzz/policies.ts"],
    },
    {
      name: "webhooks",
      does: "random webhook configurations to both servers; arguments: COUNT SEED",
      files: ["test/fuzz/webhooks.ts"],
    },
    {
      name: "authorization",
      does: "random access reviews and requests to both servers; argument: COUNT; FUZZ_SEED",
      files: ["test/fuzz/authorization.ts"],
    },
    {
      name: "flows",
      does: "random requests to both servers with random FlowSchemas; argument: COUNT; FUZZ_SEED",
      files: ["test/fuzz/flows.ts"],
    },
    {
      name: "workloads",
      does: "random steps to our controllers and the real kube-controller-manager; --seed N, --count N, --help",
      files: ["test/fuzz/workloads.ts"],
    },
    {
      name: "scheduling",
      does: "random nodes and Pods to our scheduler and the real kube-scheduler; --seed N, --count N, --help",
      files: ["test/fuzz/scheduling.ts"],
    },
    {
      name: "lifecycle",
      does: "random Pods with Stages, on our nodes and with the real KWOK; --seed N, --count N, --help",
      files: ["test/fuzz/lifecycle.ts"],
    },
    {
      name: "cost",
      does: "requests that take more processor time than their size justifies; --part 1/8, --state FILE",
      files: ["test/cost/run.ts"],
    },
    {
      name: "hostile",
      does: "50 hostile connections for ten minutes; --seconds N",
      files: ["test/load/hostile.ts"],
    },
    {
      name: "definitions",
      does: "2,000 CustomResourceDefinitions: no request blocks the event loop for 100 ms",
      files: ["test/load/many-definitions.ts"],
    },
    {
      name: "flood",
      does: "60 connections of one user with large requests: writes of another user go on",
      files: ["test/load/large-flood.ts"],
    },
    {
      name: "restarts",
      does: "kills servers during rollouts, Jobs and StatefulSet updates; --kills N, --store NAME; MODEL_SEED",
      files: ["test/restarts/run.ts"],
    },
    {
      name: "model",
      does: "the model tests at ten times their length; MODEL_SEED, MODEL_SCALE",
      tests: ["test/model/*.test.ts", "test/clients/informer.etcd.test.ts", "test/clients/reflector.go.test.ts"],
      env: { MODEL_SCALE: "10" },
    },
  ],
};

const compare: Group = {
  does: "Compares Binnacle with real programs, or runs real programs against it.",
  withoutName: "list",
  programs: [
    { name: "golden", does: "the recorded responses of kube-apiserver; --help", files: ["test/golden/run.ts"] },
    {
      name: "oracle",
      does: "runs the real kube-apiserver until Ctrl-C, to compare responses by hand; --json, -- FLAG...",
      files: ["tools/oracle.ts"],
    },
    {
      name: "conformance",
      does: "the official conformance tests that need only an API server; --cluster, --help",
      files: ["test/conformance/run.ts"],
    },
    {
      name: "conformance-webhooks",
      does: "the official AdmissionWebhook conformance tests; argument: PATTERN",
      files: ["test/conformance/webhooks.ts"],
    },
    {
      name: "kubectl",
      does: "kubectl commands against both servers; arguments: AREA...; --record, --recorded, --case TEXT",
      files: ["test/clients/kubectl/run.ts"],
    },
    {
      name: "clients",
      does: "programs with the Go, Python, Java and Rust clients; arguments: NAME...",
      files: ["test/clients/languages/run.ts"],
    },
    {
      name: "kube-api-test",
      does: "a JUnit suite with fabric8's kube-api-test",
      files: ["test/clients/kube-api-test/run.ts"],
    },
    {
      name: "goworld",
      does: "test suites of Go projects that use envtest; --only PATTERN, --shared, --help",
      files: ["test/goworld/run.ts"],
      needsBuild: true,
    },
    {
      name: "informers",
      does: "client-go informers of every resource through kills, restarts and compactions; --help",
      files: ["test/goworld/informers.ts"],
    },
    {
      name: "cluster",
      does: "the real controller manager, scheduler and KWOK on Binnacle; --oracle, --store NAME, --help",
      files: ["test/cluster/run.ts"],
    },
    {
      name: "production",
      does: "the cluster of docs/production.md on loopback, with restarts, kills and restores; --help",
      files: ["test/production/run.ts"],
    },
    {
      name: "crds-real",
      does: "the CustomResourceDefinitions of seven projects on both servers; arguments: PROJECT...",
      files: ["test/real-crds/run.ts"],
    },
    {
      name: "gatekeeper",
      does: "Gatekeeper beside Binnacle, with its own manifests",
      files: ["test/real-programs/gatekeeper.ts"],
    },
    {
      name: "what-if",
      does: "binnacle diff on dumps of a cluster, and dry runs in that cluster; argument: COUNT",
      files: ["test/what-if/run.ts"],
    },
    {
      name: "runners",
      does: "test programs for vitest and Jest, with the package as npm packs it",
      files: ["test/runners/run.ts"],
      needsBuild: true,
    },
    {
      name: "node-26",
      does: "the tests of the package in Node 26",
      tests: ["test/package.node.test.ts"],
      node: "node-26",
    },
  ],
};

const docs: Group = {
  does: "Writes the pages and tables that are generated from code and measurements.",
  withoutName: "run all",
  programs: [
    {
      name: "reference",
      does: "docs/reference/, the pages without a line of their own here",
      files: ["tools/reference.ts"],
    },
    { name: "feature-gates", does: "docs/reference/feature-gates.md", files: ["tools/feature-gates.ts"] },
    {
      name: "start-errors",
      does: "docs/reference/start-errors.md, from test/start-errors/table.json, which it updates",
      files: ["tools/start-errors.ts"],
    },
    { name: "compatibility", does: "docs/compatibility.md", files: ["tools/compatibility.ts"] },
    {
      name: "results",
      does: "the tables of docs/performance.md and docs/internals/testing.md, from bench/results/",
      files: ["tools/results.ts"],
    },
    { name: "terminal", does: "docs/terminal.svg", files: ["tools/terminal.ts"], needs: ["kubectl"] },
  ],
};

/** By the name of the npm script. */
export const GROUPS: Readonly<Record<string, Group>> = { bench, fuzz, compare, docs };
