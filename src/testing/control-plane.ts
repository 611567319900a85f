import { randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { KubeObject } from "../api/object.ts";
import { type Listener, listen } from "../http/listener.ts";
import { serveUpgradesOnDemand } from "../http/upgrades.ts";
import { SILENCE } from "../server/library/start-server.ts";
import { Access } from "./access.ts";
import { applyObject, type Manifests, objectsOf } from "./apply.ts";
import type { Span } from "./clock.ts";
import type { Faults } from "./faults.ts";
import { fetchFrom } from "./fetch.ts";
import { genesis } from "./genesis.ts";
import { historyOf, type ObjectName, type ObjectVersion } from "./history.ts";
import { type ControlPlaneOptions, checkPlaneOptions, clockOf, configOf } from "./options.ts";
import type { RequestLog } from "./request-log.ts";
import { shared } from "./shared.ts";
import { type TestUser, TestUsers } from "./test-users.ts";
import { World, type WorldOptions, type WorldState } from "./world.ts";

/** A state that a control plane can go back to, or that forks begin with. Costs next to nothing. */
export class PlaneSnapshot {
  /** Only for this package. */
  readonly state: WorldState;

  constructor(state: WorldState) {
    this.state = state;
  }
}

/** All time of a control plane. */
export interface PlaneClock {
  now(): Date;
  readonly isRunning: boolean;
  /** Lets time pass at once. Resolves when everything has happened that became due. */
  advance(span: Span): Promise<void>;
  /** Time stands still from now on. */
  stop(): void;
  /** Time passes as it does outside from now on. */
  run(): void;
}

/** How long to wait for quiet. */
export interface SettleOptions {
  /** For so long, in real time, nothing may move. Default: 25. */
  readonly quietMs?: number;
  /** Rejects after so long, in real time. Default: 10,000. */
  readonly withinMs?: number;
}

const FIELD_MANAGER = "binnacle-testing";
const HOST = "127.0.0.1";

/**
 * A control plane in this process, with powers that no real one has. Nothing of it is on disk. It has an address of its own,
 * where it answers like any other server, as soon as somebody asks.
 */
export class ControlPlane extends Access implements AsyncDisposable {
  /** Where it answers over TLS. */
  readonly url: string;
  /** The authority that signed its certificate, as PEM. */
  readonly ca: string;
  readonly clock: PlaneClock;
  readonly #options: WorldOptions;
  readonly #edge: PlaneEdge;
  #initial: WorldState;

  private constructor(options: WorldOptions, initial: WorldState, edge: PlaneEdge) {
    const { identity } = shared();
    const { url } = edge;
    const { token } = identity.admin;
    const fetch = fetchFrom((request) => edge.world.answer(request), url, token);
    super(url, identity.authority, token, fetch);
    this.url = url;
    this.ca = identity.authority;
    this.clock = new EdgeClock(edge);
    this.#options = options;
    this.#edge = edge;
    this.#initial = initial;
  }

  /** For `startControlPlane` and forks. */
  static async open(options: WorldOptions, state: WorldState): Promise<ControlPlane> {
    return new ControlPlane(options, state, await PlaneEdge.open(new World(options, state)));
  }

  /** What goes wrong on purpose. Nothing does after `reset` and `restore`, and in a new fork. */
  get faults(): Faults {
    return this.#edge.world.faults;
  }

  /** Who called what, since the start, the last `reset` or `restore`. */
  get requests(): RequestLog {
    return this.#edge.world.requests;
  }

  /** A user of the control plane, who may do what roles give them. Nobody has to be created for that. */
  as(user: TestUser): Access {
    const token = this.#options.users.tokenOf(user);
    const fetch = fetchFrom((request) => this.#edge.world.answer(request), this.url, token);
    return new Access(this.url, this.ca, token, fetch);
  }

  /** Applies manifests in their order, as `kubectl apply --server-side --force-conflicts` does. */
  async apply(manifests: Manifests): Promise<KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const object of objectsOf(manifests)) {
      const { resources } = await this.#edge.world.parts();
      applied.push(await applyObject(this.fetch, resources.catalog, object, FIELD_MANAGER));
      // Objects that follow may be of the kind that it defines.
      if (object.kind === "CustomResourceDefinition") await this.#edge.world.activity.calm();
    }
    return applied;
  }

  /** The state of this moment, to go back to or to fork from. */
  snapshot(): PlaneSnapshot {
    return new PlaneSnapshot(this.#edge.world.save());
  }

  /**
   * Goes back to a snapshot, of this control plane or of another one: objects, time and chance. Watches end; resource
   * versions go on, so that clients notice that what they know is gone (410) and list anew.
   */
  async restore(snapshot: PlaneSnapshot): Promise<void> {
    if (!(snapshot instanceof PlaneSnapshot)) throw new TypeError("restore() takes what snapshot() returned");
    const { state } = snapshot;
    const now = this.#edge.world.save();
    const revision = (now.memory?.state.revision ?? 0) + 1;
    const memory = state.memory && { ...state.memory, state: { ...state.memory.state, revision } };
    // Time that passes by itself does not go back.
    const clock = now.clock.isRunning ? now.clock : state.clock;
    await this.#edge.replace(new World(this.#options, { ...state, memory, clock }));
  }

  /** Goes back to the state after the start: `crds` and `manifests` are there, and nothing else. */
  reset(): Promise<void> {
    return this.restore(new PlaneSnapshot(this.#initial));
  }

  /** An independent control plane that begins with this one's present state, or with a snapshot. */
  fork(snapshot: PlaneSnapshot = this.snapshot()): Promise<ControlPlane> {
    return ControlPlane.open(this.#options, snapshot.state);
  }

  /** Resolves when nothing has moved for a while: no request, no write, no loop. Rejects when that takes too long. */
  async settled({ quietMs = 25, withinMs = 10_000 }: SettleOptions = {}): Promise<void> {
    const { activity } = this.#edge.world;
    const startMs = performance.now();
    for (let moves = -1, sinceMs = startMs; ; ) {
      await activity.calm();
      const nowMs = performance.now();
      if (activity.moves === moves && activity.open === 0) {
        if (nowMs - sinceMs >= quietMs) return;
      } else {
        moves = activity.moves;
        sinceMs = nowMs;
      }
      if (nowMs - startMs > withinMs) throw this.#restless(withinMs);
      await sleep(Math.min(5, quietMs));
    }
  }

  /** Every version of an object, the oldest first, and who changed what. */
  async history(object: ObjectName): Promise<ObjectVersion[]> {
    const { world } = this.#edge;
    const { resources } = await world.parts();
    return historyOf(resources, object, (key) => world.history(key));
  }

  /** `reset` will go back to the present state. */
  async begin(): Promise<void> {
    await this.#edge.world.activity.calm();
    this.#initial = this.#edge.world.save();
  }

  /** Ends everything. */
  close(): Promise<void> {
    return this.#edge.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #restless(withinMs: number): Error {
    const last = this.requests.list().slice(-5);
    const told = last.map(({ user, verb, path }) => `${user} ${verb} ${path}`).join("; ");
    const text = `the control plane has not come to rest within ${withinMs} ms`;
    return new Error(`${text}; the last requests were: ${told || "none"}. Does a client write in a loop?`);
  }
}

/** Where clients find a control plane, whichever world is behind it at the moment. */
class PlaneEdge {
  readonly url: string;
  readonly #listener: Listener;
  world: World;

  private constructor(world: World, listener: Listener) {
    this.world = world;
    this.#listener = listener;
    this.url = `https://${HOST}:${listener.port}`;
  }

  static async open(world: World): Promise<PlaneEdge> {
    const holder: { edge?: PlaneEdge } = {};
    const answer: Parameters<typeof listen>[0] = (request) => (holder.edge?.world ?? world).answer(request);
    const { tls } = shared().identity;
    const reportError = () => {};
    const onUpgrade = serveUpgradesOnDemand(answer, reportError);
    const listener = await listen(answer, { host: HOST, port: 0, tls, onUpgrade, reportError });
    holder.edge = new PlaneEdge(world, listener);
    return holder.edge;
  }

  async replace(world: World): Promise<void> {
    const before = this.world;
    this.world = world;
    await before.close();
  }

  async close(): Promise<void> {
    await Promise.all([this.#listener.close(0), this.world.close()]);
  }
}

class EdgeClock implements PlaneClock {
  readonly #edge: PlaneEdge;

  constructor(edge: PlaneEdge) {
    this.#edge = edge;
  }

  now(): Date {
    return new Date(this.#edge.world.clock.now());
  }

  get isRunning(): boolean {
    return this.#edge.world.clock.isRunning;
  }

  async advance(span: Span): Promise<void> {
    const { world } = this.#edge;
    // Whatever becomes due has to be there.
    await world.parts();
    await world.clock.advance(span);
  }

  stop(): void {
    this.#edge.world.clock.stop();
  }

  run(): void {
    this.#edge.world.clock.run();
  }
}

/** All control planes of a process know the same users. */
const users = new TestUsers();

/**
 * Starts a control plane in this process: a real server, ready, with nothing on disk. The first one of a process makes what
 * all share; each further one takes milliseconds.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  checkPlaneOptions(options);
  const { seed, log = SILENCE, crds = [], manifests = [] } = options;
  const config = configOf(options);
  const clock = clockOf(options);
  const made = await genesis(config, clock, users);
  const world: WorldOptions = { config, users, log, isSteady: seed !== undefined };
  const plane = await ControlPlane.open(world, { ...made, clock, seed: seed ?? randomInt(2 ** 32) });
  try {
    await plane.apply(crds);
    await plane.apply(manifests);
    await plane.begin();
    return plane;
  } catch (error) {
    await plane.close();
    throw error;
  }
}
