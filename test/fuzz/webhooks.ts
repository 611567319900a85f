import { isObject, type Json, type JsonObject } from "../../src/base/api/object.ts";
import { type RunningBinnacle, startBinnacle } from "../support/binnacle.ts";
import { type Answer, type Client, clientFor } from "../support/client.ts";
import { type Oracle, startOracle, tokens } from "../support/oracle.ts";
import { eventually } from "../support/time.ts";
import { type ReceivedReview, startWebhookServer, type WebhookServer } from "../support/webhook-server.ts";
import { Random } from "./random.ts";
import { type Difference, differenceOf, firstDifference } from "./twins.ts";
import { type Case, plainCases, type Request, randomCase } from "./webhook-cases.ts";
import { baseObjects, NAMESPACE, routes, WIDGETS } from "./webhook-routes.ts";

const SIDES = ["theirs", "ours"] as const;
const CONFIGURATION = "case";

/** Where the two servers, or what they told a webhook, were not the same. */
export interface WebhookDifference extends Difference {
  readonly of: Case;
  readonly request: Request;
}

/** What a run found. */
export interface WebhookFindings {
  readonly seed: number;
  readonly configurations: number;
  /** Combinations of a configuration and a request. */
  readonly combinations: number;
  readonly reviews: number;
  readonly refused: number;
  readonly found: readonly WebhookDifference[];
}

/** The real kube-apiserver and Binnacle with the same webhooks, which are all one server. */
export class WebhookTwins {
  readonly #servers: readonly { kill(): Promise<void> }[];
  readonly #clients: readonly [theirs: Client, ours: Client];
  readonly server: WebhookServer;

  constructor(oracle: Oracle, binnacle: RunningBinnacle, server: WebhookServer) {
    this.#servers = [oracle, binnacle];
    this.#clients = [clientFor(oracle.base, tokens.admin), clientFor(binnacle.base, tokens.admin)];
    this.server = server;
  }

  /** Starts all three; resolves when the custom kind is there. */
  static async start(): Promise<WebhookTwins> {
    const flags = ["--disable-admission-plugins=ServiceAccount"];
    const [oracle, binnacle, server] = await Promise.all([
      startOracle({ flags }),
      startBinnacle({ flags: [...flags, "--custom-objects=defined", "--controllers=none"] }),
      startWebhookServer(),
    ]);
    const twins = new WebhookTwins(oracle, binnacle, server);
    await twins.call({ title: "", method: "POST", path: "/api/v1/namespaces", body: HOOKED });
    const account = { metadata: { name: "default" } };
    await twins.call({
      title: "",
      method: "POST",
      path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts`,
      body: account,
    });
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    await twins.call({ title: "", method: "POST", path, body: WIDGETS });
    for (const client of twins.#clients) {
      await eventually(async () => (await client.call("GET", "/apis/example.com/v2/widgets")).status === 200, {
        withinMs: 30_000,
      });
    }
    return twins;
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#servers.map((server) => server.kill()), this.server.stop()]);
  }

  /** The same request to both. */
  async call({ method, path, body, type }: Request): Promise<[theirs: Answer, ours: Answer]> {
    const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
    const [theirs, ours] = this.#clients;
    return Promise.all([theirs.call(method, path, body, headers), ours.call(method, path, body, headers)]);
  }

  /** Puts a configuration into force on both, and resolves when it is. */
  async configure({ kind, webhooks }: Case, n: number): Promise<void> {
    const plural = pluralOf(kind);
    await Promise.all(
      SIDES.map(async (side, index) => {
        const client = this.#clients[index] as Client;
        const hooks = webhooks.map(({ behaviour, spec }) => ({ ...spec, clientConfig: this.#at(side, behaviour) }));
        const body = { metadata: { name: CONFIGURATION }, webhooks: [this.#marker(n, side), ...hooks] };
        const { status, body: answer } = await client.call("POST", plural, body);
        if (status !== 201) throw new Error(`${side}: ${JSON.stringify(answer)}`);
        const { path, body: probe } = probeOf(n);
        const isMarked = (one: ReceivedReview) => one.from === side && one.behaviour === "marker";
        await eventually(async () => {
          await client.call("POST", path, probe);
          return this.server.received.some(isMarked);
        });
      }),
    );
    this.server.received.length = 0;
  }

  /** Removes the configuration from both, and resolves when it is no longer in force. */
  async remove({ kind }: Case, n: number): Promise<void> {
    await this.call({ title: "", method: "DELETE", path: `${pluralOf(kind)}/${CONFIGURATION}` });
    await eventually(async () => {
      this.server.received.length = 0;
      await this.call({ title: "", method: "POST", ...probeOf(n) });
      return this.server.received.length === 0;
    });
  }

  /** Sends a request to both and tells where the answers, or what the webhooks were sent, differ. */
  async compare(request: Request): Promise<{ difference?: Difference; reviews: number; isRefused: boolean }> {
    if (request.method !== "POST") await this.#settle(request.path);
    this.server.received.length = 0;
    const answers = await this.call(request);
    const reviews = SIDES.map((side) => this.server.received.filter(({ from }) => from === side).filter(isOurs));
    const [theirs, ours] = answers.map(withoutPlaces) as [Answer, Answer];
    const counts = firstDifference(reviews[0]?.length, reviews[1]?.length, "number of reviews");
    const told = counts ?? firstDifference(reviews[0]?.map(comparable), reviews[1]?.map(comparable), "review");
    const difference = differenceOf([theirs, ours], "answer") ?? (told && { at: "webhook", ...told });
    return { ...(difference && { difference }), reviews: reviews[0]?.length ?? 0, isRefused: theirs.status >= 400 };
  }

  /**
   * Waits until the watch cache of the real server has seen the object: GuaranteedUpdate and deletions try the cached object
   * first, and admission sees every attempt.
   */
  async #settle(path: string): Promise<void> {
    const object = (path.split("?")[0] ?? "").replace(/\/(status|scale|ephemeralcontainers|resize)$/, "");
    const [theirs] = this.#clients;
    const versionOf = async (query: string) =>
      (await theirs.call("GET", object + query)).body.metadata?.resourceVersion;
    await eventually(async () => (await versionOf("?resourceVersion=0")) === (await versionOf("")));
  }

  #at(side: string, behaviour: string): JsonObject {
    return { url: this.server.url(side, behaviour), caBundle: this.server.caBundle };
  }

  /** A webhook that concerns nothing but the probe by which one sees that the configuration is in force. */
  #marker(n: number, side: string): JsonObject {
    return {
      name: "marker.fuzz.example.com",
      clientConfig: this.#at(side, "marker"),
      rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["serviceaccounts"] }],
      objectSelector: { matchLabels: { marker: `m${n}` } },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
  }
}

const probeOf = (n: number) => ({
  path: `/api/v1/namespaces/${NAMESPACE}/serviceaccounts?dryRun=All`,
  body: { metadata: { name: "probe", labels: { marker: `m${n}` } } },
});
const HOOKED = { metadata: { name: NAMESPACE, labels: { team: "a" } } };
const pluralOf = (kind: Case["kind"]) =>
  `/apis/admissionregistration.k8s.io/v1/${kind === "MutatingWebhookConfiguration" ? "mutating" : "validating"}webhookconfigurations`;

/** The paths of the two sides differ. */
function withoutPlaces({ status, headers, body }: Answer): Answer {
  const clean = (text: string) => text.replaceAll(/\/(theirs|ours)\//g, "/side/");
  return { status, headers, body: masked(JSON.parse(clean(JSON.stringify(body)))) };
}

const MADE_UP: ReadonlySet<string> = new Set([
  "uid",
  "resourceVersion",
  "creationTimestamp",
  "deletionTimestamp",
  "time",
  "token",
]);

/** The servers' own loops write, too. One that closed its connection may be asked again, if that had been kept. */
function isOurs({ review, behaviour }: ReceivedReview, at: number, all: readonly ReceivedReview[]): boolean {
  const isAgain = behaviour === "close" && all.findIndex((one) => one.behaviour === behaviour) < at;
  return review.request.userInfo.username === "admin" && !isAgain;
}

/** A review without what each server makes up. */
function comparable({ behaviour, query, headers, review }: ReceivedReview): JsonObject {
  const { request, ...rest } = review;
  const body = { ...rest, request: masked(request) };
  return { behaviour, query, type: headers["content-type"] ?? "", accept: headers.accept ?? "", body };
}

function masked(value: Json): Json {
  if (Array.isArray(value)) return value.map(masked);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([name]) => !MADE_UP.has(name));
  return Object.fromEntries(kept.map(([name, one]) => [name, maskedMember(name, masked(one ?? null))]));
}

/** Owners stand in the order of their times, which have seconds. */
function maskedMember(name: string, value: Json): Json {
  if (name !== "managedFields" || !Array.isArray(value)) return value;
  // Custom objects have the members of an owner in another order.
  const text = (owner: Json) => JSON.stringify(isObject(owner) ? Object.entries(owner).sort() : owner);
  return value.toSorted((a, b) => (text(a) < text(b) ? -1 : 1));
}

/** Objects that a webhook renames on the way are refused where kube-apiserver stores them below another name than their own. */
function isKnown({ webhooks }: Case, { title }: Request): boolean {
  const isRenaming = webhooks.some(({ behaviour }) => behaviour === "rename");
  return isRenaming && (title === "apply that creates" || title === "create by update");
}

/** Compares so many configurations with every route; those with each behaviour of a webhook come first. */
export async function fuzzWebhooks(
  twins: WebhookTwins,
  seed: number,
  count: number,
  perCase = Number.POSITIVE_INFINITY,
): Promise<WebhookFindings> {
  const random = new Random(seed);
  const fixed = plainCases();
  const found: WebhookDifference[] = [];
  let [combinations, reviews, refused] = [0, 0, 0];
  for (let n = 0; n < count; n += 1) {
    const one = n % 2 === 0 && n / 2 < fixed.length ? (fixed[n / 2] as Case) : randomCase(random);
    for (const base of baseObjects(n)) await twins.call(base);
    await twins.configure(one, n);
    const requests = routes(n).filter(() => perCase >= 40 || random.chance(perCase / 40));
    for (const request of requests) {
      const result = await twins.compare(request);
      combinations += 1;
      reviews += result.reviews;
      if (result.isRefused) refused += 1;
      if (result.difference && !isKnown(one, request)) found.push({ ...result.difference, of: one, request });
    }
    await twins.remove(one, n);
  }
  return { seed, configurations: count, combinations, reviews, refused, found };
}

/** A run in words. */
export function printWebhookFindings(findings: WebhookFindings): string {
  const { seed, configurations, combinations, reviews, refused, found } = findings;
  const head = `seed ${seed}: ${configurations} configurations, ${combinations} combinations with a request, ${reviews} reviews, ${refused} refusals, ${found.length} differences`;
  const lines = found.slice(0, 40).map(({ of, request, at, path, theirs, ours }) => {
    const hooks = of.webhooks.map(({ behaviour, spec }) => `${behaviour} ${JSON.stringify(spec)}`).join("\n    ");
    const show = (value: unknown) => JSON.stringify(value)?.slice(0, 600);
    return `${request.title} (${request.method} ${request.path}) ${of.kind}\n    ${hooks}\n  ${at} ${path}\n    theirs ${show(theirs)}\n    ours   ${show(ours)}`;
  });
  return [head, ...lines].join("\n");
}

if (import.meta.main) {
  const [count = "400", seed = String(Date.now() % 1_000_000)] = process.argv.slice(2);
  const twins = await WebhookTwins.start();
  try {
    const findings = await fuzzWebhooks(twins, Number(seed), Number(count));
    process.stdout.write(`${printWebhookFindings(findings)}\n`);
    process.exitCode = findings.found.length === 0 ? 0 : 1;
  } finally {
    await twins.stop();
  }
}
