import { randomInt } from "node:crypto";
import type { KubeObject } from "../../base/api/object.ts";
import type { Log } from "../../base/util/environment.ts";
import { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import type { ContainerDefinition, ContainerFunction } from "../../serving/connect/handlers/container-functions.ts";
import { sendFrom } from "../../serving/http/fetch.ts";
import { type Listener, listen } from "../../serving/http/listener.ts";
import { serveUpgradesOnDemand } from "../../serving/http/upgrades.ts";
import { applyObject, type Manifests, type ObjectName, objectsOf } from "../library/apply.ts";
import type { Connection } from "../library/client/connection.ts";
import { ConnectedAccess, type InProcessAccess } from "../library/client/in-process-access.ts";
import { objectRequests, type RequestObject } from "../library/object-requests.ts";
import { SILENCE } from "../library/start-server.ts";
import { ADMINISTRATOR } from "../server/identity.ts";
import { Access, type Route } from "./access.ts";
import { FollowingClock, type Span } from "./clock.ts";
import type { Faults } from "./faults.ts";
import { genesis } from "./genesis.ts";
import { historyOf, type ObjectVersion } from "./history.ts";
import { type ControlPlaneOptions, checkPlaneOptions, clockOf, configOf } from "./options.ts";
import type { RequestLog } from "./request-log.ts";
import { type SettleOptions, settle } from "./settle.ts";
import { shared } from "./shared.ts";
import { makeAvailable, writeStatus } from "./status.ts";
import { type TestUser, TestUsers } from "./test-users.ts";
import { World, type WorldOptions, type WorldState } from "./world.ts";

/** A state of a control plane to restore or to fork from. Cheap: it shares all data. */
export class PlaneSnapshot {
  /** @internal */
  readonly state: WorldState;

  constructor(state: WorldState) {
    this.state = state;
  }
}

/** The clock of a control plane. */
export interface PlaneClock {
  now(): Date;
  readonly isRunning: boolean;
  /** Advances the clock. Resolves when everything that became due is done. */
  advance(span: Span): Promise<void>;
  /** Stops the clock. */
  stop(): void;
  /** Makes the clock follow real time from now on. */
  run(): void;
}

/** The simulated cluster of a control plane. */
export interface PlaneCluster {
  /**
   * Containers whose image matches run a function instead of a program, when they start from now on. `*` in the pattern
   * stands for any text. Forks have copies of the functions.
   */
  image(pattern: string, what: ContainerFunction | ContainerDefinition): void;
  /**
   * Cuts a simulated node off, as a broken network does: it reports nothing until `reconnect`, and its containers go on. After
   * some time the controllers mark it as unreachable and evict its Pods.
   */
  disconnect(node: string): void;
  /** Ends `disconnect`: the node reports again, and stops the Pods that were deleted meanwhile. */
  reconnect(node: string): void;
}

const FIELD_MANAGER = "binnacle-testing";
const HOST = "127.0.0.1";
/** Kinds that affect later objects only after a controller has processed them: it serves a kind, or counts usage. */
const NEEDS_CONTROLLER = ["CustomResourceDefinition", "ResourceQuota"];

/**
 * A control plane in this process, with test controls that a real one lacks. It has nothing on disk. It listens on an
 * address of its own, like any other server; the server behind it starts with the first request.
 */
export class ControlPlane extends Access implements AsyncDisposable {
  /** Its URL, served over TLS. */
  readonly url: string;
  /** The CA that signed its certificate, as PEM. */
  readonly ca: string;
  readonly clock: PlaneClock;
  /** The simulated cluster. It has nodes with the option `cluster`. */
  readonly cluster: PlaneCluster;
  /** Calls a function for every object of a kind, and again when it changes. */
  readonly reconcile: InProcessAccess["reconcile"];
  readonly #route: Route;
  readonly #request: RequestObject;
  readonly #kinds: ConnectedAccess;
  readonly #options: WorldOptions;
  readonly #edge: PlaneEdge;
  #initial: WorldState;

  private constructor(options: WorldOptions, initial: WorldState, edge: PlaneEdge) {
    const { authority, admin } = shared().identity;
    const { url } = edge;
    const kinds = new ConnectedAccess(edge.connection(options.log));
    const route: Route = { url, authority, answer: (request) => edge.world.answer(request), kindClient: kinds.client };
    super(route, admin.token);
    this.url = url;
    this.ca = authority;
    this.clock = new EdgeClock(edge);
    this.cluster = {
      image: (pattern, what) => options.images.set(pattern, what),
      disconnect: (node) => edge.world.connections.disconnect(node),
      reconnect: (node) => edge.world.connections.reconnect(node),
    };
    this.#route = route;
    this.#request = objectRequests(sendFrom(route.answer, { token: admin.token }), url);
    this.#kinds = kinds;
    this.reconcile = kinds.reconcile;
    this.#options = options;
    this.#edge = edge;
    this.#initial = initial;
  }

  /** @internal Opens a control plane, applies objects in their order and makes `reset` restore that state. */
  static async open(options: WorldOptions, state: WorldState, manifests: Manifests[] = []): Promise<ControlPlane> {
    const plane = new ControlPlane(options, state, await PlaneEdge.open(new World(options, state)));
    try {
      for (const one of manifests) await plane.apply(one);
      if (manifests.length > 0) await plane.#begin();
      return plane;
    } catch (error) {
      await plane.close();
      throw error;
    }
  }

  /** Injected faults. There are none after `reset` and `restore`, and in a new fork. */
  get faults(): Faults {
    return this.#edge.world.faults;
  }

  /** Requests since the start or the last `reset` or `restore`. */
  get requests(): RequestLog {
    return this.#edge.world.requests;
  }

  /** Access as a user with the permissions that roles grant. The user need not exist beforehand. */
  as(user: TestUser): Access {
    const { user: name, ...others } = user;
    return new Access(this.#route, this.#options.users.tokenOf(user), { name, ...others });
  }

  /** Applies manifests in their order, as `kubectl apply --server-side --force-conflicts` does. */
  async apply(manifests: Manifests): Promise<KubeObject[]> {
    const applied: KubeObject[] = [];
    for (const object of objectsOf(manifests)) {
      const { resources } = await this.#edge.world.parts();
      applied.push(await applyObject(this.#request, resources.catalog, object, FIELD_MANAGER));
      if (NEEDS_CONTROLLER.includes(object.kind)) await this.#edge.world.activity.calm();
    }
    return applied;
  }

  /**
   * Writes the status of an object, as its controller would. Fields that `status` does not contain stay as they are;
   * lists, such as conditions, are replaced.
   */
  async setStatus(object: ObjectName, status: object): Promise<KubeObject> {
    const { resources } = await this.#edge.world.parts();
    return writeStatus(this.#request, resources.catalog, object, status);
  }

  /**
   * Writes the status that an object has when it is available: a Deployment, StatefulSet, DaemonSet or ReplicaSet with
   * all replicas, a Job that is complete, a Pod or Node that is ready, a bound PersistentVolumeClaim, an Ingress or
   * Service with an address. Rejects for other kinds.
   */
  async makeAvailable(object: ObjectName): Promise<KubeObject> {
    const { resources } = await this.#edge.world.parts();
    return makeAvailable(this.#request, resources.catalog, object, this.#edge.world.clock.now());
  }

  /** The current state, to restore or to fork from. */
  snapshot(): PlaneSnapshot {
    return new PlaneSnapshot(this.#edge.world.save());
  }

  /**
   * Restores a snapshot of this control plane or of another one: objects, time and randomness. Watches end. Resource
   * versions continue, so that clients get 410 for what they know and list again.
   */
  async restore(snapshot: PlaneSnapshot): Promise<void> {
    if (!(snapshot instanceof PlaneSnapshot)) throw new TypeError("restore() expects a result of snapshot()");
    const { state } = snapshot;
    const now = this.#edge.world.save();
    const revision = (now.memory?.state.revision ?? 0) + 1;
    const memory = state.memory && { ...state.memory, state: { ...state.memory.state, revision } };
    // A running clock does not go back.
    const clock = now.clock.isRunning ? now.clock : state.clock;
    await this.#edge.replace(new World(this.#options, { ...state, memory, clock }));
  }

  /** Restores the state after the start: only `crds` and `manifests` exist. */
  reset(): Promise<void> {
    return this.restore(new PlaneSnapshot(this.#initial));
  }

  /** An independent control plane that starts with the current state, or with a snapshot. */
  fork(snapshot: PlaneSnapshot = this.snapshot()): Promise<ControlPlane> {
    return ControlPlane.open({ ...this.#options, images: this.#options.images.copy() }, snapshot.state);
  }

  /**
   * Resolves when the control plane is idle: no requests, writes or controller activity, and no clients that process events.
   * Rejects after `withinMs`. A client that waits for longer than `quietMs` before its next request, as for a retry, is not waited
   * for.
   */
  settled(options: SettleOptions = {}): Promise<void> {
    return settle(this.#edge.world, options);
  }

  /** Every version of an object, oldest first, with its author and the changed fields. */
  async history(object: ObjectName): Promise<ObjectVersion[]> {
    const { world } = this.#edge;
    const { resources } = await world.parts();
    return historyOf(resources, object, (key) => world.history(key));
  }

  /** Closes the control plane. */
  async close(): Promise<void> {
    await this.#kinds.close();
    await this.#edge.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #begin(): Promise<void> {
    await this.#edge.world.activity.calm();
    this.#initial = this.#edge.world.save();
  }
}

/** The listener of a control plane, in front of its current world. */
class PlaneEdge {
  readonly url: string;
  readonly #listener: Listener;
  /** The clock of clients in this process. */
  readonly #clientClock: FollowingClock;
  world: World;

  private constructor(world: World, listener: Listener) {
    this.world = world;
    this.#clientClock = new FollowingClock(world.clock);
    this.#listener = listener;
    this.url = `https://${HOST}:${listener.port}`;
  }

  static async open(world: World): Promise<PlaneEdge> {
    const holder: { edge?: PlaneEdge } = {};
    const answer: Parameters<typeof listen>[0] = (request) => (holder.edge?.world ?? world).answer(request);
    const { tls } = shared().identity;
    const reportError = () => {};
    const onUpgrade = serveUpgradesOnDemand(answer, reportError);
    const listener = await listen(answer, { host: HOST, port: 0, tls, onUpgrade, isUnref: true, reportError });
    holder.edge = new PlaneEdge(world, listener);
    return holder.edge;
  }

  /** Connects clients in this process to the current world, and to its clock. */
  connection(log: Log): Connection {
    const call: Connection["call"] = (request) => this.world.call(request);
    return { clock: this.#clientClock, log, administrator: ADMINISTRATOR, call };
  }

  async replace(world: World): Promise<void> {
    const before = this.world;
    this.world = world;
    this.#clientClock.follow(world.clock);
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
    // Start the server, so that its timers exist.
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

/** All control planes of a process share their users. */
const users = new TestUsers();

/**
 * Starts a control plane in this process: a real server, ready, with nothing on disk. The first one of a process
 * creates shared keys; each further one takes milliseconds.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  checkPlaneOptions(options);
  const { seed, log = SILENCE, crds = [], manifests = [] } = options;
  const config = configOf(options);
  const clock = clockOf(options);
  const made = await genesis(config, clock, users);
  const images = new ContainerImages(config.connect.handlers?.images);
  const world: WorldOptions = { config, users, log, isSteady: seed !== undefined, images };
  const state = { ...made, clock, seed: seed ?? randomInt(2 ** 32) };
  return ControlPlane.open(world, state, [crds, manifests]);
}
