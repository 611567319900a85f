import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { clientFor } from "../test/support/client.ts";
import { startEtcd } from "../test/support/etcd.ts";
import { startOracle } from "../test/support/oracle.ts";
import {
  type Contestant,
  cpuMs,
  describeMachine,
  median,
  printTable,
  type StartedContestant,
  say,
  startBare,
  startBuilt,
  token,
} from "./support.ts";
import { Connection, requestBytes, type ShortAnswer } from "./support-connections.ts";
import { podBody } from "./support-pods.ts";
import { folderOf, functionOf, RemoteProfiler, shares } from "./support-profile.ts";

/**
 * Processor time of the server per request, by kind of request: Binnacle on etcd and on memory, kube-apiserver on an
 * etcd of its own, and a bare Node server that sends as many bytes. They take turns, so that what else the machine does
 * hits all alike. `--only get,create` picks works by the beginning of their names, `--before OTHER/dist/cli.js` adds
 * another build, `--without kube-apiserver,etcd` leaves out servers, `--profile` prints where Binnacle spends its time.
 */

const { values: options } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    before: { type: "string" },
    without: { type: "string", default: "" },
    profile: { type: "boolean", default: false },
  },
});
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
/** Requests of a round are multiplied by this. */
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const WARM_UP_ROUNDS = Number(process.env.BENCH_WARM_UP_ROUNDS ?? 3);
const CONNECTIONS = 8;
const WATCHERS = 100;
const LISTED = 500;
const BENCH = "/api/v1/namespaces/bench";
const LISTED_PODS = "/api/v1/namespaces/listed/pods";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/bench/leases";
const DEPLOYMENTS = "/apis/apps/v1/namespaces/bench/deployments";
const TEXT = "x".repeat(700);

/** Which request of which connection: `serial` is new for every request to a server. */
interface Turn {
  readonly connection: number;
  readonly serial: number;
  /** Numbers the requests of a round from 0. */
  readonly index: number;
  readonly round: number;
  /** The answer of the same connection to the request before, in the same round. */
  readonly previous: ShortAnswer | undefined;
}

/** Requests of one kind. */
interface Work {
  readonly name: string;
  readonly count: number;
  readonly code: number;
  readonly request: (turn: Turn) => Buffer;
  /** Whether the bare server can do the same. */
  readonly isRead?: boolean;
}

const configMap = (name: string, serial: number) =>
  JSON.stringify({
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, labels: { app: "bench", tier: "backend" } },
    data: { text: TEXT, serial: String(serial), level: "info", region: "west" },
  });

function lease(name: string, serial: number, resourceVersion: string): string {
  const renewTime = new Date(1.8e12 + serial).toISOString().replace("Z", "000Z");
  return JSON.stringify({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: "bench", ...(resourceVersion === "" ? {} : { resourceVersion }) },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  });
}

const deployment = (name: string, serial: number) => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: { name, labels: { app: name }, annotations: { serial: String(serial) } },
  spec: {
    replicas: 0,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [container] } },
  },
});
const container = {
  name: "main",
  image: "registry.example.com/team/service:1.42.7",
  ports: [{ containerPort: 8080, name: "http" }],
  env: [{ name: "REGION", value: "west" }],
};

/** As a kubelet sends it. */
const podStatus = (serial: number) =>
  JSON.stringify({
    status: {
      conditions: [
        { type: "Ready", status: serial % 2 === 0 ? "True" : "False", lastTransitionTime: "2026-01-01T00:00:00Z" },
      ],
      containerStatuses: [
        { name: "main", image: container.image, imageID: "", ready: true, restartCount: serial, started: true },
      ],
      phase: "Running",
    },
  });

const versionIn = (text: string): string => /"resourceVersion":"(\d+)"/.exec(text)?.[1] ?? "";
/** Each connection writes an object of its own, so that none waits for another. */
const own = (kind: string, { connection }: Turn): string => `${kind}-${connection}`;

const WORKS: readonly Work[] = [
  {
    name: "get Namespace",
    ...{ count: 4000, code: 200, isRead: true },
    request: () => requestBytes("GET", "/api/v1/namespaces/bench"),
  },
  {
    name: "get Pod",
    ...{ count: 4000, code: 200, isRead: true },
    request: ({ index }) => requestBytes("GET", `${LISTED_PODS}/pod-${index % LISTED}`),
  },
  {
    name: `list ${LISTED} Pods`,
    ...{ count: 200, code: 200, isRead: true },
    request: () => requestBytes("GET", `${LISTED_PODS}?limit=${LISTED}`),
  },
  {
    name: "create ConfigMap (1 KB)",
    ...{ count: 1500, code: 201 },
    request: ({ round, index, serial }) =>
      requestBytes("POST", `${BENCH}/configmaps`, configMap(`made-${round}-${index}`, serial)),
  },
  {
    name: "create Pod",
    ...{ count: 1000, code: 201 },
    request: ({ round, index }) =>
      requestBytes("POST", `${BENCH}/pods`, JSON.stringify(podBody(`made-${round}-${index}`))),
  },
  {
    name: "update ConfigMap (1 KB)",
    ...{ count: 1500, code: 200 },
    request: (turn) =>
      requestBytes("PUT", `${BENCH}/configmaps/${own("kept", turn)}`, configMap(own("kept", turn), turn.serial)),
  },
  {
    name: "patch Pod status",
    ...{ count: 1000, code: 200 },
    request: (turn) =>
      requestBytes(
        "PATCH",
        `${LISTED_PODS}/pod-${turn.connection}/status`,
        podStatus(turn.serial),
        "application/strategic-merge-patch+json",
      ),
  },
  {
    name: "apply Deployment",
    ...{ count: 800, code: 200 },
    request: (turn) => {
      const name = own("kept", turn);
      const query = "fieldManager=bench&force=true";
      const body = JSON.stringify(deployment(name, turn.serial));
      return requestBytes("PATCH", `${DEPLOYMENTS}/${name}?${query}`, body, "application/apply-patch+yaml");
    },
  },
  {
    name: "update Lease",
    ...{ count: 1500, code: 200 },
    request: (turn) => {
      const name = own("kept", turn);
      const path = `${LEASES}/${name}`;
      // The first of a round reads the resourceVersion, which a Lease needs.
      if (turn.previous === undefined) return requestBytes("GET", path);
      return requestBytes("PUT", path, lease(name, turn.serial, versionIn(turn.previous.text)));
    },
  },
  {
    name: "delete ConfigMap",
    ...{ count: 1500, code: 200 },
    request: ({ round, index }) => requestBytes("DELETE", `${BENCH}/configmaps/made-${round}-${index}`),
  },
];
const DELIVERY = `deliver to ${WATCHERS} watchers`;

const isChosen = (name: string): boolean =>
  options.only === "" || options.only.split(",").some((start) => name.startsWith(start));

async function prepare({ name, base }: Contestant): Promise<void> {
  const client = clientFor(base, token);
  const make = async (target: string, body: unknown) => {
    const { status, body: answer } = await client.call("POST", target, body);
    if (status !== 201 && status !== 409) throw new Error(`${name}: ${target}: ${status} ${JSON.stringify(answer)}`);
  };
  for (const namespace of ["bench", "listed"]) {
    await make("/api/v1/namespaces", { metadata: { name: namespace } });
    await make(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: "default" } });
  }
  for (let i = 0; i < LISTED; i++) await make(LISTED_PODS, podBody(`pod-${i}`));
  for (let i = 0; i < CONNECTIONS; i++) {
    await make(`${BENCH}/configmaps`, JSON.parse(configMap(`kept-${i}`, 0)));
    await make(LEASES, JSON.parse(lease(`kept-${i}`, 0, "")));
    await make(DEPLOYMENTS, deployment(`kept-${i}`, 0));
  }
}

/** A server with open connections to it. */
class Side {
  readonly server: Contestant;
  readonly #connections: readonly Connection[];
  #serial = 0;

  constructor(server: Contestant, connections: readonly Connection[]) {
    this.server = server;
    this.#connections = connections;
  }

  static async open(server: Contestant): Promise<Side> {
    return new Side(server, await Promise.all(Array.from({ length: CONNECTIONS }, () => Connection.open(server.base))));
  }

  /** Runs a round of a work. Returns microseconds of processor time per request. */
  async run(work: Work, round: number, bytes?: number): Promise<number> {
    const count = Math.round(work.count * SCALE);
    let next = 0;
    const before = await cpuMs(this.server.pid);
    await Promise.all(
      this.#connections.map(async (one, connection) => {
        let previous: ShortAnswer | undefined;
        while (next < count) {
          const index = next++;
          const turn = { connection, index, round, serial: this.#serial++, previous };
          previous = await one.send(bytes === undefined ? work.request(turn) : requestBytes("GET", `/${bytes}`));
          const isExpected = previous.status === work.code || (previous.status === 200 && work.name === "update Lease");
          if (!isExpected) throw new Error(`${this.server.name}: ${work.name}: ${previous.text}`);
        }
      }),
    );
    return (((await cpuMs(this.server.pid)) - before) * 1000) / count;
  }

  /** Size of the body of the first answer to a work. */
  async bytesOf(work: Work): Promise<number> {
    const { pathname, search } = new URL(readPath(work), this.server.base);
    const response = await clientFor(this.server.base, token).call("GET", pathname + search);
    return Buffer.byteLength(JSON.stringify(response.body)) + 1;
  }

  /** Updates a ConfigMap with watchers. Returns microseconds of processor time per delivery, the update included. */
  async deliver(round: number): Promise<number> {
    const updates = Math.round(100 * SCALE);
    let seen = 0;
    const done = Promise.withResolvers<void>();
    const onLines = (count: number) => {
      seen += count;
      if (seen >= updates * WATCHERS) done.resolve();
    };
    const client = clientFor(this.server.base, token);
    const { body } = await client.call("GET", `${BENCH}/configmaps/kept-0`);
    const watchers = await Promise.all(Array.from({ length: WATCHERS }, () => Connection.open(this.server.base)));
    const query = `watch=1&fieldSelector=metadata.name%3Dkept-0&resourceVersion=${body.metadata.resourceVersion}`;
    for (const one of watchers) one.watch(requestBytes("GET", `${BENCH}/configmaps?${query}`), onLines);
    await sleep(500);
    const before = await cpuMs(this.server.pid);
    const [writer] = this.#connections;
    for (let i = 0; i < updates; i++) {
      const text = configMap("kept-0", (round + 10) * 1000 + i);
      const answer = await writer?.send(requestBytes("PUT", `${BENCH}/configmaps/kept-0`, text));
      if (answer?.status !== 200) throw new Error(`${this.server.name}: update: ${answer?.text}`);
    }
    await done.promise;
    const used = (await cpuMs(this.server.pid)) - before;
    for (const one of watchers) one.close();
    return (used * 1000) / (updates * WATCHERS);
  }

  close(): void {
    for (const one of this.#connections) one.close();
  }
}

function readPath(work: Work): string {
  const turn = { connection: 0, index: 0, round: 0, serial: 0, previous: undefined };
  return work.request(turn).toString().split(" ")[1] ?? "/";
}

type Figures = Map<string, number[]>;

/** Runs all chosen works in turn on all sides. Figures by work, then by server. */
async function measure(sides: readonly Side[], bare: Side | undefined): Promise<Map<string, Figures>> {
  const results = new Map<string, Figures>();
  const note = (work: string, server: string, value: number) => {
    const figures = results.get(work) ?? new Map<string, number[]>();
    results.set(work, figures);
    figures.set(server, [...(figures.get(server) ?? []), value]);
  };
  const [first] = sides;
  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? sides : sides.toReversed();
    for (const work of WORKS) {
      // Deletes need what creates have made.
      if (!isChosen(work.name) && !(work.name.startsWith("create ConfigMap") && isChosen("delete ConfigMap"))) continue;
      for (const side of order) {
        const value = await side.run(work, round);
        if (round >= 0) note(work.name, side.server.name, value);
      }
      if (work.isRead && bare && first) {
        const value = await bare.run(work, round, await first.bytesOf(work));
        if (round >= 0) note(work.name, bare.server.name, value);
      }
    }
    if (isChosen(DELIVERY)) {
      for (const side of order) {
        const value = await side.deliver(round);
        if (round >= 0) note(DELIVERY, side.server.name, value);
      }
    }
    say(round < 0 ? "warmed up a round" : `round ${round + 1} of ${ROUNDS}`);
  }
  return results;
}

/** A row per work: medians of all servers, and of the ratios of rounds to the others. */
function print(results: Map<string, Figures>): void {
  const names = [...new Set([...results.values()].flatMap((figures) => [...figures.keys()]))];
  const pairs = PAIRS.filter((pair) => pair.every((name) => names.includes(name)));
  const rows = [...results].map(([work, figures]) => [
    work,
    ...names.map((name) => (figures.has(name) ? middleAndLeast(figures.get(name) ?? []) : "")),
    ...pairs.map(([one, other]) => {
      const below = figures.get(other);
      const ratios = figures.get(one)?.map((value, i) => value / (below?.[i] ?? Number.NaN)) ?? [];
      if (below === undefined || ratios.length === 0) return "";
      return `${median(ratios).toFixed(3)} (${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)})`;
    }),
  ]);
  process.stdout.write(`${describeMachine()}; ${ROUNDS} rounds, ${CONNECTIONS} connections\n`);
  printTable([["CPU µs", ...names, ...pairs.map(([one, other]) => `${one} / ${other}`)], ...rows]);
}

/** On a busy machine the least says more than the median: what others do only ever adds. */
const middleAndLeast = (values: readonly number[]): string =>
  `${median(values).toFixed(0)} (least ${Math.min(...values).toFixed(0)})`;

const PAIRS: readonly (readonly [string, string])[] = [
  ["Binnacle", "kube-apiserver"],
  ["Binnacle", "before"],
  ["memory", "memory before"],
  ["memory", "bare Node"],
];

async function profile(side: Side, output: string): Promise<void> {
  const profiler = await RemoteProfiler.connect(output);
  for (const work of WORKS.filter(({ name }) => isChosen(name))) {
    for (let round = -WARM_UP_ROUNDS; round < 0; round++) await side.run(work, round);
    const taken = await profiler.during(async () => {
      for (let round = 0; round < ROUNDS; round++) await side.run(work, round);
    });
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    const folders = shares(taken, folderOf).map(([stage, share]) => [stage, percent(share)]);
    const functions = shares(taken, functionOf).slice(0, 25);
    printTable([[work.name, "share"], ...folders]);
    printTable([["function", "share"], ...functions.map(([name, share]) => [name, percent(share)])]);
  }
  profiler.close();
}

async function main(): Promise<void> {
  const directory = await mkdtemp(path.join(tmpdir(), "binnacle-bench-"));
  const cleanUps = [() => rm(directory, { recursive: true, force: true })];
  const without = options.without.split(",");
  const keep = <T extends { kill(): Promise<void> }>(started: T): T => {
    cleanUps.push(() => started.kill());
    return started;
  };
  const etcd = async () => {
    const started = await startEtcd({ isDurable: true, arguments: ["--quota-backend-bytes", String(8 * 2 ** 30)] });
    cleanUps.push(() => started.stop());
    return started.endpoints[0] ?? "";
  };
  const side = async (name: string, started: StartedContestant): Promise<Side> => {
    const server = { ...keep(started), name };
    await prepare(server);
    const opened = await Side.open(server);
    cleanUps.push(async () => opened.close());
    return opened;
  };
  try {
    if (options.profile) {
      let output = "";
      const onOutput = (text: string) => {
        output += text;
      };
      process.env.BINNACLE_NODE_FLAGS = "--inspect=127.0.0.1:0 --max-semi-space-size=8";
      // Run from the sources, so that functions have their files.
      const sources = path.join(import.meta.dirname, "..", "src", "cli.ts");
      const store = without.includes("etcd") ? "memory" : await etcd();
      const server = await startBuilt(store, path.join(directory, "profile"), sources, onOutput);
      await profile(await side("Binnacle", server), output);
      return;
    }
    const sides: Side[] = [];
    const builds = [
      ["", undefined] as const,
      ...(options.before ? [["before", path.resolve(options.before)] as const] : []),
    ];
    for (const [suffix, cli] of builds) {
      if (!without.includes("etcd")) {
        const server = await startBuilt(await etcd(), path.join(directory, `etcd${suffix}`), cli);
        sides.push(await side(suffix || "Binnacle", server));
      }
      if (!without.includes("memory")) {
        const server = await startBuilt("memory", path.join(directory, `memory${suffix}`), cli);
        sides.push(await side(`memory ${suffix}`.trim(), server));
      }
    }
    if (!without.includes("kube-apiserver")) {
      const oracle = await startOracle({ etcdEndpoint: await etcd() });
      sides.push(await side("kube-apiserver", { ...oracle, name: "" }));
    }
    let bare: Side | undefined;
    if (!without.includes("bare")) {
      bare = await Side.open(
        keep(await startBare(path.join(directory, without.includes("memory") ? "etcd" : "memory"))),
      );
      const opened = bare;
      cleanUps.push(async () => opened.close());
    }
    print(await measure(sides, bare));
  } finally {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }
}

await main();
