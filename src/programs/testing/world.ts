import type { ApiRequest, Stage } from "../../base/api/call.ts";
import type { ApiReply } from "../../base/api/reply.ts";
import type { Log } from "../../base/util/environment.ts";
import { type SeededRandom, seededRandom } from "../../base/util/seeded-random.ts";
import type { ContainerImages } from "../../cluster/nodes/behaviour/container-images.ts";
import { NodeConnections } from "../../cluster/nodes/node-connections.ts";
import type { EncodedReply } from "../../data/encoding/reply/encoded-reply.ts";
import type { Catalog } from "../../resources/model/catalog.ts";
import { type CallRequest, callAsClient } from "../../serving/pipeline/in-process.ts";
import { type MemoryState, MemoryStore } from "../../storage/memory.ts";
import { type Assembly, assemble } from "../server/assemble.ts";
import type { Config } from "../server/config.ts";
import { Activity } from "./activity.ts";
import { callers } from "./caller.ts";
import { type ClockState, DrivenClock } from "./clock.ts";
import { Faults } from "./faults.ts";
import { Journal, type JournalPart } from "./journal.ts";
import { resourceNames } from "./match.ts";
import { quotaWarning } from "./quota-warning.ts";
import { RequestLog } from "./request-log.ts";
import { shared } from "./shared.ts";
import type { TestUsers } from "./test-users.ts";
import { WorldStore } from "./world-store.ts";

/** The immutable state of a control plane. Cheap: it shares all data. */
export interface WorldState {
  /** Undefined if empty, without even the objects that a server creates at its start. */
  readonly memory: MemoryState | undefined;
  readonly clock: ClockState;
  readonly seed: number;
  readonly journal: JournalPart | undefined;
  /** The served resources as faults name them. */
  readonly served: readonly string[];
  /** Names of simulated nodes that are cut off. */
  readonly lostNodes: readonly string[];
}

/** Options shared by the worlds of one family. */
export interface WorldOptions {
  readonly config: Config;
  readonly users: TestUsers;
  readonly log: Log;
  /** Requests wait until the built-in controllers are idle, so that the same requests find the same state. */
  readonly isSteady: boolean;
  /** What containers on simulated nodes do. */
  readonly images: ContainerImages;
}

/** The port that every control plane announces: the same in all, so that their objects are equal. */
const ANNOUNCED_PORT = 6443;
const ANONYMOUS = "system:anonymous";

/** A server over a state, with its clock, randomness and faults. It starts with the first request. */
export class World {
  readonly activity: Activity = new Activity();
  readonly clock: DrivenClock;
  readonly requests: RequestLog = new RequestLog();
  readonly faults: Faults;
  readonly connections: NodeConnections;
  readonly #options: WorldOptions;
  readonly #random: SeededRandom;
  readonly #journal: Journal;
  readonly #store: WorldStore;
  readonly #isGuest: boolean;
  readonly #warnAboutQuotas: ReturnType<typeof quotaWarning>;
  readonly #opened = new AsyncDisposableStack();
  readonly #servedBefore: readonly string[];
  #starting: Promise<Assembly> | undefined;
  #catalog: Catalog | undefined;
  #isClosed = false;

  constructor(options: WorldOptions, { memory, clock, seed, journal, served, lostNodes }: WorldState) {
    this.#options = options;
    this.#isGuest = memory !== undefined;
    this.#servedBefore = served;
    this.connections = new NodeConnections(lostNodes);
    this.#warnAboutQuotas = quotaWarning(options.config.controllers);
    this.clock = new DrivenClock(clock, () => this.activity.calm());
    this.#random = seededRandom(seed);
    this.#journal = new Journal(journal);
    const { compactionIntervalMs } = options.config;
    const historyMs = compactionIntervalMs === 0 ? Number.POSITIVE_INFINITY : compactionIntervalMs;
    const inner = new MemoryStore({ clock: this.clock, historyMs, ...(memory ? { begin: memory } : {}) });
    this.#store = new WorldStore(inner, { activity: this.activity, journal: this.#journal, clock: this.clock });
    this.faults = new Faults({
      clock: this.clock,
      random: () => this.#random,
      served: () => this.#served(),
      compact: async () => this.#store.compact(await this.#store.revision()),
    });
  }

  /** The current state. */
  save(): WorldState {
    return {
      memory: this.#store.freeze(),
      clock: this.clock.save(),
      seed: this.#random.save(),
      journal: this.#journal.save(),
      served: this.#served(),
      lostNodes: this.connections.lost,
    };
  }

  /** All writes of an object, by its storage key. */
  history(key: string) {
    return this.#journal.of(key);
  }

  /** The parts of the server, created on first use. */
  parts(): Promise<Assembly> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Handles a request as a listener would. Rejects if the world is closed. */
  async answer(request: ApiRequest): Promise<EncodedReply> {
    if (this.#isClosed) throw new Error("the control plane is closed");
    return (await this.parts()).secured(request);
  }

  /** Handles a request of a client in this process, which states its user. */
  async call(request: CallRequest): Promise<ApiReply> {
    if (this.#isClosed) throw new Error("the control plane is closed");
    return callAsClient((await this.parts()).embedded.handler, request, this.#random);
  }

  /** Ends watches and controllers. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await this.#starting?.catch(() => undefined);
    await this.#opened.disposeAsync();
    await this.#store.close();
    this.clock.close();
  }

  async #start(): Promise<Assembly> {
    const { config, users, log, images } = this.#options;
    const environment = { clock: this.clock, random: this.#random, log };
    const { identity, accountKey } = shared();
    const given = {
      store: this.#store,
      identity,
      accountKey,
      tokens: users,
      stages: { outermost: this.#observe, identified: this.faults.stage },
      isGuest: this.#isGuest,
      images,
      connections: this.connections,
    };
    const assembly = await assemble(config, environment, given, this.#opened);
    this.#catalog = assembly.resources.catalog;
    assembly.start(ANNOUNCED_PORT);
    await assembly.ready;
    return assembly;
  }

  /** Before the start there are no writes, so the world serves what the saved one did. */
  #served(): readonly string[] {
    return this.#catalog ? resourceNames(this.#catalog) : this.#servedBefore;
  }

  readonly #observe: Stage = (next) => async (call) => {
    const isClient = call.user.name === ANONYMOUS;
    const { isSteady } = this.#options;
    const isWatch = call.info.verb === "watch";
    const ended = isWatch ? () => {} : this.activity.begin(isClient);
    if (isClient) {
      this.requests.add(call, this.clock.now());
      this.#warnAboutQuotas(call.info);
    }
    if (call.request.remoteAddress !== undefined) this.activity.isRemote = true;
    // Everything else that is running comes first.
    if (isClient && isSteady) await this.activity.calm(isWatch ? 0 : 1);
    if (isWatch) this.activity.move();
    else call.whenFinished(ended);
    return callers.run({ call, staleBy: 0 }, async () => next(call)).finally(isClient ? () => {} : ended);
  };
}
