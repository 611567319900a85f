import { Random } from "../../fuzz/random.ts";
import { eventually } from "../../support/time.ts";
import { patching, startWebhookServer, type WebhookServer } from "../../support/webhook-server.ts";
import type { Profiled } from "../profile.ts";
import { type CaseKey, type CostResult, heldMs, MOST_HELD_MS, resultOf } from "../results.ts";
import { type CostlyRequest, CostServer } from "../server.ts";
import type { RunState, Screened } from "../state.ts";
import { type CostlyDefinition, costlyDefinition, FOCUSES, type Focus, GROUP } from "./definitions.ts";
import { type AdminObject, costlyPolicies, costlyWebhooks, PARAMS_NAME, PATCHES } from "./policies.ts";
import { type NamedRequest, RequestMaker } from "./requests.ts";

const DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const USERS = "cost-users";
/** Sets that one server gets, so that old ones do not affect later ones. */
const SETS_PER_SERVER = 100;
/** CPU time of the event loop, in all, above which a request is sent again on a server that is probed. */
const SUSPICIOUS_MS = 60;
const MOST_TRIES = 4;
/** Shares of the rules of a definition: rules whose estimated cost is too high are rejected. */
const SHARES = [1, 0.5, 0.2, 0];

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const post = ({ path, body }: AdminObject): CostlyRequest => ({ method: "POST", path, body: json(body) });

/** Objects that every set uses: what users may do, and params of policies. */
const PREPARED: readonly AdminObject[] = [
  {
    path: "/apis/rbac.authorization.k8s.io/v1/namespaces/fuzz/roles",
    body: { metadata: { name: USERS }, rules: [{ apiGroups: [GROUP], resources: ["*"], verbs: ["*"] }] },
  },
  {
    path: "/apis/rbac.authorization.k8s.io/v1/namespaces/fuzz/rolebindings",
    body: {
      metadata: { name: USERS },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: USERS },
      subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "Group", name: USERS }],
    },
  },
  ...Array.from({ length: 20 }, (_, index) => ({
    path: "/api/v1/namespaces/fuzz/configmaps",
    body: {
      metadata: { name: `${PARAMS_NAME}-${index}`, labels: { use: PARAMS_NAME } },
      data: { text: "ab,".repeat(300), pattern: "(a?b?){1,200}" },
    },
  })),
];

/** The objects of a set, and the requests about them. */
export interface CostlySet {
  readonly number: number;
  readonly focus: Focus;
  readonly definition: CostlyDefinition;
  readonly seeds: readonly CostlyRequest[];
  readonly admission: readonly AdminObject[];
  readonly requests: readonly NamedRequest[];
}

/** Sends objects of administrators that may make small requests expensive, and ten such requests each. */
export class SetFuzzer {
  readonly #seed: number;
  readonly #timeoutMs: number;
  #server: CostServer | undefined;
  #webhooks: WebhookServer | undefined;
  #sets = 0;
  #users = 0;

  constructor(seed: number, timeoutMs: number) {
    this.#seed = seed;
    this.#timeoutMs = timeoutMs;
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    await this.#webhooks?.stop();
    this.#server = undefined;
    this.#webhooks = undefined;
  }

  /** Measures sets until so many were accepted. Those in the state are not sent again. */
  async run(
    count: number,
    state: RunState,
    until: number,
    onSet: (accepted: number, set: Screened) => void,
  ): Promise<Screened[]> {
    const done: Screened[] = [];
    for (let number = 0; done.length < count; number += 1) {
      const key = `${this.#seed}/${number}`;
      let known = state.find(key, "set");
      if (known === undefined) {
        if (performance.now() > until) break;
        known = await this.#measure(await this.setOf(number), key);
        state.keep(known);
      }
      if (known.places === 0) continue;
      done.push(known);
      onSet(done.length, known);
    }
    return done;
  }

  /** A set by its number; the same seed makes the same one. */
  async setOf(number: number): Promise<CostlySet> {
    const random = new Random(Math.imul(this.#seed, 0x9e3779b1) + number * 7919);
    const focus = FOCUSES[number % FOCUSES.length] as Focus;
    const definition = costlyDefinition(random, number, focus);
    const maker = new RequestMaker(random, definition);
    const seeds = maker.seeds(focus);
    const admission = costlyPolicies(random, definition, number, focus);
    if (focus === "webhooks") {
      const { url, caBundle } = await this.#webhookServer();
      const address = (behaviour: string) => url(`set${number}`, behaviour);
      admission.push(costlyWebhooks(random, definition, number, { url: address, caBundle }));
    }
    return { number, focus, definition, seeds, admission, requests: maker.requests(focus) };
  }

  /** One of the requests of a set, with all that it needs. Undefined if it has no such request. */
  async profiled(number: number, name: string): Promise<Profiled | undefined> {
    const set = await this.setOf(number);
    const found = set.requests.find((request, index) => requestName(request, index) === name);
    if (found === undefined) return undefined;
    const prepare = async (server: CostServer): Promise<boolean> => {
      for (const one of PREPARED) await server.send(post(one));
      await this.#define(server, set, () => ["", "", "", 0, "", ""]);
      for (const seed of set.seeds) await this.#store(server, seed);
      for (const one of set.admission) await server.send(post(one));
      return true;
    };
    return { prepare, costly: this.#asUser(found.costly) };
  }

  async #measure(set: CostlySet, key: string): Promise<Screened> {
    const server = await this.#ready();
    const results: CostResult[] = [];
    const of = (name: string, bytes: number): CaseKey => [key, set.focus, name, bytes, "", "", ""];
    const rejected: Screened = { key, size: "set", places: 0, requests: 0, results };
    const definition = await this.#define(server, set, of);
    if (definition === undefined) return rejected;
    results.push(definition);
    for (const seed of set.seeds) await this.#store(server, seed);
    const accepted: AdminObject[] = [];
    for (const one of set.admission) {
      const result = await this.#least(server, post(one), of(`administrator: ${kindOf(one)}`, 0));
      if (result.status === 201) accepted.push(one);
      results.push(result);
    }
    const isWhole =
      set.admission.length === 0 || accepted.some(({ body }) => "webhooks" in body || hasPolicy(body, accepted));
    if (isWhole) {
      for (const [index, request] of set.requests.entries()) {
        const { costly } = request;
        results.push(await this.#least(server, costly, of(requestName(request, index), costly.body?.length ?? 0)));
      }
    }
    if (results.some(({ status }) => status === 0)) await this.#giveUp();
    else await this.#remove(server, set, accepted);
    return isWhole ? { ...rejected, places: 1, requests: set.requests.length } : rejected;
  }

  /**
   * Creates the definition with as many of its rules as are accepted, and waits until it is served. Undefined if it is rejected
   * without rules, too.
   */
  async #define(
    server: CostServer,
    { definition }: CostlySet,
    of: (name: string, bytes: number) => CaseKey,
  ): Promise<CostResult | undefined> {
    for (const share of SHARES) {
      const costly = post({ path: DEFINITIONS, body: definition.body(share) });
      const key = of("administrator: definition", costly.body?.length ?? 0);
      let best = await this.#once(server, costly, key);
      if (best.status !== 201) continue;
      await this.#served(server, definition);
      for (let tries = 1; heldMs(best) > MOST_HELD_MS && tries < MOST_TRIES; tries += 1) {
        await this.#undefine(server, definition);
        const again = await this.#once(server, costly, key);
        if (heldMs(again) < heldMs(best)) best = again;
        await this.#served(server, definition);
      }
      return best;
    }
    return undefined;
  }

  async #served(server: CostServer, definition: CostlyDefinition): Promise<void> {
    const isServed = async () => (await server.send({ method: "GET", path: pathOf(definition) })).status === 200;
    await eventually(isServed, { withinMs: this.#timeoutMs, everyMs: 20 });
  }

  /** Deletes a definition with its objects. */
  async #undefine(server: CostServer, definition: CostlyDefinition): Promise<void> {
    const path = `${DEFINITIONS}/${definition.plural}.${GROUP}`;
    await server.send({ method: "DELETE", path: pathOf(definition) });
    await server.send({ method: "DELETE", path });
    const isGone = async () => (await server.send({ method: "GET", path })).status === 404;
    await eventually(isGone, { withinMs: this.#timeoutMs, everyMs: 20 });
  }

  /** Stores an object, without the fields that may be rejected if it is. */
  async #store(server: CostServer, seed: CostlyRequest): Promise<void> {
    const { status } = await server.send(this.#asUser(seed));
    if (status !== 422) return;
    const object = JSON.parse(seed.body?.toString() ?? "{}");
    delete object.spec.texts;
    await server.send(this.#asUser({ ...seed, body: json(object) }));
  }

  /** As a new user: the server remembers whose requests were expensive. */
  #asUser(costly: CostlyRequest): CostlyRequest {
    this.#users += 1;
    const impersonated = { "impersonate-user": `user-${this.#users}`, "impersonate-group": USERS };
    return { ...costly, headers: { ...costly.headers, ...impersonated } };
  }

  async #once(server: CostServer, costly: CostlyRequest, key: CaseKey): Promise<CostResult> {
    const cost = await server.measure(costly, true);
    return resultOf(key, cost, costly.body?.length ?? 0);
  }

  /** The minimum of several tries if the first seems to hold the event loop. */
  async #least(server: CostServer, costly: CostlyRequest, key: CaseKey): Promise<CostResult> {
    const isAdmin = key[2].startsWith("administrator");
    let best: CostResult | undefined;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const cost = await server.measure(isAdmin ? costly : this.#asUser(costly), tries > 0 || isAdmin);
      const result = resultOf(key, cost, costly.body?.length ?? 0);
      best = best === undefined || result.status === 0 || heldMs(result) < heldMs(best) ? result : best;
      const isSuspicious = heldMs(best) > (tries === 0 ? SUSPICIOUS_MS : MOST_HELD_MS);
      if (isAdmin || !isSuspicious || result.status === 0) break;
    }
    return best as CostResult;
  }

  async #remove(server: CostServer, { definition }: CostlySet, accepted: readonly AdminObject[]): Promise<void> {
    for (const { path, body } of accepted) {
      const { name } = body.metadata as { name: string };
      await server.send({ method: "DELETE", path: `${path}/${name}` });
    }
    await this.#undefine(server, definition);
  }

  async #ready(): Promise<CostServer> {
    this.#sets += 1;
    if (this.#sets % SETS_PER_SERVER === 0) await this.#giveUp();
    if (this.#server === undefined) {
      this.#server = await CostServer.start(this.#timeoutMs);
      for (const one of PREPARED) await this.#server.send(post(one));
    }
    return this.#server;
  }

  async #giveUp(): Promise<void> {
    await this.#server?.stop(true);
    this.#server = undefined;
  }

  async #webhookServer(): Promise<WebhookServer> {
    if (this.#webhooks === undefined) {
      this.#webhooks = await startWebhookServer();
      for (const [name, patch] of Object.entries(PATCHES)) this.#webhooks.behaviours.set(name, patching(...patch));
    }
    // Received reviews would add up.
    this.#webhooks.received.length = 0;
    return this.#webhooks;
  }
}

const pathOf = ({ plural }: CostlyDefinition): string => `/apis/${GROUP}/v1/namespaces/fuzz/${plural}`;
const requestName = ({ name }: NamedRequest, index: number): string => `${index}: ${name}`;
const kindOf = ({ path }: AdminObject): string => path.slice(path.lastIndexOf("/") + 1);

/** Whether a binding has its policy. */
function hasPolicy(body: AdminObject["body"], accepted: readonly AdminObject[]): boolean {
  const { policyName } = (body.spec ?? {}) as { policyName?: string };
  const nameOf = (one: AdminObject) => (one.body.metadata as { name: string }).name;
  return accepted.filter((one) => nameOf(one) === policyName).length === 2;
}
